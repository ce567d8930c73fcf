//! What no reader of these files can beat: reading every byte and counting the LFs, on as many threads as there are.
//!
//! `floor FOLDER THREADS` reads each `*.jsonl` below the folder once for every line on standard input, and answers with the
//! count, so that a benchmark can time rounds without the start of a process.

use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const BLOCK: usize = 256 << 10;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_default());
    let threads = arguments.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(1);
    let mut files = Vec::new();
    find(&folder, &mut files)?;
    // The largest first, as the product reads them.
    files.sort_by_key(|&(_, size)| std::cmp::Reverse(size));
    for line in io::stdin().lock().lines() {
        line?;
        writeln!(io::stdout(), "{}", round(&files, threads)?)?;
    }
    Ok(())
}

fn find(folder: &Path, files: &mut Vec<(PathBuf, u64)>) -> io::Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        let (path, metadata) = (entry.path(), entry.metadata()?);
        if metadata.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push((path, metadata.len()));
        }
    }
    Ok(())
}

fn round(files: &[(PathBuf, u64)], threads: usize) -> io::Result<usize> {
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut count, mut buffer) = (0, vec![0; BLOCK]);
        while let Some((path, _)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            count += lines(path, &mut buffer)?;
        }
        io::Result::Ok(count)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| Err(io::Error::other("lost")))).sum()
    })
}

fn lines(path: &Path, buffer: &mut [u8]) -> io::Result<usize> {
    let (mut file, mut count) = (File::open(path)?, 0);
    loop {
        match file.read(buffer)? {
            0 => return Ok(count),
            length => count += memchr::memchr_iter(b'\n', &buffer[..length]).count(),
        }
    }
}
