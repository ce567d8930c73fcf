//! An entry to the few facts of it that an open session keeps: where it stands, and what the tree and the context ask for.

use std::ops::ControlFlow;

use super::entry::{Entry, Kind};
use super::index::NEVER;
use super::intake::{Intake, activity, id, name, time};
use super::reader::{Joined, LineReader};
use super::tally::has_usage;
use crate::error::Place;
use crate::json::{Span, is_string, number, text};
use crate::lines::{Content, Line};
use crate::marks::Marked;
use crate::message::{Message, Role};
use crate::rewrite::find;

/// A stretch of an entry's object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub(super) start: u32,
    pub(super) length: u32,
}

/// Yes-or-no facts of an entry, a bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags(u8);

impl Flags {
    /// Strict decoders refuse its text: `rewrite::clean` must go before.
    pub(super) const IS_UNCLEAN: Self = Self(1);
    /// Its message's `content` is to be read as an empty one.
    pub(super) const LACKS_CONTENT: Self = Self(1 << 1);
    /// Its message is a system message.
    pub(super) const IS_SYSTEM: Self = Self(1 << 2);
    /// Its message is a user's or an assistant's.
    pub(super) const IS_SPOKEN: Self = Self(1 << 3);
    /// Its message has the role that `custom` had before version 3.
    pub(super) const IS_HOOK: Self = Self(1 << 4);
    /// It names a model, its provider and all.
    pub(super) const HAS_MODEL: Self = Self(1 << 5);
    /// It may hold usage records.
    pub(super) const HAS_USAGE: Self = Self(1 << 6);

    pub(super) fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    fn set(&mut self, flag: Self, is_so: bool) {
        self.0 |= if is_so { flag.0 } else { 0 };
    }
}

/// What is kept of every entry, whatever its type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Where its line stands.
    pub(super) place: Place,
    /// Where its object stands in the line.
    pub(super) object: Part,
    /// Where in the object the message stands that it gives to the context; of no length if it gives none.
    pub(super) message: Part,
    /// Unix milliseconds; None where it cannot be read.
    pub(super) timestamp_ms: Option<i64>,
    pub(super) kind: Kind,
    pub(super) flags: Flags,
}

impl Row {
    /// Where its object starts in the file.
    pub(super) fn offset(&self) -> u64 {
        self.place.offset + u64::from(self.object.start)
    }
}

/// What few entries have.
#[derive(Debug)]
pub(super) enum Extra {
    Name(Option<String>),
    Label {
        target_id: String,
        label: Option<String>,
    },
    /// A version-1 compaction's `firstKeptEntryIndex`.
    FirstKept(f64),
}

/// One record of a session file, headers after the first included.
#[derive(Debug)]
pub(super) struct Digest {
    pub(super) row: Row,
    pub(super) activity: i64,
    pub(super) id: Option<Box<str>>,
    pub(super) parent_id: Option<Box<str>>,
    pub(super) extra: Option<Box<Extra>>,
}

impl Digest {
    pub(super) fn of(entry: &Entry, intake: &Intake<'_>) -> Self {
        let line = intake.bytes();
        let message = entry.message.as_ref().filter(|_| entry.kind == Kind::Message);
        let object = entry.object.of(line);
        let mut row = Row {
            place: intake.place,
            object: part(entry.object, 0, intake.indent),
            message: Part::default(),
            timestamp_ms: time(line, entry),
            kind: entry.kind,
            flags: Flags::default(),
        };
        row.flags.set(Flags::IS_UNCLEAN, !intake.is_clean);
        row.flags.set(Flags::HAS_USAGE, has_usage(entry));
        row.flags.set(Flags::HAS_MODEL, entry.kind == Kind::ModelChange && names_model(object));
        if let Some(message) = message {
            row.add_message(message, entry.object);
        }
        let text_of = |span| id(line, span).map(|text| text.into_owned().into_boxed_str());
        Self {
            row,
            activity: message.map_or(NEVER, |message| activity(line, entry, message)),
            id: text_of(entry.id),
            parent_id: text_of(entry.parent_id),
            extra: extra(entry, line).map(Box::new),
        }
    }
}

impl Digest {
    /// Of a line that is one entry; None if it is none.
    pub(super) fn of_line(line: &[u8], place: Place) -> Option<Self> {
        let mut found = None;
        let marked = Marked::new(line);
        let content = Content::Text { text: marked.text(), indent: 0, padded: false };
        _ = LineReader::default().read(Line { place, content }, Joined::All, |entry, intake| {
            found = Some(Self::of(entry, intake));
            ControlFlow::Continue(())
        });
        found
    }
}

impl Row {
    fn add_message(&mut self, message: &Message, object: Span) {
        // One that lacks only its role is passed on; one that lacks its content, too, is no message.
        if message.role.is_some() || message.content.is_some() {
            self.message = part(message.object, object.start(), 0);
        }
        let needs_content = message.role.is_some_and(|role| role.empty_content().is_some());
        self.flags.set(Flags::LACKS_CONTENT, needs_content && !message.content.is_some());
        self.flags.set(Flags::IS_SYSTEM, message.role == Some(Role::System));
        self.flags.set(Flags::IS_SPOKEN, message.is_spoken());
        self.flags.set(Flags::IS_HOOK, message.role == Some(Role::Hook));
        let names_model = message.provider.is_some() && message.model.is_some();
        self.flags.set(Flags::HAS_MODEL, message.role == Some(Role::Assistant) && names_model);
    }
}

/// The part that a span of a line is of what begins at `from`, `indent` bytes left out before the line.
#[expect(clippy::cast_possible_truncation, reason = "a line is far shorter than 4 GiB")]
fn part(span: Span, from: usize, indent: usize) -> Part {
    Part { start: (indent + span.start() - from) as u32, length: (span.end() - span.start()) as u32 }
}

fn names_model(object: &[u8]) -> bool {
    find(object, ["provider", "modelId"]).iter().all(|span| span.is_some_and(|span| is_string(span.of(object))))
}

fn extra(entry: &Entry, line: &[u8]) -> Option<Extra> {
    let object = entry.object.of(line);
    let string = |span: Option<Span>| Some(span?.of(object)).filter(|raw| is_string(raw)).map(text);
    match entry.kind {
        Kind::SessionInfo => Some(Extra::Name(name(line, entry))),
        Kind::Label => {
            let [target_id, label] = find(object, ["targetId", "label"]);
            let label = string(label).map(String::from).filter(|label| !label.is_empty());
            let target_id = string(target_id).filter(|id| !id.is_empty())?.into_owned();
            Some(Extra::Label { target_id, label })
        }
        Kind::Compaction => {
            let [index] = find(object, ["firstKeptEntryIndex"]);
            Some(Extra::FirstKept(number(index?.of(object))?))
        }
        _ => None,
    }
}
