//! A session that was listed before, gone through once more: somebody is told of each of its entries.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::entry::{Entry, Kind};
use super::header::Header;
use super::intake::{Intake, id, time};
use super::migrate::{DerivedIds, is_linear, is_old};
use super::reader::{Gather, Joined, LineReader, read_head};
use crate::error::{Place, Result};
use crate::files::{Section, read_again};
use crate::info::Listed;
use crate::lines::{Buffer, Content, Line, Lines};
use crate::marks::Marked;

/// Who is told of a session's entries, in file order.
pub(crate) trait Visitor {
    /// Comes first, with the session's id.
    fn session(&mut self, id: &str);

    /// Comes for each entry; later headers are none.
    fn entry(&mut self, visit: &mut Visit<'_, '_>);
}

/// One entry, with what its line alone does not say.
pub(crate) struct Visit<'a, 'l> {
    pub(crate) entry: &'a Entry,
    pub(crate) intake: &'a mut Intake<'l>,
    /// As the current version has it; None unless it is a string that is not empty. So is the parent's.
    pub(crate) id: Option<&'a str>,
    pub(crate) parent_id: Option<&'a str>,
    /// Whether the file is of a version before the current one.
    pub(crate) is_old: bool,
}

impl Visit<'_, '_> {
    /// Where the entry's object starts in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.intake.place.offset + (self.intake.indent + self.entry.object.start()) as u64
    }

    /// The entry's own time, in Unix milliseconds.
    pub(crate) fn timestamp_ms(&self) -> Option<i64> {
        time(self.intake.bytes(), self.entry)
    }
}

/// Goes through the entries of a session.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
///
/// [`Error::Conflict`]: crate::error::Error::Conflict
/// [`Error::Io`]: crate::error::Error::Io
pub(crate) fn visit(
    listed: &Listed,
    buffer: &mut Buffer,
    is_stopped: &AtomicBool,
    visitor: &mut dyn Visitor,
) -> Result<()> {
    let visitor = RefCell::new(visitor);
    read_again(listed, |file| {
        let section = Section { file, at: 0, end: listed.size_bytes, is_stopped };
        let mut lines = Lines::new(section, buffer);
        let Ok((_, (), mut batch)) = read_head(&mut lines, |header| ((), Guide::new(header, &visitor)))? else {
            return Ok(None);
        };
        batch.read(&mut lines, listed.size_bytes)?;
        Ok(Some(()))
    })
}

/// Tells a visitor of an entry that no file holds as it is: its JSON, and the place that it is to have.
pub(crate) fn visit_entry(json: &[u8], place: Place, visitor: &mut dyn Visitor) {
    let marked = Marked::new(json);
    let content = Content::Text { text: marked.text(), indent: 0, padded: false };
    _ = LineReader::default().read(Line { place, content }, Joined::All, |entry, intake| {
        let line = intake.bytes();
        let (id, parent_id) = (id(line, entry.id), id(line, entry.parent_id));
        let (id, parent_id) = (id.as_deref(), parent_id.as_deref());
        visitor.entry(&mut Visit { entry, intake, id, parent_id, is_old: false });
        ControlFlow::Continue(())
    });
}

/// Leads the visitor through the session.
struct Guide<'a, 'v> {
    visitor: &'a RefCell<&'v mut dyn Visitor>,
    /// Version 1: the ids that its entries get, and the last one.
    derived: Option<(DerivedIds, Option<String>)>,
    is_old: bool,
    /// How many records there were after the header, later headers included.
    record_count: u64,
}

impl<'a, 'v> Guide<'a, 'v> {
    fn new(header: &Header, visitor: &'a RefCell<&'v mut dyn Visitor>) -> Self {
        visitor.borrow_mut().session(&header.id);
        Self {
            visitor,
            derived: is_linear(header.version).then(|| (DerivedIds::new(&header.id), None)),
            is_old: is_old(header.version),
            record_count: 0,
        }
    }
}

impl Gather for Guide<'_, '_> {
    fn add(&mut self, entry: &Entry, intake: &mut Intake<'_>) {
        self.record_count += 1;
        if entry.kind == Kind::Session {
            return;
        }
        let line = intake.bytes();
        let (id, parent_id) = match &mut self.derived {
            Some((ids, last)) => {
                let id = ids.next(self.record_count);
                let parent_id = last.replace(id.clone());
                (Some(id.into()), parent_id.map(Into::into))
            }
            None => (id(line, entry.id), id(line, entry.parent_id)),
        };
        let (id, parent_id) = (id.as_deref(), parent_id.as_deref());
        self.visitor.borrow_mut().entry(&mut Visit { entry, intake, id, parent_id, is_old: self.is_old });
    }
}
