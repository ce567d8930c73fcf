//! Tokens and cost: reading usage records, adding them up, and counting each but once.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::num::NonZeroU128;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher13};
use uuid::Uuid;

use crate::error::excerpt;
use crate::json::{Faulty, Nesting, Scanner, Span, number};
use crate::marks::Text;

/// Under what records stand that name no model.
pub(crate) const NO_MODEL: &str = "tools and summaries";

/// The numbers of a record that count, and sums of them: tokens, and US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
    pub total_tokens: f64,
    pub cost_total: f64,
}

impl From<Tokens> for [f64; 6] {
    fn from(tokens: Tokens) -> Self {
        let Tokens { input, output, cache_read, cache_write, total_tokens, cost_total } = tokens;
        [input, output, cache_read, cache_write, total_tokens, cost_total]
    }
}

impl From<[f64; 6]> for Tokens {
    fn from([input, output, cache_read, cache_write, total_tokens, cost_total]: [f64; 6]) -> Self {
        Self { input, output, cache_read, cache_write, total_tokens, cost_total }
    }
}

impl Tokens {
    /// Adds up; a sum stays finite.
    fn add(&mut self, other: &Self) {
        let add = |sum: &mut f64, number: f64| *sum = (*sum + number).min(f64::MAX);
        add(&mut self.input, other.input);
        add(&mut self.output, other.output);
        add(&mut self.cache_read, other.cache_read);
        add(&mut self.cache_write, other.cache_write);
        add(&mut self.total_tokens, other.total_tokens);
        add(&mut self.cost_total, other.cost_total);
    }
}

/// Sums over records, in all and by `provider/model`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub total: Tokens,
    pub by_model: BTreeMap<Arc<str>, Tokens>,
}

impl Usage {
    pub(crate) fn add(&mut self, record: &Record) {
        self.total.add(&record.tokens);
        if !self.by_model.contains_key(&record.model) {
            self.by_model.insert(Arc::clone(&record.model), Tokens::default());
        }
        if let Some(part) = self.by_model.get_mut(&record.model) {
            part.add(&record.tokens);
        }
    }
}

/// One record that a session holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) tokens: Tokens,
    pub(crate) model: Arc<str>,
    pub(crate) identity: Identity,
}

/// By what two records are told to be one: 128-bit keyed hashes, so that a million of them cost little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[[u8; 16]; 2]", into = "[[u8; 16]; 2]")]
pub(crate) struct Identity {
    /// Of the response's id and the record's number in its entry.
    response: Option<NonZeroU128>,
    /// Of the entry's id and time, what was used, and the record's number.
    content: Option<NonZeroU128>,
}

impl From<Identity> for [[u8; 16]; 2] {
    fn from(Identity { response, content }: Identity) -> Self {
        [response, content].map(|hash| hash.map_or(0, NonZeroU128::get).to_le_bytes())
    }
}

impl From<[[u8; 16]; 2]> for Identity {
    fn from(bytes: [[u8; 16]; 2]) -> Self {
        let [response, content] = bytes.map(|hash| NonZeroU128::new(u128::from_le_bytes(hash)));
        Self { response, content }
    }
}

/// The hashes of what the records of an entry share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder {
    response: Option<NonZeroU128>,
    entry: Option<NonZeroU128>,
}

/// All numbers of a record: those that count, and the parts of its cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) tokens: Tokens,
    /// In the order of [`COST_PARTS`].
    pub(crate) cost_parts: [f64; COST_PARTS.len()],
}

/// What the hashes are keyed with: no file can be written to collide. Identities of other keys are never equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdentityKeys(pub(crate) [u64; 2]);

impl Default for IdentityKeys {
    /// Keys that nobody else has.
    fn default() -> Self {
        Self(Uuid::new_v4().as_u64_pair().into())
    }
}

impl IdentityKeys {
    /// What all records of an entry share. Hashed once an entry: its parts may be long, and its records many.
    ///
    /// `entry` is its id, if it has one, and the text of its time.
    pub(crate) fn holder(&self, response: Option<&str>, entry: Option<(&str, Option<&str>)>) -> Holder {
        Holder {
            response: response.filter(|id| !id.is_empty()).and_then(|id| self.text(id)),
            entry: entry.and_then(|(id, time)| {
                self.hash(|hash| {
                    hash.text(id);
                    if let Some(time) = time {
                        hash.text(time);
                    }
                })
            }),
        }
    }

