//! What listings have found, kept for the next one: of each session file its row, its usage records, and where to read on.
//!
//! Never authoritative. A row counts only as long as its file's [`Stamp`] says that the file is the one that was read, and
//! whatever is wrong with the catalogue itself (damaged, locked, read-only, another version's), the answer is that nothing is
//! known: then files are read. So nothing here fails.
//!
//! It is an `SQLite` database. Each row is sealed with a hash of all that it says, so that one which has been damaged, or stands
//! where another stood, is found out. Therefore nothing waits for the disk either (`synchronous = OFF`): the worst that a
//! power cut leaves is a catalogue that is thrown away. Its journal is the one that is rolled back, not a write-ahead log:
//! that one wants memory shared between processes, which home folders on a network do not give, and cannot be read in a
//! folder that is read-only. Two processes at once write one after the other, or one of them does without.
//!
//! Rule: docs/catalogue.md.

pub(crate) mod codec;
mod settled;
mod rows;
mod seal;
mod database;
mod uses;
mod write;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::info::Stamp;
use crate::usage::IdentityKeys;
use database::{FACTS, Trouble};
pub(crate) use rows::{Part, Rows};
use seal::Keys;
pub(crate) use settled::is_settled;
use uses::Use;

/// How long to wait with what is to be kept for another process that writes, or reads.
const PATIENCE: Duration = Duration::from_millis(250);

/// What was found in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) name: &'a OsStr,
    /// The file as it was when it had been read.
    pub(crate) stamp: Stamp,
    /// What [`is_settled`] said when the stamp was taken.
    pub(crate) is_settled: bool,
    pub(crate) listed: &'a [u8],
    pub(crate) records: Option<&'a [u8]>,
    pub(crate) resume: Option<&'a [u8]>,
}

/// A catalogue, open.
#[derive(Debug)]
pub(crate) struct Catalogue {
    path: PathBuf,
    connection: Connection,
    keys: Keys,
    /// What was wrong when it was last read: from then on nothing is known.
    trouble: Option<Trouble>,
    /// The numbers of folders that are being listed for the first time today.
    first_asked: Vec<i64>,
    /// Dropped last, after the connection.
    _in_use: Use,
}

