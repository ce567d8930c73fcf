//! A session file, line by line: which lines count, where the header is, and what is wrong with the rest.

use std::ops::ControlFlow;

use super::Wanted;
use super::entry::{Checked, Entry, Kind, check};
use super::facts::{Facts, Header, Intake};
use crate::error::{DamageKind, Place, Reports};
use crate::json::{Flaw, Nesting};
use crate::lines::{Content, Line, MAX_LINE};

/// A session file as far as it has been read.
#[derive(Debug)]
pub(super) struct SessionReader<'a> {
    wanted: Wanted<'a>,
    nesting: Nesting,
    reports: Reports,
    state: State,
}

#[derive(Debug)]
enum State {
    BeforeHeader,
    Session(Box<Facts>),
    NoSession(&'static str),
}

impl<'a> SessionReader<'a> {
    pub(super) fn new(wanted: Wanted<'a>) -> Self {
        Self { wanted, nesting: Nesting::default(), reports: Reports::default(), state: State::BeforeHeader }
    }

    /// Reads a line. Breaks off when it shows that the file is no session.
    pub(super) fn read_line(&mut self, line: Line<'_>) -> ControlFlow<()> {
        let place = line.place;
        let Content::Text { text, padded } = line.content else {
            self.reports.add(DamageKind::Line, place, || format!("longer than {MAX_LINE} bytes; skipped"));
            return ControlFlow::Continue(());
        };
        if text.is_empty() {
            if padded {
                self.reports.add(DamageKind::Bytes, place, || "NULs stand on a line of their own".to_owned());
            }
            return ControlFlow::Continue(());
        }
        match self.check(text) {
            Ok(checked) => {
                self.report(text, place, padded, checked.objects);
                checked.try_for_each(text, |entry| self.read_entry(text, place, entry))
            }
            Err(flaw) => {
                let reason = || format!("{} (column {}); skipped", flaw.what, flaw.at + 1);
                self.reports.add(DamageKind::Line, place, reason);
                ControlFlow::Continue(())
            }
        }
    }

    /// What the line holds; an error if it is to be skipped.
    fn check(&mut self, line: &[u8]) -> Result<Checked, Flaw> {
        let checked = check(line, &mut self.nesting)?;
        let first = &checked.first;
        let is_header = checked.first_at == 0 && first.kind == Kind::Session && first.id.is_some();
        if matches!(self.state, State::BeforeHeader) && checked.objects > 1 && !is_header {
            return Err(Flaw { at: 0, what: "several records stand on one line before the header" });
        }
        Ok(checked)
    }

    /// Reports what is wrong with a line that is read all the same.
    fn report(&mut self, line: &[u8], place: Place, padded: bool, objects: usize) {
        if objects > 1 {
            let reason = || format!("{objects} records stand on one line; each is read");
            self.reports.add(DamageKind::Joined, place, reason);
        }
        if padded {
            self.reports.add(DamageKind::Bytes, place, || "NULs stand around the record".to_owned());
        } else if let Err(error) = str::from_utf8(line) {
            let reason = || format!("not UTF-8 (column {}); read as U+FFFD", error.valid_up_to() + 1);
            self.reports.add(DamageKind::Bytes, place, reason);
        }
    }

    fn read_entry(&mut self, line: &[u8], place: Place, entry: &Entry) -> ControlFlow<()> {
        let no_session = match (&mut self.state, entry.kind) {
            (State::Session(facts), _) => {
                let Self { reports, nesting, wanted, .. } = self;
                facts.add(entry, &mut Intake { line, place, reports, nesting, wanted: *wanted });
                return ControlFlow::Continue(());
            }
            (_, Kind::Unknown) => return ControlFlow::Continue(()),
            (_, Kind::Session) => match Header::of(entry, line) {
                Some(header) => {
                    self.state = State::Session(Box::new(Facts::new(header, self.wanted.text)));
                    return ControlFlow::Continue(());
                }
                None => "its header has no id",
            },
            _ => "its first entry is no session header",
        };
        self.state = State::NoSession(no_session);
        ControlFlow::Break(())
    }

    /// What there is after the last line; the error says why the file is no session.
    pub(super) fn end(self, size_bytes: u64) -> Result<(Facts, Reports), &'static str> {
        match self.state {
            State::Session(facts) => Ok((*facts, self.reports)),
            State::NoSession(reason) => Err(reason),
            State::BeforeHeader if size_bytes == 0 => Err("it is empty"),
            State::BeforeHeader => Err("it holds no session header"),
        }
    }
}
