//! A whole session file to the entries of an open session: one pass, on several threads where the file is long.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use super::digest::Digest;
use super::entries::Entries;
use super::entry::Entry;
use super::header::Header;
use super::intake::Intake;
use super::long::{Begun, Build, LongFile, REGION, Rest, begin};
use super::reader::{Batch, Gather, Head, read_head};
use crate::error::{Place, Reports, Tick};
use crate::files::Section;
use crate::lines::{Buffer, Lines};
use crate::workers::{self, Permit};

/// How often the calling thread looks whether it is to stop.
const TICK: Duration = Duration::from_millis(25);

/// A session file, read.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) header: Header,
    /// The object of the header, as it stands.
    pub(super) header_object: Vec<u8>,
    /// Where that stands in the file.
    pub(super) header_span: Range<u64>,
    pub(super) body: Body,
}

/// What stands after a header.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) entries: Entries,
    /// What is wrong with the lines, those before the header too; of the tree and of usage nothing has been said.
    pub(super) reports: Reports,
    /// How many lines there are, one that does not end in LF included.
    pub(super) lines: u64,
}

impl Body {
    pub(super) fn new(header: &Header) -> Self {
        Self { entries: Entries::new(&header.id, header.version), reports: Reports::default(), lines: 0 }
    }
}

impl Gather for Vec<Digest> {
    fn add(&mut self, entry: &Entry, intake: &mut Intake<'_>) {
        self.push(Digest::of(entry, intake));
    }
}

impl Build for Body {
    type Part = Vec<Digest>;

    fn begin(&self) -> Vec<Digest> {
        Vec::new()
    }

    fn add(&mut self, digests: Vec<Digest>, reports: Reports, lines: u64) {
        self.reports.extend(reports, self.lines);
        for mut digest in digests {
            digest.row.place.line += self.lines;
            self.entries.add(digest, &mut self.reports);
        }
        self.lines += lines;
    }
}

/// Why there is nothing to be had from a file.
#[derive(Debug)]
pub(super) enum Failure {
    Io(io::Error),
    /// It is no session; the text says what it is instead.
    NoSession(&'static str),
    /// The caller wanted no more.
    Stopped,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads the first `size` bytes of a file, on at most `threads` threads.
pub(super) fn load(file: &File, size: u64, threads: Option<usize>, tick: Tick<'_>) -> Result<Loaded, Failure> {
    let limit = workers::limit();
    load_in_regions(file, size, REGION, threads.unwrap_or(limit).clamp(1, limit), tick)
}

fn load_in_regions(file: &File, size: u64, region: u64, threads: usize, tick: Tick<'_>) -> Result<Loaded, Failure> {
    let is_stopped = AtomicBool::new(false);
    let (head, body) = match begin(file, size, region, &mut Buffer::default(), &is_stopped, Body::new)? {
        Begun::NoSession(reason) => return Err(Failure::NoSession(reason)),
        Begun::Session(head, Rest::Read(body)) => (head, body),
        Begun::Session(head, Rest::Long(long)) => (head, read_long(file, &long, threads, &is_stopped, tick)?),
    };
    let Head { header, object: header_object, span: header_span } = head;
    Ok(Loaded { header, header_object, header_span, body })
}

/// Reads the lines that a file has gained since the first ones, which end at `offset`, were read.
pub(super) fn load_more(file: &File, offset: u64, size: u64, body: &mut Body) -> io::Result<()> {
    let mut buffer = Buffer::default();
    let section = Section { file, at: offset, end: size, is_stopped: &AtomicBool::new(false) };
    let mut batch = Batch::new(body.begin());
    batch.read(&mut Lines::from(section, &mut buffer, Place { line: 1, offset }), size)?;
    batch.add_to(body);
    Ok(())
}

/// Only the header; None if the file is no session, or cannot be read.
pub(crate) fn read_header(file: &File, size: u64, buffer: &mut Buffer) -> Option<Header> {
    let section = Section { file, at: 0, end: size, is_stopped: &AtomicBool::new(false) };
    let found = read_head(&mut Lines::new(section, buffer), |_| ((), Vec::<Digest>::new()));
    found.ok()?.ok().map(|(head, ..)| head.header)
}

/// Reads the regions of a file, on threads of their own even if it is one: the caller is to be asked now and then.
fn read_long(
    file: &File,
    long: &LongFile<Body>,
    threads: usize,
    is_stopped: &AtomicBool,
    tick: Tick<'_>,
) -> Result<Body, Failure> {
    thread::scope(|scope| {
        let (sender, results) = sync_channel(1);
        for _ in 0..threads {
            let sender = sender.clone();
            let work = move || {
                let mut buffer = Buffer::default();
                while let Some(number) = long.wait(is_stopped) {
                    let stopped = || is_stopped.load(Ordering::Relaxed);
                    let Some(_permit) = Permit::acquire(workers::limit(), stopped) else { return };
                    if let Some(body) = long.read(file, number, &mut buffer, is_stopped) {
                        _ = sender.send(body);
                    }
                }
            };
            thread::Builder::new().name("sessiontree".to_owned()).spawn_scoped(scope, work)?;
        }
        drop(sender);
        let body = loop {
            match results.recv_timeout(TICK) {
                Ok(body) => break body.map_err(Failure::Io),
                Err(RecvTimeoutError::Timeout) if tick().is_break() => break Err(Failure::Stopped),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    break Err(Failure::Io(io::Error::other("a thread ended before its work")));
                }
            }
        };
        is_stopped.store(true, Ordering::Relaxed);
        body
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::ops::ControlFlow;
    use std::path::Path;

    use super::super::made_up;
    use super::*;
    use proptest::prelude::*;

    /// All that was read, in words.
    fn told(text: &[u8], region: u64, threads: usize) -> String {
        let _alone = workers::IN_USE.lock();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        let mut tick = || ControlFlow::Continue(());
        match load_in_regions(&file, text.len() as u64, region, threads, &mut tick) {
            Ok(Loaded { header, header_span, body: Body { entries, reports, lines }, .. }) => {
                let ids: Vec<_> = (0..entries.rows().len()).map(|row| entries.ids(row)).collect();
                let damage = reports.into_damage(Path::new(""));
                format!("{header:?} {header_span:?} {:?} {ids:?} {damage:?} {lines}", entries.rows())
            }
            Err(failure) => format!("{failure:?}"),
        }
    }

    proptest! {
        #[test]
        fn regions_and_threads_change_nothing(
            text in made_up::session(1..4),
            region in 1_u64..100,
            threads in 2_usize..5,
        ) {
            prop_assert_eq!(told(&text, region, threads), told(&text, u64::MAX, 1));
        }
    }

    #[test]
    fn what_the_caller_breaks_off_ends() {
        let _alone = workers::IN_USE.lock();
        let mut file = tempfile::tempfile().unwrap();
        let line = b"{\"type\":\"session\",\"id\":\"s\",\"version\":3}\n";
        file.write_all(&line.repeat(200_000)).unwrap();
        let size = file.metadata().unwrap().len();
        // Every permit is taken, so the threads wait, and the caller is asked.
        let _permits: Vec<_> = (0..workers::limit()).map(|_| Permit::acquire(usize::MAX, || false)).collect();
        let failure = load_in_regions(&file, size, 1000, 2, &mut || ControlFlow::Break(())).unwrap_err();
        assert!(matches!(failure, Failure::Stopped));
    }
}
