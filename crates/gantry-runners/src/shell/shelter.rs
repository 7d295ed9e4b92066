//! Where the private folders of attempts are: in a folder of this process, which whoever comes next removes if this
//! process could not.
//!
//! All of them are in one folder of this user. Beside the folder of each process is a file that the process has locked;
//! the system gives the lock back however the process ends. What is not locked was left behind.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

/// How often another name is tried when someone cleans up at this very moment.
const TRIES_MAX: u32 = 10;

/// Makes a private folder, which is removed with its handle.
pub(crate) fn private_folder() -> io::Result<TempDir> {
    static OWN: OnceLock<Option<Shelter>> = OnceLock::new();
    let own = OWN.get_or_init(|| base().and_then(|base| Shelter::open(&base)).ok());
    let mut name = tempfile::Builder::new();
    let name = name.prefix("gantry-");
    match own {
        Some(own) => name.tempdir_in(&own.folder),
        // Someone else has our folder. Then nobody cleans up after us, but work goes on.
        None => name.tempdir(),
    }
}

/// The folder of this user, where nobody else can put anything.
fn base() -> io::Result<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let base = std::env::temp_dir().join(format!("gantry-{user}"));
    match DirBuilder::new().mode(0o700).create(&base) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = std::fs::symlink_metadata(&base)?;
    let ours = found.is_dir() && found.uid() == user && found.mode() & 0o777 == 0o700;
    if ours { Ok(base) } else { Err(io::Error::other("it belongs to someone else")) }
}

/// The folder of one process.
struct Shelter {
    folder: PathBuf,
    /// Locked as long as the process lives.
    _lock: File,
}

impl Shelter {
    /// Removes what was left behind, and makes a new one.
    fn open(base: &Path) -> io::Result<Self> {
        sweep(base)?;
        for _ in 0..TRIES_MAX {
            let made = tempfile::Builder::new().prefix("process-").suffix(".lock").tempfile_in(base)?;
            let (lock, path) = made.keep().map_err(|error| error.error)?;
            // Whoever sweeps now may have taken it for one that was left behind.
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() && path.exists() {
                let folder = path.with_extension("");
                DirBuilder::new().mode(0o700).create(&folder)?;
                return Ok(Self { folder, _lock: lock });
            }
        }
        Err(io::Error::other("someone cleans up all the time"))
    }
}

/// Removes the folders of processes that are no more.
fn sweep(base: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(base)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "lock") {
            continue;
        }
        let Ok(lock) = File::open(&path) else { continue }; // someone else removed it
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // What cannot be removed now is tried again next time, because its lock stays.
            let folder = path.with_extension("");
            if !folder.exists() || std::fs::remove_dir_all(&folder).is_ok() {
                let _ = std::fs::remove_file(&path);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_behind_is_removed_by_the_next_and_what_is_in_use_stays() {
        let base = tempfile::tempdir().unwrap();
        let [killed, alive] = [(), ()].map(|()| Shelter::open(base.path()).unwrap());
        for shelter in [&killed, &alive] {
            std::fs::create_dir(shelter.folder.join("gantry-attempt")).unwrap();
            std::fs::write(shelter.folder.join("gantry-attempt/inputs.json"), "{}").unwrap();
        }
        let left_behind = killed.folder.clone();
        drop(killed); // the lock goes, as with a process that is killed; the folder stays
        assert!(left_behind.exists());
        let next = Shelter::open(base.path()).unwrap();
        assert!(!left_behind.exists() && !left_behind.with_extension("lock").exists());
        assert!(alive.folder.join("gantry-attempt/inputs.json").exists() && next.folder.exists());
        assert_eq!(std::fs::metadata(&next.folder).unwrap().mode() & 0o777, 0o700);
    }
}
