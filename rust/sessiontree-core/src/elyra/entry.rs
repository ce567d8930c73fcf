//! A line's bytes to the facts of its entries: the one place that looks at a line of a session file.
//!
//! [`check`] checks the whole line and notes, in the same pass, where the fields stand that anything asks for. A field of
//! the wrong type is as good as absent, and of a repeated key the last value wins.

use std::ops::ControlFlow;

use crate::json::{Flaw, Nesting, Scanner, Span, is_string, word};
use crate::marks::Text;
use crate::message::{Message, Role};

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
#[derive(Debug)]
pub(crate) struct Entry {
    /// The object itself.
    pub(crate) span: Span,
    pub(crate) kind: Kind,
    /// A string, perhaps empty.
    pub(crate) id: Option<Span>,
    pub(crate) parent_id: Option<Span>,
    pub(crate) timestamp: Option<Span>,
    pub(crate) message: Option<Message>,
    pub(crate) name: Option<Span>,
    /// Of any type but null.
    pub(crate) usage: Option<Span>,
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
    let (mut objects, mut first) = (0, None);
    while objects == 0 || scanner.peek().is_some() {
        if scanner.peek() != Some(b'{') {
            return Err(scanner.flaw(if objects == 0 { "expected an object" } else { "more stands after the object" }));
        }
        let entry = entry(line.bytes(), &mut scanner)?;
        first = first.or(entry.map(|entry| (objects, entry)));
        objects += 1;
        scanner.space();
    }
    let (first_at, first) = first.ok_or(Flaw { at: 0, what: "the object has neither a type nor an id" })?;
    Ok(Checked { objects, first, first_at, has_surrogates: scanner.has_surrogates() })
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

fn entry(line: &[u8], scanner: &mut Scanner<'_>) -> Result<Option<Entry>, Flaw> {
    let mut kind = None;
    let mut entry = Entry {
        span: Span::EMPTY,
        kind: Kind::Unknown,
        id: None,
        parent_id: None,
        timestamp: None,
        message: None,
        name: None,
        usage: None,
        provider: None,
        model: None,
        response_id: None,
        version: None,
        cwd: None,
        parent_session: None,
    };
    entry.span = scanner.object(|scanner, key| {
        match key {
            b"message" => entry.message = message(line, scanner)?,
            b"type" => kind = string(line, scanner)?,
            b"id" => entry.id = string(line, scanner)?,
            b"parentId" => entry.parent_id = string(line, scanner)?,
            b"timestamp" => entry.timestamp = string(line, scanner)?,
            b"name" => entry.name = string(line, scanner)?,
            b"usage" => entry.usage = anything(line, scanner)?,
            b"provider" => entry.provider = string(line, scanner)?,
            b"model" => entry.model = string(line, scanner)?,
            b"responseId" => entry.response_id = string(line, scanner)?,
            b"version" => entry.version = anything(line, scanner)?,
            b"cwd" => entry.cwd = string(line, scanner)?,
            b"parentSession" => entry.parent_session = string(line, scanner)?,
            _ => _ = scanner.value()?,
        }
        Ok(())
    })?;
    if let Some(kind) = kind {
        entry.kind = Kind::named(&word(kind.of(line)));
    }
    Ok((kind.is_some() || entry.id.is_some()).then_some(entry))
}

fn message(line: &[u8], scanner: &mut Scanner<'_>) -> Result<Option<Message>, Flaw> {
    if scanner.peek() != Some(b'{') {
        scanner.value()?;
        return Ok(None);
    }
    let mut message = Message {
        span: Span::EMPTY,
        role: None,
        has_content: false,
        texts: Vec::new(),
        timestamp: None,
        usage: None,
        model_usage: None,
        provider: None,
        model: None,
        response_id: None,
        role_name: None,
        stop_reason: None,
        tool_call_id: None,
        tool_name: None,
        is_error: None,
    };
    message.span = scanner.object(|scanner, key| {
        match key {
            b"content" => message.has_content = content(line, scanner, &mut message.texts)?,
            b"role" => message.role_name = string(line, scanner)?,
            b"timestamp" => message.timestamp = anything(line, scanner)?,
            b"usage" => message.usage = anything(line, scanner)?,
            b"details" => message.model_usage = model_usage(line, scanner)?,
            b"provider" => message.provider = string(line, scanner)?,
            b"model" => message.model = string(line, scanner)?,
            b"responseId" => message.response_id = string(line, scanner)?,
            b"stopReason" => message.stop_reason = string(line, scanner)?,
            b"toolCallId" => message.tool_call_id = string(line, scanner)?,
            b"toolName" => message.tool_name = string(line, scanner)?,
            b"isError" => message.is_error = anything(line, scanner)?,
            _ => _ = scanner.value()?,
        }
        Ok(())
    })?;
    message.role = message.role_name.map(|span| Role::named(&word(span.of(line))));
    Ok(Some(message))
}

/// The texts of a content; false if it is neither a string nor a list.
fn content(line: &[u8], scanner: &mut Scanner<'_>, texts: &mut Vec<Span>) -> Result<bool, Flaw> {
    texts.clear();
    match scanner.peek() {
        Some(b'"') => texts.push(scanner.value()?),
        Some(b'[') => {
            scanner.array(|scanner| {
                if scanner.peek() == Some(b'{') {
                    texts.extend(text_block(line, scanner)?);
                } else {
                    scanner.value()?;
                }
                Ok(())
            })?;
        }
        _ => {
            scanner.value()?;
            return Ok(false);
        }
    }
    Ok(true)
}

fn text_block(line: &[u8], scanner: &mut Scanner<'_>) -> Result<Option<Span>, Flaw> {
    let (mut is_text, mut words) = (false, None);
    scanner.object(|scanner, key| {
        match key {
            b"type" => is_text = string(line, scanner)?.is_some_and(|span| *word(span.of(line)) == *b"text"),
            b"text" => words = string(line, scanner)?,
            _ => _ = scanner.value()?,
        }
        Ok(())
    })?;
    Ok(words.filter(|_| is_text))
}

fn model_usage(line: &[u8], scanner: &mut Scanner<'_>) -> Result<Option<Span>, Flaw> {
    let mut found = None;
    if scanner.peek() == Some(b'{') {
        scanner.object(|scanner, key| {
            let value = anything(line, scanner)?;
            if key == b"modelUsage" {
                found = value;
            }
            Ok(())
        })?;
    } else {
        scanner.value()?;
    }
    Ok(found)
}

/// Passes the value ahead; None unless it is a string.
fn string(line: &[u8], scanner: &mut Scanner<'_>) -> Result<Option<Span>, Flaw> {
    Ok(Some(scanner.value()?).filter(|span| is_string(span.of(line))))
}

/// Passes the value ahead; None if it is null.
fn anything(line: &[u8], scanner: &mut Scanner<'_>) -> Result<Option<Span>, Flaw> {
    Ok(Some(scanner.value()?).filter(|span| span.of(line) != b"null"))
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
        assert_eq!(message.text(line.as_bytes()), "a");
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
