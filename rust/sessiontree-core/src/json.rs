//! JSON as `JSON.parse` takes it: every byte checked, no value built, no recursion.
//!
//! A [`Scanner`] walks one line. The caller steps into the objects and arrays whose shape it knows, and has everything
//! else checked and passed over by [`Scanner::value`]; what it wants to keep, it keeps as a [`Span`]. Bytes from 0x80 up are
//! let through inside strings and nowhere else: decoding them, U+FFFD for what is no UTF-8, cannot change where a string
//! ends, so grammar and decoding are separate matters.

use std::borrow::Cow;
use std::ops::Range;

use crate::marks::{StringEnd, Text};

/// A stretch of a line; `u32`, because a line ends at 512 MiB (`lines::MAX_LINE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    pub(crate) const EMPTY: Self = Self { start: 0, end: 0 };

    #[expect(clippy::cast_possible_truncation, reason = "a line is far shorter than 4 GiB")]
    fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// The bytes it names of the line it was made from.
    pub(crate) fn of(self, line: &[u8]) -> &[u8] {
        &line[self.start as usize..self.end as usize]
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    pub(crate) fn start(self) -> usize {
        self.start as usize
    }

    pub(crate) fn end(self) -> usize {
        self.end as usize
    }
}

/// Why a line is not what it should be, and at which of its bytes that shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// What kind of container each level of nesting is, a bit a level: a line may be nested as deep as it is long.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    bits: Vec<u64>,
    depth: usize,
}

impl Nesting {
    fn push(&mut self, is_object: bool) {
        let (word, bit) = (self.depth / 64, self.depth % 64);
        if word == self.bits.len() {
            self.bits.push(0);
        }
        self.bits[word] = self.bits[word] & !(1 << bit) | u64::from(is_object) << bit;
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
    }

    fn in_object(&self) -> bool {
        let top = self.depth - 1;
        self.bits[top / 64] >> (top % 64) & 1 == 1
    }
}

