//! What a listing keeps of a stretch of a session's lines: what the stretches of a file are put together from, in their order.

use std::borrow::Cow;
use std::sync::Arc;

use super::entry::{Entry, Kind};
use super::header::Header;
use super::index::NEVER;
use super::intake::{Intake, activity, id, name, report_header};
use super::migrate::{DerivedIds, is_linear};
use super::reader::Gather;
use super::tally::{Models, for_each_record};
use crate::error::Place;
use crate::message::{Message, Role};
use crate::usage::{IdentityKeys, Record};

/// What is kept of the entries of some lines.
#[derive(Debug)]
pub(super) struct Stretch {
    /// What to key the identities of usage records with.
    keys: Arc<IdentityKeys>,
    /// Version 1: the entries have no ids of their own, and hang one from the other. Such a file is one stretch.
    derived: Option<DerivedIds>,
    /// How many records there were, headers after the first included.
    record_count: u64,
    pub(super) entry_count: u64,
    pub(super) message_count: u64,
    /// What the last entry says that tells the session's name, which may be that it has none.
    pub(super) name: Option<Option<String>>,
    /// The text of the first user message that has any.
    pub(super) first_message: Option<String>,
    /// The texts of all messages, if they are wanted.
    pub(super) all_text: Option<String>,
    /// The newest activity.
    pub(super) activity: i64,
    pub(super) nodes: Nodes,
    models: Models,
    pub(super) records: Vec<Record>,
}

impl Stretch {
    /// An empty one of a session; `with_text` if its texts are wanted.
    pub(super) fn new(header: &Header, keys: &Arc<IdentityKeys>, with_text: bool) -> Self {
        Self {
            keys: Arc::clone(keys),
            derived: is_linear(header.version).then(|| DerivedIds::new(&header.id)),
            record_count: 0,
            entry_count: 0,
            message_count: 0,
            name: None,
            first_message: None,
            all_text: with_text.then(String::new),
            activity: NEVER,
            nodes: Nodes::default(),
            models: Models::default(),
            records: Vec::new(),
        }
    }

    /// Adds an entry's node, if it has an id; gives the id.
    fn add_node<'l>(&mut self, entry: &Entry, intake: &Intake<'l>, activity: i64) -> Option<Cow<'l, str>> {
        if let Some(derived) = &mut self.derived {
            let id = derived.next(self.record_count);
            self.nodes.add_child(&id, intake.place, activity);
            return Some(Cow::Owned(id));
        }
        let id = id(intake.bytes(), entry.id)?;
        let parent_id = self::id(intake.bytes(), entry.parent_id);
        self.nodes.add(&id, parent_id.as_deref().unwrap_or_default(), intake.place, activity);
        Some(id)
    }

    fn add_message(&mut self, message: &Message, intake: &mut Intake<'_>) {
        let is_first = self.first_message.is_none() && message.role == Some(Role::User);
        if !message.is_spoken() || !(is_first || self.all_text.is_some()) {
            return;
        }
        let text = message.text(intake.line, intake.nesting);
        if text.is_empty() {
            return;
        }
        if let Some(all) = &mut self.all_text {
            append_text(all, &text);
        }
        if is_first {
            self.first_message = Some(text);
        }
    }
}

/// Texts are joined by one blank.
pub(super) fn append_text(all: &mut String, text: &str) {
    if !all.is_empty() && !text.is_empty() {
        all.push(' ');
    }
    all.push_str(text);
}

impl Gather for Stretch {
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
        let id = self.add_node(entry, intake, activity);
        match entry.kind {
            Kind::Message => {
                self.message_count += 1;
                if let Some(message) = message {
                    self.add_message(message, intake);
                }
            }
            Kind::SessionInfo => self.name = Some(name(intake.bytes(), entry)),
            _ => {}
        }
        let Self { models, records, keys, .. } = self;
        for_each_record(entry, id.as_deref(), intake, keys, models, |record| records.push(record));
    }
}

/// The entries that have an id, in file order; their ids are kept end to end.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    ids: String,
    all: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    /// Where the id ends in `ids`, which begins where the one before ended.
    id_end: usize,
    /// Where the parent's ends, which comes next; at once if it names none.
    parent_end: usize,
    place: Place,
    activity: i64,
}

impl Nodes {
    /// `parent_id` is empty if it names none.
    fn add(&mut self, id: &str, parent_id: &str, place: Place, activity: i64) {
        self.ids.push_str(id);
        let id_end = self.ids.len();
        self.ids.push_str(parent_id);
        self.all.push(Node { id_end, parent_end: self.ids.len(), place, activity });
    }

    /// Adds one that hangs from the last.
    fn add_child(&mut self, id: &str, place: Place, activity: i64) {
        let before = self.all.len().checked_sub(2).map_or(0, |before| self.all[before].parent_end);
        let parent = self.all.last().map_or(0..0, |last| before..last.id_end);
        self.ids.push_str(id);
        let id_end = self.ids.len();
        self.ids.extend_from_within(parent);
        self.all.push(Node { id_end, parent_end: self.ids.len(), place, activity });
    }

    /// Calls `each` with every id, its parent's, its place and activity.
    pub(super) fn for_each(&self, mut each: impl FnMut(&str, Option<&str>, Place, i64)) {
        let mut start = 0;
        for &Node { id_end, parent_end, place, activity } in &self.all {
            let parent_id = Some(&self.ids[id_end..parent_end]).filter(|id| !id.is_empty());
            each(&self.ids[start..id_end], parent_id, place, activity);
            start = parent_end;
        }
    }
}
