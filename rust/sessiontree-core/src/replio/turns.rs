//! The later form of a log, turns of parts: what stands in it, and the messages that it stands for.

use std::borrow::Cow;
use std::ops::Range;

use super::document::{Key, Outline};
use super::dumps::{Unicode, dumps};
use super::message::EMPTY;
use super::shown;
use crate::json::{Faulty, Nesting, Scanner, Span, is_string};
use crate::marks::Text;
use crate::rewrite::quoted;

/// The longest model, provider, mode or reasoning of a turn that is told, in bytes: each of its messages repeats them, so a
/// file whose names are long would grow beyond all measure.
const LONGEST_NAME: usize = 256;

/// How many calls one message makes at the most: one of millions would be longer than a text may be.
const MOST_CALLS: usize = 10_000;

/// A turn: what was asked, and all that was done about it. Its parts are of any type but null.
#[derive(Debug, Default)]
pub(super) struct Turn {
    index: Option<Span>,
    pub(super) started_at: Option<Span>,
    pub(super) ended_at: Option<Span>,
    pub(super) model: Option<Span>,
    pub(super) provider: Option<Span>,
    mode: Option<Span>,
    reasoning: Option<Span>,
    /// Those of a kind that is known.
    pub(super) parts: Vec<Part>,
}

/// A part of a turn. What it has is of any type but null.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    /// Where it begins.
    start: usize,
    /// Its number in the turn, from 0, those of no known kind counted.
    position: usize,
    pub(super) timestamp: Option<Span>,
    pub(super) text: Option<Span>,
    pub(super) name: Option<Span>,
    pub(super) input: Option<Span>,
    pub(super) output: Option<Span>,
    is_error: Option<Span>,
    pub(super) analysis: Option<Span>,
    pub(super) summary: Option<Span>,
    pub(super) compact_from: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Text,
    Thinking,
    System,
    /// A call and its result.
    Tool,
    Command,
}

impl Turn {
    /// Passes the turn ahead, an object of `bytes`.
    fn scan(scanner: &mut Scanner<'_>, bytes: &[u8]) -> Result<Self, Faulty> {
        let mut turn = Self::default();
        scanner.object(|scanner, key| {
            let fact = match key {
                b"index" => &mut turn.index,
                b"started_at" => &mut turn.started_at,
                b"ended_at" => &mut turn.ended_at,
                b"model" => &mut turn.model,
                b"provider" => &mut turn.provider,
                b"mode" => &mut turn.mode,
                b"reasoning" => &mut turn.reasoning,
                b"parts" => {
                    turn.parts.clear();
                    return if scanner.peek() == Some(b'[') {
                        Part::scan_all(scanner, bytes, &mut turn.parts)
                    } else {
                        scanner.value().map(drop)
                    };
                }
                _ => return scanner.value().map(drop),
            };
            *fact = scanner.value_but_null()?;
            Ok(())
        })?;
        for name in [&mut turn.model, &mut turn.provider, &mut turn.mode, &mut turn.reasoning] {
            *name = name.filter(|name| name.range().len() <= LONGEST_NAME);
        }
        Ok(turn)
    }

    /// As [`Self::scan`], of a checked object that is marked.
    pub(super) fn read(object: Text<'_>, nesting: &mut Nesting) -> Self {
        Self::scan(&mut Scanner::new(object, nesting), object.bytes()).unwrap_or_default()
    }

    /// Its index, if that is a whole number.
    fn index(&self, bytes: &[u8]) -> Option<i64> {
        str::from_utf8(self.index?.of(bytes)).ok()?.parse().ok()
    }

    /// The messages that it stands for, in their order.
    fn messages(&self, bytes: &[u8]) -> Vec<Derived> {
        let mut messages = Vec::new();
        // Where what is said begins that no message has yet.
        let (mut said, mut at) = (0, 0);
        while let Some(part) = self.parts.get(at) {
            match part.kind {
                Kind::User | Kind::System | Kind::Command => messages.push(Derived::Part(at)),
                Kind::Text | Kind::Thinking => {}
                Kind::Tool => {
                    let run = self.parts[at..].iter().take(MOST_CALLS).zip(part.position..);
                    let is_next =
                        |(next, position): &(&Part, usize)| next.kind == Kind::Tool && next.position == *position;
                    let count = run.take_while(is_next).count();
                    let calls = at..at + count;
                    messages.push(Derived::Assistant { said: said..at, calls: calls.clone() });
                    messages.extend(calls.map(Derived::Result));
                    at += count;
                    said = at;
                    continue;
                }
            }
            at += 1;
        }
        let is_said = |part: &Part| match part.kind {
            Kind::Text => true,
            Kind::Thinking => part.text.is_some_and(|text| text.of(bytes) != EMPTY),
            _ => false,
        };
        if self.parts[said..].iter().any(is_said) {
            messages.push(Derived::Assistant { said: said..at, calls: at..at });
        }
        messages
    }
}

