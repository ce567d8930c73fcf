//! The rules of sessiontree, without Python: bytes to lines, entries, facts, and the scan of a whole store.
//!
//! The modules stand in the order in which data flows.

mod error;
mod marks;
mod json;
mod rewrite;
mod lines;
mod timestamp;
mod usage;
mod message;
mod info;
mod context;
mod files;
mod write;
mod catalogue;
mod workers;
mod crew;
mod listing;
mod elyra;
pub mod replio;
mod events;
mod sources;
mod headers;
mod known;
mod scan;
mod contexts;
mod tables;

pub use context::{Model, SessionContext};
pub use contexts::{Contexts, contexts};
pub use elyra::{Context, Header, Kind, NewSession, NodeLabel, OpenOptions, OpenSession, SessionEntry, TreeView, fork};
pub use error::{Damage, DamageKind, Error, Place, Result, Tick, words};
pub use events::{EventReader, Spent, spent};
pub use headers::{FoundHeader, find_headers};
pub use info::{Format, SessionInfo, Stamp};
pub use scan::{Options, Progress, Scan, read_text, scan};
pub use sources::Source;
pub use tables::Table;
pub use timestamp::format as format_time;
pub use usage::{Tokens, Usage};
