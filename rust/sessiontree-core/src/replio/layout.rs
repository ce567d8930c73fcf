//! JSON as Replio lays it out: each item on a line of its own, two blanks deeper than what holds it.

/// How much deeper each level stands.
const INDENT: usize = 2;

/// A line break, and what stands before an item of that level.
pub(super) fn line_break(out: &mut Vec<u8>, level: usize) {
    out.push(b'\n');
    out.resize(out.len() + level * INDENT, b' ');
}

/// Checked JSON, laid out anew, as an item of that level.
pub(super) fn laid_out(json: &[u8], level: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let (mut depth, mut rest) = (level, json);
    while let [byte, behind @ ..] = rest {
        rest = behind;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b'"' => {
                let string = &json[json.len() - rest.len() - 1..];
                let end = end_of_string(string);
                out.extend_from_slice(&string[..end]);
                rest = &string[end..];
            }
            b'{' | b'[' => {
                out.push(*byte);
                rest = rest.trim_ascii_start();
                // An empty one is closed where it was opened.
                if let [end @ (b'}' | b']'), behind @ ..] = rest {
                    out.push(*end);
                    rest = behind;
                } else {
                    depth += 1;
                    line_break(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line_break(&mut out, depth);
                out.push(*byte);
            }
            b',' => {
                out.push(b',');
                line_break(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ => out.push(*byte),
        }
    }
    out
}

/// Where the string ends that comes first, quotes included.
pub(super) fn end_of_string(json: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = json.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if json[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    json.len()
}

#[cfg(test)]
mod tests {
    #[test]
    fn items_stand_on_lines_of_their_own() {
        let laid_out = |json: &str| String::from_utf8(super::laid_out(json.as_bytes(), 1)).unwrap();
        assert_eq!(
            laid_out(r#"{"a":[1,{ }],"b\"{":"\\","c":[ ]}"#),
            "{\n    \"a\": [\n      1,\n      {}\n    ],\n    \"b\\\"{\": \"\\\\\",\n    \"c\": []\n  }"
        );
        assert_eq!(laid_out("8.0"), "8.0");
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = [b"[".repeat(3000), b"]".repeat(3000)].concat();
        assert!(super::laid_out(&deep, 0).len() > deep.len());
    }
}
