//! An entry by itself, as it is handed out: what the index knows of it, and where its JSON is.

use std::sync::Arc;

use super::digest::{Digest, Flags};
use super::entries::Entries;
use super::entry::{Entry, Kind, check};
use super::migrate::{CURRENT, Migration};
use super::source::Source;
use crate::error::{Place, Reports, Result};
use crate::json::Nesting;
use crate::marks::Marked;
use crate::rewrite::clean;

/// One entry of a session. It stays what it was, whatever becomes of the session.
#[derive(Clone, Debug)]
pub struct SessionEntry {
    pub kind: Kind,
    /// None unless it is a string that is not empty.
    pub id: Option<Box<str>>,
    /// None unless it is a string that is not empty.
    pub parent_id: Option<Box<str>>,
    /// Unix milliseconds; None where it cannot be read.
    pub timestamp_ms: Option<i64>,
    source: Arc<Source>,
    offset: u64,
    length: u32,
    is_unclean: bool,
    migration: Option<Box<Migration>>,
}

impl SessionEntry {
    pub(super) fn of(entries: &Entries, row: usize, version: i64, source: &Arc<Source>) -> Self {
        let (id, parent_id) = entries.ids(row);
        let facts = &entries.rows()[row];
        Self {
            kind: facts.kind,
            id: id.map(Into::into),
            parent_id: parent_id.map(Into::into),
            timestamp_ms: facts.timestamp_ms,
            source: Arc::clone(source),
            offset: facts.offset(),
            length: facts.object.length,
            is_unclean: facts.flags.has(Flags::IS_UNCLEAN),
            migration: entries.migration(row, version).map(Box::new),
        }
    }

    /// An entry of the current version by its JSON alone; None if that is none.
    #[must_use]
    pub fn of_json(json: &[u8]) -> Option<Self> {
        let digest = Digest::of_line(json, Place { line: 1, offset: 0 })?;
        let mut entries = Entries::new("", CURRENT);
        entries.add(digest, &mut Reports::default());
        let source = Arc::new(Source::in_memory(json.to_owned()));
        (!entries.rows().is_empty()).then(|| Self::of(&entries, 0, CURRENT, &source))
    }

    /// Whether it is the same one, as read from the same session.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.source, &other.source) && self.offset == other.offset
    }

    /// Its JSON object: the bytes of the file, but for what a migration changes.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Conflict`] where the file is no longer what was read, [`crate::error::Error::Io`] where it cannot be read.
    pub fn json(&self) -> Result<Vec<u8>> {
        let mut object = vec![0; self.length as usize];
        self.source.read(self.offset, &mut object)?;
        if check(Marked::new(&object).text(), &mut Nesting::default(), &mut Entry::default()).is_err() {
            return Err(self.source.rewritten());
        }
        Ok(match &self.migration {
            Some(migration) => migration.apply(&object),
            None => object,
        })
    }

    /// As [`Self::json`], with U+FFFD for what is no UTF-8 and for the escapes of lone surrogates.
    ///
    /// # Errors
    ///
    /// As for [`Self::json`].
    pub fn clean_json(&self) -> Result<Vec<u8>> {
        let object = self.json()?;
        Ok(if self.is_unclean { clean(&object) } else { object })
    }
}
