//! A session's tree as it is handed out: it stays what it was, whatever becomes of the session.

use std::collections::HashMap;
use std::sync::Arc;

use super::entries::Entries;
use super::index::Number;
use super::session_entry::SessionEntry;
use super::source::Source;
use super::tree::{Children, Tree};

/// A tree of entries. Nodes are known by numbers, in file order.
#[derive(Debug)]
pub struct TreeView {
    entries: Vec<SessionEntry>,
    children: Children,
    labels: HashMap<Number, NodeLabel>,
}

/// A node's label.
#[derive(Clone, Debug)]
pub struct NodeLabel {
    pub text: String,
    /// Of the entry that gave it, in Unix milliseconds; None where it cannot be read.
    pub timestamp_ms: Option<i64>,
}

impl TreeView {
    pub(super) fn of(entries: &Entries, version: i64, source: &Arc<Source>) -> Self {
        let index = entries.index();
        let mut children = Children::of(&Tree::of(index), index);
        children.sort(|node| entries.row(node).timestamp_ms);
        let rows = (0..index.len()).filter_map(|node| Number::try_from(node).ok()).map(|node| entries.row_of(node));
        let labels = entries.labels().filter_map(|(id, label)| {
            let label = NodeLabel { text: label.text.clone(), timestamp_ms: label.timestamp_ms };
            Some((index.find(id)?, label))
        });
        Self {
            labels: labels.collect(),
            entries: rows.map(|row| SessionEntry::of(entries, row, version, source)).collect(),
            children,
        }
    }

    /// The roots, in file order.
    #[must_use]
    pub fn roots(&self) -> &[Number] {
        self.children.roots()
    }

    /// A node's children, oldest first.
    #[must_use]
    pub fn children(&self, node: Number) -> &[Number] {
        self.children.of_node(node)
    }

    #[must_use]
    pub fn entry(&self, node: Number) -> &SessionEntry {
        &self.entries[node as usize]
    }

    #[must_use]
    pub fn label(&self, node: Number) -> Option<&NodeLabel> {
        self.labels.get(&node)
    }
}
