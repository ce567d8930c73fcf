//! The seal of a row: a hash of all that it says, and of where it stands.

use std::path::Path;

use twox_hash::XxHash3_64;

use super::rows::{Part, Row};
use crate::info::Stamp;
use crate::usage::IdentityKeys;

/// Which reading rules a catalogue was written by. Another version's is thrown away, so this package's own is part of it;
/// between releases, the number goes up whenever a file may be read otherwise, or what is kept has another form.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "/3");

const HASH: usize = size_of::<u64>();
const STAMP: usize = 5 * size_of::<u64>();

/// The hash, whether the stamp is settled, the stamp; the payload follows.
const HEAD: usize = HASH + 1 + STAMP;

/// [`VERSION`] as a database has it.
pub(super) fn version() -> i32 {
    let [one, two, three, four, ..] = XxHash3_64::oneshot(VERSION.as_bytes()).to_le_bytes();
    i32::from_le_bytes([one, two, three, four])
}

/// What usage records' identities are hashed with, and, since records of other keys must never be taken for these, rows too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keys(pub(super) IdentityKeys);

impl Keys {
    /// The keys with a seal of their own.
    pub(super) fn sealed(self) -> [u8; 3 * HASH] {
        let mut sealed = [0; 3 * HASH];
        let [one, other] = self.0.0;
        let words = [one, other, self.hash()];
        sealed.chunks_exact_mut(HASH).zip(words).for_each(|(place, word)| place.copy_from_slice(&word.to_le_bytes()));
        sealed
    }

    /// None unless they are whole.
    pub(super) fn unsealed(sealed: &[u8]) -> Option<Self> {
        let [one, other, hash] = words(sealed)?;
        let keys = Self(IdentityKeys([one, other]));
        (keys.hash() == hash).then_some(keys)
    }

    /// What seals one part of the rows of a folder.
    pub(super) fn seal(self, folder: &Path, part: Part) -> Seal {
        let of_part = XxHash3_64::oneshot_with_seed(self.hash(), part.table().as_bytes());
        Seal(XxHash3_64::oneshot_with_seed(of_part, folder.as_os_str().as_encoded_bytes()))
    }

    fn hash(self) -> u64 {
        let seed = XxHash3_64::oneshot(VERSION.as_bytes());
        let [one, other] = self.0.0;
        XxHash3_64::oneshot_with_seed(seed ^ one, &other.to_le_bytes())
    }
}

/// What seals one part of the rows of a folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seal(u64);

impl Seal {
    /// A row as it is stored under a name.
    pub(super) fn sealed(self, name: &[u8], row: Row<'_>) -> Vec<u8> {
        let Row { stamp, is_settled, payload } = row;
        let Stamp { device, inode, size_bytes, modified_ns, changed_ns } = stamp;
        let mut sealed = Vec::with_capacity(HEAD + payload.len());
        sealed.extend([0; HASH]);
        sealed.push(u8::from(is_settled));
        for word in [device, inode, size_bytes, modified_ns.cast_unsigned(), changed_ns.cast_unsigned()] {
            sealed.extend(word.to_le_bytes());
        }
        sealed.extend(payload);
        let hash = self.hash(name, &sealed[HASH..]);
        sealed[..HASH].copy_from_slice(&hash.to_le_bytes());
        sealed
    }

    /// Whether a row is what was stored under that name.
    pub(super) fn is_whole(self, name: &[u8], sealed: &[u8]) -> bool {
        sealed.len() >= HEAD
            && sealed.split_first_chunk().is_some_and(|(hash, rest)| *hash == self.hash(name, rest).to_le_bytes())
    }

    fn hash(self, name: &[u8], rest: &[u8]) -> u64 {
        XxHash3_64::oneshot_with_seed(XxHash3_64::oneshot_with_seed(self.0, name), rest)
    }
}

/// A row that is known to be whole.
pub(super) fn unsealed(sealed: &[u8]) -> Option<Row<'_>> {
    let (head, payload) = sealed.split_at_checked(HEAD)?;
    let [device, inode, size_bytes, modified_ns, changed_ns] = words(&head[HASH + 1..])?;
    let (modified_ns, changed_ns) = (modified_ns.cast_signed(), changed_ns.cast_signed());
    let stamp = Stamp { device, inode, size_bytes, modified_ns, changed_ns };
    Some(Row { stamp, is_settled: head[HASH] != 0, payload })
}

/// So many numbers, if that is all there is.
fn words<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let (chunks, []) = bytes.as_chunks::<HASH>() else { return None };
    let chunks: &[[u8; HASH]; N] = chunks.try_into().ok()?;
    Some(chunks.map(u64::from_le_bytes))
}
