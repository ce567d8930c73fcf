//! What is known of the files of a folder, as a listing looks it up.

use std::cmp::Ordering;
use std::ffi::OsStr;

use super::database::Trouble;
use super::seal::{self, Seal};
use crate::info::Stamp;

/// One of the things that are kept of a file; each has a table, so that it is read without the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What a listing shows.
    Listed,
    /// Its usage records.
    Records,
    /// What is needed to read on where more has been appended.
    Resume,
}

impl Part {
    pub(super) const ALL: [Self; 3] = [Self::Listed, Self::Records, Self::Resume];

    pub(super) fn table(self) -> &'static str {
        match self {
            Self::Listed => "listed",
            Self::Records => "records",
            Self::Resume => "resume",
        }
    }
}

/// One part of what is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row<'a> {
    /// The file as it was when it had been read.
    pub(crate) stamp: Stamp,
    /// Whether every later change of the file shows in its stamp.
    pub(crate) is_settled: bool,
    pub(crate) payload: &'a [u8],
}

impl Row<'_> {
    /// Whether a file that has this stamp now is still what was read.
    pub(crate) fn is_current(&self, stamp: &Stamp) -> bool {
        self.is_settled && self.stamp == *stamp
    }
}

/// One part of what is known of the files of a folder, by name.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The names, in their order. They lie apart from the rows: a search for one sees no more memory than it must.
    names: Vec<u8>,
    sealed: Vec<u8>,
    /// Where each name and its row end.
    ends: Vec<(usize, usize)>,
}

impl Rows {
    pub(crate) fn get(&self, name: &OsStr) -> Option<Row<'_>> {
        let wanted = name.as_encoded_bytes();
        let (mut first, mut last) = (0, self.ends.len());
        while first < last {
            let middle = first.midpoint(last);
            match self.name(middle).cmp(wanted) {
                Ordering::Less => first = middle + 1,
                Ordering::Equal => return seal::unsealed(&self.sealed[self.start(middle).1..self.ends[middle].1]),
                Ordering::Greater => last = middle,
            }
        }
        None
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The files' names, in bytes as [`OsStr`] has them.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|number| self.name(number))
    }

    /// Adds a row, which must be whole, and whose name must come after the others'.
    pub(super) fn push(&mut self, name: &[u8], sealed: &[u8], seal: Seal) -> Result<(), Trouble> {
        let is_next = self.ends.len().checked_sub(1).is_none_or(|last| self.name(last) < name);
        if !is_next || !seal.is_whole(name, sealed) {
            return Err(Trouble::Damaged);
        }
        self.names.extend_from_slice(name);
        self.sealed.extend_from_slice(sealed);
        self.ends.push((self.names.len(), self.sealed.len()));
        Ok(())
    }

    fn name(&self, number: usize) -> &[u8] {
        &self.names[self.start(number).0..self.ends[number].0]
    }

    fn start(&self, number: usize) -> (usize, usize) {
        number.checked_sub(1).map_or((0, 0), |before| self.ends[before])
    }
}
