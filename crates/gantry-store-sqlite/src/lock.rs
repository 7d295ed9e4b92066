//! Claims as locks of the operating system, which gives them back whatever happens to the process.
//!
//! Byte `n` of the file `<database>-lock` stands for plan `n`. The locks belong to the open file, not
//! to the process, so two handles in one process exclude each other as two processes do. A handle
//! does not exclude itself: the set of what it holds does that.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_store::{Claim, PlanNo, StoreError};

use crate::error::io;

/// The claims of one handle.
pub(crate) struct Claims {
    path: PathBuf,
    /// Written by `take` and by dropped claims; never held across a wait.
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    file: Option<sys::LockFile>,
    plans: BTreeSet<PlanNo>,
}

impl Claims {
    pub(crate) fn new(database: &Path) -> Self {
        Self { path: crate::beside(database, "-lock"), held: Arc::default() }
    }

    pub(crate) fn take(&self, no: PlanNo) -> Result<Option<Claim>, StoreError> {
        let mut held = lock(&self.held);
        if held.plans.contains(&no) || !held.file(&self.path)?.try_lock(no).map_err(|error| self.failed(&error))? {
            return Ok(None);
        }
        held.plans.insert(no);
        Ok(Some(Claim::new(no, Guard { held: Arc::clone(&self.held), no })))
    }

    pub(crate) fn is_taken_by_other(&self, no: PlanNo) -> Result<bool, StoreError> {
        let mut held = lock(&self.held);
        if held.plans.contains(&no) || !self.path.exists() {
            return Ok(false);
        }
        held.file(&self.path)?.is_locked_by_other(no).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> StoreError {
        io(error, "locking", &self.path)
    }
}

impl Held {
    fn file(&mut self, path: &Path) -> Result<&mut sys::LockFile, StoreError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => sys::LockFile::open(path).map_err(|error| io(&error, "opening", path))?,
        };
        Ok(self.file.insert(file))
    }
}

/// What a claim holds.
struct Guard {
    held: Arc<Mutex<Held>>,
    no: PlanNo,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut held = lock(&self.held);
        held.plans.remove(&self.no);
        if let Some(file) = &mut held.file {
            file.unlock(self.no);
        }
    }
}

fn lock(held: &Mutex<Held>) -> MutexGuard<'_, Held> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks on single bytes of one file.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod sys {
    use std::fs::{File, OpenOptions};
    use std::io::{Error, ErrorKind};
    use std::path::Path;

    use gantry_store::PlanNo;
    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;

    pub(super) struct LockFile(File, Access);

    /// Who may only read can still see who holds what.
    #[derive(PartialEq, Eq)]
    enum Access {
        Write,
        Read,
    }

    impl LockFile {
        pub(super) fn open(path: &Path) -> Result<Self, Error> {
            match OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path) {
                Err(error) if matches!(error.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied) => {
                    File::open(path).map(|file| Self(file, Access::Read)).map_err(|_| error)
                }
                opened => opened.map(|file| Self(file, Access::Write)),
            }
        }

        pub(super) fn try_lock(&mut self, no: PlanNo) -> Result<bool, Error> {
            if self.1 == Access::Read {
                return Err(ErrorKind::ReadOnlyFilesystem.into());
            }
            match fcntl(&self.0, FcntlArg::F_OFD_SETLK(&byte(no, libc::F_WRLCK)?)) {
                Ok(_) => Ok(true),
                Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
                Err(errno) => Err(errno.into()),
            }
        }

        pub(super) fn is_locked_by_other(&mut self, no: PlanNo) -> Result<bool, Error> {
            let mut asked = byte(no, libc::F_WRLCK)?;
            fcntl(&self.0, FcntlArg::F_OFD_GETLK(&mut asked))?;
            Ok(i32::from(asked.l_type) != libc::F_UNLCK)
        }

        pub(super) fn unlock(&mut self, no: PlanNo) {
            if let Ok(byte) = byte(no, libc::F_UNLCK) {
                // Unlocking what is locked cannot fail; closing the file would do the same.
                let _ = fcntl(&self.0, FcntlArg::F_OFD_SETLK(&byte));
            }
        }
    }

    fn byte(no: PlanNo, kind: i32) -> Result<libc::flock, Error> {
        let start = i64::try_from(no.0).map_err(Error::other)?;
        let kind = i16::try_from(kind).map_err(Error::other)?;
        let whence = i16::try_from(libc::SEEK_SET).map_err(Error::other)?;
        Ok(libc::flock { l_type: kind, l_whence: whence, l_start: start, l_len: 1, l_pid: 0 })
    }
}

/// One small file for each plan, because whole files are all that can be locked everywhere.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod sys {
    use std::collections::BTreeMap;
    use std::fs::{File, OpenOptions, TryLockError};
    use std::io::Error;
    use std::path::{Path, PathBuf};

    use gantry_store::PlanNo;

    pub(super) struct LockFile {
        folder: PathBuf,
        held: BTreeMap<PlanNo, File>,
    }

    impl LockFile {
        pub(super) fn open(path: &Path) -> Result<Self, Error> {
            std::fs::create_dir_all(path)?;
            Ok(Self { folder: path.to_owned(), held: BTreeMap::new() })
        }

        pub(super) fn try_lock(&mut self, no: PlanNo) -> Result<bool, Error> {
            let path = self.folder.join(no.to_string());
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
            match file.try_lock() {
                Ok(()) => {
                    self.held.insert(no, file);
                    Ok(true)
                }
                Err(TryLockError::WouldBlock) => Ok(false),
                Err(TryLockError::Error(error)) => Err(error),
            }
        }

        pub(super) fn is_locked_by_other(&mut self, no: PlanNo) -> Result<bool, Error> {
            let free = self.try_lock(no)?;
            self.unlock(no);
            Ok(!free)
        }

        pub(super) fn unlock(&mut self, no: PlanNo) {
            self.held.remove(&no);
        }
    }
}
