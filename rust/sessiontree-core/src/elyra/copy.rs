//! Sessions made of others: an old file migrated, a branch taken out, a fork.
//!
//! Entries are copied as they stand, but for the values that must change; what is copied is never held in memory as a whole.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::entries::Label;
use super::entry::Kind;
use super::index::Number;
use super::new::NewSession;
use super::session::{Home, OpenOptions, Session};
use super::source::{Compared, Source};
use crate::error::{Error, Result, Tick};
use crate::files::read_fully_at;
use crate::json::{is_string, text};
use crate::rewrite::{Change, changed, find, quoted};
use crate::write::{self, Draft, Locked};

/// How much is copied at a time.
const BLOCK: usize = 1 << 20;

/// Bytes on their way to a file.
struct Writer<'a> {
    draft: &'a Draft,
    target: &'a Path,
    written: u64,
    buffer: Vec<u8>,
}

impl<'a> Writer<'a> {
    fn new(draft: &'a Draft, target: &'a Path) -> Self {
        Self { draft, target, written: 0, buffer: Vec::with_capacity(BLOCK) }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        write::append(self.draft.file(), self.written, &self.buffer, false).map_err(Error::io(self.target))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Copies a stretch of a source.
    fn copy(&mut self, source: &Source, mut from: u64, until: u64) -> Result<()> {
        while from < until {
            let count = (until - from).min(BLOCK as u64);
            #[expect(clippy::cast_possible_truncation, reason = "at most a block")]
            let mut block = vec![0; count as usize];
            source.read(from, &mut block)?;
            self.write(&block)?;
            from += count;
        }
        Ok(())
    }
}

/// Rewrites the file of an old version in the current one, and puts it in the old one's place.
///
/// Every byte that is no entry of it, lines that cannot be read among them, stays where it is.
pub(super) fn migrate_file(session: &Session, tick: Tick<'_>) -> Result<()> {
    let path = session.shown_path();
    // A link stays a link.
    let target = fs::canonicalize(&path).map_err(Error::io(&path))?;
    let locked = write::open_locked(&target, tick)?;
    let Source::File(file) = &*session.source else { return Ok(()) };
    let size = file.known().size();
    let check = || match file.compare(|| fs::metadata(&target))? {
        (Compared::Same, _) => Ok(()),
        (Compared::Touched | Compared::Grown, _) => Err(file.conflict("the file has been written to")),
    };
    check()?;
    let draft = Draft::of_replacement(&target)?;
    let mut writer = Writer::new(&draft, &target);
    let source = &session.source;
    writer.copy(source, 0, session.header_span.start)?;
    writer.write(&session.header_object)?;
    let mut done = session.header_span.end;
    for (number, row) in session.body.entries.rows().iter().enumerate() {
        if let Some(migration) = session.body.entries.migration(number, session.header.version) {
            writer.copy(source, done, row.offset())?;
            writer.write(&migration.apply(&source.object(row)?))?;
            done = row.offset() + u64::from(row.object.length);
        }
    }
    writer.copy(source, done, size)?;
    writer.flush()?;
    let new = draft.replace(&target, check)?;
    carry_over(&locked, size, &new).map_err(Error::io(&path))
}

/// Appends to a new file what somebody who does not lock has appended to the old one, just before it was replaced.
fn carry_over(old: &Locked, size: u64, new: &File) -> io::Result<()> {
    let gained = old.file().metadata()?.len().saturating_sub(size);
    if gained == 0 {
        return Ok(());
    }
    let mut bytes = vec![0; usize::try_from(gained).unwrap_or(usize::MAX)];
    let done = read_fully_at(old.file(), &mut bytes, size)?;
    write::append(new, new.metadata()?.len(), &bytes[..done], true)
}

/// Copies a session's entries into a new file, under a header of its own.
///
/// # Errors
///
/// [`Error::NoSession`] where the source is none, [`Error::InvalidId`], [`Error::NameTaken`], and [`Error::Io`].
pub fn fork(from: &Path, new: &NewSession, options: OpenOptions, tick: Tick<'_>) -> Result<Session> {
    let from = std::path::absolute(from).map_err(Error::io(from))?;
    let session = Session::read(from, OpenOptions { read_only: true, ..options }, tick)?;
    session.write_new(new, options, tick, &mut |each| {
        for (number, row) in session.body.entries.rows().iter().enumerate() {
            let object = session.source.object(row)?;
            match session.body.entries.migration(number, session.header.version) {
                Some(migration) => each(&migration.apply(&object))?,
                None => each(&object)?,
            }
        }
        Ok(())
    })
}

/// Called with one entry's JSON after the other.
type Each<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

impl Session {
    /// A new session of the branch to an entry: labels taken out, and given anew at its end.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchEntry`] for an unknown id, [`Error::ReadOnly`], and as for [`fork`].
    pub fn branched(&self, leaf_id: &str, new: &NewSession, tick: Tick<'_>) -> Result<Self> {
        if self.options.read_only {
            return Err(Error::ReadOnly { path: self.shown_path() });
        }
        let path = self.path_to(Some(leaf_id))?;
        self.write_new(new, self.options, tick, &mut |each| self.branch_lines(&path, each))
    }

