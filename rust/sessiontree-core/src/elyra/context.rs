//! A branch to what a model is sent: messages, thinking level and model.

use std::collections::HashMap;
use std::sync::Arc;

use super::digest::{Flags, Row};
use super::entries::Entries;
use super::entry::Kind;
use super::index::Number;
use super::migrate::FirstKept;
use super::source::Source;
use crate::context::{Model, NO_THINKING};
use crate::error::Result;
use crate::json::{Span, is_string, text};
use crate::message::Role;
use crate::rewrite::{Change, changed, clean, find};

/// Builds the context of the branch that ends at `leaf`.
///
/// `is_old`: whether the messages are of a version before 3.
pub(super) fn build(entries: &Entries, is_old: bool, source: &Arc<Source>, leaf: Option<Number>) -> Result<Context> {
    let mut path = leaf.map(|leaf| entries.path(leaf)).unwrap_or_default();
    path.reverse();
    let branch = Branch { entries, is_old, source, path: &path };
    let selection = branch.select()?;
    let edits = branch.edits(&selection)?;
    let mut messages = Vec::new();
    if let Some(compaction) = selection.compaction {
        branch.add_compaction(compaction, edits.get(&compaction), &mut messages)?;
    }
    for &node in selection.kept {
        if !branch.row(node).flags.has(Flags::IS_SYSTEM) {
            branch.add_messages(node, edits.get(&node), &mut messages)?;
        }
    }
    for &node in selection.after {
        branch.add_messages(node, edits.get(&node), &mut messages)?;
    }
    let (thinking_level, model) = (branch.thinking_level()?, branch.model()?);
    Ok(Context { messages, source: Arc::clone(source), thinking_level, model })
}

/// What a model is sent of a branch. Its messages are read when they are asked for.
#[derive(Debug)]
pub struct Context {
    messages: Vec<Message>,
    source: Arc<Source>,
    pub thinking_level: String,
    /// None where the branch names no model.
    pub model: Option<Model>,
}

/// A branch, from its root to its leaf.
struct Branch<'a> {
    entries: &'a Entries,
    is_old: bool,
    source: &'a Source,
    path: &'a [Number],
}

/// What of a branch counts.
struct Selection<'a> {
    /// The last compaction.
    compaction: Option<Number>,
    /// What it keeps of what stands before it.
    kept: &'a [Number],
    /// What comes after it, or everything.
    after: &'a [Number],
}

/// What a `context_edit` does to its target's message.
enum Edit {
    Omit,
    /// Its content becomes this, a JSON string or list.
    Replace(Vec<u8>),
}

/// A message of the context.
#[derive(Debug)]
enum Message {
    /// It stands in the source just as it is needed.
    Stored {
        offset: u64,
        length: u32,
    },
    Made(Vec<u8>),
}

/// An entry's object in memory.
struct Object {
    bytes: Vec<u8>,
    is_unclean: bool,
    timestamp_ms: Option<i64>,
}

impl Object {
    fn of(&self, span: Option<Span>) -> Option<&[u8]> {
        Some(span?.of(&self.bytes))
    }

    fn string(&self, span: Option<Span>) -> Option<&[u8]> {
        self.of(span).filter(|raw| is_string(raw))
    }

    fn text(&self, span: Option<Span>) -> Option<String> {
        self.string(span).map(|raw| text(raw).into_owned())
    }

    /// A message of that role, with those of the members that there are, and the entry's time.
    fn message(&self, role: &str, members: &[(&str, Option<&[u8]>)]) -> Vec<u8> {
        let mut json = format!("{{\"role\":\"{role}\"").into_bytes();
        for (key, value) in members {
            if let Some(value) = value {
                json.extend_from_slice(format!(",\"{key}\":").as_bytes());
                json.extend_from_slice(value);
            }
        }
        if let Some(time) = self.timestamp_ms {
            json.extend_from_slice(format!(",\"timestamp\":{time}").as_bytes());
        }
        json.push(b'}');
        self.clean(json)
    }

    fn clean(&self, json: Vec<u8>) -> Vec<u8> {
        if self.is_unclean { clean(&json) } else { json }
    }
}

