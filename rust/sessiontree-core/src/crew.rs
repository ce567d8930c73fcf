//! A crew of threads at work on many files: small ones each takes for itself, at long ones all work together.
//!
//! The crew owns all it needs, so that whoever waits for its results may leave at any time. A scan has a crew of its own: a
//! forked child would wait for ever for rayon's global pool.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lines::Buffer;
use crate::workers::{self, Permit};

/// What a crew is to do.
pub(crate) trait Task: Send + Sync + 'static {
    /// A file that is read in regions.
    type Long: Send + Sync;
    /// What comes of a file.
    type Outcome: Send;

    /// Reads a file, or begins to.
    fn begin(&self, number: usize, buffer: &mut Buffer, is_stopped: &AtomicBool) -> Begun<Self::Long, Self::Outcome>;

    /// The number of a region to read, if there is one that may be read now.
    fn take(&self, long: &Self::Long) -> Option<u64>;

    /// Reads a region; gives what comes of the file if nothing is missing then.
    fn read(
        &self,
        long: &Self::Long,
        region: u64,
        buffer: &mut Buffer,
        is_stopped: &AtomicBool,
    ) -> Option<Self::Outcome>;

    /// How many files, from that number on, a thread may take at once; none if it has to wait.
    fn portion(&self, number: usize) -> usize;
}

/// How far a thread got with a file by itself.
pub(crate) enum Begun<L, O> {
    Done(O),
    Long(L),
}

/// What all threads of a crew know.
struct Crew<T: Task> {
    task: T,
    total: usize,
    limit: usize,
    is_stopped: Arc<AtomicBool>,
    state: Mutex<State<T::Long>>,
    has_changed: Condvar,
}

struct State<L> {
    /// How many files have been taken.
    taken: usize,
    /// How many threads are at such files, any of which may turn out to be long.
    beginning: usize,
    /// How many threads wait for something to do.
    waiting: usize,
    /// The long files that are being read, with their numbers.
    long: Vec<(usize, Arc<L>)>,
}

/// The next piece of work.
enum Piece<L> {
    Files(Range<usize>),
    Region { file: usize, long: Arc<L>, region: u64 },
}

/// How long a thread that finds nothing to do waits, if nobody wakes it, before it looks again.
const PAUSE: Duration = Duration::from_millis(100);

/// What a crew brings, as it comes. Dropped, it tells the crew to end.
pub(crate) struct Results<T> {
    crew: Arc<dyn Wake>,
    receiver: Receiver<Vec<T>>,
    /// What has been received, the last first.
    ready: Vec<T>,
    is_stopped: Arc<AtomicBool>,
    /// The process that has the crew: a fork of it has none.
    process: u32,
}

impl<T> Drop for Results<T> {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.wake();
    }
}

/// Threads that may be waiting.
trait Wake: Send + Sync {
    fn wake(&self);
}

impl<T: Task> Wake for Crew<T> {
    fn wake(&self) {
        self.tell(&self.state());
    }
}

impl<T> Results<T> {
    /// Tells the crew that there may be something to do again.
    pub(crate) fn wake(&self) {
        if self.check_process().is_ok() {
            self.crew.wake();
        }
    }

    /// The next result, whichever file's it is; calls `tick` while it waits.
    ///
    /// # Errors
    ///
    /// What `tick` gives, [`Error::WorkerLost`], and [`Error::OtherProcess`].
    pub(crate) fn next(&mut self, tick: &mut dyn FnMut() -> Result<()>) -> Result<T> {
        self.check_process()?;
        loop {
            if let Some(result) = self.ready.pop() {
                return Ok(result);
            }
            tick()?;
            self.ready = self.receive(tick)?;
            self.ready.reverse();
        }
    }

    /// That this is the process that has the crew.
    pub(crate) fn check_process(&self) -> Result<()> {
        if self.process == std::process::id() { Ok(()) } else { Err(Error::OtherProcess) }
    }

    fn receive(&self, tick: &mut dyn FnMut() -> Result<()>) -> Result<Vec<T>> {
        if let Ok(results) = self.receiver.try_recv() {
            return Ok(results);
        }
        thread::sleep(GATHER);
        loop {
            match self.receiver.recv_timeout(TICK) {
                Ok(results) => return Ok(results),
                Err(RecvTimeoutError::Disconnected) => return Err(Error::WorkerLost),
                Err(RecvTimeoutError::Timeout) => tick()?,
            }
        }
    }
}

/// How long whoever waits lets results gather: to be woken for each would cost the crew as much as reading a small file does.
const GATHER: Duration = Duration::from_micros(200);

