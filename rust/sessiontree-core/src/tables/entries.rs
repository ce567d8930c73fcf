//! Entries: a row each, whatever their type.

use arrow_array::builder::{ArrayBuilder, Int64Builder, StringBuilder, TimestampMillisecondBuilder};
use arrow_schema::{DataType, Field};

use super::columns::{always, bytes, count, perhaps, string, take, time, times};
use super::stream::{Origin, Output, Piece, Rows};
use crate::elyra::{Kind, Visit};
use crate::error::Result;
use crate::rewrite::find;

pub(super) fn fields() -> Vec<Field> {
    vec![
        always("path", DataType::Utf8),
        always("session_id", DataType::Utf8),
        always("line", DataType::Int64),
        always("offset", DataType::Int64),
        perhaps("id", DataType::Utf8),
        perhaps("parent_id", DataType::Utf8),
        perhaps("type", DataType::Utf8),
        perhaps("timestamp", time()),
    ]
}

pub(super) struct Entries {
    path: StringBuilder,
    session_id: StringBuilder,
    line: Int64Builder,
    offset: Int64Builder,
    id: StringBuilder,
    parent_id: StringBuilder,
    kind: StringBuilder,
    timestamp: TimestampMillisecondBuilder,
}

impl Default for Entries {
    fn default() -> Self {
        Self {
            path: StringBuilder::new(),
            session_id: StringBuilder::new(),
            line: Int64Builder::new(),
            offset: Int64Builder::new(),
            id: StringBuilder::new(),
            parent_id: StringBuilder::new(),
            kind: StringBuilder::new(),
            timestamp: times(),
        }
    }
}

impl Rows for Entries {
    fn add(&mut self, origin: &Origin<'_>, visit: &mut Visit<'_, '_>, output: &mut Output) -> Result<()> {
        self.path.append_value(&origin.path);
        self.session_id.append_value(&origin.session_id);
        self.line.append_value(count(visit.intake.place.line));
        self.offset.append_value(count(visit.offset()));
        self.id.append_option(visit.id);
        self.parent_id.append_option(visit.parent_id);
        self.timestamp.append_option(visit.timestamp_ms());
        match visit.entry.kind {
            Kind::Unknown => {
                let object = visit.entry.object.of(visit.intake.bytes());
                let [kind] = find(object, ["type"]);
                self.kind.append_option(string(object, kind));
            }
            known => self.kind.append_option(known.name()),
        }
        if self.is_much() {
            output.send(self.take());
        }
        Ok(())
    }

    fn size(&self) -> (usize, usize) {
        let texts = [&self.path, &self.session_id, &self.id, &self.parent_id, &self.kind];
        (self.line.len(), bytes(&texts))
    }

    fn take(&mut self) -> Piece {
        let columns = vec![
            take(&mut self.path),
            take(&mut self.session_id),
            take(&mut self.line),
            take(&mut self.offset),
            take(&mut self.id),
            take(&mut self.parent_id),
            take(&mut self.kind),
            take(&mut self.timestamp),
        ];
        Piece { columns, identities: None }
    }
}
