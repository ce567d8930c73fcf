//! All entries of an open session: their rows in file order, the index of their ids, labels and the name.

use std::collections::HashMap;

use super::digest::{Digest, Extra, Flags, Row};
use super::entry::Kind;
use super::index::{Index, NONE, Number};
use super::intake::{report_header, report_repeated};
use super::migrate::{DerivedIds, FirstKept, Migration, is_linear, is_old};
use crate::error::Reports;

/// What a label entry says of its target.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) timestamp_ms: Option<i64>,
    /// The number of the label entry's row.
    pub(super) row: usize,
    /// The number of the row that gave the target a label first, or again after it was taken away.
    pub(super) since: usize,
}

/// How entries come by their ids.
#[derive(Debug)]
enum Ids {
    /// They have them.
    Own,
    /// Version 1: one entry hangs from the other, and each gets an id.
    Derived { ids: DerivedIds, last: Option<Box<str>> },
}

/// The entries of a session, those without an id too. Rows are numbered in file order, and so are the nodes of the index.
#[derive(Debug)]
pub(super) struct Entries {
    ids: Ids,
    rows: Vec<Row>,
    index: Index,
    /// For each row its node; [`NONE`] if it is none.
    nodes: Vec<Number>,
    /// For each node its row.
    node_rows: Vec<Number>,
    /// By row, the `parentId` of an entry that is no node.
    loose_parents: HashMap<usize, Box<str>>,
    labels: HashMap<String, Label>,
    name: Option<String>,
    /// How many records there were after the header, later headers included.
    record_count: u64,
    /// The numbers of the later headers among them.
    header_numbers: Vec<u64>,
    /// By row, a version-1 compaction's `firstKeptEntryIndex`.
    first_kept: HashMap<usize, f64>,
}

impl Entries {
    pub(super) fn new(session_id: &str, version: i64) -> Self {
        let ids =
            if is_linear(version) { Ids::Derived { ids: DerivedIds::new(session_id), last: None } } else { Ids::Own };
        Self {
            ids,
            rows: Vec::new(),
            index: Index::default(),
            nodes: Vec::new(),
            node_rows: Vec::new(),
            loose_parents: HashMap::new(),
            labels: HashMap::new(),
            name: None,
            record_count: 0,
            header_numbers: Vec::new(),
            first_kept: HashMap::new(),
        }
    }

    /// Adds one record after the header.
    pub(super) fn add(&mut self, digest: Digest, reports: &mut Reports) {
        self.record_count += 1;
        let Digest { row, activity, mut id, mut parent_id, extra } = digest;
        if row.kind == Kind::Session {
            report_header(reports, row.place);
            self.header_numbers.push(self.record_count);
            return;
        }
        if let Ids::Derived { ids, last } = &mut self.ids {
            parent_id = last.take();
            id = Some(ids.next(self.record_count).into_boxed_str());
            last.clone_from(&id);
        }
        let number = self.rows.len();
        let node = id.map_or(NONE, |id| self.add_node(&id, parent_id.as_deref(), &row, activity, reports));
        if let Some(parent_id) = parent_id.filter(|_| node == NONE) {
            self.loose_parents.insert(number, parent_id);
        }
        match extra.map(|extra| *extra) {
            Some(Extra::Name(name)) => self.name = name,
            Some(Extra::Label { target_id, label: Some(text) }) => {
                let since = self.labels.get(&target_id).map_or(number, |label| label.since);
                self.labels.insert(target_id, Label { text, timestamp_ms: row.timestamp_ms, row: number, since });
            }
            Some(Extra::Label { target_id, label: None }) => _ = self.labels.remove(&target_id),
            Some(Extra::FirstKept(index)) => _ = self.first_kept.insert(number, index),
            None => {}
        }
        self.rows.push(row);
        self.nodes.push(node);
    }

