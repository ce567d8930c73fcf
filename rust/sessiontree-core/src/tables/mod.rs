//! Tables of a scan's sessions, as Arrow record batches: see docs/tables.md.
//!
//! Each table has a file of its own: its columns, and what makes rows of entries. `stream.rs` knows threads and order.

mod columns;
mod visit;
mod stream;
mod sessions;
mod entries;
mod messages;
mod tool_calls;
mod usage_records;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_schema::{Schema, SchemaRef};

use crate::info::SessionInfo;
use stream::{Maker, Stream};

/// Of the schemas: another one when a column changes its meaning, its type or its name, or goes. New ones may come without.
const VERSION: &str = "1";

/// What a table has a row of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Sessions,
    Entries,
    Messages,
    ToolCalls,
    UsageRecords,
}

impl Table {
    const ALL: [Self; 5] = [Self::Sessions, Self::Entries, Self::Messages, Self::ToolCalls, Self::UsageRecords];

    /// The table of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Entries => "entries",
            Self::Messages => "messages",
            Self::ToolCalls => "tool_calls",
            Self::UsageRecords => "usage_records",
        }
    }

    /// Its columns, and which table in which version they are.
    #[must_use]
    pub fn schema(self) -> SchemaRef {
        let fields = match self {
            Self::Sessions => sessions::fields(),
            Self::Entries => entries::fields(),
            Self::Messages => messages::fields(),
            Self::ToolCalls => tool_calls::fields(),
            Self::UsageRecords => usage_records::fields(),
        };
        let metadata = [("sessiontree.table", self.name()), ("sessiontree.version", VERSION)];
        let metadata: HashMap<_, _> = metadata.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Arc::new(Schema::new_with_metadata(fields, metadata))
    }

    /// What makes its rows of entries; None for the one that is not made of entries.
    fn rows(self) -> Option<Maker> {
        Some(match self {
            Self::Sessions => return None,
            Self::Entries => |_| Box::new(entries::Entries::default()),
            Self::Messages => |_| Box::new(messages::Messages::default()),
            Self::ToolCalls => |keys| Box::new(tool_calls::ToolCalls::new(Arc::clone(keys))),
            Self::UsageRecords => |keys| Box::new(usage_records::UsageRecords::new(Arc::clone(keys))),
        })
    }

    /// A new stream of its rows: of the sessions in their order, and within each in the order of its file.
    ///
    /// Nothing is read before the first batch is asked for, and no more once the stream is dropped.
    pub fn stream<'a>(self, infos: impl Iterator<Item = &'a SessionInfo>) -> Box<dyn RecordBatchReader + Send> {
        match self.rows() {
            None => sessions::stream(self.schema(), infos.cloned().collect()),
            Some(rows) => Box::new(Stream::new(self.schema(), rows, infos.map(Into::into).collect())),
        }
    }
}
