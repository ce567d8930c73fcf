//! A session's file for a listing: its row, and what is wrong with it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::facts::Facts;
use super::time;
use super::{names, places};
use crate::error::{Damage, Result};
use crate::files::read_again;
use crate::info::{Format, NO_MESSAGES, SessionInfo, Stamp};
use crate::json::Nesting;
use crate::lines::{Buffer, MAX_LINE};
use crate::usage::Usage;

/// What a file turned out to be.
pub(crate) enum Reading {
    Session(Box<SessionInfo>, Vec<Damage>),
    /// No session; the report says why.
    NoSession(Damage),
}

/// Reads a file for a listing. When `is_stopped` is set, nobody waits for the result: it may then be anything.
///
/// # Errors
///
/// The system would not let us read it.
pub(crate) fn list(
    path: &Path,
    file: &File,
    stamp: Stamp,
    buffer: &mut Buffer,
    wants_text: bool,
    is_stopped: &AtomicBool,
) -> io::Result<Reading> {
    let is_short = stamp.size_bytes <= MAX_LINE as u64;
    let document = if is_short { buffer.read_whole(file, is_stopped)? } else { None };
    let Some(document) = document else {
        return Ok(Reading::NoSession(Damage::unusable(path, &too_long())));
    };
    Ok(match Facts::read(document, &mut Nesting::default(), wants_text) {
        Ok(facts) => {
            let (info, damage) = row(facts, path, stamp, document.bytes().len() as u64);
            Reading::Session(Box::new(info), damage)
        }
        Err(fault) => Reading::NoSession(fault.damage(path, document.bytes())),
    })
}

/// Reads the `all_messages_text` of a session that was listed before.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
///
/// [`Error::Conflict`]: crate::error::Error::Conflict
/// [`Error::Io`]: crate::error::Error::Io
pub(crate) fn read_text(info: &SessionInfo) -> Result<String> {
    let mut buffer = Buffer::default();
    read_again(&info.into(), |file| {
        let Some(document) = buffer.read_whole(file, &AtomicBool::new(false))? else { return Ok(None) };
        Ok(Facts::read(document, &mut Nesting::default(), true).ok().and_then(|facts| facts.log.all_text))
    })
}

/// Why a document of more than [`MAX_LINE`] bytes is none.
pub(super) fn too_long() -> String {
    format!("it is longer than {} MiB", MAX_LINE >> 20)
}

pub(super) fn row(facts: Facts, path: &Path, stamp: Stamp, size_bytes: u64) -> (SessionInfo, Vec<Damage>) {
    let Facts { log, element_count, created_at, updated_at, parent_id, reports, .. } = facts;
    let name = names::of_file(path);
    let ms = |text: Option<String>| text.and_then(|text| time(&text));
    let info = SessionInfo {
        path: path.to_owned(),
        format: Format::Replio,
        id: name.clone(),
        cwd: places::project(path).map_or_else(String::new, |project| project.to_string_lossy().into_owned()),
        name: Some(name),
        parent_session: parent(path, &parent_id).map(|parent| parent.to_string_lossy().into_owned()),
        created_ms: ms(created_at).or(log.first_time.map(|time| time.ms)),
        modified_ms: ms(updated_at).or(log.last_time.map(|time| time.ms)).unwrap_or_else(|| stamp.modified_ms()),
        message_count: log.message_count - log.command_count,
        first_message: log.first_user_text.unwrap_or_else(|| NO_MESSAGES.to_owned()),
        all_messages_text: log.all_text,
        size_bytes,
        entry_count: element_count,
        leaf_id: Some(log.last_id).filter(|id| !id.is_empty()),
        tip_count: u64::from(log.message_count > 0),
        usage: Usage::default(),
        damage_count: reports.damage_count(),
        version: 1,
        stamp,
    };
    (info, reports.into_damage(path))
}

/// Where the session lies that this one was begun from, if it names one that a file can have.
fn parent(path: &Path, name: &str) -> Option<PathBuf> {
    names::file_name(name).ok().map(|file| path.with_file_name(file))
}
