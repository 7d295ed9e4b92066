//! Bits that changed on their own.

use gantry_store::{Store, StoreError};
use gantry_store_sqlite::SqliteStore;
use rusqlite::Connection;

use crate::kit::{Folder, append, furnish, plan, read_all};

async fn furnished() -> Folder {
    let folder = Folder::new();
    furnish(&folder.store()).await;
    folder
}

/// Does something to the file behind the store's back.
fn meddle(folder: &Folder, statement: &str) {
    let conn = Connection::open(folder.database()).unwrap();
    assert_eq!(conn.execute(statement, []).unwrap(), 1, "{statement}");
}

#[tokio::test]
async fn a_change_in_any_column_of_a_turn_is_found_and_named() {
    for change in [
        "plan_no = plan_no + 7",
        "first_seq = first_seq + 1",
        "last_seq = last_seq - 1",
        "at = at + 1",
        "inputs = replace(inputs, '2', '3')",
        "inputs = inputs || ' '",
        "entries = replace(entries, '\"seq\":4', '\"seq\":5')",
        "entries = replace(entries, ',{', ' ,{')",
        "entries = replace(entries, 'facts', 'fakts')",
        "entries = '[]'",
        "entries = 'nonsense'",
        "head = zeroblob(32)",
        "head = zeroblob(31)",
    ] {
        let folder = furnished().await;
        meddle(&folder, "DELETE FROM snapshot WHERE plan_no = 1");
        meddle(&folder, &format!("UPDATE turn SET {change} WHERE plan_no = 1 AND first_seq = 3"));
        let store = folder.store();
        let report = store.verify(&plan("a")).await.unwrap();
        assert_eq!(report.first_broken(), Some(3), "{change}: {report:?}");
        assert_eq!((report.length, report.turns), (2, 1), "what stands before it is sound");
        let loaded = store.load(&plan("a")).await;
        assert!(matches!(&loaded, Err(StoreError::Corrupt { .. })), "{change}: {loaded:?}");
        assert!(store.verify(&plan("b")).await.unwrap().is_sound(), "the other plan is as it was");
    }
}

#[tokio::test]
async fn turns_that_are_missing_are_found_whether_in_the_middle_or_at_the_end() {
    for (first_seq, broken) in [(1, 1), (3, 3), (6, 6)] {
        let folder = furnished().await;
        meddle(&folder, &format!("DELETE FROM turn WHERE plan_no = 1 AND first_seq = {first_seq}"));
        let report = folder.store().verify(&plan("a")).await.unwrap();
        assert_eq!(report.first_broken(), Some(broken), "{report:?}");
    }
}

#[tokio::test]
async fn a_damaged_snapshot_is_named_and_the_whole_journal_serves() {
    for change in ["length = 2", "head = zeroblob(32)", "packing = 'plain'", "bytes = 7", "body = zeroblob(50)"] {
        let folder = furnished().await;
        meddle(&folder, &format!("UPDATE snapshot SET {change} WHERE plan_no = 1"));
        let loaded = folder.store().load(&plan("a")).await.unwrap().unwrap();
        assert_eq!((loaded.snapshot, loaded.turns.len(), loaded.length), (None, 3, 6), "{change}");
        assert!(loaded.damaged[0].contains("the snapshot of plan `a`"), "{:?}", loaded.damaged);
        let report = folder.store().verify(&plan("a")).await.unwrap();
        assert!(report.problems[0].what.contains("snapshot") && report.first_broken().is_none(), "{report:?}");
    }
}

