//! Where the bytes of a session's entries are: in its file, or, as long as it has none, in memory.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::digest::Row;
use crate::error::{Error, Result};
use crate::files::read_fully_at;
use crate::info::Stamp;

/// How much of the end of what is known of a file is kept, to tell whether it is still what was read.
const TAIL: usize = 1024;

/// How often a file is looked at before it counts as written to in place, and how long to wait in between.
const LOOKS: usize = 20;
const PAUSE: Duration = Duration::from_micros(500);

/// The bytes of a session's lines, from the file's first on.
#[derive(Debug)]
pub(super) enum Source {
    Memory(Mutex<Vec<u8>>),
    File(FileSource),
}

/// A session's file, open for reading.
#[derive(Debug)]
pub(super) struct FileSource {
    path: PathBuf,
    file: Arc<File>,
    known: Mutex<Known>,
}

/// The file as far as it has been read. Others may append to it: then it is longer, and the rest still the same.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// `size_bytes` is what has been read, whatever the file has gained since.
    stamp: Stamp,
    /// The last of these bytes.
    tail: Vec<u8>,
}

impl Known {
    /// A file whose first `size` bytes have been read, when it was as `stamp` says.
    pub(super) fn of(file: &File, size: u64, stamp: &Stamp) -> io::Result<Self> {
        Ok(Self { stamp: Stamp { size_bytes: size, ..*stamp }, tail: read_tail(file, size)? })
    }

    pub(super) fn size(&self) -> u64 {
        self.stamp.size_bytes
    }

    /// Whether the last line ends in LF, or there is none.
    pub(super) fn ends_line(&self) -> bool {
        self.tail.last().is_none_or(|&byte| byte == b'\n')
    }

    /// Whether `stamp` is of the same file, and no shorter.
    fn is_of(&self, stamp: &Stamp) -> std::result::Result<(), &'static str> {
        if (stamp.device, stamp.inode) != (self.stamp.device, self.stamp.inode) {
            return Err("another file has taken its place");
        }
        if stamp.size_bytes < self.size() {
            return Err("the file has become shorter");
        }
        Ok(())
    }

    /// Takes in bytes that were appended.
    pub(super) fn grow(&mut self, bytes: &[u8], stamp: &Stamp) {
        let kept = &bytes[bytes.len().saturating_sub(TAIL)..];
        let dropped = (self.tail.len() + kept.len()).saturating_sub(TAIL);
        self.tail.drain(..dropped);
        self.tail.extend_from_slice(kept);
        let size_bytes = self.size() + bytes.len() as u64;
        self.stamp = Stamp { size_bytes, ..*stamp };
    }
}

/// What a file is, held against what is known of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Same,
    /// It may have been written to in place, or only touched.
    Touched,
    /// More has been appended.
    Grown,
}

impl FileSource {
    /// A file that has been read as far as `known` says.
    pub(super) fn new(path: PathBuf, file: Arc<File>, known: Known) -> Self {
        Self { path, file, known: Mutex::new(known) }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }

    /// What the file is now, as `look` has it, held against what was read.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] where it is another one, or shorter, or its end is no longer what it was.
    pub(super) fn compare(&self, look: impl Fn() -> io::Result<Metadata>) -> Result<(Compared, Metadata)> {
        for _ in 0..LOOKS {
            // In this order: what others of our threads append between the two makes the file longer than what is known.
            let known = self.known().clone();
            let now = look().map_err(Error::io(&self.path))?;
            let stamp = Stamp::of(&now);
            known.is_of(&stamp).map_err(|reason| self.conflict(reason))?;
            if stamp.is_unwritten_since(&known.stamp) {
                return Ok((Compared::Same, now));
            }
            if read_tail(&self.file, known.size()).map_err(Error::io(&self.path))? != known.tail {
                return Err(self.conflict("the file has been rewritten"));
            }
            if stamp.size_bytes > known.size() {
                return Ok((Compared::Grown, now));
            }
            // A write that is under way changes the time before the size.
            thread::sleep(PAUSE);
        }
        Ok((Compared::Touched, look().map_err(Error::io(&self.path))?))
    }

    pub(super) fn conflict(&self, reason: &str) -> Error {
        Error::Conflict { path: self.path.clone(), reason: format!("{reason} since it was read") }
    }

    /// Reads a stretch of what is known.
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        if read_fully_at(&self.file, into, offset).map_err(Error::io(&self.path))? < into.len() {
            return Err(self.conflict("the file has become shorter"));
        }
        // Looked at afterwards: what was written meanwhile shows in the file's time.
        match self.compare(|| self.file.metadata())? {
            (_, now) if is_deleted(&now) => Err(self.conflict("the file has gone")),
            (Compared::Same | Compared::Grown, _) => Ok(()),
            (Compared::Touched, _) => Err(self.conflict("the file has been written to")),
        }
    }
}

impl Source {
    pub(super) fn in_memory(bytes: Vec<u8>) -> Self {
        Self::Memory(Mutex::new(bytes))
    }

    /// What to say where the bytes are not what was read there.
    pub(super) fn rewritten(&self) -> Error {
        match self {
            Self::File(file) => file.conflict("the file has been rewritten"),
            Self::Memory(_) => Error::io(Path::new(""))(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Reads an entry's object, as it stands.
    ///
    /// # Errors
    ///
    /// As for [`Self::read`].
    pub(super) fn object(&self, row: &Row) -> Result<Vec<u8>> {
        let mut object = vec![0; row.object.length as usize];
        self.read(row.offset(), &mut object)?;
        Ok(object)
    }

    /// Reads a stretch of the session's bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] where the file is no longer what was read, [`Error::Io`] where it cannot be read.
    pub(super) fn read(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        match self {
            Self::File(file) => file.read(offset, into),
            Self::Memory(bytes) => {
                let bytes = lock(bytes);
                let ahead = usize::try_from(offset).ok().and_then(|start| bytes.get(start..));
                match ahead.and_then(|ahead| ahead.get(..into.len())) {
                    Some(stretch) => into.copy_from_slice(stretch),
                    None => return Err(Error::io(Path::new(""))(io::ErrorKind::UnexpectedEof.into())),
                }
                Ok(())
            }
        }
    }
}

/// The last bytes of the first `size` of a file.
fn read_tail(file: &File, size: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(size).map_or(TAIL, |size| size.min(TAIL));
    let mut tail = vec![0; length];
    // Of a file that has become shorter there is less: not the same, whatever it is.
    let done = read_fully_at(file, &mut tail, size - length as u64)?;
    tail.truncate(done);
    Ok(tail)
}

/// Whether no folder has the file any more; unknown, and so no, where the system does not tell.
#[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix tells"))]
fn is_deleted(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(metadata) == 0;
    #[cfg(not(unix))]
    return false;
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left behind is a whole value all the same: each is replaced in one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
