//! The contexts of all sessions of a store, built by a crew and handed out in the order of the files' paths.
//!
//! What is ready waits to be taken, up to some amount: then the crew waits, too.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::context::SessionContext;
use crate::crew::{self, Begun, Results, Task};
use crate::elyra::{Context, LongSurvey, REGION, Surveyed, survey};
use crate::error::{Error, Result};
use crate::info::{Format, SessionInfo};
use crate::lines::Buffer;
use crate::listing::Opened;
use crate::replio;
use crate::sources::{Candidate, Source, find};
use crate::usage::IdentityKeys;

/// How many bytes of contexts may wait to be taken, the ones in the making left out.
const WAITING_BYTES: usize = 32 << 20;

/// How many sessions may be ahead of the one that is to be taken next, however small they are.
const AHEAD: usize = 1024;

/// How often a session is read anew when somebody rewrites its file meanwhile.
const ATTEMPTS: usize = 3;

/// The sessions of a store with their contexts, one after the other.
pub struct Contexts {
    results: Results<(usize, Outcome)>,
    /// What is ready, but not to be taken yet.
    early: BTreeMap<usize, Outcome>,
    total: usize,
    /// The number of the next one.
    next: usize,
    shelf: Arc<Shelf>,
    unreadable: usize,
}

/// Finds the sessions of the sources, and begins to build their contexts on at most `threads` threads.
///
/// # Errors
///
/// As for [`crate::scan()`].
pub fn contexts(sources: &[Source], threads: Option<usize>, tick: &mut dyn FnMut() -> Result<()>) -> Result<Contexts> {
    let mut files = find(sources, tick)?.files;
    files.sort_unstable_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
    let (total, shelf) = (files.len(), Arc::<Shelf>::default());
    let task = Building { files, keys: IdentityKeys::default(), shelf: Arc::clone(&shelf) };
    let results = crew::start(task, total, threads)?;
    Ok(Contexts { results, early: BTreeMap::new(), total, next: 0, shelf, unreadable: 0 })
}

impl Contexts {
    /// The next session; None after the last.
    ///
    /// # Errors
    ///
    /// What `tick` gives, which is called while this waits, [`Error::WorkerLost`], and [`Error::OtherProcess`] in a fork.
    pub fn next(&mut self, tick: &mut dyn FnMut() -> Result<()>) -> Result<Option<SessionContext>> {
        self.results.check_process()?;
        while self.next < self.total {
            match self.early.remove(&self.next) {
                Some(outcome) => {
                    self.next += 1;
                    self.shelf.take(&outcome);
                    self.results.wake();
                    match outcome {
                        Outcome::Session(session) => return Ok(Some(*session)),
                        Outcome::Unreadable => self.unreadable += 1,
                        Outcome::LeftOut => {}
                    }
                }
                None => self.early.extend([self.results.next(tick)?]),
            }
        }
        Ok(None)
    }

    /// How many files could not be read so far.
    #[must_use]
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }
}

/// What comes of a file.
enum Outcome {
    Session(Box<SessionContext>),
    /// It is no session, or has gone.
    LeftOut,
    Unreadable,
}

/// How much is waiting to be taken.
#[derive(Debug, Default)]
struct Shelf {
    bytes: AtomicUsize,
    taken: AtomicUsize,
}

impl Shelf {
    fn put(&self, session: &SessionContext) {
        self.bytes.fetch_add(session.json.len(), Ordering::Relaxed);
    }

    fn take(&self, outcome: &Outcome) {
        if let Outcome::Session(session) = outcome {
            self.bytes.fetch_sub(session.json.len(), Ordering::Relaxed);
        }
        self.taken.fetch_add(1, Ordering::Relaxed);
    }

    fn has_room(&self, number: usize) -> bool {
        self.bytes.load(Ordering::Relaxed) < WAITING_BYTES && number < self.taken.load(Ordering::Relaxed) + AHEAD
    }
}

