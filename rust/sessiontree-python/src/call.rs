//! Between the core and Python: the lock, errors, and the Python classes that results become.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use sessiontree_core::{Damage, Error, words};

static CONFLICT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static FORMAT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static INVALID_NAME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static NAME_TAKEN: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static NO_SUCH_ENTRY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static READ_ONLY: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Runs core work with the interpreter lock released; raises its error as a Python exception.
pub(crate) fn call<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    py.detach(work).map_err(|error| to_exception(py, error))
}

/// As [`call`], for work that may take long: signals are looked for now and then, and what a handler raises (Ctrl-C) comes out.
pub(crate) fn call_long<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut dyn FnMut() -> ControlFlow<()>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let mut raised = None;
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method itself is bound to one lifetime")]
    let mut tick = || match Python::attach(|py| py.check_signals()) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            raised = Some(error);
            ControlFlow::Break(())
        }
    };
    let result = call(py, || work(&mut tick));
    raised.map_or(result, Err)
}

/// The Python exception for an error of the core.
pub(crate) fn to_exception(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Io { path, source } if source.kind() == io::ErrorKind::InvalidInput => {
            PyValueError::new_err(format!("{}: {source}", path.display()))
        }
        Error::Io { path, source } => os_error(source.raw_os_error(), words(&source), path),
        Error::NothingFits { path, reason } => PyValueError::new_err(format!("{}: {reason}", path.display())),
        Error::Conflict { path, reason } => raised(py, &CONFLICT, "ConflictError", (reason, path)),
        Error::NoSession { path, reason } => raised(py, &FORMAT, "FormatError", (reason, path)),
        Error::Damaged(damage) => to_strict_exception(py, &damage),
        Error::NoSuchEntry { path, id } => no_such_entry(py, path, id),
        Error::InvalidId { id } => {
            let reason = format!("{id:?}: expected letters, digits, '.', '_' and '-', a letter or digit at both ends");
            raised(py, &INVALID_NAME, "InvalidNameError", (reason,))
        }
        Error::InvalidName { name, reason } => {
            raised(py, &INVALID_NAME, "InvalidNameError", (format!("{name:?}: {reason}"),))
        }
        Error::Document { path, line, reason, is_unsupported } => no_document(py, path, line, reason, is_unsupported),
        Error::NameTaken { path } => {
            raised(py, &NAME_TAKEN, "NameTakenError", ("the file exists, and is never overwritten", path))
        }
        Error::ReadOnly { path } => {
            raised(py, &READ_ONLY, "ReadOnlyError", ("the session was opened for reading", path))
        }
        Error::Turns { path } => {
            let reason = "its log is one of turns, as Replio 0.33 and later write it: read and exported, never written";
            raised(py, &READ_ONLY, "ReadOnlyError", (reason, path))
        }
        Error::TooLong { length } => {
            PyValueError::new_err(format!("it is {length} bytes long: nothing that long is read"))
        }
        Error::Stopped => PyRuntimeError::new_err("the scan was stopped"),
        Error::NoThreads { reason } => PyRuntimeError::new_err(format!("no thread could be started: {reason}")),
        Error::OtherProcess => PyRuntimeError::new_err("it was begun in another process"),
        Error::WorkerLost => PyRuntimeError::new_err("a thread of the scan ended early"),
    }
}

/// The exception that `strict` raises for damage.
pub(crate) fn to_strict_exception(py: Python<'_>, damage: &Damage) -> PyErr {
    let path = damage.path.to_path_buf();
    match damage.errno {
        Some(_) => os_error(damage.errno, damage.reason.clone(), path),
        None => raised(py, &FORMAT, "FormatError", (damage.reason.clone(), path, damage.place.map(|place| place.line))),
    }
}

/// `OSError(errno, words, filename)`: Python makes `FileNotFoundError` and the like of it.
///
/// On Windows the number is the system's own, which has a place of its own in an `OSError`.
fn os_error(code: Option<i32>, words: String, path: PathBuf) -> PyErr {
    let path = path.into_os_string();
    if cfg!(windows) {
        return PyOSError::new_err((0, words, path, code));
    }
    PyOSError::new_err((code.unwrap_or_default(), words, path))
}

fn no_such_entry(py: Python<'_>, path: PathBuf, id: String) -> PyErr {
    let reason = format!("no entry has the id {id:?}");
    let path = (!path.as_os_str().is_empty()).then_some(path);
    let error = NO_SUCH_ENTRY.import(py, "sessiontree.errors", "EntryNotFoundError").and_then(|class| {
        let keywords = PyDict::new(py);
        keywords.set_item("entry_id", id)?;
        class.call((reason, path), Some(&keywords))
    });
    error.map_or_else(|error| error, PyErr::from_value)
}

fn no_document(py: Python<'_>, path: PathBuf, line: Option<u64>, reason: String, is_unsupported: bool) -> PyErr {
    let error = FORMAT.import(py, "sessiontree.errors", "FormatError").and_then(|class| {
        let keywords = PyDict::new(py);
        keywords.set_item("kind", if is_unsupported { "unsupported" } else { "corrupt" })?;
        class.call((reason, path, line), Some(&keywords))
    });
    error.map_or_else(|error| error, PyErr::from_value)
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
