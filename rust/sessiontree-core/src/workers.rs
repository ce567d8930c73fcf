//! How many threads work at once, over all scans of the process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// How many workers may be at work: as many as there are processors for this process, by affinity and control group.
pub(crate) fn limit() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The process, in the upper half, and how many of its workers are at work. A forked child finds the numbers of its parent
/// here, and no worker: its own process number differs, so it counts from 0. A lock could have been held at the fork.
static AT_WORK: AtomicU64 = AtomicU64::new(0);

/// How long to wait before looking again for a place.
const PAUSE: Duration = Duration::from_micros(200);

/// A place among the workers; given up when dropped.
pub(crate) struct Place(());

impl Place {
    /// Waits for a place. None once `is_stopped` says that it is no longer wanted.
    pub(crate) fn take(limit: usize, is_stopped: impl Fn() -> bool) -> Option<Self> {
        loop {
            if is_stopped() {
                return None;
            }
            let taken = AT_WORK.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
                let count = count_of(state);
                (count < limit as u64).then_some(process() | (count + 1))
            });
            if taken.is_ok() {
                return Some(Self(()));
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let given_up = |state| Some(process() | count_of(state).saturating_sub(1));
        _ = AT_WORK.fetch_update(Ordering::AcqRel, Ordering::Acquire, given_up);
    }
}

fn process() -> u64 {
    u64::from(std::process::id()) << 32
}

fn count_of(state: u64) -> u64 {
    if state >> 32 == process() >> 32 { state & u64::from(u32::MAX) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn no_more_than_the_limit_are_at_work() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let place = Place::take(2, || false);
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::sleep(Duration::from_micros(50));
                        now.fetch_sub(1, Ordering::SeqCst);
                        drop(place);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 2);
        assert!(Place::take(0, || true).is_none());
    }
}
