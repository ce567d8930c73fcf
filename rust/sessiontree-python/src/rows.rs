//! Results that come singly: met by a Python dataclass each.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use sessiontree_core::{Damage, Tokens, Usage};

static DAMAGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static USAGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A `sessiontree.Damage`.
pub(crate) fn damage<'py>(py: Python<'py>, damage: &Damage) -> PyResult<Bound<'py, PyAny>> {
    let (line, offset) = damage.place.map(|place| (place.line, place.offset)).unzip();
    let arguments = (damage.kind.name(), &*damage.path, line, offset, damage.reason.as_str());
    DAMAGE.import(py, "sessiontree.errors", "Damage")?.call1(arguments)
}

/// A `sessiontree.Usage`.
pub(crate) fn usage<'py>(py: Python<'py>, usage: &Usage) -> PyResult<Bound<'py, PyAny>> {
    let by_model = PyDict::new(py);
    for (model, part) in &usage.by_model {
        by_model.set_item(&**model, tokens(py, part, PyDict::new(py))?)?;
    }
    tokens(py, &usage.total, by_model)
}

fn tokens<'py>(py: Python<'py>, tokens: &Tokens, by_model: Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    let arguments = (
        count(py, tokens.input)?,
        count(py, tokens.output)?,
        count(py, tokens.cache_read)?,
        count(py, tokens.cache_write)?,
        count(py, tokens.total_tokens)?,
        tokens.cost_total,
        by_model,
    );
    USAGE.import(py, "sessiontree.usage", "Usage")?.call1(arguments)
}

/// A number of tokens as an `int` where it is whole and exact in a double, as it nearly always is.
fn count(py: Python<'_>, tokens: f64) -> PyResult<Bound<'_, PyAny>> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if tokens.fract() == 0.0 && tokens <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole, and within an i64")]
        let whole = tokens as i64;
        return Ok(whole.into_pyobject(py)?.into_any());
    }
    Ok(tokens.into_pyobject(py)?.into_any())
}
