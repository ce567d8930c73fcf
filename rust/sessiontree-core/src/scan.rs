//! Every session of a store: found, read by a crew of threads, and put in an order that no thread can change.
//!
//! The calling thread waits for results and reports progress; it never reads a session. When it is told to stop it returns at
//! once, and the crew ends at the next block.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::catalogue::codec::Listed;
use crate::crew::{self, Begun, Task};
use crate::elyra::{self, LongSession, Wanted};
use crate::error::{Damage, Error, Result};
use crate::info::{Format, SessionInfo, Stamp};
use crate::known::{Finding, Known};
use crate::lines::Buffer;
use crate::listing::{Opened, Session};
use crate::replio;
use crate::sources::{Candidate, Source, find};
use crate::usage::{IdentityKeys, Ledger, Usage};

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
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Scan> {
    let mut teller = Teller { progress, last_tick: Instant::now() };
    let mut found = find(sources, &mut || teller.tick())?;
    let catalogue = options.catalogue.as_deref().filter(|_| !options.text);
    let known = catalogue.and_then(|path| Known::open(path, &found, options.usage));
    let damage = std::mem::take(&mut found.damage);
    let sessions = read_all(found.files, options, known, &mut teller)?;
    put_together(sessions, damage, &mut teller)
}

/// Reads the `all_messages_text` of a session that was listed before.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
pub fn read_text(info: &SessionInfo) -> Result<String> {
    match info.format {
        Format::Elyra => elyra::read_text(info),
        Format::Replio => replio::read_text(info),
    }
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

/// How much of what was found may wait to be kept in the catalogue.
const PORTION_BYTES: usize = 16 << 20;

/// Reads the files; what is no session is left out where its folder may hold anything.
fn read_all(
    files: Vec<Candidate>,
    options: &Options,
    known: Option<Known>,
    teller: &mut Teller<'_>,
) -> Result<Vec<Readable>> {
    let total = files.len();
    let wanted = Wanted {
        text: options.text,
        records: options.usage || known.is_some(),
        keys: known.as_ref().map_or_else(IdentityKeys::default, |known| known.keys),
    };
    let listing = Arc::new(Listing { files, wanted, known });
    let mut results = crew::start(Arc::clone(&listing), total, options.threads)?;
    let mut read = Vec::with_capacity(total);
    let (mut findings, mut size) = (Vec::new(), 0);
    for loaded in 1..=total {
        let (_, Outcome { readable, finding }) = results.next(&mut || teller.tick())?;
        read.extend(readable);
        size += finding.as_ref().map_or(0, Finding::size);
        findings.extend(finding);
        if let Some(known) = &listing.known
            && size > PORTION_BYTES
        {
            known.keep(&findings);
            findings.clear();
            size = 0;
        }
        teller.say(Progress::File { loaded, total })?;
    }
    drop(results);
    if let Some(known) = &listing.known {
        known.keep(&findings);
        known.forget_others(&listing.files);
    }
    Ok(read)
}

/// A session, or why a file is none that could be read.
type Readable = std::result::Result<Box<Session>, Damage>;

/// What comes of a file.
struct Outcome {
    /// Nothing of one that is to be left out.
    readable: Option<Readable>,
    /// What the catalogue is to know of it.
    finding: Option<Finding>,
}

/// Files to be listed.
struct Listing {
    files: Vec<Candidate>,
    wanted: Wanted,
    known: Option<Known>,
}

impl Listing {
    fn session(&self, session: Session) -> Outcome {
        let finding = self.known.is_some().then(|| Finding::session(&session));
        Outcome { readable: Some(Ok(Box::new(session))), finding }
    }

    /// Folders may hold lines of any kind; but who keeps documents keeps nothing else where they are.
    fn no_session(file: &Candidate, damage: Damage) -> Option<Readable> {
        (file.is_named || file.format == Format::Replio).then_some(Err(damage))
    }

    /// As [`Self::no_session`], with what the catalogue is to know.
    fn found_none(&self, file: &Candidate, stamp: Stamp, is_settled: bool, damage: Damage) -> Outcome {
        let finding = self.known.is_some().then(|| Finding::no_session(&damage, stamp, is_settled));
        Outcome { readable: Self::no_session(file, damage), finding }
    }

    fn unreadable(path: &Path, error: &io::Error) -> Outcome {
        Outcome { readable: Some(Err(Damage::unreadable(path, error))), finding: None }
    }

    /// What is known of a file that has not changed.
    fn recall(&self, file: &Candidate) -> Option<Outcome> {
        let (listed, records) = self.known.as_ref()?.recall(&file.path)?;
        let readable = match listed {
            Listed::Session(info, damage) => Some(Ok(Box::new(Session::recalled(*info, damage, records)))),
            Listed::NoSession(damage) => Self::no_session(file, damage),
        };
        Some(Outcome { readable, finding: None })
    }

    fn begin_lines(
        &self,
        file: &Candidate,
        opened: Opened,
        buffer: &mut Buffer,
        is_stopped: &AtomicBool,
    ) -> Begun<Box<LongSession>, Outcome> {
        let (stamp, is_settled) = (opened.stamp, opened.is_settled);
        let earlier = self.known.as_ref().and_then(|known| known.resume(&file.path, &stamp));
        Begun::Done(match elyra::list(opened, &file.path, earlier.as_ref(), buffer, self.wanted, is_stopped) {
            Ok(elyra::Reading::Long(long)) => return Begun::Long(long),
            Ok(elyra::Reading::Session(session)) => self.session(*session),
            Ok(elyra::Reading::NoSession(reason)) => {
                let damage = Damage::unusable(&file.path, &format!("no session: {reason}"));
                self.found_none(file, stamp, is_settled, damage)
            }
            Err(error) => Self::unreadable(&file.path, &error),
        })
    }

    fn read_document(&self, file: &Candidate, opened: Opened, buffer: &mut Buffer, is_stopped: &AtomicBool) -> Outcome {
        let Opened { file: document, stamp, is_settled, is_regular } = opened;
        if !is_regular {
            let damage = Damage::unusable(&file.path, "no session: it is no regular file");
            return self.found_none(file, stamp, is_settled, damage);
        }
        match replio::list(&file.path, &document, stamp, buffer, self.wanted.text, is_stopped) {
            Ok(replio::Reading::Session(info, damage)) => {
                self.session(Session { info: *info, damage, records: Vec::new(), is_settled, resume: None })
            }
            Ok(replio::Reading::NoSession(damage)) => self.found_none(file, stamp, is_settled, damage),
            Err(error) => Self::unreadable(&file.path, &error),
        }
    }
}

impl Task for Arc<Listing> {
    type Long = Box<LongSession>;
    type Outcome = Outcome;

    fn begin(&self, number: usize, buffer: &mut Buffer, is_stopped: &AtomicBool) -> Begun<Self::Long, Outcome> {
        let file = &self.files[number];
        if let Some(outcome) = self.recall(file) {
            return Begun::Done(outcome);
        }
        let opened = match Opened::open(&file.path) {
            Ok(Some(opened)) => opened,
            Ok(None) => return Begun::Done(Outcome { readable: None, finding: None }),
            Err(error) => return Begun::Done(Listing::unreadable(&file.path, &error)),
        };
        match file.format {
            Format::Elyra => self.begin_lines(file, opened, buffer, is_stopped),
            Format::Replio => Begun::Done(self.read_document(file, opened, buffer, is_stopped)),
        }
    }

    fn take(&self, long: &Self::Long) -> Option<u64> {
        long.take()
    }

    fn read(&self, long: &Self::Long, region: u64, buffer: &mut Buffer, is_stopped: &AtomicBool) -> Option<Outcome> {
        Some(match long.read(region, buffer, is_stopped)? {
            Ok(session) => self.session(session),
            Err(error) => Listing::unreadable(&long.path, &error),
        })
    }

    fn portion(&self, _: usize) -> usize {
        // Enough portions for all threads to end together, and few enough for handing them out to cost nothing.
        (self.files.len() / 500).clamp(1, 32)
    }
}

fn put_together(read: Vec<Readable>, mut damage: Vec<Damage>, teller: &mut Teller<'_>) -> Result<Scan> {
    let mut sessions = Vec::with_capacity(read.len());
    for one in read {
        match one {
            Ok(session) => sessions.push(session),
            Err(report) => damage.push(report),
        }
    }
    let order = |info: &SessionInfo| std::cmp::Reverse(info.modified_ms);
    sessions.sort_unstable_by(|one, other| {
        let (one, other) = (&one.info, &other.info);
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
