//! Where a project keeps its sessions.

use std::path::{Path, PathBuf};

/// The folder in a project that is Replio's, and the one in it that holds sessions.
const HOME: &str = ".replio";
const SESSIONS: &str = "sessions";

/// Whether a file of that name may be a session.
pub(crate) fn is_session_name(name: &[u8]) -> bool {
    name.ends_with(b".json") && !name.starts_with(b".")
}

/// The folder of sessions that is meant by a folder: a project's, or by Replio's own there, or by itself. None if there is
/// no such folder.
#[must_use]
pub fn sessions_folder(folder: &Path) -> Option<PathBuf> {
    let folders = [folder.join(HOME).join(SESSIONS), folder.join(SESSIONS), folder.to_owned()];
    folders.into_iter().find(|folder| is_sessions_folder(folder))
}

/// The project that a session's file belongs to, if it lies where a project keeps them.
pub(super) fn project(path: &Path) -> Option<PathBuf> {
    let sessions = path.parent().filter(|sessions| is_named_so(sessions))?;
    sessions.parent()?.parent().map(Path::to_owned)
}

/// Whether it is there and named so, be it by a link, or in a roundabout way.
fn is_sessions_folder(folder: &Path) -> bool {
    folder.is_dir() && (is_named_so(folder) || folder.canonicalize().is_ok_and(|real| is_named_so(&real)))
}

fn is_named_so(folder: &Path) -> bool {
    folder.ends_with(Path::new(HOME).join(SESSIONS))
}
