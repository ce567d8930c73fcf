//! Elyra's sessions, and pi's: one append-only tree in a JSONL file each.

mod entry;
mod index;
mod intake;
mod migrate;
mod header;
mod tree;
mod tally;
mod reader;
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
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Damage, Error, Result};
use crate::info::{Listed, SessionInfo, Stamp};
use crate::lines::{Buffer, Lines};
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

use reader::{Follow, SessionReader};

/// How a file is to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// Whether to load `all_messages_text`.
    pub(crate) text: bool,
    /// Whether to keep the usage records, which are of use only over many files.
    pub(crate) records: bool,
    /// What to key the records' identities with.
    pub(crate) keys: &'a IdentityKeys,
    /// Set when nobody waits for the result any more: it may then be anything.
    pub(crate) is_stopped: &'a AtomicBool,
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
#[derive(Debug)]
pub(crate) enum Reading {
    Session(Box<Session>),
    /// No session; the text says what it is instead.
    NoSession(&'static str),
    /// It has gone.
    Vanished,
}

/// Reads a file in one pass.
///
/// # Errors
///
/// The system would not let us read it.
pub(crate) fn read(path: &Path, buffer: &mut Buffer, wanted: Wanted<'_>) -> io::Result<Reading> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Reading::Vanished),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Ok(Reading::NoSession("it is no regular file"));
    }
    let (reader, size_bytes) = read_lines::<Facts<'_>>(&file, u64::MAX, buffer, wanted.is_stopped, wanted)?;
    let stamp = Stamp::of(&file.metadata()?);
    Ok(match reader.end(size_bytes) {
        Ok((facts, reports)) => Reading::Session(Box::new(facts.into_session(path, size_bytes, stamp, reports))),
        Err(reason) => Reading::NoSession(reason),
    })
}

/// Reads the `all_messages_text` of a session that was listed before.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
pub fn read_text(info: &SessionInfo) -> Result<String> {
    let is_stopped = AtomicBool::new(false);
    let wanted = Wanted { text: true, records: false, keys: &IdentityKeys::default(), is_stopped: &is_stopped };
    let facts: Facts<'_> = read_again(&info.into(), &mut Buffer::default(), &is_stopped, wanted)?;
    Ok(facts.into_text())
}

/// Reads a session that was listed before once more.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
fn read_again<F: Follow>(
    listed: &Listed,
    buffer: &mut Buffer,
    is_stopped: &AtomicBool,
    wanted: F::Wanted,
) -> Result<F> {
    let path = &listed.path;
    let conflict = |reason: &str| Error::Conflict { path: path.clone(), reason: reason.to_owned() };
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(conflict("the file has gone")),
        Err(error) => return Err(Error::io(path)(error)),
    };
    let changed = |file: &File| Ok(Stamp::of(&file.metadata().map_err(Error::io(path))?) != listed.stamp);
    if changed(&file)? {
        return Err(conflict("the file has changed since it was listed"));
    }
    let (reader, size_bytes) =
        read_lines(&file, listed.size_bytes, buffer, is_stopped, wanted).map_err(Error::io(path))?;
    match reader.end(size_bytes) {
        Ok((follower, _)) if !changed(&file)? => Ok(follower),
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

/// Reads the lines of a file, up to `limit` bytes; tells how many there were.
fn read_lines<F: Follow>(
    file: &File,
    limit: u64,
    buffer: &mut Buffer,
    is_stopped: &AtomicBool,
    wanted: F::Wanted,
) -> io::Result<(SessionReader<F>, u64)> {
    let source = Stoppable { source: file.take(limit), is_stopped };
    let mut lines = Lines::new(source, buffer);
    let mut reader = SessionReader::new(wanted);
    while let Some(line) = lines.next()? {
        if reader.read_line(line).is_break() {
            break;
        }
    }
    Ok((reader, lines.place().offset))
}

/// A source that ends when nobody waits for it any more, in the middle of a line too.
struct Stoppable<'a, R> {
    source: R,
    is_stopped: &'a AtomicBool,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_stopped.load(Ordering::Relaxed) { Ok(0) } else { self.source.read(into) }
    }
}

/// Opens a file for reading. A named pipe that took its place since it was looked at must not hold us up.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.open(path)
}
