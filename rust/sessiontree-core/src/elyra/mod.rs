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
mod made_up;

use std::sync::atomic::AtomicBool;

use crate::error::Result;
use crate::files::read_again;
use crate::info::SessionInfo;
use crate::lines::Buffer;
use crate::usage::IdentityKeys;
pub use context::Context;
pub use copy::fork;
pub(crate) use entry::Entry;
pub use entry::Kind;
use facts::Facts;
pub use header::Header;
pub(crate) use listing::{LongSession, Reading, Wanted, list};
pub(crate) use load::read_header;
pub use new::NewSession;
pub use session::{OpenOptions, Session as OpenSession};
pub use session_entry::SessionEntry;
pub(crate) use survey::{LongSurvey, Surveyed, survey};
pub(crate) use tally::UsageSpans;
pub use view::{NodeLabel, TreeView};
pub(crate) use visit::{Visit, Visitor, visit, visit_entry};

pub(crate) use long::REGION;
use long::{Begun, Rest};

/// Whether a file of that name may be a session.
pub(crate) fn is_session_name(name: &[u8]) -> bool {
    name.ends_with(b".jsonl")
}

/// Reads the `all_messages_text` of a session that was listed before.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
pub(crate) fn read_text(info: &SessionInfo) -> Result<String> {
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
