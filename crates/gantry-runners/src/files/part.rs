//! An unfinished file: written as it comes, put in its place as a whole, found again after a crash.
//!
//! It is in the working folder itself, so that it can be renamed to any place below it, under a name that is the same for
//! the same work.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::sync::Arc;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions};
use gantry_core::effect::Failure;
use sha2::{Digest, Sha256};

use super::spot::failed;
use crate::policy::wrong;

/// How much is read at once.
const PIECE_BYTES: usize = 128 << 10;

/// An unfinished file.
#[derive(Clone)]
pub(crate) struct Part {
    folder: Arc<Dir>,
    name: String,
}

/// What an unfinished file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) bytes: u64,
    /// BLAKE3, as everything here is known by.
    pub(crate) hash: String,
    /// SHA-256, as the rest of the world knows it by.
    pub(crate) sha256: String,
}

/// An unfinished file that is being written at its end.
pub(crate) struct Appending {
    file: File,
    name: String,
    bytes: u64,
}

impl Part {
    pub(super) fn of(folder: Arc<Dir>, key: &str) -> Self {
        Self { folder, name: format!(".gantry-{}.part", &blake3::hash(key.as_bytes()).to_hex()[..16]) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn open(&self, options: &mut OpenOptions) -> io::Result<File> {
        let file = self.folder.open_with(&self.name, options.follow(FollowSymlinks::No))?;
        Ok(file.into_std())
    }

    fn failed<'s>(&'s self, what: &'static str) -> impl Fn(io::Error) -> Failure + 's {
        move |error| failed(what, &self.name, &error)
    }

    /// How much has come so far.
    pub(crate) fn bytes(&self) -> Result<u64, Failure> {
        match self.folder.symlink_metadata(&self.name) {
            Ok(meta) if meta.is_file() => Ok(meta.len()),
            Ok(_) => Err(wrong(format!("`{}` is no plain file; remove it", self.name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(failed("read", &self.name, &error)),
        }
    }

    /// Drops what has come.
    pub(crate) fn clear(&self) -> Result<(), Failure> {
        let file = self.open(OpenOptions::new().write(true).create(true).truncate(true));
        file.and_then(|file| file.sync_all()).map_err(self.failed("written"))
    }

    pub(crate) fn remove(&self) -> Result<(), Failure> {
        match self.folder.remove_file(&self.name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("deleted", &self.name, &error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Goes on at its end.
    pub(crate) fn append(&self) -> Result<Appending, Failure> {
        let open = || {
            let mut file = self.open(OpenOptions::new().write(true).create(true))?;
            let bytes = file.seek(SeekFrom::End(0))?;
            Ok(Appending { file, name: self.name.clone(), bytes })
        };
        open().map_err(self.failed("written"))
    }

    /// Reads all of it.
    pub(crate) fn sum(&self) -> Result<Written, Failure> {
        let (mut hash, mut sha256, mut bytes) = (blake3::Hasher::new(), Sha256::new(), 0);
        let mut sum = || {
            let mut file = self.open(OpenOptions::new().read(true))?;
            let mut piece = vec![0; PIECE_BYTES];
            loop {
                let read = file.read(&mut piece)?;
                if read == 0 {
                    return Ok(());
                }
                hash.update(&piece[..read]);
                sha256.update(&piece[..read]);
                bytes += read as u64;
            }
        };
        sum().map_err(self.failed("read"))?;
        let mut hex = String::new();
        for byte in sha256.finalize() {
            let _ = write!(hex, "{byte:02x}"); // writing to a text cannot fail
        }
        Ok(Written { bytes, hash: hash.finalize().to_hex().to_string(), sha256: hex })
    }
}

impl Appending {
    /// Writes a piece, as long as the whole is not too large.
    pub(crate) fn write(&mut self, piece: &[u8], bytes_max: u64) -> Result<(), Failure> {
        self.bytes += piece.len() as u64;
        if self.bytes > bytes_max {
            return Err(wrong(format!("more than {bytes_max} bytes have come; no more are downloaded")));
        }
        self.file.write_all(piece).map_err(|error| failed("written", &self.name, &error))
    }

    /// Has it on disk, and tells how much there is.
    pub(crate) fn finish(self) -> Result<u64, Failure> {
        self.file.sync_all().map_err(|error| failed("written", &self.name, &error))?;
        Ok(self.bytes)
    }
}
