//! Finding the files of stores, whichever formats they are of.
//!
//! A session file is a regular file, or a link to one, whose name ends as its format has it. Nothing is opened here, so a
//! named pipe cannot hold a listing up.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Damage, Error, Result};
use crate::info::Format;
use crate::{elyra, replio};

/// Where to look for sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// An agent's folder: files lie in the folders of its `sessions`. It need not exist.
    Agent(PathBuf),
    /// A folder that holds the files themselves. It need not exist.
    Flat(PathBuf),
    /// A folder that holds the documents of a Replio project. It need not exist.
    Replio(PathBuf),
    /// A file, or a folder of whichever kind its contents show.
    Any(PathBuf),
}

/// A file that may be a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    /// Whose it is, going by its name.
    pub(crate) format: Format,
    /// Whether it was named itself, not found in a folder.
    pub(crate) is_named: bool,
}

/// What was found, in no order, and what could not be looked at.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<Candidate>,
    /// The folders that were looked at for files.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) damage: Vec<Damage>,
}

/// Finds the files of all sources, each once, however many links lead to it; calls `tick` all along.
///
/// # Errors
///
/// [`Error::Io`] where a folder that was named cannot be read, or an [`Source::Any`] does not exist;
/// [`Error::NothingFits`] where a folder holds nothing of the kind, and what `tick` gives.
pub(crate) fn find(sources: &[Source], tick: &mut dyn FnMut() -> Result<()>) -> Result<Found> {
    let mut search = Search { files: Vec::new(), folders: Vec::new(), damage: Vec::new(), tick };
    for source in sources {
        match source {
            Source::Agent(folder) => search.folders_in(&absolute(folder)?.join("sessions"))?,
            Source::Flat(folder) => search.files_in(&absolute(folder)?, Format::Elyra)?,
            Source::Replio(folder) => search.files_in(&absolute(folder)?, Format::Replio)?,
            Source::Any(path) => search.anything(&absolute(path)?)?,
        }
    }
    Ok(search.finish())
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::io(path))
}

/// Whose session a file would be, going by its name.
fn format_of(name: &OsStr) -> Option<Format> {
    let name = name.as_encoded_bytes();
    if elyra::is_session_name(name) {
        Some(Format::Elyra)
    } else if replio::is_session_name(name) {
        Some(Format::Replio)
    } else {
        None
    }
}

struct Search<'a> {
    /// Each with the number of the folder that it lies in; None of one that was named, or is a link.
    files: Vec<(Candidate, Option<usize>)>,
    /// The folders that were looked at for files, with their real paths.
    folders: Vec<(PathBuf, PathBuf)>,
    damage: Vec<Damage>,
    /// Called for each thing that is looked at: an occasion to stop.
    tick: &'a mut dyn FnMut() -> Result<()>,
}

