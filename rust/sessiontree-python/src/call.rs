//! Between the core and Python: the lock, errors, and the Python classes that results become.

use std::io;
use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sessiontree_core::{Damage, Error};

static CONFLICT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static FORMAT: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Runs core work with the interpreter lock released; raises its error as a Python exception.
pub(crate) fn call<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    py.detach(work).map_err(|error| to_exception(py, error))
}

/// The Python exception for an error of the core.
pub(crate) fn to_exception(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Io { path, source } => os_error(source.raw_os_error(), &source, path),
        Error::NothingFits { path, reason } => PyValueError::new_err(format!("{}: {reason}", path.display())),
        Error::Conflict { path, reason } => raised(py, &CONFLICT, "ConflictError", (reason, path)),
        Error::Stopped => PyRuntimeError::new_err("the scan was stopped"),
        Error::WorkerLost => PyRuntimeError::new_err("the scan's threads could not be started, or ended early"),
    }
}

/// The exception that `strict` raises for damage.
pub(crate) fn to_strict_exception(py: Python<'_>, damage: &Damage) -> PyErr {
    let path = damage.path.clone();
    match damage.errno {
        Some(_) => os_error(damage.errno, &io::Error::other(damage.reason.clone()), path),
        None => raised(py, &FORMAT, "FormatError", (damage.reason.clone(), path, damage.place.map(|place| place.line))),
    }
}

/// `OSError(errno, words, filename)`: Python makes `FileNotFoundError` and the like of it by `errno`.
fn os_error(errno: Option<i32>, error: &io::Error, path: PathBuf) -> PyErr {
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default().to_owned();
    match errno {
        Some(errno) => PyOSError::new_err((errno, words, path.into_os_string())),
        None => PyOSError::new_err(format!("{}: {words}", path.display())),
    }
}

fn raised<A>(py: Python<'_>, class: &'static PyOnceLock<Py<PyType>>, name: &str, arguments: A) -> PyErr
where
    A: pyo3::PyErrArguments + Send + Sync + 'static,
{
    match class.import(py, "sessiontree.errors", name) {
        Ok(class) => PyErr::from_type(class.clone(), arguments),
        Err(error) => error,
    }
}
