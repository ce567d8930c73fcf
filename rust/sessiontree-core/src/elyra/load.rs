//! A whole session file to the entries of an open session: one pass, on several threads where the file is long.
//!
//! What stands before the header is read line by line. After it all lines are alike, so the rest is cut into regions, which
//! threads read each for itself: a line belongs to the region that it begins in. The calling thread puts the digests
//! together in file order, and is the only one that knows any state.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::digest::Digest;
use super::entries::Entries;
use super::entry::Entry;
use super::header::Header;
use super::intake::Intake;
use super::reader::{Follow, Joined, LineReader, SessionReader};
use crate::error::{Place, Reports};
use crate::lines::{Buffer, Lines};
use crate::workers::{self, Permit};

/// How much of a file a thread reads at a time. What stands in the buffer beyond is read twice, so it must be a small part.
const REGION: u64 = 8 << 20;

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
    pub(super) entries: Entries,
    /// What is wrong with its lines; of the tree and of usage nothing has been said.
    pub(super) reports: Reports,
    /// How many lines there are, one that does not end in LF included.
    pub(super) lines: u64,
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

/// Called now and then while something takes long; what it breaks off ends with an error.
pub type Tick<'a> = &'a mut dyn FnMut() -> ControlFlow<()>;

/// Reads the first `size` bytes of a file, on at most `threads` threads.
pub(super) fn load(file: &File, size: u64, threads: Option<usize>, tick: Tick<'_>) -> Result<Loaded, Failure> {
    let limit = workers::limit();
    load_in_regions(file, size, REGION, threads.unwrap_or(limit).clamp(1, limit), tick)
}

fn load_in_regions(file: &File, size: u64, region: u64, threads: usize, tick: Tick<'_>) -> Result<Loaded, Failure> {
    let mut buffer = Buffer::default();
    let (mut head, mut reports, place) = read_head(file, size, &mut buffer)?;
    let mut entries = Entries::new(&head.header.id, head.header.version);
    for digest in std::mem::take(&mut head.digests) {
        entries.add(digest, &mut reports);
    }
    let mut lines = place.line - 1;
    let mut add = |batch: Batch| lines = batch.add_to(&mut entries, &mut reports, lines);
    let body = place.offset..size;
    // On a thread of its own even where that is the only one: the caller is to be asked now and then.
    if body.end.saturating_sub(body.start) > region {
        read_regions(file, body, region, threads, &mut add, tick)?;
    } else {
        add(read_region(file, body.clone(), body, &mut buffer, &AtomicBool::new(false))?);
    }
    let Head { header, object: header_object, span: header_span, .. } = head;
    Ok(Loaded { header, header_object, header_span, entries, reports, lines })
}

/// Reads the lines that a file has gained since its first `from.offset` bytes were read.
pub(super) fn load_more(
    file: &File,
    from: Place,
    size: u64,
    entries: &mut Entries,
    reports: &mut Reports,
) -> io::Result<u64> {
    let body = from.offset..size;
    let batch = read_region(file, body.clone(), body, &mut Buffer::default(), &AtomicBool::new(false))?;
    Ok(batch.add_to(entries, reports, from.line - 1))
}

/// Only the header; None if the file is no session, or cannot be read.
pub(super) fn read_header(file: &File, size: u64, buffer: &mut Buffer) -> Option<Header> {
    read_head(file, size, buffer).ok().map(|(head, ..)| head.header)
}

/// The header, and the entries that stand on one line with it.
struct Head {
    header: Header,
    object: Vec<u8>,
    span: Range<u64>,
    digests: Vec<Digest>,
}

impl Follow for Head {
    type Wanted = ();

    fn start((): &(), header: Header, entry: &Entry, intake: &Intake<'_>) -> Self {
        let object = entry.span.of(intake.bytes()).to_owned();
        let start = intake.place.offset + (intake.indent + entry.span.start()) as u64;
        let span = start..start + object.len() as u64;
        Self { header, object, span, digests: Vec::new() }
    }

    fn add(&mut self, entry: &Entry, intake: &mut Intake<'_>) {
        self.digests.push(Digest::of(entry, intake));
    }
}

/// Reads up to the header; gives the place of the line after it.
fn read_head(file: &File, size: u64, buffer: &mut Buffer) -> Result<(Head, Reports, Place), Failure> {
    let is_stopped = AtomicBool::new(false);
    let mut lines = Lines::new(Section { file, at: 0, end: size, is_stopped: &is_stopped }, buffer);
    let mut reader = SessionReader::<Head>::new(());
    while !reader.has_header() {
        match lines.next()? {
            Some(line) if reader.read_line(line).is_continue() => {}
            _ => break,
        }
    }
    let place = lines.place();
    let (head, reports) = reader.end(place.offset).map_err(Failure::NoSession)?;
    Ok((head, reports, place))
}

/// What a region holds. Lines are counted from 1 within it.
#[derive(Default)]
struct Batch {
    digests: Vec<Digest>,
    reports: Reports,
    lines: u64,
}

impl Batch {
    /// Adds it to what stands before it, on so many lines; gives how many lines there are then.
    fn add_to(self, entries: &mut Entries, reports: &mut Reports, lines: u64) -> u64 {
        reports.extend(self.reports, lines);
        for mut digest in self.digests {
            digest.row.place.line += lines;
            entries.add(digest, reports);
        }
        lines + self.lines
    }
}

