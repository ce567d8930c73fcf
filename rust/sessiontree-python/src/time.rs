//! Times for Python.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDateTime, PyDelta, PyTzInfo};

static EPOCH: PyOnceLock<Py<PyDateTime>> = PyOnceLock::new();

/// Unix milliseconds as a `datetime` in UTC; the core gives none that it cannot hold.
pub(crate) fn datetime(py: Python<'_>, ms: i64) -> PyResult<Bound<'_, PyAny>> {
    let utc = || PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&*PyTzInfo::utc(py)?)).map(Bound::unbind);
    let epoch = EPOCH.get_or_try_init(py, utc)?.bind(py);
    let (days, ms) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    #[expect(clippy::cast_possible_truncation, reason = "a datetime's range has few enough days")]
    let since = PyDelta::new(py, days as i32, (ms / 1000) as i32, (ms % 1000 * 1000) as i32, false)?;
    epoch.add(since)
}
