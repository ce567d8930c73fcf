//! Entries: one class a type, over what the core hands out. Their JSON is read and decoded when it is first asked for.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use sessiontree_core as core;

use crate::call::call;
use crate::time::datetime;

static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// One entry of a session.
///
/// Frozen, hashable, and picklable. It stays what it was when it was read, whatever becomes of the session. Two entries
/// are equal when their JSON is, byte for byte.
///
/// Rule: Elyra session format, "Entry Base".
#[pyclass(frozen, subclass, module = "sessiontree._native")]
pub(crate) struct Entry {
    entry: core::SessionEntry,
    raw: PyOnceLock<Py<PyDict>>,
}

impl Entry {
    fn decode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let json = call(py, || self.entry.clean_json())?;
        let loads = LOADS.import(py, "sessiontree._json", "loads")?;
        Ok(loads.call1((PyBytes::new(py, &json),))?.cast_into::<PyDict>()?)
    }

    fn dict<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyDict>> {
        Ok(self.raw.get_or_try_init(py, || self.decode(py).map(Bound::unbind))?.bind(py))
    }

    /// A field of the entry; None where it is missing, or not of a type that it may be.
    fn field<'py>(&self, py: Python<'py>, key: &str, shape: Shape) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.dict(py)?.get_item(key)?.filter(|value| shape.fits(value)))
    }
}

/// What a field may be.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Flag,
    Number,
    Object,
    /// A text, or a list of blocks.
    Content,
    Anything,
}

impl Shape {
    fn fits(self, value: &Bound<'_, PyAny>) -> bool {
        match self {
            Self::Text => value.is_instance_of::<PyString>(),
            Self::Flag => value.is_instance_of::<PyBool>(),
            Self::Number => {
                (value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>())
                    && !value.is_instance_of::<PyBool>()
            }
            Self::Object => value.is_instance_of::<PyDict>(),
            Self::Content => value.is_instance_of::<PyString>() || value.is_instance_of::<PyList>(),
            Self::Anything => true,
        }
    }
}

#[pymethods]
impl Entry {
    /// The type, as the file has it; None when it is not a string.
    #[getter]
    fn r#type<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.entry.kind.name() {
            Some(name) => Ok(Some(PyString::intern(py, name).into_any())),
            None => self.field(py, "type", Shape::Text),
        }
    }

    /// The id, or None when it is missing, empty or no string: then the entry is no node of the tree.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.entry.id.as_deref()
    }

    /// The id of the entry before it, whether any has it or not; None when it is missing, empty or no string.
    #[getter]
    fn parent_id(&self) -> Option<&str> {
        self.entry.parent_id.as_deref()
    }

    /// When it was written (UTC); None when that cannot be read.
    #[getter]
    fn timestamp<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.entry.timestamp_ms.map(|ms| datetime(py, ms)).transpose()
    }

    /// The entry's own JSON, unknown fields included. Read when first asked for, and then kept: do not change it.
    ///
    /// Raises:
    ///     ConflictError: The file is no longer the one that was read.
    ///     OSError: It cannot be read.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.dict(py).cloned()
    }

    /// The entry's own JSON as text, numbers and all as the file spells them; read at each call.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let json = call(py, || self.entry.clean_json())?;
        Ok(String::from_utf8_lossy(&json).into_owned())
    }

    /// As `raw`, a new dict at each call.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.decode(py)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        let (one, other) = (&self.entry, &other.get().entry);
        let may_be = one.kind == other.kind && one.id == other.id && one.parent_id == other.parent_id;
        let is_equal = may_be && (one.is_same(other) || call(py, || Ok(one.json()? == other.json()?))?);
        Ok(is_equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.entry.kind, &self.entry.id, &self.entry.parent_id).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let entry = &slf.get().entry;
        let shown = |id: &Option<Box<str>>| {
            id.as_deref().map_or(Ok("None".to_owned()), |id| Ok(PyString::new(slf.py(), id).repr()?.to_string()))
        };
        let (id, parent_id): (PyResult<_>, PyResult<_>) = (shown(&entry.id), shown(&entry.parent_id));
        let time = entry.timestamp_ms.map_or("None".to_owned(), core::format_time);
        Ok(format!("<{} id={} parent_id={} timestamp={time}>", slf.get_type().name()?, id?, parent_id?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let json = call(py, || self.entry.json())?;
        let restore = py.import("sessiontree._native")?.getattr("restore_entry")?;
        PyTuple::new(py, [restore, PyTuple::new(py, [PyBytes::new(py, &json)])?.into_any()])
    }
}

