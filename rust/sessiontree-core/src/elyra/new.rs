//! New sessions: their ids, headers and file names.

use std::path::PathBuf;

use uuid::Uuid;

use super::header::Header;
use super::migrate::CURRENT;
use crate::error::{Error, Result};
use crate::rewrite::quoted;
use crate::timestamp;

/// What a new session is to be.
#[derive(Clone, Debug, Default)]
pub struct NewSession {
    /// None: one is made, a UUID version 7.
    pub id: Option<String>,
    pub cwd: String,
    /// The session that it comes from.
    pub parent_session: Option<String>,
    /// Where its file goes, under a name made of time and id; None in memory.
    pub folder: Option<PathBuf>,
}

/// A header that is about to be written.
pub(super) struct NewHeader {
    pub(super) header: Header,
    pub(super) object: Vec<u8>,
    /// Where the file goes; None in memory.
    pub(super) path: Option<PathBuf>,
}

impl NewSession {
    /// The header as the seed's examples have it, for now.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] where an id was given that no file name may be built from.
    pub(super) fn header(&self, version: i64) -> Result<NewHeader> {
        let id = match &self.id {
            Some(id) if is_valid(id) => id.clone(),
            Some(id) => return Err(Error::InvalidId { id: id.clone() }),
            None => Uuid::now_v7().to_string(),
        };
        let now = timestamp::now();
        let time = timestamp::format(now);
        let version = version.max(CURRENT);
        let mut object = format!("{{\"type\":\"session\",\"version\":{version},\"id\":").into_bytes();
        object.extend(quoted(&id));
        object.extend_from_slice(format!(",\"timestamp\":\"{time}\",\"cwd\":").as_bytes());
        object.extend(quoted(&self.cwd));
        if let Some(parent) = &self.parent_session {
            object.extend_from_slice(b",\"parentSession\":");
            object.extend(quoted(parent));
        }
        object.push(b'}');
        let name = || format!("{}_{id}.jsonl", time.replace([':', '.'], "-"));
        let path = self.folder.as_ref().map(|folder| folder.join(name()));
        let header = Header {
            id,
            cwd: self.cwd.clone(),
            created_ms: Some(now),
            parent_session: self.parent_session.clone(),
            version,
        };
        Ok(NewHeader { header, object, path })
    }
}

/// Whether file names may be built from a session id: letters, digits, `.`, `_` and `-`, a letter or digit at both ends.
fn is_valid(id: &str) -> bool {
    let id = id.as_bytes();
    let is_plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    is_plain(id.first())
        && is_plain(id.last())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::is_valid;

    #[test]
    fn no_path_is_built_from_odd_ids() {
        for good in ["a", "0193-A.b_c", "..a".trim_start_matches('.')] {
            assert!(is_valid(good), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a\\b", "-a", "a-", "a b", "é", "a\0", "../a"] {
            assert!(!is_valid(bad), "{bad}");
        }
    }
}
