//! A session in memory: the text of its file, and what was added since. The log only grows.

use std::ops::Range;
use std::path::Path;

use super::document::{Fault, Key, Outline, Taker, read};
use super::file::read_file;
use super::layout::laid_out;
use super::log::{Log, Time};
use super::message::{Call, Message};
use super::{names, turns};
use crate::error::{Damage, Error, Result};
use crate::info::Stamp;
use crate::json::{Faulty, Nesting, Scanner, is_string, text};
use crate::lines::{Buffer, MAX_LINE};
use crate::marks::{Marked, Text};
use crate::rewrite::{clean, quoted};

/// A list that entries are added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Messages,
    Errors,
    Permissions,
}

/// An element of a list: where its text stands, and whether it is what elements of that list are.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) range: Range<usize>,
    pub(super) is_sound: bool,
}

/// A text of the top level.
#[derive(Clone, Debug, Default)]
pub(super) struct Scalar {
    pub(super) text: String,
    /// Whether the file says something else.
    pub(super) is_changed: bool,
}

/// The lists of a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    pub(super) messages: Vec<Element>,
    pub(super) errors: Vec<Element>,
    pub(super) permissions: Vec<Element>,
    pub(super) sub_sessions: Vec<Element>,
    pub(super) turns: Vec<Element>,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    /// The text of the file, and behind it that of all that was added: [`Element`]s and members say where what stands.
    pub(super) text: Vec<u8>,
    pub(super) outline: Outline,
    pub(super) lists: Lists,
    pub(super) name: String,
    pub(super) created_at: Scalar,
    pub(super) updated_at: Scalar,
    pub(super) parent_id: Scalar,
    /// The log is one of turns, and the messages are what these stand for.
    pub(super) has_turns: bool,
    /// What tells that the file is as it was read or written; None before it is.
    pub(super) stamp: Option<Stamp>,
    damage: Vec<Damage>,
    has_surrogates: bool,
    has_long_numbers: bool,
}

/// What changes of a session when something is added.
pub(super) struct State {
    length: usize,
    lists: Lists,
    updated_at: Scalar,
    parent_id: Scalar,
}

/// What a document is made of.
struct Parts {
    outline: Outline,
    lists: Lists,
    /// What its turns stand for, if its log is one of these.
    derived: Option<turns::Messages>,
}

impl Parts {
    fn read(document: Text<'_>, nesting: &mut Nesting) -> std::result::Result<Self, Fault> {
        let mut lists = Lists::default();
        let outline = read(document, nesting, &mut lists)?;
        let has_turns = outline.has_turns(document.bytes());
        let derived = has_turns.then(|| turns::to_messages(document, &outline, nesting));
        Ok(Self { outline, lists, derived })
    }
}

impl Session {
    /// A new one, which is in memory only.
    #[must_use]
    pub fn new(name: &str, now: &str, parent_id: &str) -> Self {
        let scalar = |text: &str| Scalar { text: text.to_owned(), is_changed: true };
        Self {
            text: Vec::new(),
            outline: Outline::default(),
            lists: Lists::default(),
            name: name.to_owned(),
            created_at: scalar(now),
            updated_at: scalar(now),
            parent_id: scalar(parent_id),
            has_turns: false,
            stamp: None,
            damage: Vec::new(),
            has_surrogates: false,
            has_long_numbers: false,
        }
    }

    /// Reads a session.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where the file cannot be read, [`Error::Document`] where it is none of a session.
    pub fn read(path: &Path) -> Result<Self> {
        let mut buffer = Buffer::default();
        let ((parts, length), stamp) = read_file(path, &mut buffer, |document, nesting| {
            Ok((Parts::read(document, nesting)?, document.bytes().len()))
        })?;
        Ok(Self::of(parts, buffer.into_bytes(length), path, stamp))
    }

    /// The session whose document this is, which its file had at that stamp.
    pub(super) fn of_document(
        document: Text<'_>,
        nesting: &mut Nesting,
        path: &Path,
        stamp: Stamp,
    ) -> std::result::Result<Self, Fault> {
        Ok(Self::of(Parts::read(document, nesting)?, document.bytes().to_owned(), path, stamp))
    }

    fn of(parts: Parts, text: Vec<u8>, path: &Path, stamp: Stamp) -> Self {
        let Parts { outline, lists, derived } = parts;
        let mut session = Self {
            text,
            lists,
            has_turns: derived.is_some(),
            stamp: Some(stamp),
            has_surrogates: outline.has_surrogates,
            has_long_numbers: outline.has_long_numbers,
            ..Self::new(&names::of_file(path), "", "")
        };
        session.outline = outline;
        session.damage = std::mem::take(&mut session.outline.reports).into_damage(path);
        if let Some(derived) = derived {
            session.add_derived(&derived);
        }
        session.read_scalars();
        session
    }

