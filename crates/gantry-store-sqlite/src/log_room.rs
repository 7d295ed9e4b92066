//! Room in the log: bytes that are written ahead of their use.
//!
//! A sync of a file that has grown waits for the file system's own journal as well, one of a file that has not waits
//! for its bytes alone. So the log grows in large steps of zeros, and a commit writes into room that is there. Whoever
//! reads the log stops at the first frame that does not belong to it, and zeros never do.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// A log that is shorter gets no room made: few commits do not pay for it.
const LOG_MIN: u64 = 256 << 10;
/// How much room is made at once at most.
const STEP_MAX: u64 = 4 << 20;
/// A log that is longer gets no more room: someone keeps it from being taken over.
const LOG_MAX: u64 = 48 << 20;
/// Less room than this may be too little for the next commit.
const SCARCE: u64 = 64 << 10;
/// What one page takes in the log: its header and its bytes.
const FRAME: u64 = 24 + 4096;

/// What one connection knows of the room in its log.
#[derive(Default)]
pub(crate) struct LogRoom {
    /// The log, once it is long enough.
    file: Option<File>,
    /// How much of the log was in use when it was last looked at.
    used: u64,
    /// Up to where nothing has to be done.
    enough_until: u64,
    /// It could not be made once: the disk may be full.
    gave_up: bool,
}

impl LogRoom {
    /// Makes room if there is little left behind the pages that are in use. To be called inside a transaction that
    /// writes: nobody else changes the log then. The transaction's own sync makes the room durable.
    ///
    /// The file is asked for its length as seldom as can be. A file system with fine times writes a file's times down
    /// anew after someone saw them, and the sync of the next commit would wait for that, too.
    pub(crate) fn make(&mut self, log: &Path, pages: u64) {
        let used = pages * FRAME;
        if used < self.used {
            self.enough_until = 0; // it has begun anew, and may have been cut
        }
        self.used = used;
        // Room is for speed only: without it, a commit takes longer and says itself what is wrong.
        if used >= LOG_MIN && used > self.enough_until && !self.gave_up {
            self.gave_up = self.try_make(log).is_err();
        }
    }

    fn try_make(&mut self, log: &Path) -> std::io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(File::options().write(true).open(log)?),
        };
        let mut length = file.metadata()?.len();
        if length >= LOG_MAX {
            self.enough_until = u64::MAX;
            return Ok(());
        }
        if length < self.used + SCARCE {
            let step = length.min(STEP_MAX);
            file.seek(SeekFrom::Start(length))?;
            if let Err(error) = write_zeros(file, step) {
                file.set_len(length)?; // a disk that is nearly full keeps the rest for the record
                return Err(error);
            }
            length += step;
        }
        self.enough_until = length.saturating_sub(SCARCE);
        Ok(())
    }
}

fn write_zeros(file: &mut File, mut count: u64) -> std::io::Result<()> {
    static ZEROS: [u8; 64 << 10] = [0; 64 << 10];
    while count > 0 {
        let part = ZEROS.len().min(usize::try_from(count).unwrap_or(ZEROS.len()));
        file.write_all(&ZEROS[..part])?;
        count -= part as u64;
    }
    Ok(())
}
