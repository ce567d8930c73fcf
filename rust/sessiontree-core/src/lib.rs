//! The rules of sessiontree, without Python: bytes to lines, entries, facts, and the scan of a whole store.
//!
//! The modules stand in the order in which data flows.

mod error;
mod json;
mod lines;
mod message;
mod timestamp;
mod usage;
mod info;
mod elyra;
mod workers;
mod scan;

pub use elyra::read_text;
pub use elyra::store::Source;
pub use error::{Damage, DamageKind, Error, Place, Result, words};
pub use info::{SessionInfo, Stamp};
pub use scan::{Options, Progress, Scan, scan};
pub use usage::{Tokens, Usage};
