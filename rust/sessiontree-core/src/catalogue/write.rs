//! What a listing writes into the catalogue, all of it within one transaction.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rusqlite::Transaction;

use super::Change;
use super::database::{FACTS, Trouble};
use super::rows::{Part, Row};
use super::seal::Keys;

/// After how many days a folder that nobody lists is forgotten.
const FORGET_AFTER_DAYS: i64 = 90;

/// What is longer is not kept: it would have to be in memory at once.
const LONGEST: usize = 64 << 20;

/// Forgets files.
pub(super) fn forget(transaction: &Transaction<'_>, gone: &[(&Path, &OsStr)]) -> Result<(), Trouble> {
    for part in Part::ALL {
        let table = part.table();
        let mut delete = transaction.prepare(&format!(
            "DELETE FROM {table} WHERE folder = (SELECT id FROM folder WHERE path = ?) AND name = ?"
        ))?;
        for (folder, name) in gone {
            delete.execute((folder.as_os_str().as_encoded_bytes(), name.as_encoded_bytes()))?;
        }
    }
    Ok(())
}

/// Keeps what was found, in place of what was known.
pub(super) fn keep(
    transaction: &Transaction<'_>,
    keys: Keys,
    changes: &[Change<'_>],
    today: i64,
) -> Result<(), Trouble> {
    // In the order of the tables, which then grow at their ends.
    let mut changes: Vec<_> = changes.iter().collect();
    changes.sort_unstable_by_key(|change| (change.folder, change.name));
    for changes in changes.chunk_by(|one, other| one.folder == other.folder) {
        let Some(folder) = changes.first().map(|change| change.folder) else { continue };
        let id: i64 = transaction.query_row(
            "INSERT INTO folder (path, asked) VALUES (?, ?)
            ON CONFLICT (path) DO UPDATE SET asked = excluded.asked RETURNING id",
            (folder.as_os_str().as_encoded_bytes(), today),
            |row| row.get(0),
        )?;
        for part in Part::ALL {
            let table = part.table();
            let mut replace = transaction.prepare(&format!("INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)"))?;
            let mut delete = transaction.prepare(&format!("DELETE FROM {table} WHERE folder = ? AND name = ?"))?;
            let seal = keys.seal(folder, part);
            for change in changes {
                let name = change.name.as_encoded_bytes();
                match payload(change, part) {
                    Some(payload) => {
                        let row = Row { stamp: change.stamp, is_settled: change.is_settled, payload };
                        replace.execute((id, name, seal.sealed(name, row)))?;
                    }
                    None => _ = delete.execute((id, name))?,
                }
            }
        }
    }
    Ok(())
}

fn payload<'a>(change: &Change<'a>, part: Part) -> Option<&'a [u8]> {
    let payload = match part {
        Part::Listed => Some(change.listed),
        Part::Records => change.records,
        Part::Resume => change.resume,
    };
    payload.filter(|payload| payload.len() <= LONGEST)
}

/// Forgets folders that are gone, or that nobody has listed for long; tells whether the file holds more room than rows then.
pub(super) fn prune(transaction: &Transaction<'_>, today: i64) -> Result<bool, Trouble> {
    let mut folders = transaction.prepare("SELECT id, path, asked FROM folder")?;
    let folders = folders.query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let folders: Vec<(i64, Vec<u8>, i64)> = folders.collect::<Result<_, _>>()?;
    for (id, path, asked) in folders {
        if today - asked > FORGET_AFTER_DAYS || is_gone(path) {
            for part in Part::ALL {
                transaction.execute(&format!("DELETE FROM {} WHERE folder = ?", part.table()), [id])?;
            }
            transaction.execute("DELETE FROM folder WHERE id = ?", [id])?;
        }
    }
    transaction.execute(&format!("UPDATE {FACTS} SET pruned = ?"), [today])?;
    let pages = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok(pages("freelist_count")? > pages("page_count")? / 2)
}

/// Whether a folder is no longer there; one that cannot be looked at may be.
fn is_gone(path: Vec<u8>) -> bool {
    #[cfg(unix)]
    let path = Some(PathBuf::from(<OsString as std::os::unix::ffi::OsStringExt>::from_vec(path)));
    #[cfg(not(unix))]
    let path = String::from_utf8(path).ok().map(OsString::from).map(PathBuf::from);
    path.is_some_and(|path| path.try_exists().is_ok_and(|exists| !exists))
}