    /// What a document says of itself, or what the times of its messages say for it.
    fn read_scalars(&mut self) {
        let of = |key| self.outline.text(key, &self.text);
        let (created_at, updated_at, parent_id) = (of(Key::CreatedAt), of(Key::UpdatedAt), of(Key::ParentId));
        let log = if created_at.is_none() || updated_at.is_none() { self.log(false) } else { Log::default() };
        let time = |time: Option<Time>| time.map(|time| time.text);
        let scalar = |text: Option<String>| Scalar { text: text.unwrap_or_default(), is_changed: false };
        self.created_at = scalar(created_at.or_else(|| time(log.first_time.clone())));
        self.updated_at = scalar(updated_at.or_else(|| time(log.last_time.clone())));
        self.parent_id = scalar(parent_id);
    }

    fn add_derived(&mut self, derived: &turns::Messages) {
        let start = self.text.len();
        self.text.extend_from_slice(&derived.text);
        let moved = |range: &Range<usize>| Element { range: start + range.start..start + range.end, is_sound: true };
        self.lists.messages = derived.elements.iter().map(moved).collect();
    }

    /// The name of its file, without the ending.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When it was begun: as the file has it, else the time of the first message, else empty.
    #[must_use]
    pub fn created_at(&self) -> &str {
        &self.created_at.text
    }

    /// When something was added last: as the file has it, else the time of the last message, else empty.
    #[must_use]
    pub fn updated_at(&self) -> &str {
        &self.updated_at.text
    }

    /// The session that it was begun from; empty if there is none.
    #[must_use]
    pub fn parent_id(&self) -> &str {
        &self.parent_id.text
    }

    /// The sessions that were begun from it.
    #[must_use]
    pub fn sub_sessions(&self) -> Vec<String> {
        self.sound(&self.lists.sub_sessions).map(|raw| text(raw).into_owned()).collect()
    }

    /// Whether the log is one of turns, which are only read.
    #[must_use]
    pub fn has_turns(&self) -> bool {
        self.has_turns
    }

