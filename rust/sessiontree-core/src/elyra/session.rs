//! An open session: its entries, and where one stands in their tree.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::context::{self, Context};
use super::copy::migrate_file;
use super::header::Header;
use super::index::Number;
use super::load::{Body, Failure, Loaded, load};
use super::migrate::{CURRENT, is_linear, is_old, migrated_header};
use super::new::{NewHeader, NewSession};
use super::session_entry::SessionEntry;
use super::source::{FileSource, Known, Source};
use super::spending::Spending;
use super::tree::{Children, Tree};
use super::view::TreeView;
use crate::error::{Damage, Error, Result, Tick};
use crate::info::Stamp;
use crate::rewrite::clean;
use crate::usage::Usage;

/// How often a migration is tried, when others write to the file meanwhile.
const MIGRATION_ATTEMPTS: usize = 100;

/// How a session is to be opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// Whether nothing is ever to be written, not even a migration.
    pub read_only: bool,
    /// Whether the first damage to the file is an error.
    pub strict: bool,
    /// Whether an append is to be on the disk itself when it returns.
    pub fsync: bool,
    /// How many threads read a long file, within the process's limit; None means that limit.
    pub threads: Option<usize>,
}

/// Where a session is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// Nowhere but in memory.
    Memory,
    /// Its file is made when the first user or assistant message arrives.
    Ahead(PathBuf),
    /// Its file is there, and empty: the header goes in with the first entry.
    Empty(PathBuf),
    File(PathBuf),
}

/// An open session.
#[derive(Debug)]
pub struct Session {
    pub(super) header: Header,
    /// The header's JSON, as the current version has it.
    pub(super) header_object: Vec<u8>,
    /// Where it stands in the source.
    pub(super) header_span: Range<u64>,
    pub(super) body: Body,
    pub(super) source: Arc<Source>,
    pub(super) home: Home,
    pub(super) options: OpenOptions,
    pub(super) leaf: Option<Number>,
    /// The children of every node, once they have been asked for.
    pub(super) children: Option<Children>,
    pub(super) spending: Spending,
}

