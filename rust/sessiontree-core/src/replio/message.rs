//! Where the parts of a message stand.

use std::borrow::Cow;

use crate::json::{Faulty, Nesting, Scanner, Span, is_string, text};
use crate::marks::Text;

/// A string with nothing in it.
pub(super) const EMPTY: &[u8] = b"\"\"";

/// Who speaks. The rules tell these apart; all others are alike to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    Tool,
    Command,
    System,
    Other,
}

/// The parts of a message that the rules read, of any type but null: to Replio null is as good as nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Message {
    pub(super) object: Span,
    pub(super) role: Option<Span>,
    pub(super) content: Option<Span>,
    pub(super) id: Option<Span>,
    pub(super) timestamp: Option<Span>,
    pub(super) thinking: Option<Span>,
    pub(super) provider: Option<Span>,
    pub(super) model: Option<Span>,
    pub(super) duration: Option<Span>,
    pub(super) tool_call_id: Option<Span>,
    pub(super) tool: Option<Span>,
    pub(super) analysis: Option<Span>,
    pub(super) result: Option<Span>,
    pub(super) compact_from: Option<Span>,
}

/// One of an assistant's tool calls. The parts are of any type but null.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Call {
    pub(super) element: Span,
    pub(super) id: Option<Span>,
    pub(super) name: Option<Span>,
    pub(super) arguments: Option<Span>,
}

impl Message {
    /// Passes the message ahead, an object. `calls` is emptied, and filled with its tool calls.
    pub(super) fn scan(scanner: &mut Scanner<'_>, calls: &mut Vec<Call>) -> Result<Self, Faulty> {
        calls.clear();
        let mut message = Self::default();
        message.object = scanner.object(|scanner, key| {
            let part = match key {
                b"role" => &mut message.role,
                b"content" => &mut message.content,
                b"id" => &mut message.id,
                b"timestamp" => &mut message.timestamp,
                b"thinking" => &mut message.thinking,
                b"provider" => &mut message.provider,
                b"model" => &mut message.model,
                b"duration" => &mut message.duration,
                b"tool_call_id" => &mut message.tool_call_id,
                b"tool" => &mut message.tool,
                b"analysis" => &mut message.analysis,
                b"result" => &mut message.result,
                b"compact_from" => &mut message.compact_from,
                b"tool_calls" => {
                    calls.clear();
                    return if scanner.peek() == Some(b'[') { Call::scan_all(scanner, calls) } else { pass(scanner) };
                }
                _ => return pass(scanner),
            };
            *part = scanner.value_but_null()?;
            Ok(())
        })?;
        Ok(message)
    }

    /// As [`Self::scan`], of a checked object that is marked.
    pub(super) fn read(object: Text<'_>, nesting: &mut Nesting, calls: &mut Vec<Call>) -> Self {
        Self::scan(&mut Scanner::new(object, nesting), calls).unwrap_or_default()
    }

    pub(super) fn role(&self, bytes: &[u8]) -> Role {
        let Some(role) = self.role.map(|role| role.of(bytes)).filter(|role| is_string(role)) else {
            return Role::Other;
        };
        match &*text(role) {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            "command" => Role::Command,
            "system" => Role::System,
            _ => Role::Other,
        }
    }

    /// The summary of a compaction record, a string; None of any other message.
    pub(super) fn summary<'b>(&self, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
        let result = self.result.filter(|_| self.role(bytes) == Role::Command)?.of(bytes);
        (is_string(result) && result.len() > EMPTY.len()).then(|| text(result))
    }
}

impl Call {
    fn scan_all(scanner: &mut Scanner<'_>, calls: &mut Vec<Self>) -> Result<(), Faulty> {
        scanner.array(|scanner| {
            let mut call = Self::default();
            if scanner.peek() == Some(b'{') {
                call.element = scanner.object(|scanner, key| match key {
                    b"id" => {
                        call.id = scanner.value_but_null()?;
                        Ok(())
                    }
                    b"function" if scanner.peek() == Some(b'{') => call.scan_function(scanner),
                    b"function" => {
                        (call.name, call.arguments) = (None, None);
                        pass(scanner)
                    }
                    _ => pass(scanner),
                })?;
            } else {
                call.element = scanner.value()?;
            }
            calls.push(call);
            Ok(())
        })?;
        Ok(())
    }

    fn scan_function(&mut self, scanner: &mut Scanner<'_>) -> Result<(), Faulty> {
        (self.name, self.arguments) = (None, None);
        scanner.object(|scanner, key| {
            match key {
                b"name" => self.name = scanner.value_but_null()?,
                b"arguments" => self.arguments = scanner.value_but_null()?,
                _ => pass(scanner)?,
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The id by which its result is found; None if that is no text, or empty.
    pub(super) fn key(self, bytes: &[u8]) -> Option<String> {
        self.id.and_then(|id| id_text(id.of(bytes)))
    }
}

/// The text of an id that is one: a string that is not empty.
pub(super) fn id_text(raw: &[u8]) -> Option<String> {
    is_string(raw).then(|| text(raw).into_owned()).filter(|id| !id.is_empty())
}

fn pass(scanner: &mut Scanner<'_>) -> Result<(), Faulty> {
    scanner.value().map(drop)
}
