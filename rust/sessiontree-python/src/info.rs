//! `SessionInfo`: a row of a listing, whose fields become Python objects when they are read.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sessiontree_core as core;

use crate::call::call;
use crate::rows;
use crate::time::datetime;

/// One session, as a listing shows it.
///
/// Frozen, hashable, and picklable. Equality and `repr` leave `all_messages_text` out.
///
/// Rule: docs/reading.md, "A listing's row".
#[pyclass(frozen, module = "sessiontree._native")]
pub(crate) struct SessionInfo {
    row: core::SessionInfo,
}

impl SessionInfo {
    pub(crate) fn row(&self) -> &core::SessionInfo {
        &self.row
    }
}

impl From<core::SessionInfo> for SessionInfo {
    fn from(row: core::SessionInfo) -> Self {
        Self { row }
    }
}

#[pymethods]
impl SessionInfo {
    /// The session's file.
    #[getter]
    fn path(&self) -> &Path {
        &self.row.path
    }

    /// Whose format the file has: `elyra` (pi's too) or `replio`.
    #[getter]
    fn format(&self) -> &'static str {
        self.row.format.name()
    }

    /// The id in the header; of a Replio session, its name.
    #[getter]
    fn id(&self) -> &str {
        &self.row.id
    }

    /// The project's folder, from the header; empty when it names none.
    #[getter]
    fn cwd(&self) -> &str {
        &self.row.cwd
    }

    /// The name someone gave the session, trimmed; None without one.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.row.name.as_deref()
    }

    /// The session that this one was forked or branched from, as the header names it, or None.
    #[getter]
    fn parent_session_path(&self) -> Option<&Path> {
        self.row.parent_session.as_deref().map(Path::new)
    }

    /// The header's time (UTC); None when it cannot be read.
    #[getter]
    fn created<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.row.created_ms.map(|ms| datetime(py, ms)).transpose()
    }

    /// The newest user or assistant message's time, else the header's, else the file's (UTC).
    #[getter]
    fn modified<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        datetime(py, self.row.modified_ms)
    }

    /// How many entries are messages, of whatever role.
    #[getter]
    fn message_count(&self) -> u64 {
        self.row.message_count
    }

    /// The text of the first user message that has any, else `"(no messages)"`.
    #[getter]
    fn first_message(&self) -> &str {
        &self.row.first_message
    }

    /// The texts of all user and assistant messages, joined by blanks.
    ///
    /// Read from the file at each access, unless the listing was told to load it (`text=True`).
    ///
    /// Raises:
    ///     ConflictError: The file has changed or gone since it was listed.
    ///     OSError: The file cannot be read.
    #[getter]
    fn all_messages_text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.row.all_messages_text {
            Some(text) => text.into_bound_py_any(py),
            None => call(py, || core::read_text(&self.row))?.into_bound_py_any(py),
        }
    }

    /// How many bytes were read.
    #[getter]
    fn size_bytes(&self) -> u64 {
        self.row.size_bytes
    }

    /// How many entries there are, the header left out.
    #[getter]
    fn entry_count(&self) -> u64 {
        self.row.entry_count
    }

    /// The id of the entry where the session stands, or None when no entry has one.
    #[getter]
    fn leaf_id(&self) -> Option<&str> {
        self.row.leaf_id.as_deref()
    }

    /// How many branches end somewhere: entries without children.
    #[getter]
    fn tip_count(&self) -> u64 {
        self.row.tip_count
    }

    /// Tokens and cost over all entries, abandoned branches included; each record once.
    #[getter]
    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        rows::usage(py, &self.row.usage)
    }

    /// How much damage the file has; notes do not count.
    #[getter]
    fn damage_count(&self) -> u64 {
        self.row.damage_count
    }

    /// The file's own format version; 1 when it names none.
    #[getter]
    fn version(&self) -> i64 {
        self.row.version
    }

    /// All but `all_messages_text`, as plain JSON values: paths as strings, times in ISO 8601.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        row.set_item("path", self.row.path.as_os_str())?;
        row.set_item("id", self.id())?;
        row.set_item("cwd", self.cwd())?;
        row.set_item("name", self.name())?;
        row.set_item("parent_session_path", self.row.parent_session.as_deref())?;
        row.set_item("format", self.format())?;
        row.set_item("created", self.row.created_ms.map(core::format_time))?;
        row.set_item("modified", core::format_time(self.row.modified_ms))?;
        row.set_item("message_count", self.message_count())?;
        row.set_item("first_message", self.first_message())?;
        row.set_item("size_bytes", self.size_bytes())?;
        row.set_item("entry_count", self.entry_count())?;
        row.set_item("leaf_id", self.leaf_id())?;
        row.set_item("tip_count", self.tip_count())?;
        row.set_item("usage", self.usage(py)?.call_method0("to_dict")?)?;
        row.set_item("damage_count", self.damage_count())?;
        row.set_item("version", self.version())?;
        Ok(row)
    }

    fn __eq__(&self, other: &Self) -> bool {
        shown(&self.row) == shown(&other.row)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.row.path, &self.row.id, self.row.size_bytes, self.row.modified_ms).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path().into_bound_py_any(py)?.repr()?.to_string();
        let name = self.name().into_bound_py_any(py)?.repr()?.to_string();
        let id = self.id().into_bound_py_any(py)?.repr()?.to_string();
        let (modified, count) = (core::format_time(self.row.modified_ms), self.row.message_count);
        Ok(format!("<SessionInfo id={id} name={name} modified={modified} message_count={count} path={path}>"))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (State,))> {
        let restore = py.import("sessiontree._native")?.getattr("restore")?;
        Ok((restore, (State::from(&self.row),)))
    }
}

