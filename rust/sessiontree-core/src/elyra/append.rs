//! What is added to an open session, by us and by others.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::Uuid;

use super::digest::{Digest, Flags};
use super::load::load_more;
use super::session::{Home, Session};
use super::source::{Compared, FileSource, Known, Source, lock};
use crate::error::{Error, Place, Result, Tick};
use crate::files::read_fully_at;
use crate::info::Stamp;
use crate::lines::MAX_LINE;
use crate::rewrite::quoted;
use crate::timestamp;
use crate::write::{self, Draft};

/// What a branch summary is from when there was no leaf.
const NO_LEAF: &str = "root";

/// How often a line is written that others, who do not lock, make useless at the same moment.
const APPEND_ATTEMPTS: usize = 10;

/// An entry that is to be written, but for its id.
struct NewEntry<'a> {
    kind: &'a str,
    parent_id: Option<String>,
    /// Its own members, as a JSON object.
    payload: &'a [u8],
}

impl NewEntry<'_> {
    /// The line, keys in the order of the seed's examples.
    fn line(&self, id: &str) -> Vec<u8> {
        let parent_id = self.parent_id.as_ref().map_or(b"null".to_vec(), |id| quoted(id));
        let time = timestamp::format(timestamp::now());
        let mut line = b"{\"type\":".to_vec();
        line.extend(quoted(self.kind));
        line.extend_from_slice(format!(",\"id\":\"{id}\",\"parentId\":").as_bytes());
        line.extend(parent_id);
        line.extend_from_slice(format!(",\"timestamp\":\"{time}\"").as_bytes());
        push_members(&mut line, self.payload);
        line
    }
}

/// Puts an object's members, and its end, behind those that an unfinished one has.
fn push_members(unfinished: &mut Vec<u8>, object: &[u8]) {
    let members = object.strip_prefix(b"{").unwrap_or(object);
    if members != b"}" {
        unfinished.push(b',');
    }
    unfinished.extend_from_slice(members);
}

impl Session {
    /// Appends an entry and moves the leaf to it; gives its id.
    ///
    /// `payload` is a JSON object of the entry's own members. If it fails, the session is as before, but for what others have
    /// appended.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`]; [`Error::TooLong`]; [`Error::Io`] where the system
    /// refuses; [`Error::Conflict`] where the file is no longer the one that was read; [`Error::NameTaken`] where a new session's
    /// file is there already; [`Error::Stopped`] when `tick` breaks off the waiting for others.
    pub fn append(&mut self, kind: &str, payload: &[u8], tick: Tick<'_>) -> Result<String> {
        self.append_below(self.leaf_id().map(str::to_owned), kind, payload, tick)
    }