impl Part {
    fn scan_all(scanner: &mut Scanner<'_>, bytes: &[u8], parts: &mut Vec<Self>) -> Result<(), Faulty> {
        let mut position = 0;
        scanner.array(|scanner| {
            if scanner.peek() == Some(b'{') {
                parts.extend(Self::scan(scanner, bytes, position)?);
            } else {
                scanner.value()?;
            }
            position += 1;
            Ok(())
        })?;
        Ok(())
    }

    /// Passes the part ahead, an object; None if its kind is not known.
    fn scan(scanner: &mut Scanner<'_>, bytes: &[u8], position: usize) -> Result<Option<Self>, Faulty> {
        let mut kind = None;
        let mut part = Self {
            kind: Kind::Text,
            start: scanner.at(),
            position,
            timestamp: None,
            text: None,
            name: None,
            input: None,
            output: None,
            is_error: None,
            analysis: None,
            summary: None,
            compact_from: None,
        };
        scanner.object(|scanner, key| {
            let fact = match key {
                b"type" => {
                    kind = scanner.string_value()?.and_then(|name| Kind::named(&name.word(bytes)));
                    return Ok(());
                }
                b"timestamp" => &mut part.timestamp,
                b"text" => &mut part.text,
                b"name" => &mut part.name,
                b"input" => &mut part.input,
                b"output" => &mut part.output,
                b"is_error" => &mut part.is_error,
                b"analysis" => &mut part.analysis,
                b"summary" => &mut part.summary,
                b"compact_from" => &mut part.compact_from,
                _ => return scanner.value().map(drop),
            };
            *fact = scanner.value_but_null()?;
            Ok(())
        })?;
        Ok(kind.map(|kind| Self { kind, ..part }))
    }
}

impl Kind {
    fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"user" => Self::User,
            b"text" => Self::Text,
            b"thinking" => Self::Thinking,
            b"system" => Self::System,
            b"tool" => Self::Tool,
            b"command" => Self::Command,
            _ => return None,
        })
    }
}

/// What a message is made of: places among the parts of its turn.
enum Derived {
    /// Of a user, the system or a command.
    Part(usize),
    /// Of the texts and thoughts of some parts, and the calls of others.
    Assistant { said: Range<usize>, calls: Range<usize> },
    /// Of a tool.
    Result(usize),
}

/// Messages, one after the other, as JSON.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) text: Vec<u8>,
    pub(super) elements: Vec<Range<usize>>,
    /// Of each, where in the document the first part begins that it was made of.
    pub(super) places: Vec<usize>,
}

/// The messages that a document's turns stand for.
///
/// Consecutive tool parts are the calls of one message, with what was said since the calls before, and their results; what is
/// said last is a message of its own. A compaction's boundary, the index of a turn, becomes that of the turn's first message.
pub(super) fn to_messages(document: Text<'_>, outline: &Outline, nesting: &mut Nesting) -> Messages {
    let Some(value) = outline.value(Key::Turns, document.bytes()) else { return Messages::default() };
    let text = document.part(value.range());
    let bytes = text.bytes();
    let (mut turns, mut starts) = (Vec::new(), Starts::default());
    let walked = Scanner::new(text, nesting).array(|scanner| {
        if scanner.peek() != Some(b'{') {
            return scanner.value().map(drop);
        }
        let turn = Turn::scan(scanner, bytes)?;
        let (index, messages) = (turn.index(bytes).unwrap_or(starts.next_index()), turn.messages(bytes));
        starts.add(index, messages.len());
        if !messages.is_empty() {
            turns.push((index, turn, messages));
        }
        Ok(())
    });
    debug_assert!(walked.is_ok(), "it was scanned before");
    let mut writer = Writer { bytes, offset: value.start(), starts, messages: Messages::default() };
    for (index, turn, messages) in turns {
        for message in messages {
            writer.add(&turn, index, message);
        }
    }
    writer.messages
}

