//! What becomes of a tool's result when it is written: left out if it is noise, cut if it is long. Memory keeps it whole.

use std::collections::BTreeSet;

use super::message::{Message, Role};
use crate::json::{is_string, text};
use crate::rewrite::quoted;

/// Which results are written otherwise than they are.
#[derive(Clone, Debug, Default)]
pub struct Transforms {
    /// The tools whose results are left out.
    pub noise_tools: BTreeSet<String>,
    /// How many characters of a result are written; None for all.
    pub max_chars: Option<usize>,
}

/// What stands behind a result that was cut, around how long it was.
const CUT: (&str, &str) = ("… (truncated from ", " chars)");

impl Transforms {
    pub(super) fn change_nothing(&self) -> bool {
        self.noise_tools.is_empty() && self.max_chars.is_none()
    }

    /// What is to be written for a message's content, as JSON; None where that is what it is.
    pub(super) fn content(&self, message: &Message, bytes: &[u8]) -> Option<Vec<u8>> {
        let content = message.content.filter(|content| is_string(content.of(bytes)))?.of(bytes);
        if message.role(bytes) != Role::Tool {
            return None;
        }
        let tool = message.tool.map(|tool| tool.of(bytes)).filter(|tool| is_string(tool)).map(text);
        let content = text(content);
        let written = match tool {
            Some(tool) if self.noise_tools.contains(&*tool) => marker(&tool, ','),
            Some(tool) if [',', ';'].into_iter().any(|mark| *content == marker(&tool, mark)) => return None,
            _ => cut(&content, self.max_chars?)?,
        };
        (written != content).then(|| quoted(&written))
    }
}

/// What stands for the result of a noisy tool. (Replio itself has written a semicolon.)
fn marker(tool: &str, mark: char) -> String {
    format!("[{tool} result excluded from log{mark} see tool call above for parameters]")
}

/// A result cut to so many characters, with a note on how many it had; None if it is no longer.
///
/// One that was cut before is not taken for longer than it was: what is left of it is cut again, and the note kept.
fn cut(content: &str, max_chars: usize) -> Option<String> {
    let (kept, length) = was_cut(content).unwrap_or((content, None));
    let (end, _) = kept.char_indices().nth(max_chars)?;
    let length = length.unwrap_or_else(|| content.chars().count().to_string());
    Some(format!("{}{}{length}{}", &kept[..end], CUT.0, CUT.1))
}

/// What is left of a content that was cut, and how long it was; None if none was.
fn was_cut(content: &str) -> Option<(&str, Option<String>)> {
    let (kept, length) = content.strip_suffix(CUT.1)?.rsplit_once(CUT.0)?;
    let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    // A text that says so of itself, and is not shorter than that, never was.
    let is_shorter = length.parse::<usize>().map_or(true, |length| kept.chars().count() < length);
    (is_number && is_shorter).then(|| (kept, Some(length.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_again_changes_nothing_and_keeps_the_length() {
        let long = "é".repeat(100);
        let once = cut(&long, 10).unwrap();
        assert_eq!(once, format!("{}… (truncated from 100 chars)", "é".repeat(10)));
        assert_eq!(cut(&once, 10), None);
        assert_eq!(cut(&once, 30), None);
        assert_eq!(cut(&once, 4).unwrap(), "éééé… (truncated from 100 chars)");
        assert_eq!(cut("0123456789", 10), None);
        assert_eq!(cut("0123456789a", 10).unwrap(), "0123456789… (truncated from 11 chars)");
    }

    #[test]
    fn a_text_that_only_says_it_was_cut_is_cut() {
        let said = "abcdef… (truncated from 3 chars)";
        assert_eq!(cut(said, 2).unwrap(), "ab… (truncated from 32 chars)");
    }
}
