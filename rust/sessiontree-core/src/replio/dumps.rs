//! JSON as Python's `json.dumps` writes it on one line: what Replio makes of the arguments of a tool.

use std::fmt::Write;

use super::layout::end_of_string;
use crate::json::for_pieces;

/// How characters are written that are no ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unicode {
    /// As they are.
    Plain,
    /// Escaped, as Python does unless told otherwise.
    Escaped,
}

/// A checked value with one blank after each comma and colon, and none elsewhere. Numbers stay as they stand.
pub(super) fn dumps(raw: &[u8], unicode: Unicode) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b',' => out.push_str(", "),
            b':' => out.push_str(": "),
            b'"' => {
                let end = at + end_of_string(&raw[at..]);
                push_string(&mut out, &raw[at..end], unicode);
                at = end;
                continue;
            }
            // Outside strings all is ASCII.
            _ => out.push(char::from(byte)),
        }
        at += 1;
    }
    out
}

fn push_string(out: &mut String, raw: &[u8], unicode: Unicode) {
    let is_escaped = |character: char| match character {
        '"' | '\\' | '\0'..='\x1f' => true,
        '\x7f'.. => unicode == Unicode::Escaped,
        _ => false,
    };
    out.push('"');
    for_pieces(raw, |mut piece| {
        while let Some(at) = piece.find(is_escaped) {
            out.push_str(&piece[..at]);
            let mut rest = piece[at..].chars();
            if let Some(character) = rest.next() {
                push_escape(out, character);
            }
            piece = rest.as_str();
        }
        out.push_str(piece);
    });
    out.push('"');
}

fn push_escape(out: &mut String, character: char) {
    let letter = match character {
        '"' | '\\' => character,
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\x08' => 'b',
        '\x0c' => 'f',
        _ => {
            for unit in character.encode_utf16(&mut [0; 2]) {
                _ = write!(out, "\\u{unit:04x}");
            }
            return;
        }
    };
    out.extend(['\\', letter]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spaced_as_python_does() {
        let raw = b"{\n \"a\" : [1,2.50 ,-1e5,[],{ }],\t\"b,:\":{\"c\":null , \"d\":true}}";
        let spaced = r#"{"a": [1, 2.50, -1e5, [], {}], "b,:": {"c": null, "d": true}}"#;
        assert_eq!(dumps(raw, Unicode::Escaped), spaced);
        assert_eq!(dumps(b" 7", Unicode::Escaped), "7");
    }

    #[test]
    fn strings_are_escaped_as_python_does() {
        let raw = "\"\u{e9} \\u00E9 \\ud83d\\ude00 \u{1f600} \\/ \\\" \\\\ \\n\\r\\t\\b\\f\\u0001 \\u0041 \u{7f}\"";
        let escaped = r#""\u00e9 \u00e9 \ud83d\ude00 \ud83d\ude00 / \" \\ \n\r\t\b\f\u0001 A \u007f""#;
        assert_eq!(dumps(raw.as_bytes(), Unicode::Escaped), escaped);
        let plain = "\"\u{e9} \u{e9} \u{1f600} \u{1f600} / \\\" \\\\ \\n\\r\\t\\b\\f\\u0001 A \u{7f}\"";
        assert_eq!(dumps(raw.as_bytes(), Unicode::Plain), plain);
        assert_eq!(dumps(br#""\ud83d""#, Unicode::Plain), "\"\u{fffd}\"");
    }
}
