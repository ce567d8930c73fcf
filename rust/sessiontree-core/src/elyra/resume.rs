//! What is kept of a session so that, when its file has grown, only what is new need be read.
//!
//! A file is the one that was read, and longer, when it is the same by its number, and when its first and last block, as far as
//! it was read, have the hash that they had. Somebody who writes into the middle of a file and appends to it, too, between two
//! looks is not found out.

use std::fs::File;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::Wanted;
use super::facts::{Facts, Summary};
use super::header::Header;
use super::index::Index;
use super::migrate::is_linear;
use super::section::read_fully_at;
use crate::error::{Place, Reports};
use crate::usage::Record;

/// How long a file must be for it to be worth the while.
const LEAST: u64 = 256 << 10;

/// How much is hashed at either end.
const BLOCK: u64 = 64 << 10;

/// A session as far as its file was read, all but its usage records.
#[derive(Serialize, Deserialize)]
struct State<Text> {
    size: u64,
    hash: u64,
    header: Header,
    summary: Summary,
    reports: Reports,
    lines: u64,
    ids: Vec<Text>,
    nodes: Vec<Node>,
}

#[derive(Serialize, Deserialize)]
struct Node {
    /// The number of its id.
    id: usize,
    /// The number of its parent's.
    parent: Option<usize>,
    line: u64,
    offset: u64,
    activity: i64,
}

/// What to keep of a session whose file's first `size` bytes have been read. None if that is not worth the while, or if the file's
/// last line has no end yet.
pub(super) fn state(facts: &Facts, file: &File, size: u64) -> Option<Vec<u8>> {
    if size < LEAST || is_linear(facts.header.version) {
        return None;
    }
    let (hash, last) = look(file, size)?;
    let node = |(id, parent, place, activity): (usize, Option<usize>, Place, i64)| Node {
        id,
        parent,
        line: place.line,
        offset: place.offset,
        activity,
    };
    let state = State {
        size,
        hash,
        header: facts.header.clone(),
        summary: facts.summary.clone(),
        reports: facts.reports.clone(),
        lines: facts.lines,
        ids: facts.index.ids().collect::<Vec<_>>(),
        nodes: facts.index.nodes().map(node).collect(),
    };
    (last == b'\n').then(|| postcard::to_allocvec(&state).ok())?
}

/// The session that was kept, if it is the file's, and where to read on.
pub(super) fn restore(state: &[u8], records: &[Record], file: &File, wanted: Wanted) -> Option<(Facts, u64)> {
    let (state, rest) = postcard::take_from_bytes::<State<&str>>(state).ok()?;
    let State { size, hash, header, summary, reports, lines, ids, nodes } = state;
    if wanted.text || !rest.is_empty() || look(file, size)? != (hash, b'\n') {
        return None;
    }
    let mut index = Index::default();
    for Node { id, parent, line, offset, activity } in nodes {
        let parent = match parent {
            Some(parent) => Some(*ids.get(parent)?),
            None => None,
        };
        index.add(ids.get(id)?, parent, Place { line, offset }, activity);
    }
    let mut facts = Facts::new(header, wanted.keys, false, wanted.records);
    (facts.index, facts.summary, facts.reports, facts.lines) = (index, summary, reports, lines);
    facts.add_records(records.to_owned());
    Some((facts, size))
}

/// A hash of both ends of the first `size` bytes of a file, and the last of these.
fn look(file: &File, size: u64) -> Option<(u64, u8)> {
    let mut block = Vec::new();
    let mut hash_at = |offset, seed| {
        block.resize(usize::try_from(BLOCK.min(size)).ok()?, 0);
        let done = read_fully_at(file, &mut block, offset).ok()?;
        (done == block.len()).then(|| XxHash3_64::oneshot_with_seed(seed, &block))
    };
    let hash = hash_at(0, size)?;
    let hash = hash_at(size.saturating_sub(BLOCK), hash)?;
    Some((hash, *block.last()?))
}
