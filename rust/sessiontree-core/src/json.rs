//! JSON as `JSON.parse` takes it: every byte checked, no value built, no recursion.
//!
//! A [`Scanner`] walks one text: a line, or a document. The caller steps into the objects and arrays whose shape it knows, and has everything
//! else checked and passed over by [`Scanner::value`]; what it wants to keep, it keeps as a [`Span`]. Bytes from 0x80 up are
//! let through inside strings and nowhere else: decoding them, U+FFFD for what is no UTF-8, cannot change where a string
//! ends, so grammar and decoding are separate matters.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::ops::Range;

use crate::marks::{StringEnd, Text};

/// A value's stretch of a text, which is never empty; `u32`, because a text ends at 512 MiB (`lines::MAX_LINE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// With [`ESCAPED`] in it.
    start: u32,
    end: NonZeroU32,
}

impl Default for Span {
    /// The first byte: what stands where nothing has been found yet.
    fn default() -> Self {
        Self { start: 0, end: NonZeroU32::MIN }
    }
}

/// Marks the span of a string that may hold a backslash.
const ESCAPED: u32 = 1 << 31;

impl Span {
    #[expect(clippy::cast_possible_truncation, reason = "a text is far shorter than 2 GiB")]
    fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: NonZeroU32::new(end as u32).unwrap_or(NonZeroU32::MIN) }
    }

    fn of_string(start: usize, end: usize, may_be_escaped: bool) -> Self {
        let mut span = Self::new(start, end);
        span.start |= if may_be_escaped { ESCAPED } else { 0 };
        span
    }

    /// The bytes it names of the text it was made from.
    pub(crate) fn of(self, line: &[u8]) -> &[u8] {
        &line[self.range()]
    }

    /// The text of a string, decoded as [`text`] has it.
    pub(crate) fn text(self, line: &[u8]) -> Cow<'_, str> {
        if self.start & ESCAPED == 0 {
            let inner = &line[self.start() + 1..self.end() - 1];
            return str::from_utf8(inner).map_or_else(|_| String::from_utf8_lossy(inner), Cow::Borrowed);
        }
        text(self.of(line))
    }

    /// The bytes of a string, escapes resolved: what to compare with words of plain ASCII.
    pub(crate) fn word(self, line: &[u8]) -> Cow<'_, [u8]> {
        let inner = &line[self.start() + 1..self.end() - 1];
        if self.start & ESCAPED == 0 { Cow::Borrowed(inner) } else { Cow::Owned(unescape(inner)) }
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    pub(crate) fn start(self) -> usize {
        (self.start & !ESCAPED) as usize
    }

    pub(crate) fn end(self) -> usize {
        self.end.get() as usize
    }
}

/// Why a text is not what it should be, and at which of its bytes that shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// A fault was found; the scanner knows which ([`Scanner::flaw`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Faulty;

/// Any whole number of so many digits fits into 64 bits, signed or not.
const SURE_DIGITS: usize = 18;

/// Whether a byte is a hex digit, by its value: where every other digit is a letter, a branch on that costs more.
const HEX_DIGITS: [bool; 256] = {
    let (mut table, mut byte) = ([false; 256], 0);
    while byte < u8::MAX {
        table[byte as usize] = byte.is_ascii_hexdigit();
        byte += 1;
    }
    table
};

fn is_hex(byte: u8) -> bool {
    HEX_DIGITS[usize::from(byte)]
}

/// What kind of container each level of nesting is, a bit a level: a text may be nested as deep as it is long.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    depth: usize,
    /// The innermost levels, the lowest bit being the innermost; 64 of them at the most.
    inner: u64,
    /// The levels around those, 64 a word.
    outer: Vec<u64>,
}

impl Nesting {
    fn clear(&mut self) {
        self.depth = 0;
        self.outer.clear();
    }

    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.inner);
        }
        self.inner = self.inner << 1 | u64::from(is_object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.inner >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.inner = self.outer.pop().unwrap_or_default();
        }
    }

    fn in_object(&self) -> bool {
        self.inner & 1 == 1
    }
}