/// How often who waits is asked whether to go on.
const TICK: Duration = Duration::from_millis(25);

/// Sets a crew to work at `total` files, numbered from 0, on at most `threads` threads. Results come as they come.
pub(crate) fn start<T: Task>(task: T, total: usize, threads: Option<usize>) -> Result<Results<(usize, T::Outcome)>> {
    let limit = workers::limit();
    let is_stopped = Arc::new(AtomicBool::new(false));
    let state = Mutex::new(State { taken: 0, beginning: 0, waiting: 0, long: Vec::new() });
    let (sender, receiver) = channel();
    let crew =
        Arc::new(Crew { task, total, limit, is_stopped: Arc::clone(&is_stopped), state, has_changed: Condvar::new() });
    if total > 0 {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(limit).clamp(1, limit))
            .thread_name(|_| "sessiontree".to_owned())
            .panic_handler(|_| {}) // the channel closes, and the caller sees that results are missing
            .build()
            .map_err(|error| Error::NoThreads { reason: error.to_string() })?;
        let crew = Arc::clone(&crew);
        pool.spawn_broadcast(move |_| crew.work(&sender));
    }
    Ok(Results { crew, receiver, ready: Vec::new(), is_stopped, process: std::process::id() })
}

impl<T: Task> Crew<T> {
    fn state(&self) -> MutexGuard<'_, State<T::Long>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    fn work(&self, sender: &Sender<Vec<(usize, T::Outcome)>>) {
        let _alarm = StopOnPanic(&self.is_stopped);
        let mut buffer = Buffer::default();
        let mut permit = None;
        while let Some(piece) = self.wait_for_next(&mut permit) {
            permit = match permit.filter(|permit| !permit.is_due()) {
                None => Permit::acquire(self.limit, || self.is_stopped()),
                held => held,
            };
            if permit.is_none() {
                return;
            }
            let done = self.run(piece, &mut buffer);
            // What was stopped may be anything, and nobody waits for it.
            if !self.is_stopped() {
                _ = sender.send(done);
            }
        }
    }

    /// The next piece of work; None once there will be none. Who waits for one gives its permit back.
    fn wait_for_next(&self, permit: &mut Option<Permit>) -> Option<Piece<T::Long>> {
        let mut state = self.state();
        while !self.is_stopped() {
            if let Some(piece) = self.next(&mut state) {
                return Some(piece);
            }
            if state.taken == self.total && state.beginning == 0 && state.long.is_empty() {
                return None;
            }
            *permit = None;
            state.waiting += 1;
            state = self.has_changed.wait_timeout(state, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
        None
    }

    /// What is next to be done, if there is anything that may be done now.
    fn next(&self, state: &mut State<T::Long>) -> Option<Piece<T::Long>> {
        let region = |(file, long): &(usize, Arc<T::Long>)| {
            Some(Piece::Region { file: *file, long: Arc::clone(long), region: self.task.take(long)? })
        };
        if let Some(piece) = state.long.iter().find_map(region) {
            return Some(piece);
        }
        let first = state.taken;
        let last = self.total.min(first + self.task.portion(first));
        if first == last {
            return None;
        }
        state.taken = last;
        state.beginning += 1;
        Some(Piece::Files(first..last))
    }

    fn run(&self, piece: Piece<T::Long>, buffer: &mut Buffer) -> Vec<(usize, T::Outcome)> {
        let mut done = Vec::new();
        match piece {
            Piece::Files(files) => {
                for file in files {
                    match self.task.begin(file, buffer, &self.is_stopped) {
                        Begun::Done(outcome) => done.push((file, outcome)),
                        Begun::Long(long) => {
                            let mut state = self.state();
                            state.long.push((file, Arc::new(long)));
                            self.tell(&state);
                        }
                    }
                }
                let mut state = self.state();
                state.beginning -= 1;
                self.tell(&state);
            }
            Piece::Region { file, long, region } => {
                let outcome = self.task.read(&long, region, buffer, &self.is_stopped);
                let mut state = self.state();
                if let Some(outcome) = outcome {
                    done.push((file, outcome));
                    state.long.retain(|(number, _)| *number != file);
                }
                self.tell(&state);
            }
        }
        done
    }

    /// Tells those who wait that there may be something to do.
    fn tell(&self, state: &State<T::Long>) {
        if state.waiting > 0 {
            self.has_changed.notify_all();
        }
    }
}

/// Tells all threads to end when one is lost: what it was at will never be done.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
