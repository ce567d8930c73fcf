//! Checked JSON text to other JSON text: members changed, everything else byte for byte.

use crate::json::{Nesting, Scanner, Span};
use crate::marks::{Marked, Text};

/// The values of some members of a checked object. Of a repeated key the last counts.
pub(crate) fn find<const N: usize>(object: &[u8], keys: [&str; N]) -> [Option<Span>; N] {
    find_in(Marked::new(object).text(), &mut Nesting::default(), keys)
}

/// As [`find`], of one that is marked.
pub(crate) fn find_in<const N: usize>(object: Text<'_>, nesting: &mut Nesting, keys: [&str; N]) -> [Option<Span>; N] {
    let mut found = [None; N];
    // What has been checked cannot fail; of what was not, the members up to the fault are found.
    _ = Scanner::new(object, nesting).object(|scanner, key| {
        let value = scanner.value()?;
        if let Some(at) = keys.iter().position(|wanted| wanted.as_bytes() == key) {
            found[at] = Some(value);
        }
        Ok(())
    });
    found
}

/// What becomes of a member of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    /// Its value is this; where there is no such member, it is added at the end.
    Set(&'a [u8]),
    Remove,
}

/// A member as it stands: from its key to the end of its value.
struct Member {
    start: usize,
    value: usize,
    end: usize,
    /// The number of the change that it is to undergo.
    change: Option<usize>,
}

/// A checked object with some members changed, and every other byte as it was. Keys must need no escapes.
pub(crate) fn changed(object: &[u8], changes: &[(&str, Change<'_>)]) -> Vec<u8> {
    let members = members(object, changes);
    let mut out = Vec::with_capacity(object.len() + 64);
    let mut is_set = vec![false; changes.len()];
    // Up to where the object has been dealt with, and where in `out` the last member that stayed ends.
    let (mut done, mut last_end) = (0, None);
    for (number, member) in members.iter().enumerate() {
        match member.change.map(|change| (change, changes[change].1)) {
            Some((_, Change::Remove)) => {
                // With the comma behind it, or, for the last one, what stands behind the one before.
                out.extend_from_slice(&object[done..member.start]);
                match (members.get(number + 1), last_end) {
                    (Some(next), _) => done = next.start,
                    (None, last_end) => {
                        out.truncate(last_end.unwrap_or(out.len()));
                        done = member.end;
                    }
                }
                continue;
            }
            Some((change, Change::Set(value))) => {
                out.extend_from_slice(&object[done..member.value]);
                out.extend_from_slice(value);
                is_set[change] = true;
            }
            None => out.extend_from_slice(&object[done..member.end]),
        }
        done = member.end;
        last_end = Some(out.len());
    }
    let end = object.iter().rposition(|&byte| byte == b'}').unwrap_or(done).max(done);
    out.extend_from_slice(&object[done..end]);
    for ((key, change), _) in changes.iter().zip(is_set).filter(|(_, is_set)| !is_set) {
        if let Change::Set(value) = change {
            if last_end.is_some() {
                out.push(b',');
            }
            out.extend_from_slice(&quoted(key));
            out.push(b':');
            out.extend_from_slice(value);
            last_end = Some(out.len());
        }
    }
    out.extend_from_slice(&object[end..]);
    out
}

fn members(object: &[u8], changes: &[(&str, Change<'_>)]) -> Vec<Member> {
    let (marked, mut nesting) = (Marked::new(object), Nesting::default());
    let mut members = Vec::new();
    _ = Scanner::new(marked.text(), &mut nesting).members(|scanner, key| {
        let value = scanner.value()?;
        let name = key.text(object);
        let change = changes.iter().position(|(wanted, _)| *wanted == name);
        members.push(Member { start: key.start(), value: value.start(), end: value.end(), change });
        Ok(())
    });
    members
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'"');
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    out
}

/// Checked JSON as strict decoders take it: U+FFFD for what is no UTF-8, and for the escape of a lone surrogate.
pub(crate) fn clean(raw: &[u8]) -> Vec<u8> {
    const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
    let decoded = String::from_utf8_lossy(raw);
    let mut out = Vec::with_capacity(decoded.len());
    let mut rest = decoded.as_bytes();
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let escape = &rest[at..];
        let (kept, length) = match (surrogate(escape), escape.get(6..).and_then(surrogate)) {
            (Some(Surrogate::High), Some(Surrogate::Low)) => (&escape[..12], 12),
            (Some(_), _) => (REPLACEMENT, 6),
            (None, _) => (&escape[..2.min(escape.len())], 2),
        };
        out.extend_from_slice(kept);
        rest = escape.get(length..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

#[derive(Clone, Copy)]
enum Surrogate {
    High,
    Low,
}

/// Which surrogate the text begins with, escaped.
fn surrogate(escape: &[u8]) -> Option<Surrogate> {
    match escape {
        [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', _, _, ..] => Some(Surrogate::High),
        [b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', _, _, ..] => Some(Surrogate::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Change::{Remove, Set};
    use super::*;
    use crate::json::text;

    #[test]
    fn members_change_and_nothing_else_does() {
        for (before, changes, after) in [
            (r#"{ "a" : 1 , "b":2 }"#, [("a", Set(b"[]")), ("c", Set(b"3"))], r#"{ "a" : [] , "b":2 ,"c":3}"#),
            (r#"{"\u0061":1,"b":2,"a":3}"#, [("a", Set(b"0")), ("b", Remove)], r#"{"\u0061":0,"a":0}"#),
            (r#"{"a":1,"b":","}"#, [("b", Remove), ("x", Remove)], r#"{"a":1}"#),
            (r#"{"a":1, "b":2}"#, [("a", Remove), ("b", Remove)], "{}"),
            (r#"{"a":1,"b":2,"c":3}"#, [("b", Remove), ("c", Remove)], r#"{"a":1}"#),
            (r#"{"a":1}"#, [("a", Remove), ("b", Set(b"2"))], r#"{"b":2}"#),
            ("{ }", [("a", Set(b"1")), ("b", Set(b"2"))], r#"{ "a":1,"b":2}"#),
        ] {
            assert_eq!(String::from_utf8(changed(before.as_bytes(), &changes)).unwrap(), after, "{before}");
        }
    }

    #[test]
    fn the_last_of_repeated_members_is_found() {
        let object = br#"{"a":1,"b":{"a":2},"\u0061":"x"}"#;
        assert_eq!(find(object, ["a", "c"]).map(|span| span.map(|span| span.of(object))), [Some(&b"\"x\""[..]), None]);
    }

    #[test]
    fn clean_json_has_no_lone_surrogates_and_is_utf8() {
        let odd = br#"["\ud83d\ude00","\ud83d","\\ud83d","\udE00x\uD83D\n"]"#;
        let fine = "[\"\\ud83d\\ude00\",\"\u{fffd}\",\"\\\\ud83d\",\"\u{fffd}x\u{fffd}\\n\"]";
        assert_eq!(String::from_utf8(clean(odd)).unwrap(), fine);
        assert_eq!(clean(b"\"\xff\\ud800\""), "\"\u{fffd}\u{fffd}\"".as_bytes());
    }

    #[test]
    fn quoted_texts_read_back() {
        let odd = "a\"\\\n\u{0}\u{1f}\u{7f}\u{2028}é";
        assert_eq!(text(&quoted(odd)), odd);
    }
}
