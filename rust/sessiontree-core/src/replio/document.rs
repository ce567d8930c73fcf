//! A session's document: its members, and the elements of its lists, found in one pass over the text.

use std::path::Path;

use crate::error::{Damage, DamageKind, Place, Reports};
use crate::json::{Faulty, Flaw, Nesting, Scanner, Span, is_string, text};
use crate::marks::Text;

/// The members that the format knows, in the order in which a new file has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Name,
    CreatedAt,
    UpdatedAt,
    Messages,
    Errors,
    Permissions,
    ParentId,
    SubSessions,
    /// What later versions have in the place of messages.
    Turns,
}

impl Key {
    pub(super) const ALL: [Self; 9] = [
        Self::Name,
        Self::CreatedAt,
        Self::UpdatedAt,
        Self::Messages,
        Self::Errors,
        Self::Permissions,
        Self::ParentId,
        Self::SubSessions,
        Self::Turns,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::CreatedAt => "created_at",
            Self::UpdatedAt => "updated_at",
            Self::Messages => "messages",
            Self::Errors => "errors",
            Self::Permissions => "permissions",
            Self::ParentId => "parent_id",
            Self::SubSessions => "sub_sessions",
            Self::Turns => "turns",
        }
    }

    /// Of a list, what is wrong if the value is none, and what begins its elements.
    fn list(self) -> Option<(&'static str, u8)> {
        match self {
            Self::Messages => Some(("`messages` is no list", b'{')),
            Self::Errors => Some(("`errors` is no list", b'{')),
            Self::Permissions => Some(("`permissions` is no list", b'{')),
            Self::SubSessions => Some(("`sub_sessions` is no list", b'"')),
            Self::Turns => Some(("`turns` is no list", b'{')),
            Self::Name | Self::CreatedAt | Self::UpdatedAt | Self::ParentId => None,
        }
    }

    /// Whether the value ahead is what elements of that list are: an object, or a name.
    pub(super) fn is_element(self, scanner: &Scanner<'_>) -> bool {
        self.list().is_some_and(|(_, first)| scanner.peek() == Some(first))
    }
}

/// A member of the top level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) key: Span,
    pub(super) value: Span,
}

/// What a document is made of.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// In the order of the file, repeated ones and all.
    pub(super) members: Vec<Member>,
    /// By [`Key`], the number of its last member.
    places: [Option<usize>; Key::ALL.len()],
    /// Strict decoders refuse it: it escapes half of a surrogate pair, perhaps.
    pub(super) has_surrogates: bool,
    pub(super) has_long_numbers: bool,
    /// What is odd in it.
    pub(super) reports: Reports,
}

impl Outline {
    /// The number of the member that counts for a key: of a repeated key the last.
    pub(super) fn place(&self, key: Key) -> Option<usize> {
        self.places[key as usize]
    }

    /// Its value, of any type but null.
    pub(super) fn value(&self, key: Key, bytes: &[u8]) -> Option<Span> {
        let value = self.members[self.place(key)?].value;
        (value.of(bytes) != b"null").then_some(value)
    }

    /// Its value, where that is a string.
    pub(super) fn text(&self, key: Key, bytes: &[u8]) -> Option<String> {
        let value = self.value(key, bytes)?.of(bytes);
        is_string(value).then(|| text(value).into_owned())
    }

    /// Whether the log is one of turns.
    pub(super) fn has_turns(&self, bytes: &[u8]) -> bool {
        self.value(Key::Turns, bytes).is_some()
    }
}

/// What goes through the lists of a document.
pub(super) trait Taker {
    /// A list begins, once more if its key is repeated: what was said of it before does not count.
    fn begin(&mut self, key: Key);

    /// An element is ahead, and must be passed.
    fn element(&mut self, key: Key, scanner: &mut Scanner<'_>) -> Result<(), Faulty>;
}

/// Why a text is no document, and at which of its bytes that shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    pub(super) flaw: Flaw,
    /// Whether it is sound, but of a form that is not known.
    pub(super) is_unsupported: bool,
}

