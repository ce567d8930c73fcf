//! Files as they are read: opened without waiting, by position, so that several threads can read one, and once more only if
//! they are what they were.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::info::{Listed, Stamp};

/// Opens a file for reading. A named pipe that took its place since it was looked at must not hold us up.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.open(path)
}

/// Has `read` read a session that was listed before; it gives None where that is none any more.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
pub(crate) fn read_again<T>(listed: &Listed, read: impl FnOnce(&File) -> io::Result<Option<T>>) -> Result<T> {
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

/// A stretch of a file. It ends early when nobody waits for it any more, in the middle of a line too.
pub(crate) struct Section<'a> {
    pub(crate) file: &'a File,
    pub(crate) at: u64,
    pub(crate) end: u64,
    pub(crate) is_stopped: &'a AtomicBool,
}

impl Read for Section<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let most = into.len().min(left);
        if most == 0 || self.is_stopped.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let count = read_at(self.file, &mut into[..most], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Reads as much as there is, up to the whole of `into`, from a place in a file, wherever others read.
pub(crate) fn read_fully_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < into.len() {
        match read_at(file, &mut into[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, into, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, into, offset);
}
