//! Tool calls: a row for each `toolCall` block of an assistant's message, with what its result says.
//!
//! A result answers the last call before it that has its id, and the first result counts: ids may begin anew with each message.
//! So a call's row is whole only once its session has been read, and rows wait for that. Where those that wait grow too large,
//! the session is gone through once more for the answers alone, which are small, and rows need wait no longer.

use std::collections::HashMap;
use std::num::NonZeroU128;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Int64Builder, LargeStringBuilder, StringBuilder, TimestampMillisecondBuilder,
};
use arrow_schema::{DataType, Field};

use super::columns::{Places, behind, boolean, bytes, count, perhaps, string, take, time, times};
use super::stream::{Origin, Output, Piece, Rows};
use super::visit::visit;
use crate::elyra::{Kind, Visit, Visitor};
use crate::error::Result;
use crate::json::{Faulty, Nesting, Scanner, Span, is_string, text};
use crate::lines::Buffer;
use crate::marks::Text;
use crate::message::{Message, Role};
use crate::rewrite::{clean, find_in};
use crate::usage::IdentityKeys;

pub(super) fn fields() -> Vec<Field> {
    let own = [
        perhaps("timestamp", time()),
        perhaps("id", DataType::Utf8),
        perhaps("name", DataType::Utf8),
        perhaps("arguments", DataType::LargeUtf8),
        perhaps("is_error", DataType::Boolean),
        perhaps("result_line", DataType::Int64),
        perhaps("result_timestamp", time()),
    ];
    Places::fields().into_iter().chain(own).collect()
}

pub(super) struct ToolCalls {
    places: Places,
    timestamp: TimestampMillisecondBuilder,
    id: StringBuilder,
    name: StringBuilder,
    arguments: LargeStringBuilder,
    is_error: BooleanBuilder,
    result_line: Int64Builder,
    result_timestamp: TimestampMillisecondBuilder,
    /// Of the session at hand.
    answers: Answers,
    /// Whether these are the answers of the whole session, not only up to here.
    is_answered: bool,
    /// How many calls of the session have a row, and how many of those have their answer in it.
    call_count: usize,
    settled_count: usize,
}

impl ToolCalls {
    pub(super) fn new(keys: Arc<IdentityKeys>) -> Self {
        Self {
            places: Places::default(),
            timestamp: times(),
            id: StringBuilder::new(),
            name: StringBuilder::new(),
            arguments: LargeStringBuilder::new(),
            is_error: BooleanBuilder::new(),
            result_line: Int64Builder::new(),
            result_timestamp: times(),
            answers: Answers::new(keys),
            is_answered: false,
            call_count: 0,
            settled_count: 0,
        }
    }

    fn add_call(&mut self, call: &Call, object: &[u8], origin: &Origin<'_>, visit: &Visit<'_, '_>) {
        self.places.add(origin, visit.id, visit.intake.place);
        self.timestamp.append_option(visit.timestamp_ms());
        self.id.append_option(string(object, call.id));
        self.name.append_option(string(object, call.name));
        match call.arguments.map(|span| span.of(object)) {
            None | Some(b"null") => self.arguments.append_null(),
            Some(raw) if visit.intake.is_clean => self.arguments.append_value(String::from_utf8_lossy(raw)),
            Some(raw) => self.arguments.append_value(String::from_utf8_lossy(&clean(raw))),
        }
        self.call_count += 1;
    }

    /// Puts answers into the rows that lack them.
    fn settle(&mut self) {
        for call in self.settled_count..self.call_count {
            // A call may have no place there: the reading was stopped, or the file changed in between.
            let answer = self.answers.found.get(call).copied().flatten();
            self.is_error.append_option(answer.and_then(|answer| answer.is_error));
            self.result_line.append_option(answer.map(|answer| answer.line));
            self.result_timestamp.append_option(answer.and_then(|answer| answer.timestamp_ms));
        }
        self.settled_count = self.call_count;
    }
}

