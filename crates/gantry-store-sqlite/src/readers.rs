//! A few threads that read, each with a connection of its own, so that reading never waits for writing.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use gantry_store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::sql;
use crate::open::{self, Use};

/// How many threads there are for each kind of work. They start when the first request comes.
const THREADS: usize = 2;

type Job = Box<dyn FnOnce(&mut Desk) + Send>;

/// The way to the threads that read.
pub(crate) struct Readers {
    path: PathBuf,
    how: Use,
    name: &'static str,
    started: OnceLock<Started>,
    /// Where those read who ask for little. Never waited for.
    own: Mutex<Desk>,
    /// How many ask for little at this moment.
    asking: AtomicUsize,
}

struct Started {
    door: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

/// What one thread has: a connection once it needed one.
pub(crate) struct Desk {
    path: PathBuf,
    how: Use,
    conn: Option<Connection>,
}

impl Readers {
    /// Makes the way to threads of this name.
    pub(crate) fn new(path: PathBuf, how: Use, name: &'static str) -> Self {
        let own = Mutex::new(Desk { path: path.clone(), how, conn: None });
        Self { path, how, name, started: OnceLock::new(), own, asking: AtomicUsize::new(0) }
    }

    /// Reads a few rows within one transaction. Whoever asks alone reads by itself: waking a thread and being woken by
    /// it takes longer than finding a row.
    pub(crate) async fn read_little<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let asking = Asking::begin(&self.asking);
        if asking.is_alone() {
            tokio::task::yield_now().await; // for those who come together the threads read side by side
            if asking.is_alone()
                && let Some(found) = self.read_here(&read)
            {
                return found;
            }
        }
        self.read(read).await
    }

    /// Reads on this thread; none when that would mean to wait for somebody, or does not work.
    fn read_here<T>(&self, read: impl Fn(&Connection) -> Result<T, StoreError>) -> Option<Result<T, StoreError>> {
        let mut desk = self.own.try_lock().ok()?;
        let found = desk.use_connection(|conn| {
            conn.busy_timeout(Duration::ZERO).map_err(|error| sql(&error, "reading"))?;
            within_one_moment(conn, read)
        });
        (!matches!(found, Err(StoreError::Busy { .. } | StoreError::Io { .. }))).then_some(found)
    }

    /// Reads within one transaction: everything that is seen was true at one moment.
    pub(crate) async fn read<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.with_connection(|conn| within_one_moment(conn, read)).await
    }

    /// Uses a connection without a transaction.
    pub(crate) async fn with_connection<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.run(|desk| desk.use_connection(work)).await
    }

    /// Does anything that would hold up whoever asks.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Desk) -> Result<T, StoreError> + Send + 'static,
    {
        let gone = || StoreError::Io { what: "the threads that read are gone".to_owned() };
        let (to, answer) = oneshot::channel();
        let job: Job = Box::new(move |desk| {
            let _ = to.send(work(desk));
        });
        let started = self.started.get_or_init(|| self.start());
        started.door.as_ref().ok_or_else(gone)?.send(job).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    fn start(&self) -> Started {
        let (door, jobs) = channel::<Job>();
        // Held by the one thread that waits for the next job.
        let jobs = Arc::new(Mutex::new(jobs));
        let thread = |number: usize| {
            let jobs = Arc::clone(&jobs);
            let mut desk = Desk { path: self.path.clone(), how: self.how, conn: None };
            let name = format!("{}-{number}", self.name);
            std::thread::Builder::new().name(name).spawn(move || desk.serve(&jobs)).ok()
        };
        Started { door: Some(door), threads: (1..=THREADS).filter_map(thread).collect() }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        if let Some(mut started) = self.started.take() {
            started.door = None;
            for thread in started.threads {
                let _ = thread.join();
            }
        }
    }
}

impl Desk {
    fn serve(&mut self, jobs: &Mutex<Receiver<Job>>) {
        loop {
            let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            match next {
                Ok(job) => job(self),
                Err(_) => return,
            }
        }
    }

    fn use_connection<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let result = self.connection().and_then(work);
        if let Err(StoreError::Io { .. } | StoreError::Corrupt { .. }) = &result {
            self.conn = None;
        }
        result
    }

    fn connection(&mut self) -> Result<&Connection, StoreError> {
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => open::for_reading(&self.path, self.how)?,
        };
        Ok(self.conn.insert(conn))
    }
}

/// Everything that is seen was true at one moment.
fn within_one_moment<T>(
    conn: &Connection,
    read: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let failed = |error: rusqlite::Error| sql(&error, "reading");
    let tx = conn.unchecked_transaction().map_err(failed)?;
    let found = read(&tx)?;
    tx.commit().map_err(failed)?;
    Ok(found)
}

/// One who asks for little, until it is dropped.
struct Asking<'a>(&'a AtomicUsize);

impl<'a> Asking<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }

    fn is_alone(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 1
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteStore;

    /// Tells which thread it was read by.
    #[expect(clippy::unnecessary_wraps, reason = "readers may fail")]
    fn place(_: &Connection) -> Result<String, StoreError> {
        Ok(here())
    }

    fn here() -> String {
        std::thread::current().name().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn whoever_asks_alone_for_little_reads_by_itself() {
        let store = SqliteStore::temporary().unwrap();
        assert_eq!(store.0.readers.read_little(place).await, Ok(here()));
    }

    #[tokio::test]
    async fn for_those_who_ask_together_threads_read() {
        let store = SqliteStore::temporary().unwrap();
        let ask = || store.0.readers.read_little(place);
        let (one, other) = tokio::join!(ask(), ask());
        assert!(one.unwrap().starts_with("gantry-reader") && other.unwrap().starts_with("gantry-reader"));
        assert_eq!(ask().await, Ok(here()), "and nobody is counted who has left");
    }

    #[tokio::test]
    async fn whoever_would_have_to_wait_leaves_it_to_a_thread() {
        let store = SqliteStore::temporary().unwrap();
        let busy = |_: &Connection| match here() {
            name if name.starts_with("gantry-reader") => Ok(name),
            _ => Err(StoreError::Busy { what: "another program has it".to_owned() }),
        };
        assert!(store.0.readers.read_little(busy).await.unwrap().starts_with("gantry-reader"));
    }
}
