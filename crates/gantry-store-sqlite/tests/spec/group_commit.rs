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

#[tokio::test]
async fn a_whole_life_is_one_commit_and_a_refusal_in_it_does_not_hurt_others() {
    let folder = Folder::new();
    let store = folder.store();
    let life = |id: &str| (0..500).map(|length| append(id, length, 1)).collect::<Vec<_>>();
    let before = store.info().await.unwrap().commits;
    assert_eq!(store.import(life("a")).await.unwrap().length, 500);
    assert_eq!(store.info().await.unwrap().commits - before, 1, "whoever is killed meanwhile leaves nothing");

    // In one transaction: a life with a gap at its end, and someone else's turn.
    let other = rusqlite::Connection::open(folder.database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut broken = life("b");
    broken.remove(400);
    let (broken, fine) = (store.import(broken), store.append(append("a", 500, 1)));
    let committing = tokio::spawn(async move { other.execute_batch("COMMIT").unwrap() });
    let (broken, fine, committed) = tokio::join!(broken, fine, committing);
    committed.unwrap();
    assert_eq!(broken.err(), Some(StoreError::Conflict { length: 400 }));
    assert_eq!(fine.unwrap().length, 501);
    assert_eq!(store.load(&plan("b")).await.unwrap(), None);
    assert!(store.verify(&plan("a")).await.unwrap().is_sound());
}
