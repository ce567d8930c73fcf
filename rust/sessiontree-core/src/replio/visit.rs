//! A session that was listed before, gone through once more: somebody is told of each message of its log.

use std::sync::atomic::{AtomicBool, Ordering};

use super::document::{LineCount, read};
use super::session::Lists;
use super::translation::Translator;
use crate::error::{Place, Result};
use crate::files::read_again;
use crate::info::Listed;
use crate::json::Nesting;
use crate::lines::Buffer;

/// Calls `each` with every message, as the JSON of an entry, and where it stands in the document.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
///
/// [`Error::Conflict`]: crate::error::Error::Conflict
/// [`Error::Io`]: crate::error::Error::Io
pub(crate) fn visit(
    listed: &Listed,
    buffer: &mut Buffer,
    is_stopped: &AtomicBool,
    each: &mut dyn FnMut(&[u8], Place),
) -> Result<()> {
    read_again(listed, |file| {
        let Some(document) = buffer.read_whole(file, is_stopped)? else { return Ok(None) };
        let (mut nesting, mut lists, bytes) = (Nesting::default(), Lists::default(), document.bytes());
        let Ok(_) = read(document, &mut nesting, &mut lists) else { return Ok(None) };
        let (mut translator, mut lines) = (Translator::default(), LineCount::default());
        for element in lists.messages.iter().filter(|element| element.is_sound) {
            if is_stopped.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let place = lines.place(bytes, element.range.start);
            each(translator.entry(document.part(element.range.clone())), place);
        }
        Ok(Some(()))
    })
}
