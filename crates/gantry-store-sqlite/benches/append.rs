//! What an append costs, beside what a bare commit costs in the same run.
//!
//! `cargo bench -p gantry-store-sqlite --bench append` prints commits per second of plain SQLite (one row for
//! each commit, the same settings), appends per second one at a time and of 200 plans at once, and
//! entries per second in big turns. The ratios count; the machine's speed does not.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]
#![expect(clippy::unwrap_used, reason = "a benchmark stops when something is wrong")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use gantry_core::event::{EVENT_VERSION, Entry, Event};
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::life::TaskState;
use gantry_core::policy::Usage;
use gantry_core::time::Timestamp;
use gantry_store::{Append, Card, Store, Turn};
use gantry_store_sqlite::SqliteStore;
use serde_json::json;

const SPAN: Duration = Duration::from_secs(2);
const ROUNDS: u32 = 3;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    println!("{:<44} {:>12} {:>14}", "work", "per second", "ratio to raw");
    let mut sums = [0.0; 4];
    for _ in 0..ROUNDS {
        for (sum, measured) in
            sums.iter_mut().zip([raw(), one_at_a_time().await, at_once(200).await, big_turns(500).await])
        {
            *sum += measured / f64::from(ROUNDS);
        }
    }
    let names = [
        "raw commits, one row each",
        "appends, one at a time",
        "appends, 200 plans at once",
        "entries, in turns of 500",
    ];
    for (name, rate) in names.iter().zip(sums) {
        println!("{name:<44} {rate:>12.0} {:>14.2}", rate / sums[0]);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gantry.db");
    drop(SqliteStore::open(&path).unwrap());
    let begin = Instant::now();
    drop(SqliteStore::open(&path).unwrap());
    println!("{:<44} {:>9.2} ms", "opening and closing an existing file", begin.elapsed().as_secs_f64() * 1e3);
}

/// Repeats until the span is over; returns how often per second.
async fn rate<F: Future<Output = u64>>(mut work: impl FnMut() -> F) -> f64 {
    let begin = Instant::now();
    let mut count = 0;
    while begin.elapsed() < SPAN {
        count += work().await;
    }
    count as f64 / begin.elapsed().as_secs_f64()
}

/// Plain SQLite: one row of the size of a turn for each commit.
fn raw() -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let conn = rusqlite::Connection::open(folder.path().join("raw.db")).unwrap();
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)").unwrap();
    let body = serde_json::to_string(&entries(1, 2)).unwrap();
    let begin = Instant::now();
    let mut count = 0_u64;
    while begin.elapsed() < SPAN {
        conn.prepare_cached("INSERT INTO t (body) VALUES (?1)").unwrap().execute([&body]).unwrap();
        count += 1;
    }
    count as f64 / begin.elapsed().as_secs_f64()
}

async fn one_at_a_time() -> f64 {
    let store = SqliteStore::temporary().unwrap();
    let mut length = 0;
    rate(|| {
        let append = append(0, length, 2);
        length += 2;
        async {
            let _ = store.append(append).await.unwrap();
            1
        }
    })
    .await
}

async fn at_once(plans: u64) -> f64 {
    let store = Arc::new(SqliteStore::temporary().unwrap());
    let begin = Instant::now();
    let one = |number: u64| {
        let store = Arc::clone(&store);
        async move {
            let mut length = 0;
            while begin.elapsed() < SPAN {
                let _ = store.append(append(number, length, 2)).await.unwrap();
                length += 2;
            }
            length / 2
        }
    };
    let running: Vec<_> = (0..plans).map(|number| tokio::spawn(one(number))).collect();
    let mut count = 0;
    for plan in running {
        count += plan.await.unwrap();
    }
    count as f64 / begin.elapsed().as_secs_f64()
}

async fn big_turns(size: u64) -> f64 {
    let store = SqliteStore::temporary().unwrap();
    let mut length = 0;
    rate(|| {
        let append = append(0, length, size);
        length += size;
        async {
            let _ = store.append(append).await.unwrap();
            size
        }
    })
    .await
}

/// What a task that ends and another that starts leave in the journal.
fn entries(first: u64, count: u64) -> Vec<Entry> {
    let task = TaskId::new("build-the-middleware").unwrap();
    let key = "0123456789abcdef0123456789abcdef".to_owned();
    let at = Timestamp::from_ms(1_790_000_000_000);
    let event = |seq: u64| match seq % 2 {
        0 => Event::AttemptSucceeded {
            task: task.clone(),
            attempt: AttemptNo(1),
            outputs: [("exit_code".to_owned(), json!(0))].into(),
            artifacts: Vec::new(),
            outcome: None,
            shortfall: None,
            usage: Usage::default(),
        },
        _ => Event::AttemptStarted {
            task: task.clone(),
            attempt: AttemptNo(1),
            key: key.clone(),
            reserved: Usage::default(),
            timeout_at: Some(at),
            lease_until: Some(at),
        },
    };
    (first..first + count).map(|seq| Entry { v: EVENT_VERSION, seq, at, event: event(seq) }).collect()
}

fn append(plan: u64, length: u64, count: u64) -> Append {
    let mut card = Card::new("Add partial retries to the HTTP client");
    card.tasks = [(TaskState::Completed, 3), (TaskState::Running, 4), (TaskState::Pending, 50)].into();
    let turn = Turn {
        first_seq: length + 1,
        inputs: json!([{"succeeded": {"task": "build-the-middleware", "attempt": 1}}]).to_string(),
        entries: entries(length + 1, count),
        at: Timestamp::from_ms(1_790_000_000_000),
    };
    Append::new(PlanId::new(&format!("plan-bench-{plan}")).unwrap(), length, turn, card)
}
