//! Who writes, and the group commit.
//!
//! Everything that waits is written in one transaction and made durable by one sync; then everyone is
//! answered. A refusal, such as a conflict, is found before its request changed anything, so it does
//! not hurt the others. When the commit fails, nothing of the group counts and everyone is told.
//!
//! There is one seat to write at (`seat.rs`) and one thread that takes it for whoever waits. A small request that comes
//! alone takes it itself, as long as commits are quick here: waking a thread and being woken by it costs as much as
//! a commit does on a good disk.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gantry_store::StoreError;
use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::seat::{Group, Seat, is_refusal};
use crate::write::Known;

/// How many requests wait at most; whoever comes then waits before the door.
const WAITING_MAX: usize = 4_096;

/// How many requests share one commit at most, so that the first does not wait long for the last.
const GROUP_MAX: usize = 1_024;

/// How often the file is asked whether another process wrote, while someone wants to know.
const POLL: Duration = Duration::from_millis(20);

/// When the last commit took longer, nobody but the thread writes: others have to be served meanwhile.
const QUICK: Duration = Duration::from_millis(2);

/// With this many requests waiting, those who come prepare what they ask for themselves. As many as come during one
/// sync say nothing yet about who has more to do.
const BEHIND: usize = 64;

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
    /// Tells whether writing it takes no longer than the sync after it.
    fn is_small(&self) -> bool {
        false
    }
    /// Tells whether it need not be on disk before something else is; whoever is killed meanwhile has written it all the same.
    fn may_wait(&self) -> bool {
        false
    }
    /// What can only be done outside a transaction, after the commit.
    fn after_commit(&mut self, _conn: &Connection) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A request that need not be on disk before something else is.
pub(crate) struct Soon<W>(pub W);

impl<W: Work> Work for Soon<W> {
    type Reply = W::Reply;

    fn write(&mut self, tx: &mut Tx<'_>) -> Result<Self::Reply, StoreError> {
        self.0.write(tx)
    }
    fn announces(&self) -> bool {
        self.0.announces()
    }
    fn is_small(&self) -> bool {
        self.0.is_small()
    }
    fn may_wait(&self) -> bool {
        true
    }
    fn after_commit(&mut self, conn: &Connection) -> Result<(), StoreError> {
        self.0.after_commit(conn)
    }
}

/// What a request works with.
pub(crate) struct Tx<'a> {
    pub conn: &'a Connection,
    pub known: &'a mut Known,
}

/// The way to the seat.
pub(crate) struct Writer {
    hall: Arc<Hall>,
    room: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
    pub news: Arc<News>,
}

/// What everyone is told.
pub(crate) struct News {
    /// Counts what others wrote. Written by whoever has the seat.
    pub marks: watch::Sender<u64>,
    /// How many wait for it: while there are none, nothing is polled.
    watchers: AtomicUsize,
    /// How many transactions were committed.
    pub commits: AtomicU64,
    /// How long the last commit took, in microseconds.
    pub last_commit_us: AtomicU64,
}

/// Where requests wait, with the seat in it. Whoever locks both locks the seat first.
struct Hall {
    seat: Mutex<Seat>,
    queue: Mutex<Queue>,
    /// Wakes the thread.
    bell: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: Group,
    /// The thread waits for the bell.
    idle: bool,
    /// The thread has to look at what it is asked for beside jobs.
    called: bool,
    /// No more is taken.
    closed: bool,
}

impl Writer {
    /// Starts the thread with an open connection, or without one for a file that is only read.
    pub(crate) fn start(path: PathBuf, conn: Option<Connection>) -> Result<Self, StoreError> {
        let news = Arc::new(News {
            marks: watch::Sender::new(0),
            watchers: AtomicUsize::new(0),
            commits: AtomicU64::new(0),
            last_commit_us: AtomicU64::new(0),
        });
        let seat = Mutex::new(Seat::new(path, conn, Arc::clone(&news)));
        let hall = Arc::new(Hall { seat, queue: Mutex::default(), bell: Condvar::new() });
        let serving = Serving(Arc::clone(&hall), Arc::clone(&news));
        let thread = std::thread::Builder::new()
            .name("gantry-writer".to_owned())
            .spawn(move || serving.serve())
            .map_err(|error| StoreError::Io { what: format!("starting the thread that writes: {error}") })?;
        let room = Arc::new(Semaphore::new(WAITING_MAX));
        Ok(Self { hall, room, thread: Some(thread), news })
    }

