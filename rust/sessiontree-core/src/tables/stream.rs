//! A stream of batches: files are read in parallel, their rows come in order, and only a few batches wait.
//!
//! Sessions that follow each other are a job, until they come to [`JOB_BYTES`]. Each job has a channel, and the jobs ahead of
//! the one whose turn it is are a bounded window: so what waits is bounded by the number of channels, and by what each holds.
//! All never wait for each other: the job whose turn it is was begun before those ahead, and its channel is being emptied. A
//! worker whose channel is full gives back its permit while it waits, so that a stream which nobody reads on keeps no scan
//! from its work.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::vec;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::visit::visit;
use crate::elyra::{Visit, Visitor};
use crate::error::{Error, Result, words};
use crate::info::Listed;
use crate::lines::Buffer;
use crate::usage::{Identity, IdentityKeys, Ledger};
use crate::workers::{self, Permit};

/// How large a job is, in bytes of session files: enough that a batch of small sessions is worth its handling.
const JOB_BYTES: u64 = 4 << 20;

/// A batch that holds so many bytes of text, or so many rows, is handed over.
const BATCH_BYTES: usize = 2 << 20;
const BATCH_ROWS: usize = 32 << 10;

/// How many batches may wait in a job's channel: all of an ordinary job's, so that its worker can turn to another.
const BATCHES_WAITING: usize = 4;

/// How many jobs are begun or done ahead, for each worker.
const JOBS_PER_WORKER: usize = 2;

/// The session that an entry is of.
pub(super) struct Origin<'a> {
    pub(super) listed: &'a Listed,
    /// As text: U+FFFD for what is none.
    pub(super) path: Cow<'a, str>,
    pub(super) session_id: String,
}

/// Makes a table's rows of entries, and gathers them.
pub(super) trait Rows {
    /// Adds the rows of an entry, and hands over what has gathered whenever it is much.
    fn add(&mut self, origin: &Origin<'_>, visit: &mut Visit<'_, '_>, output: &mut Output) -> Result<()>;

    /// A session has ended.
    fn end(&mut self) {}

    /// How many rows have gathered, and how many bytes of text.
    fn size(&self) -> (usize, usize);

    /// What has gathered; there is nothing then.
    fn take(&mut self) -> Piece;

    /// Whether it is time to hand over what has gathered.
    fn is_much(&self) -> bool {
        let (rows, bytes) = self.size();
        rows >= BATCH_ROWS || bytes >= BATCH_BYTES
    }
}

/// Begins a table's rows; the keys are those of the whole stream.
pub(super) type Maker = fn(&Arc<IdentityKeys>) -> Box<dyn Rows>;

/// What has gathered of a table, as far as its sessions can tell.
pub(super) struct Piece {
    pub(super) columns: Vec<ArrayRef>,
    /// Of usage records: by these the last column is told, once all that comes before is known.
    pub(super) identities: Option<Vec<Identity>>,
}

/// What a worker has to say of a job.
enum News {
    Piece(Piece),
    Failed(Error),
    Done,
}

/// Where a worker hands over what it has made.
pub(super) struct Output {
    sender: SyncSender<News>,
    permit: Option<Permit>,
    crew: Arc<Crew>,
}

impl Output {
    pub(super) fn send(&mut self, piece: Piece) {
        self.say(News::Piece(piece));
    }

    /// Says it, waiting if need be; to nobody, if nobody listens any more.
    fn say(&mut self, news: News) {
        if let Err(TrySendError::Full(news)) = self.sender.try_send(news) {
            self.permit = None;
            if self.sender.send(news).is_ok() {
                self.permit = self.crew.permit();
            }
        }
    }

    /// Lets others work for a while, if it is their turn.
    fn give_way(&mut self) {
        if self.permit.as_ref().is_some_and(Permit::is_due) {
            self.permit = None;
            self.permit = self.crew.permit();
        }
    }

    /// Whether nobody waits for anything any more.
    pub(super) fn is_stopped(&self) -> &AtomicBool {
        &self.crew.is_stopped
    }
}

/// Some sessions, and where to say what comes of them.
struct Job {
    files: Vec<Listed>,
    sender: SyncSender<News>,
}

/// What all workers of a stream know.
struct Crew {
    rows: Maker,
    keys: Arc<IdentityKeys>,
    limit: usize,
    is_stopped: AtomicBool,
    jobs: Mutex<Receiver<Job>>,
}

impl Crew {
    fn permit(&self) -> Option<Permit> {
        Permit::acquire(self.limit, || self.is_stopped.load(Ordering::Relaxed))
    }

    /// Works until there are no more jobs to come.
    fn work(self: Arc<Self>) {
        let mut buffer = Buffer::default();
        let next = || self.jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        while let Ok(Job { files, sender }) = next() {
            let Some(permit) = self.permit() else { return };
            let mut output = Output { sender, permit: Some(permit), crew: Arc::clone(&self) };
            let news = self.read(&files, &mut buffer, &mut output).map_or_else(News::Failed, |()| News::Done);
            output.say(news);
        }
    }