    /// The identity of a record, `number` being its own in its entry. Without an entry id and a response id there is none.
    pub(crate) fn identity(&self, holder: Holder, numbers: &Numbers, number: usize) -> Identity {
        let response = |response: NonZeroU128| {
            self.hash(|hash| {
                hash.bytes(response.get().to_le_bytes());
                hash.bytes((number as u64).to_le_bytes());
            })
        };
        let content = |entry: NonZeroU128| {
            self.hash(|hash| {
                hash.bytes(entry.get().to_le_bytes());
                hash.bytes((number as u64).to_le_bytes());
                let numbers = <[f64; 6]>::from(numbers.tokens).into_iter().chain(numbers.cost_parts);
                numbers.for_each(|number| hash.bytes(number.to_le_bytes()));
            })
        };
        Identity { response: holder.response.and_then(response), content: holder.entry.and_then(content) }
    }

    /// What stands for a text where many are kept, so that long ones cost no more; None for one in 2^128.
    pub(crate) fn text(&self, text: &str) -> Option<NonZeroU128> {
        self.hash(|hash| hash.text(text))
    }

    fn hash(&self, write: impl FnOnce(&mut Writer)) -> Option<NonZeroU128> {
        let [one, other] = self.0;
        let mut writer = Writer(SipHasher13::new_with_keys(one, other));
        write(&mut writer);
        NonZeroU128::new(writer.0.finish128().as_u128())
    }
}

/// A hash in the making, that is the same on every machine and for every compiler.
struct Writer(SipHasher13);

impl Writer {
    fn bytes<const N: usize>(&mut self, bytes: [u8; N]) {
        self.0.write(&bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes((text.len() as u64).to_le_bytes());
        self.0.write(text.as_bytes());
    }
}

/// Hashes what is a keyed hash already: it stays as it is.
#[derive(Debug, Default)]
struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, _) = bytes.as_chunks();
        self.0 = words.iter().fold(self.0, |all, word| all ^ u64::from_ne_bytes(*word));
    }
}

type IdentitySet = HashSet<NonZeroU128, BuildHasherDefault<Ready>>;

/// The records that there have been.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    responses: IdentitySet,
    contents_with_response: IdentitySet,
    contents_without: IdentitySet,
}

impl Ledger {
    /// Enters a record; false if there has been one that it equals.
    ///
    /// Two records that both have a response id are one if those are equal; any others, if their contents are.
    pub(crate) fn enter(&mut self, identity: Identity) -> bool {
        let Identity { response, content } = identity;
        let known = |set: &IdentitySet| content.is_some_and(|content| set.contains(&content));
        let is_new = match response {
            Some(id) => !self.responses.contains(&id) && !known(&self.contents_without),
            None => !known(&self.contents_without) && !known(&self.contents_with_response),
        };
        self.responses.extend(response);
        let contents = if response.is_some() { &mut self.contents_with_response } else { &mut self.contents_without };
        contents.extend(content);
        is_new
    }
}

/// A number that does not count, and why: `usage.cost.total: -1 is negative`.
pub(crate) type OnOdd<'a> = &'a mut dyn FnMut(String);

/// The fields of a usage object, in the order of [`Tokens`], and last its cost.
const FIELDS: [&str; 6] = ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"];

/// The parts of a `cost`, of which only the last counts.
const COST_PARTS: [&str; 5] = ["input", "output", "cacheRead", "cacheWrite", "total"];

/// Where a value that should be a usage object has its numbers. Of a repeated key the last counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw {
    value: Span,
    fields: [Option<Span>; FIELDS.len()],
    cost_parts: [Option<Span>; COST_PARTS.len()],
}

impl Raw {
    /// Passes the value ahead; None if it is null.
    pub(crate) fn scan(scanner: &mut Scanner<'_>) -> Result<Option<Self>, Faulty> {
        let (mut fields, mut cost_parts) = ([None; FIELDS.len()], [None; COST_PARTS.len()]);
        if scanner.peek() != Some(b'{') {
            let value = scanner.value_but_null()?;
            return Ok(value.map(|value| Self { value, fields, cost_parts }));
        }
        let value = scanner.object(|scanner, key| {
            let field = FIELDS.iter().position(|field| field.as_bytes() == key);
            let value = if key == b"cost" && scanner.peek() == Some(b'{') {
                cost_parts = [None; COST_PARTS.len()];
                scanner.object(|scanner, key| {
                    let part = COST_PARTS.iter().position(|part| part.as_bytes() == key);
                    let value = scanner.value()?;
                    if let Some(part) = part {
                        cost_parts[part] = Some(value);
                    }
                    Ok(())
                })?
            } else {
                scanner.value()?
            };
            if let Some(field) = field {
                fields[field] = Some(value);
            }
            Ok(())
        })?;
        Ok(Some(Self { value, fields, cost_parts }))
    }

