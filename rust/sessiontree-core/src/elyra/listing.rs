//! A session file for a listing: its row, what is wrong with it, and its usage records, from one pass.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::facts::Facts;
use super::header::Header;
use super::long::{self, Begun, LongFile, Rest};
use super::resume::{self, Ends};
use crate::info::Stamp;
use crate::lines::Buffer;
use crate::listing::{Opened, Session};
use crate::usage::{IdentityKeys, Record};

/// How a file is to be listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Whether to load `all_messages_text`.
    pub(crate) text: bool,
    /// Whether to keep the usage records, which are of use only over many files.
    pub(crate) records: bool,
    /// What to key the records' identities with.
    pub(crate) keys: IdentityKeys,
}

/// What a file turned out to be.
pub(crate) enum Reading {
    Session(Box<Session>),
    /// A session so long that it is read in regions, by whoever has time.
    Long(Box<LongSession>),
    /// No session; the text says what it is instead.
    NoSession(&'static str),
}

/// Reads the file in one pass, or begins to; from where `known` ends, if that is of this file. When `is_stopped` is set,
/// nobody waits for the result: it may then be anything.
///
/// # Errors
///
/// The system would not let us read it.
pub(crate) fn list(
    opened: Opened,
    path: &Path,
    known: Option<&(Vec<u8>, Vec<Record>)>,
    buffer: &mut Buffer,
    wanted: Wanted,
    is_stopped: &AtomicBool,
) -> io::Result<Reading> {
    if !opened.is_regular {
        return Ok(Reading::NoSession("it is no regular file"));
    }
    let Opened { file, stamp, is_settled, .. } = opened;
    let size = stamp.size_bytes;
    let ends = if wanted.records { Ends::before(&file, size) } else { None };
    let resumed = known.and_then(|(state, records)| resume::restore(state, records, &file, wanted));
    let begun = if let Some((facts, start)) = resumed {
        long::go_on(&file, start, size, long::REGION, buffer, is_stopped, facts)?
    } else {
        let facts = |header: &Header| Facts::new(header.clone(), wanted.keys, wanted.text, wanted.records);
        match long::begin(&file, size, long::REGION, buffer, is_stopped, facts)? {
            Begun::Session(_, rest) => rest,
            Begun::NoSession(reason) => return Ok(Reading::NoSession(reason)),
        }
    };
    Ok(match begun {
        Rest::Read(facts) => Reading::Session(Box::new(session(facts, path, &file, stamp, is_settled, ends))),
        Rest::Long(long) => {
            let path = path.to_owned();
            Reading::Long(Box::new(LongSession { path, file, stamp, is_settled, ends, long }))
        }
    })
}

/// What a listing has of a file that has been read.
fn session(facts: Facts, path: &Path, file: &File, stamp: Stamp, is_settled: bool, ends: Option<Ends>) -> Session {
    let resume = ends.and_then(|ends| resume::state(&facts, ends, file, stamp.size_bytes));
    Session { is_settled, resume, ..facts.into_session(path, stamp) }
}

/// A session that is read in regions.
pub(crate) struct LongSession {
    pub(crate) path: PathBuf,
    file: File,
    stamp: Stamp,
    is_settled: bool,
    /// What the file had for ends before; None if it is not to be read on later.
    ends: Option<Ends>,
    long: LongFile<Facts>,
}

impl LongSession {
    /// The number of a region to read, if there is one that may be read now.
    pub(crate) fn take(&self) -> Option<u64> {
        self.long.take()
    }

    /// Reads a region; gives the session if nothing is missing then.
    pub(crate) fn read(
        &self,
        region: u64,
        buffer: &mut Buffer,
        is_stopped: &AtomicBool,
    ) -> Option<io::Result<Session>> {
        let Self { path, file, stamp, is_settled, ends, long } = self;
        let facts = long.read(file, region, buffer, is_stopped)?;
        Some(facts.map(|facts| session(facts, path, file, *stamp, *is_settled, *ends)))
    }
}
