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

/// What one connection knows of the room in its log.
#[derive(Default)]
pub(crate) struct LogRoom {
    /// The log, once it is long enough.
    file: Option<File>,
    /// How long the log is with the room that was made.
    length: u64,
    /// It could not be made once: the disk may be full.
    gave_up: bool,
}

impl LogRoom {
    /// Makes room if there is none left. To be called inside a transaction that writes: nobody else changes the log then.
    /// The transaction's own sync makes the room durable.
    pub(crate) fn make(&mut self, log: &Path) {
        // Room is for speed only: without it, a commit takes longer and says itself what is wrong.
        if !self.gave_up {
            self.gave_up = self.try_make(log).is_err();
        }
    }

    fn try_make(&mut self, log: &Path) -> std::io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(File::options().write(true).open(log)?),
        };
        let length = file.metadata()?.len();
        if length > self.length && (LOG_MIN..LOG_MAX).contains(&length) {
            let step = length.min(STEP_MAX);
            let zeros = vec![0; usize::try_from(step).unwrap_or_default()];
            file.seek(SeekFrom::Start(length))?;
            if let Err(error) = file.write_all(&zeros) {
                file.set_len(length)?; // a disk that is nearly full keeps the rest for the record
                return Err(error);
            }
            self.length = length + step;
        } else {
            self.length = self.length.min(length);
        }
        Ok(())
    }
}
