//! The binding: what Python sees of the core.

mod call;
mod info;
mod rows;
mod scan;

use pyo3::prelude::*;

/// The Rust core, as Python sees it.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::info::{SessionInfo, restore};
    #[pymodule_export]
    use crate::scan::scan;
}
