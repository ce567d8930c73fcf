//! What a preview shows of a session.

use std::path::Path;

use super::facts::Facts;
use super::file::read_file;
use super::log::{Log, Time};
use super::names;
use super::session::Session;
use crate::error::Result;
use crate::json::Nesting;
use crate::lines::Buffer;
use crate::marks::Text;

/// The facts of a preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    pub name: String,
    pub created_at: String,
    pub updated_at: String,
    pub message_count: u64,
    /// In the order of their first message, with how many there are; `?` for messages without one.
    pub roles: Vec<(String, u64)>,
    /// Sorted, each once; `?` for calls that name none.
    pub tools: Vec<String>,
    pub parent_id: String,
    pub sub_sessions: Vec<String>,
}

impl Session {
    /// What a preview shows of it.
    #[must_use]
    pub fn preview(&self) -> Preview {
        let Log { message_count, roles, tools, .. } = self.log(false);
        Preview {
            name: self.name().to_owned(),
            created_at: self.created_at().to_owned(),
            updated_at: self.updated_at().to_owned(),
            message_count,
            roles,
            tools: tools.into_iter().collect(),
            parent_id: self.parent_id().to_owned(),
            sub_sessions: self.sub_sessions(),
        }
    }
}

/// What a preview shows of a file, of which nothing else is kept.
///
/// # Errors
///
/// As [`Session::read`].
pub fn preview(path: &Path) -> Result<Preview> {
    let read = |document: Text<'_>, nesting: &mut Nesting| Facts::read(document, nesting, false);
    let (facts, _) = read_file(path, &mut Buffer::default(), read)?;
    let Facts { log, created_at, updated_at, parent_id, sub_sessions, .. } = facts;
    let time = |time: Option<Time>| time.unwrap_or_default().text;
    Ok(Preview {
        name: names::of_file(path),
        created_at: created_at.unwrap_or_else(|| time(log.first_time)),
        updated_at: updated_at.unwrap_or_else(|| time(log.last_time)),
        message_count: log.message_count,
        roles: log.roles,
        tools: log.tools.into_iter().collect(),
        parent_id,
        sub_sessions,
    })
}
