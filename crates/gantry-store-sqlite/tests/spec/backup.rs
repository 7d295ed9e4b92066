//! A copy that is taken while others write.

use gantry_store::{Store, StoreError};
use gantry_store_sqlite::SqliteStore;
use tokio::sync::oneshot::error::TryRecvError;

use crate::kit::{Folder, append, grow, plan};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_taken_while_running_is_one_consistent_moment() {
    let folder = Folder::new();
    let store = folder.store();
    for name in ["a", "b"] {
        let _ = grow(&store, name, 1).await;
    }
    let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
    let writing = {
        let store = store.clone();
        tokio::spawn(async move {
            // `b` is always written after `a`: a copy where it is ahead was taken at two moments.
            let mut length = 1;
            while matches!(stopped.try_recv(), Err(TryRecvError::Empty)) {
                for name in ["a", "b"] {
                    let _ = store.append(append(name, length, 1)).await.unwrap();
                }
                length += 1;
            }
            length
        })
    };
    for round in 0..5 {
        let to = folder.file(&format!("copy{round}.db"));
        store.backup(&to).await.unwrap();
        let copy = SqliteStore::open(&to).unwrap();
        let mut lengths = Vec::new();
        for name in ["a", "b"] {
            let report = copy.verify(&plan(name)).await.unwrap();
            assert!(report.is_sound(), "{report:?}");
            lengths.push(report.length);
        }
        assert!(lengths[0] == lengths[1] || lengths[0] == lengths[1] + 1, "{lengths:?}");
        assert_eq!(copy.check().await, Ok(vec![]));
        let _ = copy.append(append("a", lengths[0], 1)).await.expect("a restored copy goes on");
    }
    stop.send(()).unwrap();
    let written = writing.await.unwrap();
    assert_eq!(store.load(&plan("a")).await.unwrap().unwrap().length, written);
}

#[tokio::test]
async fn a_backup_overwrites_nothing() {
    let folder = Folder::new();
    std::fs::write(folder.file("mine.txt"), "precious").unwrap();
    let refused = folder.store().backup(folder.file("mine.txt")).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    assert_eq!(std::fs::read_to_string(folder.file("mine.txt")).unwrap(), "precious");
}
