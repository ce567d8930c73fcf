//! Words about what a model is sent, whatever program kept it.

use crate::info::SessionInfo;

/// The thinking level where none is set.
pub(crate) const NO_THINKING: &str = "off";

/// Which model, and whose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    pub provider: String,
    pub model_id: String,
}

/// A session, and what a model is sent of it.
#[derive(Debug)]
pub struct SessionContext {
    pub info: SessionInfo,
    /// The messages, as a JSON array that strict decoders take as far as its texts go.
    pub json: Vec<u8>,
    pub thinking_level: String,
    pub model: Option<Model>,
}