/// A JSON value, if it is a content: a string or a list.
fn content(raw: &[u8]) -> Option<&[u8]> {
    matches!(raw.first(), Some(b'"' | b'[')).then_some(raw)
}

/// A message that stands elsewhere than in an entry of its own, with a content if it is to have one; None if it is none.
fn repaired(raw: &[u8]) -> Option<Vec<u8>> {
    if !raw.starts_with(b"{") {
        return None;
    }
    let [role, own_content] = find(raw, ["role", "content"]);
    let role = role.filter(|role| is_string(role.of(raw))).map(|role| Role::named(&role.word(raw)));
    let has_content = own_content.is_some_and(|own| content(own.of(raw)).is_some());
    match (role, has_content) {
        (None, false) => None,
        (Some(role), false) => {
            let change = role.empty_content().map(|empty| ("content", Change::Set(empty)));
            Some(changed(raw, change.as_slice()))
        }
        (_, true) => Some(raw.to_owned()),
    }
}

impl<'a> Branch<'a> {
    fn row(&self, node: Number) -> &'a Row {
        self.entries.row(node)
    }

    fn object(&self, node: Number) -> Result<Object> {
        let row = self.row(node);
        let bytes = self.source.object(row)?;
        Ok(Object { bytes, is_unclean: row.flags.has(Flags::IS_UNCLEAN), timestamp_ms: row.timestamp_ms })
    }

    fn select(&self) -> Result<Selection<'a>> {
        let path = self.path;
        let Some(at) = path.iter().rposition(|&node| self.row(node).kind == Kind::Compaction) else {
            return Ok(Selection { compaction: None, kept: &[], after: path });
        };
        let first_kept = self.first_kept(path[at])?;
        let from = path[..at].iter().position(|&node| Some(self.entries.index().id(node)) == first_kept.as_deref());
        let kept = from.map_or(&[][..], |from| &path[from..at]);
        Ok(Selection { compaction: Some(path[at]), kept, after: &path[at + 1..] })
    }

    fn first_kept(&self, compaction: Number) -> Result<Option<String>> {
        if let FirstKept::Counted(id) = self.entries.first_kept(self.entries.row_of(compaction)) {
            return Ok(Some(id.to_owned()));
        }
        let object = self.object(compaction)?;
        let [id] = find(&object.bytes, ["firstKeptEntryId"]);
        Ok(object.text(id))
    }

    /// The last edit of each target in the selection.
    fn edits(&self, selection: &Selection<'_>) -> Result<HashMap<Number, Edit>> {
        let mut edits = HashMap::new();
        for &node in selection.kept.iter().chain(selection.after) {
            if self.row(node).kind != Kind::ContextEdit {
                continue;
            }
            let object = self.object(node)?;
            let [target, replacement] = find(&object.bytes, ["targetId", "replacement"]);
            let target = object.text(target).and_then(|id| self.entries.index().find(&id));
            let replacement = object.of(replacement).map(|raw| object.clean(raw.to_owned()));
            if let Some((target, edit)) = target.zip(replacement.as_deref().and_then(Edit::of)) {
                edits.insert(target, edit);
            }
        }
        Ok(edits)
    }

    /// The level that the last entry sets that does.
    fn thinking_level(&self) -> Result<String> {
        for &node in self.path.iter().rev().filter(|&&node| self.row(node).kind == Kind::ThinkingLevelChange) {
            let object = self.object(node)?;
            let [level] = find(&object.bytes, ["thinkingLevel"]);
            if let Some(level) = object.text(level) {
                return Ok(level);
            }
        }
        Ok(NO_THINKING.to_owned())
    }

    /// The model that the last entry names that does.
    fn model(&self) -> Result<Option<Model>> {
        let names_one = |&&node: &&Number| self.row(node).flags.has(Flags::HAS_MODEL);
        let Some(&node) = self.path.iter().rev().find(names_one) else { return Ok(None) };
        let object = self.object(node)?;
        let [provider, model_id, message] = find(&object.bytes, ["provider", "modelId", "message"]);
        let (provider, model_id) = match object.of(message).filter(|_| self.row(node).kind == Kind::Message) {
            Some(message) => {
                let text_of = |span: Option<Span>| Some(text(span?.of(message)).into_owned());
                let [provider, model] = find(message, ["provider", "model"]);
                (text_of(provider), text_of(model))
            }
            None => (object.text(provider), object.text(model_id)),
        };
        Ok(provider.zip(model_id).map(|(provider, model_id)| Model { provider, model_id }))
    }

    /// The last compaction's messages: what the system says from then on, and the summary.
    fn add_compaction(&self, node: Number, edit: Option<&Edit>, messages: &mut Vec<Message>) -> Result<()> {
        if matches!(edit, Some(Edit::Omit)) {
            return Ok(());
        }
        let object = self.object(node)?;
        let [summary, tokens, system] = find(&object.bytes, ["summary", "tokensBefore", "systemMessage"]);
        if let Some(mut system) = object.of(system).and_then(repaired) {
            // Whoever wrote the file may have had another role in it, and then an edit is meant for it, too.
            if let Some(content) = edit.and_then(|edit| edit.content(&system, false)) {
                system = changed(&system, &[("content", Change::Set(&content))]);
            }
            messages.push(Message::Made(object.clean(system)));
        }
        let tokens = object.of(tokens).filter(|raw| matches!(raw.first(), Some(b'-' | b'0'..=b'9')));
        let members = [("summary", object.string(summary).or(Some(b"\"\""))), ("tokensBefore", tokens)];
        messages.push(Message::Made(object.message("compactionSummary", &members)));
        Ok(())
    }

    /// The message that an entry gives, if it gives any.
    fn add_messages(&self, node: Number, edit: Option<&Edit>, messages: &mut Vec<Message>) -> Result<()> {
        let row = self.row(node);
        if matches!(edit, Some(Edit::Omit)) {
            return Ok(());
        }
        match row.kind {
            Kind::Message if row.message.length > 0 => messages.push(self.own_message(node, edit)?),
            Kind::CustomMessage => messages.push(Message::Made(self.custom_message(node, edit)?)),
            Kind::BranchSummary => {
                let object = self.object(node)?;
                let [summary, from_id] = find(&object.bytes, ["summary", "fromId"]);
                let members = [("summary", object.string(summary)), ("fromId", object.string(from_id))];
                if members[0].1.is_some_and(|summary| summary != b"\"\"") {
                    messages.push(Message::Made(object.message("branchSummary", &members)));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn own_message(&self, node: Number, edit: Option<&Edit>) -> Result<Message> {
        let row = self.row(node);
        let lacks_content = row.flags.has(Flags::LACKS_CONTENT);
        let is_hook = self.is_old && row.flags.has(Flags::IS_HOOK);
        if edit.is_none() && !lacks_content && !is_hook && !row.flags.has(Flags::IS_UNCLEAN) {
            let offset = row.offset() + u64::from(row.message.start);
            return Ok(Message::Stored { offset, length: row.message.length });
        }
        let object = self.object(node)?;
        let raw = &object.bytes[row.message.start as usize..][..row.message.length as usize];
        let mut changes = Vec::new();
        if is_hook {
            changes.push(("role", Change::Set(b"\"custom\"")));
        }
        let new_content = edit.and_then(|edit| edit.content(raw, is_hook));
        if let Some(content) = &new_content {
            changes.push(("content", Change::Set(content)));
        } else if lacks_content {
            let role = if row.flags.has(Flags::IS_SYSTEM) { Role::System } else { Role::User };
            changes.extend(role.empty_content().map(|empty| ("content", Change::Set(empty))));
        }
        Ok(Message::Made(object.clean(changed(raw, &changes))))
    }

    fn custom_message(&self, node: Number, edit: Option<&Edit>) -> Result<Vec<u8>> {
        let object = self.object(node)?;
        let keys = ["customType", "content", "display", "details"];
        let [custom_type, own_content, display, details] = find(&object.bytes, keys);
        let own_content = object.of(own_content).and_then(content).unwrap_or(b"[]");
        let new_content = match edit {
            Some(Edit::Replace(content)) => content,
            _ => own_content,
        };
        let display = object.of(display).filter(|raw| matches!(*raw, b"true" | b"false"));
        Ok(object.message(
            "custom",
            &[
                ("customType", object.string(custom_type)),
                ("content", Some(new_content)),
                ("display", display),
                ("details", object.of(details).filter(|raw| *raw != b"null")),
            ],
        ))
    }
}

impl Edit {
    /// None if the replacement is no such.
    fn of(replacement: &[u8]) -> Option<Self> {
        if replacement == b"null" {
            return Some(Self::Omit);
        }
        let [new] = if replacement.starts_with(b"{") { find(replacement, ["content"]) } else { [None] };
        Some(Self::Replace(content(new?.of(replacement))?.to_owned()))
    }

    /// What becomes of a message's content; None if it is of a role that no edit changes.
    fn content(&self, message: &[u8], is_hook: bool) -> Option<Vec<u8>> {
        let Self::Replace(content) = self else { return None };
        let [role] = find(message, ["role"]);
        let role = role.map(|role| role.of(message)).filter(|raw| is_string(raw)).map(text);
        match role.as_deref()? {
            "assistant" | "toolResult" if is_string(content) => {
                Some([b"[{\"type\":\"text\",\"text\":", content.as_slice(), b"}]"].concat())
            }
            "user" | "assistant" | "toolResult" | "custom" => Some(content.clone()),
            _ if is_hook => Some(content.clone()),
            _ => None,
        }
    }
}

impl Message {
    fn len(&self) -> usize {
        match self {
            Self::Stored { length, .. } => *length as usize,
            Self::Made(json) => json.len(),
        }
    }
}

impl Context {
    /// How many bytes [`Self::write_json`] writes.
    #[must_use]
    pub fn json_len(&self) -> usize {
        let commas = self.messages.len().saturating_sub(1);
        self.messages.iter().map(Message::len).sum::<usize>() + commas + 2
    }

    /// Writes the messages as one JSON array, such as strict decoders take as far as its texts go, a piece at a time.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Conflict`] where the file is no longer what was read, [`crate::error::Error::Io`] where it cannot be
    /// read.
    pub fn write_json(&self, put: &mut dyn FnMut(&[u8])) -> Result<()> {
        put(b"[");
        self.read(&mut |number, message| {
            if number > 0 {
                put(b",");
            }
            put(message);
        })?;
        put(b"]");
        Ok(())
    }

    /// The messages' JSON, one by one.
    ///
    /// # Errors
    ///
    /// As for [`Self::write_json`].
    pub fn messages_json(&self) -> Result<Vec<Vec<u8>>> {
        let mut all = Vec::with_capacity(self.messages.len());
        self.read(&mut |_, message| all.push(message.to_owned()))?;
        Ok(all)
    }

    /// Calls `each` with every message's number and JSON; messages that stand close together are read in one go.
    fn read(&self, each: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        // What has been read, where it begins in the source, and where it ends. The block never shrinks: it would be cleared
        // each time it grows again.
        let (mut block, mut block_start, mut block_end) = (Vec::new(), 0, 0);
        for (number, message) in self.messages.iter().enumerate() {
            match *message {
                Message::Made(ref json) => each(number, json),
                Message::Stored { offset, length } => {
                    if offset < block_start || offset + u64::from(length) > block_end {
                        let run = run_length(&self.messages[number..], offset);
                        block.resize(run.max(block.len()), 0);
                        (block_start, block_end) = (offset, offset + run as u64);
                        self.source.read(offset, &mut block[..run])?;
                    }
                    #[expect(clippy::cast_possible_truncation, reason = "within the block")]
                    let at = (offset - block_start) as usize;
                    each(number, &block[at..at + length as usize]);
                }
            }
        }
        Ok(())
    }
}

/// How far apart two messages may stand in the source, and still be read in one go.
const GAP: u64 = 32 << 10;

/// How much is read in one go, at most, unless a single message is longer.
const READ: u64 = 1 << 20;

/// How much to read from `from` on, where the first of the messages stands, for those to be had that follow closely.
#[expect(clippy::cast_possible_truncation, reason = "a line's length, or a little more than a block")]
fn run_length(messages: &[Message], from: u64) -> usize {
    let mut end = from;
    for message in messages {
        let Message::Stored { offset, length } = *message else { continue };
        let next = offset + u64::from(length);
        let is_near = end == from || (offset >= end && offset - end <= GAP && next - from <= READ);
        if !is_near {
            break;
        }
        end = next;
    }
    (end - from) as usize
}
