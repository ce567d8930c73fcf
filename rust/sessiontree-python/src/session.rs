//! An open session, as `SessionManager` drives it.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use sessiontree_core as core;

use crate::call::{call, call_long};
use crate::context::Context;
use crate::entries::{to_list, to_python};
use crate::rows;
use crate::scan::{self, thread_count};
use crate::tree::TreeNode;

/// A session that is open. Calls from several threads wait for each other, Python's lock released.
#[pyclass(frozen, module = "sessiontree._native")]
pub(crate) struct Session {
    session: Mutex<core::OpenSession>,
}

impl From<core::OpenSession> for Session {
    fn from(session: core::OpenSession) -> Self {
        Self { session: Mutex::new(session) }
    }
}

thread_local! {
    /// The sessions that this thread is at work on.
    static AT_WORK: RefCell<Vec<*const Session>> = const { RefCell::new(Vec::new()) };
}

/// Marks a session as one that this thread is at work on, as long as it lives.
struct AtWork;

impl AtWork {
    /// An error where it is already: a signal handler runs in the middle of a call, and would wait for it for ever.
    fn on(session: &Session) -> PyResult<Self> {
        let session = std::ptr::from_ref(session);
        AT_WORK.with_borrow_mut(|at_work| {
            if at_work.contains(&session) {
                return Err(PyRuntimeError::new_err("the session is in the middle of a call by this very thread"));
            }
            at_work.push(session);
            Ok(Self)
        })
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        AT_WORK.with_borrow_mut(Vec::pop);
    }
}

impl Session {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut core::OpenSession) -> core::Result<T> + Send,
    ) -> PyResult<T> {
        let _at_work = AtWork::on(self)?;
        call(py, || work(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// As [`Self::with`], for what cannot fail.
    fn get<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut core::OpenSession) -> T + Send) -> PyResult<T> {
        self.with(py, |session| Ok(work(session)))
    }

    /// As [`Self::with`], for what may take long.
    fn with_tick<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut core::OpenSession, core::Tick<'_>) -> core::Result<T> + Send,
    ) -> PyResult<T> {
        let _at_work = AtWork::on(self)?;
        call_long(py, |tick| work(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner), tick))
    }
}

/// Open a session file, or begin one that does not exist or is empty.
#[pyfunction]
#[pyo3(signature = (path, cwd, *, read_only, strict, fsync, threads))]
#[expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]
pub(crate) fn open_session(
    py: Python<'_>,
    path: PathBuf,
    cwd: String,
    read_only: bool,
    strict: bool,
    fsync: bool,
    threads: Option<Bound<'_, PyAny>>,
) -> PyResult<Session> {
    let threads = threads.map(|threads| thread_count(&threads)).transpose()?;
    let options = core::OpenOptions { read_only, strict, fsync, threads };
    call_long(py, |tick| core::OpenSession::open(&path, &cwd, options, tick)).map(Session::from)
}

/// Begin a session: its file will be in the folder, or it has none.
#[pyfunction]
#[pyo3(signature = (*, id, cwd, parent_session, folder, fsync))]
pub(crate) fn start_session(
    py: Python<'_>,
    id: Option<String>,
    cwd: String,
    parent_session: Option<String>,
    folder: Option<PathBuf>,
    fsync: bool,
) -> PyResult<Session> {
    let new = core::NewSession { id, cwd, parent_session, folder };
    let options = core::OpenOptions { fsync, ..core::OpenOptions::default() };
    call(py, || core::OpenSession::start(&new, options)).map(Session::from)
}

/// Copy a session's entries into a new file in the folder, and open that.
#[pyfunction]
#[pyo3(signature = (source, *, id, cwd, parent_session, folder, fsync))]
#[expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]
pub(crate) fn fork_session(
    py: Python<'_>,
    source: PathBuf,
    id: Option<String>,
    cwd: String,
    parent_session: Option<String>,
    folder: PathBuf,
    fsync: bool,
) -> PyResult<Session> {
    let new = core::NewSession { id, cwd, parent_session, folder: Some(folder) };
    let options = core::OpenOptions { fsync, ..core::OpenOptions::default() };
    call_long(py, |tick| core::fork(&source, &new, options, tick)).map(Session::from)
}

/// Find sessions by their headers alone: path, id, cwd, and when the file was written, in nanoseconds since 1970.
#[pyfunction]
pub(crate) fn find_headers(
    py: Python<'_>,
    sources: Vec<(String, PathBuf)>,
) -> PyResult<Vec<(PathBuf, String, String, i64)>> {
    let sources = scan::sources(sources)?;
    let found = call_long(py, |tick| core::find_headers(&sources, tick))?;
    let row = |found: core::FoundHeader| (found.path, found.header.id, found.header.cwd, found.modified_ns);
    Ok(found.into_iter().map(row).collect())
}

