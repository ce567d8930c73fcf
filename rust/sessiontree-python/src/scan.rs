//! The scan, its callback and its interruptions.

use std::ops::ControlFlow;
use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList};
use sessiontree_core::{Options, Progress, Scan, Source};

use crate::call::{call, to_strict_exception};
use crate::info::SessionInfo;
use crate::rows;

/// Read every session that the sources hold; with `usage`, add up what all of them used.
///
/// Of files that are as the catalogue knows them, what it knows is taken; what is read is kept there.
#[pyfunction]
#[pyo3(signature = (sources, on_progress, threads, text, usage, strict, catalogue=None))]
#[expect(clippy::needless_pass_by_value, clippy::too_many_arguments, reason = "Python's own; it passes what is owned")]
pub(crate) fn scan(
    py: Python<'_>,
    sources: Vec<(String, PathBuf)>,
    on_progress: Option<Py<PyAny>>,
    threads: Option<Py<PyAny>>,
    text: bool,
    usage: bool,
    strict: bool,
    catalogue: Option<PathBuf>,
) -> PyResult<Bound<'_, PyDict>> {
    let sources = self::sources(sources)?;
    let threads = threads.map(|threads| thread_count(threads.bind(py))).transpose()?;
    if on_progress.as_ref().is_some_and(|on_progress| !on_progress.bind(py).is_callable()) {
        return Err(PyTypeError::new_err("on_progress: expected a callable, or None"));
    }
    let scan = run(py, &sources, &Options { threads, text, usage, catalogue }, on_progress.as_ref())?;
    if let Some(damage) = scan.damage.iter().find(|damage| strict && !damage.kind.is_note()) {
        return Err(to_strict_exception(py, damage));
    }
    to_row(py, scan)
}

/// A number of threads, of which the core takes no more than there are processors.
pub(crate) fn thread_count(threads: &Bound<'_, PyAny>) -> PyResult<usize> {
    let threads = threads.cast::<PyInt>().map_err(|_| PyTypeError::new_err("threads: expected an int, or None"))?;
    if threads.lt(1)? {
        return Err(PyValueError::new_err(format!("threads is {threads}: expected at least 1, or None")));
    }
    Ok(threads.extract().unwrap_or(usize::MAX))
}

/// Where to look, as Python says it.
pub(crate) fn sources(sources: Vec<(String, PathBuf)>) -> PyResult<Vec<Source>> {
    sources.into_iter().map(|(layout, path)| source(&layout, path)).collect()
}

fn source(layout: &str, path: PathBuf) -> PyResult<Source> {
    match layout {
        "agent" => Ok(Source::Agent(path)),
        "flat" => Ok(Source::Flat(path)),
        "replio" => Ok(Source::Replio(path)),
        "any" => Ok(Source::Any(path)),
        _ => Err(PyValueError::new_err(format!("no such layout: {layout}"))),
    }
}

/// Scans with the interpreter lock released; takes it for the callback, and to look for signals while waiting.
///
/// What the callback raises, or a signal handler (Ctrl-C), ends the scan and comes out.
fn run(py: Python<'_>, sources: &[Source], options: &Options, on_progress: Option<&Py<PyAny>>) -> PyResult<Scan> {
    let mut raised = None;
    let mut end_on = |result: PyResult<()>| match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            raised = Some(error);
            ControlFlow::Break(())
        }
    };
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method itself is bound to one lifetime")]
    let check_signals = || Python::attach(|py| py.check_signals());
    let mut progress = |progress| match (progress, on_progress) {
        (Progress::Tick, _) => end_on(check_signals()),
        (Progress::File { loaded, total }, Some(on_progress)) => {
            end_on(Python::attach(|py| on_progress.call1(py, (loaded, total)).map(drop)))
        }
        (Progress::File { .. }, None) => ControlFlow::Continue(()),
    };
    let scan = call(py, || sessiontree_core::scan(sources, options, &mut progress));
    raised.map_or(scan, Err)
}

fn to_row(py: Python<'_>, scan: Scan) -> PyResult<Bound<'_, PyDict>> {
    let row = PyDict::new(py);
    let damage = scan.damage.iter().map(|damage| rows::damage(py, damage)).collect::<PyResult<Vec<_>>>()?;
    row.set_item("usage", rows::usage(py, &scan.usage)?)?;
    row.set_item("damage", damage)?;
    row.set_item("infos", PyList::new(py, scan.infos.into_iter().map(SessionInfo::from))?)?;
    Ok(row)
}
