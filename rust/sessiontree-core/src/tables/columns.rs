//! What several tables have in common: kinds of columns, and where a row comes from.

use std::borrow::Cow;

use arrow_array::ArrayRef;
use arrow_array::builder::{ArrayBuilder, Int64Builder, StringBuilder, TimestampMillisecondBuilder};
use arrow_schema::{DataType, Field, TimeUnit};

use super::stream::Origin;
use crate::error::Place;
use crate::json::{Span, is_string, text};

/// A zone that every consumer knows.
const ZONE: &str = "UTC";

/// A column that has a value in each row.
pub(super) fn always(name: &str, kind: DataType) -> Field {
    Field::new(name, kind, false)
}

/// A column that may lack values.
pub(super) fn perhaps(name: &str, kind: DataType) -> Field {
    Field::new(name, kind, true)
}

/// The type of times: milliseconds, in UTC.
pub(super) fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, Some(ZONE.into()))
}

pub(super) fn times() -> TimestampMillisecondBuilder {
    TimestampMillisecondBuilder::new().with_timezone(ZONE)
}

/// A count as Arrow has it: all consumers know signed integers.
pub(super) fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// What has gathered in a column, which is empty then.
pub(super) fn take(column: &mut dyn ArrayBuilder) -> ArrayRef {
    column.finish()
}

/// The text of a member that is a string.
pub(super) fn string(object: &[u8], span: Option<Span>) -> Option<Cow<'_, str>> {
    Some(span?.of(object)).filter(|raw| is_string(raw)).map(text)
}

/// The value of a member that is a truth value.
pub(super) fn boolean(object: &[u8], span: Option<Span>) -> Option<bool> {
    match span?.of(object) {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

/// The first columns of the tables whose rows lie within an entry.
#[derive(Debug, Default)]
pub(super) struct Places {
    path: StringBuilder,
    session_id: StringBuilder,
    entry_id: StringBuilder,
    line: Int64Builder,
}

impl Places {
    pub(super) fn fields() -> [Field; 4] {
        [
            always("path", DataType::Utf8),
            always("session_id", DataType::Utf8),
            perhaps("entry_id", DataType::Utf8),
            always("line", DataType::Int64),
        ]
    }

    pub(super) fn add(&mut self, origin: &Origin<'_>, entry_id: Option<&str>, place: Place) {
        self.path.append_value(&origin.path);
        self.session_id.append_value(&origin.session_id);
        self.entry_id.append_option(entry_id);
        self.line.append_value(count(place.line));
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.line.len()
    }

    pub(super) fn bytes(&self) -> usize {
        bytes(&[&self.path, &self.session_id, &self.entry_id])
    }

    pub(super) fn take(&mut self) -> [ArrayRef; 4] {
        [take(&mut self.path), take(&mut self.session_id), take(&mut self.entry_id), take(&mut self.line)]
    }
}

/// How much text has gathered in some columns.
pub(super) fn bytes(columns: &[&StringBuilder]) -> usize {
    columns.iter().map(|column| column.values_slice().len()).sum()
}

/// A batch's columns: those of the place, and the table's own.
pub(super) fn behind(places: [ArrayRef; 4], own: impl IntoIterator<Item = ArrayRef>) -> Vec<ArrayRef> {
    places.into_iter().chain(own).collect()
}
