//! Bytes that come in pieces to the JSON lines among them that are wanted.
//!
//! Most consumers want few of the lines: of a long answer, each piece that streams in repeats all that came before, so nearly
//! all bytes are in lines to be skipped. The programs that write streams begin each line with its type. So a line is looked at
//! when it begins; one of a type that nobody wants is passed over up to its LF, and neither kept nor checked. All others are
//! kept until they are whole, and then checked from end to end.

use std::borrow::Cow;
use std::collections::HashSet;
use std::mem;
use std::path::Path;

use memchr::memchr;

use crate::error::{Damage, DamageKind, Place, Reports};
use crate::json::{Faulty, Flaw, Nesting, Scanner, Span};
use crate::lines::MAX_LINE;
use crate::marks::Marked;

/// How much of a line is looked at for its type: more than white space and any type's name that exists take.
const LOOKED_AT: usize = 256;

/// How much memory is kept for the next line that comes in pieces.
const KEPT: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a stream of JSON lines, fed in pieces that are cut anywhere. It does no I/O.
///
/// LF ends a line, and nothing else does; blank ones are passed. What is no JSON object with a string `type` is damage.
#[derive(Debug)]
pub struct EventReader {
    types: Option<HashSet<String>>,
    strict: bool,
    state: State,
    /// What there is of the line that has not ended.
    begun: Vec<u8>,
    /// Where that line starts.
    place: Place,
    /// How many bytes of it there have been.
    passed: u64,
    nesting: Nesting,
    reports: Reports,
}

/// What is done with the line that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is too little of it to tell.
    New,
    Kept,
    Skipped,
    /// It is longer than [`MAX_LINE`].
    TooLong,
    /// A damaged line ended the reading.
    Failed,
}

impl EventReader {
    /// A reader of lines of these types, or of all. A `strict` one ends at the first damage.
    #[must_use]
    pub fn new(types: Option<HashSet<String>>, strict: bool) -> Self {
        Self {
            types,
            strict,
            state: State::New,
            begun: Vec::new(),
            place: Place { line: 1, offset: 0 },
            passed: 0,
            nesting: Nesting::default(),
            reports: Reports::default(),
        }
    }

    /// Takes the next piece; gives the lines that are now complete: JSON objects, whose strings may hold what is no UTF-8.
    pub fn feed(&mut self, mut piece: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        while !piece.is_empty() && self.state != State::Failed {
            let end = memchr(b'\n', piece);
            let (part, rest) = piece.split_at(end.unwrap_or(piece.len()));
            self.go_on(part);
            if end.is_some() {
                lines.extend(self.end_line(part));
            } else {
                self.keep(part);
            }
            piece = rest.get(1..).unwrap_or_default();
        }
        lines
    }

