//! A session to its file: as a whole, or not at all, and never over what somebody else has written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::names;
use super::session::Session;
use super::transforms::Transforms;
use crate::error::{Error, Result, Tick};
use crate::info::Stamp;
use crate::lines::MAX_LINE;
use crate::write::{self, Draft, Locked};

/// Where a session is written, and how.
#[derive(Clone, Debug)]
pub struct Target {
    pub path: PathBuf,
    pub transforms: Transforms,
}

impl Session {
    /// Makes a change, and writes the session if there is a target; where either fails, the session is as it was.
    ///
    /// # Errors
    ///
    /// As `change`, and as [`Self::save`].
    pub fn change<T>(
        &mut self,
        target: Option<&Target>,
        tick: Tick<'_>,
        change: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = self.state();
        let changed = change(self).and_then(|changed| match target {
            Some(target) => self.save(target, tick).map(|()| changed),
            None => Ok(changed),
        });
        if changed.is_err() {
            self.restore(before);
        }
        changed
    }

    /// Writes the session: to a new file the first time, then in the place of the one that it was read from or written to.
    ///
    /// # Errors
    ///
    /// [`Error::NameTaken`] where a new file would have the name of another one, [`Error::Conflict`] where its own was changed
    /// or taken away meanwhile, [`Error::Turns`] where the log is one of turns, [`Error::TooLong`] where nobody would read
    /// it, [`Error::Io`] where the system refuses, [`Error::Stopped`] when `tick` breaks off the waiting for another writer.
    pub fn save(&mut self, Target { path, transforms }: &Target, tick: Tick<'_>) -> Result<()> {
        let bytes = self.bytes(path, transforms)?;
        let file = match self.stamp {
            None => written(Draft::of_new(path)?, path, &bytes)?.create(path, true)?,
            Some(stamp) => {
                let locked = lock(path, &stamp, tick)?;
                let place = behind_link(path).map_err(Error::io(path))?;
                let draft = written(Draft::of_replacement(&place)?, path, &bytes)?;
                draft.replace(&place, || check(&locked, path, &stamp))?
            }
        };
        self.stamp = Some(Stamp::of(&file.metadata().map_err(Error::io(path))?));
        Ok(())
    }

    /// Gives the session's file another name, which nothing may have yet.
    ///
    /// # Errors
    ///
    /// As [`Self::save`].
    pub fn move_file(&mut self, from: &Path, to: &Target, tick: Tick<'_>) -> Result<()> {
        let name = std::mem::replace(&mut self.name, names::of_file(&to.path));
        self.write_moved(from, to, tick).inspect_err(|_| self.name = name)
    }

    fn write_moved(&mut self, from: &Path, Target { path: to, transforms }: &Target, tick: Tick<'_>) -> Result<()> {
        let bytes = self.bytes(from, transforms)?;
        let Some(stamp) = self.stamp else { return Ok(()) };
        let locked = lock(from, &stamp, tick)?;
        let permissions = locked.file().metadata().map_err(Error::io(from))?.permissions();
        let draft = written(Draft::of_new(to)?, to, &bytes)?;
        draft.file().set_permissions(permissions).map_err(Error::io(to))?;
        check(&locked, from, &stamp)?;
        // Whatever is interrupted leaves the old file, or both.
        let file = draft.create(to, true)?;
        self.stamp = Some(Stamp::of(&file.metadata().map_err(Error::io(to))?));
        fs::remove_file(from).map_err(Error::io(from))
    }

    fn bytes(&self, path: &Path, transforms: &Transforms) -> Result<Vec<u8>> {
        if self.has_turns {
            return Err(Error::Turns { path: path.to_owned() });
        }
        let bytes = self.rendered(transforms);
        if bytes.len() > MAX_LINE { Err(Error::TooLong { length: bytes.len() }) } else { Ok(bytes) }
    }
}

/// The file itself, where the path is a link to it: the link stays one.
fn behind_link(path: &Path) -> io::Result<PathBuf> {
    if fs::symlink_metadata(path)?.is_symlink() { fs::canonicalize(path) } else { Ok(path.to_owned()) }
}

fn written(draft: Draft, path: &Path, bytes: &[u8]) -> Result<Draft> {
    write::append(draft.file(), 0, bytes, false).map_err(Error::io(path))?;
    Ok(draft)
}

/// Keeps other processes of ours from writing, once it is certain that the file is as it was.
fn lock(path: &Path, stamp: &Stamp, tick: Tick<'_>) -> Result<Locked> {
    let locked = match write::open_locked(path, tick) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Err(gone(path)),
        locked => locked?,
    };
    check(&locked, path, stamp)?;
    Ok(locked)
}

fn check(locked: &Locked, path: &Path, stamp: &Stamp) -> Result<()> {
    let now = locked.file().metadata().map_err(Error::io(path))?;
    let is_it = Stamp::of(&now).is_unwritten_since(stamp);
    match write::is_at(locked.file(), path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(gone(path)),
        Err(error) => Err(Error::io(path)(error)),
        Ok(is_there) if is_there && is_it => Ok(()),
        Ok(_) => {
            let reason = "the file was changed by someone else since it was read: read it again".to_owned();
            Err(Error::Conflict { path: path.to_owned(), reason })
        }
    }
}

fn gone(path: &Path) -> Error {
    Error::Conflict { path: path.to_owned(), reason: "the file has gone since it was read".to_owned() }
}