/// Where turns begin among the messages.
#[derive(Default)]
struct Starts {
    /// Of each turn, the highest index up to it, and the number of its first message.
    turns: Vec<(i64, usize)>,
    message_count: usize,
}

impl Starts {
    /// The index of a turn that comes next and tells none.
    fn next_index(&self) -> i64 {
        self.turns.last().map_or(1, |&(highest, _)| highest.saturating_add(1))
    }

    /// Adds a turn.
    fn add(&mut self, index: i64, message_count: usize) {
        let highest = self.turns.last().map_or(index, |&(highest, _)| highest.max(index));
        self.turns.push((highest, self.message_count));
        self.message_count += message_count;
    }

    /// Where the first turn of that index or a higher one begins.
    fn of(&self, index: i64) -> usize {
        let number = self.turns.partition_point(|&(highest, _)| highest < index);
        self.turns.get(number).map_or(self.message_count, |&(_, start)| start)
    }
}

/// Writes messages.
struct Writer<'a> {
    bytes: &'a [u8],
    /// Where these stand in the document.
    offset: usize,
    starts: Starts,
    messages: Messages,
}

impl Writer<'_> {
    /// Adds a message of the turn of that index.
    fn add(&mut self, turn: &Turn, index: i64, message: Derived) {
        let start = self.messages.text.len();
        let first = match message {
            Derived::Part(at) | Derived::Result(at) => Some(&turn.parts[at]),
            Derived::Assistant { ref said, .. } => {
                turn.parts[said.start..].iter().find(|part| is_of_assistant(part.kind))
            }
        };
        self.messages.places.push(self.offset + first.map_or(0, |part| part.start));
        match message {
            Derived::Part(at) => self.add_part(&turn.parts[at]),
            Derived::Assistant { said, calls } => {
                self.add_assistant(turn, index, first.and_then(|part| part.timestamp), said, calls);
            }
            Derived::Result(at) => self.add_result(index, &turn.parts[at]),
        }
        self.messages.text.push(b'}');
        self.messages.elements.push(start..self.messages.text.len());
    }

    fn add_part(&mut self, part: &Part) {
        let role = match part.kind {
            Kind::User => "user",
            Kind::System => "system",
            _ => "command",
        };
        self.begin(role, part.text.map_or(EMPTY, |text| text.of(self.bytes)), part.timestamp);
        self.copy_filled("result", part.summary);
        if let Some(boundary) = part.compact_from {
            let boundary = self.boundary(boundary.of(self.bytes));
            self.member("compact_from", &boundary);
        }
    }

    fn add_assistant(
        &mut self,
        turn: &Turn,
        index: i64,
        timestamp: Option<Span>,
        said: Range<usize>,
        calls: Range<usize>,
    ) {
        let (said, calls) = (&turn.parts[said], &turn.parts[calls]);
        self.begin("assistant", &self.joined(said, Kind::Text).unwrap_or(b"null".into()), timestamp);
        if !calls.is_empty() {
            self.member("tool_calls", b"[");
            for (number, call) in calls.iter().enumerate() {
                self.add_call(index, call, number == 0);
            }
            self.messages.text.push(b']');
        }
        if let Some(thinking) = self.joined(said, Kind::Thinking).filter(|thinking| thinking != EMPTY) {
            self.member("thinking", &thinking);
        }
        self.copy_filled("model", turn.model);
        self.copy_filled("provider", turn.provider);
        self.copy_filled("reasoning", turn.reasoning);
        self.copy_filled("mode", turn.mode);
    }

    fn add_call(&mut self, index: i64, call: &Part, is_first: bool) {
        let text = &mut self.messages.text;
        if !is_first {
            text.push(b',');
        }
        text.extend_from_slice(br#"{"id":"#);
        text.extend_from_slice(&call_id(index, call));
        text.extend_from_slice(br#","type":"function","function":{"#);
        if let Some(name) = call.name {
            text.extend_from_slice(br#""name":"#);
            text.extend_from_slice(name.of(self.bytes));
            text.push(b',');
        }
        text.extend_from_slice(br#""arguments":"#);
        text.extend_from_slice(&arguments(call.input.map(|input| input.of(self.bytes))));
        text.extend_from_slice(b"}}");
    }

    fn add_result(&mut self, index: i64, part: &Part) {
        self.begin("tool", part.output.map_or(EMPTY, |output| output.of(self.bytes)), part.timestamp);
        self.member("tool_call_id", &call_id(index, part));
        self.copy("tool", part.name);
        self.copy("analysis", part.analysis);
        self.copy("is_error", part.is_error);
    }

    /// Begins a message; [`Self::add`] ends it.
    fn begin(&mut self, role: &str, content: &[u8], timestamp: Option<Span>) {
        self.messages.text.extend_from_slice(format!("{{\"role\":\"{role}\"").as_bytes());
        self.member("content", content);
        self.copy("timestamp", timestamp);
    }

    fn member(&mut self, key: &str, value: &[u8]) {
        let text = &mut self.messages.text;
        text.extend_from_slice(b",\"");
        text.extend_from_slice(key.as_bytes());
        text.extend_from_slice(b"\":");
        text.extend_from_slice(value);
    }

    /// A member as it stands in the file, if it is there.
    fn copy(&mut self, key: &str, value: Option<Span>) {
        if let Some(value) = value {
            self.member(key, value.of(self.bytes));
        }
    }

    /// As [`Self::copy`], but not of an empty text, with which Replio says that there is none.
    fn copy_filled(&mut self, key: &str, value: Option<Span>) {
        self.copy(key, value.filter(|value| value.of(self.bytes) != EMPTY));
    }

    /// The texts of the parts of a kind as one JSON string, a blank line between them; None if there are none.
    fn joined(&self, parts: &[Part], kind: Kind) -> Option<Vec<u8>> {
        let mut parts = parts.iter().filter(|part| part.kind == kind).peekable();
        parts.peek()?;
        let mut joined = vec![b'"'];
        for text in parts.filter_map(|part| part.text) {
            let raw = text.of(self.bytes);
            let string = if is_string(raw) { Cow::Borrowed(raw) } else { Cow::Owned(quoted(&shown(raw))) };
            if string.len() > 2 && joined.len() > 1 {
                joined.extend_from_slice(br"\n\n");
            }
            joined.extend_from_slice(&string[1..string.len() - 1]);
        }
        joined.push(b'"');
        Some(joined)
    }

    /// A boundary as an index of messages. What is none stays what it is, and none.
    fn boundary<'a>(&self, raw: &'a [u8]) -> Cow<'a, [u8]> {
        if !raw.iter().all(u8::is_ascii_digit) || raw == b"0" {
            return raw.into();
        }
        // Of more digits than that holds, it is beyond the end.
        let index = str::from_utf8(raw).ok().and_then(|digits| digits.parse().ok()).unwrap_or(i64::MAX);
        self.starts.of(index).to_string().into_bytes().into()
    }
}

fn is_of_assistant(kind: Kind) -> bool {
    matches!(kind, Kind::Text | Kind::Thinking | Kind::Tool)
}

/// The id of a call and its result, as a JSON string.
fn call_id(turn_index: i64, call: &Part) -> Vec<u8> {
    format!("\"call_{turn_index}_{}\"", call.position).into_bytes()
}

/// The input of a tool as arguments of a call: JSON in a JSON string.
fn arguments(input: Option<&[u8]>) -> Cow<'_, [u8]> {
    match input {
        None => b"\"{}\"".into(),
        Some(text) if is_string(text) => text.into(),
        Some(value) => quoted(&dumps(value, Unicode::Escaped)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::read;
    use super::super::document::tests::Nobody;
    use super::*;
    use crate::marks::Marked;

    /// The messages that some turns stand for.
    fn messages(turns: &str) -> Vec<String> {
        let document = format!(r#"{{"turns":[{turns}]}}"#);
        let (marked, mut nesting) = (Marked::new(document.as_bytes()), Nesting::default());
        let outline = read(marked.text(), &mut nesting, &mut Nobody).unwrap();
        let messages = to_messages(marked.text(), &outline, &mut nesting);
        messages.elements.into_iter().map(|range| String::from_utf8(messages.text[range].to_vec()).unwrap()).collect()
    }

    /// The messages that the parts of a turn stand for.
    fn of_parts(parts: &str) -> Vec<String> {
        messages(&format!(r#"{{"index":1,"parts":[{parts}]}}"#))
    }

    #[test]
    fn calls_have_what_was_said_before_and_results_follow() {
        let parts = r#"{"type":"thinking","text":"hm"},{"type":"text","timestamp":"t","text":"a"},{"type":"text","text":"\u0062"},
            {"type":"tool","name":"f","input":{"a":1},"output":"o","is_error":true},{"type":"tool","input":"raw","analysis":"n"},
            null,{"type":"tool","timestamp":"u"},{"type":"text","text":""}"#;
        assert_eq!(
            of_parts(parts),
            [
                concat!(
                    r#"{"role":"assistant","content":"a\n\n\u0062","tool_calls":["#,
                    r#"{"id":"call_1_3","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},"#,
                    r#"{"id":"call_1_4","type":"function","function":{"arguments":"raw"}}],"thinking":"hm"}"#
                ),
                r#"{"role":"tool","content":"o","tool_call_id":"call_1_3","tool":"f","is_error":true}"#,
                r#"{"role":"tool","content":"","tool_call_id":"call_1_4","analysis":"n"}"#,
                concat!(
                    r#"{"role":"assistant","content":null,"timestamp":"u","tool_calls":["#,
                    r#"{"id":"call_1_6","type":"function","function":{"arguments":"{}"}}]}"#
                ),
                r#"{"role":"tool","content":"","timestamp":"u","tool_call_id":"call_1_6"}"#,
                r#"{"role":"assistant","content":""}"#,
            ]
        );
    }

    #[test]
    fn an_assistant_has_the_names_of_its_turn_unless_they_are_long() {
        let long = "x".repeat(LONGEST_NAME);
        let turn =
            r#""model":"m","mode":"","reasoning":false,"parts":[{"type":"user","text":[1]},{"type":"text","text":7}]"#;
        assert_eq!(
            messages(&format!(r#"{{"provider":"{long}",{turn}}}"#)),
            [r#"{"role":"user","content":[1]}"#, r#"{"role":"assistant","content":"7","model":"m","reasoning":false}"#]
        );
    }

    #[test]
    fn thoughts_alone_are_a_message_unless_they_are_empty() {
        assert_eq!(of_parts(r#"{"type":"thinking","text":""},{"type":"thinking"}"#), [""; 0]);
        assert_eq!(
            of_parts(r#"{"type":"thinking","text":"hm"}"#),
            [r#"{"role":"assistant","content":null,"thinking":"hm"}"#]
        );
    }

    #[test]
    fn a_run_of_very_many_calls_is_several_messages() {
        let part = r#"{"type":"tool"}"#;
        let roles = of_parts(&vec![part; MOST_CALLS + 1].join(","));
        let callers = roles.iter().filter(|message| message.contains("assistant")).count();
        assert_eq!((callers, roles.len()), (2, MOST_CALLS + 3));
    }

    #[test]
    fn a_boundary_becomes_that_of_the_first_message_of_its_turn() {
        let command = |boundary: &str| {
            let record = format!(r#"{{"type":"command","text":"/compact","summary":"s","compact_from":{boundary}}}"#);
            let turns = r#"{"index":1,"parts":[{"type":"user"},{"type":"text"}]},7,{"parts":[{"type":"user"}]},{"index":4,"parts":["#;
            messages(&format!("{turns}{record}]}}")).pop().unwrap()
        };
        for (boundary, translated) in [
            ("1", "0"),
            ("2", "2"),
            ("3", "3"),
            ("4", "3"),
            ("5", "4"),
            ("99999999999999999999", "4"),
            ("0", "0"),
            ("-1", "-1"),
            ("2.0", "2.0"),
            ("\"2\"", "\"2\""),
        ] {
            let right =
                format!(r#"{{"role":"command","content":"/compact","result":"s","compact_from":{translated}}}"#);
            assert_eq!(command(boundary), right, "{boundary}");
        }
        assert_eq!(
            of_parts(r#"{"type":"command","text":"/x","summary":"","compact_from":null}"#),
            [r#"{"role":"command","content":"/x"}"#]
        );
    }
}
