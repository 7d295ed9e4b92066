//! A few threads that read, each with a connection of its own, so that reading never waits for writing.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

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
        Self { path, how, name, started: OnceLock::new() }
    }

    /// Reads within one transaction: everything that is seen was true at one moment.
    pub(crate) async fn read<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.with_connection(|conn| {
            let failed = |error: rusqlite::Error| sql(&error, "reading");
            let tx = conn.unchecked_transaction().map_err(failed)?;
            let found = read(&tx)?;
            tx.commit().map_err(failed)?;
            Ok(found)
        })
        .await
    }

    /// Uses a connection without a transaction.
    pub(crate) async fn with_connection<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.run(|desk| {
            let result = desk.connection().and_then(work);
            if let Err(StoreError::Io { .. } | StoreError::Corrupt { .. }) = &result {
                desk.conn = None;
            }
            result
        })
        .await
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

    fn connection(&mut self) -> Result<&Connection, StoreError> {
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => open::for_reading(&self.path, self.how)?,
        };
        Ok(self.conn.insert(conn))
    }
}
