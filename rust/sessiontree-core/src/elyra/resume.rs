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
    if size < LEAST || is_linear(facts.header.version) { None } else { state_of_any(facts, file, size) }
}

/// As [`state`], however short the file is.
fn state_of_any(facts: &Facts, file: &File, size: u64) -> Option<Vec<u8>> {
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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use super::super::long::{Begun, Rest, begin, go_on};
    use super::super::made_up;
    use super::*;
    use crate::info::Stamp;
    use crate::lines::Buffer;
    use crate::usage::IdentityKeys;
    use proptest::prelude::*;
    use proptest::sample::Index as Pick;

    const WANTED: Wanted = Wanted { text: false, records: true, keys: IdentityKeys([1, 2]) };

    /// Reads as much of the file, to go on where `known` ends.
    fn read(file: &File, size: u64, known: Option<(Facts, u64)>) -> Facts {
        let (mut buffer, is_stopped) = (Buffer::default(), AtomicBool::new(false));
        let new = |header: &Header| Facts::new(header.clone(), WANTED.keys, WANTED.text, WANTED.records);
        let rest = match known {
            Some((facts, start)) => go_on(file, start, size, u64::MAX, &mut buffer, &is_stopped, facts).unwrap(),
            None => match begin(file, size, u64::MAX, &mut buffer, &is_stopped, new).unwrap() {
                Begun::Session(_, rest) => rest,
                Begun::NoSession(reason) => panic!("{reason}"),
            },
        };
        match rest {
            Rest::Read(facts) => facts,
            Rest::Long(_) => panic!("no file has so many bytes"),
        }
    }

    proptest! {
        #[test]
        fn reading_on_is_reading_all(text in made_up::session(2..4), picks: [Pick; 3]) {
            let header = text.windows(8).position(|bytes| bytes == b"\"id\":\"s\"").unwrap();
            let ends: Vec<_> = (header..=text.len()).filter(|&end| text[end - 1] == b'\n').collect();
            prop_assume!(!ends.is_empty());
            let mut cuts = picks.map(|pick| *pick.get(&ends));
            cuts.sort_unstable();
            let mut file = tempfile::tempfile().unwrap();
            let (mut written, mut known) = (0, None);
            for cut in cuts {
                file.write_all(&text[written..cut]).unwrap();
                let facts = read(&file, cut as u64, known);
                let kept = state_of_any(&facts, &file, cut as u64).unwrap();
                let records = facts.into_session(Path::new(""), Stamp::default()).records;
                // It is found again however much there is behind it.
                known = restore(&kept, &records, &file, WANTED);
                prop_assert_eq!(known.as_ref().unwrap().1, cut as u64);
                written = cut;
            }
            file.write_all(&text[written..]).unwrap();
            let size = text.len() as u64;
            let (resumed, whole) = (read(&file, size, known), read(&file, size, None));
            prop_assert_eq!(state_of_any(&whole, &file, size).is_some(), text.ends_with(b"\n"));
            let told = |facts: Facts| format!("{:?}", facts.into_session(Path::new(""), Stamp::default()));
            prop_assert_eq!(told(resumed), told(whole));
        }
    }
}
