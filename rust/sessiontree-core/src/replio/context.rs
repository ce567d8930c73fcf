//! What a provider is sent: the messages that the log has for it, behind a summary of those it is spared.

use std::borrow::Cow;
use std::collections::HashSet;

use super::message::{EMPTY, Message, Role, id_text};
use super::session::{Session, joined};
use crate::json::{Nesting, Scanner};
use crate::marks::Marked;
use crate::rewrite::{Change, changed, quoted};

/// What stands before a summary.
const SUMMARY: &str = "Summary of earlier conversation:\n\n";

/// The keys of a message that providers know.
const SENT: [&str; 5] = ["role", "content", "name", "tool_calls", "tool_call_id"];

/// How the messages are to be made fit for a provider, beyond what Replio does.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContextOptions {
    /// Leave out tool calls without a result, and messages that hold nothing else.
    pub drop_unanswered: bool,
    /// Leave out the keys that providers do not know.
    pub strip: bool,
    /// Keep the system messages that the log begins with, before the summary.
    pub keep_system: bool,
}

/// What the compaction records of a log say, taken together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Compactions {
    /// That of the last record.
    pub(super) summary: Option<String>,
    /// From which message on the log is sent: the largest that any record names.
    pub(super) boundary: usize,
}

/// A summary, as the message that it is sent as.
pub(super) fn summary_message(summary: &str) -> Vec<u8> {
    let content = quoted(&format!("{SUMMARY}{summary}"));
    [br#"{"role":"system","content":"#, &content[..], b"}"].concat()
}

/// What is to be sent.
pub(super) struct Selection<'s> {
    /// System messages that stand before all others.
    system: Vec<Cow<'s, [u8]>>,
    pub(super) summary: Option<String>,
    pub(super) sent: Vec<Cow<'s, [u8]>>,
}

/// A message that is to be sent.
struct Sent<'s> {
    json: Cow<'s, [u8]>,
    /// By what its calls are known.
    calls: Vec<Option<String>>,
    /// By what the call is known that it answers.
    answers: Option<String>,
}

impl Session {
    /// Whether the log has a compaction record.
    #[must_use]
    pub fn has_summary(&self) -> bool {
        self.compactions().summary.is_some()
    }

    pub(super) fn compactions(&self) -> Compactions {
        let mut found = Compactions::default();
        self.for_messages(|_, message_text, message, _| {
            let bytes = message_text.bytes();
            if let Some(summary) = message.summary(bytes) {
                found.summary = Some(summary.into_owned());
                found.boundary = found.boundary.max(boundary(message, bytes));
            }
        });
        found
    }

    /// The messages that a provider is sent, as a JSON list.
    #[must_use]
    pub fn provider_messages(&self, options: ContextOptions) -> Vec<u8> {
        let Selection { system, summary, sent } = self.select(options);
        let summary = summary.map(|summary| Cow::Owned(summary_message(&summary)));
        let messages = system.into_iter().chain(summary).chain(sent);
        let strip = |json: Cow<'_, [u8]>| if options.strip { stripped(&json) } else { json.into_owned() };
        let messages: Vec<_> = messages.map(strip).collect();
        self.decodable(joined(messages.iter().map(Vec::as_slice)))
    }

    /// What is sent, each message as the log has it.
    pub(super) fn select(&self, options: ContextOptions) -> Selection<'_> {
        let Compactions { summary, boundary } = self.compactions();
        let (mut system, mut sent, mut known) = (Vec::new(), Vec::new(), HashSet::new());
        let mut is_beginning = options.keep_system;
        self.for_messages(|number, text, message, calls| {
            let bytes = text.bytes();
            let role = message.role(bytes);
            let json = Cow::Borrowed(self.message(number));
            is_beginning &= role == Role::System;
            if is_beginning {
                system.push(json);
            } else if number >= boundary && role != Role::Command {
                let mut one = Sent { json, calls: Vec::new(), answers: None };
                match role {
                    Role::Assistant => {
                        one.calls = calls.iter().map(|call| call.key(bytes)).collect();
                        known.extend(one.calls.iter().flatten().cloned());
                    }
                    Role::Tool => {
                        one.answers = message.tool_call_id.and_then(|id| id_text(id.of(bytes)));
                        if one.answers.as_ref().is_none_or(|id| !known.contains(id)) {
                            return;
                        }
                    }
                    _ => {}
                }
                sent.push(one);
            }
        });
        if options.drop_unanswered {
            drop_unanswered(&mut sent);
        }
        Selection { system, summary, sent: sent.into_iter().map(|one| one.json).collect() }
    }
}

/// From which message on the log is sent, as a record has it; 0 where it names none.
pub(super) fn boundary(message: &Message, bytes: &[u8]) -> usize {
    let Some(raw) = message.compact_from.map(|index| index.of(bytes)) else { return 0 };
    let is_whole = raw.iter().all(u8::is_ascii_digit);
    // One that is too large for a number lies behind any end.
    if is_whole { str::from_utf8(raw).map_or(0, |digits| digits.parse().unwrap_or(usize::MAX)) } else { 0 }
}

/// Leaves out the calls that no later result answers, and the messages that are nothing else.
fn drop_unanswered(sent: &mut Vec<Sent<'_>>) {
    let mut answered = HashSet::new();
    let mut is_empty = vec![false; sent.len()];
    for (message, is_empty) in sent.iter_mut().zip(&mut is_empty).rev() {
        answered.extend(message.answers.take());
        let kept: Vec<_> = message.calls.iter().map(|id| id.as_ref().is_some_and(|id| answered.contains(id))).collect();
        if kept.contains(&false) {
            match with_calls(&message.json, &kept) {
                Some(json) => message.json = Cow::Owned(json),
                None => *is_empty = true,
            }
        }
    }
    let mut is_empty = is_empty.into_iter();
    sent.retain(|_| !is_empty.next().unwrap_or_default());
}

/// A message with some of its calls; None if it is nothing without the others.
fn with_calls(json: &[u8], is_kept: &[bool]) -> Option<Vec<u8>> {
    let (marked, mut nesting, mut calls) = (Marked::new(json), Nesting::default(), Vec::new());
    let message = Message::read(marked.text(), &mut nesting, &mut calls);
    let kept: Vec<_> =
        calls.iter().zip(is_kept).filter(|(_, kept)| **kept).map(|(call, _)| call.element.of(json)).collect();
    if !kept.is_empty() {
        return Some(changed(json, &[("tool_calls", Change::Set(&joined(kept.into_iter())))]));
    }
    let says_something = message.content.is_some_and(|content| content.of(json) != EMPTY);
    says_something.then(|| changed(json, &[("tool_calls", Change::Remove)]))
}

/// A message with the keys that providers know, and no others.
fn stripped(json: &[u8]) -> Vec<u8> {
    let mut out = vec![b'{'];
    let (marked, mut nesting) = (Marked::new(json), Nesting::default());
    _ = Scanner::new(marked.text(), &mut nesting).members(|scanner, key| {
        let value = scanner.value()?;
        if SENT.into_iter().any(|sent| sent.as_bytes() == &*key.word(json)) {
            out.extend_from_slice(if out.len() > 1 { b"," } else { b"" });
            out.extend([key.of(json), b":", value.of(json)].concat());
        }
        Ok(())
    });
    out.push(b'}');
    out
}
