//! A disk that is full, that fails to sync, or that may not be written.

use std::path::Path;

use gantry_store::{Store, StoreError};
use gantry_store_sqlite::SqliteStore;

use crate::child::Process;
use crate::kit::{Folder, SmallDisk, append, at, grow, has_strace, plan};

fn fill(file: &Path, bytes: usize) {
    std::fs::write(file, vec![1; bytes]).unwrap();
}

#[tokio::test]
async fn a_full_disk_is_refused_clearly_and_work_goes_on_when_there_is_room() {
    let Some(disk) = SmallDisk::mount("size=3m") else { return };
    let store = SqliteStore::open(disk.file("gantry.db")).unwrap();
    let mut last = grow(&store, "a", 3).await;
    fill(&disk.file("filler"), 1 << 20);
    for round in 0..2 {
        let refused = loop {
            match store.append(append("a", last.length, 500)).await {
                Ok(appended) => last = appended,
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, StoreError::Full { .. }) && refused.is_transient(), "{refused:?}");
        let noise: Vec<u8> =
            (0..200_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        assert!(matches!(store.put_blob(noise, at(0)).await, Err(StoreError::Full { .. })));

        let loaded = store.load(&plan("a")).await.unwrap().unwrap();
        assert_eq!((loaded.length, loaded.head), (last.length, last.head), "it stays readable, and nothing is lost");

        // Room returns.
        if round == 0 {
            std::fs::remove_file(disk.file("filler")).unwrap();
        } else {
            disk.remount("size=6m");
        }
        last = store.append(append("a", last.length, 1)).await.unwrap();
    }
    drop(store);
    let store = SqliteStore::open(disk.file("gantry.db")).unwrap();
    let report = store.verify(&plan("a")).await.unwrap();
    assert!(report.is_sound());
    assert_eq!((report.length, report.head), (last.length, last.head));
}

#[tokio::test]
async fn a_write_whose_sync_fails_is_not_acknowledged_and_the_next_one_works() {
    if !has_strace() {
        return;
    }
    for error in ["ENOSPC", "EIO"] {
        for call in [3, 7] {
            let folder = Folder::new();
            let _ = grow(&folder.store(), "a", 1).await;
            let inject = format!("inject=fdatasync,fsync:error={error}:when={call}");
            let said = Process::start("append-40", &folder.database(), &["-e", &inject]).rest();
            let errors: Vec<&String> = said.iter().filter(|line| line.starts_with("error")).collect();
            // The calls of each thread are counted on their own, and two may write: whoever asks, and the thread for all.
            assert!(matches!(errors.len(), 1 | 2), "{error} at sync {call}: {said:?}");
            assert!(errors.iter().all(|error| error.starts_with("error true")), "it is worth trying again: {said:?}");
            let acks: Vec<u64> = said.iter().filter_map(|line| line.strip_prefix("ack ")?.parse().ok()).collect();
            assert_eq!(acks.len() + errors.len(), 40, "everything else was written");
            assert!(acks.is_sorted_by(|before, after| before < after), "no number twice: {acks:?}");
            let store = folder.store();
            let report = store.verify(&plan("a")).await.unwrap();
            assert!(report.is_sound() && Some(&report.length) >= acks.last(), "{report:?}");
        }
    }
}

#[tokio::test]
async fn a_read_only_disk_can_be_read_and_says_why_it_is_not_written() {
    let Some(disk) = SmallDisk::mount("size=3m") else { return };
    let file = disk.file("gantry.db");
    let last = grow(&SqliteStore::open(&file).unwrap(), "a", 3).await;
    disk.remount("ro");
    assert!(matches!(SqliteStore::open(&file).err(), Some(StoreError::ReadOnly { .. })));
    let store = SqliteStore::open_read_only(&file).unwrap();
    assert_eq!(store.load(&plan("a")).await.unwrap().unwrap().head, last.head);
    let refused = store.append(append("a", 3, 1)).await;
    assert!(matches!(refused, Err(StoreError::ReadOnly { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_store_that_was_opened_for_reading_sees_what_others_write_and_writes_nothing() {
    let folder = Folder::new();
    let writing = folder.store();
    let _ = grow(&writing, "a", 1).await;
    let reading = SqliteStore::open_read_only(folder.database()).unwrap();
    let _ = writing.append(append("a", 1, 1)).await.unwrap();
    assert_eq!(reading.load(&plan("a")).await.unwrap().unwrap().length, 2);
    assert!(matches!(reading.put_blob(vec![1], at(0)).await, Err(StoreError::ReadOnly { .. })));
    assert!(matches!(reading.forget(&plan("a")).await, Err(StoreError::ReadOnly { .. })));
}
