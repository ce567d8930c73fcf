//! A session of whichever format, gone through entry by entry.

use std::sync::atomic::AtomicBool;

use crate::elyra::{self, Visitor};
use crate::error::Result;
use crate::info::{Format, Listed};
use crate::lines::Buffer;
use crate::replio;

/// Goes through the entries of a session that was listed before.
///
/// # Errors
///
/// [`Error::Conflict`] where the file is not the one that was listed, [`Error::Io`] where it cannot be read.
///
/// [`Error::Conflict`]: crate::error::Error::Conflict
/// [`Error::Io`]: crate::error::Error::Io
pub(super) fn visit(
    listed: &Listed,
    buffer: &mut Buffer,
    is_stopped: &AtomicBool,
    visitor: &mut dyn Visitor,
) -> Result<()> {
    match listed.format {
        Format::Elyra => elyra::visit(listed, buffer, is_stopped, visitor),
        Format::Replio => {
            visitor.session(&replio::name_of(&listed.path));
            replio::visit(listed, buffer, is_stopped, &mut |entry, place| elyra::visit_entry(entry, place, visitor))
        }
    }
}