    /// Its numbers: None, and a complaint, where it is no object.
    pub(crate) fn read(&self, line: &[u8], odd: OnOdd<'_>) -> Option<Numbers> {
        let raw = self.value.of(line);
        if raw.first() == Some(&b'{') {
            return Some(self.numbers(line, "usage", odd));
        }
        odd(format!("usage: expected an object, found {}", shown(raw)));
        None
    }

    fn numbers(&self, line: &[u8], path: &str, odd: OnOdd<'_>) -> Numbers {
        let of = |span: Option<Span>| Some(span?.of(line));
        let [counts @ .., cost] = self.fields;
        let mut numbers: [f64; FIELDS.len()] = Default::default();
        for ((number, span), key) in numbers.iter_mut().zip(counts).zip(FIELDS) {
            *number = counted(of(span), [path, key], odd);
        }
        let mut cost_parts = [0.0; COST_PARTS.len()];
        match of(cost) {
            Some(raw) if raw.first() != Some(&b'{') => {
                odd(format!("{path}.cost: expected an object, found {}; counted as 0", shown(raw)));
            }
            _ => {
                for ((number, span), key) in cost_parts.iter_mut().zip(self.cost_parts).zip(COST_PARTS) {
                    *number = counted(of(span), [path, "cost", key], odd);
                }
            }
        }
        [.., numbers[FIELDS.len() - 1]] = cost_parts;
        Numbers { tokens: numbers.into(), cost_parts }
    }
}

/// Reads the `modelUsage` of a tool result's `details`.
pub(crate) fn read_details(raw: Text<'_>, nesting: &mut Nesting, odd: OnOdd<'_>, found: &mut dyn FnMut(Numbers)) {
    if let Some(value) = member(raw, b"modelUsage", nesting) {
        read_model_usage(value, nesting, odd, found);
    }
}

/// Reads a `details.modelUsage` value: one usage object, a list of them, or an object whose values are or hold such.
fn read_model_usage(raw: Text<'_>, nesting: &mut Nesting, odd: OnOdd<'_>, found: &mut dyn FnMut(Numbers)) {
    // Values within the value that is walked are scanned with a nesting of their own.
    let mut inner = Nesting::default();
    let mut read = |object: Text<'_>| {
        let scanned = Raw::scan(&mut Scanner::new(object, &mut inner));
        if let Ok(Some(raw)) = scanned {
            found(raw.numbers(object.bytes(), "modelUsage", odd));
        }
    };
    match raw.bytes().first() {
        Some(b'{') if is_usage(raw, nesting) => read(raw),
        Some(b'{') => {
            for value in values(raw, nesting) {
                if is_usage(value, nesting) {
                    read(value);
                } else if let Some(held) = member(value, b"usage", nesting).filter(is_object) {
                    read(held);
                }
            }
        }
        Some(b'[') => for_elements(raw, nesting, |element| {
            if is_usage(element, &mut Nesting::default()) {
                read(element);
            }
        }),
        _ => {}
    }
}

/// The number, if it counts; else 0, with a complaint unless it is missing.
fn counted<const N: usize>(raw: Option<&[u8]>, path: [&str; N], odd: OnOdd<'_>) -> f64 {
    let Some(raw) = raw else { return 0.0 };
    let why = match number(raw) {
        Some(number) if number < 0.0 => "is negative",
        Some(number) if number.is_infinite() => "is too large",
        Some(number) => return number + 0.0, // so that -0 is 0
        None => "is no number",
    };
    odd(format!("{}: {} {why}; counted as 0", path.join("."), shown(raw)));
    0.0
}

/// A value as a complaint quotes it.
fn shown(raw: &[u8]) -> String {
    // More bytes than an excerpt can have characters: the rest need not be decoded.
    excerpt(&String::from_utf8_lossy(&raw[..raw.len().min(400)]))
}

fn is_object(raw: &Text<'_>) -> bool {
    raw.bytes().first() == Some(&b'{')
}

/// Whether a value is an object with a key that only usage has.
fn is_usage(raw: Text<'_>, nesting: &mut Nesting) -> bool {
    let mut found = false;
    if is_object(&raw) {
        for_members(raw, nesting, |key, _| {
            found |= matches!(key, b"input" | b"output" | b"cacheRead" | b"cacheWrite" | b"totalTokens" | b"cost");
        });
    }
    found
}

