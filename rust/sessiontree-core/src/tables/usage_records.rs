//! Usage records: a row for each place where an entry tells what it used.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, TimestampMillisecondBuilder};
use arrow_schema::{DataType, Field};

use super::columns::{Places, always, behind, bytes, perhaps, string, take, time, times};
use super::stream::{Origin, Output, Piece, Rows};
use crate::elyra::{Entry, Kind, UsageSpans, Visit};
use crate::error::Result;
use crate::message::Role;
use crate::usage::{Identity, IdentityKeys, Numbers, Tokens};

/// The numbers of a record, in the order in which they stand.
const NUMBERS: [&str; 10] = [
    "input",
    "output",
    "cache_read",
    "cache_write",
    "total_tokens",
    "cost_input",
    "cost_output",
    "cost_cache_read",
    "cost_cache_write",
    "cost_total",
];

pub(super) fn fields() -> Vec<Field> {
    let own = [
        perhaps("timestamp", time()),
        always("kind", DataType::Utf8),
        perhaps("provider", DataType::Utf8),
        perhaps("model", DataType::Utf8),
    ];
    let numbers = NUMBERS.map(|name| always(name, DataType::Float64));
    let last = always("is_repeated", DataType::Boolean);
    Places::fields().into_iter().chain(own).chain(numbers).chain([last]).collect()
}

pub(super) struct UsageRecords {
    keys: Arc<IdentityKeys>,
    places: Places,
    timestamp: TimestampMillisecondBuilder,
    kind: StringBuilder,
    provider: StringBuilder,
    model: StringBuilder,
    numbers: [Float64Builder; NUMBERS.len()],
    identities: Vec<Identity>,
}

impl UsageRecords {
    pub(super) fn new(keys: Arc<IdentityKeys>) -> Self {
        Self {
            keys,
            places: Places::default(),
            timestamp: times(),
            kind: StringBuilder::new(),
            provider: StringBuilder::new(),
            model: StringBuilder::new(),
            numbers: Default::default(),
            identities: Vec::new(),
        }
    }
}

impl UsageRecords {
    fn add_numbers(&mut self, numbers: &Numbers) {
        let Tokens { input, output, cache_read, cache_write, total_tokens, cost_total: _ } = numbers.tokens;
        let tokens = [input, output, cache_read, cache_write, total_tokens];
        self.numbers.iter_mut().zip(tokens.into_iter().chain(numbers.cost_parts)).for_each(|(column, number)| {
            column.append_value(number);
        });
    }
}

/// What an entry that holds usage records tells of.
fn kind(entry: &Entry) -> &'static str {
    match (entry.kind, entry.message.as_ref().and_then(|message| message.role)) {
        (Kind::Message, Some(Role::ToolResult)) => "tool",
        (kind, _) => kind.name().unwrap_or_default(),
    }
}

impl Rows for UsageRecords {
    fn add(&mut self, origin: &Origin<'_>, visit: &mut Visit<'_, '_>, output: &mut Output) -> Result<()> {
        let Some(spans) = UsageSpans::of(visit.entry) else { return Ok(()) };
        let (id, timestamp_ms, kind) = (visit.id, visit.timestamp_ms(), kind(visit.entry));
        let (line, place) = (visit.intake.bytes(), visit.intake.place);
        let [provider, model] = [spans.provider, spans.model].map(|span| string(line, span));
        let keys = Arc::clone(&self.keys);
        spans.for_each(id, visit.intake, &keys, |numbers, identity| {
            self.places.add(origin, id, place);
            self.timestamp.append_option(timestamp_ms);
            self.kind.append_value(kind);
            self.provider.append_option(provider.as_deref());
            self.model.append_option(model.as_deref());
            self.add_numbers(numbers);
            self.identities.push(identity);
            if self.is_much() {
                output.send(self.take());
            }
        });
        Ok(())
    }

    fn size(&self) -> (usize, usize) {
        let texts = [&self.kind, &self.provider, &self.model];
        (self.places.len(), self.places.bytes() + bytes(&texts))
    }

    fn take(&mut self) -> Piece {
        let own = [take(&mut self.timestamp), take(&mut self.kind), take(&mut self.provider), take(&mut self.model)];
        let numbers = self.numbers.each_mut().map(|column| take(column));
        let columns = behind(self.places.take(), own.into_iter().chain(numbers));
        Piece { columns, identities: Some(std::mem::take(&mut self.identities)) }
    }
}
