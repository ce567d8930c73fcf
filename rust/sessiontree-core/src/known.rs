//! What a catalogue knows of the files that are being listed, and what a listing leaves there for the next.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::catalogue::codec::{Listed, decode_listed, decode_records, encode_listed, encode_records};
use crate::catalogue::{Catalogue, Change, Part, Rows};
use crate::error::Damage;
use crate::info::Stamp;
use crate::listing::Session;
use crate::sources::{Candidate, Found};
use crate::usage::{IdentityKeys, Record};

/// What a catalogue knows of some folders.
pub(crate) struct Known {
    /// Asked by several threads, but only about files that have grown.
    catalogue: Mutex<Catalogue>,
    pub(crate) keys: IdentityKeys,
    folders: HashMap<PathBuf, Folder>,
    with_records: bool,
}

struct Folder {
    listed: Rows,
    records: Rows,
    /// Whether all files in it are being listed.
    is_whole: bool,
    /// How many of them there are rows of.
    met: AtomicUsize,
}

/// What was found in a file, as it is to be kept.
pub(crate) struct Finding {
    path: PathBuf,
    stamp: Stamp,
    is_settled: bool,
    listed: Vec<u8>,
    records: Option<Vec<u8>>,
    resume: Option<Vec<u8>>,
}

impl Finding {
    /// How many bytes there are to keep.
    pub(crate) fn size(&self) -> usize {
        self.listed.len() + self.records.as_ref().map_or(0, Vec::len) + self.resume.as_ref().map_or(0, Vec::len)
    }

    pub(crate) fn session(session: &Session) -> Self {
        let Session { info, damage, records, is_settled, resume } = session;
        Self {
            path: info.path.clone(),
            stamp: info.stamp,
            is_settled: *is_settled,
            listed: encode_listed(&Listed::Session(Box::new(info.clone()), damage.clone())),
            records: Some(encode_records(records)),
            resume: resume.clone(),
        }
    }

    fn change(&self) -> Change<'_> {
        let (folder, name) = place(&self.path);
        Change {
            folder,
            name,
            stamp: self.stamp,
            is_settled: self.is_settled,
            listed: &self.listed,
            records: self.records.as_deref(),
            resume: self.resume.as_deref(),
        }
    }

    pub(crate) fn no_session(damage: &Damage, stamp: Stamp, is_settled: bool) -> Self {
        let listed = encode_listed(&Listed::NoSession(damage.clone()));
        Self { path: damage.path.to_path_buf(), stamp, is_settled, listed, records: None, resume: None }
    }
}

/// A file's folder and name. The path of a file has both.
fn place(path: &Path) -> (&Path, &OsStr) {
    (path.parent().unwrap_or(path), path.file_name().unwrap_or_default())
}

impl Known {
    /// None: nothing is to be had from the catalogue.
    pub(crate) fn open(path: &Path, found: &Found, with_records: bool) -> Option<Self> {
        let mut catalogue = Catalogue::open(path)?;
        let mut folders: HashMap<PathBuf, Folder> = HashMap::new();
        for path in &found.folders {
            folders.entry(path.clone()).or_insert_with(|| Folder {
                listed: catalogue.rows(path, Part::Listed),
                records: if with_records { catalogue.rows(path, Part::Records) } else { Rows::default() },
                is_whole: true,
                met: AtomicUsize::new(0),
            });
        }
        let mut apart: BTreeMap<&Path, BTreeSet<&OsStr>> = BTreeMap::new();
        for (folder, name) in found.files.iter().filter(|file| file.is_named).map(|file| place(&file.path)) {
            apart.entry(folder).or_default().insert(name);
        }
        for (path, names) in apart {
            let names: Vec<_> = names.into_iter().collect();
            folders.entry(path.to_owned()).or_insert_with(|| Folder {
                listed: catalogue.rows_of(path, &names, Part::Listed),
                records: if with_records { catalogue.rows_of(path, &names, Part::Records) } else { Rows::default() },
                is_whole: false,
                met: AtomicUsize::new(0),
            });
        }
        Some(Self { keys: catalogue.keys(), catalogue: Mutex::new(catalogue), folders, with_records })
    }

    /// What was found in a file, if it is still the same. Its usage records are there only if they are wanted.
    pub(crate) fn recall(&self, path: &Path) -> Option<(Listed, Vec<Record>)> {
        let (folder, name) = place(path);
        let Folder { listed, records, met, .. } = self.folders.get(folder)?;
        let listed = listed.get(name)?;
        met.fetch_add(1, Ordering::Relaxed);
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let stamp = Stamp::of(&metadata);
        if !listed.is_current(&stamp) {
            return None;
        }
        let found = decode_listed(listed.payload, path, stamp)?;
        if !self.with_records || matches!(found, Listed::NoSession(_)) {
            return Some((found, Vec::new()));
        }
        let records = records.get(name).filter(|row| row.is_current(&stamp))?;
        Some((found, decode_records(records.payload)?))
    }

    /// What there is to read a file on with, if it has grown and may be the same otherwise.
    pub(crate) fn resume(&self, path: &Path, stamp: &Stamp) -> Option<(Vec<u8>, Vec<Record>)> {
        let (folder, name) = place(path);
        let earlier = self.folders.get(folder)?.listed.get(name)?.stamp;
        let is_same = (earlier.device, earlier.inode) == (stamp.device, stamp.inode) && stamp.inode != 0;
        if !is_same || earlier.size_bytes >= stamp.size_bytes {
            return None;
        }
        let mut catalogue = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        let state = catalogue.part(folder, name, Part::Resume, &earlier)?;
        let records = catalogue.part(folder, name, Part::Records, &earlier)?;
        Some((state, decode_records(&records)?))
    }

    /// Keeps what was found.
    pub(crate) fn keep(&self, found: &[Finding]) {
        self.write(&found.iter().map(Finding::change).collect::<Vec<_>>(), &[]);
    }

    /// Forgets the files that have gone: those in folders that are listed whole which are not among the files.
    pub(crate) fn forget_others(&self, files: &[Candidate]) {
        let mut there = HashSet::new();
        let mut gone: Vec<(&Path, OsString)> = Vec::new();
        for (path, folder) in self.folders.iter().filter(|(_, folder)| folder.is_whole) {
            if folder.met.load(Ordering::Relaxed) == folder.listed.len() {
                continue;
            }
            if there.is_empty() {
                there.extend(files.iter().map(|file| place(&file.path)));
            }
            let names = folder.listed.names().filter_map(name_of);
            gone.extend(
                names
                    .filter(|name| !there.contains(&(path.as_path(), name.as_os_str())))
                    .map(|name| (path.as_path(), name)),
            );
        }
        self.write(&[], &gone.iter().map(|(folder, name)| (*folder, name.as_os_str())).collect::<Vec<_>>());
    }

    fn write(&self, changes: &[Change<'_>], gone: &[(&Path, &OsStr)]) {
        self.catalogue.lock().unwrap_or_else(PoisonError::into_inner).keep(changes, gone);
    }
}

/// A file's name from its bytes, as `OsStr` has them.
fn name_of(bytes: &[u8]) -> Option<OsString> {
    #[cfg(unix)]
    let name = Some(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    #[cfg(not(unix))]
    let name = str::from_utf8(bytes).ok().map(OsStr::new);
    name.map(OsStr::to_owned)
}
