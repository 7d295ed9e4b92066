//! The seat to write at: the one connection that writes, and what is known of the file.

use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gantry_store::StoreError;
use rusqlite::Connection;
use rusqlite::hooks::Wal;

use crate::error::sql;
use crate::log_room::LogRoom;
use crate::open::{self, FileId};
use crate::write::Known;
use crate::writer::{Job, News, Tx};

/// Requests that share a commit.
pub(crate) type Group = Vec<Box<dyn Job>>;

/// The log is taken over when it is this many pages long: seldom enough that pages written many times are copied once.
const LOG_PAGES_MAX: u64 = 4_000;

/// Refusals are answers: they are found before anything is written.
pub(crate) fn is_refusal(error: &StoreError) -> bool {
    match error {
        StoreError::Conflict { .. }
        | StoreError::NotFound { .. }
        | StoreError::Ambiguous { .. }
        | StoreError::AlreadyDone { .. }
        | StoreError::KeyReused { .. }
        | StoreError::Invalid { .. }
        | StoreError::Pinned { .. } => true,
        StoreError::Busy { .. }
        | StoreError::Full { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Gone { .. }
        | StoreError::Corrupt { .. }
        | StoreError::Foreign { .. }
        | StoreError::NewerSchema { .. }
        | StoreError::TooLarge { .. }
        | StoreError::Io { .. } => false,
    }
}

/// Everything that only whoever writes touches.
pub(crate) struct Seat {
    path: PathBuf,
    /// Where its log is.
    log: PathBuf,
    room: LogRoom,
    /// How many pages the log had after the last commit. Written by the connection, inside a commit.
    log_pages: Arc<AtomicU64>,
    /// Which file the path led to at first; none for a file that is only read.
    file: Option<FileId>,
    read_only: bool,
    /// None after an I/O error: the next group opens it again.
    conn: Option<Connection>,
    /// The connection waits for the disk at the end of each commit.
    syncs: bool,
    known: Known,
    /// The file's data version when it was last asked for, which changes when others write.
    version: Option<i64>,
    news: Arc<News>,
}

impl Seat {
    /// Makes the seat with an open connection, or without one for a file that is only read.
    pub(crate) fn new(path: PathBuf, conn: Option<Connection>, news: Arc<News>) -> Self {
        let mut seat = Self {
            file: conn.as_ref().and_then(|_| open::file_id(&path)),
            log: crate::beside(&path, "-wal"),
            path,
            read_only: conn.is_none(),
            conn: None,
            syncs: true,
            room: LogRoom::default(),
            log_pages: Arc::default(),
            known: Known::default(),
            version: None,
            news,
        };
        seat.conn = conn.map(|conn| seat.count_pages_of(conn));
        seat
    }

    /// What is in the connection and what was known through it is gone; the next group opens another.
    pub(crate) fn leave_connection(&mut self) {
        self.conn = None;
        self.room = LogRoom::default();
        self.known = Known::default();
    }

    /// From now on each commit tells how long the log is.
    fn count_pages_of(&self, mut conn: Connection) -> Connection {
        let pages = Arc::clone(&self.log_pages);
        let count = move |_: &mut Wal, count: c_int| {
            pages.store(u64::try_from(count).unwrap_or_default(), Ordering::Relaxed);
            Ok(())
        };
        // Without the count the log is taken over at the end of the process only.
        let _ = conn.wal_hook(Some(count));
        conn
    }

    /// Notices what other connections wrote: only their commits change this connection's data version.
    pub(crate) fn poll(&mut self) {
        let Ok(conn) = self.connection() else { return };
        let asked = conn.prepare_cached("PRAGMA data_version").and_then(|mut ask| ask.query_row([], |row| row.get(0)));
        let version = asked.ok();
        // What was written before the first question cannot be told from what comes after: it counts as new.
        if self.version != version {
            self.version = version;
            self.announce();
        }
    }

    fn announce(&self) {
        self.news.marks.send_modify(|mark| *mark += 1);
    }

    /// The connection, as long as the file is where it was: what is written to one that was removed goes into the
    /// void, and opening the path again would begin an empty record in its place.
    fn connection(&mut self) -> Result<&Connection, StoreError> {
        if self.file.is_some() && open::file_id(&self.path) != self.file {
            let what = format!("`{}` was removed or replaced while it was used", self.path.display());
            return Err(StoreError::Gone { what });
        }
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None if self.read_only => open::for_reading(&self.path, open::Use::ReadOnlyFile)?,
            None => {
                self.version = None;
                // What this process itself could not finish, its users were told.
                let (conn, _) = open::for_writing(&self.path)?;
                self.syncs = true;
                self.count_pages_of(conn)
            }
        };
        Ok(self.conn.insert(conn))
    }

    /// Writes a group, and answers everyone in it.
    pub(crate) fn write(&mut self, mut group: Group) {
        let outcome = self.commit(&mut group);
        self.conclude(group, outcome);
    }

    /// Writes a group if that needs no waiting for other processes; returns what was not even begun.
    pub(crate) fn write_if_free(&mut self, mut group: Group) -> Group {
        let Some(conn) = &self.conn else { return group };
        let _ = conn.busy_timeout(Duration::ZERO);
        let outcome = self.commit(&mut group);
        if let Some(conn) = &self.conn {
            let _ = conn.busy_timeout(open::BUSY_TIMEOUT);
        }
        match outcome {
            Err(Broken::Committing(StoreError::Busy { .. })) => group,
            outcome => {
                self.conclude(group, outcome);
                Group::new()
            }
        }
    }

    fn conclude(&mut self, mut group: Group, outcome: Result<(), Broken>) {
        match outcome {
            // One of them broke the transaction; the others may be fine on their own.
            Err(Broken::While(error)) if group.len() > 1 && !is_for_all(&error) => {
                for job in group {
                    self.write(vec![job]);
                }
            }
            Err(Broken::While(error) | Broken::Committing(error)) => settle(group, Err(error)),
            Ok(()) => {
                if group.iter().any(|job| job.announces()) {
                    self.announce();
                }
                if let Some(conn) = &self.conn {
                    for job in &mut group {
                        job.after_commit(conn);
                    }
                }
                settle(group, Ok(()));
            }
        }
    }

    /// Tells whether the log should be taken over.
    pub(crate) fn is_log_long(&self) -> bool {
        self.log_pages.load(Ordering::Relaxed) >= LOG_PAGES_MAX
    }

    /// Copies what is in the log to where it belongs, if it is long, so that the log begins again.
    pub(crate) fn take_over_log(&mut self) {
        if self.is_log_long()
            && let Some(conn) = &self.conn
        {
            // Whoever still reads the log keeps the rest of it: the next commit counts again.
            let _ = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            self.log_pages.store(0, Ordering::Relaxed);
        }
    }

    fn commit(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), Broken> {
        if self.read_only {
            let what = format!("`{}` was opened for reading", self.path.display());
            return Err(Broken::Committing(StoreError::ReadOnly { what }));
        }
        let result = self.transact(group);
        if let Err(Broken::While(error) | Broken::Committing(error)) = &result {
            // What was known may come from the transaction that is no more.
            self.known = Known::default();
            if let Some(conn) = &self.conn
                && !conn.is_autocommit()
            {
                let _ = conn.execute_batch("ROLLBACK");
            }
            if matches!(error, StoreError::Io { .. } | StoreError::Corrupt { .. } | StoreError::Full { .. }) {
                self.leave_connection();
            }
        }
        result
    }

    fn transact(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), Broken> {
        self.connection().map_err(Broken::Committing)?;
        let Some(conn) = &self.conn else { return Ok(()) };
        let syncs = !group.iter().all(|job| job.may_wait());
        if self.syncs != syncs {
            // The next commit that waits for the disk waits for everything before it in the log.
            let how = if syncs { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" };
            conn.execute_batch(how).map_err(|error| Broken::Committing(sql(&error, "writing")))?;
            self.syncs = syncs;
        }
        run(conn, "BEGIN IMMEDIATE").map_err(Broken::Committing)?;
        let begin = Instant::now();
        self.room.make(&self.log, self.log_pages.load(Ordering::Relaxed));
        let mut tx = Tx { conn, known: &mut self.known };
        for job in group {
            job.run(&mut tx).map_err(Broken::While)?;
        }
        run(conn, "COMMIT").map_err(Broken::Committing)?;
        self.news.commits.fetch_add(1, Ordering::Relaxed);
        let took_us = u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.news.last_commit_us.store(took_us, Ordering::Relaxed);
        Ok(())
    }
}

/// Where a transaction broke.
enum Broken {
    /// In one of the requests.
    While(StoreError),
    /// At its beginning or at its end, which concerns all of them.
    Committing(StoreError),
}

/// Trouble that the others would have, too.
fn is_for_all(error: &StoreError) -> bool {
    matches!(error, StoreError::Full { .. } | StoreError::Busy { .. } | StoreError::ReadOnly { .. })
}

fn run(conn: &Connection, statement: &str) -> Result<(), StoreError> {
    let mut prepared = conn.prepare_cached(statement).map_err(|error| sql(&error, "writing"))?;
    prepared.execute([]).map(drop).map_err(|error| sql(&error, "writing"))
}

fn settle(group: Group, committed: Result<(), StoreError>) {
    for job in group {
        job.settle(committed.clone());
    }
}
