//! The header: facts about the session, on the first line that counts.

use super::entry::Entry;
use super::intake::time;
use super::migrate::version;
use crate::json::Span;

/// What the header says.
#[derive(Clone, Debug)]
pub struct Header {
    pub id: String,
    /// Empty when it names none.
    pub cwd: String,
    /// Unix milliseconds; None when unreadable.
    pub created_ms: Option<i64>,
    /// None when it names none.
    pub parent_session: Option<String>,
    /// The file's own.
    pub version: i64,
}

impl Header {
    /// None if the record has no id.
    pub(super) fn of(line: &[u8], entry: &Entry) -> Option<Self> {
        let string = |span: Option<Span>| span.map(|span| span.text(line).into_owned());
        Some(Self {
            id: string(entry.id)?,
            cwd: string(entry.cwd).unwrap_or_default(),
            created_ms: time(line, entry),
            parent_session: string(entry.parent_session).filter(|path| !path.is_empty()),
            version: version(line, entry.version),
        })
    }
}
