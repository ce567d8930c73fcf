//! A document to what a listing and a preview tell of it, in one pass; nothing else of it is kept.

use super::document::{Fault, Key, Taker, read};
use super::log::Log;
use super::message::{Call, Message};
use super::turns;
use crate::error::Reports;
use crate::json::{Faulty, Nesting, Scanner, text};
use crate::marks::{Marked, Text};

/// What a document tells.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) log: Log,
    /// How many elements the log has, with those that are no objects.
    pub(super) element_count: u64,
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<String>,
    pub(super) parent_id: String,
    pub(super) sub_sessions: Vec<String>,
    pub(super) reports: Reports,
}

impl Facts {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// It is no session's document.
    pub(super) fn read(document: Text<'_>, nesting: &mut Nesting, wants_text: bool) -> Result<Self, Fault> {
        let mut gather = Gather::new(document, wants_text);
        let outline = read(document, nesting, &mut gather)?;
        let bytes = document.bytes();
        if outline.has_turns(bytes) {
            gather.add_turns(&turns::to_messages(document, &outline, nesting));
        }
        Ok(Self {
            log: gather.log,
            element_count: gather.element_count,
            created_at: outline.text(Key::CreatedAt, bytes),
            updated_at: outline.text(Key::UpdatedAt, bytes),
            parent_id: outline.text(Key::ParentId, bytes).unwrap_or_default(),
            sub_sessions: gather.sub_sessions,
            reports: outline.reports,
        })
    }
}

/// Gathers while the document is read.
struct Gather<'a> {
    document: Text<'a>,
    /// For what is read inside a message.
    nesting: Nesting,
    calls: Vec<Call>,
    wants_text: bool,
    log: Log,
    element_count: u64,
    sub_sessions: Vec<String>,
}

impl<'a> Gather<'a> {
    fn new(document: Text<'a>, wants_text: bool) -> Self {
        let (nesting, calls, sub_sessions) = (Nesting::default(), Vec::new(), Vec::new());
        Self { document, nesting, calls, wants_text, log: Log::new(wants_text), element_count: 0, sub_sessions }
    }

    fn add_turns(&mut self, messages: &turns::Messages) {
        let marked = Marked::new(&messages.text);
        for element in &messages.elements {
            let text = marked.text().part(element.clone());
            let message = Message::read(text, &mut self.nesting, &mut self.calls);
            self.log.add(text, &message, &self.calls, &mut self.nesting);
            self.element_count += 1;
        }
    }
}

impl Taker for Gather<'_> {
    fn begin(&mut self, key: Key) {
        match key {
            Key::Messages => (self.log, self.element_count) = (Log::new(self.wants_text), 0),
            Key::SubSessions => self.sub_sessions.clear(),
            _ => {}
        }
    }

    fn element(&mut self, key: Key, scanner: &mut Scanner<'_>) -> Result<(), Faulty> {
        let is_element = key.is_element(scanner);
        self.element_count += u64::from(key == Key::Messages);
        match key {
            Key::Messages if is_element => {
                let message = Message::scan(scanner, &mut self.calls)?;
                self.log.add(self.document, &message, &self.calls, &mut self.nesting);
            }
            Key::SubSessions if is_element => {
                let name = scanner.value()?.of(self.document.bytes());
                self.sub_sessions.push(text(name).into_owned());
            }
            _ => _ = scanner.value()?,
        }
        Ok(())
    }
}
