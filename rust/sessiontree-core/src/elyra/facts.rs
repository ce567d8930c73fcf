//! A session's stretches put together: what a listing keeps of it, and the row that it makes of that at the end.

use std::path::Path;
use std::sync::Arc;

use super::Session;
use super::header::Header;
use super::index::{Index, NEVER};
use super::intake::report_repeated;
use super::long::Build;
use super::stretch::{Stretch, append_text};
use super::tally::Tally;
use super::tree::Tree;
use crate::error::{Place, Reports};
use crate::info::{NO_MESSAGES, SessionInfo, Stamp};
use crate::usage::{IdentityKeys, Record};

/// What is kept of a session, as far as it has been read.
#[derive(Debug)]
pub(super) struct Facts {
    keys: Arc<IdentityKeys>,
    header: Header,
    index: Index,
    entry_count: u64,
    message_count: u64,
    name: Option<String>,
    first_message: Option<String>,
    /// The texts of all messages, if they are wanted.
    all_text: Option<String>,
    /// The newest activity.
    activity: i64,
    tally: Tally,
    /// Every usage record, if they are wanted.
    records: Option<Vec<Record>>,
    reports: Reports,
    lines: u64,
}

impl Facts {
    pub(super) fn new(header: Header, keys: &Arc<IdentityKeys>, with_text: bool, with_records: bool) -> Self {
        Self {
            keys: Arc::clone(keys),
            header,
            index: Index::default(),
            entry_count: 0,
            message_count: 0,
            name: None,
            first_message: None,
            all_text: with_text.then(String::new),
            activity: NEVER,
            tally: Tally::default(),
            records: with_records.then(Vec::new),
            reports: Reports::default(),
            lines: 0,
        }
    }

    pub(super) fn into_text(self) -> String {
        self.all_text.unwrap_or_default()
    }

    /// The row and all that goes with it, once the last line has been taken in.
    pub(super) fn into_session(mut self, path: &Path, stamp: Stamp) -> Session {
        let tip_count = Tree::of(&self.index).report(&self.index, &mut self.reports);
        let info = SessionInfo {
            path: path.to_owned(),
            id: self.header.id,
            cwd: self.header.cwd,
            name: self.name,
            parent_session: self.header.parent_session,
            created_ms: self.header.created_ms,
            modified_ms: Some(self.activity)
                .filter(|&ms| ms > 0)
                .or(self.header.created_ms)
                .unwrap_or_else(|| stamp.modified_ms()),
            message_count: self.message_count,
            first_message: self.first_message.unwrap_or_else(|| NO_MESSAGES.to_owned()),
            all_messages_text: self.all_text,
            size_bytes: stamp.size_bytes,
            entry_count: self.entry_count,
            leaf_id: self.index.leaf().map(|leaf| self.index.id(leaf).to_owned()),
            tip_count: tip_count as u64,
            usage: self.tally.usage,
            damage_count: self.reports.damage_count(),
            version: self.header.version,
            stamp,
        };
        Session { info, damage: self.reports.into_damage(path), records: self.records.unwrap_or_default() }
    }
}

impl Build for Facts {
    type Part = Stretch;

    fn begin(&self) -> Stretch {
        Stretch::new(&self.header, &self.keys, self.all_text.is_some())
    }

    fn add(&mut self, stretch: Stretch, reports: Reports, lines: u64) {
        let before = self.lines;
        self.lines += lines;
        self.reports.extend(reports, before);
        self.entry_count += stretch.entry_count;
        self.message_count += stretch.message_count;
        if let Some(name) = stretch.name {
            self.name = name;
        }
        self.first_message = self.first_message.take().or(stretch.first_message);
        if let (Some(all), Some(text)) = (&mut self.all_text, &stretch.all_text) {
            append_text(all, text);
        }
        self.activity = self.activity.max(stretch.activity);
        let Self { index, reports, .. } = self;
        stretch.nodes.for_each(|id, parent_id, place, activity| {
            let place = Place { line: place.line + before, ..place };
            if !index.add(id, parent_id, place, activity) {
                report_repeated(reports, place, id);
            }
        });
        stretch.records.iter().for_each(|record| self.tally.add(record));
        if let Some(records) = &mut self.records {
            records.extend(stretch.records);
        }
    }
}
