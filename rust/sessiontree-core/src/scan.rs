//! Many files at once: each a piece of work for a pool of threads, the results in an order that no thread can change.
//!
//! The calling thread waits for results and reports progress; it never reads a session. When it is told to stop it returns at
//! once, and the workers, who own all they need, end at the next block.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::elyra::store::{Candidate, Source, find};
use crate::elyra::{self, Reading, Session, Wanted};
use crate::error::{Damage, Error, Result};
use crate::info::SessionInfo;
use crate::lines::Buffer;
use crate::usage::{IdentityKeys, Ledger, Usage};
use crate::workers::{self, Permit};

/// How a scan is to be made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How many threads read, within the process's limit; None means that limit.
    pub threads: Option<usize>,
    /// Whether to load every `all_messages_text`.
    pub text: bool,
    /// Whether to add up the usage of all sessions.
    pub usage: bool,
    /// The file that tells what earlier scans found, if there is to be one.
    pub catalogue: Option<PathBuf>,
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

/// How long the calling thread lets results gather: to be woken for each would cost the workers as much as reading a small
/// file does.
const PAUSE: Duration = Duration::from_micros(200);

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
    if total == 0 {
        return Ok(Vec::new());
    }
    let limit = workers::limit();
    let threads = options.threads.unwrap_or(limit).min(limit).min(total);
    let work = Work { is_stopped: Arc::default(), keys: Arc::default(), limit, options };
    let stop = StopOnDrop(Arc::clone(&work.is_stopped));
    let results = start(files, threads, work)?;
    let mut read = Vec::with_capacity(total);
    for loaded in 1..=total {
        read.extend(wait(&results, teller)?);
        teller.say(Progress::File { loaded, total })?;
    }
    drop(stop);
    Ok(read)
}

/// A session, or why a file is none that could be read.
type Readable = std::result::Result<Box<Session>, Damage>;

/// What a worker makes of a file: nothing of one that is to be left out.
type Outcome = Option<Readable>;

/// What all workers of a scan know.
#[derive(Clone)]
struct Work {
    is_stopped: Arc<AtomicBool>,
    keys: Arc<IdentityKeys>,
    limit: usize,
    options: Options,
}

/// Tells the workers to end when the scan does, however it does.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sets a pool of its own to work: a forked child would wait for ever for rayon's global one.
fn start(mut files: Vec<Candidate>, threads: usize, work: Work) -> Result<Receiver<Outcome>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|_| "sessiontree".to_owned())
        .panic_handler(|_| {}) // the channel closes, and the caller sees that results are missing
        .build()
        .map_err(|error| Error::NoThreads { reason: error.to_string() })?;
    // The largest first, so that no thread is left alone with one at the end.
    files.sort_by_key(|file| std::cmp::Reverse(file.size_bytes));
    let (sender, receiver) = channel();
    pool.spawn(move || {
        files.into_iter().par_bridge().for_each_init(
            || (sender.clone(), Buffer::default()),
            |(sender, buffer), file| work.run(&file, buffer, sender),
        );
    });
    Ok(receiver)
}

impl Work {
    fn run(&self, file: &Candidate, buffer: &mut Buffer, sender: &Sender<Outcome>) {
        let is_stopped = || self.is_stopped.load(Ordering::Relaxed);
        if let Some(_permit) = Permit::acquire(self.limit, is_stopped) {
            // Nobody waits for the result of a scan that was stopped.
            _ = sender.send(self.read(file, buffer));
        }
    }

    fn read(&self, file: &Candidate, buffer: &mut Buffer) -> Outcome {
        let Options { text, usage: records, .. } = self.options;
        let wanted = Wanted { text, records, keys: &self.keys, is_stopped: &self.is_stopped };
        match elyra::read(&file.path, buffer, wanted) {
            Ok(Reading::Session(session)) => Some(Ok(session)),
            Ok(Reading::NoSession(reason)) if file.is_named => {
                Some(Err(Damage::unusable(&file.path, &format!("no session: {reason}"))))
            }
            Ok(Reading::NoSession(_) | Reading::Vanished) => None,
            Err(error) => Some(Err(Damage::unreadable(&file.path, &error))),
        }
    }
}

/// The next result, whichever file's it is.
fn wait(results: &Receiver<Outcome>, teller: &mut Teller<'_>) -> Result<Outcome> {
    teller.tick()?;
    if let Ok(outcome) = results.try_recv() {
        return Ok(outcome);
    }
    thread::sleep(PAUSE);
    loop {
        match results.recv_timeout(TICK / 2) {
            Ok(outcome) => return Ok(outcome),
            Err(RecvTimeoutError::Disconnected) => return Err(Error::WorkerLost),
            Err(RecvTimeoutError::Timeout) => teller.tick()?,
        }
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
