//! Messages as they are given to whoever is to sum them up: what tools found is folded into the conversation.

use std::borrow::Cow;

use super::context::summary_message;
use super::dumps::{Unicode, dumps};
use super::message::{Call, EMPTY, Message, Role};
use super::session::{Session, joined};
use crate::json::{Nesting, is_string, text};
use crate::marks::{Marked, Text};
use crate::rewrite::{clean, quoted};

impl Session {
    /// The first messages, folded, as a JSON list.
    #[must_use]
    pub fn folded(&self, count: usize) -> Vec<u8> {
        let mut folded = Vec::new();
        self.for_messages(|number, text, message, calls| {
            if number < count {
                folded.extend(fold(text, message, calls));
            }
        });
        self.decodable(joined(folded.iter().map(Vec::as_slice)))
    }
}

/// Messages, each a JSON object, folded, as a JSON list; None if one of them is none.
#[must_use]
pub fn folded<'a>(messages: impl Iterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
    let (mut folded, mut nesting, mut calls) = (Vec::new(), Nesting::default(), Vec::new());
    for json in messages {
        if json.first() != Some(&b'{') {
            return None;
        }
        let marked = Marked::new(json);
        let message = Message::read(marked.text(), &mut nesting, &mut calls);
        folded.extend(fold(marked.text(), &message, &calls));
    }
    Some(clean(&joined(folded.iter().map(Vec::as_slice))))
}

/// What becomes of a message; None if nothing does.
fn fold(message_text: Text<'_>, message: &Message, calls: &[Call]) -> Option<Vec<u8>> {
    let bytes = message_text.bytes();
    if let Some(summary) = message.summary(bytes) {
        return Some(summary_message(&summary));
    }
    let content = message.content.map(|content| content.of(bytes));
    match message.role(bytes) {
        Role::Command => None,
        Role::Assistant if !calls.is_empty() => {
            let content = content.filter(|content| is_string(content) && content.len() > EMPTY.len())?;
            Some([br#"{"role":"assistant","content":"#, content, b"}"].concat())
        }
        Role::Tool => {
            let said = content.map(said).unwrap_or_default();
            Some([br#"{"role":"user","content":"#, &quoted(&format!("[tool result] {said}"))[..], b"}"].concat())
        }
        _ => Some(bytes.to_vec()),
    }
}

/// What a result says: what is no text as JSON, the same however the file spells it.
fn said(content: &[u8]) -> Cow<'_, str> {
    if is_string(content) { text(content) } else { dumps(content, Unicode::Plain).into() }
}