/// Reads a document.
///
/// # Errors
///
/// It is no JSON, no UTF-8, no object, or its lists are none.
pub(super) fn read(document: Text<'_>, nesting: &mut Nesting, taker: &mut dyn Taker) -> Result<Outline, Fault> {
    let corrupt = |at, what| Fault { flaw: Flaw { at, what }, is_unsupported: false };
    let bytes = document.bytes();
    let start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut scanner = Scanner::new(document, nesting);
    scanner.skip(start);
    scanner.space();
    match scanner.peek() {
        Some(b'{') => {}
        None => return Err(corrupt(0, "the file is empty")),
        Some(_) => {
            // What is no JSON at all is told as that.
            let at = scanner.at();
            let flaw = scanner.value().err().and_then(|Faulty| scanner.flaw());
            return Err(flaw.map_or(corrupt(at, "expected an object"), |flaw| corrupt(flaw.at, flaw.what)));
        }
    }
    let mut outline = Outline::default();
    let mut lines = LineCount::default();
    let walked = scanner.members(|scanner, name| {
        let word = name.word(bytes);
        let key = Key::ALL.into_iter().find(|key| key.name().as_bytes() == &*word);
        if let Some(key) = key
            && outline.places[key as usize].replace(outline.members.len()).is_some()
        {
            let reason = || format!("`{}` is there once more: this one counts", key.name());
            outline.reports.add(DamageKind::Repeated, lines.place(bytes, name.start()), reason);
        }
        let value = match key.and_then(|key| Some((key, key.list()?))) {
            Some((key, _)) if scanner.peek() == Some(b'[') => {
                taker.begin(key);
                let mut number = 0_u64;
                scanner.array(|scanner| {
                    let (at, is_odd) = (scanner.at(), !key.is_element(scanner));
                    taker.element(key, scanner)?;
                    if is_odd {
                        let reason = || format!("element {number} of `{}` is none: it is passed over", key.name());
                        outline.reports.add(DamageKind::Line, lines.place(bytes, at), reason);
                    }
                    number += 1;
                    Ok(())
                })?
            }
            Some((key, (no_list, _))) => {
                taker.begin(key);
                if scanner.peek().is_some_and(|next| next != b'n') {
                    return Err(scanner.complain(no_list));
                }
                scanner.value()?
            }
            None => scanner.value()?,
        };
        outline.members.push(Member { key: name, value });
        Ok(())
    });
    scanner.space();
    let left_over = scanner.peek().map(|_| Flaw { at: scanner.at(), what: "something follows the document" });
    let flaw = if walked.is_err() { scanner.flaw() } else { left_over };
    let not_utf8 = scanner.not_utf8().map(|at| Flaw { at, what: "the text is not UTF-8" });
    if let Some(flaw) = flaw.into_iter().chain(not_utf8).min_by_key(|flaw| flaw.at) {
        return Err(Fault { flaw, is_unsupported: false });
    }
    // A name alone tells nothing: other programs keep documents that have one.
    if !Key::ALL.into_iter().any(|key| key != Key::Name && outline.place(key).is_some()) {
        return Err(corrupt(start, "it has no log, no time and no link, as sessions have"));
    }
    outline.has_surrogates = scanner.has_surrogates();
    outline.has_long_numbers = scanner.has_long_numbers();
    if let (Some(turns), Some(_)) = (outline.value(Key::Turns, bytes), outline.value(Key::Messages, bytes)) {
        let at = turns.start();
        let what = "it has both `messages` and `turns`: expected one log";
        return Err(Fault { flaw: Flaw { at, what }, is_unsupported: true });
    }
    Ok(outline)
}

/// Numbers the lines of a text. What lies near the place that was asked for before is found soon.
#[derive(Debug)]
pub(super) struct LineCount {
    place: Place,
}

impl Default for LineCount {
    fn default() -> Self {
        Self { place: Place { line: 1, offset: 0 } }
    }
}

