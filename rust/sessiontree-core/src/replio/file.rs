//! The file of one session, read whole.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::document::Fault;
use super::listing::too_long;
use crate::error::{Error, Result};
use crate::files::open;
use crate::info::Stamp;
use crate::json::Nesting;
use crate::lines::{Buffer, MAX_LINE};
use crate::marks::Text;

/// Reads a file through the buffer, and has `take` make of its text what is wanted; gives also the file's stamp.
///
/// # Errors
///
/// [`Error::Io`] where the file cannot be read, [`Error::Document`] where it is none of a session.
pub(super) fn read_file<T>(
    path: &Path,
    buffer: &mut Buffer,
    take: impl FnOnce(Text<'_>, &mut Nesting) -> std::result::Result<T, Fault>,
) -> Result<(T, Stamp)> {
    let io = |error| Error::io(path)(error);
    let no_session = |reason, line, is_unsupported| Error::Document { path: path.into(), line, reason, is_unsupported };
    let file = open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err(no_session("it is no regular file".to_owned(), None, false));
    }
    let is_short = metadata.len() <= MAX_LINE as u64;
    let document = if is_short { buffer.read_whole(&file, &AtomicBool::new(false)).map_err(io)? } else { None };
    let document = document.ok_or_else(|| no_session(too_long(), None, false))?;
    let taken = take(document, &mut Nesting::default()).map_err(|fault| {
        let line = fault.line(document.bytes());
        no_session(fault.reason(), Some(line), fault.is_unsupported)
    })?;
    Ok((taken, Stamp::of(&metadata)))
}
