//! What the catalogue keeps of a file, to bytes and back. Bytes that say anything else give nothing.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Damage, DamageKind, Place};
use crate::info::{SessionInfo, Stamp};
use crate::usage::{Identity, Record, Tokens};

/// What a listing found in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Listed {
    Session(Box<SessionInfo>, Vec<Damage>),
    /// No session; the report says what it is instead.
    NoSession(Damage),
}

/// The same as it is kept: without what is known anyway.
#[derive(Serialize, Deserialize)]
enum Kept<Info, Text> {
    Session(Info, Vec<Report<Text>>),
    NoSession(Report<Text>),
}

/// A [`Damage`] without its path, which is the file's.
#[derive(Serialize, Deserialize)]
struct Report<Text> {
    kind: DamageKind,
    place: Option<Place>,
    reason: Text,
    errno: Option<i32>,
}

/// The bytes of what was found, without the path, the stamp, and all messages' text.
pub(crate) fn encode_listed(listed: &Listed) -> Vec<u8> {
    encode(&match listed {
        Listed::Session(info, damage) => Kept::Session(&**info, damage.iter().map(report).collect()),
        Listed::NoSession(damage) => Kept::NoSession(report(damage)),
    })
}

fn report(damage: &Damage) -> Report<&str> {
    let Damage { kind, place, errno, .. } = *damage;
    Report { kind, place, reason: &damage.reason, errno }
}

/// What was found in the file at that path, when it had this stamp.
pub(crate) fn decode_listed(bytes: &[u8], path: &Path, stamp: Stamp) -> Option<Listed> {
    Some(match decode::<Kept<SessionInfo, String>>(bytes)? {
        Kept::Session(info, reports) => {
            let info = SessionInfo { path: path.to_owned(), stamp, ..info };
            Listed::Session(Box::new(info), damages(reports, path))
        }
        Kept::NoSession(report) => Listed::NoSession(damage(report, &path.into())),
    })
}

fn damages(reports: Vec<Report<String>>, path: &Path) -> Vec<Damage> {
    if reports.is_empty() {
        return Vec::new();
    }
    let path: Arc<Path> = path.into();
    reports.into_iter().map(|report| damage(report, &path)).collect()
}

fn damage(Report { kind, place, reason, errno }: Report<String>, path: &Arc<Path>) -> Damage {
    Damage { kind, path: Arc::clone(path), place, reason, errno }
}

/// Usage records as they are kept: each model's name once.
#[derive(Serialize, Deserialize)]
struct Records {
    models: Vec<Arc<str>>,
    /// Each with the number of its model.
    records: Vec<(usize, Tokens, Identity)>,
}

/// The bytes of a session's usage records.
pub(crate) fn encode_records(records: &[Record]) -> Vec<u8> {
    let (mut models, mut numbers) = (Vec::new(), HashMap::new());
    let record = |record: &'_ Record| {
        let number = *numbers.entry(Arc::clone(&record.model)).or_insert_with(|| {
            models.push(Arc::clone(&record.model));
            models.len() - 1
        });
        (number, record.tokens, record.identity)
    };
    let records = records.iter().map(record).collect();
    encode(&Records { models, records })
}

/// The usage records that were encoded; those of one model share its name.
pub(crate) fn decode_records(bytes: &[u8]) -> Option<Vec<Record>> {
    let Records { models, records } = decode(bytes)?;
    let record = |(number, tokens, identity)| {
        models.get(number).map(|model: &Arc<str>| Record { tokens, model: Arc::clone(model), identity })
    };
    records.into_iter().map(record).collect()
}

fn encode(value: &impl Serialize) -> Vec<u8> {
    // Nothing of what is encoded here can fail: it holds no map or list of unknown length.
    postcard::to_allocvec(value).unwrap_or_default()
}

