//! A Replio session in memory, and the rules for its name.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use sessiontree_core::replio::{self, ContextOptions, List, Target, Transforms, names};
use sessiontree_core::{Error, SessionEntry};

use crate::call::{call, call_long, to_exception};
use crate::entries::to_python;
use crate::rows;

/// The document of a session: what its file holds, and what was added since.
#[pyclass(frozen, module = "sessiontree._native")]
pub(crate) struct ReplioDocument {
    session: Mutex<replio::Session>,
}

impl ReplioDocument {
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut replio::Session) -> T + Send) -> T {
        py.detach(|| work(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Makes a change, and writes the session if there is a target: both, or nothing.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        target: Option<To>,
        change: impl FnOnce(&mut replio::Session) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let target = target.map(To::into_target);
        call_long(py, |tick| {
            self.session.lock().unwrap_or_else(PoisonError::into_inner).change(target.as_ref(), tick, change)
        })
    }

    fn json<'py>(&self, py: Python<'py>, work: impl FnOnce(&replio::Session) -> Vec<u8> + Send) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.with(py, |session| work(session)))
    }
}

#[pymethods]
impl ReplioDocument {
    /// A new session, which is in memory only.
    #[new]
    fn new(name: &str, now: &str, parent_id: &str) -> Self {
        Self { session: Mutex::new(replio::Session::new(name, now, parent_id)) }
    }

