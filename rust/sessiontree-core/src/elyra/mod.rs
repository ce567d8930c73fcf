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
mod visit;
mod digest;
mod entries;
mod load;
mod source;
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

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
pub(crate) use tally::UsageSpans;
pub use view::{NodeLabel, TreeView};
pub(crate) use visit::{Visit, Visitor, visit};

use long::{Begun, LongFile};

/// How a file is to be listed.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Whether to load `all_messages_text`.
    pub(crate) text: bool,
    /// Whether to keep the usage records, which are of use only over many files.
    pub(crate) records: bool,
    /// What to key the records' identities with.
    pub(crate) keys: Arc<IdentityKeys>,
}

/// A file that is a session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) info: SessionInfo,
    pub(crate) damage: Vec<Damage>,
    /// Its usage records, repeated ones too: what equals one of them equals it in other files as well.
    pub(crate) records: Vec<Record>,
}

/// What a file turned out to be.
pub(crate) enum Reading {
    Session(Box<Session>),
    /// A session so long that it is read in regions, by whoever has time.
    Long(LongSession),
    /// No session; the text says what it is instead.
    NoSession(&'static str),
    /// It has gone.
    Vanished,
}

/// A session that is read in regions.
pub(crate) struct LongSession {
    path: PathBuf,
    stamp: Stamp,
    file: LongFile<Facts>,
}

impl LongSession {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of a region to read, if there is one that may be read now.
    pub(crate) fn take(&self) -> Option<u64> {
        self.file.take()
    }

    /// Reads a region; gives the session if nothing is missing then.
    pub(crate) fn read(
        &self,
        region: u64,
        buffer: &mut Buffer,
        is_stopped: &AtomicBool,
    ) -> Option<io::Result<Session>> {
        let facts = self.file.read(region, buffer, is_stopped)?;
        Some(facts.map(|facts| facts.into_session(&self.path, self.stamp)))
    }
}

/// Reads a file in one pass, or begins to. When `is_stopped` is set, nobody waits for the result: it may then be anything.
///
/// # Errors
///
/// The system would not let us read it.
pub(crate) fn read(path: &Path, buffer: &mut Buffer, wanted: &Wanted, is_stopped: &AtomicBool) -> io::Result<Reading> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Reading::Vanished),
        Err(error) => return Err(error),
    };
    // Before its bytes: what is written to it from now on changes the stamp that later looks are held against.
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Reading::NoSession("it is no regular file"));
    }
    let stamp = Stamp::of(&metadata);
    let facts = |header: &Header| Facts::new(header.clone(), &wanted.keys, wanted.text, wanted.records);
    Ok(match long::begin(file, stamp.size_bytes, long::REGION, buffer, is_stopped, facts)? {
        Begun::Whole(_, facts) => Reading::Session(Box::new(facts.into_session(path, stamp))),
        Begun::Long(_, file) => Reading::Long(LongSession { path: path.to_owned(), stamp, file }),
        Begun::NoSession(reason) => Reading::NoSession(reason),
    })
}

/// Reads the `all_messages_text` of a session that was listed before.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
pub fn read_text(info: &SessionInfo) -> Result<String> {
    let keys = Arc::default();
    let facts = |header: &Header| Facts::new(header.clone(), &keys, true, false);
    let (mut buffer, is_stopped) = (Buffer::default(), AtomicBool::new(false));
    read_again(&info.into(), |file| {
        Ok(match long::begin(file.try_clone()?, info.size_bytes, u64::MAX, &mut buffer, &is_stopped, facts)? {
            Begun::Whole(_, facts) => Some(facts.into_text()),
            Begun::Long(..) | Begun::NoSession(_) => None,
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
    let changed = || Ok(Stamp::of(&file.metadata().map_err(io)?) != listed.stamp);
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
    for candidate in store::find(sources, &mut tick)?.files {
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
