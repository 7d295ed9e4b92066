//! The one thread that writes, and its group commit.
//!
//! Everything that waits is written in one transaction and made durable by one sync; then everyone is
//! answered. A refusal, such as a conflict, is found before its request changed anything, so it does
//! not hurt the others. When the commit fails, nothing of the group counts and everyone is told.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use gantry_store::StoreError;
use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::error::sql;
use crate::open::{self, FileId};
use crate::write::Known;

/// How many requests wait at most; whoever comes then waits before the door.
const WAITING_MAX: usize = 4_096;

/// How many requests share one commit at most, so that the first does not wait long for the last.
const GROUP_MAX: usize = 1_024;

/// How often the file is asked whether another process wrote, while someone wants to know.
const POLL: Duration = Duration::from_millis(20);

/// A request to write.
pub(crate) trait Work: Send + 'static {
    /// What it answers.
    type Reply: Send + 'static;
    /// Writes, or refuses before anything is written. May be called again after a rollback.
    fn write(&mut self, tx: &mut Tx<'_>) -> Result<Self::Reply, StoreError>;
    /// Tells whether everyone, this process included, should notice it.
    fn announces(&self) -> bool {
        false
    }
    /// What can only be done outside a transaction, after the commit.
    fn after_commit(&mut self, _conn: &Connection) -> Result<(), StoreError> {
        Ok(())
    }
}

/// What a request works with.
pub(crate) struct Tx<'a> {
    pub conn: &'a Connection,
    pub known: &'a mut Known,
}

/// The way to the thread that writes.
pub(crate) struct Writer {
    door: Option<Sender<Message>>,
    room: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
    pub news: Arc<News>,
}

/// What the thread tells everyone.
pub(crate) struct News {
    /// Counts what others wrote. Written by the thread alone.
    pub marks: watch::Sender<u64>,
    /// How many wait for it: while there are none, nothing is polled.
    watchers: AtomicUsize,
    /// How many transactions were committed.
    pub commits: AtomicU64,
}

enum Message {
    Job(Box<dyn Job>),
    /// Someone wants to know about the writing of others.
    Watch,
}