    /// Read a session's file.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        call(py, || replio::Session::read(&path)).map(|session| Self { session: Mutex::new(session) })
    }

    #[getter]
    fn name(&self, py: Python<'_>) -> String {
        self.with(py, |session| session.name().to_owned())
    }

    #[getter]
    fn created_at(&self, py: Python<'_>) -> String {
        self.with(py, |session| session.created_at().to_owned())
    }

    #[getter]
    fn updated_at(&self, py: Python<'_>) -> String {
        self.with(py, |session| session.updated_at().to_owned())
    }

    #[getter]
    fn parent_id(&self, py: Python<'_>) -> String {
        self.with(py, |session| session.parent_id().to_owned())
    }

    #[getter]
    fn sub_sessions(&self, py: Python<'_>) -> Vec<String> {
        self.with(py, |session| session.sub_sessions())
    }

    /// Whether the log is one of turns, which are only read.
    #[getter]
    fn has_turns(&self, py: Python<'_>) -> bool {
        self.with(py, |session| session.has_turns())
    }

    /// Whether it holds no message, no error and no permission.
    #[getter]
    fn is_empty(&self, py: Python<'_>) -> bool {
        self.with(py, |session| session.is_empty())
    }

    /// Whether it was read from a file, or written to one.
    #[getter]
    fn has_file(&self, py: Python<'_>) -> bool {
        self.with(py, |session| session.has_file())
    }

    /// Whether a number in it may be larger than 64 bits.
    #[getter]
    fn has_long_numbers(&self, py: Python<'_>) -> bool {
        self.with(py, |session| session.has_long_numbers())
    }

    #[getter]
    fn has_summary(&self, py: Python<'_>) -> bool {
        self.with(py, |session| session.has_summary())
    }

    /// What is odd in its file.
    #[getter]
    fn damage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let damage = self.with(py, |session| session.damage().to_vec());
        PyList::new(py, damage.iter().map(|damage| rows::damage(py, damage)).collect::<PyResult<Vec<_>>>()?)
    }

    /// The entries of `messages`, `errors` or `permissions` that are objects, from that one on, as a JSON list.
    fn entries<'py>(&self, py: Python<'py>, list: &str, start: usize) -> PyResult<Bound<'py, PyBytes>> {
        let list = list_named(list)?;
        Ok(self.json(py, |session| session.entries(list, start)))
    }

    /// The messages as entries such as Elyra's, in the words that all formats share.
    fn shared_messages<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        entries(py, &self.with(py, |session| session.shared_messages()))
    }

    /// The errors as entries of the type `error`.
    fn shared_errors<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        entries(py, &self.with(py, |session| session.shared_errors()))
    }

    /// Add an entry, a JSON object; with a target, on the disk as well, or not at all. So do all that take one.
    #[pyo3(signature = (list, json, now, target))]
    fn append(&self, py: Python<'_>, list: &str, json: &[u8], now: &str, target: Option<To>) -> PyResult<()> {
        let list = list_named(list)?;
        self.change(py, target, |session| session.append(list, json, now))
    }

    /// Forget the file; the next save makes a new one.
    fn detach(&self, py: Python<'_>) {
        self.with(py, replio::Session::detach);
    }

    fn set_name(&self, py: Python<'_>, name: &str) {
        self.with(py, |session| session.set_name(name));
    }

    /// Name the session that it was begun from.
    #[pyo3(signature = (name, target))]
    fn set_parent_id(&self, py: Python<'_>, name: &str, target: Option<To>) -> PyResult<()> {
        self.change(py, target, |session| {
            session.set_parent_id(name);
            Ok(())
        })
    }

    /// Add the name of a session that was begun from it, once.
    #[pyo3(signature = (name, target))]
    fn add_sub_session(&self, py: Python<'_>, name: &str, target: Option<To>) -> PyResult<()> {
        self.change(py, target, |session| session.add_sub_session(name))
    }

    /// Give a session that was begun from it its new name.
    #[pyo3(signature = (old, new, target))]
    fn rename_sub_session(&self, py: Python<'_>, old: &str, new: &str, target: Option<To>) -> PyResult<()> {
        self.change(py, target, |session| session.rename_sub_session(old, new))
    }

    /// Write it: to a new file if it has none, else in the place of its own.
    fn save(&self, py: Python<'_>, target: To) -> PyResult<()> {
        let target = target.into_target();
        call_long(py, |tick| self.session.lock().unwrap_or_else(PoisonError::into_inner).save(&target, tick))
    }

    /// Give its file another name, which nothing may have yet.
    #[expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]
    fn move_file(&self, py: Python<'_>, source: PathBuf, target: To) -> PyResult<()> {
        let target = target.into_target();
        call_long(py, |tick| {
            self.session.lock().unwrap_or_else(PoisonError::into_inner).move_file(&source, &target, tick)
        })
    }

    /// The messages that a provider is sent, as a JSON list.
    #[pyo3(signature = (*, drop_unanswered, strip, keep_system))]
    fn provider_messages<'py>(
        &self,
        py: Python<'py>,
        drop_unanswered: bool,
        strip: bool,
        keep_system: bool,
    ) -> Bound<'py, PyBytes> {
        let options = ContextOptions { drop_unanswered, strip, keep_system };
        self.json(py, |session| session.provider_messages(options))
    }

    /// The first messages as they are given to whoever is to sum them up, as a JSON list.
    fn folded<'py>(&self, py: Python<'py>, count: usize) -> Bound<'py, PyBytes> {
        self.json(py, |session| session.folded(count))
    }

    /// How many messages to sum up so that the last `keep` are sent as they are; None if there is nothing to do.
    fn compactable(&self, py: Python<'_>, keep: usize) -> Option<usize> {
        self.with(py, |session| session.compactable(keep))
    }

    /// Put a compaction record into the log, made of `command` if the last message is none; gives its number.
    #[pyo3(signature = (summary, count, command, now, target))]
    fn compact(
        &self,
        py: Python<'_>,
        summary: &str,
        count: usize,
        command: &[u8],
        now: &str,
        target: Option<To>,
    ) -> PyResult<usize> {
        self.change(py, target, |session| session.compact(summary, count, command, now))
    }

    /// What a preview shows of it.
    fn preview<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        preview_row(py, self.with(py, |session| session.preview()))
    }

    /// The log as Markdown.
    fn to_markdown(&self, py: Python<'_>) -> String {
        self.with(py, |session| session.to_markdown())
    }
}

