//! Elyra's sessions, and pi's: one append-only tree in a JSONL file each.

mod entry;
mod index;
mod intake;
mod migrate;
mod header;
mod tree;
mod tally;
mod reader;
mod long;
mod stretch;
mod facts;
mod resume;
mod listing;
mod visit;
mod digest;
mod entries;
mod load;
mod source;
mod survey;
mod spending;
mod context;
mod session_entry;
mod view;
mod new;
mod session;
mod append;
mod copy;
pub(crate) mod store;
mod made_up;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use crate::error::{Error, Result, Tick};
use crate::files::{open, read_again};
use crate::info::{SessionInfo, Stamp};
use crate::lines::Buffer;
use crate::usage::IdentityKeys;
pub use context::Context;
pub use copy::fork;
pub(crate) use entry::Entry;
pub use entry::Kind;
use facts::Facts;
pub use header::Header;
pub(crate) use listing::{LongSession, Opened, Reading, Session, Wanted};
pub use new::NewSession;
pub use session::{OpenOptions, Session as OpenSession};
pub use session_entry::SessionEntry;
pub(crate) use survey::{LongSurvey, Surveyed, survey};
pub(crate) use tally::UsageSpans;
pub use view::{NodeLabel, TreeView};
pub(crate) use visit::{Visit, Visitor, visit};

pub(crate) use long::REGION;
use long::{Begun, Rest};

/// Reads the `all_messages_text` of a session that was listed before.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
pub fn read_text(info: &SessionInfo) -> Result<String> {
    let keys = IdentityKeys::default();
    let facts = |header: &Header| Facts::new(header.clone(), keys, true, false);
    let (mut buffer, is_stopped) = (Buffer::default(), AtomicBool::new(false));
    read_again(&info.into(), |file| {
        Ok(match long::begin(file, info.size_bytes, u64::MAX, &mut buffer, &is_stopped, facts)? {
            Begun::Session(_, Rest::Read(facts)) => Some(facts.into_text()),
            Begun::Session(_, Rest::Long(_)) | Begun::NoSession(_) => None,
        })
    })
}

/// A session file of which only the header was read.
#[derive(Clone, Debug)]
pub struct FoundHeader {
    pub path: PathBuf,
    pub header: Header,
    /// When the file was written last, in nanoseconds since 1970.
    pub modified_ns: i64,
}

/// Finds the sessions of the sources by their headers alone; what cannot be read is left out.
///
/// # Errors
///
/// [`Error::Io`] where a source cannot be looked at, [`Error::Stopped`] when `tick` breaks off.
pub fn find_headers(sources: &[store::Source], tick: Tick<'_>) -> Result<Vec<FoundHeader>> {
    let mut tick = || if tick().is_break() { Err(Error::Stopped) } else { Ok(()) };
    let mut found = Vec::new();
    let mut buffer = Buffer::default();
    let mut files = store::find(sources, &mut tick)?.files;
    files.sort_unstable_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
    for candidate in files {
        tick()?;
        let Ok(file) = open(&candidate.path) else { continue };
        let Ok(metadata) = file.metadata() else { continue };
        if let Some(header) = load::read_header(&file, metadata.len(), &mut buffer) {
            found.push(FoundHeader { path: candidate.path, header, modified_ns: Stamp::of(&metadata).modified_ns });
        }
    }
    Ok(found)
}