    /// Writes a session of the entries that `lines` gives, and opens it; in memory, it is made there.
    fn write_new(
        &self,
        new: &NewSession,
        options: OpenOptions,
        tick: Tick<'_>,
        lines: &mut dyn FnMut(Each<'_>) -> Result<()>,
    ) -> Result<Self> {
        let header = new.header(self.header.version)?;
        let Some(path) = header.path.clone() else {
            let mut session = Self::begin(header, Home::Memory, options);
            lines(&mut |line| session.push_line(line.to_owned()))?;
            return Ok(session);
        };
        let path = std::path::absolute(&path).map_err(Error::io(&path))?;
        let draft = Draft::of_new(&path)?;
        let mut writer = Writer::new(&draft, &path);
        writer.write(&header.object)?;
        writer.write(b"\n")?;
        lines(&mut |line| {
            writer.write(line)?;
            writer.write(b"\n")
        })?;
        writer.flush()?;
        draft.create(&path, options.fsync)?;
        Self::read(path, options, tick)
    }

    fn branch_lines(&self, path: &[Number], each: Each<'_>) -> Result<()> {
        let index = self.body.entries.index();
        let is_label = |node: Number| self.body.entries.row(node).kind == Kind::Label;
        let mut next_kept = HashMap::new();
        for (at, &label) in path.iter().enumerate().filter(|&(_, &node)| is_label(node)) {
            let kept = path[at..].iter().find(|&&node| !is_label(node));
            next_kept.extend(kept.map(|&kept| (index.id(label), index.id(kept))));
        }
        let mut parent_id = None;
        let mut labels = Vec::new();
        for &node in path.iter().filter(|&&node| !is_label(node)) {
            each(&self.chained(node, parent_id, &next_kept)?)?;
            parent_id = Some(index.id(node));
            labels.extend(self.body.entries.label(index.id(node)).map(|label| (label, index.id(node))));
        }
        labels.sort_by_key(|(label, _)| label.since);
        let mut parent_id = parent_id.map(str::to_owned);
        for (label, target_id) in labels {
            let id = self.unused_id();
            each(&self.label_line(label, target_id, &id, parent_id.as_deref())?)?;
            parent_id = Some(id);
        }
        Ok(())
    }

    /// An entry of a branch that labels have been taken out of.
    fn chained(&self, node: Number, parent_id: Option<&str>, next_kept: &HashMap<&str, &str>) -> Result<Vec<u8>> {
        let row = self.body.entries.row(node);
        let object = self.source.object(row)?;
        let parent = parent_id.map_or(b"null".to_vec(), quoted);
        let mut changes = Vec::new();
        if self.body.entries.index().parent_id(node) != parent_id {
            changes.push(("parentId", Change::Set(&parent)));
        }
        let mut first_kept = None;
        if let ([Some(id)], Kind::Compaction) = (find(&object, ["firstKeptEntryId"]), row.kind)
            && is_string(id.of(&object))
        {
            first_kept = next_kept.get(&*text(id.of(&object))).map(|id| quoted(id));
        }
        changes.extend(first_kept.as_ref().map(|id| ("firstKeptEntryId", Change::Set(id.as_slice()))));
        Ok(if changes.is_empty() { object } else { changed(&object, &changes) })
    }

    /// A label given anew, with the time that it was given first.
    fn label_line(&self, label: &Label, target_id: &str, id: &str, parent_id: Option<&str>) -> Result<Vec<u8>> {
        let object = self.source.object(&self.body.entries.rows()[label.row])?;
        let [time] = find(&object, ["timestamp"]);
        let mut line = format!("{{\"type\":\"label\",\"id\":\"{id}\",\"parentId\":").into_bytes();
        line.extend(parent_id.map_or(b"null".to_vec(), quoted));
        if let Some(time) = time {
            line.extend_from_slice(b",\"timestamp\":");
            line.extend_from_slice(time.of(&object));
        }
        line.extend_from_slice(b",\"targetId\":");
        line.extend(quoted(target_id));
        line.extend_from_slice(b",\"label\":");
        line.extend(quoted(&label.text));
        line.push(b'}');
        Ok(line)
    }
}
