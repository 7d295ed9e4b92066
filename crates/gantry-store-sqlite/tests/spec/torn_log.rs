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
    for length in 0..12 {
        let _ = store.append(append("a", length, 1)).await.unwrap();
        sizes.push(std::fs::metadata(&log).unwrap().len());
    }
    let whole = std::fs::read(&log).unwrap();
    let main = std::fs::read(folder.database()).unwrap();

    // Around every acknowledgement, byte by byte, and a grid over everything else.
    let near = sizes.iter().flat_map(|size| size.saturating_sub(4)..=*size);
    let grid = (0..whole.len() as u64).step_by(1_777);
    for cut in near.chain(grid).chain([whole.len() as u64]) {
        let torn = Folder::new();
        std::fs::write(torn.database(), &main).unwrap();
        std::fs::write(torn.file("gantry.db-wal"), &whole[..usize::try_from(cut).unwrap()]).unwrap();
        let store = SqliteStore::open(torn.database()).unwrap();
        let found = store.load(&plan("a")).await.unwrap().map_or(0, |loaded| loaded.length);
        let whole_turns = sizes.iter().filter(|size| **size <= cut).count() as u64;
        assert_eq!(found, whole_turns, "cut at {cut}");
        let _ = store.append(append("a", found, 1)).await.unwrap();
        assert!(store.verify(&plan("a")).await.unwrap().is_sound(), "cut at {cut}");
    }
}
