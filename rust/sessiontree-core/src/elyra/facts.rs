//! What a listing keeps of a session's entries, and the row that it makes of that at the end.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::entry::{Entry, Kind};
use super::index::{Index, NEVER};
use super::migrate::{DerivedIds, is_linear, version};
use super::tree::Tree;
use super::{Session, Wanted};
use crate::error::{DamageKind, Place, Reports, excerpt};
use crate::info::{NO_MESSAGES, SessionInfo, Stamp};
use crate::json::{Nesting, Span, number, text};
use crate::message::{Message, Role};
use crate::timestamp;
use crate::usage::{self, Ledger, NO_MODEL, Numbers, Record, Usage};

/// What the header says.
#[derive(Debug)]
pub(super) struct Header {
    id: String,
    cwd: String,
    created_ms: Option<i64>,
    parent_session: Option<String>,
    version: i64,
}

impl Header {
    /// None if the record has no id.
    pub(super) fn of(entry: &Entry, line: &[u8]) -> Option<Self> {
        let string = |span: Option<Span>| span.map(|span| text(span.of(line)).into_owned());
        Some(Self {
            id: string(entry.id)?,
            cwd: string(entry.cwd).unwrap_or_default(),
            created_ms: string(entry.timestamp).and_then(|time| timestamp::parse(&time)),
            parent_session: string(entry.parent_session).filter(|path| !path.is_empty()),
            version: version(line, entry.version),
        })
    }
}

/// How a session's entries come by their ids.
#[derive(Debug)]
enum Ids {
    /// They have them.
    Own(Index),
    /// Version 1: one entry hangs from the other, and each gets an id.
    Derived { ids: DerivedIds, leaf: Option<String> },
}

/// The line that an entry stands on, and where to report what is odd in it.
pub(super) struct Intake<'a> {
    pub(super) line: &'a [u8],
    pub(super) place: Place,
    pub(super) reports: &'a mut Reports,
    pub(super) nesting: &'a mut Nesting,
    pub(super) wanted: Wanted<'a>,
}

impl<'a> Intake<'a> {
    fn text(&self, span: Option<Span>) -> Option<Cow<'a, str>> {
        Some(text(span?.of(self.line)))
    }

    /// As [`Self::text`], an empty string counted as absent.
    fn id(&self, span: Option<Span>) -> Option<Cow<'a, str>> {
        self.text(span).filter(|id| !id.is_empty())
    }
}

/// What is kept of a session's entries.
#[derive(Debug)]
pub(super) struct Facts {
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
    usage: Usage,
    ledger: Ledger,
    records: Vec<Record>,
    /// What records that name no model stand under; one text for all of them.
    no_model: Arc<str>,
}

impl Facts {
    pub(super) fn new(header: Header, wants_text: bool) -> Self {
        let ids = if is_linear(header.version) {
            Ids::Derived { ids: DerivedIds::new(&header.id), leaf: None }
        } else {
            Ids::Own(Index::default())
        };
        Self {
            header,
            ids,
            record_count: 0,
            entry_count: 0,
            message_count: 0,
            name: None,
            first_message: None,
            all_text: wants_text.then(String::new),
            activity: NEVER,
            usage: Usage::default(),
            ledger: Ledger::default(),
            records: Vec::new(),
            no_model: NO_MODEL.into(),
        }
    }

