//! What the examples share: the files to read, and rounds that start at a line on standard input.

use std::fmt::Display;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The files below a folder whose names end so, the largest first, as the product reads them.
pub(crate) fn files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    find(folder, extension, &mut files)?;
    files.sort_by_key(|&(_, size)| std::cmp::Reverse(size));
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

fn find(folder: &Path, extension: &str, files: &mut Vec<(PathBuf, u64)>) -> io::Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        let (path, metadata) = (entry.path(), entry.metadata()?);
        if metadata.is_dir() {
            find(&path, extension, files)?;
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push((path, metadata.len()));
        }
    }
    Ok(())
}

/// Speaks as every contestant does (`benches/contest.py`): `answer` gives the result, as JSON, `time` the seconds.
pub(crate) fn serve<T, J: Display>(job: impl Fn() -> io::Result<T>, json: impl Fn(T) -> J) -> io::Result<()> {
    writeln!(io::stdout(), "ready")?;
    for request in io::stdin().lock().lines() {
        if request? == "answer" {
            writeln!(io::stdout(), "{}", json(job()?))?;
        } else {
            let start = Instant::now();
            let result = job()?;
            let seconds = start.elapsed().as_secs_f64();
            drop(result);
            writeln!(io::stdout(), "{seconds}")?;
        }
    }
    Ok(())
}
