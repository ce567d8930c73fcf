//! A session to Markdown, as Replio exports it.

use std::borrow::Cow;

use super::dumps::{Unicode, dumps};
use super::message::{Call, EMPTY, Message, Role};
use super::session::{Lists, Session};
use super::turns::{Kind, Part, Turn};
use super::{shown, time};
use crate::json::{Nesting, Span, is_string, text};
use crate::marks::Marked;
use crate::rewrite::find;

/// What stands for the name of a tool that has none.
const NAMELESS: &str = "?";

impl Session {
    /// The log as Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let (name, created_at, updated_at) = (self.name(), self.created_at(), self.updated_at());
        let head = Head { name, created_at, updated_at };
        let Lists { messages, turns, errors, .. } = &self.lists;
        let sound = |elements| self.sound(elements).collect::<Vec<_>>();
        let errors = sound(errors);
        if self.has_turns() {
            of_turns(head, &sound(turns), &errors)
        } else {
            of_messages(head, &sound(messages), &errors)
        }
    }
}

/// What a page begins with.
#[derive(Clone, Copy)]
struct Head<'a> {
    name: &'a str,
    created_at: &'a str,
    updated_at: &'a str,
}

/// The page of a log that has these messages and errors, each the JSON of one object.
fn of_messages(head: Head<'_>, messages: &[&[u8]], errors: &[&[u8]]) -> String {
    let mut page = Page::new(head, "Messages", messages.len());
    let (mut nesting, mut calls) = (Nesting::default(), Vec::new());
    for bytes in messages {
        let message = Message::read(Marked::new(bytes).text(), &mut nesting, &mut calls);
        page.message(bytes, &message, &calls);
    }
    page.errors(errors);
    page.finish()
}

/// As [`of_messages`], of one that has these turns.
fn of_turns(head: Head<'_>, turns: &[&[u8]], errors: &[&[u8]]) -> String {
    let mut page = Page::new(head, "Turns", turns.len());
    let mut nesting = Nesting::default();
    for bytes in turns {
        let turn = Turn::read(Marked::new(bytes).text(), &mut nesting);
        let duration = duration(bytes, &turn);
        for part in &turn.parts {
            page.part(bytes, &turn, part, duration.as_deref());
        }
    }
    page.errors(errors);
    page.finish()
}

/// How long a turn took, in seconds with one decimal.
fn duration(bytes: &[u8], turn: &Turn) -> Option<String> {
    let ms = |at: Option<Span>| time(&said(Some(at?.of(bytes)))?);
    let passed = ms(turn.ended_at)? - ms(turn.started_at)?;
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of ten thousand years are below 2^53")]
    Some(format!("{:.1}", passed as f64 / 1000.0))
}

/// What a string says; None if it says nothing, or the value is none.
fn said(raw: Option<&[u8]>) -> Option<Cow<'_, str>> {
    raw.filter(|raw| is_string(raw)).map(text).filter(|text| !text.is_empty())
}

/// A value that is not the empty string.
fn filled(raw: Option<&[u8]>) -> Option<&[u8]> {
    raw.filter(|raw| *raw != EMPTY)
}

/// Markdown that is being written. All lines have their end.
struct Page(String);

impl Page {
    fn new(head: Head<'_>, elements: &str, count: usize) -> Self {
        let Head { name, created_at, updated_at } = head;
        let facts = format!("- Created: {created_at}\n- Updated: {updated_at}\n- {elements}: {count}\n");
        Self(format!("# Session: {name}\n\n{facts}\n---\n\n"))
    }

    /// Without the white space at the end.
    fn finish(self) -> String {
        let Self(mut text) = self;
        text.truncate(text.trim_end_matches(is_space).len());
        text.push('\n');
        text
    }

