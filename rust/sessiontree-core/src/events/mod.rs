//! The lines that a running agent prints: which there are, and what they say was used.

mod reader;
mod spent;

pub use reader::EventReader;
pub use spent::{Spent, spent};
