//! `SessionInfo`: a row of a listing.

use std::fs::Metadata;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use crate::usage::Usage;

/// What stands for the first message of a session that has none.
pub(crate) const NO_MESSAGES: &str = "(no messages)";

/// What tells that a file is still the one that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The file's device and number there; 0 where the system has none.
    pub device: u64,
    pub inode: u64,
    pub size_bytes: u64,
    /// Nanoseconds since 1970; those of the years before 1678 and after 2261 are not told apart.
    pub modified_ns: i64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let (device, inode) = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let (device, inode) = (0, 0);
        Self { device, inode, size_bytes: metadata.len(), modified_ns: modified_ns(metadata) }
    }

    /// The file's time in Unix milliseconds.
    pub(crate) fn modified_ms(&self) -> i64 {
        self.modified_ns.div_euclid(1_000_000)
    }
}

fn modified_ns(metadata: &Metadata) -> i64 {
    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
    }
}

/// One session, as a listing shows it. Times are Unix milliseconds within the years 1 to 9999.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    pub path: PathBuf,
    pub id: String,
    /// Empty when the header has none.
    pub cwd: String,
    pub name: Option<String>,
    pub parent_session: Option<String>,
    pub created_ms: Option<i64>,
    pub modified_ms: i64,
    pub message_count: u64,
    /// `(no messages)` without a user message that has text.
    pub first_message: String,
    /// Loaded only when the listing was told to.
    pub all_messages_text: Option<String>,
    /// How many bytes were read.
    pub size_bytes: u64,
    pub entry_count: u64,
    pub leaf_id: Option<String>,
    pub tip_count: u64,
    pub usage: Usage,
    pub damage_count: u64,
    /// The file's own.
    pub version: i64,
    /// The file as it was when it had been read.
    pub stamp: Stamp,
}

/// A file that was listed: where it is, and what tells that it is still the one that was read.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) path: PathBuf,
    /// How many bytes were read.
    pub(crate) size_bytes: u64,
    pub(crate) stamp: Stamp,
}

impl From<&SessionInfo> for Listed {
    fn from(info: &SessionInfo) -> Self {
        Self { path: info.path.clone(), size_bytes: info.size_bytes, stamp: info.stamp }
    }
}