    fn message(&mut self, bytes: &[u8], message: &Message, calls: &[Call]) {
        let of = |part: Option<Span>| part.map(|part| part.of(bytes));
        let (content, timestamp) = (of(message.content), of(message.timestamp));
        match message.role(bytes) {
            Role::User => self.user(timestamp, content),
            Role::System => self.system(timestamp, content),
            Role::Assistant => {
                self.heading("Assistant", timestamp);
                let duration = of(message.duration).filter(|raw| matches!(raw[0], b'-' | b'0'..=b'9')).map(shown);
                self.meta(of(message.provider), of(message.model), duration.as_deref());
                if let Some(thinking) = filled(of(message.thinking)) {
                    self.line(&["> _Thinking:_"]);
                    self.value(Some(thinking), Self::quote);
                    self.line(&[]);
                }
                if let Some(content) = filled(content) {
                    self.value(Some(content), |page, text| page.line(&[text]));
                }
                for call in calls {
                    self.line(&[]);
                    self.call(of(call.name));
                    self.value(of(call.arguments), |page, arguments| page.fence("json", arguments));
                }
            }
            Role::Tool => {
                self.tool(of(message.tool), timestamp);
                self.result(of(message.analysis), content);
            }
            Role::Command => {
                let boundary = of(message.compact_from).map(|index| format!("message index {}", shown(index)));
                self.command(timestamp, content, of(message.result), boundary.as_deref());
            }
            Role::Other => return,
        }
        self.line(&[]);
    }

    fn part(&mut self, bytes: &[u8], turn: &Turn, part: &Part, duration: Option<&str>) {
        let of = |part: Option<Span>| part.map(|part| part.of(bytes));
        let (content, timestamp) = (of(part.text), of(part.timestamp));
        match part.kind {
            Kind::User => self.user(timestamp, content),
            Kind::System => self.system(timestamp, content),
            Kind::Thinking => {
                self.heading("Thinking", timestamp);
                self.value(content, Self::quote);
            }
            Kind::Text => {
                self.heading("Assistant", timestamp);
                self.meta(of(turn.provider), of(turn.model), duration);
                if let Some(content) = filled(content) {
                    self.value(Some(content), |page, text| page.line(&[text]));
                }
            }
            Kind::Tool => {
                self.tool(of(part.name), timestamp);
                if let Some(input) = of(part.input) {
                    self.call(of(part.name));
                    self.fence("json", &dumps(input, Unicode::Escaped));
                    self.line(&[]);
                }
                self.result(of(part.analysis), of(part.output));
            }
            Kind::Command => {
                let boundary = of(part.compact_from).map(|index| format!("turn {}", shown(index)));
                self.command(timestamp, content, of(part.summary), boundary.as_deref());
            }
        }
        self.line(&[]);
    }

    fn user(&mut self, timestamp: Option<&[u8]>, content: Option<&[u8]>) {
        self.heading("User", timestamp);
        self.value(content, |page, text| page.line(&[text]));
    }

    fn system(&mut self, timestamp: Option<&[u8]>, content: Option<&[u8]>) {
        self.heading("System", timestamp);
        self.value(content, Self::quote);
    }

    /// Which model took how many seconds.
    fn meta(&mut self, provider: Option<&[u8]>, model: Option<&[u8]>, duration: Option<&str>) {
        let names = [said(provider), said(model)].into_iter().flatten().collect::<Vec<_>>().join(":");
        let seconds = duration.map(|duration| format!("{duration}s")).unwrap_or_default();
        let between = if names.is_empty() || seconds.is_empty() { "" } else { " \u{b7} " };
        if !names.is_empty() || !seconds.is_empty() {
            self.line(&["*", &names, between, &seconds, "*"]);
            self.line(&[]);
        }
    }

    /// The heading of a tool's result.
    fn tool(&mut self, name: Option<&[u8]>, timestamp: Option<&[u8]>) {
        let name = said(name).unwrap_or(NAMELESS.into());
        self.heading(&format!("Tool: {name}"), timestamp);
    }

    /// The heading of a call.
    fn call(&mut self, name: Option<&[u8]>) {
        self.line(&["**Tool call: ", &said(name).unwrap_or(NAMELESS.into()), "**"]);
        self.line(&[]);
    }

    fn result(&mut self, analysis: Option<&[u8]>, content: Option<&[u8]>) {
        if let Some(analysis) = said(analysis) {
            self.line(&["> _Analysis: ", &analysis, "_"]);
            self.line(&[]);
        }
        self.value(content, |page, text| page.fence("text", text));
    }

    fn command(
        &mut self,
        timestamp: Option<&[u8]>,
        content: Option<&[u8]>,
        summary: Option<&[u8]>,
        boundary: Option<&str>,
    ) {
        self.heading("Command", timestamp);
        if let Some(content) = filled(content) {
            self.value(Some(content), |page, command| page.line(&["`", command, "`"]));
        }
        if let Some(summary) = said(summary) {
            self.line(&[]);
            self.line(&["Earlier conversation (summarized):"]);
            self.line(&[]);
            self.quote(&summary);
        }
        if let Some(boundary) = boundary {
            self.line(&[]);
            self.line(&["Provider context trimmed at ", boundary, "."]);
        }
    }