impl Rows for ToolCalls {
    fn add(&mut self, origin: &Origin<'_>, visit: &mut Visit<'_, '_>, output: &mut Output) -> Result<()> {
        let Some((message, object)) = message(visit) else { return Ok(()) };
        let calls = calls(message, object);
        if !self.is_answered {
            self.answers.add(visit, &calls);
        }
        for call in &calls {
            self.add_call(call, object.bytes(), origin, visit);
            if self.is_much() {
                if !self.is_answered {
                    self.answers = self.answers.of_whole(origin, output)?;
                    self.is_answered = true;
                }
                self.settle();
                output.send(self.take());
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        self.settle();
        self.answers.clear();
        (self.is_answered, self.call_count, self.settled_count) = (false, 0, 0);
    }

    fn size(&self) -> (usize, usize) {
        (self.places.len(), self.places.bytes() + bytes(&[&self.id, &self.name]) + self.arguments.values_slice().len())
    }

    fn take(&mut self) -> Piece {
        let own = [
            take(&mut self.timestamp),
            take(&mut self.id),
            take(&mut self.name),
            take(&mut self.arguments),
            take(&mut self.is_error),
            take(&mut self.result_line),
            take(&mut self.result_timestamp),
        ];
        Piece { columns: behind(self.places.take(), own), identities: None }
    }
}

/// Where the parts of a call stand in its message.
struct Call {
    id: Option<Span>,
    name: Option<Span>,
    arguments: Option<Span>,
}

/// The message of an entry of that type, and its JSON.
fn message<'a>(visit: &'a Visit<'_, '_>) -> Option<(&'a Message, Text<'a>)> {
    let message = visit.entry.message.as_ref().filter(|_| visit.entry.kind == Kind::Message)?;
    Some((message, visit.intake.line.part(message.object.range())))
}

/// The tool calls of an assistant's message.
fn calls(message: &Message, object: Text<'_>) -> Vec<Call> {
    if message.role != Some(Role::Assistant) {
        return Vec::new();
    }
    let mut nesting = Nesting::default();
    let mut calls = Vec::new();
    let walked = Scanner::new(object, &mut nesting).object(|scanner, key| {
        if key != b"content" {
            scanner.value()?;
            return Ok(());
        }
        // Of repeated keys the last counts.
        calls.clear();
        if scanner.peek() != Some(b'[') {
            scanner.value()?;
            return Ok(());
        }
        scanner.array(|scanner| {
            if scanner.peek() == Some(b'{') {
                calls.extend(call(object.bytes(), scanner)?);
            } else {
                scanner.value()?;
            }
            Ok(())
        })?;
        Ok(())
    });
    debug_assert!(walked.is_ok(), "the line was scanned before");
    calls
}

fn call(object: &[u8], scanner: &mut Scanner<'_>) -> std::result::Result<Option<Call>, Faulty> {
    let mut is_call = false;
    let mut call = Call { id: None, name: None, arguments: None };
    scanner.object(|scanner, key| {
        let value = scanner.value()?;
        let raw = value.of(object);
        match key {
            b"type" => is_call = is_string(raw) && text(raw) == "toolCall",
            b"id" => call.id = Some(value),
            b"name" => call.name = Some(value),
            b"arguments" => call.arguments = Some(value),
            _ => {}
        }
        Ok(())
    })?;
    Ok(is_call.then_some(call))
}

/// What a tool result says of its call.
#[derive(Clone, Copy, Debug)]
struct Answer {
    is_error: Option<bool>,
    line: i64,
    timestamp_ms: Option<i64>,
}

/// The answers to a session's calls, as far as it has been gone through.
struct Answers {
    keys: Arc<IdentityKeys>,
    /// By call, in file order.
    found: Vec<Option<Answer>>,
    /// By the hashes of their ids, the calls that wait for an answer.
    open: HashMap<NonZeroU128, usize>,
}

impl Answers {
    fn new(keys: Arc<IdentityKeys>) -> Self {
        Self { keys, found: Vec::new(), open: HashMap::new() }
    }

    fn clear(&mut self) {
        self.found.clear();
        self.open.clear();
    }

    /// Those of the whole session that an entry is of.
    fn of_whole(&self, origin: &Origin<'_>, output: &Output) -> Result<Self> {
        let mut answers = Self::new(Arc::clone(&self.keys));
        visit(origin.listed, &mut Buffer::default(), output.is_stopped(), &mut answers)?;
        Ok(answers)
    }

    /// Takes in an entry, and the calls that it holds.
    fn add(&mut self, visit: &Visit<'_, '_>, calls: &[Call]) {
        let Some((message, object)) = message(visit) else { return };
        for call in calls {
            if let Some(id) = self.hash(object.bytes(), call.id) {
                self.open.insert(id, self.found.len());
            }
            self.found.push(None);
        }
        if message.role == Some(Role::ToolResult) {
            let [id, is_error] = find_in(object, &mut Nesting::default(), ["toolCallId", "isError"]);
            if let Some(call) = self.hash(object.bytes(), id).and_then(|id| self.open.remove(&id)) {
                self.found[call] = Some(Answer {
                    is_error: boolean(object.bytes(), is_error),
                    line: count(visit.intake.place.line),
                    timestamp_ms: visit.timestamp_ms(),
                });
            }
        }
    }

    /// What a call is known by; an empty id tells of none.
    fn hash(&self, object: &[u8], id: Option<Span>) -> Option<NonZeroU128> {
        self.keys.text(&string(object, id).filter(|id| !id.is_empty())?)
    }
}

impl Visitor for Answers {
    fn session(&mut self, _: &str) {}

    fn entry(&mut self, visit: &mut Visit<'_, '_>) {
        if let Some((message, object)) = message(visit) {
            self.add(visit, &calls(message, object));
        }
    }
}
