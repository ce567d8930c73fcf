//! The later form of a log, turns of parts, as the messages that it stands for.

use std::ops::Range;

use super::document::Outline;
use crate::json::Nesting;
use crate::marks::Text;

/// Messages, one after the other, as JSON.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) text: Vec<u8>,
    pub(super) elements: Vec<Range<usize>>,
}

/// The messages that a document's turns stand for.
pub(super) fn to_messages(document: Text<'_>, outline: &Outline, nesting: &mut Nesting) -> Messages {
    _ = (document, outline, nesting);
    Messages::default()
}