    fn errors(&mut self, errors: &[&[u8]]) {
        if !errors.is_empty() {
            self.line(&["## Errors"]);
            self.line(&[]);
        }
        for error in errors {
            let [code, message, timestamp] = find(error, ["code", "message", "timestamp"]).map(|value| {
                value.map(|value| value.of(error)).filter(|raw| raw != b"null").map(shown).unwrap_or_default()
            });
            self.line(&["- `", &code, "` ", &message, " at ", &timestamp]);
        }
    }

    fn heading(&mut self, title: &str, timestamp: Option<&[u8]>) {
        self.line(&["### ", title, " - ", &said(timestamp).unwrap_or_default()]);
        self.line(&[]);
    }

    /// Writes a value: the text that it is, empty if there is none, by `write`; any other as JSON.
    fn value(&mut self, raw: Option<&[u8]>, write: impl FnOnce(&mut Self, &str)) {
        match raw {
            None => write(self, ""),
            Some(string) if is_string(string) => write(self, &text(string)),
            Some(value) => self.fence("json", &dumps(value, Unicode::Plain)),
        }
    }

    /// A line made of these pieces.
    fn line(&mut self, pieces: &[&str]) {
        self.0.extend(pieces.iter().copied());
        self.0.push('\n');
    }

    /// A text as a quotation; nothing if it is empty.
    fn quote(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let (line, behind) = first_line(rest);
            self.line(&[if line.is_empty() { ">" } else { "> " }, line]);
            rest = behind;
        }
    }

    /// A text between fences that are longer than any in it.
    fn fence(&mut self, language: &str, content: &str) {
        let fence = "`".repeat(longest_run(content).max(2) + 1);
        self.line(&[&fence, language]);
        self.line(&[content]);
        self.line(&[&fence]);
    }
}

/// How many backticks stand together at the most.
fn longest_run(text: &str) -> usize {
    let (mut longest, mut rest) = (0, text.as_bytes());
    while let Some(at) = memchr::memchr(b'`', rest) {
        rest = &rest[at..];
        let run = rest.iter().take_while(|&&byte| byte == b'`').count();
        longest = longest.max(run);
        rest = &rest[run..];
    }
    longest
}

