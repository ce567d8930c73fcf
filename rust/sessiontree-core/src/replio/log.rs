//! What the messages of a session say, taken together: the facts of a listing and a preview.

use std::collections::{BTreeSet, HashMap};

use super::message::{Call, Message, Role};
use super::{shown, time};
use crate::json::{Nesting, is_string, text};
use crate::marks::Text;
use crate::message::for_text_pieces;

/// What stands for the role of a message, and for the tool of a call, that names none.
const NAMELESS: &str = "?";

#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) message_count: u64,
    pub(super) command_count: u64,
    /// In the order of their first message, with how many there are.
    pub(super) roles: Vec<(String, u64)>,
    role_places: HashMap<String, usize>,
    pub(super) tools: BTreeSet<String>,
    pub(super) first_user_text: Option<String>,
    /// The texts of users and assistants joined by one blank; None where nobody wants them.
    pub(super) all_text: Option<String>,
    /// Of the first and the last message that have a readable one.
    pub(super) first_time: Option<Time>,
    pub(super) last_time: Option<Time>,
    /// Of the last message; empty if it has none.
    pub(super) last_id: String,
}

/// When a message was said.
#[derive(Clone, Debug, Default)]
pub(super) struct Time {
    /// As it stands there.
    pub(super) text: String,
    /// Unix milliseconds.
    pub(super) ms: i64,
}

impl Log {
    pub(super) fn new(wants_text: bool) -> Self {
        Self { all_text: wants_text.then(String::new), ..Self::default() }
    }

    /// Adds a message of `document`.
    pub(super) fn add(&mut self, document: Text<'_>, message: &Message, calls: &[Call], nesting: &mut Nesting) {
        let bytes = document.bytes();
        let role = message.role(bytes);
        self.message_count += 1;
        self.command_count += u64::from(role == Role::Command);
        self.count_role(message.role.map_or(NAMELESS.into(), |role| shown(role.of(bytes))));
        for call in calls {
            let name = call.name.map_or(NAMELESS.into(), |name| shown(name.of(bytes)));
            if !self.tools.contains(&*name) {
                self.tools.insert(name.into_owned());
            }
        }
        self.add_time(message.timestamp.map(|time| time.of(bytes)));
        self.last_id.clear();
        if let Some(id) = message.id.map(|id| id.of(bytes)).filter(|id| is_string(id)) {
            self.last_id.push_str(&text(id));
        }
        self.add_text(role, message.content.map(|content| document.part(content.range())), nesting);
    }

    fn count_role(&mut self, role: std::borrow::Cow<'_, str>) {
        let place = *self.role_places.get(&*role).unwrap_or(&self.roles.len());
        if let Some((_, count)) = self.roles.get_mut(place) {
            *count += 1;
        } else {
            self.role_places.insert(role.to_string(), place);
            self.roles.push((role.into_owned(), 1));
        }
    }

    fn add_time(&mut self, timestamp: Option<&[u8]>) {
        let Some(timestamp) = timestamp.filter(|timestamp| is_string(timestamp)) else { return };
        let timestamp = text(timestamp);
        let Some(ms) = time(&timestamp) else { return };
        let last = self.last_time.get_or_insert_default();
        last.text.clear();
        last.text.push_str(&timestamp);
        last.ms = ms;
        if self.first_time.is_none() {
            self.first_time = Some(last.clone());
        }
    }

    fn add_text(&mut self, role: Role, content: Option<Text<'_>>, nesting: &mut Nesting) {
        let is_wanted = match role {
            Role::User => self.first_user_text.is_none() || self.all_text.is_some(),
            Role::Assistant => self.all_text.is_some(),
            _ => false,
        };
        let Some(content) = content.filter(|content| is_wanted && matches!(content.bytes()[0], b'"' | b'[')) else {
            return;
        };
        let mut said = String::new();
        for_text_pieces(content, nesting, |piece| said.push_str(piece));
        if said.is_empty() {
            return;
        }
        if let Some(all) = &mut self.all_text {
            if !all.is_empty() {
                all.push(' ');
            }
            all.push_str(&said);
        }
        if role == Role::User && self.first_user_text.is_none() {
            self.first_user_text = Some(said);
        }
    }
}
