//! What the listings of all formats have in common: files as they are opened, and what is kept of one that is a session.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::catalogue::is_settled;
use crate::error::Damage;
use crate::files::open;
use crate::info::{SessionInfo, Stamp};

use crate::usage::Record;

/// A file as it was when its reading began: what is written to it from then on changes what later looks are held against.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) stamp: Stamp,
    /// Whether every later change shows in the stamp.
    pub(crate) is_settled: bool,
    pub(crate) is_regular: bool,
}

impl Opened {
    /// None if there is no such file.
    ///
    /// # Errors
    ///
    /// The system would not let us have it.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        let stamp = Stamp::of(&metadata);
        Ok(Some(Self { file, stamp, is_settled: is_settled(&stamp), is_regular: metadata.is_file() }))
    }
}

/// A file that is a session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) info: SessionInfo,
    pub(crate) damage: Vec<Damage>,
    /// Its usage records, repeated ones too: what equals one of them equals it in other files as well.
    pub(crate) records: Vec<Record>,
    /// Whether every later change of the file shows in its stamp.
    pub(crate) is_settled: bool,
    /// What there is to read the file on with when it has grown; None if it is read anew then.
    pub(crate) resume: Option<Vec<u8>>,
}

impl Session {
    /// One that is known from before.
    pub(crate) fn recalled(info: SessionInfo, damage: Vec<Damage>, records: Vec<Record>) -> Self {
        Self { info, damage, records, is_settled: true, resume: None }
    }
}