/// A text's first line and what is behind it, by Python's notion of a line's end.
fn first_line(text: &str) -> (&str, &str) {
    let ends_line = |character| matches!(character, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let Some(end) = text.find(ends_line) else { return (text, "") };
    let (line, rest) = text.split_at(end);
    let mut behind = rest.chars();
    behind.next();
    (line, rest.strip_prefix("\r\n").unwrap_or(behind.as_str()))
}

/// Whether Python takes it for white space: four separators more than Unicode does.
fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\x1c'..='\x1f')
}
#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head<'_> = Head { name: "s", created_at: "then", updated_at: "now" };

    /// What follows the head, without the line's end.
    fn messages(messages: &[&str]) -> String {
        body(&of_messages(HEAD, &messages.iter().map(|message| message.as_bytes()).collect::<Vec<_>>(), &[]))
    }

    fn turn(turn: &str) -> String {
        body(&of_turns(HEAD, &[turn.as_bytes()], &[]))
    }

    fn body(page: &str) -> String {
        page.split_once("---\n").unwrap().1.trim_matches('\n').to_owned()
    }

    #[test]
    fn the_head_counts_all_messages_and_errors_come_last() {
        let unknown = ["{}", r#"{"role":"developer","content":"x"}"#].map(str::as_bytes);
        let errors = [r#"{"code":401,"message":"a\nb","timestamp":"t"}"#, r#"{"code":null}"#].map(str::as_bytes);
        assert_eq!(
            of_messages(HEAD, &unknown, &errors),
            "# Session: s\n\n- Created: then\n- Updated: now\n- Messages: 2\n\n---\n\n\
             ## Errors\n\n- `401` a\nb at t\n- ``  at\n"
        );
        assert_eq!(of_turns(HEAD, &[], &[]), "# Session: s\n\n- Created: then\n- Updated: now\n- Turns: 0\n\n---\n");
    }

    #[test]
    fn an_assistant_tells_of_its_model_its_thoughts_and_its_calls() {
        let message = r#"{"role":"assistant","timestamp":"t","provider":"p","model":"m","duration":8.0,"thinking":"a\n\nb",
            "content":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":null}]}"#;
        assert_eq!(
            messages(&[message]),
            "### Assistant - t\n\n*p:m \u{b7} 8.0s*\n\n> _Thinking:_\n> a\n>\n> b\n\n\n\
             **Tool call: f**\n\n```json\n{}\n```\n\n**Tool call: ?**\n\n```json\n\n```"
        );
        assert_eq!(
            messages(&[r#"{"role":"assistant","model":"","duration":0,"content":"x"}"#]),
            "### Assistant - \n\n*0s*\n\nx"
        );
    }

    #[test]
    fn a_command_tells_what_became_of_the_context() {
        let command = r#"{"role":"command","content":"/compact","result":"sum","compact_from":3}"#;
        assert_eq!(
            messages(&[command]),
            "### Command - \n\n`/compact`\n\nEarlier conversation (summarized):\n\n> sum\n\n\
             Provider context trimmed at message index 3."
        );
    }

    #[test]
    fn what_is_no_text_is_shown_as_json() {
        for (message, block) in [
            (r#"{"role":"user","content":null}"#, "### User -"),
            (
                r#"{"role":"user","content":"x","content":[ 1,"\u00e9" ]}"#,
                "### User - \n\n```json\n[1, \"\u{e9}\"]\n```",
            ),
            (r#"{"role":"system","content":{},"timestamp":7}"#, "### System - \n\n```json\n{}\n```"),
            (r#"{"role":"command","content":false}"#, "### Command - \n\n```json\nfalse\n```"),
            (r#"{"role":"assistant","thinking":1}"#, "### Assistant - \n\n> _Thinking:_\n```json\n1\n```"),
            (r#"{"role":"tool","tool":1,"analysis":2,"content":3}"#, "### Tool: ? - \n\n```json\n3\n```"),
        ] {
            assert_eq!(messages(&[message]), block, "{message}");
        }
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        for (content, fence) in [("", "```"), ("``", "```"), ("```", "````"), ("` ````` ```", "``````")] {
            let message = format!(r#"{{"role":"tool","tool":"t","content":"{content}"}}"#);
            assert_eq!(messages(&[&message]), format!("### Tool: t - \n\n{fence}text\n{content}\n{fence}"));
        }
    }

    #[test]
    fn lines_and_white_space_are_what_python_takes_for_them() {
        let mut page = Page(String::new());
        page.quote("a\r\n\rb\x0b\x0c\x1c\x1d\x1e\x1f\u{85}c\u{2028}d\u{2029}\n");
        assert_eq!(page.0, "> a\n>\n> b\n>\n>\n>\n>\n> \x1f\n> c\n> d\n>\n");
        assert_eq!(Page("x \x1c\x1d\x1e\x1f\u{a0}\u{3000}\n".to_owned()).finish(), "x\n");
    }

    #[test]
    fn the_parts_of_a_turn_are_blocks() {
        let parts = r#"{"type":"thinking","text":"hm"},{"type":"text","text":"x"},7,{"type":"other","text":"y"},
            {"type":"tool","name":"f","input":{"a":"\u00e9"},"output":"o","analysis":"n"},{"type":"tool"},
            {"type":"command","text":"/compact","summary":"sum","compact_from":2}"#;
        let facts = r#""provider":"p","started_at":"2031-01-01T00:00:00+00:00","ended_at":"2031-01-01T00:01:00.250Z""#;
        assert_eq!(
            turn(&format!(r#"{{{facts},"parts":[{parts}]}}"#)),
            "### Thinking - \n\n> hm\n\n### Assistant - \n\n*p \u{b7} 60.2s*\n\nx\n\n\
             ### Tool: f - \n\n**Tool call: f**\n\n```json\n{\"a\": \"\\u00e9\"}\n```\n\n> _Analysis: n_\n\n```text\no\n```\n\n\
             ### Tool: ? - \n\n```text\n\n```\n\n### Command - \n\n`/compact`\n\n\
             Earlier conversation (summarized):\n\n> sum\n\nProvider context trimmed at turn 2."
        );
    }
}