/// The value under `key`, the last if there are several.
fn member<'a>(raw: Text<'a>, wanted: &[u8], nesting: &mut Nesting) -> Option<Text<'a>> {
    let mut found = None;
    if is_object(&raw) {
        for_members(raw, nesting, |key, value| {
            if key == wanted {
                found = Some(value);
            }
        });
    }
    found
}

/// The values of an object that are objects, in the order of their keys' first appearance, each key's last.
fn values<'a>(raw: Text<'a>, nesting: &mut Nesting) -> Vec<Text<'a>> {
    // Keys by their hashes: a hostile object has as many as fit its line, and they are not to be copied.
    let hasher = RandomState::new();
    let mut found: Vec<Text<'_>> = Vec::new();
    let mut indexes = HashMap::new();
    for_members(raw, nesting, |key, value| match indexes.entry(hasher.hash_one(key)) {
        Entry::Occupied(index) => found[*index.get()] = value,
        Entry::Vacant(index) => {
            index.insert(found.len());
            found.push(value);
        }
    });
    found.retain(is_object);
    found
}

fn for_elements<'a>(raw: Text<'a>, nesting: &mut Nesting, mut element: impl FnMut(Text<'a>)) {
    let walked = Scanner::new(raw, nesting).array(|scanner| {
        element(raw.part(scanner.value()?.range()));
        Ok(())
    });
    debug_assert!(walked.is_ok(), "the line was scanned before");
}

fn for_members<'a>(raw: Text<'a>, nesting: &mut Nesting, mut member: impl FnMut(&[u8], Text<'a>)) {
    let walked = Scanner::new(raw, nesting).object(|scanner, key| {
        member(key, raw.part(scanner.value()?.range()));
        Ok(())
    });
    debug_assert!(walked.is_ok(), "the line was scanned before");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::Marked;

    fn model_usage(raw: &str) -> Vec<f64> {
        let mut found = Vec::new();
        read_model_usage(Marked::new(raw.as_bytes()).text(), &mut Nesting::default(), &mut |_| (), &mut |one| {
            found.push(one.tokens.input);
        });
        found
    }

    #[test]
    fn model_usage_has_three_shapes() {
        assert_eq!(model_usage(r#"{"input":1}"#), [1.0]);
        assert_eq!(model_usage(r#"[{"input":1},{"output":2},{"x":{"input":9}},3]"#), [1.0, 0.0]);
        assert_eq!(model_usage(r#"{"a":{"input":1},"b":{"usage":{"input":2}},"c":{"usage":3},"d":4}"#), [1.0, 2.0]);
        assert_eq!(model_usage(r#"{"a":{"input":1},"b":{"input":2},"a":{"input":3}}"#), [3.0, 2.0]);
        assert!(model_usage("7").is_empty());
    }

    #[test]
    fn odd_numbers_count_nothing_and_are_told() {
        let mut told = Vec::new();
        let raw = br#"{"input":-5,"output":"4","cacheRead":null,"cacheWrite":true,"totalTokens":1e400,"cost":0.5}"#;
        let marked = Marked::new(raw);
        let mut nesting = Nesting::default();
        let scanned = Raw::scan(&mut Scanner::new(marked.text(), &mut nesting)).unwrap().unwrap();
        let tokens = scanned.read(raw, &mut |odd| told.push(odd));
        assert_eq!(tokens, Some(Numbers::default()));
        assert_eq!(told.len(), 6);
        assert_eq!(told[0], "usage.input: -5 is negative; counted as 0");
        assert_eq!(told[5], "usage.cost: expected an object, found 0.5; counted as 0");
    }

    #[test]
    fn a_record_is_known_by_response_or_else_by_content() {
        let keys = IdentityKeys::default();
        let one = |response, id| keys.identity(keys.holder(response, Some((id, None))), &Numbers::default(), 0);
        let mut ledger = Ledger::default();
        assert!(ledger.enter(one(Some("r1"), "a")));
        assert!(!ledger.enter(one(Some("r1"), "b")), "the same response");
        assert!(ledger.enter(one(Some("r2"), "a")), "another response, though the entry is the same");
        assert!(!ledger.enter(one(None, "a")), "the same entry, and one has no response id");
        assert!(ledger.enter(one(None, "c")));
        assert!(!ledger.enter(one(Some("r3"), "c")));
        assert!(!ledger.enter(one(Some("r3"), "d")), "one that is left out is known all the same");
        assert!(ledger.enter(keys.identity(keys.holder(None, None), &Numbers::default(), 0)));
        assert!(ledger.enter(keys.identity(keys.holder(None, None), &Numbers::default(), 0)), "nothing to know it by");
    }
}
