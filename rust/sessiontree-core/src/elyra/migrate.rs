//! Old versions: how a file's `version` is taken, and the ids that version-1 entries get.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use crate::json::{Span, number};
use crate::rewrite::{Change, changed, find, quoted};

/// The version that a file without one has.
const FIRST: i64 = 1;
/// The version that this crate reads and writes.
pub(super) const CURRENT: i64 = 3;

/// A file's own version, cut to an integer.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and beyond 3 versions are not told apart")]
pub(crate) fn version(line: &[u8], span: Option<Span>) -> i64 {
    let Some(raw) = span.map(|span| span.of(line)) else { return FIRST };
    let whole = str::from_utf8(raw).ok().and_then(|text| text.parse().ok());
    // Migrating would replace the ids, so a version that is no number is taken for the one that is not migrated.
    whole.or_else(|| Some(number(raw)? as i64)).unwrap_or(CURRENT)
}

/// Whether entries of that version have no ids of their own.
pub(crate) fn is_linear(version: i64) -> bool {
    version < 2
}

/// Whether a file of that version is to be migrated.
pub(crate) fn is_old(version: i64) -> bool {
    version < CURRENT
}

/// The header of an old file, as the current version has it.
pub(super) fn migrated_header(object: &[u8]) -> Vec<u8> {
    changed(object, &[("version", Change::Set(CURRENT.to_string().as_bytes()))])
}

/// How an entry says which one a compaction keeps first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FirstKept<T> {
    /// By its id, or not at all.
    Named,
    /// Version 1: it counts to the entry with that id.
    Counted(T),
    /// Version 1: it counts to none.
    Nothing,
}

/// What sets an entry of an old file apart from one of the current version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Migration {
    /// Version 1: the entry's id, and its parent's.
    pub(super) ids: Option<(String, Option<String>)>,
    pub(super) first_kept: FirstKept<String>,
    /// Whether its message has the role that `custom` had before version 3.
    pub(super) is_hook: bool,
}

impl Migration {
    /// The entry as the current version has it.
    pub(super) fn apply(&self, object: &[u8]) -> Vec<u8> {
        let mut values = Vec::new();
        if let Some((id, parent_id)) = &self.ids {
            values.push(("id", Some(quoted(id))));
            values.push(("parentId", Some(parent_id.as_ref().map_or(b"null".to_vec(), |id| quoted(id)))));
        }
        if self.first_kept != FirstKept::Named {
            values.push(("firstKeptEntryIndex", None));
        }
        if let FirstKept::Counted(id) = &self.first_kept {
            values.push(("firstKeptEntryId", Some(quoted(id))));
        }
        if let [Some(message)] = find(object, ["message"])
            && self.is_hook
        {
            let renamed = changed(message.of(object), &[("role", Change::Set(b"\"custom\""))]);
            values.push(("message", Some(renamed)));
        }
        let changes = values.iter().map(|(key, value)| (*key, value.as_deref().map_or(Change::Remove, Change::Set)));
        changed(object, &changes.collect::<Vec<_>>())
    }
}

/// The ids of a version-1 session's entries.
///
/// They are derived from what the file says, so that two readers of it see the same: the first 8 hex digits of
/// SHA-256 over session id, LF, the entry's number, LF, n; n is 0, or the first that gives an id not in use.
#[derive(Debug)]
pub(crate) struct DerivedIds {
    /// Has been given the session's id, which may be long, and an LF.
    hasher: Sha256,
    used: HashSet<u32>,
}

impl DerivedIds {
    pub(crate) fn new(session_id: &str) -> Self {
        Self { hasher: Sha256::new().chain_update(session_id).chain_update("\n"), used: HashSet::new() }
    }

    /// The id of the entry with number `number`; the header is number 0.
    pub(crate) fn next(&mut self, number: u64) -> String {
        let mut attempt = 0_u64;
        loop {
            let digest = self.hasher.clone().chain_update(format!("{number}\n{attempt}")).finalize();
            let id = digest.iter().take(4).fold(0, |id, &byte| id << 8 | u32::from(byte));
            if self.used.insert(id) {
                return format!("{id:08x}");
            }
            attempt += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_used_id_is_passed_over() {
        let mut ids = DerivedIds::new("s");
        let first = ids.next(1);
        assert_eq!(first, "e67c19bb");
        assert_ne!(ids.next(1), first);
    }
}
