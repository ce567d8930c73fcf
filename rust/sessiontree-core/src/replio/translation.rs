//! A message of the log in the words that all formats share: as an entry such as Elyra's sessions hold.
//!
//! The one place that says what tables, contexts and transcripts make of a session. What means the same is called the same: a
//! tool's result is a `toolResult`, an assistant's thoughts and tool calls are blocks of its content, a compaction record is a
//! `compaction`. Any other command is a `command`: an entry, but no message.

use std::borrow::Cow;

use super::message::{Call, EMPTY, Message, Role};
use super::session::{List, Session, joined};
use super::time;
use crate::json::{Nesting, Scanner, Span, is_string, text};
use crate::marks::{Marked, Text};
use crate::rewrite::{clean, find, find_in, quoted};
use crate::timestamp;

/// Translates messages, one after the other.
#[derive(Debug, Default)]
pub(super) struct Translator {
    nesting: Nesting,
    calls: Vec<Call>,
    out: Vec<u8>,
}

/// A summary of earlier messages, as a message.
pub(super) fn summary_message(summary: &str) -> Vec<u8> {
    [br#"{"role":"compactionSummary","summary":"#, &quoted(summary)[..], b"}"].concat()
}

impl Session {
    /// The messages as the JSON of entries.
    #[must_use]
    pub fn shared_messages(&self) -> Vec<Vec<u8>> {
        let mut translator = Translator::default();
        let of = |json| translator.entry(Marked::new(json).text()).to_owned();
        self.sound(self.list(List::Messages)).map(of).collect()
    }

    /// The errors as the JSON of entries.
    #[must_use]
    pub fn shared_errors(&self) -> Vec<Vec<u8>> {
        self.sound(self.list(List::Errors)).map(error_entry).collect()
    }
}

/// Messages, each a JSON object, as messages in the words that all formats share, as a JSON list; None if one of them is
/// none.
#[must_use]
pub fn shared<'a>(messages: impl Iterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
    let (mut shared, mut translator) = (Vec::new(), Translator::default());
    for json in messages {
        if json.first() != Some(&b'{') {
            return None;
        }
        shared.push(translator.message(Marked::new(json).text()).to_owned());
    }
    Some(joined(shared.iter().map(Vec::as_slice)))
}

/// An error, a checked object, as the JSON of an entry.
fn error_entry(object: &[u8]) -> Vec<u8> {
    let [code, message, timestamp] = find(object, ["code", "message", "timestamp"]);
    let raw = |span: Option<Span>| span.map(|span| span.of(object));
    let mut out = vec![b'{'];
    member(&mut out, "type", b"\"error\"");
    if let Some(ms) = raw(timestamp).and_then(time_of) {
        member(&mut out, "timestamp", &quoted(&timestamp::format(ms)));
    }
    member_if(&mut out, "code", raw(code));
    member_if(&mut out, "message", raw(message));
    out.push(b'}');
    out
}

impl Translator {
    /// A message, a checked object, as the JSON of one.
    pub(super) fn message(&mut self, object: Text<'_>) -> &[u8] {
        let Self { nesting, calls, out } = self;
        let message = Message::read(object, nesting, calls);
        out.clear();
        write_message(object, &message, calls, nesting, out);
        out
    }

    /// A message, a checked object, as the JSON of an entry.
    pub(super) fn entry(&mut self, object: Text<'_>) -> &[u8] {
        let Self { nesting, calls, out } = self;
        let message = Message::read(object, nesting, calls);
        let bytes = object.bytes();
        let role = message.role(bytes);
        let summary = message.result.filter(|_| message.summary(bytes).is_some());
        let kind: &[u8] = match (role, summary) {
            (Role::Command, Some(_)) => b"\"compaction\"",
            (Role::Command, None) => b"\"command\"",
            _ => b"\"message\"",
        };
        out.clear();
        out.push(b'{');
        member(out, "type", kind);
        member_if(out, "id", message.id.map(|id| id.of(bytes)).filter(|id| is_string(id)));
        if let Some(ms) = message.timestamp.and_then(|time| time_of(time.of(bytes))) {
            member(out, "timestamp", &quoted(&timestamp::format(ms)));
        }
        match (role, summary) {
            (Role::Command, Some(summary)) => member(out, "summary", summary.of(bytes)),
            (Role::Command, None) => member_if(out, "content", message.content.map(|content| content.of(bytes))),
            _ => {
                begin_member(out, "message");
                write_message(object, &message, calls, nesting, out);
            }
        }
        out.push(b'}');
        out
    }
}

/// A time in Unix milliseconds; None unless it is a text that tells one.
fn time_of(raw: &[u8]) -> Option<i64> {
    if is_string(raw) { time(&text(raw)) } else { None }
}

