//! What the algorithms read of a message, whatever program wrote it.

use crate::json::{Span, text};

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
#[derive(Debug)]
pub(crate) struct Message {
    /// The message itself.
    pub(crate) span: Span,
    /// None unless it is a string.
    pub(crate) role: Option<Role>,
    /// Whether its content is a string or a list.
    pub(crate) has_content: bool,
    /// Its string content, or the texts of its text blocks.
    pub(crate) texts: Vec<Span>,
    pub(crate) timestamp: Option<Span>,
    /// Of any type but null.
    pub(crate) usage: Option<Span>,
    /// A tool result's `details.modelUsage`, of any type.
    pub(crate) model_usage: Option<Span>,
    pub(crate) provider: Option<Span>,
    pub(crate) model: Option<Span>,
    pub(crate) response_id: Option<Span>,
    /// The role as it stands there.
    pub(crate) role_name: Option<Span>,
    pub(crate) stop_reason: Option<Span>,
    pub(crate) tool_call_id: Option<Span>,
    pub(crate) tool_name: Option<Span>,
    /// Of any type but null.
    pub(crate) is_error: Option<Span>,
}

impl Message {
    pub(crate) fn is_spoken(&self) -> bool {
        matches!(self.role, Some(Role::User | Role::Assistant))
    }

    /// The text: the string content, or the text blocks joined by one blank. Empty when it has none.
    pub(crate) fn text(&self, line: &[u8]) -> String {
        let mut joined = String::new();
        for (index, span) in self.texts.iter().enumerate() {
            if index > 0 {
                joined.push(' ');
            }
            joined.push_str(&text(span.of(line)));
        }
        joined
    }
}