/// A walk over one line.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    text: Text<'a>,
    bytes: &'a [u8],
    at: usize,
    nesting: &'a mut Nesting,
    has_surrogates: bool,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: Text<'a>, nesting: &'a mut Nesting) -> Self {
        nesting.depth = 0;
        Self { text, bytes: text.bytes(), at: 0, nesting, has_surrogates: false }
    }

    /// Whether a string that was passed escapes a surrogate, be it half of a pair.
    pub(crate) fn has_surrogates(&self) -> bool {
        self.has_surrogates
    }

    /// The byte ahead.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Passes white space. An LF is none: it would have ended the line.
    pub(crate) fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// A complaint about the byte ahead.
    pub(crate) fn flaw(&self, what: &'static str) -> Flaw {
        let what = if self.at < self.bytes.len() { what } else { "the record is cut off" };
        Flaw { at: self.at, what }
    }

    /// Checks the value ahead, whatever it is, and passes it.
    pub(crate) fn value(&mut self) -> Result<Span, Flaw> {
        let (start, floor) = (self.at, self.nesting.depth);
        loop {
            match self.peek() {
                Some(b'"') => _ = self.string()?,
                Some(b'{') => {
                    self.at += 1;
                    self.space();
                    if !self.eat(b'}') {
                        self.nesting.push(true);
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.space();
                    if !self.eat(b']') {
                        self.nesting.push(false);
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.literal(b"true")?,
                Some(b'f') => self.literal(b"false")?,
                Some(b'n') => self.literal(b"null")?,
                _ => return Err(self.flaw("expected a value")),
            }
            if self.close(floor)? {
                return Ok(Span::new(start, self.at));
            }
        }
    }

    /// After a value: passes the ends of containers down to level `floor`. False if another value follows first.
    fn close(&mut self, floor: usize) -> Result<bool, Flaw> {
        while self.nesting.depth > floor {
            self.space();
            match (self.nesting.in_object(), self.peek()) {
                (true, Some(b'}')) | (false, Some(b']')) => {
                    self.at += 1;
                    self.nesting.pop();
                }
                (in_object, Some(b',')) => {
                    self.at += 1;
                    self.space();
                    if in_object {
                        self.key()?;
                    }
                    return Ok(false);
                }
                (true, _) => return Err(self.flaw("expected ',' or '}'")),
                (false, _) => return Err(self.flaw("expected ',' or ']'")),
            }
        }
        Ok(true)
    }

    /// Steps into the object ahead: `member` is called at each value, with its key decoded, and must pass the value.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &[u8]) -> Result<(), Flaw>,
    ) -> Result<Span, Flaw> {
        let line = self.bytes;
        self.members(|scanner, key| {
            let key = key.of(line);
            match &key[1..key.len() - 1] {
                plain if !plain.contains(&b'\\') => member(scanner, plain),
                _ => member(scanner, text(key).as_bytes()),
            }
        })
    }

    /// As [`Self::object`], with the key as it stands, quotes included.
    pub(crate) fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, Span) -> Result<(), Flaw>,
    ) -> Result<Span, Flaw> {
        let start = self.at;
        self.at += 1;
        self.space();
        if self.eat(b'}') {
            return Ok(Span::new(start, self.at));
        }
        loop {
            let key = self.key()?;
            member(self, key)?;
            self.space();
            if self.eat(b'}') {
                return Ok(Span::new(start, self.at));
            }
            if !self.eat(b',') {
                return Err(self.flaw("expected ',' or '}'"));
            }
            self.space();
        }
    }

    /// Steps into the array ahead: `element` is called at each value, and must pass it.
    pub(crate) fn array(&mut self, mut element: impl FnMut(&mut Self) -> Result<(), Flaw>) -> Result<Span, Flaw> {
        let start = self.at;
        self.at += 1;
        self.space();
        if self.eat(b']') {
            return Ok(Span::new(start, self.at));
        }
        loop {
            element(self)?;
            self.space();
            if self.eat(b']') {
                return Ok(Span::new(start, self.at));
            }
            if !self.eat(b',') {
                return Err(self.flaw("expected ',' or ']'"));
            }
            self.space();
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Passes a key, its colon and the white space up to the value. The span is the key's, quotes included.
    fn key(&mut self) -> Result<Span, Flaw> {
        if self.peek() != Some(b'"') {
            return Err(self.flaw("expected a key in quotes"));
        }
        let key = self.string()?;
        self.space();
        if !self.eat(b':') {
            return Err(self.flaw("expected ':'"));
        }
        self.space();
        Ok(key)
    }

    /// Passes the string ahead. The span has its quotes.
    fn string(&mut self) -> Result<Span, Flaw> {
        let start = self.at;
        let StringEnd { quote, is_odd } = self.text.string_end(start + 1);
        if is_odd {
            self.check_odd(start + 1, quote.unwrap_or(self.bytes.len()))?;
        }
        let Some(quote) = quote else {
            self.at = self.bytes.len();
            return Err(self.flaw("the string has no end"));
        };
        self.at = quote + 1;
        Ok(Span::new(start, self.at))
    }

    /// Checks what is odd in a string: escaped bytes, and control characters, which may not be there.
    #[cold]
    fn check_odd(&mut self, from: usize, until: usize) -> Result<(), Flaw> {
        for at in self.text.odd(from, until) {
            match &self.bytes[at..until] {
                [0..0x20, ..] => return Err(self.flaw_at(at, "a control character stands inside a string")),
                [b'/' | b'b' | b'f', ..] => {}
                [b'u', digits @ ..] => self.check_digits(at + 1, digits)?,
                _ => return Err(self.flaw_at(at, "no such escape")),
            }
        }
        Ok(())
    }

    fn check_digits(&mut self, at: usize, digits: &[u8]) -> Result<(), Flaw> {
        let count = digits.iter().take(4).take_while(|digit| digit.is_ascii_hexdigit()).count();
        if count < 4 {
            return Err(self.flaw_at(at + count, "expected four hex digits after \\u"));
        }
        self.has_surrogates |= matches!(digits, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
        Ok(())
    }

    fn flaw_at(&mut self, at: usize, what: &'static str) -> Flaw {
        self.at = at;
        self.flaw(what)
    }

    fn number(&mut self) -> Result<(), Flaw> {
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Flaw> {
        let run = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += run;
        if run == 0 { Err(self.flaw("expected a digit")) } else { Ok(()) }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Flaw> {
        for &byte in word {
            if !self.eat(byte) {
                return Err(self.flaw("expected a value"));
            }
        }
        Ok(())
    }
}

/// Whether the value is a string, by its first byte; the value has been scanned.
pub(crate) fn is_string(raw: &[u8]) -> bool {
    raw.first() == Some(&b'"')
}

/// The number that `raw` is, as a double, infinite where it is too large for one; None if it is something else.
pub(crate) fn number(raw: &[u8]) -> Option<f64> {
    // Most are whole numbers so short that a double holds them.
    if matches!(raw.len(), 1..=15) && raw.iter().all(u8::is_ascii_digit) {
        let whole = raw.iter().fold(0_u64, |whole, digit| whole * 10 + u64::from(digit - b'0'));
        #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
        return Some(whole as f64);
    }
    matches!(raw.first(), Some(b'-' | b'0'..=b'9')).then(|| str::from_utf8(raw).ok()?.parse().ok())?
}

/// The bytes of a scanned string, escapes resolved: what to compare with words of plain ASCII.
pub(crate) fn word(raw: &[u8]) -> Cow<'_, [u8]> {
    let inner = &raw[1..raw.len() - 1];
    if inner.contains(&b'\\') { Cow::Owned(unescape(inner)) } else { Cow::Borrowed(inner) }
}

/// The text of a scanned string: escapes resolved, U+FFFD for lone surrogates and for what is no UTF-8.
pub(crate) fn text(raw: &[u8]) -> Cow<'_, str> {
    let inner = &raw[1..raw.len() - 1];
    if !inner.contains(&b'\\') {
        return str::from_utf8(inner).map_or_else(|_| String::from_utf8_lossy(inner), Cow::Borrowed);
    }
    // An escape never yields a continuation byte, so decoding the bytes afterwards sees the same broken sequences.
    Cow::Owned(match String::from_utf8_lossy(&unescape(inner)) {
        Cow::Owned(text) => text,
        Cow::Borrowed(text) => text.to_owned(),
    })
}

/// As [`text`], in the pieces that it is made of: whoever joins them elsewhere needs no copy.
pub(crate) fn for_pieces(raw: &[u8], mut each: impl FnMut(&str)) {
    let Ok(mut rest) = str::from_utf8(&raw[1..raw.len() - 1]) else {
        each(&text(raw));
        return;
    };
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        each(&rest[..at]);
        let (character, length) = escape(&rest.as_bytes()[at..]);
        each(character.encode_utf8(&mut [0; 4]));
        rest = &rest[at + length..];
    }
    each(rest);
}

fn unescape(inner: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let (plain, length) = escape(&rest[at..]);
        out.extend_from_slice(plain.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest);
    out
}

/// The character that stands for an escape, and how many bytes it took.
fn escape(escape: &[u8]) -> (char, usize) {
    match escape[1] {
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'u' => code_point(escape),
        other => (char::from(other), 2),
    }
}

/// The character of a `\uXXXX`, or of two that are a surrogate pair, and how many bytes it took.
fn code_point(escape: &[u8]) -> (char, usize) {
    let unit = |from: usize| -> Option<u32> {
        let digits = escape.get(from..from + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
            let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        (code, _) => (code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::Marked;
    use proptest::prelude::*;

    fn check(text: &[u8]) -> Result<(), Flaw> {
        let mut nesting = Nesting::default();
        let marked = Marked::new(text);
        let mut scanner = Scanner::new(marked.text(), &mut nesting);
        scanner.space();
        scanner.value()?;
        scanner.space();
        if scanner.peek().is_none() { Ok(()) } else { Err(scanner.flaw("left over")) }
    }

    #[test]
    fn takes_what_json_parse_takes() {
        for good in ["{}", "[]", " [1 , -0.5e+9,\t\"\\ud83d\"]\r", "-0", "1e400", "{\"a\":{\"b\":[null,true,false]}}"] {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
        assert_eq!(check(b"\"caf\xe9 \xff\""), Ok(()));
    }

    #[test]
    fn refuses_what_json_parse_refuses() {
        let bad: [&[u8]; 22] = [
            b"",
            b"NaN",
            b"Infinity",
            b"01",
            b"1.",
            b".5",
            b"+1",
            b"1e",
            b"-",
            b"[1,]",
            b"{\"a\":1,}",
            b"{a:1}",
            b"'a'",
            b"\"\\x\"",
            b"\"\\u12g4\"",
            b"\"\t\"",
            b"\"a",
            b"tru",
            b"[1 2]",
            b"{\"a\" 1}",
            b"\xef\xbb\xbf1",
            b"[\x0b1]",
        ];
        for text in bad {
            assert!(check(text).is_err(), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn nesting_costs_no_stack() {
        let deep = [b"[".repeat(1_000_000), b"]".repeat(1_000_000)].concat();
        assert_eq!(check(&deep), Ok(()));
        assert_eq!(check(&deep[..1_500_000]).unwrap_err().what, "the record is cut off");
    }

    #[test]
    fn texts_decode_as_browsers_decode_them() {
        assert_eq!(text(br#""a\n\"\\\/\b\f\r\t\u00e9""#), "a\n\"\\/\u{8}\u{c}\r\t\u{e9}");
        assert_eq!(
            text(br#""\ud83d\ude00 \ud83d \ude00\ud83d\ud83d\ude00""#),
            "\u{1f600} \u{fffd} \u{fffd}\u{fffd}\u{1f600}"
        );
        assert_eq!(text(b"\"\xe2\x82\\n\xed\xa0\x80\""), "\u{fffd}\n\u{fffd}\u{fffd}\u{fffd}");
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in r#"([\[\]{},:"\\ \t]|"a"|"k":|true|null|-|0|1|\.5|[eE]|\\u00e9|é){0,24}"#) {
            let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            prop_assert_eq!(check(text.as_bytes()).is_ok(), theirs);
        }

        #[test]
        fn pieces_are_the_text(inner in r#"(a|é|\\\\|\\"|\\n|\\u00e9|\\ud83d|\\ude00){0,12}"#) {
            for raw in [format!("\"{inner}\"").into_bytes(), [b"\"\xff", inner.as_bytes(), b"\""].concat()] {
                let mut joined = String::new();
                for_pieces(&raw, |piece| joined.push_str(piece));
                prop_assert_eq!(joined, text(&raw));
            }
        }
    }
}
