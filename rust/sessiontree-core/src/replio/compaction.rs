//! Compaction: earlier messages are summed up in a record, and stay in the log.

use super::message::{EMPTY, Message, Role};
use super::session::{List, Session};
use crate::error::Result;
use crate::json::{Nesting, is_string, text};
use crate::marks::Marked;
use crate::rewrite::{Change, changed, quoted};

/// The command that asks for it.
const COMMAND: &str = "/compact";

impl Session {
    /// How many messages are to be summed up so that the last `keep` are sent as they are; None if there is nothing to do.
    ///
    /// There is nothing to do, either, where earlier records spare a provider as much: with a smaller boundary, what lies
    /// between would be neither sent nor summed up.
    #[must_use]
    pub fn compactable(&self, keep: usize) -> Option<usize> {
        let counted = self.lists.messages.len() - usize::from(self.bare_command().is_some());
        let count = if keep == 0 { 0 } else { counted.saturating_sub(keep) };
        (count > self.compactions().boundary).then_some(count)
    }

    /// Puts a record of a compaction into the log: into the command that asked for it, if that is the last message, else behind
    /// all others. `command` is that of the second kind, a message without the summary. Gives the record's number.
    ///
    /// # Errors
    ///
    /// As [`Self::append`].
    pub fn compact(&mut self, summary: &str, count: usize, command: &[u8], now: &str) -> Result<usize> {
        let place = self.bare_command();
        let command = place.map_or(command, |place| self.message(place));
        let (summary, count) = (quoted(summary), count.to_string());
        let record =
            changed(command, &[("result", Change::Set(&summary)), ("compact_from", Change::Set(count.as_bytes()))]);
        self.put(List::Messages, place, &record, now)?;
        Ok(place.unwrap_or(self.lists.messages.len() - 1))
    }

    /// The number of the last message, if it is the command and has not been carried out.
    fn bare_command(&self) -> Option<usize> {
        let (number, last) = self.lists.messages.iter().enumerate().next_back()?;
        if !last.is_sound {
            return None;
        }
        let marked = Marked::new(self.message(number));
        let bytes = marked.text().bytes();
        let message = Message::read(marked.text(), &mut Nesting::default(), &mut Vec::new());
        let content = message.content.map(|content| content.of(bytes)).filter(|content| is_string(content))?;
        let is_command = message.role(bytes) == Role::Command && text(content).trim() == COMMAND;
        let is_bare = message.result.is_none_or(|result| result.of(bytes) == EMPTY) && message.compact_from.is_none();
        (is_command && is_bare).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &[u8] = br#"{"role":"command","content":"/compact"}"#;

    fn session(messages: &[&str]) -> Session {
        let mut session = Session::new("s", "", "");
        for message in messages {
            session.append(List::Messages, message.as_bytes(), "").unwrap();
        }
        session
    }

    #[test]
    fn a_record_is_the_command_that_asked_for_it_or_a_new_one_and_nothing_else() {
        let user = r#"{"role":"user","content":"a"}"#;
        for (last, place) in [
            (r#"{"role":"command","content":" /compact "}"#, 2),
            (r#"{"role":"command","content":"/model x"}"#, 3),
            (r#"{"role":"command","content":"/compact","result":"s"}"#, 3),
            (r#"{"role":"user","content":"/compact"}"#, 3),
        ] {
            let mut session = session(&[user, user, last]);
            let (before, state) = (session.entries(List::Messages, 0), session.state());
            assert_eq!(session.compact("sum", 1, NEW, "now").unwrap(), place, "{last}");
            assert!(session.has_summary());
            session.restore(state);
            assert_eq!(session.entries(List::Messages, 0), before);
        }
    }

    #[test]
    fn there_is_nothing_to_do_where_no_more_would_be_spared() {
        let user = r#"{"role":"user","content":"a"}"#;
        let mut session = session(&[user; 6]);
        assert_eq!(session.compactable(4), Some(2));
        assert_eq!((session.compactable(0), session.compactable(6), session.compactable(9)), (None, None, None));
        session.compact("sum", 4, NEW, "now").unwrap();
        assert_eq!(session.compactable(4), None, "a smaller boundary");
        assert_eq!(session.compactable(2), Some(5));
    }
}
