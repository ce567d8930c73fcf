//! Elyra's sessions, and pi's: one append-only tree in a JSONL file each.

mod entry;
mod index;
mod intake;
mod migrate;
mod header;
mod tree;
mod tally;
mod reader;
mod section;
mod long;
mod stretch;
mod facts;
mod resume;
mod visit;
mod digest;
mod entries;
mod load;
mod source;
mod survey;
mod spending;
mod context;
mod session_entry;
mod view;
mod new;
mod write;
mod session;
mod append;
mod copy;
pub(crate) mod store;
mod made_up;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::catalogue::is_settled;
use crate::error::{Damage, Error, Result};
use crate::info::{Listed, SessionInfo, Stamp};
use crate::lines::Buffer;
use crate::usage::{IdentityKeys, Record};
pub use context::Context;
pub use copy::fork;
pub(crate) use entry::Entry;
pub use entry::Kind;
use facts::Facts;
pub use header::Header;
pub use load::Tick;
pub use new::NewSession;
pub use session::{OpenOptions, Session as OpenSession};
pub use session_entry::SessionEntry;
pub(crate) use survey::{LongSurvey, Surveyed, survey};
pub(crate) use tally::UsageSpans;
pub use view::{NodeLabel, TreeView};
pub(crate) use visit::{Visit, Visitor, visit};

use long::{Begun, LongFile, Rest};

/// How a file is to be listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Whether to load `all_messages_text`.
    pub(crate) text: bool,
    /// Whether to keep the usage records, which are of use only over many files.
    pub(crate) records: bool,
    /// What to key the records' identities with.
    pub(crate) keys: IdentityKeys,
}

/// A file that is a session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) info: SessionInfo,
    pub(crate) damage: Vec<Damage>,
    /// Its usage records, repeated ones too: what equals one of them equals it in other files as well.
    pub(crate) records: Vec<Record>,
    /// Whether every later change of the file shows in its stamp.
    pub(crate) is_settled: bool,
    /// What there is to read the file on with when it has grown; None if it is read anew then.
    pub(crate) resume: Option<Vec<u8>>,
}

impl Session {
    /// One that is known from before.
    pub(crate) fn recalled(info: SessionInfo, damage: Vec<Damage>, records: Vec<Record>) -> Self {
        Self { info, damage, records, is_settled: true, resume: None }
    }
}

/// What a file turned out to be.
pub(crate) enum Reading {
    Session(Box<Session>),
    /// A session so long that it is read in regions, by whoever has time.
    Long(Box<LongSession>),
    /// No session; the text says what it is instead.
    NoSession(&'static str),
}

/// A file as it was when its reading began: what is written to it from then on changes what later looks are held against.
pub(crate) struct Opened {
    file: File,
    pub(crate) stamp: Stamp,
    /// Whether every later change shows in the stamp.
    pub(crate) is_settled: bool,
    is_regular: bool,
}

impl Opened {
    /// None if there is no such file.
    ///
    /// # Errors
    ///
    /// The system would not let us have it.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        let stamp = Stamp::of(&metadata);
        Ok(Some(Self { file, stamp, is_settled: is_settled(&stamp), is_regular: metadata.is_file() }))
    }

    /// Reads the file in one pass, or begins to; from where `known` ends, if that is of this file. When `is_stopped` is set,
    /// nobody waits for the result: it may then be anything.
    ///
    /// # Errors
    ///
    /// The system would not let us read it.
    pub(crate) fn read(
        self,
        path: &Path,
        known: Option<&(Vec<u8>, Vec<Record>)>,
        buffer: &mut Buffer,
        wanted: Wanted,
        is_stopped: &AtomicBool,
    ) -> io::Result<Reading> {
        if !self.is_regular {
            return Ok(Reading::NoSession("it is no regular file"));
        }
        let Self { file, stamp, is_settled, .. } = self;
        let size = stamp.size_bytes;
        let resumed = known.and_then(|(state, records)| resume::restore(state, records, &file, wanted));
        let begun = if let Some((facts, start)) = resumed {
            long::go_on(&file, start, size, long::REGION, buffer, is_stopped, facts)?
        } else {
            let facts = |header: &Header| Facts::new(header.clone(), wanted.keys, wanted.text, wanted.records);
            match long::begin(&file, size, long::REGION, buffer, is_stopped, facts)? {
                Begun::Session(_, rest) => rest,
                Begun::NoSession(reason) => return Ok(Reading::NoSession(reason)),
            }
        };
        Ok(match begun {
            Rest::Read(facts) => {
                Reading::Session(Box::new(session(facts, path, &file, stamp, is_settled, wanted.records)))
            }
            Rest::Long(long) => {
                let path = path.to_owned();
                Reading::Long(Box::new(LongSession { path, file, stamp, is_settled, wanted, long }))
            }
        })
    }
}