impl LineCount {
    /// The place of the byte at `at`.
    pub(super) fn place(&mut self, bytes: &[u8], at: usize) -> Place {
        let before = usize::try_from(self.place.offset).unwrap_or(bytes.len());
        let breaks = |range| memchr::memchr_iter(b'\n', &bytes[range]).count() as u64;
        if at < before {
            self.place.line -= breaks(at..before);
        } else {
            self.place.line += breaks(before..at);
        }
        self.place.offset = at as u64;
        self.place
    }
}

impl Fault {
    /// In words, with the place.
    pub(super) fn reason(&self) -> String {
        let Flaw { at, what } = self.flaw;
        format!("{what}, at byte {at}")
    }

    /// The number of the line that it is in, from 1.
    pub(super) fn line(&self, bytes: &[u8]) -> u64 {
        LineCount::default().place(bytes, self.flaw.at.min(bytes.len())).line
    }

    /// As a report on a file that is no session.
    pub(super) fn damage(&self, path: &Path, bytes: &[u8]) -> Damage {
        let offset = self.flaw.at as u64;
        let place = Some(Place { line: self.line(bytes), offset });
        Damage { place, ..Damage::unusable(path, &format!("no session: {}", self.reason())) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::marks::Marked;

    /// Passes over all elements.
    pub(in super::super) struct Nobody;

    impl Taker for Nobody {
        fn begin(&mut self, _: Key) {}

        fn element(&mut self, _: Key, scanner: &mut Scanner<'_>) -> Result<(), Faulty> {
            scanner.value().map(drop)
        }
    }

    fn outline(text: &[u8]) -> Result<Outline, (String, u64, bool)> {
        let marked = Marked::new(text);
        read(marked.text(), &mut Nesting::default(), &mut Nobody)
            .map_err(|fault| (fault.reason(), fault.line(text), fault.is_unsupported))
    }

    #[test]
    fn what_is_no_document_is_told_with_its_place() {
        for (text, reason, line) in [
            (&b""[..], "the file is empty, at byte 0", 1),
            (b"[]", "expected an object, at byte 0", 1),
            (b"{\"name\": \"pkg\"}", "it has no log, no time and no link, as sessions have, at byte 0", 1),
            (b"{\n\"a\": NaN}", "expected a value, at byte 7", 2),
            (b"{}\n{}", "something follows the document, at byte 3", 2),
            (b"{\"messages\":{}}", "`messages` is no list, at byte 12", 1),
            (b"{\"a\":\"\n", "a control character stands inside a string, at byte 6", 1),
            (b"{\"a\":\"\xff\"}", "the text is not UTF-8, at byte 6", 1),
            (b"{\"messages\":[{\"role\":\"us", "the record is cut off, at byte 24", 1),
        ] {
            assert_eq!(outline(text).unwrap_err(), (reason.to_owned(), line, false), "{}", text.escape_ascii());
        }
        let (_, _, is_unsupported) = outline(b"{\"messages\":[],\"turns\":[]}").unwrap_err();
        assert!(is_unsupported);
    }

    #[test]
    fn lines_are_counted_forwards_and_backwards() {
        let (text, mut lines) = (b"a\nb\n\nc", LineCount::default());
        let counted = [5, 2, 1, 0, 6, 3].map(|at| lines.place(text, at).line);
        assert_eq!(counted, [4, 2, 1, 1, 4, 2]);
    }

    #[test]
    fn what_is_odd_is_reported_and_the_last_of_a_repeated_key_counts() {
        let text = b"\xef\xbb\xbf{\"messages\":[1],\n\"messages\":[{},\n null]}";
        let outline = outline(text).unwrap();
        assert_eq!(outline.value(Key::Messages, text).unwrap().of(text), b"[{},\n null]");
        let told: Vec<_> = outline
            .reports
            .into_damage(Path::new(""))
            .into_iter()
            .map(|one| (one.kind, one.place.unwrap().line))
            .collect();
        assert_eq!(told, [(DamageKind::Line, 1), (DamageKind::Repeated, 2), (DamageKind::Line, 3)]);
    }
}