impl Catalogue {
    /// Opens a catalogue, and makes it if it is not there. None: there is nothing to be had.
    ///
    /// One that is damaged, or another version's, is replaced; a file that never was a catalogue is left as it is.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let in_use = Use::begin()?;
        let (connection, keys) = match database::open(path) {
            Err(Trouble::Missing | Trouble::Damaged) => {
                database::make(path, Keys(IdentityKeys::default())).and_then(|()| database::open(path))
            }
            opened => opened,
        }
        .ok()?;
        Some(Self { path: path.to_owned(), connection, keys, trouble: None, first_asked: Vec::new(), _in_use: in_use })
    }

    /// What to hash the identities of usage records with: the same as long as there are records from before.
    pub(crate) fn keys(&self) -> IdentityKeys {
        self.keys.0
    }

    /// One part of what is known of the files of a folder, which is named as it always is.
    pub(crate) fn rows(&mut self, folder: &Path, part: Part) -> Rows {
        self.answer(|catalogue| catalogue.read_rows(folder, part))
    }

    /// One part of what is known of a file, if it goes with this stamp.
    pub(crate) fn part(&mut self, folder: &Path, name: &OsStr, part: Part, stamp: &Stamp) -> Option<Vec<u8>> {
        let rows = self.rows_of(folder, &[name], part);
        rows.get(name).filter(|row| row.stamp == *stamp).map(|row| row.payload.to_owned())
    }

    /// Keeps what was found in files, and forgets those that are gone: all of it, or nothing.
    pub(crate) fn keep(&mut self, changes: &[Change<'_>], gone: &[(&Path, &OsStr)]) {
        // If it cannot be, the next listing reads again what this one has read.
        if self.trouble.is_none() {
            self.trouble = self.write(changes, gone).err();
        }
        if self.trouble == Some(Trouble::Damaged) {
            self.trouble = self.start_anew().and_then(|()| self.write(changes, gone)).err();
        }
    }

    /// What a reading gives; nothing, from now on, if the catalogue turns out to be of no use.
    fn answer(&mut self, read: impl FnOnce(&mut Self) -> Result<Rows, Trouble>) -> Rows {
        if self.trouble.is_some() {
            return Rows::default();
        }
        read(self).unwrap_or_else(|trouble| {
            self.trouble = Some(trouble);
            Rows::default()
        })
    }

    /// As [`Self::rows`], of some files alone, whose names are in order.
    pub(crate) fn rows_of(&mut self, folder: &Path, names: &[&OsStr], part: Part) -> Rows {
        self.answer(|catalogue| {
            let mut rows = Rows::default();
            for name in names {
                catalogue.read_row(folder, name, part, &mut rows)?;
            }
            Ok(rows)
        })
    }

    fn read_rows(&mut self, folder: &Path, part: Part) -> Result<Rows, Trouble> {
        // Both are of one moment: else the number might have become another folder's.
        let transaction = self.connection.transaction()?;
        let known = transaction
            .query_row("SELECT id, asked FROM folder WHERE path = ?", [folder.as_os_str().as_encoded_bytes()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let mut rows = Rows::default();
        let Some((id, asked)): Option<(i64, i64)> = known else { return Ok(rows) };
        if asked != today() && !self.first_asked.contains(&id) {
            self.first_asked.push(id);
        }
        let seal = self.keys.seal(folder, part);
        let mut found = transaction
            .prepare(&format!("SELECT name, sealed FROM {} WHERE folder = ? ORDER BY name", part.table()))?;
        let mut found = found.query([id])?;
        while let Some(row) = found.next()? {
            rows.push(blob(row, 0)?, blob(row, 1)?, seal)?;
        }
        Ok(rows)
    }

    fn read_row(&mut self, folder: &Path, name: &OsStr, part: Part, rows: &mut Rows) -> Result<(), Trouble> {
        let mut found = self.connection.prepare(&format!(
            "SELECT name, sealed FROM {} WHERE folder = (SELECT id FROM folder WHERE path = ?) AND name = ?",
            part.table()
        ))?;
        let mut found = found.query((folder.as_os_str().as_encoded_bytes(), name.as_encoded_bytes()))?;
        while let Some(row) = found.next()? {
            rows.push(blob(row, 0)?, blob(row, 1)?, self.keys.seal(folder, part))?;
        }
        Ok(())
    }

    /// Replaces the database. The keys stay: what is to be kept was made with them.
    fn start_anew(&mut self) -> Result<(), Trouble> {
        database::make(&self.path, self.keys)?;
        let (connection, keys) = database::open(&self.path)?;
        if keys != self.keys {
            return Err(Trouble::Unusable); // another process replaced it in the same moment
        }
        self.connection = connection;
        self.first_asked.clear();
        Ok(())
    }

    fn write(&mut self, changes: &[Change<'_>], gone: &[(&Path, &OsStr)]) -> Result<(), Trouble> {
        let today = today();
        let pruned: i64 = self.connection.query_row(&format!("SELECT pruned FROM {FACTS}"), (), |row| row.get(0))?;
        if changes.is_empty() && gone.is_empty() && self.first_asked.is_empty() && pruned == today {
            return Ok(());
        }
        self.connection.busy_timeout(PATIENCE)?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for id in self.first_asked.drain(..) {
            transaction.execute("UPDATE folder SET asked = ? WHERE id = ?", [today, id])?;
        }
        write::forget(&transaction, gone)?;
        write::keep(&transaction, self.keys, changes, today)?;
        let is_hollow = pruned != today && write::prune(&transaction, today)?;
        transaction.commit()?;
        if is_hollow {
            self.connection.execute_batch("VACUUM")?;
        }
        Ok(())
    }
}

fn blob<'a>(row: &'a rusqlite::Row<'_>, column: usize) -> Result<&'a [u8], Trouble> {
    row.get_ref(column)?.as_blob().map_err(|_| Trouble::Damaged)
}

/// Which day it is, counted from 1970.
fn today() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs() / 86_400).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::thread;
    use std::time::Instant;

    use proptest::prelude::*;
    use tempfile::{TempDir, tempdir};

    const STAMP: Stamp = Stamp { device: 1, inode: u64::MAX, size_bytes: 3, modified_ns: -4, changed_ns: 5 };

    /// A folder, which has to be there, with the path of a catalogue.
    fn place() -> (TempDir, PathBuf) {
        let folder = tempdir().unwrap();
        let path = folder.path().join("cache/catalogue.sqlite");
        (folder, path)
    }

    fn change<'a>(folder: &'a Path, name: &'a str, listed: &'a [u8]) -> Change<'a> {
        let name = OsStr::new(name);
        Change { folder, name, stamp: STAMP, is_settled: is_settled(&STAMP), listed, records: None, resume: None }
    }

    /// What a new process is told of a file's row.
    fn listed(path: &Path, folder: &Path, name: &str) -> Option<Vec<u8>> {
        let rows = Catalogue::open(path)?.rows(folder, Part::Listed);
        rows.get(OsStr::new(name)).filter(|row| row.is_current(&STAMP)).map(|row| row.payload.to_owned())
    }

    /// Makes a catalogue of a few rows, of which one does not fit a page.
    fn fill(path: &Path, folder: &Path) {
        let long = vec![7; 100_000];
        let changes = [change(folder, "a", b"one"), change(folder, "b", b"two"), change(folder, "c", &long)];
        let with_parts = |change| Change { records: Some(b"records"), resume: Some(b"resume"), ..change };
        Catalogue::open(path).unwrap().keep(&changes.map(with_parts), &[]);
    }

    /// Changes the database behind the catalogue's back.
    fn meddle(path: &Path, statements: &str) {
        Connection::open(path).unwrap().execute_batch(statements).unwrap();
    }

    #[test]
    fn what_is_kept_is_found_again_and_only_there() {
        let (folder, path) = place();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        for folder in [&one, &other] {
            fs::create_dir(folder).unwrap();
        }
        let mut catalogue = Catalogue::open(&path).unwrap();
        assert!(catalogue.rows(&one, Part::Listed).names().next().is_none());
        let whole = Change { records: Some(b"records"), resume: Some(b""), ..change(&one, "b", b"listed") };
        catalogue.keep(&[whole, change(&one, "a", b""), change(&other, "a", b"other")], &[]);
        let keys = catalogue.keys();

        let mut catalogue = Catalogue::open(&path).unwrap();
        assert_eq!(catalogue.keys(), keys);
        let rows = catalogue.rows(&one, Part::Listed);
        assert_eq!(rows.names().collect::<Vec<_>>(), [b"a", b"b"]);
        assert_eq!(rows.get(OsStr::new("b")).unwrap().stamp, STAMP);
        assert_eq!(rows.get(OsStr::new("b")).unwrap().payload, b"listed");
        assert_eq!(rows.get(OsStr::new("a")).unwrap().payload, b"");
        assert!(rows.get(OsStr::new("")).is_none() && rows.get(OsStr::new("c")).is_none());
        assert_eq!(catalogue.rows(&one, Part::Records).names().collect::<Vec<_>>(), [b"b"]);
        assert_eq!(catalogue.part(&one, OsStr::new("b"), Part::Resume, &STAMP), Some(Vec::new()));
        assert_eq!(catalogue.part(&one, OsStr::new("a"), Part::Resume, &STAMP), None);
        let later = Stamp { size_bytes: 4, ..STAMP };
        assert_eq!(catalogue.part(&one, OsStr::new("b"), Part::Resume, &later), None, "it goes with another row");
        assert_eq!(listed(&path, &other, "a").unwrap(), b"other");
    }

    #[test]
    fn a_row_is_current_while_its_stamp_is_and_shows_every_change() {
        let (folder, path) = place();
        let mut catalogue = Catalogue::open(&path).unwrap();
        let unsettled = Change { is_settled: false, ..change(folder.path(), "b", b"") };
        catalogue.keep(&[change(folder.path(), "a", b""), unsettled], &[]);
        let rows = catalogue.rows(folder.path(), Part::Listed);
        let is_current = |name: &str, stamp| rows.get(OsStr::new(name)).unwrap().is_current(&stamp);
        assert!(is_current("a", STAMP) && !is_current("b", STAMP));
        for other in [
            Stamp { device: 0, ..STAMP },
            Stamp { inode: 0, ..STAMP },
            Stamp { size_bytes: 0, ..STAMP },
            Stamp { modified_ns: 0, ..STAMP },
            Stamp { changed_ns: 0, ..STAMP },
        ] {
            assert!(!is_current("a", other), "{other:?}");
        }
    }

    #[test]
    fn what_is_new_takes_the_place_of_all_parts_and_what_is_gone_is_forgotten() {
        let (folder, path) = place();
        fill(&path, folder.path());
        let mut catalogue = Catalogue::open(&path).unwrap();
        let gone = (folder.path(), OsStr::new("b"));
        catalogue.keep(&[change(folder.path(), "a", b"new")], &[gone, (Path::new("/nowhere"), OsStr::new("a"))]);
        assert_eq!(listed(&path, folder.path(), "a").unwrap(), b"new");
        for part in Part::ALL {
            let rows = catalogue.rows(folder.path(), part);
            assert_eq!(rows.get(OsStr::new("a")).is_some(), part == Part::Listed, "{part:?}");
            assert!(rows.get(OsStr::new("b")).is_none() && rows.get(OsStr::new("c")).is_some(), "{part:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_need_not_be_utf8() {
        use std::os::unix::ffi::OsStrExt;
        let (folder, path) = place();
        let odd = folder.path().join(OsStr::from_bytes(b"\xff"));
        fs::create_dir(&odd).unwrap();
        let name = OsStr::from_bytes(b"\xfe.jsonl");
        Catalogue::open(&path).unwrap().keep(&[Change { name, ..change(&odd, "", b"odd") }], &[]);
        let rows = Catalogue::open(&path).unwrap().rows(&odd, Part::Listed);
        assert_eq!(rows.get(name).unwrap().payload, b"odd");
    }

    #[cfg(unix)]
    #[test]
    fn it_is_nobody_elses_business() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, path) = place();
        fill(&path, folder.path());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        let names = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["catalogue.sqlite"]);
    }

    #[test]
    fn another_versions_is_begun_anew() {
        let (folder, path) = place();
        fill(&path, folder.path());
        let keys = Catalogue::open(&path).unwrap().keys();
        meddle(&path, "PRAGMA user_version = 7");
        let mut catalogue = Catalogue::open(&path).unwrap();
        assert!(catalogue.rows(folder.path(), Part::Listed).names().next().is_none());
        assert_ne!(catalogue.keys(), keys);
    }

    #[test]
    fn what_says_anything_else_than_what_was_kept_is_thrown_away() {
        for statements in [
            "UPDATE listed SET sealed = (SELECT sealed FROM listed WHERE name = CAST('b' AS BLOB))",
            "UPDATE listed SET sealed = (SELECT sealed FROM records WHERE records.name = listed.name)",
            "UPDATE listed SET name = CAST('z' AS BLOB) WHERE name = CAST('a' AS BLOB)",
            "UPDATE listed SET sealed = zeroblob(0)",
            "UPDATE listed SET sealed = 'text'",
            "UPDATE folder SET path = (SELECT path || '2' FROM folder)",
            "DROP TABLE listed",
            "DELETE FROM sessiontree_facts",
            "UPDATE sessiontree_facts SET keys = zeroblob(24)",
            "UPDATE sessiontree_facts SET keys = NULL",
        ] {
            let (folder, path) = place();
            fill(&path, folder.path());
            meddle(&path, statements);
            assert_eq!(listed(&path, folder.path(), "a"), None, "{statements}");
            let mut catalogue = Catalogue::open(&path).unwrap();
            catalogue.rows(folder.path(), Part::Listed);
            catalogue.keep(&[change(folder.path(), "a", b"new")], &[]);
            assert_eq!(listed(&path, folder.path(), "a").unwrap(), b"new", "{statements}");
        }
    }

    #[test]
    fn what_never_was_a_catalogue_is_left_as_it_is() {
        let (folder, path) = place();
        fs::create_dir(path.parent().unwrap()).unwrap();
        let notes = [&[b'x'; 68][..], b"session notes"].concat();
        let blank_at_first = [&vec![0; 70_000], &b"x"[..]].concat();
        for bytes in [&b"{\"type\":\"session\"}\n"[..], &notes, &blank_at_first, &[0xff; 5000]] {
            fs::write(&path, bytes).unwrap();
            assert!(Catalogue::open(&path).is_none());
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        fs::remove_file(&path).unwrap();
        meddle(&path, "CREATE TABLE folder (precious)");
        let before = fs::read(&path).unwrap();
        assert!(Catalogue::open(&path).is_none());
        assert_eq!(fs::read(&path).unwrap(), before);
        assert!(Catalogue::open(folder.path()).is_none(), "a folder");
        assert!(Catalogue::open(&path.join("below")).is_none(), "below a file");
    }

    #[test]
    fn what_holds_nothing_is_replaced() {
        let (folder, path) = place();
        fs::create_dir(path.parent().unwrap()).unwrap();
        for bytes in [&b""[..], &vec![0; 70_000], b"SQLite form"] {
            fs::write(&path, bytes).unwrap();
            Catalogue::open(&path).unwrap().keep(&[change(folder.path(), "a", b"one")], &[]);
            assert_eq!(listed(&path, folder.path(), "a").unwrap(), b"one");
        }
    }

    #[test]
    fn nobody_waits_long_for_one_that_is_locked() {
        let (folder, path) = place();
        fill(&path, folder.path());
        let mut open = Catalogue::open(&path).unwrap();
        let holder = Connection::open(&path).unwrap();
        holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let start = Instant::now();
        assert!(Catalogue::open(&path).is_none());
        assert!(open.rows(folder.path(), Part::Listed).names().next().is_none());
        open.rows(folder.path(), Part::Records);
        assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
        open.keep(&[change(folder.path(), "a", b"new")], &[]);
        holder.execute_batch("ROLLBACK").unwrap();
        assert_eq!(listed(&path, folder.path(), "a").unwrap(), b"one");
    }

    #[test]
    fn folders_that_are_gone_or_not_listed_for_long_are_forgotten() {
        let (folder, path) = place();
        let folders = ["gone", "old", "listed"].map(|name| folder.path().join(name));
        for folder in &folders {
            fs::create_dir(folder).unwrap();
        }
        let changes = folders.each_ref().map(|folder| change(folder, "a", b"one"));
        Catalogue::open(&path).unwrap().keep(&changes, &[]);
        meddle(&path, "UPDATE folder SET asked = asked - 91; UPDATE sessiontree_facts SET pruned = pruned - 1");
        fs::remove_dir(&folders[0]).unwrap();
        let mut catalogue = Catalogue::open(&path).unwrap();
        catalogue.rows(&folders[2], Part::Listed);
        catalogue.keep(&[], &[]);
        let known = folders.map(|folder| catalogue.rows(&folder, Part::Listed).names().count());
        assert_eq!(known, [0, 0, 1]);
        meddle(&path, "UPDATE folder SET asked = asked - 91");
        catalogue.keep(&[], &[]);
        assert_eq!(listed(&path, &folder.path().join("listed"), "a").unwrap(), b"one", "looked at once a day");
    }

    #[test]
    fn many_at_once_keep_and_read_whole_rows() {
        let (folder, path) = place();
        thread::scope(|scope| {
            for number in 0..4u8 {
                let (folder, path) = (folder.path(), &path);
                scope.spawn(move || {
                    for round in 0..30u8 {
                        let payload = vec![number * 30 + round; 5000];
                        let Some(mut catalogue) = Catalogue::open(path) else { continue };
                        catalogue.keep(&[change(folder, "a", &payload)], &[(folder, OsStr::new("b"))]);
                        let rows = catalogue.rows(folder, Part::Listed);
                        let whole = |row: rows::Row<'_>| row.payload == vec![row.payload[0]; 5000];
                        assert!(rows.get(OsStr::new("a")).is_none_or(whole));
                    }
                });
            }
        });
        assert!(listed(&path, folder.path(), "a").is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        /// Whatever bytes are damaged: a row is told as it was, or not at all, and what is kept then is found again.
        #[test]
        fn damage_is_found_out(
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in prop::option::of(any::<prop::sample::Index>()),
            in_head in any::<bool>(),
        ) {
            let (folder, path) = place();
            fill(&path, folder.path());
            let mut bytes = fs::read(&path).unwrap();
            let damaged_at = if in_head { 100 } else { bytes.len() };
            for (place, byte) in damage {
                bytes[place.index(damaged_at)] = byte;
            }
            bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
            fs::write(&path, &bytes).unwrap();

            let Some(mut catalogue) = Catalogue::open(&path) else {
                prop_assert_eq!(fs::read(&path).unwrap(), bytes);
                return Ok(());
            };
            let rows = catalogue.rows(folder.path(), Part::Listed);
            let long = vec![7; 100_000];
            for (name, payload) in [("a", &b"one"[..]), ("b", b"two"), ("c", &long)] {
                prop_assert!(rows.get(OsStr::new(name)).is_none_or(|row| row.payload == payload && row.stamp == STAMP));
            }
            let records = catalogue.rows(folder.path(), Part::Records);
            prop_assert!(records.names().all(|name| b"abc".contains(&name[0])));
            catalogue.keep(&[change(folder.path(), "d", b"new")], &[]);
            prop_assert_eq!(listed(&path, folder.path(), "d"), Some(b"new".to_vec()));
        }
    }
}
