//! Reading a file by position, so that several threads can read one.

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

/// A stretch of a file. It ends early when nobody waits for it any more, in the middle of a line too.
pub(super) struct Section<'a> {
    pub(super) file: &'a File,
    pub(super) at: u64,
    pub(super) end: u64,
    pub(super) is_stopped: &'a AtomicBool,
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
pub(super) fn read_fully_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
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
