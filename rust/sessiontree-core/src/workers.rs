//! How many threads work at once, over all scans of the process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How many workers may be at work: as many as there are processors for this process, by affinity and control group.
pub(crate) fn limit() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A [`State`]. A lock here could be held at the moment of a fork, and would then be held in the child for ever.
static STATE: AtomicU64 = AtomicU64::new(0);

/// How often somebody looks for a permit, however many wait: each waits this long times their number.
const PAUSE: Duration = Duration::from_micros(200);

/// The workers of this process. A forked child finds its parent's here, and has none of them: the process number, which
/// stands beside, is another one, so it counts from 0.
#[derive(Clone, Copy)]
struct State {
    at_work: u16,
    waiting: u16,
}

impl State {
    fn now() -> Self {
        Self::unpack(STATE.load(Ordering::Acquire))
    }

    fn unpack(packed: u64) -> Self {
        if packed >> 32 == u64::from(std::process::id()) {
            let [at_work_low, at_work_high, waiting_low, waiting_high, ..] = packed.to_le_bytes();
            let at_work = u16::from_le_bytes([at_work_low, at_work_high]);
            Self { at_work, waiting: u16::from_le_bytes([waiting_low, waiting_high]) }
        } else {
            Self { at_work: 0, waiting: 0 }
        }
    }

    fn pack(self) -> u64 {
        u64::from(std::process::id()) << 32 | u64::from(self.waiting) << 16 | u64::from(self.at_work)
    }

    /// Changes the state, unless `change` gives None; gives what came of it.
    fn update(change: impl Fn(Self) -> Option<Self>) -> Option<Self> {
        let changed = |packed| change(Self::unpack(packed)).map(Self::pack);
        let before = STATE.fetch_update(Ordering::AcqRel, Ordering::Acquire, changed).ok()?;
        change(Self::unpack(before))
    }
}

/// How long a worker may keep its permit while others wait for one.
const SLICE: Duration = Duration::from_millis(5);

/// A worker's permit to be at work; given back when dropped.
pub(crate) struct Permit {
    since: Instant,
}

impl Permit {
    /// Waits for a permit. None once `is_stopped` says that it is no longer wanted.
    pub(crate) fn acquire(limit: usize, is_stopped: impl Fn() -> bool) -> Option<Self> {
        let start = |state: State| {
            let at_work = state.at_work.checked_add(1)?;
            (usize::from(at_work) <= limit).then_some(State { at_work, ..state })
        };
        let mut waiting: Option<Waiting> = None;
        while !is_stopped() {
            if State::update(start).is_some() {
                return Some(Self { since: Instant::now() });
            }
            waiting.get_or_insert_with(Waiting::new);
            thread::sleep(PAUSE * u32::from(State::now().waiting.max(1)));
        }
        None
    }

    /// Whether it is to be given back, because others wait for one and it has been kept for a while.
    pub(crate) fn is_due(&self) -> bool {
        self.since.elapsed() > SLICE && State::now().waiting > 0
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        State::update(|state| Some(State { at_work: state.at_work.saturating_sub(1), ..state }));
    }
}

/// A place among those who wait; given up when dropped.
struct Waiting(());

impl Waiting {
    fn new() -> Self {
        State::update(|state| Some(State { waiting: state.waiting.saturating_add(1), ..state }));
        Self(())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        State::update(|state| Some(State { waiting: state.waiting.saturating_sub(1), ..state }));
    }
}

/// Held by tests that take permits: these are the whole process's.
#[cfg(test)]
pub(crate) static IN_USE: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn no_more_than_the_limit_are_at_work() {
        let _alone = IN_USE.lock();
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let permit = Permit::acquire(2, || false);
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::sleep(Duration::from_micros(50));
                        now.fetch_sub(1, Ordering::SeqCst);
                        drop(permit);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 2);
        assert!(Permit::acquire(0, || true).is_none());
        let State { at_work, waiting } = State::now();
        assert_eq!((at_work, waiting), (0, 0));
    }
}
