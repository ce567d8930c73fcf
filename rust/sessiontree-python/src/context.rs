//! What a model is sent: of an open session's branch, or of every session of a store.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sessiontree_core as core;

use crate::call::{call, call_long};
use crate::info::SessionInfo;
use crate::scan::{sources, thread_count};

/// What a model is sent of a branch, as it was when this was made.
#[pyclass(frozen, module = "sessiontree._native")]
pub(crate) struct Context {
    messages: Messages,
    thinking_level: String,
    model: Option<core::Model>,
}

/// Where the messages are.
enum Messages {
    /// In the session's file, or its memory.
    Late(core::Context),
    /// Here, as a JSON array.
    Ready(Vec<u8>),
}

impl From<core::Context> for Context {
    fn from(context: core::Context) -> Self {
        let (thinking_level, model) = (context.thinking_level.clone(), context.model.clone());
        Self { messages: Messages::Late(context), thinking_level, model }
    }
}

#[pymethods]
impl Context {
    /// The thinking level.
    #[getter]
    fn thinking_level(&self) -> &str {
        &self.thinking_level
    }

    /// Provider and model, or None.
    #[getter]
    fn model(&self) -> Option<(&str, &str)> {
        self.model.as_ref().map(|model| (model.provider.as_str(), model.model_id.as_str()))
    }

    /// The messages as one JSON array.
    fn joined<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        match &self.messages {
            // Written where Python keeps it: a context may be as large as its file.
            Messages::Late(context) => PyBytes::new_with(py, context.json_len(), |mut buffer| {
                call(py, || {
                    context.write_json(&mut |piece| {
                        let (head, rest) = std::mem::take(&mut buffer).split_at_mut(piece.len());
                        head.copy_from_slice(piece);
                        buffer = rest;
                    })
                })
            }),
            Messages::Ready(json) => Ok(PyBytes::new(py, json)),
        }
    }

    /// The messages' JSON, one by one; None where there is only all of it.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let Messages::Late(context) = &self.messages else { return Ok(None) };
        let parts = call(py, || context.messages_json())?;
        PyList::new(py, parts.iter().map(|json| PyBytes::new(py, json))).map(Some)
    }
}

/// The sessions of a store with their contexts, one after the other.
#[pyclass(frozen, module = "sessiontree._native")]
pub(crate) struct Contexts {
    contexts: Mutex<core::Contexts>,
}

#[pymethods]
impl Contexts {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<(SessionInfo, Context)>> {
        // As of a generator: another thread, or a signal handler in the middle of this very call, must not wait for it.
        let Ok(mut contexts) = self.contexts.try_lock() else {
            return Err(PyValueError::new_err("contexts() is being iterated already"));
        };
        let contexts = &mut *contexts;
        let next = call_long(py, |tick| contexts.next(&mut || stop_on_break(tick())))?;
        Ok(next.map(|core::SessionContext { info, json, thinking_level, model }| {
            (info.into(), Context { messages: Messages::Ready(json), thinking_level, model })
        }))
    }

    /// How many files could not be read so far.
    #[getter]
    fn unreadable(&self) -> usize {
        self.contexts.try_lock().map_or(0, |contexts| contexts.unreadable())
    }
}

fn stop_on_break(flow: ControlFlow<()>) -> core::Result<()> {
    if flow.is_break() { Err(core::Error::Stopped) } else { Ok(()) }
}

/// Build the context of every session that the sources hold, in the order of their paths.
#[pyfunction]
pub(crate) fn contexts(
    py: Python<'_>,
    sources: Vec<(String, PathBuf)>,
    threads: Option<Bound<'_, PyAny>>,
) -> PyResult<Contexts> {
    let sources = self::sources(sources)?;
    let threads = threads.map(|threads| thread_count(&threads)).transpose()?;
    let contexts = call_long(py, |tick| core::contexts(&sources, threads, &mut || stop_on_break(tick())))?;
    Ok(Contexts { contexts: Mutex::new(contexts) })
}
