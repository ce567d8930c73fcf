//! The sessions of stores by their headers alone. Only Elyra's have them.

use std::path::PathBuf;

use crate::elyra::{Header, read_header};
use crate::error::{Error, Result, Tick};
use crate::files::open;
use crate::info::{Format, Stamp};
use crate::lines::Buffer;
use crate::sources::{Source, find};

/// A session file of which only the header was read.
#[derive(Clone, Debug)]
pub struct FoundHeader {
    pub path: PathBuf,
    pub header: Header,
    /// When the file was written last, in nanoseconds since 1970.
    pub modified_ns: i64,
}

/// Finds the sessions of the sources by their headers alone; what cannot be read, or has none, is left out.
///
/// # Errors
///
/// [`Error::Io`] where a source cannot be looked at, [`Error::Stopped`] when `tick` breaks off.
pub fn find_headers(sources: &[Source], tick: Tick<'_>) -> Result<Vec<FoundHeader>> {
    let mut tick = || if tick().is_break() { Err(Error::Stopped) } else { Ok(()) };
    let mut found = Vec::new();
    let mut buffer = Buffer::default();
    let mut files = find(sources, &mut tick)?.files;
    files.retain(|candidate| candidate.format == Format::Elyra);
    files.sort_unstable_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
    for candidate in files {
        tick()?;
        let Ok(file) = open(&candidate.path) else { continue };
        let Ok(metadata) = file.metadata() else { continue };
        if let Some(header) = read_header(&file, metadata.len(), &mut buffer) {
            found.push(FoundHeader { path: candidate.path, header, modified_ns: Stamp::of(&metadata).modified_ns });
        }
    }
    Ok(found)
}