impl Writer {
    /// Starts the thread with an open connection, or without one for a file that is only read.
    pub(crate) fn start(path: PathBuf, conn: Option<Connection>) -> Result<Self, StoreError> {
        let (door, requests) = channel();
        let news =
            Arc::new(News { marks: watch::Sender::new(0), watchers: AtomicUsize::new(0), commits: AtomicU64::new(0) });
        let seat = Seat {
            file: conn.as_ref().and_then(|_| open::file_id(&path)),
            path,
            read_only: conn.is_none(),
            conn,
            known: Known::default(),
            version: None,
            news: news.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("gantry-writer".to_owned())
            .spawn(move || seat.serve(&requests))
            .map_err(|error| StoreError::Io { what: format!("starting the thread that writes: {error}") })?;
        let room = Arc::new(Semaphore::new(WAITING_MAX));
        Ok(Self { door: Some(door), room, thread: Some(thread), news })
    }

    /// Hands in a request and waits until it is durable.
    pub(crate) async fn ask<W: Work>(&self, work: W) -> Result<W::Reply, StoreError> {
        let gone = || StoreError::Io { what: "the thread that writes is gone".to_owned() };
        let permit = Arc::clone(&self.room).acquire_owned().await.map_err(|_| gone())?;
        let (to, answer) = oneshot::channel();
        let job = Pending { work, reply: None, to, _permit: permit };
        self.door.as_ref().ok_or_else(gone)?.send(Message::Job(Box::new(job))).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Waits until others wrote something since `seen`.
    pub(crate) async fn changed(&self, seen: u64) -> u64 {
        let mut marks = self.news.marks.subscribe();
        let _watching = Watching::begin(&self.news);
        if let Some(door) = &self.door {
            let _ = door.send(Message::Watch);
        }
        match marks.wait_for(|mark| *mark != seen).await {
            Ok(mark) => *mark,
            Err(_) => seen,
        }
    }
}

impl Drop for Writer {
    /// Everything that was handed in is written before the store is gone.
    fn drop(&mut self) {
        self.door = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Watching<'a>(&'a News);

impl<'a> Watching<'a> {
    fn begin(news: &'a News) -> Self {
        news.watchers.fetch_add(1, Ordering::SeqCst);
        Self(news)
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.0.watchers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A request of whatever kind, with the way back to whoever asked.
trait Job: Send {
    /// Runs it; an error means that the transaction is in an unknown state.
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError>;
    fn announces(&self) -> bool;
    fn after_commit(&mut self, conn: &Connection);
    fn settle(self: Box<Self>, committed: Result<(), StoreError>);
}

struct Pending<W: Work> {
    work: W,
    reply: Option<Result<W::Reply, StoreError>>,
    to: oneshot::Sender<Result<W::Reply, StoreError>>,
    _permit: OwnedSemaphorePermit,
}

impl<W: Work> Job for Pending<W> {
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        match self.work.write(tx) {
            Err(error) if !is_refusal(&error) => Err(error),
            reply => {
                self.reply = Some(reply);
                Ok(())
            }
        }
    }

    fn announces(&self) -> bool {
        self.work.announces() && matches!(self.reply, Some(Ok(_)))
    }

    fn after_commit(&mut self, conn: &Connection) {
        if matches!(self.reply, Some(Ok(_)))
            && let Err(error) = self.work.after_commit(conn)
        {
            self.reply = Some(Err(error));
        }
    }

    /// A refusal of a group that was not committed may rest on what never happened: it is not told either.
    fn settle(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { reply, to, .. } = *self;
        let missing = || Err(StoreError::Io { what: "the request was not run".to_owned() });
        // Whoever does not wait any more does not need the answer.
        let _ = to.send(committed.and_then(|()| reply.unwrap_or_else(missing)));
    }
}

/// Refusals are answers: they are found before anything is written.
fn is_refusal(error: &StoreError) -> bool {
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

/// Where the thread sits: everything that only it touches.
struct Seat {
    path: PathBuf,
    /// Which file the path led to at first; none for a file that is only read.
    file: Option<FileId>,
    read_only: bool,
    /// None after an I/O error: the next group opens it again.
    conn: Option<Connection>,
    known: Known,
    /// The file's data version when it was last asked for, which changes when others write.
    version: Option<i64>,
    news: Arc<News>,
}

impl Seat {
    fn serve(mut self, requests: &Receiver<Message>) {
        loop {
            let watched = self.news.watchers.load(Ordering::SeqCst) > 0;
            let first = if watched {
                self.poll();
                requests.recv_timeout(POLL)
            } else {
                requests.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match first {
                Ok(Message::Job(first)) => self.write(gather(first, requests)),
                Ok(Message::Watch) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Notices what other connections wrote: only their commits change this connection's data version.
    fn poll(&mut self) {
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
                open::for_writing(&self.path)?
            }
        };
        Ok(self.conn.insert(conn))
    }

    fn write(&mut self, mut group: Vec<Box<dyn Job>>) {
        match self.commit(&mut group) {
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
                self.conn = None;
            }
        }
        result
    }

    fn transact(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), Broken> {
        self.connection().map_err(Broken::Committing)?;
        let Some(conn) = &self.conn else { return Ok(()) };
        run(conn, "BEGIN IMMEDIATE").map_err(Broken::Committing)?;
        let mut tx = Tx { conn, known: &mut self.known };
        for job in group {
            job.run(&mut tx).map_err(Broken::While)?;
        }
        run(conn, "COMMIT").map_err(Broken::Committing)?;
        self.news.commits.fetch_add(1, Ordering::Relaxed);
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

fn gather(first: Box<dyn Job>, requests: &Receiver<Message>) -> Vec<Box<dyn Job>> {
    let mut group = vec![first];
    while group.len() < GROUP_MAX
        && let Ok(message) = requests.try_recv()
    {
        if let Message::Job(job) = message {
            group.push(job);
        }
    }
    group
}

fn settle(group: Vec<Box<dyn Job>>, committed: Result<(), StoreError>) {
    for job in group {
        job.settle(committed.clone());
    }
}
