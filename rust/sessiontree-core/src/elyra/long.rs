//! A file so long that several threads read it.
//!
//! What stands before the header is read line by line. After it all lines are alike, so the rest is cut into regions, which
//! threads read each for itself: a line belongs to the region that it begins in. What they gather is put together in file
//! order, by whichever thread brings what is next, and only there is any state known.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::header::Header;
use super::migrate::is_linear;
use super::reader::{Batch, Gather, Head, read_head};
use crate::error::{Place, Reports};
use crate::files::Section;
use crate::lines::{Buffer, Lines};

/// How much of a file a thread reads at a time. What stands in the buffer beyond is read twice, so it must be a small part.
pub(crate) const REGION: u64 = 8 << 20;

/// How many regions may be read ahead of the one that is next: what was gathered there has to be kept.
const AHEAD: u64 = 64;

/// How often a thread that has to wait looks whether it is to stop.
const PAUSE: Duration = Duration::from_millis(10);

/// What a session is put together in.
pub(super) trait Build: Send {
    /// What the records of a stretch of lines are gathered in.
    type Part: Gather + Send;

    /// An empty part.
    fn begin(&self) -> Self::Part;

    /// Adds the part that comes next in the file: what was gathered, what there is to report, and on how many lines. Those
    /// are counted from 1 in the part.
    fn add(&mut self, part: Self::Part, reports: Reports, lines: u64);
}

/// A file as far as the calling thread has read it by itself.
pub(super) enum Begun<B: Build> {
    Session(Head, Rest<B>),
    /// It is no session; the text says what it is instead.
    NoSession(&'static str),
}

/// What a thread makes by itself of the lines of a session.
pub(super) enum Rest<B: Build> {
    /// All of it.
    Read(B),
    /// There is too much for one.
    Long(LongFile<B>),
}

/// Begins to read the first `size` bytes of a file, and reads them to their end if no more than a region follows the header.
///
/// `build` makes what the session is put together in.
pub(super) fn begin<B: Build>(
    file: &File,
    size: u64,
    region: u64,
    buffer: &mut Buffer,
    is_stopped: &AtomicBool,
    build: impl Fn(&Header) -> B,
) -> io::Result<Begun<B>> {
    let mut lines = Lines::new(Section { file, at: 0, end: size, is_stopped }, buffer);
    let found = read_head(&mut lines, |header| {
        let builder = build(header);
        let part = builder.begin();
        (builder, part)
    })?;
    let (head, mut builder, mut batch) = match found {
        Ok(found) => found,
        Err(reason) => return Ok(Begun::NoSession(reason)),
    };
    let start = lines.place().offset;
    // The entries of such a file get their ids from the one before: it is read by one.
    let is_long = size.saturating_sub(start) > region && !is_linear(head.header.version);
    if !is_long {
        batch.read(&mut lines, size)?;
    }
    batch.add_to(&mut builder);
    let rest = if is_long { Rest::Long(LongFile::new(start..size, region, builder)) } else { Rest::Read(builder) };
    Ok(Begun::Session(head, rest))
}

/// Reads the lines from `start` on, where one begins, up to `size`, to add them to what has been put together of those before.
pub(super) fn go_on<B: Build>(
    file: &File,
    start: u64,
    size: u64,
    region: u64,
    buffer: &mut Buffer,
    is_stopped: &AtomicBool,
    mut builder: B,
) -> io::Result<Rest<B>> {
    if size.saturating_sub(start) > region {
        return Ok(Rest::Long(LongFile::new(start..size, region, builder)));
    }
    let section = Section { file, at: start, end: size, is_stopped };
    let mut batch = Batch::new(builder.begin());
    batch.read(&mut Lines::from(section, buffer, Place { line: 1, offset: start }), size)?;
    batch.add_to(&mut builder);
    Ok(Rest::Read(builder))
}

/// A file of which the regions after the header are still to be read.
pub(super) struct LongFile<B: Build> {
    body: Range<u64>,
    region: u64,
    progress: Mutex<Progress<B>>,
    has_moved: Condvar,
}

struct Progress<B: Build> {
    /// None once it is all there, or something went wrong.
    builder: Option<B>,
    /// Which region is the next to be read.
    ahead: u64,
    /// How many regions have been put together.
    done: u64,
    /// Regions that cannot be put in yet, because one before them is missing.
    early: BTreeMap<u64, Batch<B::Part>>,
}

impl<B: Build> LongFile<B> {
    fn new(body: Range<u64>, region: u64, builder: B) -> Self {
        let progress = Progress { builder: Some(builder), ahead: 0, done: 0, early: BTreeMap::new() };
        Self { body, region, progress: Mutex::new(progress), has_moved: Condvar::new() }
    }

    fn progress(&self) -> MutexGuard<'_, Progress<B>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self) -> u64 {
        (self.body.end - self.body.start).div_ceil(self.region)
    }

    /// The number of a region to read, if there is one that may be read now.
    pub(super) fn take(&self) -> Option<u64> {
        let mut progress = self.progress();
        let number = progress.ahead;
        let is_free = progress.builder.is_some() && number < self.count().min(progress.done + AHEAD);
        progress.ahead += u64::from(is_free);
        is_free.then_some(number)
    }

    /// As [`Self::take`], but waits for one as long as there will be any.
    pub(super) fn wait(&self, is_stopped: &AtomicBool) -> Option<u64> {
        loop {
            if let Some(number) = self.take() {
                return Some(number);
            }
            let progress = self.progress();
            if progress.builder.is_none() || progress.ahead == self.count() || is_stopped.load(Ordering::Relaxed) {
                return None;
            }
            drop(self.has_moved.wait_timeout(progress, PAUSE));
        }
    }

    /// Reads a region of the file; gives all that was put together if nothing is missing then.
    pub(super) fn read(
        &self,
        file: &File,
        number: u64,
        buffer: &mut Buffer,
        is_stopped: &AtomicBool,
    ) -> Option<io::Result<B>> {
        let part = self.progress().builder.as_ref()?.begin();
        let batch = self.read_region(file, number, part, buffer, is_stopped);
        let mut guard = self.progress();
        let progress = &mut *guard;
        match batch {
            Err(error) => return progress.builder.take().map(|_| Err(error)),
            Ok(batch) => _ = progress.early.insert(number, batch),
        }
        let builder = progress.builder.as_mut()?;
        while let Some(batch) = progress.early.remove(&progress.done) {
            batch.add_to(builder);
            progress.done += 1;
        }
        self.has_moved.notify_all();
        if progress.done == self.count() { progress.builder.take().map(Ok) } else { None }
    }

    /// Reads the lines that begin in a region.
    fn read_region(
        &self,
        file: &File,
        number: u64,
        part: B::Part,
        buffer: &mut Buffer,
        is_stopped: &AtomicBool,
    ) -> io::Result<Batch<B::Part>> {
        let start = self.body.start + number * self.region;
        // From the byte before on: if that is an LF, the region begins with a line.
        let is_first = number == 0;
        let at = if is_first { start } else { start - 1 };
        let end = self.body.end.min(start + self.region);
        let section = Section { file, at, end: self.body.end, is_stopped };
        let mut lines = Lines::from(section, buffer, Place { line: u64::from(is_first), offset: at });
        if !is_first {
            lines.skip_line(end)?;
        }
        let mut batch = Batch::new(part);
        batch.read(&mut lines, end)?;
        Ok(batch)
    }
}
