//! What an open session has used: read when it is first asked for, and kept up to date with what is appended.

use std::collections::HashSet;

use super::digest::Flags;
use super::entries::Entries;
use super::entry::{Entry, check};
use super::intake::Intake;
use super::source::Source;
use super::tally::{Models, Tally, for_each_record};
use crate::error::{Reports, Result};
use crate::json::Nesting;
use crate::marks::Marked;
use crate::usage::{IdentityKeys, Record, Usage};

/// The usage records of an open session.
#[derive(Debug, Default)]
pub(super) struct Spending {
    keys: IdentityKeys,
    models: Models,
    tally: Tally,
    /// Every record with the number of its row.
    records: Vec<(usize, Record)>,
    reports: Reports,
    /// How many rows have been looked at.
    done: usize,
}

impl Spending {
    /// Looks at the rows that have come since it was last called.
    pub(super) fn catch_up(&mut self, entries: &Entries, source: &Source) -> Result<()> {
        let (mut nesting, mut entry) = (Nesting::default(), Entry::default());
        for number in self.done..entries.rows().len() {
            let row = &entries.rows()[number];
            if row.flags.has(Flags::HAS_USAGE) {
                let object = source.object(row)?;
                let marked = Marked::new(&object);
                if check(marked.text(), &mut nesting, &mut entry).is_ok() {
                    let mut intake = Intake {
                        line: marked.text(),
                        indent: 0,
                        place: row.place,
                        is_clean: true,
                        reports: &mut self.reports,
                        nesting: &mut nesting,
                    };
                    let records = &mut self.records;
                    let id = entries.ids(number).0;
                    for_each_record(&entry, id, &mut intake, &self.keys, &mut self.models, |record| {
                        self.tally.add(&record);
                        records.push((number, record));
                    });
                }
            }
            self.done = number + 1;
        }
        Ok(())
    }

    /// Of all entries, each record once.
    pub(super) fn usage(&self) -> Usage {
        self.tally.usage.clone()
    }

    /// Of some rows alone, each record once.
    pub(super) fn usage_of(&self, rows: impl Iterator<Item = usize>) -> Usage {
        let rows: HashSet<usize> = rows.collect();
        let mut tally = Tally::default();
        self.records.iter().filter(|(row, _)| rows.contains(row)).for_each(|(_, record)| tally.add(record));
        tally.usage
    }

    /// Numbers that do not count.
    pub(super) fn reports(&self) -> &Reports {
        &self.reports
    }
}