    /// Hands in a request and waits until it is durable.
    pub(crate) async fn ask<W: Work>(&self, work: W) -> Result<W::Reply, StoreError> {
        let gone = || StoreError::Io { what: "the thread that writes is gone".to_owned() };
        let permit = Arc::clone(&self.room).acquire_owned().await.map_err(|_| gone())?;
        let small = work.is_small();
        let (to, answer) = oneshot::channel();
        let alone = self.hall.hand_in(Box::new(Pending { work, reply: None, to, _permit: permit })).ok_or_else(gone)?;
        // Whatever happens to whoever asks, the thread writes what is still there afterwards.
        let bell = Bell(&self.hall);
        if alone && small && self.is_quick() {
            tokio::task::yield_now().await; // whoever else is about to ask shares the commit
            self.hall.write_alone();
        }
        drop(bell);
        answer.await.map_err(|_| gone())?
    }

    /// Tells whether more waits than the thread should prepare by itself: then those who ask have the time to.
    pub(crate) fn is_behind(&self) -> bool {
        self.hall.queue().jobs.len() >= BEHIND
    }

    fn is_quick(&self) -> bool {
        u128::from(self.news.last_commit_us.load(Ordering::Relaxed)) <= QUICK.as_micros()
    }

    /// Waits until others wrote something since `seen`.
    pub(crate) async fn changed(&self, seen: u64) -> u64 {
        let mut marks = self.news.marks.subscribe();
        let _watching = Watching::begin(&self.news);
        self.hall.call();
        match marks.wait_for(|mark| *mark != seen).await {
            Ok(mark) => *mark,
            Err(_) => seen,
        }
    }
}

impl Drop for Writer {
    /// Everything that was handed in is written before the store is gone.
    fn drop(&mut self) {
        self.hall.queue().closed = true;
        self.hall.bell.notify_one();
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

/// Rings when it is dropped.
struct Bell<'a>(&'a Hall);

impl Drop for Bell<'_> {
    fn drop(&mut self) {
        let queue = self.0.queue();
        if queue.idle && !queue.jobs.is_empty() {
            self.0.bell.notify_one();
        }
    }
}

impl Hall {
    /// The queue is whole after every statement, so a panic elsewhere leaves nothing half done.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever broke at the seat may have left a transaction open: it ends with the connection.
    fn seat(&self) -> MutexGuard<'_, Seat> {
        self.seat.lock().unwrap_or_else(|broken| {
            self.seat.clear_poison();
            let mut seat = broken.into_inner();
            seat.leave_connection();
            seat
        })
    }

    /// Puts a request in line and tells whether it is the only one; none when no more is taken.
    fn hand_in(&self, job: Box<dyn Job>) -> Option<bool> {
        let mut queue = self.queue();
        if queue.closed {
            return None;
        }
        queue.jobs.push(job);
        Some(queue.jobs.len() == 1)
    }

    fn call(&self) {
        self.queue().called = true;
        self.bell.notify_one();
    }

    /// Writes what waits if that is one request and the seat is free.
    fn write_alone(&self) {
        let Ok(mut seat) = self.seat.try_lock() else { return };
        let group = {
            let mut queue = self.queue();
            if queue.jobs.len() != 1 {
                return;
            }
            std::mem::take(&mut queue.jobs)
        };
        let left = seat.write_if_free(group);
        let due = seat.is_log_long();
        drop(seat);
        if !left.is_empty() {
            self.queue().jobs.splice(0..0, left);
        }
        if due {
            self.call();
        }
    }
}