#[pymethods]
impl Session {
    /// The session's file, which need not exist yet; None in memory.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<Option<PathBuf>> {
        self.get(py, |session| session.path().map(ToOwned::to_owned))
    }

    /// The id in the header.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<String> {
        self.get(py, |session| session.header().id)
    }

    /// The cwd in the header; empty when it names none.
    #[getter]
    fn cwd(&self, py: Python<'_>) -> PyResult<String> {
        self.get(py, |session| session.header().cwd)
    }

    /// The name that the last `session_info` entry gives.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.get(py, |session| session.name().map(ToOwned::to_owned))
    }

    /// The id of the entry where one stands, or None.
    #[getter]
    fn leaf_id(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.get(py, |session| session.leaf_id().map(ToOwned::to_owned))
    }

    /// The header's version (migrated), Unix milliseconds, parent and JSON.
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (header, json) = self.get(py, |session| (session.header(), session.header_json()))?;
        let row = PyDict::new(py);
        row.set_item("id", header.id)?;
        row.set_item("timestamp", header.created_ms.map(|ms| crate::time::datetime(py, ms)).transpose()?)?;
        row.set_item("version", header.version)?;
        row.set_item("cwd", header.cwd)?;
        row.set_item("parent_session", header.parent_session)?;
        row.set_item("json", PyBytes::new(py, &json))?;
        Ok(row)
    }

    /// All entries, in file order.
    fn entries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        to_list(py, self.get(py, |session| session.entries(0..session.len()))?)
    }

    /// The entry that has an id, or None.
    fn entry<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.get(py, |session| session.entry(id))?.map(|entry| to_python(py, entry)).transpose()
    }

    /// The entries from the root to the one named, or to the leaf.
    fn branch<'py>(&self, py: Python<'py>, id: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        to_list(py, self.with(py, |session| session.branch(id))?)
    }

    /// The children of an entry, in file order; of None, the roots.
    fn children<'py>(&self, py: Python<'py>, id: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        to_list(py, self.get(py, |session| session.children(id))?)
    }

    /// The entries without children, in file order.
    fn tips<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        to_list(py, self.get(py, |session| session.tips())?)
    }

    /// The roots of the tree.
    fn tree<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        TreeNode::roots(py, self.get(py, |session| session.tree())?)
    }

    /// The label of an entry, or None.
    fn label(&self, py: Python<'_>, id: &str) -> PyResult<Option<String>> {
        self.get(py, |session| session.label(id).map(ToOwned::to_owned))
    }

    /// What a model is sent of the branch to the leaf.
    fn context(&self, py: Python<'_>) -> PyResult<Context> {
        self.with(py, |session| session.context()).map(Context::from)
    }

    /// Whether an entry is on the branch to the leaf.
    fn is_on_branch(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        self.get(py, |session| session.is_on_branch(id))
    }

    /// Tokens and cost: of all entries, or of the branch to the leaf alone.
    fn usage<'py>(&self, py: Python<'py>, branch_only: bool) -> PyResult<Bound<'py, PyAny>> {
        rows::usage(py, &self.with(py, |session| session.usage(branch_only))?)
    }

    /// All that there is to report.
    fn damage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let damage = self.with(py, core::OpenSession::damage)?;
        PyList::new(py, damage.iter().map(|damage| rows::damage(py, damage)).collect::<PyResult<Vec<_>>>()?)
    }

    /// Move the leaf to an entry, or to none.
    fn move_to(&self, py: Python<'_>, id: Option<&str>) -> PyResult<()> {
        self.with(py, |session| session.move_to(id))
    }

    /// Append an entry to the leaf, and move that; `payload` is a JSON object of its own members. Gives its id.
    fn append(&self, py: Python<'_>, kind: &str, payload: &[u8]) -> PyResult<String> {
        self.with_tick(py, |session, tick| session.append(kind, payload, tick))
    }

    /// Move the leaf to an entry, or to none, and append a summary of the branch that was left; gives its id.
    fn append_summary(&self, py: Python<'_>, entry_id: Option<&str>, payload: &[u8]) -> PyResult<String> {
        self.with_tick(py, |session, tick| session.append_summary(entry_id, payload, tick))
    }

    /// Take in what others have appended; gives the new entries.
    fn refresh<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        to_list(
            py,
            self.with_tick(py, |session, tick| {
                let new = session.refresh(tick)?;
                Ok(session.entries(new))
            })?,
        )
    }

    /// A new session of the branch to an entry: in a file in the folder, or in memory.
    #[pyo3(signature = (leaf_id, *, cwd, parent_session, folder))]
    fn branched(
        &self,
        py: Python<'_>,
        leaf_id: &str,
        cwd: String,
        parent_session: Option<String>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        let new = core::NewSession { id: None, cwd, parent_session, folder };
        self.with_tick(py, |session, tick| session.branched(leaf_id, &new, tick)).map(Self::from)
    }
}