    /// Adds one record after the header.
    pub(super) fn add(&mut self, entry: &Entry, intake: &mut Intake<'_>) {
        self.record_count += 1;
        if entry.kind == Kind::Session {
            let reason = || "a header after the first; passed over".to_owned();
            intake.reports.add(DamageKind::Header, intake.place, reason);
            return;
        }
        self.entry_count += 1;
        let message = entry.message.as_ref().filter(|_| entry.kind == Kind::Message);
        let activity = message.map_or(NEVER, |message| activity(entry, message, intake));
        self.activity = self.activity.max(activity);
        let id = self.add_id(entry, intake, activity);
        match entry.kind {
            Kind::Message => self.add_message(message, intake),
            Kind::SessionInfo => self.name = intake.text(entry.name).and_then(|name| stripped(&name)),
            _ => {}
        }
        if let Some(usage) = UsageSpans::of(entry, message) {
            self.add_usage(&usage, id.as_deref(), intake);
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
                let id = intake.id(entry.id)?;
                if !index.add(&id, intake.id(entry.parent_id).as_deref(), intake.place, activity) {
                    let reason =
                        || format!("the id {:?} is an earlier entry's; it names this one from here on", excerpt(&id));
                    intake.reports.add(DamageKind::Repeated, intake.place, reason);
                }
                Some(id)
            }
        }
    }

    fn add_message(&mut self, message: Option<&Message>, intake: &Intake<'_>) {
        self.message_count += 1;
        let Some(message) = message else { return };
        let is_first = self.first_message.is_none() && message.role == Role::User;
        if message.is_spoken() && (is_first || self.all_text.is_some()) {
            self.add_text(message.text(intake.line), is_first);
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

    fn add_usage(&mut self, spans: &UsageSpans, id: Option<&str>, intake: &mut Intake<'_>) {
        let line = intake.line;
        let response_id = intake.text(spans.response_id);
        let time = intake.text(spans.timestamp);
        let model = match intake.text(spans.provider).zip(intake.text(spans.model)) {
            Some((provider, model)) => self.usage.model(&format!("{provider}/{model}")),
            None => Arc::clone(&self.no_model),
        };
        let Intake { place, reports, nesting, wanted, .. } = intake;
        let keys = wanted.keys;
        let holder = keys.holder(response_id.as_deref(), id.map(|id| (id, time.as_deref())));
        let mut odd = |reason| reports.add(DamageKind::Value, *place, || reason);
        let mut count = |number, numbers: Numbers| {
            let identity = keys.identity(holder, &numbers, number);
            let record = Record { tokens: numbers.tokens, model: Arc::clone(&model), identity };
            if self.ledger.enter(identity) {
                self.usage.add(&record);
            }
            if wanted.records {
                self.records.push(record);
            }
        };
        if let Some(numbers) = spans.usage.and_then(|span| usage::read(span.of(line), nesting, &mut odd)) {
            count(0, numbers);
        }
        if let Some(span) = spans.model_usage {
            let mut number = 0;
            usage::read_model_usage(span.of(line), nesting, &mut odd, &mut |numbers| {
                number += 1;
                count(number, numbers);
            });
        }
    }

    pub(super) fn into_text(self) -> String {
        self.all_text.unwrap_or_default()
    }

    /// The row and all that goes with it, once the last line has been taken in.
    pub(super) fn into_session(self, path: &Path, size_bytes: u64, stamp: Stamp, mut reports: Reports) -> Session {
        let (leaf_id, tip_count) = match self.ids {
            Ids::Own(index) => (index.leaf().map(|leaf| index.id(leaf).to_owned()), report_tree(&index, &mut reports)),
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
            usage: self.usage,
            damage_count: reports.damage_count(),
            version: self.header.version,
            stamp,
        };
        Session { info, damage: reports.into_damage(path), records: self.records }
    }
}

/// Where an entry's usage records stand, and what tells whose they are.
#[derive(Default)]
struct UsageSpans {
    usage: Option<Span>,
    model_usage: Option<Span>,
    provider: Option<Span>,
    model: Option<Span>,
    response_id: Option<Span>,
    timestamp: Option<Span>,
}

impl UsageSpans {
    /// None if the entry has none.
    fn of(entry: &Entry, message: Option<&Message>) -> Option<Self> {
        let message_role = message.map(|message| (message, message.role));
        let spans = match (entry.kind, message_role) {
            (Kind::Message, Some((message, Role::Assistant))) => Self {
                usage: message.usage,
                provider: message.provider,
                model: message.model,
                response_id: message.response_id,
                ..Self::default()
            },
            (Kind::Message, Some((message, Role::ToolResult))) => Self {
                usage: message.usage,
                model_usage: message.model_usage,
                response_id: message.response_id,
                ..Self::default()
            },
            (Kind::Compaction | Kind::BranchSummary, _) => {
                Self { usage: entry.usage, response_id: entry.response_id, ..Self::default() }
            }
            (Kind::Usage, _) => Self {
                usage: entry.usage,
                provider: entry.provider,
                model: entry.model,
                response_id: entry.response_id,
                ..Self::default()
            },
            _ => return None,
        };
        (spans.usage.is_some() || spans.model_usage.is_some()).then_some(Self { timestamp: entry.timestamp, ..spans })
    }
}

/// When a user or assistant message was sent, in Unix milliseconds: as it says itself, else as its entry says.
fn activity(entry: &Entry, message: &Message, intake: &Intake<'_>) -> i64 {
    if !message.is_spoken() || !message.has_content {
        return NEVER;
    }
    let own = message.timestamp.and_then(|span| number(span.of(intake.line))).and_then(timestamp::cut);
    own.or_else(|| timestamp::parse(&intake.text(entry.timestamp)?)).unwrap_or(NEVER)
}

/// Trims what Python's `str.strip` trims; None if nothing is left.
fn stripped(name: &str) -> Option<String> {
    let name = name.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c));
    (!name.is_empty()).then(|| name.to_owned())
}

/// Reports what is odd in the tree as a whole; gives the number of its tips.
fn report_tree(index: &Index, reports: &mut Reports) -> usize {
    let tree = Tree::of(index);
    for &node in &tree.orphans {
        let parent = index.parent(node).err().unwrap_or_default();
        let reason = || format!("no entry has the id {:?} of its parent; read as a root", excerpt(parent));
        reports.add(DamageKind::Parent, index.node(node).place, reason);
    }
    for &node in &tree.circles {
        let reason = || format!("its parents lead back to {:?} itself; read as a root", excerpt(index.id(node)));
        reports.add(DamageKind::Circle, index.node(node).place, reason);
    }
    let tips = tree.tips(index);
    if let Some(leaf) = index.leaf().filter(|&leaf| tips != [leaf]) {
        let newest = tree.newest(index);
        for &tip in tips.iter().filter(|&&tip| newest[tip as usize] > newest[leaf as usize]) {
            let reason = || format!("the branch that ends at {:?} is newer than the leaf's", excerpt(index.id(tip)));
            reports.add(DamageKind::Tip, index.node(tip).place, reason);
        }
    }
    tips.len()
}
