//! JSON as Replio lays it out: each item on a line of its own, two blanks deeper than what holds it.

/// How much deeper each level stands.
const INDENT: usize = 2;

/// The deepest level that is laid out. What is nested deeper stands on one line: indents would grow with the square of the
/// depth, which whoever wrote the JSON chose.
const DEEPEST: usize = 100;

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
                    if depth <= DEEPEST {
                        line_break(&mut out, depth);
                    }
                }
            }
            b'}' | b']' => {
                let inner = depth;
                depth = depth.saturating_sub(1);
                if inner <= DEEPEST {
                    line_break(&mut out, depth);
                }
                out.push(*byte);
            }
            b',' => {
                out.push(b',');
                if depth <= DEEPEST {
                    line_break(&mut out, depth);
                }
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
    fn depth_costs_neither_stack_nor_much_room() {
        let deep = [b"[".repeat(300_000), b"[],1".to_vec(), b"]".repeat(300_000)].concat();
        let laid_out = super::laid_out(&deep, 2);
        assert!(laid_out.len() < deep.len() + 100_000);
        let plain: Vec<u8> = laid_out.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
        assert_eq!(plain, deep);
    }
}
