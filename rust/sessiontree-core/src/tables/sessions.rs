//! Sessions: a row of the listing each.

use std::iter;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, LargeStringBuilder, StringBuilder};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};

use super::columns::{always, count, perhaps, take, time, times};
use crate::info::SessionInfo;

/// How many rows a batch has: few enough that their first messages, which may be long, are no burden.
const BATCH_ROWS: usize = 1 << 10;

pub(super) fn fields() -> Vec<Field> {
    vec![
        always("path", DataType::Utf8),
        always("id", DataType::Utf8),
        always("cwd", DataType::Utf8),
        perhaps("name", DataType::Utf8),
        perhaps("parent_session_path", DataType::Utf8),
        perhaps("created", time()),
        always("modified", time()),
        always("message_count", DataType::Int64),
        always("first_message", DataType::LargeUtf8),
        always("size_bytes", DataType::Int64),
        always("entry_count", DataType::Int64),
        perhaps("leaf_id", DataType::Utf8),
        always("tip_count", DataType::Int64),
        always("input", DataType::Float64),
        always("output", DataType::Float64),
        always("cache_read", DataType::Float64),
        always("cache_write", DataType::Float64),
        always("total_tokens", DataType::Float64),
        always("cost_total", DataType::Float64),
        always("damage_count", DataType::Int64),
        always("version", DataType::Int64),
        always("format", DataType::Utf8),
    ]
}

/// The rows of these sessions.
pub(super) fn stream(schema: SchemaRef, infos: Vec<SessionInfo>) -> Box<dyn RecordBatchReader + Send> {
    let mut infos = infos.into_iter();
    let batches = {
        let schema = Arc::clone(&schema);
        iter::from_fn(move || {
            let part: Vec<_> = infos.by_ref().take(BATCH_ROWS).collect();
            (!part.is_empty()).then(|| batch(Arc::clone(&schema), &part))
        })
    };
    Box::new(RecordBatchIterator::new(batches, schema))
}

fn batch(schema: SchemaRef, infos: &[SessionInfo]) -> Result<RecordBatch, ArrowError> {
    let [mut path, mut id, mut cwd, mut name, mut parent_session, mut leaf_id, mut format]: [StringBuilder; 7] =
        Default::default();
    let [mut created, mut modified] = [times(), times()];
    let mut first_message = LargeStringBuilder::new();
    let mut counts: [Int64Builder; 6] = Default::default();
    let mut used: [Float64Builder; 6] = Default::default();
    for info in infos {
        path.append_value(info.path.to_string_lossy());
        id.append_value(&info.id);
        cwd.append_value(&info.cwd);
        name.append_option(info.name.as_deref());
        parent_session.append_option(info.parent_session.as_deref());
        created.append_option(info.created_ms);
        modified.append_value(info.modified_ms);
        first_message.append_value(&info.first_message);
        leaf_id.append_option(info.leaf_id.as_deref());
        format.append_value(info.format.name());
        let of_info = [
            count(info.message_count),
            count(info.size_bytes),
            count(info.entry_count),
            count(info.tip_count),
            count(info.damage_count),
            info.version,
        ];
        counts.iter_mut().zip(of_info).for_each(|(column, count)| column.append_value(count));
        let tokens: [f64; 6] = info.usage.total.into();
        used.iter_mut().zip(tokens).for_each(|(column, number)| column.append_value(number));
    }
    let [message_count, size_bytes, entry_count, tip_count, damage_count, version] =
        counts.each_mut().map(|column| take(column));
    let head = [
        take(&mut path),
        take(&mut id),
        take(&mut cwd),
        take(&mut name),
        take(&mut parent_session),
        take(&mut created),
        take(&mut modified),
        message_count,
        take(&mut first_message),
        size_bytes,
        entry_count,
        take(&mut leaf_id),
        tip_count,
    ];
    let used = used.each_mut().map(|column| take(column));
    let last = [damage_count, version, take(&mut format)];
    RecordBatch::try_new(schema, head.into_iter().chain(used).chain(last).collect())
}
