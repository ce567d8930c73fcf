//! What is kept of a session so that, when its file has grown, only what is new need be read.
//!
//! A file is the one that was read, and longer, when it is the same by its number and by its birth, and when its first and last
//! block, as far as it was read, have the hash that they had. Somebody who writes into the middle of a file and appends to it,
//! too, between two looks is not found out.

use std::fs::File;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::Wanted;
use super::facts::{Facts, Summary};
use super::header::Header;
use super::index::Index;
use super::migrate::is_linear;
use crate::error::{Place, Reports};
use crate::files::read_fully_at;
use crate::info::ns_since_1970;
use crate::usage::Record;

/// How long a file must be for it to be worth the while.
const LEAST: u64 = 256 << 10;

/// How much is hashed at either end.
const BLOCK: u64 = 64 << 10;

/// A session as far as its file was read, all but its usage records.
#[derive(Serialize, Deserialize)]
struct State<Text> {
    size: u64,
    ends: Ends,
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

/// What tells a file that has grown from another: of the first bytes of it, so many as were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ends {
    /// Of both ends of those bytes.
    hash: u64,
    last: u8,
    /// When the file was made, which tells a new one that was given an old one's number; None where the system does not.
    born_ns: Option<i64>,
}

impl Ends {
    /// None of a file that is too short for it to be worth the while. To be taken before the file is read: what is written
    /// meanwhile shows when it is taken again.
    pub(super) fn before(file: &File, size: u64) -> Option<Self> {
        if size < LEAST { None } else { Self::of(file, size) }
    }

    fn of(file: &File, size: u64) -> Option<Self> {
        let mut block = Vec::new();
        let mut hash_at = |offset, seed| {
            block.resize(usize::try_from(BLOCK.min(size)).ok()?, 0);
            let done = read_fully_at(file, &mut block, offset).ok()?;
            (done == block.len()).then(|| XxHash3_64::oneshot_with_seed(seed, &block))
        };
        let hash = hash_at(0, size)?;
        let hash = hash_at(size.saturating_sub(BLOCK), hash)?;
        let born_ns = file.metadata().ok()?.created().ok().map(ns_since_1970);
        Some(Self { hash, last: *block.last()?, born_ns })
    }
}

/// What to keep of a session whose file's first `size` bytes have been read, and had these ends before. None if they have been
/// written to, or if the last line has no end yet.
pub(super) fn state(facts: &Facts, ends: Ends, file: &File, size: u64) -> Option<Vec<u8>> {
    if ends.last != b'\n' || is_linear(facts.header.version) || Ends::of(file, size)? != ends {
        return None;
    }
    let node = |(id, parent, place, activity): (usize, Option<usize>, Place, i64)| Node {
        id,
        parent,
        line: place.line,
        offset: place.offset,
        activity,
    };
    let state = State {
        size,
        ends,
        header: facts.header.clone(),
        summary: facts.summary.clone(),
        reports: facts.reports.clone(),
        lines: facts.lines,
        ids: facts.index.ids().collect::<Vec<_>>(),
        nodes: facts.index.nodes().map(node).collect(),
    };
    postcard::to_allocvec(&state).ok()
}

/// The session that was kept, if it is the file's, and where to read on.
pub(super) fn restore(state: &[u8], records: &[Record], file: &File, wanted: Wanted) -> Option<(Facts, u64)> {
    let (state, rest) = postcard::take_from_bytes::<State<&str>>(state).ok()?;
    let State { size, ends, header, summary, reports, lines, ids, nodes } = state;
    if wanted.text || !rest.is_empty() || Ends::of(file, size)? != ends {
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
                let ends = Ends::of(&file, cut as u64).unwrap();
                let kept = state(&facts, ends, &file, cut as u64).unwrap();
                let records = facts.into_session(Path::new(""), Stamp::default()).records;
                // It is found again however much there is behind it.
                known = restore(&kept, &records, &file, WANTED);
                prop_assert_eq!(known.as_ref().unwrap().1, cut as u64);
                written = cut;
            }
            file.write_all(&text[written..]).unwrap();
            let size = text.len() as u64;
            let (resumed, whole) = (read(&file, size, known), read(&file, size, None));
            prop_assert_eq!(state(&whole, Ends::of(&file, size).unwrap(), &file, size).is_some(), text.ends_with(b"\n"));
            let told = |facts: Facts| format!("{:?}", facts.into_session(Path::new(""), Stamp::default()));
            prop_assert_eq!(told(resumed), told(whole));
        }
    }
}