    /// Ends the stream; gives its last line, if that had no LF.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        if self.state == State::Failed { None } else { self.end_line(&[]) }
    }

    /// Whether a strict reader has met damage, and is at its end.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.state == State::Failed
    }

    /// The damage so far, by line; `path` is what the stream is called in it.
    #[must_use]
    pub fn damage(&self, path: &Path) -> Vec<Damage> {
        self.reports.clone().into_damage(path)
    }

    /// Counts what has come of the line, and decides what to do with it, as soon as that can be told.
    fn go_on(&mut self, part: &[u8]) {
        self.passed += part.len() as u64;
        if self.state == State::New && self.begun.len() < LOOKED_AT {
            let known = self.begun.len();
            let more = part.len().min(LOOKED_AT - known);
            // Mostly the beginning comes in one piece, and need not be put together.
            let found = if known == 0 {
                leading_type(&part[..more])
            } else {
                self.begun.extend_from_slice(&part[..more]);
                leading_type(&self.begun)
            };
            let is_unwanted = |name| self.types.as_ref().is_some_and(|types| !types.contains(name));
            match found {
                Leading::Type(name) if is_unwanted(name) => self.state = State::Skipped,
                Leading::Type(_) | Leading::Other => self.state = State::Kept,
                Leading::Unfinished => {}
            }
            self.begun.truncate(known);
        }
        if self.passed > MAX_LINE as u64 && self.state != State::Skipped {
            self.state = State::TooLong;
        }
        if matches!(self.state, State::Skipped | State::TooLong) {
            self.begun = Vec::new();
        }
    }

    /// Keeps a part of a line until the line ends.
    fn keep(&mut self, part: &[u8]) {
        if matches!(self.state, State::New | State::Kept) {
            self.begun.extend_from_slice(part);
        }
    }

    /// Ends the line with its last part, of which `go_on` has been told; gives it if it is sound and wanted.
    fn end_line(&mut self, last: &[u8]) -> Option<Vec<u8>> {
        let place = self.place;
        let state = mem::replace(&mut self.state, State::New);
        self.place = Place { line: place.line + 1, offset: place.offset + self.passed + 1 };
        self.passed = 0;
        if state == State::Skipped {
            return None;
        }
        if state == State::TooLong {
            self.report(place, || format!("longer than {MAX_LINE} bytes; skipped"));
            return None;
        }
        let mut begun = mem::take(&mut self.begun);
        let line = if begun.is_empty() {
            last
        } else {
            begun.extend_from_slice(last);
            begun.as_slice()
        };
        let text = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| place.offset == 0).unwrap_or(line);
        let wanted = self.is_wanted(text, place).then(|| text.to_vec());
        begun.clear();
        begun.shrink_to(KEPT);
        self.begun = begun;
        wanted
    }

    /// Whether a whole line is sound, and of a type that is wanted; reports it if it is not sound.
    fn is_wanted(&mut self, line: &[u8], place: Place) -> bool {
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return false;
        }
        match type_of(line, &mut self.nesting) {
            Ok(name) => self.types.as_ref().is_none_or(|types| types.contains(&*name)),
            Err(flaw) => {
                self.report(place, || format!("{} (column {}); skipped", flaw.what, flaw.at + 1));
                false
            }
        }
    }

    fn report(&mut self, place: Place, reason: impl FnOnce() -> String) {
        self.reports.add(DamageKind::Line, place, reason);
        if self.strict {
            self.state = State::Failed;
        }
    }
}

/// The type of a line that is one JSON object with a type; what is wrong with any other.
fn type_of<'a>(line: &'a [u8], nesting: &mut Nesting) -> Result<Cow<'a, str>, Flaw> {
    let marked = Marked::new(line);
    let mut scanner = Scanner::new(marked.text(), nesting);
    let mut name = None;
    let walked = walk(&mut scanner, |scanner, key| {
        if *key.word(line) == *b"type" {
            name = scanner.string_value()?;
        } else {
            scanner.value()?;
        }
        Ok(())
    });
    walked.map_err(|Faulty| scanner.flaw().unwrap_or(Flaw { at: 0, what: "it cannot be read" }))?;
    name.map(|name| name.text(line)).ok_or(Flaw { at: 0, what: "expected an object with a string `type`" })
}

