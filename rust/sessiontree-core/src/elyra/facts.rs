//! A session's stretches put together: what a listing keeps of it, and the row that it makes of that at the end.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::header::Header;
use super::index::{Index, NEVER};
use super::intake::report_repeated;
use super::long::Build;
use super::stretch::{Name, Stretch, append_text};
use super::tally::Tally;
use super::tree::Tree;
use crate::error::{Place, Reports};
use crate::info::{Format, NO_MESSAGES, SessionInfo, Stamp};
use crate::listing::Session;
use crate::usage::{IdentityKeys, Record};

/// What is kept of a session, as far as it has been read.
#[derive(Debug)]
pub(super) struct Facts {
    keys: IdentityKeys,
    pub(super) header: Header,
    pub(super) index: Index,
    pub(super) summary: Summary,
    /// The texts of all messages, if they are wanted.
    all_text: Option<String>,
    tally: Tally,
    /// Every usage record, if they are wanted.
    records: Option<Vec<Record>>,
    pub(super) reports: Reports,
    pub(super) lines: u64,
}

/// What its entries come to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Summary {
    entry_count: u64,
    message_count: u64,
    name: Option<String>,
    first_message: Option<String>,
    /// The newest activity.
    activity: i64,
}

impl Facts {
    pub(super) fn new(header: Header, keys: IdentityKeys, with_text: bool, with_records: bool) -> Self {
        Self {
            keys,
            header,
            index: Index::default(),
            summary: Summary { entry_count: 0, message_count: 0, name: None, first_message: None, activity: NEVER },
            all_text: with_text.then(String::new),
            tally: Tally::default(),
            records: with_records.then(Vec::new),
            reports: Reports::default(),
            lines: 0,
        }
    }

    pub(super) fn add_records(&mut self, records: Vec<Record>) {
        for record in &records {
            self.tally.add(record);
        }
        if let Some(all) = &mut self.records {
            all.extend(records);
        }
    }

    pub(super) fn into_text(self) -> String {
        self.all_text.unwrap_or_default()
    }

    /// The row and all that goes with it, once the last line has been taken in.
    pub(super) fn into_session(mut self, path: &Path, stamp: Stamp) -> Session {
        let Summary { entry_count, message_count, name, first_message, activity } = self.summary;
        let tip_count = Tree::of(&self.index).report(&self.index, &mut self.reports);
        let info = SessionInfo {
            format: Format::Elyra,
            path: path.to_owned(),
            id: self.header.id,
            cwd: self.header.cwd,
            name,
            parent_session: self.header.parent_session,
            created_ms: self.header.created_ms,
            modified_ms: Some(activity)
                .filter(|&ms| ms > 0)
                .or(self.header.created_ms)
                .unwrap_or_else(|| stamp.modified_ms()),
            message_count,
            first_message: first_message.unwrap_or_else(|| NO_MESSAGES.to_owned()),
            all_messages_text: self.all_text,
            size_bytes: stamp.size_bytes,
            entry_count,
            leaf_id: self.index.leaf().map(|leaf| self.index.id(leaf).to_owned()),
            tip_count: tip_count as u64,
            usage: self.tally.usage,
            damage_count: self.reports.damage_count(),
            version: self.header.version,
            stamp,
        };
        Session {
            info,
            damage: self.reports.into_damage(path),
            records: self.records.unwrap_or_default(),
            is_settled: false,
            resume: None,
        }
    }
}

impl Build for Facts {
    type Part = Stretch;

    fn begin(&self) -> Stretch {
        Stretch::new(&self.header, self.keys, self.all_text.is_some())
    }

    fn add(&mut self, stretch: Stretch, reports: Reports, lines: u64) {
        let before = self.lines;
        self.lines += lines;
        self.reports.extend(reports, before);
        let summary = &mut self.summary;
        summary.entry_count += stretch.entry_count;
        summary.message_count += stretch.message_count;
        if let Name::Told(name) = stretch.name {
            summary.name = name;
        }
        summary.first_message = summary.first_message.take().or(stretch.first_message);
        summary.activity = summary.activity.max(stretch.activity);
        if let (Some(all), Some(text)) = (&mut self.all_text, &stretch.all_text) {
            append_text(all, text);
        }
        let Self { index, reports, .. } = self;
        stretch.nodes.for_each(|id, parent_id, place, activity| {
            let place = Place { line: place.line + before, ..place };
            if !index.add(id, parent_id, place, activity) {
                report_repeated(reports, place, id);
            }
        });
        self.add_records(stretch.records);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::super::long::{Begun, LongFile, Rest, begin};
    use super::super::made_up;
    use super::*;
    use crate::error::DamageKind;
    use crate::lines::Buffer;
    use crate::marks::ways;
    use proptest::prelude::*;

    /// All that a listing has of a file that is read in regions of that size, on so many threads.
    fn listed(file: &File, region: u64, threads: usize) -> Session {
        let facts = |header: &Header| Facts::new(header.clone(), IdentityKeys([1, 2]), true, true);
        let size = file.metadata().unwrap().len();
        let begun = begin(file, size, region, &mut Buffer::default(), &AtomicBool::new(false), facts).unwrap();
        let facts = match begun {
            Begun::Session(_, Rest::Read(facts)) => facts,
            Begun::Session(_, Rest::Long(long)) => read(file, &long, threads),
            Begun::NoSession(reason) => panic!("{reason}"),
        };
        facts.into_session(Path::new(""), Stamp::default())
    }

    fn read(file: &File, long: &LongFile<Facts>, threads: usize) -> Facts {
        let (facts, is_stopped) = (Mutex::new(None), AtomicBool::new(false));
        let work = || {
            let mut buffer = Buffer::default();
            while let Some(number) = long.wait(&is_stopped) {
                if let Some(done) = long.read(file, number, &mut buffer, &is_stopped) {
                    *facts.lock().unwrap() = Some(done.unwrap());
                }
            }
        };
        if threads == 1 {
            work();
        } else {
            thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        }
        facts.into_inner().unwrap().unwrap()
    }

    fn told(session: &Session) -> String {
        format!("{session:?}")
    }

    fn file(text: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        file
    }

    proptest! {
        #[test]
        fn regions_threads_and_instructions_change_nothing(
            text in made_up::session(1..4),
            region in 1_u64..300,
            threads in 2_usize..5,
        ) {
            let file = file(&text);
            let expected = told(&listed(&file, u64::MAX, 1));
            prop_assert_eq!(&told(&listed(&file, region, threads)), &expected);
            for size in [u64::MAX, region] {
                for found in ways::by_each(|| told(&listed(&file, size, 1))) {
                    prop_assert_eq!(&found, &expected);
                }
            }
        }
    }

    #[test]
    fn what_is_left_out_of_the_reports_does_not_depend_on_regions() {
        let header = b"{\"type\":\"session\",\"id\":\"s\",\"version\":3}\n";
        let note = b"{\"type\":\"usage\",\"usage\":{\"input\":-1}}\n";
        let file = file(&[&header[..], &[&note[..], b"[\n"].concat().repeat(11_000)].concat());
        let whole = listed(&file, u64::MAX, 1);
        assert_eq!(whole.info.damage_count, 11_000);
        assert!(whole.damage.iter().all(|damage| damage.kind == DamageKind::Line));
        assert_eq!(told(&listed(&file, 5_000, 3)), told(&whole));
    }
}
