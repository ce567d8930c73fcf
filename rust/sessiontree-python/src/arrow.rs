//! Tables for whoever knows Arrow's `PyCapsule` interface.
//!
//! A stream is pulled by whoever took it, with the interpreter lock or without: nothing behind it ever takes that.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use sessiontree_core::Table;

use crate::info::SessionInfo;

/// A new stream of a table's rows over these sessions, as an `arrow_array_stream` capsule.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what comes from Python is owned")]
pub(crate) fn table_stream<'py>(
    py: Python<'py>,
    name: &str,
    infos: Vec<Bound<'py, SessionInfo>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let rows = infos.iter().map(|info| info.get().row());
    let stream = FFI_ArrowArrayStream::new(table(name)?.stream(rows));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// A table's schema, as an `arrow_schema` capsule.
#[pyfunction]
pub(crate) fn table_schema<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(&*table(name)?.schema());
    let schema = schema.map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// The names of a table's columns, in order.
#[pyfunction]
pub(crate) fn table_columns(name: &str) -> PyResult<Vec<String>> {
    Ok(table(name)?.schema().fields().iter().map(|field| field.name().clone()).collect())
}

fn table(name: &str) -> PyResult<Table> {
    Table::named(name).ok_or_else(|| PyValueError::new_err(format!("no such table: {name}")))
}