#[tokio::test]
async fn a_change_in_any_other_row_is_found_when_it_is_read() {
    for (change, named) in [
        ("plan SET card = replace(card, 'Plan', 'Plat') WHERE no = 1", "plan `a`"),
        ("plan SET state = 'failed' WHERE no = 1", "plan `a`"),
        ("plan SET length = 5 WHERE no = 1", "plan `a`"),
        ("plan SET searchable = '' WHERE no = 1", "plan `a`"),
        ("plan SET updated_at = 1 WHERE no = 1", "plan `a`"),
        ("blob SET content = zeroblob(length(content)) WHERE packing = 'plain'", "blob"),
        ("blob SET bytes = bytes + 1 WHERE packing = 'zstd'", "blob"),
        ("artifact SET made_by = 'me' WHERE id = 1", "a/build/notes@1"),
        ("artifact SET version = 9 WHERE id = 1", "a/build/notes@9"),
        ("effect SET answer = '{}' WHERE id = 1", "effect 1"),
        ("effect SET ended_at = NULL WHERE id = 1", "effect 1"),
        ("inbox SET input = '1' WHERE id = 2", "input 2"),
        ("inbox SET answer = '1' WHERE id = 1", "input 1"),
    ] {
        let folder = furnished().await;
        meddle(&folder, &format!("UPDATE {change}"));
        let found = read_all(&folder.store()).await.expect_err(change);
        assert!(found.contains(named), "{change}: {found}");
    }
}

#[tokio::test]
async fn one_flipped_bit_anywhere_in_the_file_is_noticed_or_changes_nothing_that_is_read() {
    let folder = furnished().await;
    let sound = std::fs::read(folder.database()).unwrap();
    let expected = read_all(&folder.store()).await.unwrap();
    let (mut noticed, mut harmless) = (0, 0);
    // A stride that is prime to the page size visits every part of a page in some page.
    for at in (0..sound.len()).step_by(397) {
        let flipped = Folder::new();
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(flipped.database(), &bytes).unwrap();
        let Ok(store) = SqliteStore::open(flipped.database()) else {
            noticed += 1;
            continue;
        };
        match read_all(&store).await {
            Err(_) => noticed += 1,
            Ok(read) if read == expected => harmless += 1,
            // An index that misses a row shows in the check of the whole file.
            Ok(_) => {
                let problems = store.check().await;
                assert!(!matches!(&problems, Ok(problems) if problems.is_empty()), "byte {at} was used as it is");
                noticed += 1;
            }
        }
    }
    assert!(noticed > 20 && harmless > 20, "{noticed} noticed, {harmless} harmless");
}

#[tokio::test]
async fn one_flipped_bit_in_the_log_is_told_with_its_place() {
    let folder = Folder::new();
    let store = folder.store();
    for length in 0..8 {
        let _ = store.append(append("a", length, 1)).await.unwrap();
    }
    let log = std::fs::read(folder.file("gantry.db-wal")).unwrap();
    let main = std::fs::read(folder.database()).unwrap();
    let header = 0..32;
    let frames = (32..log.len()).step_by(4_120);
    let last = log.len() - 4_120;
    // Every byte of the log's header and of some frames' headers, and a grid over everything.
    let heads = frames.step_by(5).chain([last]).flat_map(|frame| frame..frame + 24);
    for at in header.chain(heads).chain((0..log.len()).step_by(397)) {
        let flipped = Folder::new();
        let mut bytes = log.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(flipped.database(), &main).unwrap();
        std::fs::write(flipped.file("gantry.db-wal"), &bytes).unwrap();
        let store = SqliteStore::open(flipped.database()).unwrap();
        let found = store.load(&plan("a")).await.unwrap().map_or(0, |loaded| loaded.length);
        assert!(found < 8, "byte {at} was used as it is");
        let place = if at < 32 { 0 } else { 32 + (at - 32) / 4_120 * 4_120 };
        let note = store.note().unwrap_or_else(|| panic!("byte {at}: nothing was said"));
        assert!(note.contains(&format!("byte {place}")), "byte {at} in the frame at {place}: {note}");
        if found < 7 {
            assert!(note.contains("could not be read"), "byte {at}: {note}");
            let problems = store.check().await.unwrap();
            assert!(problems[0].contains("gantry.db-wal.damaged-1"), "{problems:?}");
            assert_eq!(std::fs::read(flipped.file("gantry.db-wal.damaged-1")).unwrap(), bytes);
        }
    }
}
