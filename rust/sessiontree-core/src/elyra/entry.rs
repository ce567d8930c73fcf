//! A line's bytes to the facts of its entries: the one place that looks at a line of a session file.
//!
//! [`check`] checks the whole line and notes, in the same pass, where the fields stand that anything asks for. A field of
//! the wrong type is as good as absent, and of a repeated key the last value wins.

use std::ops::ControlFlow;

use crate::json::{Faulty, Flaw, Nesting, Scanner, Span};
use crate::marks::Text;
use crate::message::{Message, Role};
use crate::usage;

/// The entry types of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    Session,
    Message,
    ModelChange,
    ThinkingLevelChange,
    Compaction,
    BranchSummary,
    Custom,
    CustomMessage,
    Label,
    SessionInfo,
    Usage,
    ContextEdit,
    /// A type that the format does not have, or none.
    #[default]
    Unknown,
}

impl Kind {
    fn named(name: &[u8]) -> Self {
        match name {
            b"session" => Self::Session,
            b"message" => Self::Message,
            b"model_change" => Self::ModelChange,
            b"thinking_level_change" => Self::ThinkingLevelChange,
            b"compaction" => Self::Compaction,
            b"branch_summary" => Self::BranchSummary,
            b"custom" => Self::Custom,
            b"custom_message" => Self::CustomMessage,
            b"label" => Self::Label,
            b"session_info" => Self::SessionInfo,
            b"usage" => Self::Usage,
            b"context_edit" => Self::ContextEdit,
            _ => Self::Unknown,
        }
    }

    /// The name in the file; None for a type that the format does not have.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Session => "session",
            Self::Message => "message",
            Self::ModelChange => "model_change",
            Self::ThinkingLevelChange => "thinking_level_change",
            Self::Compaction => "compaction",
            Self::BranchSummary => "branch_summary",
            Self::Custom => "custom",
            Self::CustomMessage => "custom_message",
            Self::Label => "label",
            Self::SessionInfo => "session_info",
            Self::Usage => "usage",
            Self::ContextEdit => "context_edit",
            Self::Unknown => return None,
        })
    }
}

/// What one object of a line says, as spans of that line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    /// The object itself.
    pub(crate) object: Span,
    pub(crate) kind: Kind,
    /// A string, perhaps empty.
    pub(crate) id: Option<Span>,
    pub(crate) parent_id: Option<Span>,
    pub(crate) timestamp: Option<Span>,
    pub(crate) message: Option<Message>,
    pub(crate) name: Option<Span>,
    pub(crate) usage: Option<usage::Raw>,
    pub(crate) provider: Option<Span>,
    pub(crate) model: Option<Span>,
    pub(crate) response_id: Option<Span>,
    /// Of any type but null.
    pub(crate) version: Option<Span>,
    pub(crate) cwd: Option<Span>,
    pub(crate) parent_session: Option<Span>,
}

/// A line that has been checked, and holds at least one entry.
#[derive(Debug)]
pub(crate) struct Checked {
    /// How many objects it holds, entries or not.
    pub(crate) objects: usize,
    /// Which of the objects is the first entry, from 0.
    pub(crate) first_at: usize,
    /// Whether any string on it escapes a surrogate, be it half of a pair.
    pub(crate) has_surrogates: bool,
    /// Where the line is no UTF-8, if it is not.
    pub(crate) not_utf8: Option<usize>,
}

/// Checks a whole line; `first` becomes the first entry on it. (There is a place for it that many lines share, since to hand
/// it on would take longer than to read most.)
///
/// A line is whole objects, back to back or with white space between them; only then is anything of it used. An object
/// with neither a string `type` nor a string `id` is no entry.
///
/// # Errors
///
/// What is wrong with the line.
pub(crate) fn check(line: Text<'_>, nesting: &mut Nesting, first: &mut Entry) -> Result<Checked, Flaw> {
    let mut scanner = Scanner::new(line, nesting);
    let checked = objects(line.bytes(), &mut scanner, first);
    let (objects, first_at) =
        checked.map_err(|_| scanner.flaw().unwrap_or(Flaw { at: 0, what: "it cannot be read" }))?;
    let first_at = first_at.ok_or(Flaw { at: 0, what: "the object has neither a type nor an id" })?;
    let (has_surrogates, not_utf8) = (scanner.has_surrogates(), scanner.not_utf8());
    Ok(Checked { objects, first_at, has_surrogates, not_utf8 })
}

/// How many objects there are, and which of them is the first entry.
fn objects(line: &[u8], scanner: &mut Scanner<'_>, first: &mut Entry) -> Result<(usize, Option<usize>), Faulty> {
    let (mut objects, mut first_at) = (0, None);
    while objects == 0 || scanner.peek().is_some() {
        if scanner.peek() != Some(b'{') {
            let what = if objects == 0 { "expected an object" } else { "more stands after the object" };
            return Err(scanner.complain(what));
        }
        if first_at.is_some() {
            scanner.value()?;
        } else if read_entry(line, scanner, first)? {
            first_at = Some(objects);
        }
        objects += 1;
        scanner.space();
    }
    Ok((objects, first_at))
}

