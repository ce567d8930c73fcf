//! What a listing keeps of a session's entries, and the row that it makes of that at the end.

use std::borrow::Cow;
use std::path::Path;

use super::entry::{Entry, Kind};
use super::header::Header;
use super::index::{Index, NEVER};
use super::intake::{Intake, activity, id, name, report_header, report_repeated};
use super::migrate::{DerivedIds, is_linear};
use super::reader::Follow;
use super::tally::Tally;
use super::tree::Tree;
use super::{Session, Wanted};
use crate::error::Reports;
use crate::info::{NO_MESSAGES, SessionInfo, Stamp};
use crate::message::{Message, Role};
use crate::usage::{IdentityKeys, Record};

/// How a session's entries come by their ids.
#[derive(Debug)]
enum Ids {
    /// They have them.
    Own(Index),
    /// Version 1: one entry hangs from the other, and each gets an id.
    Derived { ids: DerivedIds, leaf: Option<String> },
}

/// What is kept of a session's entries.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    /// What to key the identities of usage records with.
    keys: &'a IdentityKeys,
    header: Header,
    ids: Ids,
    /// How many records there were after the header, later headers included.
    record_count: u64,
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
}

impl<'a> Facts<'a> {
    fn new(header: Header, wanted: Wanted<'a>) -> Self {
        let ids = if is_linear(header.version) {
            Ids::Derived { ids: DerivedIds::new(&header.id), leaf: None }
        } else {
            Ids::Own(Index::default())
        };
        Self {
            keys: wanted.keys,
            header,
            ids,
            record_count: 0,
            entry_count: 0,
            message_count: 0,
            name: None,
            first_message: None,
            all_text: wanted.text.then(String::new),
            activity: NEVER,
            tally: Tally::default(),
            records: wanted.records.then(Vec::new),
        }
    }

    /// Enters the entry in the tree; gives its id.
    fn add_id<'l>(&mut self, entry: &Entry, intake: &mut Intake<'l>, activity: i64) -> Option<Cow<'l, str>> {
        match &mut self.ids {
            Ids::Derived { ids, leaf } => {
                let id = ids.next(self.record_count);
                *leaf = Some(id.clone());
                Some(Cow::Owned(id))
            }
            Ids::Own(index) => {
                let parent_id = id(intake.bytes(), entry.parent_id);
                let id = id(intake.bytes(), entry.id)?;
                if !index.add(&id, parent_id.as_deref(), intake.place, activity) {
                    report_repeated(intake.reports, intake.place, &id);
                }
                Some(id)
            }
        }
    }

    fn add_message(&mut self, message: Option<&Message>, intake: &Intake<'_>) {
        self.message_count += 1;
        let Some(message) = message else { return };
        let is_first = self.first_message.is_none() && message.role == Some(Role::User);
        if message.is_spoken() && (is_first || self.all_text.is_some()) {
            self.add_text(message.text(intake.bytes()), is_first);
        }
    }

    fn add_text(&mut self, text: String, is_first: bool) {
        if text.is_empty() {
            return;
        }
        if let Some(all) = &mut self.all_text {
            if !all.is_empty() {
                all.push(' ');
            }
            all.push_str(&text);
        }
        if is_first {
            self.first_message = Some(text);
        }
    }

    pub(super) fn into_text(self) -> String {
        self.all_text.unwrap_or_default()
    }

    /// The row and all that goes with it, once the last line has been taken in.
    pub(super) fn into_session(self, path: &Path, size_bytes: u64, stamp: Stamp, mut reports: Reports) -> Session {
        let (leaf_id, tip_count) = match self.ids {
            Ids::Own(index) => {
                (index.leaf().map(|leaf| index.id(leaf).to_owned()), Tree::of(&index).report(&index, &mut reports))
            }
            Ids::Derived { leaf, .. } => {
                let tip_count = usize::from(leaf.is_some());
                (leaf, tip_count)
            }
        };
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
            size_bytes,
            entry_count: self.entry_count,
            leaf_id,
            tip_count: tip_count as u64,
            usage: self.tally.usage,
            damage_count: reports.damage_count(),
            version: self.header.version,
            stamp,
        };
        Session { info, damage: reports.into_damage(path), records: self.records.unwrap_or_default() }
    }
}

impl<'a> Follow for Facts<'a> {
    type Wanted = Wanted<'a>;

    fn start(wanted: &Wanted<'a>, header: Header, _: &Entry, _: &Intake<'_>) -> Self {
        Self::new(header, *wanted)
    }

    fn add(&mut self, entry: &Entry, intake: &mut Intake<'_>) {
        self.record_count += 1;
        if entry.kind == Kind::Session {
            report_header(intake.reports, intake.place);
            return;
        }
        self.entry_count += 1;
        let message = entry.message.as_ref().filter(|_| entry.kind == Kind::Message);
        let activity = message.map_or(NEVER, |message| activity(intake.bytes(), entry, message));
        self.activity = self.activity.max(activity);
        let id = self.add_id(entry, intake, activity);
        match entry.kind {
            Kind::Message => self.add_message(message, intake),
            Kind::SessionInfo => self.name = name(intake.bytes(), entry),
            _ => {}
        }
        let records = &mut self.records;
        self.tally.add_entry(entry, id.as_deref(), intake, self.keys, |record| {
            if let Some(records) = records {
                records.push(record);
            }
        });
    }
}
