//! A session's row and its context, from one reading of its file.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::context::{ContextOptions, Selection};
use super::document::Fault;
use super::facts::Facts;
use super::listing::row;
use super::message::Role;
use super::session::{Session, joined};
use super::translation::{Translator, summary_message};
use crate::context::{Model, NO_THINKING, SessionContext};
use crate::info::{SessionInfo, Stamp};
use crate::json::{Nesting, Span, is_string, text};
use crate::lines::Buffer;
use crate::listing::Opened;
use crate::marks::{Marked, Text};
use crate::rewrite::find;

/// Reads a file; None where it is no session.
///
/// # Errors
///
/// The system would not let us read it.
pub(crate) fn survey(
    path: &Path,
    opened: &Opened,
    buffer: &mut Buffer,
    is_stopped: &AtomicBool,
) -> io::Result<Option<SessionContext>> {
    let document = if opened.is_regular { buffer.read_whole(&opened.file, is_stopped)? } else { None };
    Ok(document.and_then(|document| of_document(document, path, opened.stamp).ok()))
}

fn of_document(document: Text<'_>, path: &Path, stamp: Stamp) -> Result<SessionContext, Fault> {
    let mut nesting = Nesting::default();
    let facts = Facts::read(document, &mut nesting, false)?;
    let (info, _) = row(facts, path, stamp, document.bytes().len() as u64);
    Ok(Session::of_document(document, &mut nesting, path, stamp)?.context(info))
}

impl Session {
    /// What a model is sent of it, in the words that all formats share.
    fn context(&self, info: SessionInfo) -> SessionContext {
        let Selection { summary, sent, .. } = self.select(ContextOptions::default());
        let mut translator = Translator::default();
        let summary = summary.map(|summary| summary_message(&summary));
        let messages = sent.iter().map(|message| translator.message(Marked::new(message).text()).to_owned());
        let messages: Vec<_> = summary.into_iter().chain(messages).collect();
        let json = self.decodable(joined(messages.iter().map(Vec::as_slice)));
        let (mut thinking_level, mut model) = (NO_THINKING.to_owned(), None);
        self.for_messages(|_, object, message, _| {
            let bytes = object.bytes();
            if message.role(bytes) != Role::Assistant {
                return;
            }
            let string =
                |span: Span| Some(span.of(bytes)).filter(|raw| is_string(raw)).map(|raw| text(raw).into_owned());
            if let [Some(reasoning)] = find(bytes, ["reasoning"])
                && reasoning.of(bytes) != b"null"
            {
                thinking_level = string(reasoning).unwrap_or_else(|| NO_THINKING.to_owned());
            }
            if let Some((provider, model_id)) = message.provider.and_then(string).zip(message.model.and_then(string)) {
                model = Some(Model { provider, model_id });
            }
        });
        SessionContext { info, json, thinking_level, model }
    }
}
