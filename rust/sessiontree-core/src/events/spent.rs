//! What one message, compaction or entry of a stream used.

use crate::json::{Nesting, Scanner};
use crate::marks::Marked;
use crate::usage::{Raw, Tokens, read_details};

/// The usage records that one holder has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    pub records: Vec<Tokens>,
    /// Numbers that do not count, in words.
    pub odd: Vec<String>,
}

/// Reads the `usage` and the `details.modelUsage` of a JSON object; None if it is none.
#[must_use]
pub fn spent(holder: &[u8]) -> Option<Spent> {
    let marked = Marked::new(holder);
    let (mut usage, mut details) = (None, None);
    let (mut nesting, mut spent) = (Nesting::default(), Spent::default());
    let mut scanner = Scanner::new(marked.text(), &mut nesting);
    if scanner.peek() != Some(b'{') {
        return None;
    }
    let walked = scanner.object(|scanner, key| {
        match key {
            b"usage" => usage = Raw::scan(scanner)?,
            b"details" => details = scanner.value_but_null()?,
            _ => _ = scanner.value()?,
        }
        Ok(())
    });
    walked.ok()?;
    let Spent { records, odd } = &mut spent;
    let mut is_odd = |what| odd.push(what);
    records.extend(usage.and_then(|raw| raw.read(holder, &mut is_odd)).map(|numbers| numbers.tokens));
    if let Some(details) = details {
        let details = marked.text().part(details.range());
        read_details(details, &mut nesting, &mut is_odd, &mut |numbers| records.push(numbers.tokens));
    }
    Some(spent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_records_are_found() {
        let holder =
            br#"{"usage":{"input":1,"cost":{"total":0.5}},"details":{"modelUsage":[{"output":2},{"input":-1}]}}"#;
        let Spent { records, odd } = spent(holder).unwrap();
        let of = |input, output, cost_total| Tokens { input, output, cost_total, ..Tokens::default() };
        assert_eq!(records, [of(1.0, 0.0, 0.5), of(0.0, 2.0, 0.0), of(0.0, 0.0, 0.0)]);
        assert_eq!(odd, ["modelUsage.input: -1 is negative; counted as 0"]);
    }

    #[test]
    fn what_is_no_record_counts_nothing() {
        assert_eq!(spent(b"{}"), Some(Spent::default()));
        assert_eq!(spent(br#"{"usage":null,"details":null}"#), Some(Spent::default()));
        assert_eq!(spent(br#"{"usage":7}"#).unwrap().odd, ["usage: expected an object, found 7"]);
        assert_eq!(spent(b"[]"), None);
        assert_eq!(spent(br#"{"usage":{"#), None);
    }
}