/// A walk over one text.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    text: Text<'a>,
    bytes: &'a [u8],
    at: usize,
    nesting: &'a mut Nesting,
    flaw: Option<Flaw>,
    has_surrogates: bool,
    has_long_numbers: bool,
    not_utf8: Option<usize>,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: Text<'a>, nesting: &'a mut Nesting) -> Self {
        nesting.clear();
        Self {
            text,
            bytes: text.bytes(),
            at: 0,
            nesting,
            flaw: None,
            has_surrogates: false,
            has_long_numbers: false,
            not_utf8: None,
        }
    }

    /// Whether a string that was passed escapes a surrogate, be it half of a pair.
    pub(crate) fn has_surrogates(&self) -> bool {
        self.has_surrogates
    }

    /// Whether a number that was passed has more digits than 64 bits are sure to hold.
    pub(crate) fn has_long_numbers(&self) -> bool {
        self.has_long_numbers
    }

    /// Where the strings that were passed are no UTF-8 for the first time.
    pub(crate) fn not_utf8(&self) -> Option<usize> {
        self.not_utf8
    }

    /// What is wrong, if anything is.
    pub(crate) fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    /// The byte ahead.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Where the byte ahead stands.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Passes so many bytes, whatever they are.
    pub(crate) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// Passes white space.
    pub(crate) fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// A complaint about the byte ahead.
    #[cold]
    pub(crate) fn complain(&mut self, what: &'static str) -> Faulty {
        self.complain_at(self.at, what)
    }

    #[cold]
    fn complain_at(&mut self, at: usize, what: &'static str) -> Faulty {
        let what = if at < self.bytes.len() { what } else { "the record is cut off" };
        self.flaw = Some(Flaw { at, what });
        Faulty
    }

    /// Checks the value ahead, whatever it is, and passes it.
    pub(crate) fn value(&mut self) -> Result<Span, Faulty> {
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
                _ => return Err(self.complain("expected a value")),
            }
            if self.close(floor)? {
                return Ok(Span::new(start, self.at));
            }
        }
    }

    /// Checks the value ahead and passes it; None unless it is a string.
    pub(crate) fn string_value(&mut self) -> Result<Option<Span>, Faulty> {
        if self.peek() == Some(b'"') {
            return self.string().map(Some);
        }
        self.value().map(|_| None)
    }

    /// Checks the value ahead and passes it; None if it is null.
    pub(crate) fn value_but_null(&mut self) -> Result<Option<Span>, Faulty> {
        let is_null = self.peek() == Some(b'n');
        self.value().map(|span| (!is_null).then_some(span))
    }

    /// After a value: passes the ends of containers down to level `floor`. False if another value follows first.
    fn close(&mut self, floor: usize) -> Result<bool, Faulty> {
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
                (true, _) => return Err(self.complain("expected ',' or '}'")),
                (false, _) => return Err(self.complain("expected ',' or ']'")),
            }
        }
        Ok(true)
    }

    /// Steps into the object ahead: `member` is called at each value, with its key decoded, and must pass the value.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &[u8]) -> Result<(), Faulty>,
    ) -> Result<Span, Faulty> {
        let line = self.bytes;
        self.members(|scanner, key| member(scanner, &key.word(line)))
    }

    /// As [`Self::object`], with the key as it stands, quotes included.
    pub(crate) fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, Span) -> Result<(), Faulty>,
    ) -> Result<Span, Faulty> {
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
                return Err(self.complain("expected ',' or '}'"));
            }
            self.space();
        }
    }

    /// Steps into the array ahead: `element` is called at each value, and must pass it.
    pub(crate) fn array(&mut self, mut element: impl FnMut(&mut Self) -> Result<(), Faulty>) -> Result<Span, Faulty> {
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
                return Err(self.complain("expected ',' or ']'"));
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
    fn key(&mut self) -> Result<Span, Faulty> {
        if self.peek() != Some(b'"') {
            return Err(self.complain("expected a key in quotes"));
        }
        let key = self.string()?;
        self.space();
        if !self.eat(b':') {
            return Err(self.complain("expected ':'"));
        }
        self.space();
        Ok(key)
    }

    /// Passes the string ahead. The span has its quotes.
    fn string(&mut self) -> Result<Span, Faulty> {
        let start = self.at;
        let StringEnd { quote, is_odd, may_be_escaped, is_high } = self.text.string_end(start + 1);
        if is_odd {
            self.check_odd(start + 1, quote.unwrap_or(self.bytes.len()))?;
        }
        let Some(quote) = quote else {
            self.at = self.bytes.len();
            return Err(self.complain("the string has no end"));
        };
        if is_high && self.not_utf8.is_none() {
            self.not_utf8 = self.text.part(start..quote).first_not_utf8().map(|at| start + at);
        }
        self.at = quote + 1;
        Ok(Span::of_string(start, self.at, may_be_escaped))
    }

    /// Checks what is odd in a string: escaped bytes, and control characters, which may not be there.
    #[cold]
    fn check_odd(&mut self, from: usize, until: usize) -> Result<(), Faulty> {
        let (text, bytes) = (self.text, self.bytes);
        text.for_odd(from, until, |at| match &bytes[at..until] {
            [b'u', digits @ ..] => self.check_digits(at + 1, digits),
            [b'/' | b'b' | b'f', ..] => Ok(()),
            [0..0x20, ..] => Err(self.complain_at(at, "a control character stands inside a string")),
            _ => Err(self.complain_at(at, "no such escape")),
        })
    }

    fn check_digits(&mut self, at: usize, digits: &[u8]) -> Result<(), Faulty> {
        match digits {
            [a, b, c, d, ..] if is_hex(*a) & is_hex(*b) & is_hex(*c) & is_hex(*d) => {
                self.has_surrogates |= matches!((a, b), (b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F'));
                Ok(())
            }
            _ => {
                let count = digits.iter().take_while(|digit| digit.is_ascii_hexdigit()).count();
                Err(self.complain_at(at + count, "expected four hex digits after \\u"))
            }
        }
    }

    fn number(&mut self) -> Result<(), Faulty> {
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

    fn digits(&mut self) -> Result<(), Faulty> {
        let run = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += run;
        self.has_long_numbers |= run > SURE_DIGITS;
        if run == 0 { Err(self.complain("expected a digit")) } else { Ok(()) }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Faulty> {
        for &byte in word {
            if !self.eat(byte) {
                return Err(self.complain("expected a value"));
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

    fn check(text: &[u8]) -> Result<(), &'static str> {
        let mut nesting = Nesting::default();
        let marked = Marked::new(text);
        let mut scanner = Scanner::new(marked.text(), &mut nesting);
        scanner.space();
        let value = scanner.value();
        scanner.space();
        match scanner.flaw() {
            Some(flaw) => Err(flaw.what),
            None if value.is_ok() && scanner.peek().is_none() => Ok(()),
            None => Err("left over"),
        }
    }

    #[test]
    fn takes_what_json_parse_takes() {
        for good in ["{}", "[]", " [1 , -0.5e+9,\t\"\\ud83d\"]\r\n", "-0", "1e400", "{\"a\":{\"b\":[null,true,false]}}"]
        {
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
        assert_eq!(check(&deep[..1_500_000]).unwrap_err(), "the record is cut off");
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
