//! Ids to nodes: what of a session's entries the tree is made of.
//!
//! A file's author sets how many entries it has, so a node is small: ids are kept once, end to end, and are numbers
//! everywhere else.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use crate::error::Place;

/// The number of an id, or of a node; [`NONE`] is none.
pub(crate) type Number = u32;
pub(crate) const NONE: Number = Number::MAX;

/// The activity time of what has none: older than any.
pub(crate) const NEVER: i64 = i64::MIN;

/// An entry that has an id. Nodes are numbered in file order.
#[derive(Debug)]
pub(crate) struct Node {
    id: Number,
    /// The id that its `parentId` names, whether any entry has it or not.
    parent_id: Number,
    pub(crate) place: Place,
    /// Unix milliseconds.
    pub(crate) activity: i64,
}

/// The nodes of one session.
#[derive(Debug, Default)]
pub(crate) struct Index {
    nodes: Vec<Node>,
    ids: Ids,
    /// For each id the last node that has it.
    latest: Vec<Number>,
}

impl Index {
    /// Enters an entry; false if an earlier one has its id, and is hidden by it from now on.
    ///
    /// A session with 2^32 ids would take 200 GB at the least: what comes after so many is not entered.
    pub(crate) fn add(&mut self, id: &str, parent_id: Option<&str>, place: Place, activity: i64) -> bool {
        let Some(id) = self.number(id) else { return true };
        let parent_id = match (parent_id, self.nodes.last()) {
            (None, _) => Some(NONE),
            // Mostly an entry hangs from the one before it.
            (Some(parent), Some(last)) if self.ids.text(last.id) == parent => Some(last.id),
            (Some(parent), _) => self.number(parent),
        };
        let (Some(parent_id), Ok(node)) = (parent_id, Number::try_from(self.nodes.len())) else { return true };
        self.nodes.push(Node { id, parent_id, place, activity });
        std::mem::replace(&mut self.latest[id as usize], node) == NONE
    }

    fn number(&mut self, id: &str) -> Option<Number> {
        let number = self.ids.number(id)?;
        if number as usize == self.latest.len() {
            self.latest.push(NONE);
        }
        Some(number)
    }

    /// How many nodes there are, hidden ones included.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, node: Number) -> &Node {
        &self.nodes[node as usize]
    }

    /// Whether a later entry has the same id.
    pub(crate) fn is_hidden(&self, node: Number) -> bool {
        self.latest[self.node(node).id as usize] != node
    }

    pub(crate) fn id(&self, node: Number) -> &str {
        self.ids.text(self.node(node).id)
    }

    /// The node that has an id: the last one.
    pub(crate) fn find(&self, id: &str) -> Option<Number> {
        Some(self.latest[self.ids.find(id)? as usize]).filter(|&node| node != NONE)
    }

    /// The id that a node's `parentId` names, whether any entry has it or not.
    pub(crate) fn parent_id(&self, node: Number) -> Option<&str> {
        Some(self.node(node).parent_id).filter(|&id| id != NONE).map(|id| self.ids.text(id))
    }

    /// The node that a node names as its parent: `Err` with the id if no entry has it, [`NONE`] if it names none.
    pub(crate) fn parent(&self, node: Number) -> Result<Number, &str> {
        let parent_id = self.node(node).parent_id;
        if parent_id == NONE {
            return Ok(NONE);
        }
        match self.latest[parent_id as usize] {
            NONE => Err(self.ids.text(parent_id)),
            parent => Ok(parent),
        }
    }

    /// The last entry that has an id.
    pub(crate) fn leaf(&self) -> Option<Number> {
        Number::try_from(self.nodes.len()).ok()?.checked_sub(1)
    }
}

/// Every id once, end to end, numbered in order of appearance.
#[derive(Debug, Default)]
struct Ids {
    text: String,
    ends: Vec<usize>,
    table: HashTable<Number>,
    hasher: RandomState,
}

impl Ids {
    fn text(&self, number: Number) -> &str {
        text(&self.text, &self.ends, number)
    }

    fn find(&self, id: &str) -> Option<Number> {
        let hash = self.hasher.hash_one(id);
        self.table.find(hash, |&number| self.text(number) == id).copied()
    }

    /// The number of an id, a new one if need be; None when there are no more.
    fn number(&mut self, id: &str) -> Option<Number> {
        let Self { text: all, ends, table, hasher } = self;
        let hash = hasher.hash_one(id);
        if let Some(&number) = table.find(hash, |&number| text(all, ends, number) == id) {
            return Some(number);
        }
        let number = Number::try_from(ends.len()).ok().filter(|&number| number != NONE)?;
        all.push_str(id);
        ends.push(all.len());
        table.insert_unique(hash, number, |&number| hasher.hash_one(text(all, ends, number)));
        Some(number)
    }
}

fn text<'a>(all: &'a str, ends: &[usize], number: Number) -> &'a str {
    let number = number as usize;
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &all[start..ends[number]]
}
