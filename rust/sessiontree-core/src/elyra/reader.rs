//! A session file, line by line: which lines count, where the header is, and what is wrong with the rest.

use std::ops::ControlFlow;

use super::entry::{Checked, Entry, Kind, check};
use super::header::Header;
use super::intake::Intake;
use crate::error::{DamageKind, Place, Reports};
use crate::json::{Flaw, Nesting};
use crate::lines::{Content, Line, MAX_LINE};
use crate::marks::Text;

/// Checks lines, and reports what is wrong with them.
#[derive(Debug, Default)]
pub(super) struct LineReader {
    nesting: Nesting,
    pub(super) reports: Reports,
}

/// Which lines of several records count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    All,
    /// Before the header, only one that begins with it.
    HeaderFirst,
}

impl LineReader {
    /// Calls `each` for every entry of the line in turn, until it breaks off.
    pub(super) fn read(
        &mut self,
        line: Line<'_>,
        joined: Joined,
        mut each: impl FnMut(&Entry, &mut Intake<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let place = line.place;
        let Content::Text { text, indent, padded } = line.content else {
            self.reports.add(DamageKind::Line, place, || format!("longer than {MAX_LINE} bytes; skipped"));
            return ControlFlow::Continue(());
        };
        if text.bytes().is_empty() {
            if padded {
                self.reports.add(DamageKind::Bytes, place, || "NULs stand on a line of their own".to_owned());
            }
            return ControlFlow::Continue(());
        }
        match self.check(text, joined) {
            Ok(checked) => {
                let is_utf8 = self.report(text, place, padded, checked.objects);
                let is_clean = is_utf8 && !checked.has_surrogates;
                let Self { nesting, reports } = self;
                checked.try_for_each(text, |entry| {
                    each(entry, &mut Intake { line: text, indent, place, is_clean, reports, nesting })
                })
            }
            Err(flaw) => {
                let reason = || format!("{} (column {}); skipped", flaw.what, flaw.at + 1);
                self.reports.add(DamageKind::Line, place, reason);
                ControlFlow::Continue(())
            }
        }
    }

    /// What the line holds; an error if it is to be skipped.
    fn check(&mut self, line: Text<'_>, joined: Joined) -> Result<Checked, Flaw> {
        let checked = check(line, &mut self.nesting)?;
        let first = &checked.first;
        let is_header = checked.first_at == 0 && first.kind == Kind::Session && first.id.is_some();
        if joined == Joined::HeaderFirst && checked.objects > 1 && !is_header {
            return Err(Flaw { at: 0, what: "several records stand on one line before the header" });
        }
        Ok(checked)
    }

    /// Reports what is wrong with a line that is read all the same; tells whether it is UTF-8.
    fn report(&mut self, line: Text<'_>, place: Place, padded: bool, objects: usize) -> bool {
        if objects > 1 {
            let reason = || format!("{objects} records stand on one line; each is read");
            self.reports.add(DamageKind::Joined, place, reason);
        }
        let not_utf8 = line.first_not_utf8();
        if padded {
            self.reports.add(DamageKind::Bytes, place, || "NULs stand around the record".to_owned());
        } else if let Some(at) = not_utf8 {
            let reason = || format!("not UTF-8 (column {}); read as U+FFFD", at + 1);
            self.reports.add(DamageKind::Bytes, place, reason);
        }
        not_utf8.is_none()
    }
}

/// What is made of a session's records, beginning with its header.
pub(super) trait Follow {
    /// What it is told beforehand.
    type Wanted;

    /// Begins with the header.
    fn start(wanted: &Self::Wanted, header: Header, entry: &Entry, intake: &Intake<'_>) -> Self;

    /// Adds one record after the header.
    fn add(&mut self, entry: &Entry, intake: &mut Intake<'_>);
}

/// A session file as far as it has been read.
pub(super) struct SessionReader<F: Follow> {
    lines: LineReader,
    wanted: F::Wanted,
    state: State<F>,
}

enum State<F> {
    BeforeHeader,
    Session(F),
    NoSession(&'static str),
}

impl<F: Follow> SessionReader<F> {
    pub(super) fn new(wanted: F::Wanted) -> Self {
        Self { lines: LineReader::default(), wanted, state: State::BeforeHeader }
    }

    /// Reads a line. Breaks off when it shows that the file is no session.
    pub(super) fn read_line(&mut self, line: Line<'_>) -> ControlFlow<()> {
        let Self { lines, wanted, state } = self;
        let joined = if matches!(state, State::BeforeHeader) { Joined::HeaderFirst } else { Joined::All };
        lines.read(line, joined, |entry, intake| {
            let no_session = match (&mut *state, entry.kind) {
                (State::Session(follower), _) => {
                    follower.add(entry, intake);
                    return ControlFlow::Continue(());
                }
                (_, Kind::Unknown) => return ControlFlow::Continue(()),
                (_, Kind::Session) => match Header::of(intake.bytes(), entry) {
                    Some(header) => {
                        *state = State::Session(F::start(wanted, header, entry, intake));
                        return ControlFlow::Continue(());
                    }
                    None => "its header has no id",
                },
                _ => "its first entry is no session header",
            };
            *state = State::NoSession(no_session);
            ControlFlow::Break(())
        })
    }

    /// Whether the header has been read.
    pub(super) fn has_header(&self) -> bool {
        matches!(self.state, State::Session(_))
    }

    /// What there is after the last line; the error says why the file is no session.
    pub(super) fn end(self, size_bytes: u64) -> Result<(F, Reports), &'static str> {
        match self.state {
            State::Session(follower) => Ok((follower, self.lines.reports)),
            State::NoSession(reason) => Err(reason),
            State::BeforeHeader if size_bytes == 0 => Err("it is empty"),
            State::BeforeHeader => Err("it holds no session header"),
        }
    }
}
