//! The end of the log: does something stand behind it that should have been read?
//!
//! SQLite reads a log up to the last commit whose frames fit together, and takes what is behind that for leftovers of an
//! older log. So one bad bit in the middle would take every later commit away without a word. A frame says to which log
//! it belongs: one of this log behind its end was either cut off while it was written, or stands behind the damage.
//!
//! SQLite itself is asked where the end is. The shared index beside the log says it as well; but whoever closes that file
//! takes every lock away that its process has on it. The log itself carries no locks.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::beside;
use crate::open::{Use, connect};

/// What the log begins with, and each frame.
const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// What one page takes in the log: its header and its bytes. The store makes no file with other pages.
const FRAME: usize = FRAME_HEADER + 4096;
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
    if matches!(look(conn, path), Err(_) | Ok(Behind::Nothing)) {
        return None;
    }
    // Someone who writes at this moment leaves frames behind the end until the commit is made: look while nobody does.
    let _ = conn.busy_timeout(std::time::Duration::ZERO);
    let mut is_cut = false;
    let found = conn.execute_batch("BEGIN IMMEDIATE").ok().and_then(|()| {
        // Within its transaction a connection does not say where the log ends.
        let other = connect(path, Use::Read).ok();
        let behind = other.and_then(|other| look(&other, path).ok()).unwrap_or(Behind::Nothing);
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

/// Asks where the log ends for SQLite, and reads what stands behind that.
fn look(conn: &Connection, path: &Path) -> std::io::Result<Behind> {
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
    let ours = salts(&header, 16);
    let end = HEADER as u64 + frames(conn)? * FRAME as u64;
    match log.behind(end, ours, None)? {
        Behind::Nothing => Ok(Behind::Nothing),
        // How much of it fits shows with the sum of everything before, which takes long to find.
        Behind::Frames { .. } => log.behind(end, ours, log.sum_at(end, sum, ours)?),
    }
}

/// Asks how many frames of the log are read.
fn frames(conn: &Connection) -> std::io::Result<u64> {
    let asked = conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get::<_, i64>(1));
    u64::try_from(asked.map_err(std::io::Error::other)?).map_err(std::io::Error::other)
}

struct Log {
    file: File,
    length: u64,
    big_endian: bool,
}

impl Log {
    /// The sum of everything up to here, if all of it fits.
    fn sum_at(&self, end: u64, mut sum: (u32, u32), ours: u64) -> std::io::Result<Option<(u32, u32)>> {
        let mut frame = [0; FRAME];
        for at in (HEADER as u64..end).step_by(FRAME) {
            self.file.read_exact_at(&mut frame, at)?;
            let Some(with) = self.fits(sum, &frame, ours) else { return Ok(None) };
            sum = with;
        }
        Ok(Some(sum))
    }

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
            let ends_commit = whole && is_ours && be(&frame, 4) != 0;
            if sum.is_some() && ends_commit {
                // A commit that is whole and is not read was never acknowledged, or it was taken over and the log is about
                // to begin again.
                return Ok(Behind::Nothing);
            }
            if sum.is_none() && is_ours {
                broken = broken.or(Some(at));
                commits += u64::from(ends_commit);
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

fn salts(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
