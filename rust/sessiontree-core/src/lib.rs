//! The rules of sessiontree, without Python: bytes to lines, entries, facts, and the scan of a whole store.
//!
//! The modules stand in the order in which data flows.

mod elyra;
mod error;
mod info;
mod json;
mod lines;
mod message;
mod scan;
mod timestamp;
mod usage;
mod workers;

pub use elyra::read_text;
pub use elyra::store::Source;
pub use error::{Damage, DamageKind, Error, Result};
pub use info::{NO_MESSAGES, SessionInfo, Stamp};
pub use scan::{Options, Progress, Scan, scan};
pub use usage::{Tokens, Usage};