impl Search<'_> {
    /// Whatever fits is read: `sessions/` or `.replio/sessions/` below it, files in it, folders of files in it.
    fn anything(&mut self, path: &Path) -> Result<()> {
        if !fs::metadata(path).map_err(Error::io(path))?.is_dir() {
            return self.named(path);
        }
        let before = self.files.len();
        let sessions = path.join("sessions");
        let is_agent = sessions.is_dir();
        if is_agent {
            self.folders_in(&sessions)?;
        }
        let replio = replio::sessions_folder(path);
        if let Some(sessions) = &replio {
            self.files_in(sessions, Format::Replio)?;
        }
        self.files_in(path, Format::Elyra)?;
        self.folders_in(path)?;
        if self.files.len() == before && !is_agent && replio.is_none() {
            let reason = "expected a folder 'sessions' or '.replio/sessions', *.jsonl files, or folders of such files";
            let reason = reason.to_owned();
            return Err(Error::NothingFits { path: path.to_owned(), reason });
        }
        Ok(())
    }

    /// Elyra's files in the folders in `folder`, no deeper.
    fn folders_in(&mut self, folder: &Path) -> Result<()> {
        for entry in children(folder)? {
            (self.tick)()?;
            let path = entry.path();
            match metadata(&entry, &path) {
                Ok(metadata) if metadata.is_dir() => match self.files_in(&path, Format::Elyra) {
                    Err(Error::Io { path, source }) => self.note(&path, &source),
                    other => other?,
                },
                Ok(_) => {}
                Err(error) => self.note(&path, &error),
            }
        }
        Ok(())
    }

    /// The files of a format in `folder`, no deeper.
    fn files_in(&mut self, folder: &Path, format: Format) -> Result<()> {
        let children = children(folder)?;
        let real = match folder.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            real => real.map_err(Error::io(folder))?,
        };
        self.folders.push((folder.to_owned(), real));
        for entry in children {
            (self.tick)()?;
            if format_of(&entry.file_name()) != Some(format) {
                continue;
            }
            let path = entry.path();
            match is_file(&entry, &path) {
                Ok((true, is_link)) => {
                    let folder = (!is_link).then_some(self.folders.len() - 1);
                    self.files.push((Candidate { path, format, is_named: false }, folder));
                }
                Ok((false, _)) => {}
                Err(error) => self.note(&path, &error),
            }
        }
        Ok(())
    }

    fn named(&mut self, path: &Path) -> Result<()> {
        let metadata = fs::metadata(path).map_err(Error::io(path))?;
        if metadata.is_file() {
            let format = path.file_name().and_then(format_of).unwrap_or_default();
            self.files.push((Candidate { path: path.to_owned(), format, is_named: true }, None));
        } else {
            self.damage.push(Damage::unusable(path, "no session: it is no regular file"));
        }
        Ok(())
    }

    /// What cannot be looked at is damage, unless it has gone (a link to nowhere is nothing, too).
    fn note(&mut self, path: &Path, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.damage.push(Damage::unreadable(path, error));
        }
    }

    fn finish(mut self) -> Found {
        let folders = self.folders.iter().map(|(_, real)| real).collect::<HashSet<_>>().len();
        if folders < self.folders.len() || self.files.iter().any(|(_, folder)| folder.is_none()) {
            // Where several paths lead to one file, one that was named goes first: its fate must be told.
            let order = |file: &Candidate| !file.is_named;
            self.files.sort_unstable_by(|(one, _), (other, _)| {
                (order(one), one.path.as_os_str()).cmp(&(order(other), other.path.as_os_str()))
            });
            let mut seen = HashSet::new();
            self.files.retain(|(file, folder)| {
                let real = match (folder, file.path.file_name()) {
                    (Some(folder), Some(name)) => Ok(self.folders[*folder].1.join(name)),
                    _ => file.path.canonicalize(),
                };
                // One that has gone meanwhile is nobody's twin.
                real.map_or(true, |real| seen.insert(real))
            });
        }
        let files = self.files.into_iter().map(|(candidate, _)| candidate).collect();
        // A folder may have been looked at both for files and for folders.
        self.damage.sort_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
        self.damage.dedup_by(|one, other| one.path == other.path);
        let folders = self.folders.into_iter().map(|(folder, _)| folder).collect();
        Found { files, folders, damage: self.damage }
    }
}

/// What a folder holds; nothing if it does not exist.
fn children(folder: &Path) -> Result<Vec<DirEntry>> {
    match fs::read_dir(folder).and_then(Iterator::collect) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other.map_err(Error::io(folder)),
    }
}

/// Whether it is a regular file, or a link to one, and whether it is a link.
fn is_file(entry: &DirEntry, path: &Path) -> io::Result<(bool, bool)> {
    let kind = entry.file_type()?;
    let is_link = kind.is_symlink();
    Ok((if is_link { fs::metadata(path)?.is_file() } else { kind.is_file() }, is_link))
}

/// As `fs::metadata`, with no more system calls than needed.
fn metadata(entry: &DirEntry, path: &Path) -> io::Result<Metadata> {
    if entry.file_type()?.is_symlink() { fs::metadata(path) } else { entry.metadata() }
}
