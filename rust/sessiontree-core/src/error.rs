//! What can go wrong: errors that end a call, and damage that a reading reports and survives.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What every fallible call of this crate gives.
pub type Result<T> = std::result::Result<T, Error>;

/// Called now and then while something takes long; what it breaks off ends with [`Error::Stopped`].
pub type Tick<'a> = &'a mut dyn FnMut() -> ControlFlow<()>;

/// Why a call ended without a result.
#[derive(Debug)]
pub enum Error {
    /// The system refused; `path` is what was asked for.
    Io { path: PathBuf, source: io::Error },
    /// A folder holds nothing that could be read as sessions; the text says what was looked for.
    NothingFits { path: PathBuf, reason: String },
    /// The file is no longer the one that was read.
    Conflict { path: PathBuf, reason: String },
    /// The file is no session; the text says what it is instead.
    NoSession { path: PathBuf, reason: String },
    /// The file is none of a session that is one document: `line` says where that shows, the text how. Or it is sound, but of a
    /// form that is not known.
    Document { path: PathBuf, line: Option<u64>, reason: String, is_unsupported: bool },
    /// The log of a session is one of turns, which is only read.
    Turns { path: PathBuf },
    /// A name that no file of a session has; the text says why.
    InvalidName { name: String, reason: &'static str },
    /// The file has damage, and was to be opened only without; this is the first.
    Damaged(Box<Damage>),
    /// No entry has that id.
    NoSuchEntry { path: PathBuf, id: String },
    /// A session id that no file name is built from.
    InvalidId { id: String },
    /// A file of that name exists already.
    NameTaken { path: PathBuf },
    /// The session was opened for reading.
    ReadOnly { path: PathBuf },
    /// An entry so long that nobody would read it.
    TooLong { length: usize },
    /// The caller's progress function asked for an end.
    Stopped,
    /// The system would not start the threads to read with.
    NoThreads { reason: String },
    /// A thread ended before its work: a fault in this crate.
    WorkerLost,
    /// What was begun in another process, whose fork this one is, cannot go on here.
    OtherProcess,
}

impl Error {
    /// Adds the path that every I/O error should name.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { path: path.to_owned(), source }
    }
}

/// The system's words for an error, without the number that Rust adds to them.
#[must_use]
pub fn words(error: &io::Error) -> String {
    let mut words = error.to_string();
    if let (Some(_), Some(end)) = (error.raw_os_error(), words.rfind(" (os error ")) {
        words.truncate(end);
    }
    words
}

/// What kind of thing is wrong with a file, or remarkable in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DamageKind {
    /// The file cannot be read, or was named and is no session.
    File,
    /// A line was skipped.
    Line,
    /// Several entries stood on one line.
    Joined,
    /// NULs around a line, or bytes in it that are not UTF-8.
    Bytes,
    /// A header after the first.
    Header,
    /// An id that an earlier entry has.
    Repeated,
    /// Note: a parent that no entry has.
    Parent,
    /// Note: parents that lead in a circle.
    Circle,
    /// Note: a branch that is newer than the leaf's.
    Tip,
    /// Note: a usage number that does not count.
    Value,
}

impl DamageKind {
    /// The name under which callers know it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Line => "line",
            Self::Joined => "joined",
            Self::Bytes => "bytes",
            Self::Header => "header",
            Self::Repeated => "repeated",
            Self::Parent => "parent",
            Self::Circle => "circle",
            Self::Tip => "tip",
            Self::Value => "value",
        }
    }

    /// Whether it only remarks on what a whole file says.
    #[must_use]
    pub fn is_note(self) -> bool {
        matches!(self, Self::Parent | Self::Circle | Self::Tip | Self::Value)
    }
}

/// Where in a file: the line's number, from 1, and the offset of its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub line: u64,
    pub offset: u64,
}

/// One report on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub kind: DamageKind,
    pub path: Arc<Path>,
    /// None for the file as a whole.
    pub place: Option<Place>,
    pub reason: String,
    /// The system's error number, where the system refused.
    pub errno: Option<i32>,
}

impl Damage {
    /// A report on a file that the system would not let us read.
    pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self {
            kind: DamageKind::File,
            path: path.into(),
            place: None,
            reason: words(error),
            errno: error.raw_os_error(),
        }
    }

    /// A report on a file that was named, and is none that can be read.
    pub(crate) fn unusable(path: &Path, reason: &str) -> Self {
        Self { kind: DamageKind::File, path: path.into(), place: None, reason: reason.to_owned(), errno: None }
    }
}

/// The start of a text, short enough to be quoted in a report.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// How many reports of one file are kept: enough for anyone to read, and a bound on what a hostile file can cost.
const MAX_REPORTS: usize = 10_000;

/// The reports of one file. They come in any order; damage is kept before notes, and the first by line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reports {
    kept: BTreeMap<Rank, String>,
    left_out: Option<Rank>,
    left_out_count: u64,
    damage_count: u64,
}

/// In which order reports are kept: whether it is a note, its place and kind, and its number among those.
type Rank = (bool, Place, DamageKind, u64);

impl Reports {
    /// Notes one report; `reason` is only called for if it is kept.
    pub(crate) fn add(&mut self, kind: DamageKind, place: Place, reason: impl FnOnce() -> String) {
        self.damage_count += u64::from(!kind.is_note());
        let mut last = (kind.is_note(), place, kind, self.kept.len() as u64 + self.left_out_count);
        if self.kept.len() < MAX_REPORTS {
            self.kept.insert(last, reason());
            return;
        }
        if let Some(entry) = self.kept.last_entry().filter(|entry| *entry.key() > last) {
            let (greatest, _) = entry.remove_entry();
            self.kept.insert(std::mem::replace(&mut last, greatest), reason());
        }
        self.left_out = Some(self.left_out.map_or(last, |first| first.min(last)));
        self.left_out_count += 1;
    }

    /// Adds the reports of a later part of the file, whose lines were counted from the number `lines` on.
    pub(crate) fn extend(&mut self, part: Self, lines: u64) {
        let kept_damage = part.kept.keys().filter(|(is_note, ..)| !is_note).count() as u64;
        for ((_, place, kind, _), reason) in part.kept {
            self.add(kind, Place { line: place.line + lines, ..place }, || reason);
        }
        let moved = part
            .left_out
            .map(|(is_note, place, kind, number)| (is_note, Place { line: place.line + lines, ..place }, kind, number));
        self.left_out = self.left_out.into_iter().chain(moved).min();
        self.left_out_count += part.left_out_count;
        self.damage_count += part.damage_count - kept_damage;
    }

    /// How much damage was reported; notes are none.
    pub(crate) fn damage_count(&self) -> u64 {
        self.damage_count
    }

    /// Everything that was kept, by line, with a last word on what was not.
    pub(crate) fn into_damage(self, path: &Path) -> Vec<Damage> {
        let path: Arc<Path> = path.into();
        let report = |kind, place, reason| Damage { kind, path: Arc::clone(&path), place, reason, errno: None };
        let count = self.left_out_count;
        let last =
            self.left_out.map(|(_, _, kind, _)| report(kind, None, format!("{count} more reports are left out")));
        let kept = self.kept.into_iter().map(|((_, place, kind, _), reason)| report(kind, Some(place), reason));
        let mut damage: Vec<_> = kept.collect();
        damage.sort_by_key(|report| (report.place, report.kind));
        damage.extend(last);
        damage
    }
}