/// What a listing has of a file that has been read.
fn session(facts: Facts, path: &Path, file: &File, stamp: Stamp, is_settled: bool, for_later: bool) -> Session {
    let resume = if for_later { resume::state(&facts, file, stamp.size_bytes) } else { None };
    Session { is_settled, resume, ..facts.into_session(path, stamp) }
}

/// A session that is read in regions.
pub(crate) struct LongSession {
    pub(crate) path: PathBuf,
    file: File,
    stamp: Stamp,
    is_settled: bool,
    wanted: Wanted,
    long: LongFile<Facts>,
}

impl LongSession {
    /// The number of a region to read, if there is one that may be read now.
    pub(crate) fn take(&self) -> Option<u64> {
        self.long.take()
    }

    /// Reads a region; gives the session if nothing is missing then.
    pub(crate) fn read(
        &self,
        region: u64,
        buffer: &mut Buffer,
        is_stopped: &AtomicBool,
    ) -> Option<io::Result<Session>> {
        let Self { path, file, stamp, is_settled, wanted, long } = self;
        let facts = long.read(file, region, buffer, is_stopped)?;
        Some(facts.map(|facts| session(facts, path, file, *stamp, *is_settled, wanted.records)))
    }
}

/// Reads the `all_messages_text` of a session that was listed before.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
pub fn read_text(info: &SessionInfo) -> Result<String> {
    let keys = IdentityKeys::default();
    let facts = |header: &Header| Facts::new(header.clone(), keys, true, false);
    let (mut buffer, is_stopped) = (Buffer::default(), AtomicBool::new(false));
    read_again(&info.into(), |file| {
        Ok(match long::begin(file, info.size_bytes, u64::MAX, &mut buffer, &is_stopped, facts)? {
            Begun::Session(_, Rest::Read(facts)) => Some(facts.into_text()),
            Begun::Session(_, Rest::Long(_)) | Begun::NoSession(_) => None,
        })
    })
}

/// Has `read` read a session that was listed before; it gives None where that is none any more.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
fn read_again<T>(listed: &Listed, read: impl FnOnce(&File) -> io::Result<Option<T>>) -> Result<T> {
    let path = &listed.path;
    let conflict = |reason: &str| Error::Conflict { path: path.clone(), reason: reason.to_owned() };
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(conflict("the file has gone")),
        Err(error) => return Err(Error::io(path)(error)),
    };
    let io = |error| Error::io(path)(error);
    let changed = || Ok(!Stamp::of(&file.metadata().map_err(io)?).is_unwritten_since(&listed.stamp));
    if changed()? {
        return Err(conflict("the file has changed since it was listed"));
    }
    match read(&file).map_err(io)? {
        Some(found) if !changed()? => Ok(found),
        _ => Err(conflict("the file changed while it was read")),
    }
}

/// A session file of which only the header was read.
#[derive(Clone, Debug)]
pub struct FoundHeader {
    pub path: PathBuf,
    pub header: Header,
    /// When the file was written last, in nanoseconds since 1970.
    pub modified_ns: i64,
}

/// Finds the sessions of the sources by their headers alone; what cannot be read is left out.
///
/// # Errors
///
/// [`Error::Io`] where a source cannot be looked at, [`Error::Stopped`] when `tick` breaks off.
pub fn find_headers(sources: &[store::Source], tick: Tick<'_>) -> Result<Vec<FoundHeader>> {
    let mut tick = || if tick().is_break() { Err(Error::Stopped) } else { Ok(()) };
    let mut found = Vec::new();
    let mut buffer = Buffer::default();
    let mut files = store::find(sources, &mut tick)?.files;
    files.sort_unstable_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
    for candidate in files {
        tick()?;
        let Ok(file) = open(&candidate.path) else { continue };
        let Ok(metadata) = file.metadata() else { continue };
        if let Some(header) = load::read_header(&file, metadata.len(), &mut buffer) {
            found.push(FoundHeader { path: candidate.path, header, modified_ns: Stamp::of(&metadata).modified_ns });
        }
    }
    Ok(found)
}

/// Opens a file for reading. A named pipe that took its place since it was looked at must not hold us up.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.open(path)
}
