//! The usage of a session: which records its entries hold, added up, each but once.

use std::collections::HashSet;
use std::sync::Arc;

use super::entry::{Entry, Kind};
use super::intake::Intake;
use crate::error::DamageKind;
use crate::json::Span;
use crate::message::Role;
use crate::usage::{self, Identity, IdentityKeys, Ledger, NO_MODEL, Numbers, Record, Usage};

/// Whether an entry holds usage records, or what stands in their place.
pub(super) fn has_usage(entry: &Entry) -> bool {
    UsageSpans::of(entry).is_some()
}

/// The usage of some records, each counted once.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) usage: Usage,
    ledger: Ledger,
}

impl Tally {
    /// Adds a record, unless it equals one that there has been.
    pub(super) fn add(&mut self, record: &Record) {
        if self.ledger.enter(record.identity) {
            self.usage.add(record);
        }
    }
}

/// The names of models, `provider/model`, one text for all records of a model.
#[derive(Debug)]
pub(super) struct Models {
    /// What records that name no model stand under.
    none: Arc<str>,
    all: HashSet<Arc<str>>,
    /// The one that was asked for last: mostly the next is the same.
    last: Arc<str>,
}

impl Default for Models {
    fn default() -> Self {
        let none: Arc<str> = NO_MODEL.into();
        Self { last: Arc::clone(&none), none, all: HashSet::new() }
    }
}

impl Models {
    fn named(&mut self, provider: &str, model: &str) -> Arc<str> {
        let is_last = self.last.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/')) == Some(model);
        if !is_last {
            let name = format!("{provider}/{model}");
            let known = self.all.get(name.as_str()).cloned();
            self.last = known.unwrap_or_else(|| {
                let new: Arc<str> = name.into();
                self.all.insert(Arc::clone(&new));
                new
            });
        }
        Arc::clone(&self.last)
    }
}

/// Calls `each` with every usage record of an entry whose id is `id`.
pub(super) fn for_each_record(
    entry: &Entry,
    id: Option<&str>,
    intake: &mut Intake<'_>,
    keys: &IdentityKeys,
    models: &mut Models,
    mut each: impl FnMut(Record),
) {
    let Some(spans) = UsageSpans::of(entry) else { return };
    let model = match intake.decoded(spans.provider).zip(intake.decoded(spans.model)) {
        Some((provider, model)) => models.named(&provider, &model),
        None => Arc::clone(&models.none),
    };
    spans.for_each(id, intake, keys, |numbers, identity| {
        each(Record { tokens: numbers.tokens, model: Arc::clone(&model), identity });
    });
}

/// Where an entry's usage records stand, and what tells whose they are.
#[derive(Default)]
pub(crate) struct UsageSpans {
    usage: Option<usage::Raw>,
    details: Option<Span>,
    pub(crate) provider: Option<Span>,
    pub(crate) model: Option<Span>,
    response_id: Option<Span>,
    timestamp: Option<Span>,
}

impl UsageSpans {
    /// None if the entry has none.
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        let message_role = entry.message.as_ref().map(|message| (message, message.role));
        let spans = match (entry.kind, message_role) {
            (Kind::Message, Some((message, Some(Role::Assistant)))) => Self {
                usage: message.usage,
                provider: message.provider,
                model: message.model,
                response_id: message.response_id,
                ..Self::default()
            },
            (Kind::Message, Some((message, Some(Role::ToolResult)))) => Self {
                usage: message.usage,
                details: message.details,
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
        (spans.usage.is_some() || spans.details.is_some()).then_some(Self { timestamp: entry.timestamp, ..spans })
    }
    /// Calls `each` with every record of the entry, whose id is `id`; reports numbers that do not count.
    pub(crate) fn for_each(
        &self,
        id: Option<&str>,
        intake: &mut Intake<'_>,
        keys: &IdentityKeys,
        mut each: impl FnMut(&Numbers, Identity),
    ) {
        let line = intake.line;
        let response_id = intake.decoded(self.response_id);
        let time = intake.decoded(self.timestamp);
        let Intake { place, reports, nesting, .. } = intake;
        let holder = keys.holder(response_id.as_deref(), id.map(|id| (id, time.as_deref())));
        let mut odd = |reason| reports.add(DamageKind::Value, *place, || reason);
        let mut found = |number, numbers: Numbers| each(&numbers, keys.identity(holder, &numbers, number));
        if let Some(numbers) = self.usage.and_then(|usage| usage.read(line.bytes(), &mut odd)) {
            found(0, numbers);
        }
        if let Some(span) = self.details {
            let mut number = 0;
            usage::read_details(line.part(span.range()), nesting, &mut odd, &mut |numbers| {
                number += 1;
                found(number, numbers);
            });
        }
    }
}