/// The thread, as long as it serves.
struct Serving(Arc<Hall>, Arc<News>);

impl Serving {
    fn serve(self) {
        let Self(hall, news) = &self;
        let mut polled: Option<Instant> = None;
        loop {
            let watched = news.watchers.load(Ordering::SeqCst) > 0;
            if watched && polled.is_none_or(|at| at.elapsed() >= POLL) {
                hall.seat().poll();
                polled = Some(Instant::now());
            }
            let nothing = |queue: &mut Queue| queue.jobs.is_empty() && !queue.called && !queue.closed;
            let mut queue = hall.queue();
            queue.idle = true;
            queue = if watched {
                let waited = hall.bell.wait_timeout_while(queue, POLL, nothing);
                waited.unwrap_or_else(PoisonError::into_inner).0
            } else {
                hall.bell.wait_while(queue, nothing).unwrap_or_else(PoisonError::into_inner)
            };
            queue.idle = false;
            queue.called = false;
            if queue.closed && queue.jobs.is_empty() {
                return;
            }
            drop(queue);
            let mut seat = hall.seat();
            let group = hall.take_group(); // after waiting for the seat: more may have come
            if !group.is_empty() {
                seat.write(group);
            }
            seat.take_over_log();
        }
    }
}

impl Drop for Serving {
    /// Nobody waits for a thread that is gone.
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        queue.closed = true;
        queue.jobs.clear();
    }
}

impl Hall {
    fn take_group(&self) -> Group {
        let mut queue = self.queue();
        let count = queue.jobs.len().min(GROUP_MAX);
        let rest = queue.jobs.split_off(count);
        std::mem::replace(&mut queue.jobs, rest)
    }
}

/// A request of whatever kind, with the way back to whoever asked.
pub(crate) trait Job: Send {
    /// Runs it; an error means that the transaction is in an unknown state.
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError>;
    fn announces(&self) -> bool;
    fn may_wait(&self) -> bool;
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

    fn may_wait(&self) -> bool {
        self.work.may_wait()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteStore;

    /// Writes nothing, and tells which thread it was written by.
    struct Where;

    impl Work for Where {
        type Reply = String;
        fn write(&mut self, _tx: &mut Tx<'_>) -> Result<String, StoreError> {
            Ok(std::thread::current().name().unwrap_or_default().to_owned())
        }
        fn is_small(&self) -> bool {
            true
        }
    }

    fn here() -> String {
        std::thread::current().name().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn a_small_request_that_comes_alone_is_written_by_whoever_asks() {
        let store = SqliteStore::temporary().unwrap();
        assert_eq!(store.0.writer.ask(Where).await, Ok(here()));
    }

    #[tokio::test]
    async fn requests_that_come_together_are_written_by_the_thread() {
        let store = SqliteStore::temporary().unwrap();
        let (one, other) = tokio::join!(store.0.writer.ask(Where), store.0.writer.ask(Where));
        assert_eq!((one.as_deref(), other.as_deref()), (Ok("gantry-writer"), Ok("gantry-writer")));
    }

    #[tokio::test]
    async fn where_commits_are_slow_the_thread_writes() {
        let store = SqliteStore::temporary().unwrap();
        store.0.writer.news.last_commit_us.store(3_000, Ordering::Relaxed);
        assert_eq!(store.0.writer.ask(Where).await.as_deref(), Ok("gantry-writer"));
    }

    #[tokio::test]
    async fn whoever_would_have_to_wait_for_another_process_leaves_it_to_the_thread() {
        let store = SqliteStore::temporary().unwrap();
        let other = Connection::open(store.path()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let (answer, ()) = tokio::join!(store.0.writer.ask(Where), async {
            for _ in 0..3 {
                tokio::task::yield_now().await; // afterwards it was tried
            }
            other.execute_batch("COMMIT").unwrap();
        });
        assert_eq!(answer.as_deref(), Ok("gantry-writer"));
    }
}