    /// Moves the leaf to an entry, or to none, and appends a summary of the branch that was left; gives its id.
    ///
    /// `payload` is what goes behind the `fromId`, as for [`Self::append`].
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchEntry`] for an unknown id, and as for [`Self::append`].
    pub fn append_summary(&mut self, to: Option<&str>, payload: &[u8], tick: Tick<'_>) -> Result<String> {
        to.map(|id| self.node(id)).transpose()?;
        let mut with_from = b"{\"fromId\":".to_vec();
        with_from.extend(quoted(self.leaf_id().unwrap_or(NO_LEAF)));
        push_members(&mut with_from, payload);
        self.append_below(to.map(str::to_owned), "branch_summary", &with_from, tick)
    }

    fn append_below(
        &mut self,
        parent_id: Option<String>,
        kind: &str,
        payload: &[u8],
        tick: Tick<'_>,
    ) -> Result<String> {
        if self.options.read_only {
            return Err(Error::ReadOnly { path: self.shown_path() });
        }
        let new = NewEntry { kind, parent_id, payload };
        match self.home.clone() {
            Home::File(path) => self.append_to_file(&path, &new, tick),
            home => self.append_to_memory(home, &new, tick),
        }
    }

    fn append_to_memory(&mut self, home: Home, new: &NewEntry<'_>, tick: Tick<'_>) -> Result<String> {
        let id = self.unused_id();
        let mut line = new.line(&id);
        let source = Arc::clone(&self.source);
        let Source::Memory(bytes) = &*source else { return Err(self.lost()) };
        let mut bytes = lock(bytes);
        let digest = digest(&line, Place { line: self.body.lines + 1, offset: bytes.len() as u64 })?;
        line.push(b'\n');
        let is_spoken = digest.row.flags.has(Flags::IS_SPOKEN);
        match home {
            Home::Ahead(path) if is_spoken => self.settle(path, &[&bytes, &line], Replacing::Nothing)?,
            Home::Empty(path) => {
                let locked = write::open_locked(&path, tick)?;
                let size = locked.file().metadata().map_err(Error::io(&path))?.len();
                if size > 0 || !write::is_at(locked.file(), &path).map_err(Error::io(&path))? {
                    let reason = "the file was empty, and is no longer".to_owned();
                    return Err(Error::Conflict { path, reason });
                }
                self.settle(path, &[&bytes, &line], Replacing::EmptyFile)?;
                drop(locked);
            }
            _ => bytes.extend_from_slice(&line),
        }
        self.add(digest);
        self.body.lines += 1;
        Ok(self.arrive(id))
    }

    /// Writes the file of a session that had none.
    fn settle(&mut self, path: PathBuf, parts: &[&[u8]], replacing: Replacing) -> Result<()> {
        let io = |error| Error::io(&path)(error);
        // Where a link leads to an empty file, that is what is replaced.
        let target = match replacing {
            Replacing::EmptyFile => fs::canonicalize(&path).map_err(io)?,
            Replacing::Nothing => path.clone(),
        };
        let draft = match replacing {
            Replacing::EmptyFile => Draft::of_replacement(&target)?,
            Replacing::Nothing => Draft::of_new(&target)?,
        };
        let bytes = parts.concat();
        write::append(draft.file(), 0, &bytes, false).map_err(io)?;
        let file = match replacing {
            Replacing::EmptyFile => draft.replace(&target, || Ok(()))?,
            Replacing::Nothing => draft.create(&target, self.options.fsync)?,
        };
        let stamp = Stamp::of(&file.metadata().map_err(io)?);
        let known = Known::of(&file, bytes.len() as u64, &stamp).map_err(io)?;
        self.source = Arc::new(Source::File(FileSource::new(path.clone(), file, known)));
        self.home = Home::File(path);
        Ok(())
    }

    fn append_to_file(&mut self, path: &Path, new: &NewEntry<'_>, tick: Tick<'_>) -> Result<String> {
        let io = |error| Error::io(path)(error);
        let locked = write::open_locked(path, tick)?;
        self.take_in(path, Unended::IsALine, tick)?;
        if let Some(parent_id) = &new.parent_id {
            self.node(parent_id)?;
        }
        let id = self.unused_id();
        let line = new.line(&id);
        for _ in 0..APPEND_ATTEMPTS {
            let source = Arc::clone(&self.source);
            let Source::File(file) = &*source else { return Err(self.lost()) };
            let known = file.known().clone();
            let (size, ends_line) = (known.size(), known.ends_line());
            let start = if ends_line { size } else { size + 1 };
            let digest = digest(&line, Place { line: self.body.lines + 1, offset: start })?;
            let bytes = [if ends_line { &b""[..] } else { b"\n" }, &line, b"\n"].concat();
            write::append(locked.file(), size, &bytes, self.options.fsync).map_err(io)?;
            let now = locked.file().metadata().map_err(io)?;
            if now.len() == size + bytes.len() as u64 {
                file.known().grow(&bytes, &Stamp::of(&now));
                self.add(digest);
                self.body.lines += 1;
                return Ok(self.arrive(id));
            }
            // Somebody who does not lock has appended at the same moment, before our line or after it. If they left half a
            // line before ours, ours is lost with it, and is written once more.
            self.take_in(path, Unended::IsALine, tick)?;
            if self.body.entries.index().find(&id).is_some() {
                return Ok(self.arrive(id));
            }
        }
        Err(Error::Conflict {
            path: path.to_owned(),
            reason: "others leave their lines unfinished all the time".to_owned(),
        })
    }

    /// Takes in what others have appended; the leaf stays. Gives the numbers of the new entries.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] where the file is no longer the one that was read, [`Error::Io`] where it has gone or cannot be read.
    pub fn refresh(&mut self, tick: Tick<'_>) -> Result<Range<usize>> {
        let before = self.len();
        if let Home::File(path) = self.home.clone() {
            self.take_in(&path, Unended::IsToCome, tick)?;
        }
        Ok(before..self.len())
    }

    /// Reads what the file has gained.
    fn take_in(&mut self, path: &Path, unended: Unended, tick: Tick<'_>) -> Result<()> {
        let io = |error| Error::io(path)(error);
        let source = Arc::clone(&self.source);
        let Source::File(file) = &*source else { return Err(self.lost()) };
        // By its path: another file may have taken its place.
        let (compared, now) = file.compare(|| fs::metadata(path))?;
        match compared {
            Compared::Same => return Ok(()),
            Compared::Touched => return self.reload(path, tick),
            Compared::Grown => {}
        }
        let known = file.known().clone();
        let mut start = known.size();
        if !known.ends_line() {
            let mut next = [0];
            read_fully_at(file.file(), &mut next, start).map_err(io)?;
            if next != *b"\n" {
                // The line that had no end yet goes on, and is another one.
                return self.reload(path, tick);
            }
            start += 1;
        }
        let end = match unended {
            Unended::IsALine => now.len(),
            Unended::IsToCome => end_of_lines(file.file(), start, now.len()).map_err(io)?,
        };
        let known = Known::of(file.file(), end, &Stamp::of(&now)).map_err(io)?;
        let leaf_id = self.leaf_id().map(str::to_owned);
        load_more(file.file(), start, end, &mut self.body).map_err(io)?;
        self.children = None;
        *file.known() = known;
        // An id names the last entry that has it.
        self.leaf = leaf_id.and_then(|id| self.body.entries.index().find(&id));
        Ok(())
    }

    /// Reads the whole file again, the leaf staying where it is.
    fn reload(&mut self, path: &Path, tick: Tick<'_>) -> Result<()> {
        let conflict = |reason: &str| Error::Conflict { path: path.to_owned(), reason: reason.to_owned() };
        let new = Self::read(path.to_owned(), self.options, tick)?;
        let leaf = self.leaf_id().map(|id| new.body.entries.index().find(id));
        if new.header.id != self.header.id || new.len() < self.len() || leaf == Some(None) {
            return Err(conflict("the file has been rewritten since it was read"));
        }
        *self = Self { leaf: leaf.flatten(), ..new };
        Ok(())
    }

    /// Adds an entry of a session in memory, as it stands.
    pub(super) fn push_line(&mut self, mut line: Vec<u8>) -> Result<()> {
        let source = Arc::clone(&self.source);
        let Source::Memory(bytes) = &*source else { return Err(self.lost()) };
        let mut bytes = lock(bytes);
        let digest = digest(&line, Place { line: self.body.lines + 1, offset: bytes.len() as u64 })?;
        line.push(b'\n');
        bytes.extend_from_slice(&line);
        self.add(digest);
        self.body.lines += 1;
        self.leaf = self.body.entries.index().leaf();
        Ok(())
    }

    fn add(&mut self, digest: Digest) {
        self.children = None;
        self.body.entries.add(digest, &mut self.body.reports);
    }

    /// Moves the leaf to the entry just added.
    fn arrive(&mut self, id: String) -> String {
        self.leaf = self.body.entries.index().find(&id).or(self.leaf);
        id
    }

    /// Eight hex digits that name no entry yet.
    pub(super) fn unused_id(&self) -> String {
        loop {
            let [a, b, c, d, ..] = Uuid::new_v4().into_bytes();
            let id = format!("{:08x}", u32::from_be_bytes([a, b, c, d]));
            if self.body.entries.index().find(&id).is_none() {
                return id;
            }
        }
    }

    fn lost(&self) -> Error {
        Error::Conflict { path: self.shown_path(), reason: "the session is kept elsewhere".to_owned() }
    }
}

/// What a new session's file takes the place of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replacing {
    Nothing,
    EmptyFile,
}

/// What a last line without LF is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unended {
    /// A line like any other: something is to be written after it.
    IsALine,
    /// Perhaps somebody is still writing it: it is left for the next time.
    IsToCome,
}

/// The end of the last line between two places of a file that has one; `from` if none has.
fn end_of_lines(file: &File, from: u64, end: u64) -> io::Result<u64> {
    const BLOCK: u64 = 64 << 10;
    let mut until = end;
    while until > from {
        let start = until.saturating_sub(BLOCK).max(from);
        #[expect(clippy::cast_possible_truncation, reason = "at most a block")]
        let mut block = vec![0; (until - start) as usize];
        let count = read_fully_at(file, &mut block, start)?;
        if let Some(at) = memchr::memrchr(b'\n', &block[..count]) {
            return Ok(start + at as u64 + 1);
        }
        until = start;
    }
    Ok(from)
}

/// What is kept of a line that we wrote ourselves.
fn digest(line: &[u8], place: Place) -> Result<Digest> {
    if line.len() > MAX_LINE {
        return Err(Error::TooLong { length: line.len() });
    }
    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "the payload is no JSON object");
    Digest::of_line(line, place).ok_or_else(|| Error::io(Path::new(""))(invalid()))
}
