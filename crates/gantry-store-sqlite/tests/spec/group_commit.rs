//! Many requests, one commit.

use std::future::Future;
use std::task::{Context, Waker};

use gantry_store::{Store, StoreError};

use crate::kit::{Folder, append, grow, plan};

#[tokio::test]
async fn appends_of_many_plans_share_one_commit_and_a_conflict_among_them_hurts_nobody() {
    let folder = Folder::new();
    let store = folder.store();
    let _ = grow(&store, "known", 3).await;
    let before = store.info().await.unwrap().commits;

    // Another connection holds the lock until everything is waiting at the door.
    let other = rusqlite::Connection::open(folder.database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut appends: Vec<_> = (0..100)
        .map(|number| match number {
            50 => append("known", 1, 1),
            _ => append(&format!("p{number}"), 0, 2),
        })
        .map(|request| Box::pin(store.append(request)))
        .collect();
    for waiting in &mut appends {
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    other.execute_batch("COMMIT").unwrap();

    for (number, waiting) in appends.into_iter().enumerate() {
        match (number, waiting.await) {
            (50, answer) => assert_eq!(answer, Err(StoreError::Conflict { length: 3 })),
            (_, answer) => assert_eq!(answer.unwrap().length, 2),
        }
    }
    let commits = store.info().await.unwrap().commits - before;
    assert!(commits <= 2, "99 appends took {commits} commits");
    for number in (0..100).filter(|number| *number != 50) {
        assert!(store.verify(&plan(&format!("p{number}"))).await.unwrap().is_sound());
    }
}

#[tokio::test]
async fn what_was_handed_in_is_written_even_if_nobody_waits_for_it() {
    let folder = Folder::new();
    let store = folder.store();
    {
        let mut forgotten = Box::pin(store.append(append("a", 0, 1)));
        let _ = forgotten.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
    drop(store);
    assert_eq!(folder.store().load(&plan("a")).await.unwrap().unwrap().length, 1);
}