    /// Whether nothing was ever said in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Lists { messages, errors, permissions, .. } = &self.lists;
        messages.is_empty() && errors.is_empty() && permissions.is_empty()
    }

    /// Whether it has a file: it was read from one, or written to it.
    #[must_use]
    pub fn has_file(&self) -> bool {
        self.stamp.is_some()
    }

    /// Forgets its file; the next time it is written a new one is made.
    pub fn detach(&mut self) {
        self.stamp = None;
    }

    /// What is odd in its file.
    #[must_use]
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Whether a number in it may be larger than 64 bits.
    #[must_use]
    pub fn has_long_numbers(&self) -> bool {
        self.has_long_numbers
    }

    /// The entries of a list that are objects, from the one of that number on, as a JSON list.
    #[must_use]
    pub fn entries(&self, list: List, from: usize) -> Vec<u8> {
        self.decodable(joined(self.sound(self.list(list)).skip(from)))
    }

    /// JSON as strict decoders take it.
    pub(super) fn decodable(&self, json: Vec<u8>) -> Vec<u8> {
        if self.has_surrogates { clean(&json) } else { json }
    }

    pub(super) fn list(&self, list: List) -> &[Element] {
        match list {
            List::Messages => &self.lists.messages,
            List::Errors => &self.lists.errors,
            List::Permissions => &self.lists.permissions,
        }
    }

    fn list_mut(&mut self, list: List) -> &mut Vec<Element> {
        match list {
            List::Messages => &mut self.lists.messages,
            List::Errors => &mut self.lists.errors,
            List::Permissions => &mut self.lists.permissions,
        }
    }

    /// The texts of those elements that are what they should be.
    pub(super) fn sound<'s>(&'s self, elements: &'s [Element]) -> impl Iterator<Item = &'s [u8]> {
        elements.iter().filter(|element| element.is_sound).map(|element| &self.text[element.range.clone()])
    }

    /// The text of the message of that number.
    pub(super) fn message(&self, number: usize) -> &[u8] {
        &self.text[self.lists.messages[number].range.clone()]
    }

    /// Calls `each` with the number of each message that is an object, its text, and what is in it.
    pub(super) fn for_messages(&self, mut each: impl FnMut(usize, Text<'_>, &Message, &[Call])) {
        let (mut nesting, mut calls) = (Nesting::default(), Vec::new());
        for (number, element) in self.lists.messages.iter().enumerate().filter(|(_, element)| element.is_sound) {
            let marked = Marked::new(&self.text[element.range.clone()]);
            let message = Message::read(marked.text(), &mut nesting, &mut calls);
            each(number, marked.text(), &message, &calls);
        }
    }

    /// What its messages say, taken together.
    pub(super) fn log(&self, wants_text: bool) -> Log {
        let (mut log, mut nesting) = (Log::new(wants_text), Nesting::default());
        self.for_messages(|_, text, message, calls| log.add(text, message, calls, &mut nesting));
        log
    }

    /// Adds an entry, a JSON object, at the time `now`.
    ///
    /// # Errors
    ///
    /// [`Error::Turns`] where the log is one of turns, [`Error::TooLong`] where the session would be.
    pub fn append(&mut self, list: List, json: &[u8], now: &str) -> Result<()> {
        self.put(list, None, json, now)
    }

    /// Adds an entry, or puts it in the place of the one of that number.
    pub(super) fn put(&mut self, list: List, place: Option<usize>, json: &[u8], now: &str) -> Result<()> {
        if self.has_turns {
            return Err(Error::Turns { path: self.name.clone().into() });
        }
        let element = self.add_text(&laid_out(json, ITEM_LEVEL))?;
        self.updated_at = Scalar { text: now.to_owned(), is_changed: true };
        let elements = self.list_mut(list);
        match place {
            Some(place) => elements[place] = element,
            None => elements.push(element),
        }
        Ok(())
    }

    /// What there is to go back to.
    pub(super) fn state(&self) -> State {
        let (lists, updated_at, parent_id) = (self.lists.clone(), self.updated_at.clone(), self.parent_id.clone());
        State { length: self.text.len(), lists, updated_at, parent_id }
    }

    pub(super) fn restore(&mut self, state: State) {
        self.text.truncate(state.length);
        (self.lists, self.updated_at, self.parent_id) = (state.lists, state.updated_at, state.parent_id);
    }

    fn add_text(&mut self, json: &[u8]) -> Result<Element> {
        let start = self.text.len();
        if start + json.len() > MAX_LINE {
            return Err(Error::TooLong { length: start + json.len() });
        }
        let (marked, mut nesting) = (Marked::new(json), Nesting::default());
        let mut scanner = Scanner::new(marked.text(), &mut nesting);
        _ = scanner.value();
        self.has_surrogates |= scanner.has_surrogates();
        self.has_long_numbers |= scanner.has_long_numbers();
        self.text.extend_from_slice(json);
        Ok(Element { range: start..self.text.len(), is_sound: true })
    }

    /// Names the session that it was begun from.
    pub fn set_parent_id(&mut self, name: &str) {
        self.parent_id = Scalar { text: name.to_owned(), is_changed: true };
    }

    /// Names the session anew.
    pub fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    /// Adds the name of a session that was begun from it, once.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] where the session would be.
    pub fn add_sub_session(&mut self, name: &str) -> Result<()> {
        if !self.sub_sessions().iter().any(|there| there == name) {
            let element = self.add_text(&quoted(name))?;
            self.lists.sub_sessions.push(element);
        }
        Ok(())
    }

    /// Gives a session that was begun from it its new name.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] where the session would be.
    pub fn rename_sub_session(&mut self, old: &str, new: &str) -> Result<()> {
        let is_it = |element: &Element| {
            let raw = &self.text[element.range.clone()];
            is_string(raw) && text(raw) == old
        };
        let places: Vec<_> =
            (0..self.lists.sub_sessions.len()).filter(|&at| is_it(&self.lists.sub_sessions[at])).collect();
        for &place in &places {
            self.lists.sub_sessions[place] = self.add_text(&quoted(new))?;
        }
        Ok(())
    }
}

/// The level of an element of a list of the document.
pub(super) const ITEM_LEVEL: usize = 2;

/// Elements as a JSON list.
pub(super) fn joined<'a>(elements: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = vec![b'['];
    for (number, element) in elements.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        out.extend_from_slice(element);
    }
    out.push(b']');
    out
}

impl Lists {
    fn of(&mut self, key: Key) -> Option<&mut Vec<Element>> {
        Some(match key {
            Key::Messages => &mut self.messages,
            Key::Errors => &mut self.errors,
            Key::Permissions => &mut self.permissions,
            Key::SubSessions => &mut self.sub_sessions,
            Key::Turns => &mut self.turns,
            Key::Name | Key::CreatedAt | Key::UpdatedAt | Key::ParentId => return None,
        })
    }
}

impl Taker for Lists {
    fn begin(&mut self, key: Key) {
        if let Some(elements) = self.of(key) {
            elements.clear();
        }
    }

    fn element(&mut self, key: Key, scanner: &mut Scanner<'_>) -> std::result::Result<(), Faulty> {
        let is_sound = key.is_element(scanner);
        let range = scanner.value()?.range();
        if let Some(elements) = self.of(key) {
            elements.push(Element { range, is_sound });
        }
        Ok(())
    }
}
