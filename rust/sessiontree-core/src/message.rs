//! What the algorithms read of a message, whatever program wrote it.

use crate::json::{Faulty, Nesting, Scanner, Span, for_pieces, is_string};
use crate::marks::Text;
use crate::usage;

/// Who speaks. The algorithms tell these apart; all others are alike to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    Assistant,
    ToolResult,
    System,
    /// What `custom` was called once.
    Hook,
    Other,
}

impl Role {
    pub(crate) fn named(name: &[u8]) -> Self {
        match name {
            b"user" => Self::User,
            b"assistant" => Self::Assistant,
            b"toolResult" => Self::ToolResult,
            b"system" => Self::System,
            b"hookMessage" => Self::Hook,
            _ => Self::Other,
        }
    }

    /// What a message of the role is read with, as JSON, where it has no content; None if it may lack one.
    pub(crate) fn empty_content(self) -> Option<&'static [u8]> {
        match self {
            Self::User | Self::Assistant | Self::ToolResult => Some(b"[]"),
            Self::System => Some(b"\"\""),
            Self::Hook | Self::Other => None,
        }
    }
}

/// Where the parts of a message stand in its line. What is missing or of a wrong type is None.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message {
    /// The message itself.
    pub(crate) object: Span,
    /// None unless it is a string.
    pub(crate) role: Option<Role>,
    /// A string or a list.
    pub(crate) content: Option<Span>,
    pub(crate) timestamp: Option<Span>,
    pub(crate) usage: Option<usage::Raw>,
    /// Of any type but null.
    pub(crate) details: Option<Span>,
    pub(crate) provider: Option<Span>,
    pub(crate) model: Option<Span>,
    pub(crate) response_id: Option<Span>,
}

impl Message {
    pub(crate) fn is_spoken(&self) -> bool {
        matches!(self.role, Some(Role::User | Role::Assistant))
    }

    /// The text: the string content, or the text blocks joined by one blank. Empty when it has none.
    pub(crate) fn text(&self, line: Text<'_>, nesting: &mut Nesting) -> String {
        let mut joined = String::new();
        self.for_pieces(line, nesting, |piece| joined.push_str(piece));
        joined
    }

    /// Calls `each` with the pieces that make up the text.
    pub(crate) fn for_pieces(&self, line: Text<'_>, nesting: &mut Nesting, each: impl FnMut(&str)) {
        if let Some(content) = self.content {
            for_text_pieces(line.part(content.range()), nesting, each);
        }
    }
}

/// Calls `each` with the pieces of the text of a content, a checked string or list.
pub(crate) fn for_text_pieces(content: Text<'_>, nesting: &mut Nesting, mut each: impl FnMut(&str)) {
    if is_string(content.bytes()) {
        for_pieces(content.bytes(), each);
        return;
    }
    let mut is_first = true;
    let walked = Scanner::new(content, nesting).array(|scanner| {
        if let Some(words) = text_block(scanner, content.bytes())? {
            if !std::mem::take(&mut is_first) {
                each(" ");
            }
            for_pieces(words.of(content.bytes()), &mut each);
        }
        Ok(())
    });
    debug_assert!(walked.is_ok(), "it was scanned before");
}

/// The text of the block ahead; None if it is no text block.
fn text_block(scanner: &mut Scanner<'_>, line: &[u8]) -> Result<Option<Span>, Faulty> {
    if scanner.peek() != Some(b'{') {
        scanner.value()?;
        return Ok(None);
    }
    let (mut is_text, mut words) = (false, None);
    scanner.object(|scanner, key| {
        match key {
            b"type" => is_text = scanner.string_value()?.is_some_and(|span| *span.word(line) == *b"text"),
            b"text" => words = scanner.string_value()?,
            _ => _ = scanner.value()?,
        }
        Ok(())
    })?;
    Ok(words.filter(|_| is_text))
}
