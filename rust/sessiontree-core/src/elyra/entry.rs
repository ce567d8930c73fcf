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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug)]
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
    pub(crate) first: Entry,
    /// Which of the objects that is, from 0.
    pub(crate) first_at: usize,
    /// Whether any string on it escapes a surrogate, be it half of a pair.
    pub(crate) has_surrogates: bool,
    /// Where the line is no UTF-8, if it is not.
    pub(crate) not_utf8: Option<usize>,
}

/// Checks a whole line.
///
/// A line is whole objects, back to back or with white space between them; only then is anything of it used. An object
/// with neither a string `type` nor a string `id` is no entry.
///
/// # Errors
///
/// What is wrong with the line.
pub(crate) fn check(line: Text<'_>, nesting: &mut Nesting) -> Result<Checked, Flaw> {
    let mut scanner = Scanner::new(line, nesting);
    let checked = objects(line.bytes(), &mut scanner);
    let (objects, first) = checked.map_err(|_| scanner.flaw().unwrap_or(Flaw { at: 0, what: "it cannot be read" }))?;
    let (first_at, first) = first.ok_or(Flaw { at: 0, what: "the object has neither a type nor an id" })?;
    let (has_surrogates, not_utf8) = (scanner.has_surrogates(), scanner.not_utf8());
    Ok(Checked { objects, first, first_at, has_surrogates, not_utf8 })
}

/// How many objects there are, and the first entry among them with its number.
fn objects(line: &[u8], scanner: &mut Scanner<'_>) -> Result<(usize, Option<(usize, Entry)>), Faulty> {
    let (mut objects, mut first) = (0, None);
    while objects == 0 || scanner.peek().is_some() {
        if scanner.peek() != Some(b'{') {
            let what = if objects == 0 { "expected an object" } else { "more stands after the object" };
            return Err(scanner.complain(what));
        }
        let entry = entry(line, scanner)?;
        first = first.or(entry.map(|entry| (objects, entry)));
        objects += 1;
        scanner.space();
    }
    Ok((objects, first))
}

impl Checked {
    /// Calls `each` for the line's entries in turn, until it breaks off.
    ///
    /// Where there are several, the line is read once more: to keep them all would take many times the line's size.
    pub(crate) fn try_for_each(
        self,
        line: Text<'_>,
        mut each: impl FnMut(&Entry) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.objects == 1 {
            return each(&self.first);
        }
        let mut nesting = Nesting::default();
        let mut scanner = Scanner::new(line, &mut nesting);
        for _ in 0..self.objects {
            if let Ok(Some(entry)) = entry(line.bytes(), &mut scanner) {
                each(&entry)?;
            }
            scanner.space();
        }
        ControlFlow::Continue(())
    }
}

fn entry(line: &[u8], scanner: &mut Scanner<'_>) -> Result<Option<Entry>, Faulty> {
    let mut kind = None;
    let [mut id, mut parent_id, mut timestamp, mut name, mut provider, mut model] = [None; 6];
    let [mut response_id, mut version, mut cwd, mut parent_session] = [None; 4];
    let (mut message, mut usage) = (None, None);
    let object = scanner.object(|scanner, key| {
        match key {
            b"message" => message = self::message(line, scanner)?,
            b"type" => kind = scanner.string_value()?,
            b"id" => id = scanner.string_value()?,
            b"parentId" => parent_id = scanner.string_value()?,
            b"timestamp" => timestamp = scanner.string_value()?,
            b"name" => name = scanner.string_value()?,
            b"usage" => usage = usage::Raw::scan(scanner)?,
            b"provider" => provider = scanner.string_value()?,
            b"model" => model = scanner.string_value()?,
            b"responseId" => response_id = scanner.string_value()?,
            b"version" => version = scanner.value_but_null()?,
            b"cwd" => cwd = scanner.string_value()?,
            b"parentSession" => parent_session = scanner.string_value()?,
            _ => _ = scanner.value()?,
        }
        Ok(())
    })?;
    if kind.is_none() && id.is_none() {
        return Ok(None);
    }
    let kind = kind.map_or(Kind::Unknown, |kind| Kind::named(&kind.word(line)));
    Ok(Some(Entry {
        object,
        kind,
        id,
        parent_id,
        timestamp,
        message,
        name,
        usage,
        provider,
        model,
        response_id,
        version,
        cwd,
        parent_session,
    }))
}

fn message(line: &[u8], scanner: &mut Scanner<'_>) -> Result<Option<Message>, Faulty> {
    if scanner.peek() != Some(b'{') {
        scanner.value()?;
        return Ok(None);
    }
    let (mut role, mut usage) = (None, None);
    let [mut content, mut timestamp, mut details, mut provider, mut model, mut response_id] = [None; 6];
    let object = scanner.object(|scanner, key| {
        match key {
            b"content" => {
                let is_one = matches!(scanner.peek(), Some(b'"' | b'['));
                content = Some(scanner.value()?).filter(|_| is_one);
            }
            b"role" => role = scanner.string_value()?.map(|role| Role::named(&role.word(line))),
            b"timestamp" => timestamp = scanner.value_but_null()?,
            b"usage" => usage = usage::Raw::scan(scanner)?,
            b"details" => details = scanner.value_but_null()?,
            b"provider" => provider = scanner.string_value()?,
            b"model" => model = scanner.string_value()?,
            b"responseId" => response_id = scanner.string_value()?,
            _ => _ = scanner.value()?,
        }
        Ok(())
    })?;
    Ok(Some(Message { object, role, content, timestamp, usage, details, provider, model, response_id }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::Marked;

    fn check(line: &str) -> Result<Checked, &'static str> {
        super::check(Marked::new(line.as_bytes()).text(), &mut Nesting::default()).map_err(|flaw| flaw.what)
    }

    #[test]
    fn fields_are_found_in_any_order_and_spelling() {
        let line = r#"{"id":"old","message":{"content":[{"text":"a","type":"text"},"x",{"type":"text"}],"r\u006fle":"user"},"t\u0079pe":"message","id":"new"}"#;
        let Checked { objects, first, .. } = check(line).unwrap();
        let message = first.message.as_ref().unwrap();
        assert_eq!((objects, first.kind, message.role), (1, Kind::Message, Some(Role::User)));
        assert_eq!(first.id.unwrap().of(line.as_bytes()), b"\"new\"");
        assert_eq!(message.text(Marked::new(line.as_bytes()).text(), &mut Nesting::default()), "a");
    }

    #[test]
    fn a_line_is_whole_objects_or_nothing() {
        let line = r#"{"type":"label"} {} {"type":"usage"}"#;
        let (checked, mut kinds) = (check(line).unwrap(), Vec::new());
        assert_eq!(checked.objects, 3);
        let flow = checked.try_for_each(Marked::new(line.as_bytes()).text(), |entry| {
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
            assert_eq!(check(line).unwrap_err(), flaw);
        }
    }
}
