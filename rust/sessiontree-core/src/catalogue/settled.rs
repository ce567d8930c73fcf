//! Whether a file's stamp can be trusted to tell of every later change.

use std::time::SystemTime;

use crate::info::{NS_PER_S, Stamp, ns_since_1970};

/// How coarse the times of files are: a system looks at its clock some hundred times a second,
const FINE_NS: i64 = 20_000_000;

/// and where a time is of whole seconds, the file system may keep no more, or no odd ones even.
const COARSE_NS: i64 = 2 * NS_PER_S;

/// Whether whatever becomes of a file from now on shows in its stamp, which was taken just now.
///
/// What is written within the same moment as what was written before has the same time; with the same size, too, it would
/// never be noticed. So the last change must be older than a moment.
pub(crate) fn is_settled(stamp: &Stamp) -> bool {
    is_settled_at(stamp, ns_since_1970(SystemTime::now()))
}

fn is_settled_at(stamp: &Stamp, now_ns: i64) -> bool {
    let last_ns = if stamp.changed_ns == 0 { stamp.modified_ns } else { stamp.changed_ns };
    let moment_ns = if last_ns % NS_PER_S == 0 { COARSE_NS } else { FINE_NS };
    // A time that is still to come is no such time: the clock was set back, and it may come again.
    now_ns.saturating_sub(last_ns) > moment_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_settled_when_another_would_have_another_time() {
        let at = |modified_ns, changed_ns| Stamp { modified_ns, changed_ns, ..Stamp::default() };
        let now = 1_700_000_000 * NS_PER_S;
        assert!(!is_settled_at(&at(0, now - 1), now));
        assert!(!is_settled_at(&at(0, now - FINE_NS), now));
        assert!(is_settled_at(&at(0, now - FINE_NS - 1), now));
        assert!(!is_settled_at(&at(0, now - NS_PER_S), now), "whole seconds may be all that is kept");
        assert!(is_settled_at(&at(0, now - 3 * NS_PER_S), now));
        assert!(!is_settled_at(&at(0, now + 1), now), "a clock that was set back");
        assert!(is_settled_at(&at(now + 1, now - FINE_NS - 1), now), "the other time can be anything");
        assert!(!is_settled_at(&at(now - 1, 0), now), "but where there is no other");
    }
}