/// What equality looks at: all that a listing shows, not the text, and not which file it was read from.
fn shown(row: &core::SessionInfo) -> impl PartialEq + '_ {
    let core::SessionInfo {
        path,
        format,
        id,
        cwd,
        name,
        parent_session,
        created_ms,
        modified_ms,
        message_count,
        first_message,
        all_messages_text: _,
        size_bytes,
        entry_count,
        leaf_id,
        tip_count,
        usage,
        damage_count,
        version,
        stamp: _,
    } = row;
    let texts = (path, id, cwd, name, parent_session, first_message, leaf_id);
    let numbers = (created_ms, modified_ms, message_count, size_bytes, entry_count, tip_count, damage_count, version);
    (format, texts, numbers, usage)
}

/// What a pickled `SessionInfo` is made of.
#[derive(IntoPyObject, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct State {
    path: PathBuf,
    format: String,
    id: String,
    cwd: String,
    name: Option<String>,
    parent_session: Option<String>,
    created_ms: Option<i64>,
    modified_ms: i64,
    message_count: u64,
    first_message: String,
    all_messages_text: Option<String>,
    size_bytes: u64,
    entry_count: u64,
    leaf_id: Option<String>,
    tip_count: u64,
    usage: [f64; 6],
    usage_by_model: BTreeMap<String, [f64; 6]>,
    damage_count: u64,
    version: i64,
    stamp: (u64, u64, u64, i64, i64),
}

impl From<&core::SessionInfo> for State {
    fn from(row: &core::SessionInfo) -> Self {
        let row = row.clone();
        let stamp = row.stamp;
        Self {
            path: row.path,
            format: row.format.name().to_owned(),
            id: row.id,
            cwd: row.cwd,
            name: row.name,
            parent_session: row.parent_session,
            created_ms: row.created_ms,
            modified_ms: row.modified_ms,
            message_count: row.message_count,
            first_message: row.first_message,
            all_messages_text: row.all_messages_text,
            size_bytes: row.size_bytes,
            entry_count: row.entry_count,
            leaf_id: row.leaf_id,
            tip_count: row.tip_count,
            usage: row.usage.total.into(),
            usage_by_model: row
                .usage
                .by_model
                .into_iter()
                .map(|(model, part)| (model.to_string(), part.into()))
                .collect(),
            damage_count: row.damage_count,
            version: row.version,
            stamp: (stamp.device, stamp.inode, stamp.size_bytes, stamp.modified_ns, stamp.changed_ns),
        }
    }
}

impl From<State> for core::SessionInfo {
    fn from(state: State) -> Self {
        let by_model = state.usage_by_model.into_iter().map(|(model, part)| (Arc::from(model), part.into())).collect();
        let (device, inode, size_bytes, modified_ns, changed_ns) = state.stamp;
        Self {
            path: state.path,
            format: core::Format::named(&state.format).unwrap_or_default(),
            id: state.id,
            cwd: state.cwd,
            name: state.name,
            parent_session: state.parent_session,
            created_ms: state.created_ms,
            modified_ms: state.modified_ms,
            message_count: state.message_count,
            first_message: state.first_message,
            all_messages_text: state.all_messages_text,
            size_bytes: state.size_bytes,
            entry_count: state.entry_count,
            leaf_id: state.leaf_id,
            tip_count: state.tip_count,
            usage: core::Usage { total: state.usage.into(), by_model },
            damage_count: state.damage_count,
            version: state.version,
            stamp: core::Stamp { device, inode, size_bytes, modified_ns, changed_ns },
        }
    }
}

/// The `SessionInfo` that was pickled.
#[pyfunction]
pub(crate) fn restore(state: State) -> SessionInfo {
    core::SessionInfo::from(state).into()
}