impl Session {
    /// Opens a session's file. One that does not exist, or is empty, opens as a new session of `cwd` that will have that file.
    ///
    /// # Errors
    ///
    /// [`Error::NoSession`] for a file that is none, [`Error::Damaged`] if that was asked for, [`Error::Io`] where the system
    /// refuses; read-only, for a file that does not exist or is empty, too.
    pub fn open(path: &Path, cwd: &str, options: OpenOptions, tick: Tick<'_>) -> Result<Self> {
        let path = std::path::absolute(path).map_err(Error::io(path))?;
        let new = |home| {
            let new = NewSession { cwd: cwd.to_owned(), ..NewSession::default() };
            Ok(Self::begin(new.header(CURRENT)?, home, options))
        };
        match crate::files::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !options.read_only => new(Home::Ahead(path)),
            Err(error) => Err(Error::io(&path)(error)),
            Ok(file) => {
                let metadata = file.metadata().map_err(Error::io(&path))?;
                if metadata.is_file() && metadata.len() == 0 && !options.read_only {
                    return new(Home::Empty(path));
                }
                Self::read_current(&path, options, tick)
            }
        }
    }

    /// Reads the session of a file that is there; one of an old version is rewritten, if that may be.
    fn read_current(path: &Path, options: OpenOptions, tick: Tick<'_>) -> Result<Self> {
        let mut attempts = 1..=MIGRATION_ATTEMPTS;
        loop {
            let session = Self::read(path.to_owned(), options, tick)?;
            if options.strict
                && let Some(damage) = session.first_damage()
            {
                return Err(Error::Damaged(Box::new(damage)));
            }
            if options.read_only || !is_old(session.header.version) {
                return Ok(session);
            }
            match migrate_file(&session, tick) {
                // Somebody else has written to it, or was there first: what they left is read.
                Err(Error::Conflict { .. }) if attempts.next().is_some() => {}
                migrated => migrated?,
            }
        }
    }

    /// Reads the session of a file that is there.
    pub(super) fn read(path: PathBuf, options: OpenOptions, tick: Tick<'_>) -> Result<Self> {
        let io = |error| Error::io(&path)(error);
        let file = crate::files::open(&path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let no_session =
            |reason: &str| Error::NoSession { path: path.clone(), reason: format!("no session: {reason}") };
        if metadata.is_dir() {
            return Err(io(is_a_folder()));
        }
        if !metadata.is_file() {
            return Err(no_session("it is no regular file"));
        }
        let size = metadata.len();
        let loaded = load(&file, size, options.threads, tick).map_err(|failure| match failure {
            Failure::Io(error) => io(error),
            Failure::NoSession(reason) => no_session(reason),
            Failure::Stopped => Error::Stopped,
        })?;
        let known = Known::of(&file, size, &Stamp::of(&metadata)).map_err(io)?;
        let source = Source::File(FileSource::new(path.clone(), Arc::new(file), known));
        Ok(Self::of(loaded, source, Home::File(path), options))
    }

    fn of(loaded: Loaded, source: Source, home: Home, options: OpenOptions) -> Self {
        let Loaded { header, header_object, header_span, body } = loaded;
        let is_old = is_old(header.version);
        Self {
            header_object: if is_old { migrated_header(&header_object) } else { header_object },
            header_span,
            header,
            leaf: body.entries.index().leaf(),
            body,
            source: Arc::new(source),
            home,
            options,
            children: None,
            spending: Spending::default(),
        }
    }

    /// Starts a session. A file that it is to have is made when the first user or assistant message arrives.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] where an id was given that no file name may be built from.
    pub fn start(new: &NewSession, options: OpenOptions) -> Result<Self> {
        let header = new.header(CURRENT)?;
        let home = match &header.path {
            None => Home::Memory,
            Some(path) => Home::Ahead(std::path::absolute(path).map_err(Error::io(path))?),
        };
        Ok(Self::begin(header, home, options))
    }

    pub(super) fn begin(new: NewHeader, home: Home, options: OpenOptions) -> Self {
        let mut bytes = new.object.clone();
        bytes.push(b'\n');
        let loaded = Loaded {
            body: Body { lines: 1, ..Body::new(&new.header) },
            header: new.header,
            header_span: 0..new.object.len() as u64,
            header_object: new.object,
        };
        Self::of(loaded, Source::in_memory(bytes), home, options)
    }

    /// What the header says, migrated.
    #[must_use]
    pub fn header(&self) -> Header {
        Header { version: self.header.version.max(CURRENT), ..self.header.clone() }
    }

    /// The header's JSON object, migrated.
    #[must_use]
    pub fn header_json(&self) -> Vec<u8> {
        clean(&self.header_object)
    }

    /// The session's file; None in memory. It need not exist yet.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.home {
            Home::Memory => None,
            Home::Ahead(path) | Home::Empty(path) | Home::File(path) => Some(path),
        }
    }

    /// The path for reports and errors; empty in memory.
    pub(super) fn shown_path(&self) -> PathBuf {
        self.path().unwrap_or(Path::new("")).to_owned()
    }

    /// The name that the last `session_info` entry gives.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.body.entries.name()
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.body.entries.rows().len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries by their number, in file order.
    #[must_use]
    pub fn entries(&self, range: Range<usize>) -> Vec<SessionEntry> {
        range.map(|row| self.entry_at(row)).collect()
    }

    fn entry_at(&self, row: usize) -> SessionEntry {
        SessionEntry::of(&self.body.entries, row, self.header.version, &self.source)
    }

    fn entries_at(&self, nodes: impl Iterator<Item = Number>) -> Vec<SessionEntry> {
        nodes.map(|node| self.entry_at(self.body.entries.row_of(node))).collect()
    }

    pub(super) fn node(&self, id: &str) -> Result<Number> {
        let no_such = || Error::NoSuchEntry { path: self.shown_path(), id: id.to_owned() };
        self.body.entries.index().find(id).ok_or_else(no_such)
    }

    /// The entry that has an id.
    #[must_use]
    pub fn entry(&self, id: &str) -> Option<SessionEntry> {
        let node = self.body.entries.index().find(id)?;
        Some(self.entry_at(self.body.entries.row_of(node)))
    }

    /// Where one stands: the entry that the next one will hang from.
    #[must_use]
    pub fn leaf_id(&self) -> Option<&str> {
        self.leaf.map(|leaf| self.body.entries.index().id(leaf))
    }

    /// Moves the leaf to an entry, or to none: the next entry becomes a root.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchEntry`] for an unknown id.
    pub fn move_to(&mut self, id: Option<&str>) -> Result<()> {
        self.leaf = id.map(|id| self.node(id)).transpose()?;
        Ok(())
    }

    /// The entries from the root to the one named, or to the leaf.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchEntry`] for an unknown id.
    pub fn branch(&self, id: Option<&str>) -> Result<Vec<SessionEntry>> {
        Ok(self.entries_at(self.path_to(id)?.into_iter()))
    }

    /// The nodes from the root to the one named, or to the leaf.
    pub(super) fn path_to(&self, id: Option<&str>) -> Result<Vec<Number>> {
        let to = id.map(|id| self.node(id)).transpose()?.or(self.leaf);
        let mut path = to.map(|to| self.body.entries.path(to)).unwrap_or_default();
        path.reverse();
        Ok(path)
    }

    /// The children of an entry, in file order; of None, the roots.
    pub fn children(&mut self, id: Option<&str>) -> Vec<SessionEntry> {
        let index = self.body.entries.index();
        let children = self.children.get_or_insert_with(|| Children::of(&Tree::of(index), index));
        let nodes = match id.map(|id| index.find(id)) {
            None => children.roots().to_owned(),
            Some(None) => Vec::new(),
            Some(Some(node)) => children.of_node(node).to_owned(),
        };
        self.entries_at(nodes.into_iter())
    }

    /// Whether an entry is on the branch to the leaf.
    #[must_use]
    pub fn is_on_branch(&self, id: &str) -> bool {
        let node = self.body.entries.index().find(id);
        self.leaf.zip(node).is_some_and(|(leaf, node)| self.body.entries.path(leaf).contains(&node))
    }

    /// The entries without children, in file order.
    #[must_use]
    pub fn tips(&self) -> Vec<SessionEntry> {
        let index = self.body.entries.index();
        self.entries_at(Tree::of(index).tips(index).into_iter())
    }

    /// The whole tree.
    #[must_use]
    pub fn tree(&self) -> TreeView {
        TreeView::of(&self.body.entries, self.header.version, &self.source)
    }

    /// The label of an entry.
    #[must_use]
    pub fn label(&self, id: &str) -> Option<&str> {
        self.body.entries.label(id).map(|label| label.text.as_str())
    }

    /// What a model is sent of the branch to the leaf.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] where the file is no longer what was read, [`Error::Io`] where it cannot be read.
    pub fn context(&self) -> Result<Context> {
        context::build(&self.body.entries, is_old(self.header.version), &self.source, self.leaf)
    }

    /// Tokens and cost: of all entries, or of the branch to the leaf alone.
    ///
    /// # Errors
    ///
    /// As for [`Self::context`].
    pub fn usage(&mut self, branch_only: bool) -> Result<Usage> {
        self.spending.catch_up(&self.body.entries, &self.source)?;
        if !branch_only {
            return Ok(self.spending.usage());
        }
        let path = self.path_to(None)?;
        Ok(self.spending.usage_of(path.into_iter().map(|node| self.body.entries.row_of(node))))
    }

    /// All that there is to report of the session.
    ///
    /// # Errors
    ///
    /// As for [`Self::context`].
    pub fn damage(&mut self) -> Result<Vec<Damage>> {
        self.spending.catch_up(&self.body.entries, &self.source)?;
        let mut reports = self.body.reports.clone();
        if !is_linear(self.header.version) {
            Tree::of(self.body.entries.index()).report(self.body.entries.index(), &mut reports);
        }
        reports.extend(self.spending.reports().clone(), 0);
        Ok(reports.into_damage(&self.shown_path()))
    }

    /// The first damage to the file itself.
    fn first_damage(&self) -> Option<Damage> {
        self.body.reports.clone().into_damage(&self.shown_path()).into_iter().find(|damage| !damage.kind.is_note())
    }
}

fn is_a_folder() -> io::Error {
    #[cfg(unix)]
    return io::Error::from_raw_os_error(libc::EISDIR);
    #[cfg(not(unix))]
    return io::ErrorKind::IsADirectory.into();
}
