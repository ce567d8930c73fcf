//! A session's row and its context, from one pass over its file.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::context::{self, Context};
use super::digest::Digest;
use super::facts::Facts;
use super::header::Header;
use super::load::Body;
use super::long::{self, Begun, Build, LongFile, Rest};
use super::migrate::is_old;
use super::source::{FileSource, Known, Source};
use super::stretch::Stretch;
use crate::error::{Error, Reports, Result};
use crate::info::{SessionInfo, Stamp};
use crate::lines::Buffer;
use crate::listing::Opened;
use crate::usage::IdentityKeys;

/// What a session is put together in, for both.
struct Survey {
    facts: Facts,
    body: Body,
}

impl Survey {
    fn new(header: &Header, keys: IdentityKeys) -> Self {
        Self { facts: Facts::new(header.clone(), keys, false, false), body: Body::new(header) }
    }

    fn finish(self, path: &Path, file: File, stamp: Stamp) -> Result<(SessionInfo, Context)> {
        let Self { facts, body } = self;
        let is_old = is_old(facts.header.version);
        let info = facts.into_session(path, stamp).info;
        let known = Known::of(&file, stamp.size_bytes, &stamp).map_err(Error::io(path))?;
        let source = Arc::new(Source::File(FileSource::new(path.to_owned(), Arc::new(file), known)));
        let context = context::build(&body.entries, is_old, &source, body.entries.index().leaf())?;
        Ok((info, context))
    }
}

impl Build for Survey {
    type Part = (Stretch, Vec<Digest>);

    fn begin(&self) -> Self::Part {
        (self.facts.begin(), self.body.begin())
    }

    fn add(&mut self, (stretch, digests): Self::Part, reports: Reports, lines: u64) {
        self.facts.add(stretch, reports, lines);
        self.body.add(digests, Reports::default(), lines);
    }
}

/// What a file turned out to be.
pub(crate) enum Surveyed {
    Session(Box<(SessionInfo, Context)>),
    /// A session so long that it is read in regions, by whoever has time.
    Long(Box<LongSurvey>),
    NoSession,
}

/// A session that is read in regions.
pub(crate) struct LongSurvey {
    pub(crate) path: PathBuf,
    file: File,
    stamp: Stamp,
    long: LongFile<Survey>,
}

impl LongSurvey {
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
    ) -> Option<Result<Box<(SessionInfo, Context)>>> {
        let Self { path, file, stamp, long } = self;
        let finish = |survey: io::Result<Survey>| {
            let file = file.try_clone().map_err(Error::io(path))?;
            survey.map_err(Error::io(path))?.finish(path, file, *stamp).map(Box::new)
        };
        long.read(file, region, buffer, is_stopped).map(finish)
    }
}

/// Reads a file in one pass, or begins to, if it is longer than a region.
///
/// # Errors
///
/// [`Error::Io`] where the system would not let us read it, [`Error::Conflict`] where somebody rewrote it meanwhile.
pub(crate) fn survey(
    opened: Opened,
    path: &Path,
    region: u64,
    keys: IdentityKeys,
    buffer: &mut Buffer,
    is_stopped: &AtomicBool,
) -> Result<Surveyed> {
    let Opened { file, stamp, is_regular, .. } = opened;
    if !is_regular {
        return Ok(Surveyed::NoSession);
    }
    let begun = long::begin(&file, stamp.size_bytes, region, buffer, is_stopped, |header| Survey::new(header, keys));
    Ok(match begun.map_err(Error::io(path))? {
        Begun::NoSession(_) => Surveyed::NoSession,
        Begun::Session(_, Rest::Read(survey)) => Surveyed::Session(Box::new(survey.finish(path, file, stamp)?)),
        Begun::Session(_, Rest::Long(long)) => {
            Surveyed::Long(Box::new(LongSurvey { path: path.to_owned(), file, stamp, long }))
        }
    })
}