    fn read(&self, files: &[Listed], buffer: &mut Buffer, output: &mut Output) -> Result<()> {
        let mut rows = (self.rows)(&self.keys);
        for listed in files {
            let origin = Origin { listed, path: listed.path.to_string_lossy(), session_id: String::new() };
            let mut feed = Feed { rows: &mut *rows, output, origin, failed: Ok(()) };
            visit(listed, buffer, &self.is_stopped, &mut feed)?;
            feed.failed?;
            rows.end();
        }
        if rows.size().0 > 0 {
            output.send(rows.take());
        }
        Ok(())
    }
}

/// Leads a session's entries to the rows.
struct Feed<'a> {
    rows: &'a mut dyn Rows,
    output: &'a mut Output,
    origin: Origin<'a>,
    failed: Result<()>,
}

impl Visitor for Feed<'_> {
    fn session(&mut self, id: &str) {
        id.clone_into(&mut self.origin.session_id);
    }

    fn entry(&mut self, visit: &mut Visit<'_, '_>) {
        self.output.give_way();
        if self.failed.is_ok() {
            self.failed = self.rows.add(&self.origin, visit, self.output);
        }
    }
}

/// The batches of a table, in order.
pub(super) struct Stream {
    schema: SchemaRef,
    rows: Maker,
    state: State,
}

enum State {
    /// Nobody has asked for anything.
    Waiting(Vec<Listed>),
    Running(Box<Running>),
    /// All batches have been handed out, or one could not be made.
    Ended,
}

impl Stream {
    pub(super) fn new(schema: SchemaRef, rows: Maker, files: Vec<Listed>) -> Self {
        Self { schema, rows, state: State::Waiting(files) }
    }

    fn advance(&mut self) -> Result<Option<Piece>> {
        if let State::Waiting(files) = &mut self.state {
            let files = mem::take(files);
            self.state = if files.is_empty() {
                State::Ended
            } else {
                State::Running(Box::new(Running::start(self.rows, files)?))
            };
        }
        match &mut self.state {
            State::Running(running) => running.next(),
            _ => Ok(None),
        }
    }

    /// Whether it was begun in another process, whose fork this one is: it has none of the workers.
    fn is_anothers(&self) -> bool {
        matches!(&self.state, State::Running(running) if running.process != std::process::id())
    }

    fn end(&mut self) {
        let is_anothers = self.is_anothers();
        let state = mem::replace(&mut self.state, State::Ended);
        if is_anothers {
            // A worker may have held a lock of a channel when the process was forked: nobody is left to give it back.
            mem::forget(state);
        }
    }

    fn batch(&mut self, piece: Piece) -> std::result::Result<RecordBatch, ArrowError> {
        let Piece { mut columns, identities } = piece;
        if let (Some(identities), State::Running(running)) = (identities, &mut self.state) {
            columns.push(running.repeated(identities));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.end();
    }
}

impl Iterator for Stream {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_anothers() {
            self.end();
            return Some(Err(ArrowError::ComputeError("the stream was begun in another process".to_owned())));
        }
        let batch = match self.advance() {
            Ok(Some(piece)) => Some(self.batch(piece)),
            Ok(None) => None,
            Err(error) => Some(Err(to_arrow(error))),
        };
        if !matches!(batch, Some(Ok(_))) {
            self.end();
        }
        batch
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// A stream that has been begun.
struct Running {
    files: vec::IntoIter<Listed>,
    /// The channels of the jobs that were given out, in order.
    ahead: VecDeque<Receiver<News>>,
    window: usize,
    jobs: Sender<Job>,
    crew: Arc<Crew>,
    ledger: Ledger,
    /// Whose threads the workers are.
    process: u32,
}

impl Running {
    fn start(rows: Maker, files: Vec<Listed>) -> Result<Self> {
        let limit = workers::limit();
        let (jobs, receiver) = channel();
        let jobs_to_do = Mutex::new(receiver);
        let crew = Crew { rows, keys: Arc::default(), limit, is_stopped: AtomicBool::new(false), jobs: jobs_to_do };
        let running = Self {
            window: limit * JOBS_PER_WORKER,
            ahead: VecDeque::new(),
            jobs,
            crew: Arc::new(crew),
            ledger: Ledger::default(),
            process: std::process::id(),
            files: files.into_iter(),
        };
        for _ in 0..limit.min(running.files.len()) {
            let crew = Arc::clone(&running.crew);
            thread::Builder::new()
                .name("sessiontree".to_owned())
                .spawn(|| crew.work())
                .map_err(|error| Error::NoThreads { reason: error.to_string() })?;
        }
        Ok(running)
    }

