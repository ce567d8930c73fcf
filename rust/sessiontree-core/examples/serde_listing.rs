//! What "rewritten in Rust" usually means: whole files, a struct that borrows for each line, `serde_json`, and rayon over files.
//!
//! It makes the facts of a listing, but is not exact: a line that its structs do not fit is passed over, without a word.
//! `serde_listing FOLDER` is a contestant of the benchmarks: see `benches/contest.py`.

mod rounds;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    r#type: &'a str,
    id: Option<&'a str>,
    parent_id: Option<&'a str>,
    timestamp: Option<&'a str>,
    cwd: Option<Cow<'a, str>>,
    parent_session: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    role: &'a str,
    /// Decoded for the first text only.
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    timestamp: Option<i64>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content<'a> {
    #[serde(borrow)]
    Text(Cow<'a, str>),
    #[serde(borrow)]
    Blocks(Vec<Block<'a>>),
}

#[derive(Deserialize)]
struct Block<'a> {
    r#type: &'a str,
    text: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Usage {
    input: Option<f64>,
    output: Option<f64>,
    cost: Option<Cost>,
}

#[derive(Deserialize)]
struct Cost {
    total: Option<f64>,
}

#[derive(Default)]
#[expect(dead_code, reason = "a listing has them all, though the benchmarks compare but a few")]
struct Info {
    id: String,
    cwd: String,
    parent_session: Option<String>,
    name: Option<String>,
    created: Option<i64>,
    modified: i64,
    message_count: usize,
    entry_count: usize,
    first_message: Option<String>,
    leaf_id: Option<String>,
    tip_count: usize,
    tokens: f64,
    cost: f64,
}

fn main() -> io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_default());
    rounds::serve(|| list(&folder), |infos| json(&infos))
}

fn list(folder: &Path) -> io::Result<Vec<(PathBuf, Info)>> {
    let read = |path: &PathBuf| Ok(info(&fs::read(path)?).map(|info| (path.clone(), info)));
    let infos: io::Result<Vec<_>> = rounds::files(folder, "jsonl")?.par_iter().map(read).collect();
    let mut infos: Vec<_> = infos?.into_iter().flatten().collect();
    infos.sort_by_key(|(_, info)| std::cmp::Reverse(info.modified));
    Ok(infos)
}

fn info(bytes: &[u8]) -> Option<Info> {
    let mut lines = bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice::<Line<'_>>(line).ok());
    let header = lines.next().filter(|line| line.r#type == "session")?;
    let mut info = Info {
        id: header.id?.to_owned(),
        cwd: header.cwd.unwrap_or_default().into_owned(),
        parent_session: header.parent_session.map(Cow::into_owned),
        created: header.timestamp.and_then(milliseconds),
        ..Info::default()
    };
    let (mut ids, mut parents) = (Vec::new(), HashSet::new());
    for line in lines {
        info.entry_count += 1;
        ids.extend(line.id);
        parents.extend(line.parent_id);
        match line.r#type {
            "session_info" => info.name = line.name.map(Cow::into_owned),
            "message" => info.add(line.message, line.timestamp),
            _ => (),
        }
    }
    info.leaf_id = ids.last().map(|&id| id.to_owned());
    info.tip_count = ids.iter().filter(|id| !parents.contains(*id)).count();
    info.modified = if info.modified > 0 { info.modified } else { info.created.unwrap_or_default() };
    Some(info)
}

impl Info {
    fn add(&mut self, message: Option<Message<'_>>, timestamp: Option<&str>) {
        self.message_count += 1;
        let Some(message) = message else { return };
        if let Some(usage) = message.usage {
            self.tokens += usage.input.unwrap_or_default() + usage.output.unwrap_or_default();
            self.cost += usage.cost.and_then(|cost| cost.total).unwrap_or_default();
        }
        if matches!(message.role, "user" | "assistant") {
            let time = message.timestamp.or_else(|| timestamp.and_then(milliseconds));
            self.modified = self.modified.max(time.unwrap_or_default());
        }
        if message.role == "user" && self.first_message.is_none() {
            self.first_message = message.content.and_then(text).filter(|text| !text.is_empty());
        }
    }
}

fn text(content: &RawValue) -> Option<String> {
    match serde_json::from_str(content.get()).ok()? {
        Content::Text(text) => Some(text.into_owned()),
        Content::Blocks(blocks) => {
            let texts = blocks.into_iter().filter(|block| block.r#type == "text").filter_map(|block| block.text);
            Some(texts.collect::<Vec<_>>().join(" "))
        }
    }
}

/// Unix milliseconds of the one form that programs write, `2026-01-05T10:00:00.000Z`.
fn milliseconds(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    // Years that begin in March, so that a leap day is a year's last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    let seconds = ((days * 24 + number(11, 13)?) * 60 + number(14, 16)?) * 60 + number(17, 19)?;
    Some(seconds * 1000 + number(20, 23)?)
}

fn json(infos: &[(PathBuf, Info)]) -> String {
    let rows = infos.iter().map(|(path, info)| {
        let first = info.first_message.as_deref().unwrap_or("(no messages)");
        (path.to_string_lossy(), (info.message_count, info.modified, first))
    });
    serde_json::to_string(&rows.collect::<BTreeMap<_, _>>()).unwrap_or_default()
}