fn write_message(object: Text<'_>, message: &Message, calls: &[Call], nesting: &mut Nesting, out: &mut Vec<u8>) {
    let bytes = object.bytes();
    let raw = |span: Option<Span>| span.map(|span| span.of(bytes));
    let role = message.role(bytes);
    out.push(b'{');
    match role {
        Role::Tool => member(out, "role", b"\"toolResult\""),
        _ => member_if(out, "role", raw(message.role)),
    }
    let content = raw(message.content);
    let content_or = |empty| Some(content.filter(|raw| matches!(raw[0], b'"' | b'[')).unwrap_or(empty));
    match role {
        Role::Assistant => {
            begin_member(out, "content");
            write_answer(bytes, message, calls, out);
        }
        Role::User | Role::Tool => member_if(out, "content", content_or(b"[]")),
        Role::System => member_if(out, "content", content_or(EMPTY)),
        Role::Command | Role::Other => member_if(out, "content", content),
    }
    member_if(out, "provider", raw(message.provider));
    member_if(out, "model", raw(message.model));
    if role == Role::Tool {
        let [is_error] = find_in(object, nesting, ["is_error"]);
        member_if(out, "toolCallId", raw(message.tool_call_id));
        member_if(out, "toolName", raw(message.tool));
        member_if(out, "isError", raw(is_error));
    }
    if let Some(ms) = raw(message.timestamp).and_then(time_of) {
        member(out, "timestamp", ms.to_string().as_bytes());
    }
    out.push(b'}');
}

/// Writes the blocks that an assistant's message is made of: thoughts, words, tool calls.
fn write_answer(bytes: &[u8], message: &Message, calls: &[Call], out: &mut Vec<u8>) {
    let said = |span: Option<Span>| span.map(|span| span.of(bytes)).filter(|raw| is_string(raw) && *raw != EMPTY);
    out.push(b'[');
    if let Some(thinking) = said(message.thinking) {
        begin_block(out, "thinking");
        member(out, "thinking", thinking);
        out.push(b'}');
    }
    if let Some(words) = said(message.content) {
        begin_block(out, "text");
        member(out, "text", words);
        out.push(b'}');
    } else if let Some([b'[', blocks @ .., b']']) = message.content.map(|content| content.of(bytes)) {
        let blocks = blocks.trim_ascii();
        begin_item(out, !blocks.is_empty());
        out.extend_from_slice(blocks);
    }
    for call in calls.iter().filter(|call| call.element.of(bytes).starts_with(b"{")) {
        begin_block(out, "toolCall");
        member_if(out, "id", call.id.map(|id| id.of(bytes)));
        member_if(out, "name", call.name.map(|name| name.of(bytes)));
        if let Some(arguments) = call.arguments.map(|arguments| arguments.of(bytes)) {
            begin_member(out, "arguments");
            write_arguments(arguments, out);
        }
        out.push(b'}');
    }
    out.push(b']');
}

/// Writes what a tool is called with: the JSON that the text is, if it is any.
fn write_arguments(raw: &[u8], out: &mut Vec<u8>) {
    let inner = if is_string(raw) { text(raw) } else { Cow::default() };
    out.extend_from_slice(&json_in(inner.as_bytes()).unwrap_or(Cow::Borrowed(raw)));
}

/// The value that is all there is in a text, if it is JSON: no strict decoder refuses it.
fn json_in(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (marked, mut nesting) = (Marked::new(bytes), Nesting::default());
    let mut scanner = Scanner::new(marked.text(), &mut nesting);
    scanner.space();
    let value = scanner.value().ok()?;
    scanner.space();
    if scanner.peek().is_some() {
        return None;
    }
    let value = value.of(bytes);
    Some(if scanner.has_surrogates() { Cow::Owned(clean(value)) } else { Cow::Borrowed(value) })
}

fn begin_block(out: &mut Vec<u8>, kind: &str) {
    begin_item(out, true);
    out.push(b'{');
    member(out, "type", &quoted(kind));
}

/// Parts an item from the one before it, if there is any.
fn begin_item(out: &mut Vec<u8>, is_there: bool) {
    if is_there && !out.ends_with(b"[") {
        out.push(b',');
    }
}

