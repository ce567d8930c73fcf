//! A session's tree: nodes are views of one shared table, made when they are asked for.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sessiontree_core as core;

use crate::entries::to_python;
use crate::time::datetime;

/// A node of a session's tree.
///
/// A view: it holds its tree, not its children, so a tree as deep as its file is long is walked, and freed, like any
/// other. Two nodes are equal when they are the same one of the same tree.
///
/// Rule: Elyra session format, "Tree Structure".
#[pyclass(frozen, module = "sessiontree._native")]
pub(crate) struct TreeNode {
    tree: Arc<core::TreeView>,
    node: u32,
}

impl TreeNode {
    fn list<'py>(py: Python<'py>, tree: &Arc<core::TreeView>, nodes: &[u32]) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, nodes.iter().map(|&node| Self { tree: Arc::clone(tree), node }))
    }

    /// The roots of a tree.
    pub(crate) fn roots(py: Python<'_>, tree: core::TreeView) -> PyResult<Bound<'_, PyList>> {
        let tree = Arc::new(tree);
        Self::list(py, &tree, tree.roots())
    }
}

/// How many nodes a drawing shows, and how far it indents.
const SHOWN: usize = 200;
const DEEPEST: usize = 40;

#[pymethods]
impl TreeNode {
    /// The entry that stands here.
    #[getter]
    fn entry<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.tree.entry(self.node).clone())
    }

    /// The nodes below, oldest first; a new list at each access.
    #[getter]
    fn children<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        Self::list(py, &self.tree, self.tree.children(self.node))
    }

    /// The entry's label, or None.
    #[getter]
    fn label(&self) -> Option<&str> {
        self.tree.label(self.node).map(|label| label.text.as_str())
    }

    /// When the label was given (UTC); None without one, and when that cannot be read.
    #[getter]
    fn label_timestamp<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let time = self.tree.label(self.node).and_then(|label| label.timestamp_ms);
        time.map(|ms| datetime(py, ms)).transpose()
    }

    /// This node and all below it as a flat list of plain JSON values, parents first: depth is no limit.
    ///
    /// `parent_id` is the parent's in this list: None for this node.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        let mut ahead = vec![(self.node, None)];
        while let Some((node, parent_id)) = ahead.pop() {
            let (entry, label) = (self.tree.entry(node), self.tree.label(node));
            let row = PyDict::new(py);
            row.set_item("id", entry.id.as_deref())?;
            row.set_item("parent_id", parent_id)?;
            row.set_item("type", to_python(py, entry.clone())?.getattr("type")?)?;
            row.set_item("timestamp", entry.timestamp_ms.map(core::format_time))?;
            row.set_item("label", label.map(|label| label.text.as_str()))?;
            row.set_item("label_timestamp", label.and_then(|label| label.timestamp_ms).map(core::format_time))?;
            rows.append(row)?;
            ahead.extend(self.tree.children(node).iter().rev().map(|&child| (child, entry.id.as_deref())));
        }
        Ok(rows)
    }

    /// The node and what is below it, drawn for a notebook: the first 200, indented at forks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let (mut lines, mut ahead) = (Vec::new(), vec![(self.node, 0_usize)]);
        while let Some((node, depth)) = ahead.pop() {
            if lines.len() == SHOWN {
                lines.push("…".to_owned());
                break;
            }
            let (entry, children) = (self.tree.entry(node), self.tree.children(node));
            let label = self.tree.label(node).map(|label| format!(" [{}]", label.text)).unwrap_or_default();
            let (id, kind) = (entry.id.as_deref().unwrap_or_default(), entry.kind.name().unwrap_or("entry"));
            lines.push(format!("{}{id} {kind}{label}", "  ".repeat(depth.min(DEEPEST))));
            let depth = depth + usize::from(children.len() > 1);
            ahead.extend(children.iter().rev().map(|&child| (child, depth)));
        }
        let escaped: String = py.import("html")?.call_method1("escape", (lines.join("\n"),))?.extract()?;
        Ok(format!("<pre>{escaped}</pre>"))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            Arc::ptr_eq(&self.tree, &other.tree) && self.node == other.node
        })
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (Arc::as_ptr(&self.tree).addr(), self.node).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let id = self.tree.entry(self.node).id.as_deref().unwrap_or_default();
        format!("<TreeNode {id:?}, {} children>", self.tree.children(self.node).len())
    }

    /// A view is of a tree in memory: pickle `to_dict()`, or the entries.
    fn __reduce__(_slf: PyRef<'_, Self>) -> PyResult<()> {
        Err(PyTypeError::new_err("cannot pickle 'TreeNode': it is a view of a tree"))
    }
}
