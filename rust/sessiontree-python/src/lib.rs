//! The binding: what Python sees of the core.

mod call;
mod time;
mod rows;
mod info;
mod scan;
mod arrow;
mod entries;
mod tree;
mod context;
mod session;
mod replio;
mod events;

use pyo3::prelude::*;

/// The Rust core, as Python sees it.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::arrow::{table_columns, table_schema, table_stream};
    #[pymodule_export]
    use crate::context::{Context, Contexts, contexts};
    #[pymodule_export]
    use crate::entries::{
        BranchSummaryEntry, CompactionEntry, ContextEditEntry, CustomEntry, CustomMessageEntry, Entry, LabelEntry,
        MessageEntry, ModelChangeEntry, SessionInfoEntry, ThinkingLevelChangeEntry, UnknownEntry, UsageEntry,
        restore_entry,
    };
    #[pymodule_export]
    use crate::events::{EventReader, spent};
    #[pymodule_export]
    use crate::info::{SessionInfo, restore};
    #[pymodule_export]
    use crate::replio::{
        ReplioDocument, replio_file_name, replio_folded, replio_name, replio_preview, replio_sessions_folder,
        replio_shared, slug,
    };
    #[pymodule_export]
    use crate::scan::scan;
    #[pymodule_export]
    use crate::session::{Session, find_headers, fork_session, open_session, start_session};
    #[pymodule_export]
    use crate::tree::TreeNode;
}
