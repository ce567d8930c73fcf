//! Bytes to the disk: whole lines appended, new files that never overwrite, files replaced as a whole.
//!
//! Whatever is interrupted, and whenever, leaves a file of whole lines behind: a new file and a replaced one are written under
//! a name of their own and get the real one when they are complete, and a line that could not be written to its end
//! is cut off again. Our own processes keep out of each other's way by an advisory lock on the file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::error::{Error, Result, Tick};
use crate::info::Stamp;

/// How long to wait before a lock is tried again; an append holds it for some microseconds.
const PAUSE: Duration = Duration::from_micros(100);

/// How often the caller is asked whether to go on waiting.
const TICK: Duration = Duration::from_millis(50);

/// A file to append to, which other processes of ours must wait for.
#[derive(Debug)]
pub(crate) struct Locked(File);

impl Locked {
    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing it alone would not do: a child that was forked meanwhile has it open, too, and would keep the lock.
        _ = self.0.unlock();
    }
}

/// Opens a file to append to, and keeps other processes of ours from doing so.
///
/// # Errors
///
/// [`Error::Io`] where it cannot be opened, [`Error::Stopped`] when `tick` breaks off the waiting.
pub(crate) fn open_locked(path: &Path, tick: Tick<'_>) -> Result<Locked> {
    let file = File::options().read(true).append(true).open(path).map_err(Error::io(path))?;
    let mut last_tick = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Locked(file)),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            // A file system without locks: appends are whole lines all the same.
            Err(TryLockError::Error(error)) if has_no_locks(&error) => return Ok(Locked(file)),
            Err(TryLockError::Error(error)) => return Err(Error::io(path)(error)),
        }
        if last_tick.elapsed() >= TICK {
            last_tick = Instant::now();
            if tick().is_break() {
                return Err(Error::Stopped);
            }
        }
    }
}

/// Whether the path still names the file that was opened: while one waits for a lock, another may have taken its place.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (one, other) = (Stamp::of(&file.metadata()?), Stamp::of(&fs::metadata(path)?));
    Ok((one.device, one.inode) == (other.device, other.inode))
}

/// Appends bytes to a file of `size` bytes: all of them, or none.
pub(crate) fn append(file: &File, size: u64, bytes: &[u8], fsync: bool) -> io::Result<()> {
    let mut written = 0;
    let result = write_counted(file, bytes, &mut written).and_then(|()| if fsync { file.sync_data() } else { Ok(()) });
    if result.is_err() && written > 0 {
        take_back(file, size, written as u64);
    }
    result
}

/// As `write_all`; the whole line goes in one call, unless the system takes less of it.
fn write_counted(mut file: &File, bytes: &[u8], written: &mut usize) -> io::Result<()> {
    while *written < bytes.len() {
        match file.write(&bytes[*written..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => *written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Cuts off what was written of a line. Where somebody else has appended since, it is ended instead: one damaged line.
fn take_back(mut file: &File, size: u64, written: u64) {
    // If this fails too, nothing more can be done; the next append finds a line without an end, and ends it.
    match file.metadata() {
        Ok(metadata) if metadata.len() == size + written => _ = file.set_len(size),
        _ => _ = file.write(b"\n"),
    }
}

/// A file that is being written, and gone again unless it gets its name.
#[derive(Debug)]
pub(crate) struct Draft {
    path: PathBuf,
    file: Arc<File>,
}

impl Draft {
    /// Begins a new file, in the folder where it is to be, which is made if need be.
    pub(crate) fn of_new(target: &Path) -> Result<Self> {
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        Self::beside(target, File::options())
    }

    /// Begins a file that is to take the place of another one, and shows nobody what that one may hide.
    pub(crate) fn of_replacement(target: &Path) -> Result<Self> {
        #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Self::beside(target, options)
    }

    fn beside(target: &Path, mut options: OpenOptions) -> Result<Self> {
        // No listing takes it for a session.
        let path = target.with_file_name(format!(".{}.tmp", Uuid::new_v4().simple()));
        let file = options.read(true).append(true).create_new(true).open(&path).map_err(Error::io(target))?;
        Ok(Self { path, file: Arc::new(file) })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name, which nothing may have yet.
    ///
    /// # Errors
    ///
    /// [`Error::NameTaken`] if something has it.
    pub(crate) fn create(self, target: &Path, fsync: bool) -> Result<Arc<File>> {
        let io = |error| Error::io(target)(error);
        if fsync {
            self.file.sync_all().map_err(io)?;
        }
        let file = match fs::hard_link(&self.path, target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::NameTaken { path: target.to_owned() });
            }
            // A file system without hard links.
            Err(error) if is_refused(&error) => self.copy_to(target, fsync)?,
            linked => linked.map(|()| Arc::clone(&self.file)).map_err(io)?,
        };
        if fsync {
            sync_folder(target);
        }
        Ok(file)
    }

    /// Writes the file once more, under its name: where a crash meets this, it leaves a part.
    fn copy_to(&self, target: &Path, fsync: bool) -> Result<Arc<File>> {
        let mut to = match File::options().read(true).write(true).create_new(true).open(target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::NameTaken { path: target.to_owned() });
            }
            opened => opened.map_err(Error::io(target))?,
        };
        let copied = File::open(&self.path).and_then(|mut from| io::copy(&mut from, &mut to));
        let synced = copied.and_then(|_| if fsync { to.sync_all() } else { Ok(()) });
        synced.map(|()| Arc::new(to)).map_err(|error| {
            _ = fs::remove_file(target);
            Error::io(target)(error)
        })
    }

    /// Puts the file in the place of another one, synced, with that one's permissions and, if we may, owner.
    ///
    /// `last_look` is called just before, and may think better of it.
    pub(crate) fn replace(self, target: &Path, last_look: impl FnOnce() -> Result<()>) -> Result<Arc<File>> {
        let io = |error| Error::io(target)(error);
        let metadata = fs::metadata(target).map_err(io)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            _ = fchown(&*self.file, Some(metadata.uid()), Some(metadata.gid()));
        }
        self.file.set_permissions(metadata.permissions()).map_err(io)?;
        self.file.sync_all().map_err(io)?;
        last_look()?;
        fs::rename(&self.path, target).map_err(io)?;
        sync_folder(target);
        Ok(Arc::clone(&self.file))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        _ = fs::remove_file(&self.path);
    }
}

/// Whether the system knows no locks there, as told by the errors that systems give.
fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::ENOLCK) {
        return true;
    }
    error.kind() == io::ErrorKind::Unsupported
}

/// Whether the system knows no hard links there, as told by the errors that systems give.
fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied | io::ErrorKind::CrossesDevices)
}

/// Sees to it that a name is on the disk as well. Where that fails, the file is there all the same, under its name.
fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent().filter(|_| cfg!(unix)) {
        _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}