/// Reads the lines that begin in a region of the body.
fn read_region(
    file: &File,
    region: Range<u64>,
    body: Range<u64>,
    buffer: &mut Buffer,
    is_stopped: &AtomicBool,
) -> io::Result<Batch> {
    let mut batch = Batch::default();
    // From the byte before on: if that is an LF, the region begins with a line.
    let is_first = region.start == body.start;
    let at = if is_first { region.start } else { region.start - 1 };
    let section = Section { file, at, end: body.end, is_stopped };
    let mut lines = Lines::from(section, buffer, Place { line: u64::from(is_first), offset: at });
    if !is_first {
        lines.skip_line()?;
    }
    let mut reader = LineReader::default();
    while lines.place().offset < region.end {
        let Some(line) = lines.next()? else { break };
        _ = reader.read(line, Joined::All, |entry, intake| {
            batch.digests.push(Digest::of(entry, intake));
            ControlFlow::Continue(())
        });
        batch.lines += 1;
    }
    batch.reports = reader.reports;
    Ok(batch)
}

/// Reads the body in regions of that size, on several threads, and calls `add` for each in order.
fn read_regions(
    file: &File,
    body: Range<u64>,
    size: u64,
    threads: usize,
    add: &mut dyn FnMut(Batch),
    tick: Tick<'_>,
) -> Result<(), Failure> {
    let count = (body.end - body.start).div_ceil(size);
    let next = AtomicU64::new(0);
    let is_stopped = AtomicBool::new(false);
    let work = |sender: SyncSender<(u64, io::Result<Batch>)>| {
        let mut buffer = Buffer::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let start = body.start + number.saturating_mul(size);
            if start >= body.end {
                return;
            }
            let region = start..body.end.min(start + size);
            let Some(_permit) = Permit::acquire(workers::limit(), || is_stopped.load(Ordering::Relaxed)) else {
                return;
            };
            if sender.send((number, read_region(file, region, body.clone(), &mut buffer, &is_stopped))).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        let (sender, results) = sync_channel(threads);
        for _ in 0..threads {
            let sender = sender.clone();
            let work = &work;
            thread::Builder::new().name("sessiontree".to_owned()).spawn_scoped(scope, move || work(sender))?;
        }
        drop(sender);
        let done = put_in_order(&results, count, add, tick);
        is_stopped.store(true, Ordering::Relaxed);
        drop(results);
        done
    })
}

fn put_in_order(
    results: &Receiver<(u64, io::Result<Batch>)>,
    count: u64,
    add: &mut dyn FnMut(Batch),
    tick: Tick<'_>,
) -> Result<(), Failure> {
    let mut early = BTreeMap::new();
    for wanted in 0..count {
        let batch = loop {
            if let Some(batch) = early.remove(&wanted) {
                break batch;
            }
            match results.recv_timeout(TICK) {
                Ok((number, batch)) => _ = early.insert(number, batch?),
                Err(RecvTimeoutError::Timeout) if tick().is_break() => return Err(Failure::Stopped),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Io(io::Error::other("a thread ended before its work")));
                }
            }
        };
        add(batch);
    }
    Ok(())
}

/// A stretch of a file, read by position: several threads read one file. It ends early when nobody waits for it any more.
struct Section<'a> {
    file: &'a File,
    at: u64,
    end: u64,
    is_stopped: &'a AtomicBool,
}

impl Read for Section<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_stopped.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let most = into.len().min(left);
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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;

    use super::*;
    use proptest::prelude::*;

    /// All that was read, in words.
    fn told(text: &str, region: u64, threads: usize) -> String {
        let _alone = workers::IN_USE.lock();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let mut tick = || ControlFlow::Continue(());
        match load_in_regions(&file, text.len() as u64, region, threads, &mut tick) {
            Ok(Loaded { header, header_span, entries, reports, lines, .. }) => {
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
            version in 1..4,
            lines in proptest::collection::vec(
                prop_oneof![
                    r#"\{"type":"message","id":"[a-d]","parentId":"[a-d]"\}"#,
                    r#"\{"type":"label","id":"[a-d]","label":"x{0,40}"\} ?(\{"id":"[a-d]"\})?"#,
                    r#"\{"type":"session","id":"t"\}"#,
                    r"\x00{0,2}[ \t\r]{0,3}",
                    r#"[{}"a\n]{0,20}"#,
                ],
                0..40,
            ),
            region in 1_u64..100,
            threads in 2_usize..5,
            is_ended: bool,
        ) {
            let mut text = format!("{{\"type\":\"session\",\"id\":\"s\",\"version\":{version}}}\n{}", lines.join("\n"));
            if is_ended {
                text.push('\n');
            }
            prop_assert_eq!(told(&text, region, threads), told(&text, u64::MAX, 1));
        }
    }

    #[test]
    fn what_the_caller_breaks_off_ends() {
        let _alone = workers::IN_USE.lock();
        let mut file = tempfile::tempfile().unwrap();
        let line = b"{\"type\":\"session\",\"id\":\"s\"}\n";
        file.write_all(&line.repeat(200_000)).unwrap();
        let size = file.metadata().unwrap().len();
        // Every permit is taken, so the threads wait, and the caller is asked.
        let _permits: Vec<_> = (0..workers::limit()).map(|_| Permit::acquire(usize::MAX, || false)).collect();
        let failure = load_in_regions(&file, size, 1000, 2, &mut || ControlFlow::Break(())).unwrap_err();
        assert!(matches!(failure, Failure::Stopped));
    }
}
