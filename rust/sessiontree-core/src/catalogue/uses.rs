//! Who has a catalogue open, in this process: `SQLite` has locks of its own, and a child that is forked while another thread holds
//! one would wait for it for ever.

use std::sync::atomic::{AtomicU64, Ordering};

/// The process's number, and how many catalogues it has open. A child that finds its parent's here, and any of them open, does
/// without; it leaves that as it is, and so do all that come after.
static OPEN: AtomicU64 = AtomicU64::new(0);

/// An open catalogue; given back when dropped.
#[derive(Debug)]
pub(super) struct Use(());

impl Use {
    /// None in a child that was forked while a catalogue was open.
    pub(super) fn begin() -> Option<Self> {
        let process = u64::from(std::process::id()) << 32;
        let change = |state: u64| {
            let (of, count) = (state >> 32 << 32, state & u64::from(u32::MAX));
            match count {
                0 => Some(process | 1),
                _ if of == process => Some(state + 1),
                _ => None,
            }
        };
        OPEN.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).ok().map(|_| Self(()))
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let process = u64::from(std::process::id()) << 32;
        let change = |state: u64| (state >> 32 << 32 == process).then(|| state - 1);
        // A child drops what it inherited: that was never its own.
        _ = OPEN.fetch_update(Ordering::AcqRel, Ordering::Acquire, change);
    }
}
