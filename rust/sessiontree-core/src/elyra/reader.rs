//! A session file, line by line: which lines count, where the header is, and what is wrong with the rest.

use std::io::{self, Read};
use std::ops::{ControlFlow, Range};

use super::entry::{Checked, Entry, Kind, check};
use super::header::Header;
use super::intake::Intake;
use super::long::Build;
use crate::error::{DamageKind, Place, Reports};
use crate::json::{Flaw, Nesting};
use crate::lines::{Content, Line, Lines, MAX_LINE};
use crate::marks::Text;

/// Checks lines, and reports what is wrong with them.
#[derive(Debug, Default)]
pub(super) struct LineReader {
    nesting: Nesting,
    /// The first entry of the line that is being read.
    first: Entry,
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
                let is_utf8 = self.report(&checked, place, padded);
                let is_clean = is_utf8 && !checked.has_surrogates;
                let Self { nesting, first, reports } = self;
                checked.try_for_each(text, first, |entry| {
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
        let checked = check(line, &mut self.nesting, &mut self.first)?;
        let first = &self.first;
        let is_header = checked.first_at == 0 && first.kind == Kind::Session && first.id.is_some();
        if joined == Joined::HeaderFirst && checked.objects > 1 && !is_header {
            return Err(Flaw { at: 0, what: "several records stand on one line before the header" });
        }
        Ok(checked)
    }

    /// Reports what is wrong with a line that is read all the same; tells whether it is UTF-8.
    fn report(&mut self, checked: &Checked, place: Place, padded: bool) -> bool {
        let objects = checked.objects;
        if objects > 1 {
            let reason = || format!("{objects} records stand on one line; each is read");
            self.reports.add(DamageKind::Joined, place, reason);
        }
        if padded {
            self.reports.add(DamageKind::Bytes, place, || "NULs stand around the record".to_owned());
        } else if let Some(at) = checked.not_utf8 {
            let reason = || format!("not UTF-8 (column {}); read as U+FFFD", at + 1);
            self.reports.add(DamageKind::Bytes, place, reason);
        }
        checked.not_utf8.is_none()
    }
}

/// Takes the records of some lines.
pub(super) trait Gather {
    /// Takes one record after the header.
    fn add(&mut self, entry: &Entry, intake: &mut Intake<'_>);
}

impl<A: Gather, B: Gather> Gather for (A, B) {
    fn add(&mut self, entry: &Entry, intake: &mut Intake<'_>) {
        self.0.add(entry, intake);
        self.1.add(entry, intake);
    }
}

/// What a stretch of lines holds. They are counted from 1 within it.
#[derive(Debug, Default)]
pub(super) struct Batch<G> {
    pub(super) gathered: G,
    reader: LineReader,
    pub(super) lines: u64,
}

impl<G: Gather> Batch<G> {
    pub(super) fn new(gathered: G) -> Self {
        Self { gathered, reader: LineReader::default(), lines: 0 }
    }

    /// Reads the lines that begin before `until`.
    pub(super) fn read<R: Read>(&mut self, lines: &mut Lines<'_, R>, until: u64) -> io::Result<()> {
        while lines.place().offset < until {
            let Some(line) = lines.next()? else { break };
            self.lines += 1;
            let gathered = &mut self.gathered;
            _ = self.reader.read(line, Joined::All, |entry, intake| {
                gathered.add(entry, intake);
                ControlFlow::Continue(())
            });
        }
        Ok(())
    }

    /// Adds it to what the session is put together in.
    pub(super) fn add_to(self, builder: &mut impl Build<Part = G>) {
        builder.add(self.gathered, self.reader.reports, self.lines);
    }
}

/// The header's own line.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) header: Header,
    /// The object of the header, as it stands.
    pub(super) object: Vec<u8>,
    /// Where that stands in the file.
    pub(super) span: Range<u64>,
}

impl Head {
    /// None if the record has no id.
    fn of(entry: &Entry, intake: &Intake<'_>) -> Option<Self> {
        let header = Header::of(intake.bytes(), entry)?;
        let object = entry.object.of(intake.bytes()).to_owned();
        let start = intake.place.offset + (intake.indent + entry.object.start()) as u64;
        let span = start..start + object.len() as u64;
        Some(Self { header, object, span })
    }
}

/// What a file begins with: its header, what the caller makes of that, and the lines up to it. The error says why it is no session.
type Beginning<T, G> = Result<(Head, T, Batch<G>), &'static str>;

/// Reads up to the header, and what stands on one line with it; `begin` gives what to gather that with, and what else the
/// caller makes of a header.
pub(super) fn read_head<R: Read, G: Gather, T>(
    lines: &mut Lines<'_, R>,
    begin: impl Fn(&Header) -> (T, G),
) -> io::Result<Beginning<T, G>> {
    let mut reader = LineReader::default();
    loop {
        let Some(line) = lines.next()? else {
            let is_empty = lines.place().offset == 0;
            return Ok(Err(if is_empty { "it is empty" } else { "it holds no session header" }));
        };
        let mut found = None;
        _ = reader.read(line, Joined::HeaderFirst, |entry, intake| {
            match (&mut found, entry.kind) {
                (Some(Ok((_, _, gathered))), _) => G::add(gathered, entry, intake),
                (Some(Err(_)), _) | (None, Kind::Unknown) => {}
                (None, Kind::Session) => {
                    let head = Head::of(entry, intake).ok_or("its header has no id");
                    found = Some(head.map(|head| {
                        let (made, gathered) = begin(&head.header);
                        (head, made, gathered)
                    }));
                }
                (None, _) => found = Some(Err("its first entry is no session header")),
            }
            ControlFlow::Continue(())
        });
        if let Some(found) = found {
            let lines = lines.place().line - 1;
            return Ok(found.map(|(head, made, gathered)| (head, made, Batch { gathered, reader, lines })));
        }
    }
}
