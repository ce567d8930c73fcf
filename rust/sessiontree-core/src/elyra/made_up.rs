//! Made-up session files for tests: whole lines and damaged ones, so that every rule of reading has something to do.
#![cfg(test)]

use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::select;

/// What stands for a byte that is no UTF-8: made-up lines are texts at first.
const STRAY: char = '\u{7f}';

/// A file: a header of one of the versions, and lines of all kinds. What stands before the header is passed over.
pub(super) fn session(versions: Range<u32>) -> impl Strategy<Value = Vec<u8>> {
    let before = select(vec!["", "\u{feff}", "\0\r\n", "{\"type\":\"title\"}\n", "[\n \n"]);
    let lines = prop::collection::vec((line(), select(vec!["\n", "\n", "\r\n", "\n\n"])), 0..40);
    (before, versions, lines, any::<bool>()).prop_map(|(before, version, lines, is_ended)| {
        let header = format!("{{\"type\":\"session\",\"id\":\"s\",\"version\":{version}}}\n");
        let mut text = before.to_owned() + &header;
        for (line, end) in lines {
            text.extend([line.as_str(), end]);
        }
        if !is_ended {
            text.truncate(text.trim_end().len());
        }
        let stray = |character| if character == STRAY { vec![0xff] } else { String::from(character).into_bytes() };
        text.chars().flat_map(stray).collect()
    })
}

/// One line, or several with an LF in between.
fn line() -> impl Strategy<Value = String> {
    let ids = r#""id":"[a-e]","parentId":"[a-e]","timestamp":"2026-01-0[1-9]T00:00:00Z""#;
    let text = r#""(x|é|😀|\x7f|\\n|\\\\|\\"|\\ud83d|\\u00e9| |"){0,40}""#;
    let usage = r#""usage":\{"input":-?[0-9]e[0-3],"cost":\{"total":0\.[0-9]{1,3}\}\}"#;
    let blocks = format!(r#"\[(\{{"type":"text","text":{text}\}},)?\{{"type":"image"\}}\]"#);
    let of = |text: String| proptest::string::string_regex(&text).unwrap();
    let message = |message: String| of(format!(r#"\{{"type":"message",{ids},"message":\{{{message}\}}\}} ?"#));
    prop_oneof![
        message(format!(r#""role":"user","content":{text},"timestamp":1[0-9]{{12}}"#)),
        message(format!(r#""role":"user","content":{blocks}"#)),
        message(format!(
            r#""role":"assistant","content":{blocks},"provider":"p","model":"[mn]",({usage},)?"responseId":"[r-w]?""#
        )),
        message(format!(
            r#""role":"toolResult","content":"",{usage},"details":\{{"modelUsage":\[\{{"input":[0-9]\}}\]\}}"#
        )),
        of(format!(r#"\{{"type":"session_info","name":{text}\}}"#)),
        of(format!(r#"\{{"type":"(compaction|branch_summary|usage)",{ids},"model":"n","provider":"p",{usage}\}}"#)),
        of(format!(r#"\{{"type":"label",{ids},"label":"x{{0,40}}"\}} ?(\{{"id":"[a-e]"\}})?"#)),
        of(r#"\{"type":"session","id":"t"\}"#.to_owned()),
        of(r"\x00{0,2}[ \t\r]{0,3}\x00?(\{\})?\x00?".to_owned()),
        of(r#"[{}\[\]":,a1\\\n\x00\x7f]{0,30}"#.to_owned()),
    ]
}
