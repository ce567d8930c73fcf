//! The stream of a running agent: its lines, and what they say was used.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sessiontree_core as core;

use crate::rows;

/// Finds the lines of a stream that comes in pieces.
#[pyclass(frozen, module = "sessiontree._native")]
pub(crate) struct EventReader {
    reader: Mutex<core::EventReader>,
}

impl EventReader {
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut core::EventReader) -> T + Send) -> T {
        py.detach(|| work(&mut self.reader.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl EventReader {
    #[new]
    #[pyo3(signature = (types, *, strict))]
    fn new(types: Option<HashSet<String>>, strict: bool) -> Self {
        Self { reader: Mutex::new(core::EventReader::new(types, strict)) }
    }

    /// Take the next piece; gives the JSON of each line that is now complete, sound and wanted.
    fn feed<'py>(&self, py: Python<'py>, piece: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let lines = self.with(py, |reader| reader.feed(piece));
        PyList::new(py, lines.iter().map(|line| PyBytes::new(py, line)))
    }

    /// End the stream; gives what its last line holds, if that had no LF.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let line = self.with(py, core::EventReader::finish);
        PyList::new(py, line.iter().map(|line| PyBytes::new(py, line)))
    }

    /// Whether a strict reader has met damage, and gives nothing any more.
    #[getter]
    fn has_failed(&self, py: Python<'_>) -> bool {
        self.with(py, |reader| reader.has_failed())
    }

    /// The damage so far, by line; `path` is what the stream is called in it.
    #[expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]
    fn damage<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyList>> {
        let damage = self.with(py, |reader| reader.damage(&path));
        PyList::new(py, damage.iter().map(|damage| rows::damage(py, damage)).collect::<PyResult<Vec<_>>>()?)
    }
}

/// The usage records in an object's `usage` and `details.modelUsage`, and the numbers that do not count, in words.
///
/// A record is `(input, output, cache_read, cache_write, total_tokens, cost_total)`.
#[pyfunction]
pub(crate) fn spent(json: &[u8]) -> PyResult<(Vec<[f64; 6]>, Vec<String>)> {
    let spent = core::spent(json).ok_or_else(|| PyValueError::new_err("json: expected a JSON object"))?;
    Ok((spent.records.into_iter().map(Into::into).collect(), spent.odd))
}
