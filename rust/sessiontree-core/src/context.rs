//! Words about what a model is sent, whatever program kept it.

/// Which model, and whose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    pub provider: String,
    pub model_id: String,
}
