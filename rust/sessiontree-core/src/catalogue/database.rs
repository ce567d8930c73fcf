//! The file of a catalogue: opened if it is one, and made.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ffi::SQLITE_IOERR_SHORT_READ;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use uuid::Uuid;

use super::rows::Part;
use super::seal::{self, Keys};

/// What marks a database as a catalogue: `sess`.
const APPLICATION: i32 = 0x7365_7373;

/// How every database of `SQLite` begins, and where its application stands.
const MAGIC: &[u8] = b"SQLite format 3\0";
const APPLICATION_AT: usize = 68;

/// The table of what is to be known of the whole. Its name is a mark, too, for a database that has lost the other.
pub(super) const FACTS: &str = "sessiontree_facts";

/// How much of a file is looked at for our marks; they are on its first page.
const PAGE_BYTES: usize = 32768;

/// How long to wait for another process that writes. A listing does without rather than wait longer.
const WAIT: Duration = Duration::from_millis(50);

/// Why a catalogue is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// There is none.
    Missing,
    /// It is damaged, or another version's, or no catalogue at all.
    Damaged,
    /// It cannot be had: somebody holds it, the system refuses.
    Unusable,
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        use ErrorCode as Code;
        let extended = error.sqlite_error().map(|error| error.extended_code);
        match error.sqlite_error_code() {
            // What is told of anything that cannot be understood: a table that is missing, say.
            None | Some(Code::DatabaseCorrupt | Code::NotADatabase | Code::Unknown | Code::TypeMismatch) => {
                Self::Damaged
            }
            // Half a page, at the end of a file that was cut.
            _ if extended == Some(SQLITE_IOERR_SHORT_READ) => Self::Damaged,
            Some(_) => Self::Unusable,
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(_: io::Error) -> Self {
        Self::Unusable
    }
}

/// Opens the catalogue that is there.
pub(super) fn open(path: &Path) -> Result<(Connection, Keys), Trouble> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Trouble::Missing),
        metadata => metadata?,
    };
    if !metadata.is_file() {
        return Err(Trouble::Unusable);
    }
    let connection = connect(path)?;
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    if (number("application_id")?, number("user_version")?) != (APPLICATION, seal::version()) {
        return Err(Trouble::Damaged);
    }
    let sealed: Vec<u8> = connection.query_row(&format!("SELECT keys FROM {FACTS}"), (), |row| row.get(0))?;
    let keys = Keys::unsealed(&sealed).ok_or(Trouble::Damaged)?;
    // A damaged head may say that this is for reading alone. (Then nobody holds a lock that this opening would take away.)
    if connection.is_readonly("main")? && File::options().append(true).open(path).is_ok() {
        return Err(Trouble::Damaged);
    }
    Ok((connection, keys))
}

/// Makes an empty catalogue, in the place of what is there.
///
/// It is renamed when it is whole, so that nobody sees less of it. Who has the old one open can go on reading it;
/// `SQLite` refuses to write to a file that has been moved.
pub(super) fn make(path: &Path, keys: Keys) -> Result<(), Trouble> {
    // Where the name is a link to a file, that is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if !may_replace(&path)? {
        return Err(Trouble::Unusable);
    }
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let draft = beside(&path, &format!("-{}", Uuid::new_v4()));
    let made = fill(&draft, keys).and_then(|()| {
        // The old one's journal would be taken for the new one's.
        for journal in ["-journal", "-wal", "-shm"] {
            match fs::remove_file(beside(&path, journal)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(fs::rename(&draft, &path)?)
    });
    if made.is_err() {
        _ = fs::remove_file(&draft);
    }
    made
}

/// The path with more at its end.
fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

fn connect(path: &Path) -> Result<Connection, Trouble> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(WAIT)?;
    // Nothing is read twice, so that there is little to gain from more memory for pages (in KB) than writing needs.
    connection.execute_batch(
        "PRAGMA synchronous = OFF;
        PRAGMA cache_size = -512;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON",
    )?;
    Ok(connection)
}

/// Whether nothing is lost with the file: it is a catalogue, or what is left of one, or holds nothing.
fn may_replace(path: &Path) -> Result<bool, Trouble> {
    let mut start = Vec::new(); // our marks are on the first page
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        file => file?,
    };
    file.by_ref().take(PAGE_BYTES as u64).read_to_end(&mut start)?;
    let has_application = start.get(APPLICATION_AT..).is_some_and(|rest| rest.starts_with(&APPLICATION.to_be_bytes()));
    let has_facts = memchr::memmem::find(&start, FACTS.as_bytes()).is_some();
    // One of our marks may be damaged, but what looks like one may stand in any file.
    let is_ours = [start.starts_with(MAGIC), has_application, has_facts].into_iter().filter(|mark| *mark).count() > 1;
    let is_cut_short = start.len() <= APPLICATION_AT && (start.starts_with(MAGIC) || MAGIC.starts_with(&start));
    // A power cut may leave nothing but NULs.
    Ok(is_ours || is_cut_short || is_blank(&start) && is_blank_to_end(file)?)
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// Whether the rest of a file holds nothing but NULs.
fn is_blank_to_end(mut file: File) -> io::Result<bool> {
    let mut block = vec![0; PAGE_BYTES];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(true),
            count if is_blank(&block[..count]) => {}
            _ => return Ok(false),
        }
    }
}

/// Makes a folder that is nobody else's business, unless it is there.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Writes an empty catalogue into a new file that only the user may read: it will hold the beginnings of conversations.
fn fill(path: &Path, keys: Keys) -> Result<(), Trouble> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?;
    let connection = connect(path)?;
    let version = seal::version();
    // A table's own order is that of its key, so that the rows of a folder lie together, by name.
    let columns = "(folder INTEGER, name BLOB, sealed BLOB, PRIMARY KEY (folder, name)) WITHOUT ROWID";
    let tables: String = Part::ALL.map(|part| format!("CREATE TABLE {} {columns};", part.table())).concat();
    connection.execute_batch(&format!(
        "PRAGMA page_size = {PAGE_BYTES};
        PRAGMA application_id = {APPLICATION};
        PRAGMA user_version = {version};
        BEGIN;
        CREATE TABLE {FACTS} (keys BLOB, pruned INTEGER);
        CREATE TABLE folder (id INTEGER PRIMARY KEY, path BLOB UNIQUE, asked INTEGER);
        {tables}
        COMMIT",
    ))?;
    connection.execute(&format!("INSERT INTO {FACTS} VALUES (?, 0)"), [keys.sealed()])?;
    Ok(())
}
