//! What is taken from an entry, whatever for: texts, ids, times and names by the format's rules.

use std::borrow::Cow;

use super::entry::Entry;
use super::index::NEVER;
use crate::error::{DamageKind, Place, Reports, excerpt};
use crate::json::{Nesting, Span, number};
use crate::marks::Text;
use crate::message::Message;
use crate::timestamp;

/// The line that an entry stands on, and where to report what is odd in it.
pub(crate) struct Intake<'a> {
    pub(crate) line: Text<'a>,
    /// How many bytes of the line in the file stand before this one, which has no white space at its ends.
    pub(crate) indent: usize,
    pub(crate) place: Place,
    /// Whether strict decoders take the line: it is UTF-8, and no string escapes half of a surrogate pair.
    pub(crate) is_clean: bool,
    pub(crate) reports: &'a mut Reports,
    pub(crate) nesting: &'a mut Nesting,
}

impl<'a> Intake<'a> {
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.line.bytes()
    }

    pub(super) fn decoded(&self, span: Option<Span>) -> Option<Cow<'a, str>> {
        Some(span?.text(self.bytes()))
    }
}

/// Tells of a header after the first.
pub(super) fn report_header(reports: &mut Reports, place: Place) {
    reports.add(DamageKind::Header, place, || "a header after the first; passed over".to_owned());
}

/// Tells of an entry with an earlier one's id.
pub(super) fn report_repeated(reports: &mut Reports, place: Place, id: &str) {
    let reason = || format!("the id {:?} is an earlier entry's; it names this one from here on", excerpt(id));
    reports.add(DamageKind::Repeated, place, reason);
}

/// The text of an id. An empty one is none.
pub(super) fn id(line: &[u8], span: Option<Span>) -> Option<Cow<'_, str>> {
    Some(span?.text(line)).filter(|id| !id.is_empty())
}

/// An entry's own time, in Unix milliseconds.
pub(super) fn time(line: &[u8], entry: &Entry) -> Option<i64> {
    timestamp::parse(&entry.timestamp?.text(line))
}

/// When a user or assistant message was sent, in Unix milliseconds: as it says itself, else as its entry says.
pub(super) fn activity(line: &[u8], entry: &Entry, message: &Message) -> i64 {
    if !message.is_spoken() || message.content.is_none() {
        return NEVER;
    }
    let own = message.timestamp.and_then(|span| number(span.of(line))).and_then(timestamp::cut);
    own.or_else(|| time(line, entry)).unwrap_or(NEVER)
}

/// The name that a `session_info` entry gives, trimmed as Python's `str.strip` trims; None if nothing is left.
pub(super) fn name(line: &[u8], entry: &Entry) -> Option<String> {
    let name = entry.name?.text(line);
    let name = name.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c));
    (!name.is_empty()).then(|| name.to_owned())
}