/// The entry that was pickled.
#[pyfunction]
pub(crate) fn restore_entry<'py>(py: Python<'py>, json: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let entry = core::SessionEntry::of_json(json).ok_or_else(|| PyValueError::new_err("expected an entry's JSON"))?;
    to_python(py, entry)
}

/// Declares the class of an entry type: its fields by attribute, key in the file, and shape.
macro_rules! entry_class {
    ($(#[$about:meta])* $class:ident { $($(#[$doc:meta])* $field:ident: $key:literal $shape:ident,)* }) => {
        $(#[$about])*
        #[pyclass(frozen, extends = Entry, module = "sessiontree._native")]
        pub(crate) struct $class;

        #[pymethods]
        impl $class {
            $(
                $(#[$doc])*
                #[getter]
                fn $field(slf: PyRef<'_, Self>) -> PyResult<Option<Bound<'_, PyAny>>> {
                    let py = slf.py();
                    slf.as_super().field(py, $key, Shape::$shape)
                }
            )*
        }
    };
}

entry_class! {
    /// A message of the conversation.
    ///
    /// Rule: Elyra session format, "SessionMessageEntry".
    MessageEntry {
        /// The message, as the file has it; None when there is none.
        message: "message" Object,
    }
}

entry_class! {
    /// The user switched models.
    ///
    /// Rule: Elyra session format, "ModelChangeEntry".
    ModelChangeEntry {
        /// Whose model it is, or None.
        provider: "provider" Text,
        /// The model, or None.
        model_id: "modelId" Text,
    }
}

entry_class! {
    /// The user changed the thinking level.
    ///
    /// Rule: Elyra session format, "ThinkingLevelChangeEntry".
    ThinkingLevelChangeEntry {
        /// The level, or None.
        thinking_level: "thinkingLevel" Text,
    }
}

entry_class! {
    /// Sums up what stands before it.
    ///
    /// Rule: Elyra session format, "CompactionEntry".
    CompactionEntry {
        /// The summary, or None.
        summary: "summary" Text,
        /// The id of the first entry before it that is still sent to the model, or None.
        first_kept_entry_id: "firstKeptEntryId" Text,
        /// How many tokens the context had, or None.
        tokens_before: "tokensBefore" Number,
        /// Whatever made the summary keeps here, or None.
        details: "details" Anything,
        /// True when an extension made it; None when nothing is said.
        from_hook: "fromHook" Flag,
        /// What making the summary used, or None (newer files).
        usage: "usage" Object,
        /// The system message from here on, or None (newer files).
        system_message: "systemMessage" Object,
    }
}

entry_class! {
    /// Sums up a branch that was left.
    ///
    /// Rule: Elyra session format, "BranchSummaryEntry".
    BranchSummaryEntry {
        /// The leaf that was left, `root` where there was none, or None.
        from_id: "fromId" Text,
        /// The summary, or None.
        summary: "summary" Text,
        /// Whatever made the summary keeps here, or None.
        details: "details" Anything,
        /// True when an extension made it; None when nothing is said.
        from_hook: "fromHook" Flag,
        /// What making the summary used, or None (newer files).
        usage: "usage" Object,
    }
}

entry_class! {
    /// State of an extension; the model sees nothing of it.
    ///
    /// Rule: Elyra session format, "CustomEntry".
    CustomEntry {
        /// Whose it is, or None.
        custom_type: "customType" Text,
        /// The state, or None.
        data: "data" Anything,
    }
}

entry_class! {
    /// A message that an extension put in, and that the model sees.
    ///
    /// Rule: Elyra session format, "CustomMessageEntry".
    CustomMessageEntry {
        /// Whose it is, or None.
        custom_type: "customType" Text,
        /// A text, or a list of blocks; None when it is neither.
        content: "content" Content,
        /// Whether people are shown it, or None.
        display: "display" Flag,
        /// What the extension keeps with it, or None.
        details: "details" Anything,
    }
}

entry_class! {
    /// A name that someone gave an entry, or took from it.
    ///
    /// Rule: Elyra session format, "LabelEntry".
    LabelEntry {
        /// The entry's id, or None.
        target_id: "targetId" Text,
        /// The name; None or empty when it is taken away.
        label: "label" Text,
    }
}

entry_class! {
    /// Facts about the session: its name.
    ///
    /// Rule: Elyra session format, "SessionInfoEntry".
    SessionInfoEntry {
        /// The name as it was given, or None.
        name: "name" Text,
    }
}

entry_class! {
    /// Tokens that were used outside any message (newer files).
    UsageEntry {
        /// What for, or None.
        kind: "kind" Text,
        /// Whose model it was, or None.
        provider: "provider" Text,
        /// The model, or None.
        model: "model" Text,
        /// What was used, or None.
        usage: "usage" Object,
        /// A remark, or None.
        note: "note" Text,
    }
}

entry_class! {
    /// Changes what the model sees of an earlier entry (newer files).
    ContextEditEntry {
        /// The entry's id, or None.
        target_id: "targetId" Text,
        /// An object whose `content` takes the place of the message's; None: the message is left out.
        replacement: "replacement" Object,
    }
}

entry_class! {
    /// An entry of a type that the format does not have.
    UnknownEntry {}
}

/// An entry as an object of its class.
pub(crate) fn to_python(py: Python<'_>, entry: core::SessionEntry) -> PyResult<Bound<'_, PyAny>> {
    let kind = entry.kind;
    let base = PyClassInitializer::from(Entry { entry, raw: PyOnceLock::new() });
    Ok(match kind {
        core::Kind::Message => Bound::new(py, base.add_subclass(MessageEntry))?.into_any(),
        core::Kind::ModelChange => Bound::new(py, base.add_subclass(ModelChangeEntry))?.into_any(),
        core::Kind::ThinkingLevelChange => Bound::new(py, base.add_subclass(ThinkingLevelChangeEntry))?.into_any(),
        core::Kind::Compaction => Bound::new(py, base.add_subclass(CompactionEntry))?.into_any(),
        core::Kind::BranchSummary => Bound::new(py, base.add_subclass(BranchSummaryEntry))?.into_any(),
        core::Kind::Custom => Bound::new(py, base.add_subclass(CustomEntry))?.into_any(),
        core::Kind::CustomMessage => Bound::new(py, base.add_subclass(CustomMessageEntry))?.into_any(),
        core::Kind::Label => Bound::new(py, base.add_subclass(LabelEntry))?.into_any(),
        core::Kind::SessionInfo => Bound::new(py, base.add_subclass(SessionInfoEntry))?.into_any(),
        core::Kind::Usage => Bound::new(py, base.add_subclass(UsageEntry))?.into_any(),
        core::Kind::ContextEdit => Bound::new(py, base.add_subclass(ContextEditEntry))?.into_any(),
        core::Kind::Session | core::Kind::Unknown => Bound::new(py, base.add_subclass(UnknownEntry))?.into_any(),
    })
}

/// Entries as a list.
pub(crate) fn to_list(py: Python<'_>, entries: Vec<core::SessionEntry>) -> PyResult<Bound<'_, PyList>> {
    let entries = entries.into_iter().map(|entry| to_python(py, entry)).collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, entries)
}
