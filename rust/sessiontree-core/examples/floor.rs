//! What no reader of these files can beat: reading every byte and counting the LFs, on as many threads as there are.
//!
//! `floor FOLDER THREADS [EXTENSION]` is a contestant of the benchmarks: see `benches/contest.py`. The files are those
//! whose names end in `.jsonl`, unless told otherwise; finding them is not timed.

mod rounds;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const BLOCK: usize = 256 << 10;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_default());
    let threads = arguments.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(1);
    let extension = arguments.next().unwrap_or_else(|| "jsonl".into());
    let files = rounds::files(&folder, &extension.to_string_lossy())?;
    rounds::serve(|| round(&files, threads), |lines| lines)
}

fn round(files: &[PathBuf], threads: usize) -> io::Result<usize> {
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut count, mut buffer) = (0, vec![0; BLOCK]);
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
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
