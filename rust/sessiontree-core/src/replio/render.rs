//! A session as the text of its file: what was not touched byte for byte, what was added laid out as Replio does.

use super::document::Key;
use super::layout::line_break;
use super::message::Message;
use super::session::{Element, ITEM_LEVEL, Scalar, Session};
use super::transforms::Transforms;
use crate::json::Nesting;
use crate::marks::Marked;
use crate::rewrite::{Change, changed, quoted};

/// The keys that every file has, in the order of a new one.
const KEYS: [Key; 8] = [
    Key::Name,
    Key::CreatedAt,
    Key::UpdatedAt,
    Key::Messages,
    Key::Errors,
    Key::Permissions,
    Key::ParentId,
    Key::SubSessions,
];

impl Session {
    /// The text of its file. Keys that the file has stay where they are, known or not.
    pub(super) fn rendered(&self, transforms: &Transforms) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.text.len() + self.text.len() / 16 + 256);
        out.push(b'{');
        let places = KEYS.map(|key| self.outline.place(key));
        for (number, member) in self.outline.members.iter().enumerate() {
            begin_member(&mut out, number == 0, member.key.of(&self.text));
            match KEYS.into_iter().zip(places).find(|(_, place)| *place == Some(number)) {
                Some((key, _)) => self.render(key, transforms, &mut out),
                None => out.extend_from_slice(member.value.of(&self.text)),
            }
        }
        let mut is_first = self.outline.members.is_empty();
        for (key, _) in KEYS.into_iter().zip(places).filter(|(_, place)| place.is_none()) {
            begin_member(&mut out, is_first, &quoted(key.name()));
            self.render(key, transforms, &mut out);
            is_first = false;
        }
        line_break(&mut out, 0);
        out.push(b'}');
        out
    }

    fn render(&self, key: Key, transforms: &Transforms, out: &mut Vec<u8>) {
        match key {
            Key::Name => self.render_name(out),
            Key::CreatedAt => self.render_scalar(key, &self.created_at, out),
            Key::UpdatedAt => self.render_scalar(key, &self.updated_at, out),
            Key::ParentId => self.render_scalar(key, &self.parent_id, out),
            Key::Messages => self.render_messages(transforms, out),
            Key::Errors => self.render_list(&self.lists.errors, out),
            Key::Permissions => self.render_list(&self.lists.permissions, out),
            Key::SubSessions => self.render_list(&self.lists.sub_sessions, out),
            Key::Turns => {}
        }
    }

    fn render_name(&self, out: &mut Vec<u8>) {
        match self.outline.value(Key::Name, &self.text) {
            Some(raw) if self.outline.text(Key::Name, &self.text).as_ref() == Some(&self.name) => {
                out.extend_from_slice(raw.of(&self.text));
            }
            _ => out.extend_from_slice(&quoted(&self.name)),
        }
    }

    fn render_scalar(&self, key: Key, scalar: &Scalar, out: &mut Vec<u8>) {
        match self.outline.value(key, &self.text) {
            Some(raw) if !scalar.is_changed => out.extend_from_slice(raw.of(&self.text)),
            _ => out.extend_from_slice(&quoted(&scalar.text)),
        }
    }

    fn render_list(&self, elements: &[Element], out: &mut Vec<u8>) {
        let texts = elements.iter().map(|element| &self.text[element.range.clone()]);
        render_items(texts, |text, out| out.extend_from_slice(text), out);
    }

    fn render_messages(&self, transforms: &Transforms, out: &mut Vec<u8>) {
        if transforms.change_nothing() {
            self.render_list(&self.lists.messages, out);
            return;
        }
        let (mut nesting, mut calls) = (Nesting::default(), Vec::new());
        render_items(
            self.lists.messages.iter(),
            |element, out| {
                let text = &self.text[element.range.clone()];
                let content = element.is_sound.then(|| {
                    let marked = Marked::new(text);
                    let message = Message::read(marked.text(), &mut nesting, &mut calls);
                    transforms.content(&message, text)
                });
                match content.flatten() {
                    Some(content) => out.extend(changed(text, &[("content", Change::Set(&content))])),
                    None => out.extend_from_slice(text),
                }
            },
            out,
        );
    }
}

fn begin_member(out: &mut Vec<u8>, is_first: bool, key: &[u8]) {
    if !is_first {
        out.push(b',');
    }
    line_break(out, 1);
    out.extend_from_slice(key);
    out.extend_from_slice(b": ");
}

/// Writes a list of the document, an item a line.
fn render_items<T>(items: impl ExactSizeIterator<Item = T>, mut item: impl FnMut(T, &mut Vec<u8>), out: &mut Vec<u8>) {
    out.push(b'[');
    let is_empty = items.len() == 0;
    for (number, one) in items.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        line_break(out, ITEM_LEVEL);
        item(one, out);
    }
    if !is_empty {
        line_break(out, ITEM_LEVEL - 1);
    }
    out.push(b']');
}
