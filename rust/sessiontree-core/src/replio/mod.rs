//! Replio's sessions: one JSON document each.

pub mod names;
mod places;
mod message;
mod log;
mod document;
mod layout;
mod dumps;
mod turns;
mod facts;
mod listing;
mod file;
mod transforms;
mod session;
mod preview;
mod context;
mod fold;
mod compaction;
mod render;
mod save;
mod markdown;
mod translation;
mod survey;
mod visit;

use std::borrow::Cow;

use crate::json::{is_string, text};
use crate::timestamp;
pub use context::ContextOptions;
pub use fold::folded;
pub(crate) use listing::{Reading, list, read_text};
pub(crate) use names::of_file as name_of;
pub(crate) use places::is_session_name;
pub use places::sessions_folder;
pub use preview::{Preview, preview};
pub use save::Target;
pub use session::{List, Session};
pub(crate) use survey::survey;
pub use transforms::Transforms;
pub use translation::shared;
pub(crate) use visit::visit;

/// A time as Replio and its users write it, in Unix milliseconds: a blank may stand for the `T`, and without a zone it is UTC.
fn time(text: &str) -> Option<i64> {
    match text.as_bytes().get(10) {
        Some(b' ') => timestamp::parse(&format!("{}T{}", &text[..10], &text[11..])),
        _ => timestamp::parse(text),
    }
}

/// A value as text: what a string says, and any other as the JSON that it is.
fn shown(raw: &[u8]) -> Cow<'_, str> {
    if is_string(raw) { text(raw) } else { String::from_utf8_lossy(raw) }
}