    fn add_node(
        &mut self,
        id: &str,
        parent_id: Option<&str>,
        row: &Row,
        activity: i64,
        reports: &mut Reports,
    ) -> Number {
        let before = self.index.len();
        if !self.index.add(id, parent_id, row.place, activity) {
            report_repeated(reports, row.place, id);
        }
        let is_new = self.index.len() > before;
        match (Number::try_from(before), Number::try_from(self.rows.len())) {
            (Ok(node), Ok(number)) if is_new => {
                self.node_rows.push(number);
                node
            }
            _ => NONE,
        }
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The label of what has that id.
    pub(super) fn label(&self, id: &str) -> Option<&Label> {
        self.labels.get(id)
    }

    /// All labels with their targets' ids, in no order; a target need not exist.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&str, &Label)> {
        self.labels.iter().map(|(id, label)| (id.as_str(), label))
    }

    /// A row's id and its parent's; one that is empty is none.
    pub(super) fn ids(&self, row: usize) -> (Option<&str>, Option<&str>) {
        match self.node_of(row) {
            Some(node) => (Some(self.index.id(node)), self.index.parent_id(node)),
            None => (None, self.loose_parents.get(&row).map(|id| &**id)),
        }
    }

    /// What sets a row's entry apart from one of the current version, if the file is older.
    pub(super) fn migration(&self, row: usize, version: i64) -> Option<Migration> {
        if !is_old(version) {
            return None;
        }
        let (id, parent_id) = self.ids(row);
        let ids = id.filter(|_| is_linear(version)).map(|id| (id.to_owned(), parent_id.map(str::to_owned)));
        let first_kept = match self.first_kept(row) {
            FirstKept::Named => FirstKept::Named,
            FirstKept::Counted(id) => FirstKept::Counted(id.to_owned()),
            FirstKept::Nothing => FirstKept::Nothing,
        };
        let is_hook = self.rows[row].flags.has(Flags::IS_HOOK);
        (ids.is_some() || is_hook).then_some(Migration { ids, first_kept, is_hook })
    }

    /// The node of a row; None if it has no id.
    pub(super) fn node_of(&self, row: usize) -> Option<Number> {
        Some(self.nodes[row]).filter(|&node| node != NONE)
    }

    /// The number of a node's row.
    pub(super) fn row_of(&self, node: Number) -> usize {
        self.node_rows[node as usize] as usize
    }

    pub(super) fn row(&self, node: Number) -> &Row {
        &self.rows[self.row_of(node)]
    }

    /// The row that has a record's number, the header being number 0.
    fn numbered(&self, number: u64) -> Option<usize> {
        let headers = self.header_numbers.partition_point(|&header| header < number);
        if number == 0 || self.header_numbers.get(headers) == Some(&number) {
            return None;
        }
        usize::try_from(number - 1 - headers as u64).ok().filter(|&row| row < self.rows.len())
    }

    /// Which entry a compaction keeps first.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and not negative")]
    pub(super) fn first_kept(&self, row: usize) -> FirstKept<&str> {
        let is_linear = matches!(self.ids, Ids::Derived { .. });
        let Some(&index) = self.first_kept.get(&row).filter(|_| is_linear) else { return FirstKept::Named };
        let number = (index >= 0.0 && index.fract() == 0.0).then_some(index as u64);
        let node = number.and_then(|number| self.numbered(number)).and_then(|row| self.node_of(row));
        node.map_or(FirstKept::Nothing, |node| FirstKept::Counted(self.index.id(node)))
    }

    /// The path from a node to its root, as the ids say: it ends at an unknown parent, and at a node already visited.
    pub(super) fn path(&self, from: Number) -> Vec<Number> {
        let mut path = vec![from];
        let mut visited = vec![0_u64; self.index.len().div_ceil(64)];
        let mut visit = |node: Number| {
            let (word, bit) = (&mut visited[node as usize / 64], 1_u64 << (node % 64));
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        };
        visit(from);
        let mut at = from;
        while let Ok(parent) = self.index.parent(at) {
            if parent == NONE || !visit(parent) {
                break;
            }
            path.push(parent);
            at = parent;
        }
        path
    }
}
