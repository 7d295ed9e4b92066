//! The end of the log: does something stand behind it that should have been read?
//!
//! SQLite reads a log up to the last commit whose frames fit together, and takes what is behind that for leftovers of an
//! older log. So one bad bit in the middle would take every later commit away without a word. A frame says to which log
//! it belongs: one of this log behind its end was either cut off while it was written, or stands behind the damage.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::beside;

/// What the log begins with, and each frame.
const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// What one page takes in the log: its header and its bytes. The store makes no file with other pages.
const FRAME: usize = FRAME_HEADER + 4096;
/// The form of the shared index that this module can read.
const INDEX_VERSION: u32 = 3_007_000;
/// So many frames of something else, and whatever is behind them is of no interest: damage is not that long.
const STRANGERS_MAX: u32 = 256;
/// How many copies of damaged logs are kept.
const COPIES_MAX: u32 = 100;

/// What stands behind the end of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    /// Nothing of this log.
    Nothing,
    /// Frames of this log that were not read, from the first byte behind the end on.
    Frames {
        from: u64,
        /// Where the first of them lies that does not fit.
        at: u64,
        /// How many of them end a commit.
        commits: u64,
    },
}

/// Looks behind the end of the log, and says what was found there. The log is cleaned up then, so that it is said once.
pub(crate) fn settle(conn: &Connection, path: &Path) -> Option<String> {
    // Without a look at the log nothing can be said of it; what is wrong with the file shows elsewhere.
    if matches!(look(path), Err(_) | Ok(Behind::Nothing)) {
        return None;
    }
    // Someone who writes at this moment leaves frames behind the end until the commit is made: look while nobody does.
    let _ = conn.busy_timeout(std::time::Duration::ZERO);
    let mut is_cut = false;
    let found = conn.execute_batch("BEGIN IMMEDIATE").ok().and_then(|()| {
        let behind = look(path).unwrap_or(Behind::Nothing);
        let told = tell(path, behind);
        is_cut = cut(path, behind).is_ok();
        let _ = conn.execute_batch("ROLLBACK");
        told
    });
    if found.is_some() && !is_cut {
        // Whoever still reads the log keeps it as it is; then the next one to open it says the same.
        let _ = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
    let _ = conn.busy_timeout(crate::open::BUSY_TIMEOUT);
    found
}

/// Cuts off what was not whole. Nobody reads it, and on a full disk there is no room to take the log over first.
fn cut(path: &Path, behind: Behind) -> std::io::Result<()> {
    match behind {
        Behind::Frames { from, commits: 0, .. } => {
            File::options().write(true).open(beside(path, "-wal"))?.set_len(from)
        }
        Behind::Frames { .. } | Behind::Nothing => Err(std::io::ErrorKind::Unsupported.into()),
    }
}

/// The copies of damaged logs beside a record.
pub(crate) fn copies(path: &Path) -> Vec<PathBuf> {
    (1..=COPIES_MAX).map(|number| copy_of(path, number)).take_while(|copy| copy.exists()).collect()
}

fn copy_of(path: &Path, number: u32) -> PathBuf {
    beside(path, &format!("-wal.damaged-{number}"))
}

fn tell(path: &Path, behind: Behind) -> Option<String> {
    let log = beside(path, "-wal");
    let name = log.display();
    match behind {
        Behind::Nothing => None,
        Behind::Frames { at, commits: 0, .. } => Some(format!(
            "the last commit in `{name}` is not whole from byte {at} on and was dropped: it was cut off while it was \
             written, or the disk has damaged it"
        )),
        Behind::Frames { at, commits, .. } => {
            let noun = if commits == 1 { "commit" } else { "commits" };
            let copy = copy_of(path, u32::try_from(copies(path).len()).unwrap_or(COPIES_MAX) + 1);
            let kept = match std::fs::copy(&log, &copy) {
                Ok(_) => format!("a copy of it is `{}`", copy.display()),
                Err(error) => format!("it could not be copied to `{}`: {error}", copy.display()),
            };
            Some(format!(
                "`{name}` is damaged at byte {at}: {commits} {noun} from there on could not be read, and what they said \
                 is missing; {kept}"
            ))
        }
    }
}

/// Reads where the log ends for SQLite, and what stands behind that.
fn look(path: &Path) -> std::io::Result<Behind> {
    let log = File::open(beside(path, "-wal"))?;
    let length = log.metadata()?.len();
    let mut header = [0; HEADER];
    if length < HEADER as u64 {
        return Ok(if length == 0 { Behind::Nothing } else { Behind::Frames { from: 0, at: 0, commits: 0 } });
    }
    log.read_exact_at(&mut header, 0)?;
    let log = Log { file: log, length, big_endian: be(&header, 0) & 1 == 1 };
    let sum = checksum((0, 0), &header[..24], log.big_endian);
    if sum != (be(&header, 24), be(&header, 28)) {
        // None of it is read. Every frame says to which log it belongs.
        let mut first = [0; FRAME_HEADER];
        log.file.read_exact_at(&mut first, HEADER as u64)?;
        return log.behind(HEADER as u64, salts(&first, 8), None).map(|behind| match behind {
            Behind::Frames { commits, .. } => Behind::Frames { from: 0, at: 0, commits },
            Behind::Nothing => Behind::Nothing,
        });
    }
    let mut index = [0; 48];
    File::open(beside(path, "-shm"))?.read_exact_at(&mut index, 0)?;
    // A log that is about to begin again has other salts there, and everything in it was taken over.
    if native(&index, 0) != INDEX_VERSION || salts(&index, 32) != salts(&header, 16) {
        return Ok(Behind::Nothing);
    }
    let end = HEADER as u64 + u64::from(native(&index, 16)) * FRAME as u64;
    let sum = if end == HEADER as u64 { sum } else { (native(&index, 24), native(&index, 28)) };
    log.behind(end, salts(&header, 16), Some(sum))
}

struct Log {
    file: File,
    length: u64,
    big_endian: bool,
}

impl Log {
    /// Looks for frames with these salts from here on. With the sum of everything before, those that fit are passed by.
    fn behind(&self, mut at: u64, ours: u64, mut sum: Option<(u32, u32)>) -> std::io::Result<Behind> {
        let (from, mut found, mut broken, mut commits, mut strangers) = (at, false, None, 0, 0);
        let mut frame = [0; FRAME];
        while at < self.length && strangers < STRANGERS_MAX {
            let whole = self.length - at >= FRAME as u64;
            let wanted = if !whole {
                usize::try_from(self.length - at).unwrap_or(usize::MAX)
            } else if sum.is_some() {
                FRAME
            } else {
                FRAME_HEADER
            };
            self.file.read_exact_at(&mut frame[..wanted], at)?;
            let is_ours = if wanted < 16 {
                frame[..wanted].iter().any(|byte| *byte != 0)
            } else {
                // One bit of the salts themselves may be the damage.
                (salts(&frame, 8) ^ ours).count_ones() <= 1
            };
            sum = sum.filter(|_| whole && is_ours).and_then(|before| self.fits(before, &frame, ours));
            if sum.is_none() && is_ours {
                broken = broken.or(Some(at));
                commits += u64::from(whole && be(&frame, 4) != 0);
            }
            found |= is_ours;
            strangers = if is_ours { 0 } else { strangers + 1 };
            at += FRAME as u64;
        }
        Ok(if found { Behind::Frames { from, at: broken.unwrap_or(self.length), commits } } else { Behind::Nothing })
    }

    /// The sum with this frame, if that is what the frame says.
    fn fits(&self, before: (u32, u32), frame: &[u8], ours: u64) -> Option<(u32, u32)> {
        let sum = checksum(checksum(before, &frame[..8], self.big_endian), &frame[FRAME_HEADER..], self.big_endian);
        (sum == (be(frame, 16), be(frame, 20)) && salts(frame, 8) == ours).then_some(sum)
    }
}

/// The sum that the log's format defines, over pairs of words in the order of bytes that its header names.
fn checksum((mut a, mut b): (u32, u32), bytes: &[u8], big_endian: bool) -> (u32, u32) {
    let word = |bytes: &[u8]| {
        let bytes = bytes.try_into().expect("four bytes");
        if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    for pair in bytes.chunks_exact(8) {
        a = a.wrapping_add(word(&pair[..4])).wrapping_add(b);
        b = b.wrapping_add(word(&pair[4..])).wrapping_add(a);
    }
    (a, b)
}

fn be(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn native(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn salts(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