/// Checks a line that should be one object, and passes it.
fn walk(
    scanner: &mut Scanner<'_>,
    member: impl FnMut(&mut Scanner<'_>, Span) -> Result<(), Faulty>,
) -> Result<(), Faulty> {
    scanner.space();
    if scanner.peek() != Some(b'{') {
        return Err(scanner.complain("expected an object"));
    }
    scanner.members(member)?;
    scanner.space();
    if scanner.peek().is_some() {
        return Err(scanner.complain("more stands after the object"));
    }
    Ok(())
}

/// What the beginning of a line tells of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leading<'a> {
    Type(&'a str),
    /// The type is not what comes first, or is not spelled plainly.
    Other,
    /// It may yet be either.
    Unfinished,
}

/// Looks for a type that comes first in a line, of which this is the beginning.
fn leading_type(beginning: &[u8]) -> Leading<'_> {
    let unfinished = if beginning.len() < LOOKED_AT { Leading::Unfinished } else { Leading::Other };
    let mut rest = beginning;
    for token in [&b"{"[..], b"\"type\"", b":", b"\""] {
        rest = rest.trim_ascii_start();
        let Some(after) = rest.strip_prefix(token) else {
            return if token.starts_with(rest) { unfinished } else { Leading::Other };
        };
        rest = after;
    }
    let Some(length) = rest.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..0x20 | 0x80..)) else {
        return unfinished;
    };
    match str::from_utf8(&rest[..length]) {
        Ok(name) if rest[length] == b'"' => Leading::Type(name),
        _ => Leading::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wanted(types: &[&str]) -> HashSet<String> {
        types.iter().map(ToString::to_string).collect()
    }

    fn read(mut reader: EventReader, pieces: &[&[u8]]) -> (Vec<String>, Vec<(u64, u64)>) {
        let mut lines: Vec<_> = pieces.iter().flat_map(|piece| reader.feed(piece)).collect();
        lines.extend(reader.finish());
        let damage = reader.damage(Path::new("-"));
        let places = damage.iter().filter_map(|damage| damage.place).map(|place| (place.line, place.offset));
        (lines.into_iter().map(|line| String::from_utf8_lossy(&line).into_owned()).collect(), places.collect())
    }

    #[test]
    fn lines_end_at_lf_alone_and_odd_ones_are_damage() {
        let stream = "\u{feff}{\"type\":\"a\",\"s\":\"x\u{2028}y\"}\r\n \r\n[]\n{\"type\":7}\n{\"n\":NaN,\"type\":\"a\"}\n{\"type\":\"b\"} {\"type\":\"b\"}\n{\"type\":\"c\"}";
        let (lines, places) = read(EventReader::new(None, false), &[stream.as_bytes()]);
        assert_eq!(lines, ["{\"type\":\"a\",\"s\":\"x\u{2028}y\"}\r", "{\"type\":\"c\"}"]);
        assert_eq!(places.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 4, 5, 6]);
        assert_eq!(places[0].1, stream.find("[]").unwrap() as u64);
    }

    #[test]
    fn a_strict_reader_ends_at_damage() {
        let mut reader = EventReader::new(None, true);
        assert_eq!(reader.feed(b"{\"type\":\"a\"}\nx\n{\"type\":\"b\"}\n").len(), 1);
        assert!(reader.has_failed());
        assert!(reader.feed(b"{\"type\":\"b\"}\n").is_empty());
        assert_eq!((reader.finish(), reader.damage(Path::new("-")).len()), (None, 1));
    }

    #[test]
    fn what_is_skipped_is_neither_kept_nor_checked() {
        let mut reader = EventReader::new(Some(wanted(&["b"])), true);
        assert!(reader.feed(b" { \"type\" : \"message_update\", NaN").is_empty());
        for _ in 0..1000 {
            assert!(reader.feed(&[b'x'; 1000]).is_empty());
        }
        assert!(reader.begun.capacity() < 1000);
        assert_eq!(reader.feed(b"\n{\"type\":\"b\"}\n").len(), 1);
    }

    #[test]
    fn a_type_is_found_wherever_it_stands_and_however_it_is_spelled() {
        for line in [
            "{\"x\":{\"type\":\"b\"},\"type\":\"a\"}",
            "{\"t\\u0079pe\":\"\\u0061\"}",
            "{\"type\":\"a\"}",
            "{\"type\":\"a\",\"type\":\"a\"}",
        ] {
            assert_eq!(read(EventReader::new(Some(wanted(&["a"])), false), &[line.as_bytes()]).0, [line]);
            assert!(read(EventReader::new(Some(wanted(&["b"])), false), &[line.as_bytes()]).0.is_empty(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_show(lines in prop::collection::vec(prop::sample::select(vec![
                "{\"type\":\"a\"}\n", " {\"x\":\"é\\n\",\"type\":\"b\"}\r\n", "{\"type\":\"b\",\"x\":[1,{}]}\n", "\n", "{\"type\":\"a\",}\n", "{\"type\":\"é\"}\n", "{\"ty", "\"", "x\n", "\u{feff}"]), 0..12),
            cuts in prop::collection::vec(0_usize..200, 0..8), filtered: bool) {
            let stream = lines.concat().into_bytes();
            let types = || filtered.then(|| wanted(&["a", "é"]));
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(stream.len())).chain([0, stream.len()]).collect();
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]).collect();
            let bytes: Vec<_> = stream.chunks(1).collect();
            let whole = read(EventReader::new(types(), false), &[&stream]);
            prop_assert_eq!(&read(EventReader::new(types(), false), &pieces), &whole);
            prop_assert_eq!(&read(EventReader::new(types(), false), &bytes), &whole);
        }
    }
}