    /// What comes next; None at the end.
    fn next(&mut self) -> Result<Option<Piece>> {
        loop {
            while self.ahead.len() < self.window && self.give_out() {}
            let Some(first) = self.ahead.front() else { return Ok(None) };
            match first.recv() {
                Ok(News::Piece(piece)) => return Ok(Some(piece)),
                Ok(News::Failed(error)) => return Err(error),
                Ok(News::Done) => _ = self.ahead.pop_front(),
                Err(_) => return Err(Error::WorkerLost),
            }
        }
    }

    /// Gives out one more job; false if there is none.
    fn give_out(&mut self) -> bool {
        let (mut files, mut size_bytes) = (Vec::new(), 0);
        while size_bytes < JOB_BYTES
            && let Some(listed) = self.files.next()
        {
            size_bytes += listed.size_bytes;
            files.push(listed);
        }
        if files.is_empty() {
            return false;
        }
        let (sender, receiver) = sync_channel(BATCHES_WAITING);
        self.ahead.push_back(receiver);
        // The crew holds the other end as long as this one is there.
        _ = self.jobs.send(Job { files, sender });
        true
    }

    /// Which of the records equal an earlier one of any session.
    fn repeated(&mut self, identities: Vec<Identity>) -> ArrayRef {
        let repeated: BooleanArray =
            identities.into_iter().map(|identity| Some(!self.ledger.enter(identity))).collect();
        Arc::new(repeated)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.crew.is_stopped.store(true, Ordering::Relaxed);
    }
}

/// What a consumer is told: the path, and the reason.
fn to_arrow(error: Error) -> ArrowError {
    match error {
        Error::Io { path, source } => {
            let told = format!("{}: {}", path.display(), words(&source));
            ArrowError::IoError(told, source)
        }
        Error::Conflict { path, reason } => {
            let told = format!("{}: {reason}", path.display());
            ArrowError::IoError(told, io::Error::other(reason))
        }
        Error::NoThreads { reason } => ArrowError::MemoryError(format!("no thread could be started: {reason}")),
        _ => ArrowError::ComputeError("a thread of the stream ended early".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::ops::ControlFlow;

    use super::*;
    use crate::tables::Table;
    use crate::workers::IN_USE;
    use crate::{Options, Source, scan};

    const SESSIONS: usize = 9;
    const MESSAGES: usize = 256;

    /// Sessions of 1 MB each, in the order of their names.
    fn listed(folder: &tempfile::TempDir) -> Vec<Listed> {
        for session in 0..SESSIONS {
            let header = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n".to_owned();
            let (content, time) = ("x".repeat(4000), SESSIONS - session);
            let message = format!("{{\"role\":\"user\",\"content\":\"{content}\",\"timestamp\":{time}}}");
            let line = |id| format!("{{\"type\":\"message\",\"id\":\"{id}\",\"message\":{message}}}\n");
            let text: String = std::iter::once(header).chain((0..MESSAGES).map(line)).collect();
            fs::write(folder.path().join(format!("{session}.jsonl")), text).unwrap();
        }
        let source = [Source::Flat(folder.path().to_owned())];
        let found = scan(&source, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        found.infos.iter().map(Into::into).collect()
    }

    fn stream(table: Table, files: Vec<Listed>) -> Stream {
        Stream::new(table.schema(), table.rows().unwrap(), files)
    }

    #[test]
    fn batches_come_in_order_and_end() {
        let _alone = IN_USE.lock();
        let folder = tempfile::tempdir().unwrap();
        let mut stream = stream(Table::Messages, listed(&folder));
        let rows: Vec<_> = stream.by_ref().map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!(rows.iter().sum::<usize>(), SESSIONS * MESSAGES);
        assert!(rows.len() > 3, "much is not handed over at once");
        assert!(stream.next().is_none());
    }

    #[test]
    fn a_changed_file_ends_the_stream_after_what_comes_before() {
        let _alone = IN_USE.lock();
        let folder = tempfile::tempdir().unwrap();
        let files = listed(&folder);
        fs::write(&files[5].path, "").unwrap();
        let mut batches: Vec<_> = stream(Table::Entries, files).collect();
        let error = batches.pop().unwrap().unwrap_err().to_string();
        assert!(error.ends_with("5.jsonl: the file has changed since it was listed"), "{error}");
        let rows: usize = batches.into_iter().map(|batch| batch.unwrap().num_rows()).sum();
        assert!((MESSAGES..=5 * MESSAGES).contains(&rows), "{rows}");
    }

    #[test]
    fn workers_end_with_the_stream() {
        let _alone = IN_USE.lock();
        let folder = tempfile::tempdir().unwrap();
        let mut stream = stream(Table::Messages, listed(&folder));
        stream.next().unwrap().unwrap();
        let State::Running(running) = &stream.state else { panic!("it is running") };
        let crew = Arc::downgrade(&running.crew);
        drop(stream);
        while crew.strong_count() > 0 {
            thread::yield_now();
        }
    }
}