/// Entries by their JSON.
fn entries<'py>(py: Python<'py>, json: &[Vec<u8>]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let entries = json.iter().filter_map(|json| SessionEntry::of_json(json));
    entries.map(|entry| to_python(py, entry)).collect()
}

fn not_objects() -> PyErr {
    PyValueError::new_err("messages: expected objects")
}

fn list_named(name: &str) -> PyResult<List> {
    match name {
        "messages" => Ok(List::Messages),
        "errors" => Ok(List::Errors),
        "permissions" => Ok(List::Permissions),
        _ => Err(PyValueError::new_err(format!("no such list: {name}"))),
    }
}

/// Where a session is written: the file, the tools whose results are left out, how many characters of others are written.
#[derive(FromPyObject)]
struct To(PathBuf, Vec<String>, Option<usize>);

impl To {
    fn into_target(self) -> Target {
        let Self(path, noise_tools, max_chars) = self;
        Target { path, transforms: Transforms { noise_tools: noise_tools.into_iter().collect(), max_chars } }
    }
}

/// The folder of Replio's sessions that is meant by a folder: a project's, that in a `.replio`, or itself.
///
/// None if there is none.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]
pub(crate) fn replio_sessions_folder(folder: PathBuf) -> Option<PathBuf> {
    replio::sessions_folder(&folder)
}

/// What a preview shows of a session's file.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]
pub(crate) fn replio_preview(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    preview_row(py, call(py, || replio::preview(&path))?)
}

fn preview_row(py: Python<'_>, preview: replio::Preview) -> PyResult<Bound<'_, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", preview.name)?;
    row.set_item("created_at", preview.created_at)?;
    row.set_item("updated_at", preview.updated_at)?;
    row.set_item("message_count", preview.message_count)?;
    row.set_item("roles", preview.roles)?;
    row.set_item("tools", preview.tools)?;
    row.set_item("parent_id", preview.parent_id)?;
    row.set_item("sub_sessions", preview.sub_sessions)?;
    Ok(row)
}

/// Messages, each a JSON object, as they are given to whoever is to sum them up, as a JSON list.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]
pub(crate) fn replio_folded(py: Python<'_>, messages: Vec<Vec<u8>>) -> PyResult<Bound<'_, PyBytes>> {
    let folded = py.detach(|| replio::folded(messages.iter().map(Vec::as_slice)));
    let folded = folded.ok_or_else(not_objects)?;
    Ok(PyBytes::new(py, &folded))
}

/// Messages, each a JSON object, as messages in the words that all formats share, as a JSON list.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]
pub(crate) fn replio_shared(py: Python<'_>, messages: Vec<Vec<u8>>) -> PyResult<Bound<'_, PyBytes>> {
    let shared = py.detach(|| replio::shared(messages.iter().map(Vec::as_slice)));
    let shared = shared.ok_or_else(not_objects)?;
    Ok(PyBytes::new(py, &shared))
}

/// The file name of a session.
#[pyfunction]
pub(crate) fn replio_file_name(py: Python<'_>, name: &str) -> PyResult<String> {
    names::file_name(name).map_err(|error| to_exception(py, error))
}

/// A text's first words as the last part of a session's name: `[a-z0-9_-]*`, empty if nothing of it can be there.
#[pyfunction]
pub(crate) fn slug(text: &str) -> String {
    names::slug(text)
}

/// The name of a session that began at `stamp`; of a slug, of a job, or of the session that it was begun from.
#[pyfunction]
pub(crate) fn replio_name(kind: &str, stamp: &str, of: &str) -> PyResult<String> {
    match kind {
        "ses" => Ok(names::of_session(stamp, of)),
        "job" => Ok(names::of_job(stamp, of)),
        "sub" => Ok(names::of_child(stamp, of)),
        _ => Err(PyValueError::new_err(format!("no such kind: {kind}"))),
    }
}
