//! `SessionInfo`: a row of a listing.

use std::fs::Metadata;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// What stands for the first message of a session that has none.
pub(crate) const NO_MESSAGES: &str = "(no messages)";

pub(crate) const NS_PER_S: i64 = 1_000_000_000;

/// What tells that a file is still the one that was read: to the catalogue, all of it; to who has it open, or lists it and
/// reads its text later, all but the time of any change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The file's device and number there; 0 where the system has none.
    pub device: u64,
    pub inode: u64,
    pub size_bytes: u64,
    /// Nanoseconds since 1970; those of the years before 1678 and after 2261 are not told apart.
    pub modified_ns: i64,
    /// When anything about the file changed last, which no program can set back; 0 where the system has no such time.
    pub changed_ns: i64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let (device, inode, changed_ns) = {
            use std::os::unix::fs::MetadataExt;
            let changed_ns = metadata.ctime().saturating_mul(NS_PER_S).saturating_add(metadata.ctime_nsec());
            (metadata.dev(), metadata.ino(), changed_ns)
        };
        #[cfg(not(unix))]
        let (device, inode, changed_ns) = (0, 0, 0);
        Self { device, inode, size_bytes: metadata.len(), modified_ns: modified_ns(metadata), changed_ns }
    }

    /// Whether the file was not written to in between, as its contents' own time has it. A new name, or other permissions,
    /// are no such change.
    pub(crate) fn is_unwritten_since(&self, earlier: &Self) -> bool {
        *self == Self { changed_ns: self.changed_ns, ..*earlier }
    }

    /// The file's time in Unix milliseconds.
    pub(crate) fn modified_ms(&self) -> i64 {
        self.modified_ns.div_euclid(1_000_000)
    }
}

fn modified_ns(metadata: &Metadata) -> i64 {
    metadata.modified().map_or(0, ns_since_1970)
}

pub(crate) fn ns_since_1970(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
    }
}

/// Whose way of keeping sessions a file follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Format {
    /// A tree in JSONL: Elyra's, and pi's.
    #[default]
    Elyra,
    /// One JSON document.
    Replio,
}

impl Format {
    const ALL: [Self; 2] = [Self::Elyra, Self::Replio];

    /// The name under which callers know it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Elyra => "elyra",
            Self::Replio => "replio",
        }
    }

    /// The format of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// One session, as a listing shows it. Times are Unix milliseconds within the years 1 to 9999.
///
/// Where it is kept, it is kept with its file: path and stamp are known there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionInfo {
    #[serde(skip)]
    pub path: PathBuf,
    pub format: Format,
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
    #[serde(skip)]
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
    #[serde(skip)]
    pub stamp: Stamp,
}

/// A file that was listed: where it is, and what tells that it is still the one that was read.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    /// How many bytes were read.
    pub(crate) size_bytes: u64,
    pub(crate) stamp: Stamp,
}

impl From<&SessionInfo> for Listed {
    fn from(info: &SessionInfo) -> Self {
        Self { path: info.path.clone(), format: info.format, size_bytes: info.size_bytes, stamp: info.stamp }
    }
}
