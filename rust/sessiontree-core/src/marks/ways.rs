//! Reading by every kind of instruction in turn, for tests: elsewhere the best one is taken, and the others never run.
#![cfg(test)]

use std::cell::Cell;

use super::{Block, Marks, portable};

/// A way to mark blocks.
pub(super) type Mark = fn(&[Block], &mut bool, &mut [Marks]);

thread_local! {
    static CHOSEN: Cell<Option<Mark>> = const { Cell::new(None) };
}

/// The way that this thread is to take, if a test chose one.
pub(super) fn chosen() -> Option<Mark> {
    CHOSEN.get()
}

/// The ways that this processor has, with the portable one.
pub(super) fn all() -> impl Iterator<Item = Mark> {
    let portable: Mark = portable::mark;
    #[cfg(target_arch = "x86_64")]
    let others = super::vector::ways();
    #[cfg(not(target_arch = "x86_64"))]
    let others = std::iter::empty();
    others.chain([portable])
}

/// What comes of `work`, which this thread does by each of the ways.
pub(crate) fn by_each<T>(mut work: impl FnMut() -> T) -> Vec<T> {
    let _restored = Restored;
    let by = |way| {
        CHOSEN.set(Some(way));
        work()
    };
    all().map(by).collect()
}

/// Undoes the choice, also where a test fails.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        CHOSEN.set(None);
    }
}