fn begin_member(out: &mut Vec<u8>, key: &str) {
    if !out.ends_with(b"{") {
        out.push(b',');
    }
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

fn member(out: &mut Vec<u8>, key: &str, json: &[u8]) {
    begin_member(out, key);
    out.extend_from_slice(json);
}

fn member_if(out: &mut Vec<u8>, key: &str, json: Option<&[u8]>) {
    if let Some(json) = json {
        member(out, key, json);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(message: &str) -> String {
        String::from_utf8(Translator::default().entry(Marked::new(message.as_bytes()).text()).to_owned()).unwrap()
    }

    #[test]
    fn each_role_becomes_what_means_the_same() {
        for (message, translated) in [
            (
                r#"{"role":"user","content":"hi","timestamp":"1970-01-01T00:00:01+00:00","id":"m1","odd":1}"#,
                concat!(
                    r#"{"type":"message","id":"m1","timestamp":"1970-01-01T00:00:01.000Z","#,
                    r#""message":{"role":"user","content":"hi","timestamp":1000}}"#
                ),
            ),
            (
                r#"{"role":"tool","content":"4 m","tool_call_id":"c1","tool":"read","timestamp":"soon","is_error":true}"#,
                concat!(
                    r#"{"type":"message","message":{"role":"toolResult","content":"4 m","#,
                    r#""toolCallId":"c1","toolName":"read","isError":true}}"#
                ),
            ),
            (r#"{"role":"command","content":"/model x"}"#, r#"{"type":"command","content":"/model x"}"#),
            (
                r#"{"role":"command","content":"/compact","result":"All of it.","compact_from":2}"#,
                r#"{"type":"compaction","summary":"All of it."}"#,
            ),
            (r#"{"role":"command","content":"/compact","result":""}"#, r#"{"type":"command","content":"/compact"}"#),
            (r#"{"role":"user","content":5}"#, r#"{"type":"message","message":{"role":"user","content":[]}}"#),
            (r#"{"role":"system"}"#, r#"{"type":"message","message":{"role":"system","content":""}}"#),
            (r#"{"role":5,"content":{"a":1}}"#, r#"{"type":"message","message":{"role":5,"content":{"a":1}}}"#),
            ("{ }", r#"{"type":"message","message":{}}"#),
        ] {
            assert_eq!(entry(message), translated, "{message}");
        }
    }

    #[test]
    fn messages_are_translated_without_a_log() {
        let messages = [&br#"{"role":"tool","content":"4 m"}"#[..], br#"{"role":"user","content":"hi"}"#];
        let list = r#"[{"role":"toolResult","content":"4 m"},{"role":"user","content":"hi"}]"#;
        assert_eq!(shared(messages.into_iter()).as_deref(), Some(list.as_bytes()));
        assert_eq!(shared([].into_iter()).as_deref(), Some(&b"[]"[..]));
        assert_eq!(shared([&b"5"[..]].into_iter()), None);
    }

    #[test]
    fn an_error_keeps_its_code_and_its_words() {
        assert_eq!(
            String::from_utf8(error_entry(br#"{"code":503,"message":"busy","timestamp":"1970-01-01 00:00:01"}"#))
                .unwrap(),
            r#"{"type":"error","timestamp":"1970-01-01T00:00:01.000Z","code":503,"message":"busy"}"#
        );
        assert_eq!(error_entry(b"{}"), br#"{"type":"error"}"#);
    }

    #[test]
    fn what_arguments_say_is_what_strict_decoders_take() {
        let translated = entry(r#"{"role":"assistant","tool_calls":[{"function":{"arguments":"[\"\\ud83d\"]"}}]}"#);
        assert!(translated.contains("\"arguments\":[\"\u{fffd}\"]"), "{translated}");
    }

    #[test]
    fn an_answer_is_made_of_blocks() {
        let content = |more: &str| {
            let translated = entry(&format!(r#"{{"role":"assistant",{more}}}"#));
            let start = translated.find(r#""content":"#).unwrap() + r#""content":"#.len();
            translated[start..].trim_end_matches('}').to_owned()
        };
        assert_eq!(content(r#""content":null"#), "[]");
        assert_eq!(
            content(r#""content":"Yes.","thinking":"Hm.""#),
            r#"[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"Yes."}]"#
        );
        assert_eq!(
            content(r#""content":[ {"type":"text","text":"a"}, 5 ],"thinking":"Hm.""#),
            r#"[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"a"}, 5]"#
        );
        assert_eq!(
            content(r#""content":[ ],"tool_calls":[{"id":"c1","function":{"name":"f","arguments":" {\"a\": 1} "}},7]"#),
            r#"[{"type":"toolCall","id":"c1","name":"f","arguments":{"a": 1}}]"#
        );
        assert_eq!(
            content(r#""tool_calls":[{"function":{"arguments":"{cut"}},{"function":{"arguments":{"b":2}}},{}]"#),
            r#"[{"type":"toolCall","arguments":"{cut"},{"type":"toolCall","arguments":{"b":2}},{"type":"toolCall"}]"#
                .trim_end_matches('}')
        );
    }
}
