//! Every session of a store: found, read by a crew of threads, and put in an order that no thread can change.
//!
//! The calling thread waits for results and reports progress; it never reads a session. When it is told to stop it returns at
//! once, and the crew ends at the next block.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::crew::{self, Begun, Task};
use crate::elyra::store::{Candidate, Source, find};
use crate::elyra::{self, LongSession, Reading, Session, Wanted};
use crate::error::{Damage, Error, Result};
use crate::info::SessionInfo;
use crate::lines::Buffer;
use crate::usage::{Ledger, Usage};

/// How a scan is to be made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How many threads read, within the process's limit; None means that limit.
    pub threads: Option<usize>,
    /// Whether to load every `all_messages_text`.
    pub text: bool,
    /// Whether to add up the usage of all sessions.
    pub usage: bool,
}

/// What the caller's function is called with, in the caller's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// One more file has been dealt with.
    File { loaded: usize, total: usize },
    /// Some time has passed: an occasion to stop.
    Tick,
}

/// How often the calling thread says [`Progress::Tick`].
const TICK: Duration = Duration::from_millis(50);

/// What a scan found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Newest first, equal times by path.
    pub infos: Vec<SessionInfo>,
    /// By path and line.
    pub damage: Vec<Damage>,
    /// Of all sessions, each record once; nothing unless it was wanted.
    pub usage: Usage,
}

/// Reads every session of the sources.
///
/// # Errors
///
/// [`Error::Io`] and [`Error::NothingFits`] for a source that cannot be looked at, [`Error::Stopped`] when `progress` breaks,
/// [`Error::NoThreads`] and [`Error::WorkerLost`] when the threads fail.
pub fn scan(
    sources: &[Source],
    options: Options,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Scan> {
    let mut teller = Teller { progress, last_tick: Instant::now() };
    let found = find(sources, &mut || teller.tick())?;
    let sessions = read_all(found.files, options, &mut teller)?;
    put_together(sessions, found.damage, &mut teller)
}

/// Tells the caller how things go, and learns whether to stop.
struct Teller<'a> {
    progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    last_tick: Instant,
}

impl Teller<'_> {
    fn say(&mut self, what: Progress) -> Result<()> {
        if (self.progress)(what).is_break() { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Says [`Progress::Tick`] if it is time.
    fn tick(&mut self) -> Result<()> {
        if self.last_tick.elapsed() < TICK {
            return Ok(());
        }
        self.last_tick = Instant::now();
        self.say(Progress::Tick)
    }
}

/// Reads the files; what is no session and was not named is left out.
fn read_all(files: Vec<Candidate>, options: Options, teller: &mut Teller<'_>) -> Result<Vec<Readable>> {
    let total = files.len();
    let wanted = Wanted { text: options.text, records: options.usage, keys: Arc::default() };
    let results = crew::start(Listing { files, wanted }, total, options.threads)?;
    let mut read = Vec::with_capacity(total);
    for loaded in 1..=total {
        let (_, outcome) = results.next(&mut || teller.tick())?;
        read.extend(outcome);
        teller.say(Progress::File { loaded, total })?;
    }
    Ok(read)
}

/// A session, or why a file is none that could be read.
type Readable = std::result::Result<Box<Session>, Damage>;

/// Files to be listed.
struct Listing {
    files: Vec<Candidate>,
    wanted: Wanted,
}

impl Task for Listing {
    type Long = LongSession;
    /// Nothing of a file that is to be left out.
    type Outcome = Option<Readable>;

    fn begin(&self, number: usize, buffer: &mut Buffer, is_stopped: &AtomicBool) -> Begun<LongSession, Self::Outcome> {
        let file = &self.files[number];
        Begun::Done(match elyra::read(&file.path, buffer, &self.wanted, is_stopped) {
            Ok(Reading::Long(long)) => return Begun::Long(long),
            Ok(Reading::Session(session)) => Some(Ok(session)),
            Ok(Reading::NoSession(reason)) if file.is_named => {
                Some(Err(Damage::unusable(&file.path, &format!("no session: {reason}"))))
            }
            Ok(Reading::NoSession(_) | Reading::Vanished) => None,
            Err(error) => Some(Err(Damage::unreadable(&file.path, &error))),
        })
    }

    fn take(&self, long: &LongSession) -> Option<u64> {
        long.take()
    }

    fn read(
        &self,
        long: &LongSession,
        region: u64,
        buffer: &mut Buffer,
        is_stopped: &AtomicBool,
    ) -> Option<Self::Outcome> {
        let session = long.read(region, buffer, is_stopped)?;
        Some(Some(session.map(Box::new).map_err(|error| Damage::unreadable(long.path(), &error))))
    }

    fn may_begin(&self, _: usize) -> bool {
        true
    }
}

fn put_together(read: Vec<Readable>, mut damage: Vec<Damage>, teller: &mut Teller<'_>) -> Result<Scan> {
    let mut sessions = Vec::with_capacity(read.len());
    for one in read {
        match one {
            Ok(session) => sessions.push(*session),
            Err(report) => damage.push(report),
        }
    }
    let order = |info: &SessionInfo| std::cmp::Reverse(info.modified_ms);
    sessions.sort_by(|Session { info: one, .. }, Session { info: other, .. }| {
        (order(one), one.path.as_os_str()).cmp(&(order(other), other.path.as_os_str()))
    });
    let mut scan = Scan { infos: Vec::with_capacity(sessions.len()), damage, usage: Usage::default() };
    let mut ledger = Ledger::default();
    for session in sessions {
        teller.tick()?;
        session.records.iter().filter(|record| ledger.enter(record.identity)).for_each(|record| scan.usage.add(record));
        scan.damage.extend(session.damage);
        scan.infos.push(session.info);
    }
    // Stable: the reports of one file are in order already.
    scan.damage.sort_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
    Ok(scan)
}
