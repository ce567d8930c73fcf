//! Names of sessions, which are names of files.

use std::path::Path;

use crate::error::{Error, Result, excerpt};
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// What session files end in.
const SUFFIX: &str = ".json";

/// How many bytes the name of a file may have.
const LONGEST_FILE_NAME: usize = 255;

/// How much of a first message becomes a slug, and how much of a parent's name stands in its child's: in code points.
const SLUG_FROM: usize = 40;
const PARENT_LENGTH: usize = 64;

/// The name of the session that a file holds.
pub(crate) fn of_file(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(SUFFIX).unwrap_or(&name).to_owned()
}

/// The file name of a session.
///
/// # Errors
///
/// [`Error::InvalidName`] for what no file is to be named, or would lie elsewhere.
pub fn file_name(name: &str) -> Result<String> {
    let is_refused = |character: char| matches!(character, '/' | '\\') || character.is_control();
    let reason = if name.is_empty() {
        "it is empty"
    } else if name.starts_with('.') {
        "it begins with a dot"
    } else if name.chars().any(is_refused) {
        "it has a slash, a backslash or a control character in it"
    } else if name.len() + SUFFIX.len() > LONGEST_FILE_NAME {
        "it is too long for the name of a file"
    } else {
        return Ok(format!("{name}{SUFFIX}"));
    };
    Err(Error::InvalidName { name: excerpt(name), reason })
}

/// A text as the last part of a name: its first words, in `[a-z0-9_-]*`; empty if nothing of it can stand there.
///
/// A text of more than 40 characters is cut at the last blank among them, or behind them. Then it is normalised to NFKD, and
/// all is dropped but ASCII letters, digits, `-`, `_` and blanks, which become `_`.
#[must_use]
pub fn slug(text: &str) -> String {
    let cut = match text.char_indices().nth(SLUG_FROM) {
        None => text,
        Some((end, _)) => {
            let end = text[..end].rfind(' ').filter(|&blank| blank > 0).unwrap_or(end);
            &text[..end]
        }
    };
    let is_kept = |character: &char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | ' ');
    let kept: String = cut.nfkd().filter(is_kept).collect();
    kept.trim_matches(' ').replace(' ', "_").to_ascii_lowercase()
}

/// The name of a session that began at `stamp`, of what its first message was about.
#[must_use]
pub fn of_session(stamp: &str, slug: &str) -> String {
    if slug.is_empty() { format!("ses_{stamp}") } else { format!("ses_{stamp}_{slug}") }
}

/// The name of a job's run.
#[must_use]
pub fn of_job(stamp: &str, job: &str) -> String {
    let is_kept = |character: &char| is_alphanumeric(*character) || matches!(character, '-' | '_' | ' ');
    let kept: String = job.chars().filter(is_kept).collect();
    let kept = kept.trim_matches(' ').replace(' ', "_");
    fitting(format!("job_{stamp}_{}", if kept.is_empty() { "job" } else { &kept }))
}

/// The name of a session that another one, `parent`, began.
#[must_use]
pub fn of_child(stamp: &str, parent: &str) -> String {
    let is_edge = |character: char| matches!(character, '-' | '_' | '.');
    let kept: String = parent.chars().filter(|&character| is_alphanumeric(character) || is_edge(character)).collect();
    let kept = kept.trim_matches(is_edge);
    let start = kept.char_indices().rev().nth(PARENT_LENGTH - 1).map_or(0, |(at, _)| at);
    fitting(format!("sub_{stamp}_{}", if kept.is_empty() { "parent" } else { &kept[start..] }))
}

/// A name that was made up, cut where it is too long for that of a file; there is room for a number behind it.
fn fitting(mut name: String) -> String {
    const ROOM: usize = 12;
    let longest = LONGEST_FILE_NAME - SUFFIX.len() - ROOM;
    let end =
        name.char_indices().map(|(at, character)| at + character.len_utf8()).take_while(|&end| end <= longest).last();
    name.truncate(end.unwrap_or_default());
    name
}

/// Whether it is a letter or a number, of any script. (`char::is_alphanumeric` takes some marks and circled letters, too.)
fn is_alphanumeric(character: char) -> bool {
    matches!(character.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_first_words() {
        assert_eq!(slug("What is OEE?"), "what_is_oee");
        assert_eq!(slug("a\nb  c"), "ab__c");
        assert_eq!(slug("Über ½ ﬁn ß 水"), "uber_12_fin");
        assert_eq!(slug(&format!("{} {}", "a".repeat(30), "b".repeat(30))), "a".repeat(30));
        assert_eq!(slug(&format!(" {}", "b".repeat(60))), "b".repeat(39));
        assert_eq!(slug("?!"), "");
    }

    #[test]
    fn names_of_jobs_and_children_hold_what_names_may() {
        assert_eq!(of_job("1", " Nightly/Report é\u{301}Ⓐ "), "job_1_NightlyReport_é");
        assert_eq!(of_job("1", "/"), "job_1_job");
        assert_eq!(of_child("1", "-a b.c-"), "sub_1_ab.c");
        assert_eq!(of_job("1", &"é".repeat(200)), format!("job_1_{}", "é".repeat(116)));
        assert_eq!(of_child("1", ".."), "sub_1_parent");
        assert_eq!(of_child("1", &format!("x_{}", "é".repeat(63))), format!("sub_1__{}", "é".repeat(63)));
    }

    #[test]
    fn no_file_is_named_so_that_it_lies_elsewhere() {
        for name in ["", ".", "..", "../x", "a/b", "a\\b", "a\0", "a\n", ".hidden", &"é".repeat(126)] {
            assert!(file_name(name).is_err(), "{name:?}");
        }
        assert_eq!(file_name("a b.c é").unwrap(), "a b.c é.json");
        assert_eq!(file_name(&"x".repeat(250)).unwrap().len(), 255);
    }
}
