//! What this machine can do at best, measured in the same run: the yardstick for everything else.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::exit::Fault;

/// How long each yardstick is held to the machine.
const SPAN: Duration = Duration::from_millis(300);

/// Commits of one row each per second, with the durability that the record has: what a program gets that opens a new
/// SQLite file with a write-ahead log and full sync and leaves the rest as it comes. The rows are as long as turns are.
pub fn commits_per_second(folder: &Path) -> Result<f64, Fault> {
    commits(folder, 0)
}

/// The same into a log that has room for all of them before the clock starts, as the record makes room in its own: the
/// most that SQLite can do here.
pub fn commits_in_room_per_second(folder: &Path) -> Result<f64, Fault> {
    commits(folder, 16 << 20)
}

fn commits(folder: &Path, room: usize) -> Result<f64, Fault> {
    let failed = |error: rusqlite::Error| Fault::internal(format!("plain SQLite cannot be measured: {error}"));
    let db = rusqlite::Connection::open(folder.join("yardstick.db")).map_err(failed)?;
    db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(failed)?;
    db.execute_batch("PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)")
        .map_err(failed)?;
    if room > 0 {
        // Nobody else writes to this log meanwhile.
        let made = std::fs::File::options().append(true).open(folder.join("yardstick.db-wal")).and_then(|mut log| {
            log.write_all(&vec![0; room])?;
            log.sync_all()
        });
        made.map_err(|error| Fault::internal(format!("there is no room to measure plain SQLite: {error}")))?;
    }
    let body = "x".repeat(600);
    rate(|| {
        let mut insert = db.prepare_cached("INSERT INTO t (body) VALUES (?1)").map_err(failed)?;
        insert.execute([&body]).map_err(failed)?;
        Ok(())
    })
}

/// Appends to a plain file made durable per second.
pub fn syncs_per_second(folder: &Path) -> Result<f64, Fault> {
    let failed = |error: std::io::Error| Fault::internal(format!("the disk cannot be measured: {error}"));
    let mut file = std::fs::File::create(folder.join("yardstick.bin")).map_err(failed)?;
    rate(|| {
        file.write_all(&[0; 4_096]).map_err(failed)?;
        file.sync_data().map_err(failed)
    })
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn rate(mut work: impl FnMut() -> Result<(), Fault>) -> Result<f64, Fault> {
    let begin = Instant::now();
    let mut count = 0_u64;
    while begin.elapsed() < SPAN {
        work()?;
        count += 1;
    }
    Ok(count as f64 / begin.elapsed().as_secs_f64())
}

/// The memory that this process holds, in megabytes, where the system tells.
pub fn resident_mb() -> Option<f64> {
    memory_mb("self", "VmRSS:")
}

/// The memory that another process uses.
pub fn resident_mb_of(process: u32) -> Option<f64> {
    memory_mb(&process.to_string(), "VmRSS:")
}

/// The most memory that this process ever held, in megabytes, where the system tells.
pub fn resident_most_mb() -> Option<f64> {
    memory_mb("self", "VmHWM:")
}

/// Lets this process have as many files open at once as it may: a line to a server is one of them.
pub fn many_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where that is not allowed, what is measured says that there are too few.
    let _ = setrlimit(Resource::Nofile, limit);
}

fn memory_mb(process: &str, field: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kb: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kb / 1_024.0)
}

/// A clock that all processes of the machine share, in milliseconds.
pub fn shared_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since the machine started")]
    let ms = time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6;
    ms
}

/// How many bytes this process has written to files so far, in whatever calls.
pub fn written_bytes() -> Option<u64> {
    let io = std::fs::read_to_string("/proc/self/io").ok()?;
    io.lines().find_map(|line| line.strip_prefix("wchar:"))?.trim().parse().ok()
}