/// Files whose contexts are to be built.
struct Building {
    files: Vec<Candidate>,
    keys: IdentityKeys,
    shelf: Arc<Shelf>,
}

impl Building {
    fn finish(&self, surveyed: Result<Box<(SessionInfo, Context)>>) -> Result<Outcome> {
        let (info, context) = *surveyed?;
        let mut json = Vec::with_capacity(context.json_len());
        context.write_json(&mut |piece| json.extend_from_slice(piece))?;
        let Context { thinking_level, model, .. } = context;
        Ok(self.put(SessionContext { info, json, thinking_level, model }))
    }

    fn put(&self, session: SessionContext) -> Outcome {
        self.shelf.put(&session);
        Outcome::Session(Box::new(session))
    }

    fn read_document(&self, path: &Path, buffer: &mut Buffer, is_stopped: &AtomicBool) -> Outcome {
        let opened = match Opened::open(path) {
            Ok(Some(opened)) => opened,
            Ok(None) => return Outcome::LeftOut,
            Err(_) => return Outcome::Unreadable,
        };
        match replio::survey(path, &opened, buffer, is_stopped) {
            Ok(Some(session)) => self.put(session),
            Ok(None) | Err(_) => Outcome::Unreadable,
        }
    }

    fn read(
        &self,
        path: &Path,
        region: u64,
        buffer: &mut Buffer,
        is_stopped: &AtomicBool,
    ) -> Result<Begun<Box<LongSurvey>, Outcome>> {
        let Some(opened) = Opened::open(path).map_err(Error::io(path))? else {
            return Ok(Begun::Done(Outcome::LeftOut));
        };
        Ok(match survey(opened, path, region, self.keys, buffer, is_stopped)? {
            Surveyed::Session(session) => Begun::Done(self.finish(Ok(session))?),
            Surveyed::Long(long) => Begun::Long(long),
            Surveyed::NoSession => Begun::Done(Outcome::LeftOut),
        })
    }
}

impl Building {
    /// Reads a file, anew if somebody rewrites it meanwhile, or begins to, if it is longer than a region.
    fn try_to_read(
        &self,
        path: &Path,
        region: u64,
        buffer: &mut Buffer,
        is_stopped: &AtomicBool,
    ) -> Begun<Box<LongSurvey>, Outcome> {
        for _ in 0..ATTEMPTS {
            match self.read(path, region, buffer, is_stopped) {
                Ok(begun) => return begun,
                Err(Error::Conflict { .. }) => {}
                Err(_) => break,
            }
        }
        Begun::Done(Outcome::Unreadable)
    }
}

impl Task for Building {
    type Long = Box<LongSurvey>;
    type Outcome = Outcome;

    fn begin(&self, number: usize, buffer: &mut Buffer, is_stopped: &AtomicBool) -> Begun<Self::Long, Outcome> {
        let Candidate { path, format, .. } = &self.files[number];
        match format {
            Format::Elyra => self.try_to_read(path, REGION, buffer, is_stopped),
            Format::Replio => Begun::Done(self.read_document(path, buffer, is_stopped)),
        }
    }

    fn take(&self, long: &Self::Long) -> Option<u64> {
        long.take()
    }

    fn read(&self, long: &Self::Long, region: u64, buffer: &mut Buffer, is_stopped: &AtomicBool) -> Option<Outcome> {
        let surveyed = long.read(region, buffer, is_stopped)?;
        Some(match self.finish(surveyed) {
            Ok(outcome) => outcome,
            // Anew, and by this thread alone.
            Err(Error::Conflict { .. }) => match self.try_to_read(&long.path, u64::MAX, buffer, is_stopped) {
                Begun::Done(outcome) => outcome,
                Begun::Long(_) => Outcome::Unreadable,
            },
            Err(_) => Outcome::Unreadable,
        })
    }

    fn portion(&self, number: usize) -> usize {
        usize::from(self.shelf.has_room(number))
    }
}
