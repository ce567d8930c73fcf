//! A session that was listed before, gone through once more: somebody is told of each message of its log.

use std::sync::atomic::{AtomicBool, Ordering};

use super::document::{LineCount, read};
use super::session::Lists;
use super::translation::Translator;
use super::turns;
use crate::error::{Place, Result};
use crate::files::read_again;
use crate::info::Listed;
use crate::json::Nesting;
use crate::lines::Buffer;
use crate::marks::Marked;

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
        let Ok(outline) = read(document, &mut nesting, &mut lists) else { return Ok(None) };
        let (mut translator, mut lines) = (Translator::default(), LineCount::default());
        let mut tell = |message, at| {
            each(translator.entry(message), lines.place(bytes, at));
            (!is_stopped.load(Ordering::Relaxed)).then_some(())
        };
        let told = if outline.has_turns(bytes) {
            let derived = turns::to_messages(document, &outline, &mut nesting);
            let (marked, places) = (Marked::new(&derived.text), &derived.places);
            let mut messages = derived.elements.iter().zip(places);
            messages.try_for_each(|(range, &at)| tell(marked.text().part(range.clone()), at))
        } else {
            let mut sound = lists.messages.iter().filter(|element| element.is_sound);
            sound.try_for_each(|element| tell(document.part(element.range.clone()), element.range.start))
        };
        Ok(told)
    })
}