/// All of the bytes, or nothing.
fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::PathBuf;

    use crate::info::Format;
    use crate::usage::Usage;

    fn tokens() -> impl Strategy<Value = Tokens> {
        any::<[f64; 6]>().prop_map(Tokens::from)
    }

    prop_compose! {
        fn info()(
            (id, cwd, first_message) in any::<(String, String, String)>(),
            (name, parent_session, leaf_id) in any::<(Option<String>, Option<String>, Option<String>)>(),
            (created_ms, modified_ms, version) in any::<(Option<i64>, i64, i64)>(),
            [message_count, size_bytes, entry_count, tip_count, damage_count] in any::<[u64; 5]>(),
            total in tokens(),
            by_model in prop::collection::btree_map(any::<String>().prop_map(Arc::from), tokens(), 0..3),
        ) -> SessionInfo {
            SessionInfo {
                path: PathBuf::new(), id, cwd, name, parent_session, created_ms, modified_ms, message_count, first_message,
                all_messages_text: None, size_bytes, entry_count, leaf_id, tip_count, usage: Usage { total, by_model },
                damage_count, version, stamp: Stamp::default(), format: Format::Replio,
            }
        }
    }

    fn damage() -> impl Strategy<Value = Damage> {
        use DamageKind::{Bytes, Circle, File, Header, Joined, Line, Parent, Repeated, Tip, Value};
        let kind = prop::sample::select(vec![File, Line, Joined, Bytes, Header, Repeated, Parent, Circle, Tip, Value]);
        (kind, any::<Option<(u64, u64)>>(), any::<String>(), any::<Option<i32>>()).prop_map(
            |(kind, at, reason, errno)| {
                let place = at.map(|(line, offset)| Place { line, offset });
                Damage { kind, path: Path::new("").into(), place, reason, errno }
            },
        )
    }

    fn record() -> impl Strategy<Value = Record> {
        let model = prop::sample::select(vec!["a/b", "c/d", ""]).prop_map(Arc::from);
        (tokens(), model, any::<[[u8; 16]; 2]>()).prop_map(|(tokens, model, identity)| Record {
            tokens,
            model,
            identity: identity.into(),
        })
    }

    proptest! {
        #[test]
        fn what_is_listed_comes_back(info in info(), damage in prop::collection::vec(damage(), 0..3), number in any::<u64>()) {
            let stamp = Stamp { inode: number, ..Stamp::default() };
            let path = Path::new("/somewhere");
            let damage: Vec<_> = damage.into_iter().map(|damage| Damage { path: path.into(), ..damage }).collect();
            let listed = Listed::Session(Box::new(SessionInfo { path: path.into(), stamp, ..info }), damage);
            prop_assert_eq!(decode_listed(&encode_listed(&listed), path, stamp), Some(listed));
        }

        #[test]
        fn records_come_back(records in prop::collection::vec(record(), 0..5)) {
            prop_assert_eq!(decode_records(&encode_records(&records)), Some(records));
        }

        #[test]
        fn any_bytes_can_be_looked_at(mut bytes in prop::collection::vec(any::<u8>(), 0..200), info in info(), at in any::<prop::sample::Index>()) {
            let look = |bytes: &[u8]| {
                decode_listed(bytes, Path::new(""), Stamp::default());
                decode_records(bytes);
            };
            look(&bytes);
            let whole = encode_listed(&Listed::Session(Box::new(info), Vec::new()));
            let at = at.index(whole.len());
            prop_assert_eq!(decode_listed(&whole[..at], Path::new(""), Stamp::default()), None);
            bytes.splice(..0, whole[..at].iter().copied());
            look(&bytes);
        }
    }

    #[test]
    fn no_session_and_odd_numbers_come_back() {
        let place = Some(Place { line: 3, offset: 70 });
        let listed = Listed::NoSession(Damage { place, ..Damage::unusable(Path::new("a"), "it is cut off") });
        assert_eq!(decode_listed(&encode_listed(&listed), Path::new("a"), Stamp::default()), Some(listed));
        let zero = Record {
            tokens: [-0.0, f64::MAX, 5e-324, 0.1, 0.0, 1.0].into(),
            model: "".into(),
            identity: [[0; 16]; 2].into(),
        };
        let [back] = decode_records(&encode_records(std::slice::from_ref(&zero))).unwrap().try_into().unwrap();
        assert_eq!(<[f64; 6]>::from(back.tokens).map(f64::to_bits), <[f64; 6]>::from(zero.tokens).map(f64::to_bits));
    }

    #[test]
    fn what_claims_to_be_long_is_not_believed() {
        for count in 0..12 {
            let bytes = [&[0, 255, 255, 255, 255, 255, 255][..], &vec![0; count]].concat();
            assert_eq!(decode_listed(&bytes, Path::new(""), Stamp::default()), None);
            assert_eq!(decode_records(&bytes[1..]), None);
        }
        assert_eq!(decode_records(&[0, 1, 0]), None, "a model that is not there");
    }
}
