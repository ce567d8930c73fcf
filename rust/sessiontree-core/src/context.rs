//! What a model is sent of a session, whatever program kept it.

use std::ops::Range;

/// Which model, and whose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    pub provider: String,
    pub model_id: String,
}

/// Messages, and the settings that go with them.
#[derive(Clone, Debug)]
pub struct Context {
    /// The messages as one JSON array, such as strict decoders take as far as its texts go.
    pub json: Vec<u8>,
    /// Where in it each message stands.
    pub messages: Vec<Range<usize>>,
    pub thinking_level: String,
    /// None where the session names no model.
    pub model: Option<Model>,
}
