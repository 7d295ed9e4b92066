//! A log whose tail did not reach the disk.

use gantry_store::Store;
use gantry_store_sqlite::SqliteStore;

use crate::kit::{Folder, append, plan};

#[tokio::test]
async fn a_log_that_was_cut_anywhere_opens_with_a_sound_beginning_of_what_was_written() {
    let folder = Folder::new();
    let store = folder.store();
    let mut sizes = Vec::new(); // how long the log was after each acknowledgement
    let log = folder.file("gantry.db-wal");
    for length in 0..7 {
        let _ = store.append(append("a", length, 1)).await.unwrap();
        sizes.push(std::fs::metadata(&log).unwrap().len());
    }
    let whole = std::fs::read(&log).unwrap();
    let main = std::fs::read(folder.database()).unwrap();

    // Around every acknowledgement, byte by byte, and a grid over everything else, which is finer over the last record.
    let near = sizes.iter().flat_map(|size| size.saturating_sub(4)..=*size);
    let grid = (0..whole.len() as u64).step_by(1_777);
    let last = (sizes[5]..sizes[6]).step_by(61);
    for cut in near.chain(grid).chain(last).chain([whole.len() as u64]) {
        let torn = Folder::new();
        std::fs::write(torn.database(), &main).unwrap();
        std::fs::write(torn.file("gantry.db-wal"), &whole[..usize::try_from(cut).unwrap()]).unwrap();
        let store = SqliteStore::open(torn.database()).unwrap();
        let found = store.load(&plan("a")).await.unwrap().map_or(0, |loaded| loaded.length);
        let whole_turns = sizes.iter().filter(|size| **size <= cut).count() as u64;
        assert_eq!(found, whole_turns, "cut at {cut}");
        // What was dropped is said, and said once.
        if cut >= sizes[0] {
            assert_eq!(store.note().is_some(), !sizes.contains(&cut), "cut at {cut}: {:?}", store.note());
        }
        assert_eq!(SqliteStore::open(torn.database()).unwrap().note(), None, "cut at {cut}");
        let _ = store.append(append("a", found, 1)).await.unwrap();
        assert!(store.verify(&plan("a")).await.unwrap().is_sound(), "cut at {cut}");
    }
}

/// Appends until the log does not grow any more: there is room in it. Returns how long the journal is.
async fn fill_until_there_is_room(store: &SqliteStore, log: &std::path::Path) -> u64 {
    let size = || std::fs::metadata(log).unwrap().len();
    let (mut length, mut before) = (0, 0);
    while length < 10_000 {
        length = store.append(append("a", length, 20)).await.unwrap().length;
        if size() == before {
            return length;
        }
        before = size();
    }
    panic!("after {length} entries there is still no room in the log");
}

#[tokio::test]
async fn a_log_with_room_in_it_is_read_to_the_end_of_what_was_written() {
    let folder = Folder::new();
    let store = folder.store();
    let log = folder.file("gantry.db-wal");
    let length = fill_until_there_is_room(&store, &log).await;
    let whole = std::fs::read(&log).unwrap();
    let main = std::fs::read(folder.database()).unwrap();
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    assert!(whole.len() - used > 4_096, "{used} of {} bytes are used", whole.len());

    for (cut, lost) in [(whole.len(), false), (whole.len() - 1, false), (used + 4_120, false), (used - 1, true)] {
        let torn = Folder::new();
        std::fs::write(torn.database(), &main).unwrap();
        std::fs::write(torn.file("gantry.db-wal"), &whole[..cut]).unwrap();
        let store = SqliteStore::open(torn.database()).unwrap();
        let found = store.load(&plan("a")).await.unwrap().unwrap().length;
        assert_eq!(found, if lost { length - 20 } else { length }, "cut at {cut}");
        assert_eq!(store.note().is_some(), lost, "cut at {cut}: {:?}", store.note());
        let _ = store.append(append("a", found, 1)).await.unwrap();
        assert!(store.verify(&plan("a")).await.unwrap().is_sound(), "cut at {cut}");
    }
}

#[tokio::test]
async fn a_log_is_taken_over_before_it_is_long_and_begins_again() {
    let folder = Folder::new();
    let store = folder.store();
    for number in 0..160_u32 {
        let noise = (0..75_000_u32).flat_map(|word| (word ^ (number << 20)).wrapping_mul(2_654_435_761).to_le_bytes());
        let _ = store.put_blob(noise.collect(), crate::kit::at(0)).await.unwrap();
    }
    let info = store.info().await.unwrap();
    assert!(info.bytes > 30 << 20, "{info:?}");
    assert!(info.log_bytes < 32 << 20, "{info:?}");
    // Behind the end of a log that has begun again stands an older one, which nobody misses.
    assert_eq!(folder.store().note(), None);
}

#[tokio::test]
async fn a_log_that_was_taken_over_and_is_about_to_begin_again_misses_nothing() {
    let folder = Folder::new();
    let store = folder.store();
    for length in 0..7 {
        let _ = store.append(append("a", length, 1)).await.unwrap();
    }
    let other = rusqlite::Connection::open(folder.database()).unwrap();
    other.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
    assert!(
        std::fs::metadata(folder.file("gantry.db-wal")).unwrap().len() > 0,
        "what was taken over still stands there"
    );
    assert_eq!(folder.store().note(), None);
    assert_eq!(store.load(&plan("a")).await.unwrap().unwrap().length, 7);
}
