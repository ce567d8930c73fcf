//! Messages: a row for each entry of type `message`.

use std::fmt::Write;

use arrow_array::builder::{BooleanBuilder, LargeStringBuilder, StringBuilder, TimestampMillisecondBuilder};
use arrow_schema::{DataType, Field};

use super::columns::{Places, always, behind, boolean, bytes, perhaps, string, take, time, times};
use super::stream::{Origin, Output, Piece, Rows};
use crate::elyra::{Kind, Visit};
use crate::error::Result;
use crate::json::number;
use crate::message::{Message, Role};
use crate::rewrite::find_in;
use crate::timestamp;

pub(super) fn fields() -> Vec<Field> {
    let own = [
        perhaps("role", DataType::Utf8),
        perhaps("timestamp", time()),
        always("text", DataType::LargeUtf8),
        perhaps("provider", DataType::Utf8),
        perhaps("model", DataType::Utf8),
        perhaps("stop_reason", DataType::Utf8),
        perhaps("tool_call_id", DataType::Utf8),
        perhaps("tool_name", DataType::Utf8),
        perhaps("is_error", DataType::Boolean),
    ];
    Places::fields().into_iter().chain(own).collect()
}

pub(super) struct Messages {
    places: Places,
    role: StringBuilder,
    timestamp: TimestampMillisecondBuilder,
    text: LargeStringBuilder,
    provider: StringBuilder,
    model: StringBuilder,
    stop_reason: StringBuilder,
    tool_call_id: StringBuilder,
    tool_name: StringBuilder,
    is_error: BooleanBuilder,
}

impl Default for Messages {
    fn default() -> Self {
        Self {
            places: Places::default(),
            role: StringBuilder::new(),
            timestamp: times(),
            text: LargeStringBuilder::new(),
            provider: StringBuilder::new(),
            model: StringBuilder::new(),
            stop_reason: StringBuilder::new(),
            tool_call_id: StringBuilder::new(),
            tool_name: StringBuilder::new(),
            is_error: BooleanBuilder::new(),
        }
    }
}

impl Rows for Messages {
    fn add(&mut self, origin: &Origin<'_>, visit: &mut Visit<'_, '_>, output: &mut Output) -> Result<()> {
        if visit.entry.kind != Kind::Message {
            return Ok(());
        }
        self.places.add(origin, visit.id, visit.intake.place);
        match &visit.entry.message {
            Some(message) => self.add_message(message, visit),
            None => self.add_nothing(visit),
        }
        if self.is_much() {
            output.send(self.take());
        }
        Ok(())
    }

    fn size(&self) -> (usize, usize) {
        let texts = [&self.role, &self.provider, &self.model, &self.stop_reason, &self.tool_call_id, &self.tool_name];
        (self.places.len(), self.places.bytes() + bytes(&texts) + self.text.values_slice().len())
    }

    fn take(&mut self) -> Piece {
        let own = [
            take(&mut self.role),
            take(&mut self.timestamp),
            take(&mut self.text),
            take(&mut self.provider),
            take(&mut self.model),
            take(&mut self.stop_reason),
            take(&mut self.tool_call_id),
            take(&mut self.tool_name),
            take(&mut self.is_error),
        ];
        Piece { columns: behind(self.places.take(), own), identities: None }
    }
}

impl Messages {
    fn add_message(&mut self, message: &Message, visit: &mut Visit<'_, '_>) {
        let (text, line) = (visit.intake.line, visit.intake.bytes());
        let (object, nesting) = (text.part(message.object.range()), &mut *visit.intake.nesting);
        let [role, stop_reason, tool_call_id, tool_name, is_error] =
            find_in(object, nesting, ["role", "stopReason", "toolCallId", "toolName", "isError"]);
        // Writing to memory does not fail.
        message.for_pieces(text, nesting, |piece| _ = self.text.write_str(piece));
        self.text.append_value("");
        match message.role {
            Some(Role::Hook) if visit.is_old => self.role.append_value("custom"),
            _ => self.role.append_option(string(object.bytes(), role)),
        }
        let own_time = message.timestamp.and_then(|span| number(span.of(line))).and_then(timestamp::cut);
        self.timestamp.append_option(own_time.or_else(|| visit.timestamp_ms()));
        self.provider.append_option(string(line, message.provider));
        self.model.append_option(string(line, message.model));
        self.stop_reason.append_option(string(object.bytes(), stop_reason));
        self.tool_call_id.append_option(string(object.bytes(), tool_call_id));
        self.tool_name.append_option(string(object.bytes(), tool_name));
        self.is_error.append_option(boolean(object.bytes(), is_error));
    }

    /// The row of an entry whose message is none.
    fn add_nothing(&mut self, visit: &Visit<'_, '_>) {
        self.timestamp.append_option(visit.timestamp_ms());
        self.text.append_value("");
        for column in [
            &mut self.role,
            &mut self.provider,
            &mut self.model,
            &mut self.stop_reason,
            &mut self.tool_call_id,
            &mut self.tool_name,
        ] {
            column.append_null();
        }
        self.is_error.append_null();
    }
}