impl Checked {
    /// Calls `each` for the line's entries in turn, until it breaks off.
    ///
    /// Where there are several, the line is read once more: to keep them all would take many times the line's size.
    pub(crate) fn try_for_each(
        &self,
        line: Text<'_>,
        first: &Entry,
        mut each: impl FnMut(&Entry) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.objects == 1 {
            return each(first);
        }
        let mut nesting = Nesting::default();
        let mut scanner = Scanner::new(line, &mut nesting);
        for _ in 0..self.objects {
            let mut entry = Entry::default();
            if read_entry(line.bytes(), &mut scanner, &mut entry) == Ok(true) {
                each(&entry)?;
            }
            scanner.space();
        }
        ControlFlow::Continue(())
    }
}

/// Reads the object ahead; tells whether it is an entry.
fn read_entry(line: &[u8], scanner: &mut Scanner<'_>, entry: &mut Entry) -> Result<bool, Faulty> {
    *entry = Entry::default();
    let mut kind = None;
    entry.object = scanner.object(|scanner, key| {
        match key {
            b"message" => read_message(line, scanner, &mut entry.message)?,
            b"type" => kind = scanner.string_value()?,
            b"id" => entry.id = scanner.string_value()?,
            b"parentId" => entry.parent_id = scanner.string_value()?,
            b"timestamp" => entry.timestamp = scanner.string_value()?,
            b"name" => entry.name = scanner.string_value()?,
            b"usage" => entry.usage = usage::Raw::scan(scanner)?,
            b"provider" => entry.provider = scanner.string_value()?,
            b"model" => entry.model = scanner.string_value()?,
            b"responseId" => entry.response_id = scanner.string_value()?,
            b"version" => entry.version = scanner.value_but_null()?,
            b"cwd" => entry.cwd = scanner.string_value()?,
            b"parentSession" => entry.parent_session = scanner.string_value()?,
            _ => _ = scanner.value()?,
        }
        Ok(())
    })?;
    entry.kind = kind.map_or(Kind::Unknown, |kind| Kind::named(&kind.word(line)));
    Ok(kind.is_some() || entry.id.is_some())
}

/// Reads the value ahead, which is a message if it is an object.
fn read_message(line: &[u8], scanner: &mut Scanner<'_>, message: &mut Option<Message>) -> Result<(), Faulty> {
    *message = None;
    if scanner.peek() != Some(b'{') {
        return scanner.value().map(drop);
    }
    let message = message.insert(Message::default());
    message.object = scanner.object(|scanner, key| {
        match key {
            b"content" => {
                let is_one = matches!(scanner.peek(), Some(b'"' | b'['));
                message.content = Some(scanner.value()?).filter(|_| is_one);
            }
            b"role" => message.role = scanner.string_value()?.map(|role| Role::named(&role.word(line))),
            b"timestamp" => message.timestamp = scanner.value_but_null()?,
            b"usage" => message.usage = usage::Raw::scan(scanner)?,
            b"details" => message.details = scanner.value_but_null()?,
            b"provider" => message.provider = scanner.string_value()?,
            b"model" => message.model = scanner.string_value()?,
            b"responseId" => message.response_id = scanner.string_value()?,
            _ => _ = scanner.value()?,
        }
        Ok(())
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::Marked;

    fn check(line: &str) -> Result<(Checked, Entry), &'static str> {
        let mut first = Entry::default();
        let checked = super::check(Marked::new(line.as_bytes()).text(), &mut Nesting::default(), &mut first);
        checked.map(|checked| (checked, first)).map_err(|flaw| flaw.what)
    }

    #[test]
    fn fields_are_found_in_any_order_and_spelling() {
        let line = r#"{"id":"old","message":{"content":[{"text":"a","type":"text"},"x",{"type":"text"}],"r\u006fle":"user"},"t\u0079pe":"message","id":"new"}"#;
        let (Checked { objects, .. }, first) = check(line).unwrap();
        let message = first.message.as_ref().unwrap();
        assert_eq!((objects, first.kind, message.role), (1, Kind::Message, Some(Role::User)));
        assert_eq!(first.id.unwrap().of(line.as_bytes()), b"\"new\"");
        assert_eq!(message.text(Marked::new(line.as_bytes()).text(), &mut Nesting::default()), "a");
    }

    #[test]
    fn a_line_is_whole_objects_or_nothing() {
        let line = r#"{"type":"label"} {} {"type":"usage"}"#;
        let ((checked, first), mut kinds) = (check(line).unwrap(), Vec::new());
        assert_eq!(checked.objects, 3);
        let flow = checked.try_for_each(Marked::new(line.as_bytes()).text(), &first, |entry| {
            kinds.push(entry.kind);
            ControlFlow::Continue(())
        });
        assert_eq!((flow, kinds.as_slice()), (ControlFlow::Continue(()), [Kind::Label, Kind::Usage].as_slice()));
        for (line, flaw) in [
            (r#"{"type":"label"},{"id":"a"}"#, "more stands after the object"),
            (r#"{"type":"label"}{"id":"#, "the record is cut off"),
            ("[]", "expected an object"),
            ("{}{}", "the object has neither a type nor an id"),
        ] {
            assert_eq!(check(line).map(drop).unwrap_err(), flaw);
        }
    }
}
