//! A process that is killed in the middle of its work.

use std::collections::BTreeMap;

use gantry_store::Store;

use crate::child::Process;
use crate::kit::{Folder, append, has_strace, older, plan, read_all};

#[tokio::test]
async fn nothing_that_was_acknowledged_is_lost_when_the_process_is_killed() {
    let folder = Folder::new();
    drop(folder.store());
    let mut acknowledged: BTreeMap<String, u64> = BTreeMap::new();
    for round in 0..20 {
        let mut process = Process::start("append", &folder.database(), &[]);
        let mut said: Vec<String> = (0..=round * 3).filter_map(|_| process.says()).collect();
        said.extend(process.kill());
        // The last line may be torn; every whole line is an acknowledgement.
        for (name, length) in said.iter().filter_map(|line| line.split_once(' ')) {
            if let Ok(length) = length.parse::<u64>() {
                let known = acknowledged.entry(name.to_owned()).or_default();
                *known = length.max(*known);
            }
        }
        let store = folder.store();
        for (name, length) in &acknowledged {
            let loaded = store.load(&plan(name)).await.unwrap().unwrap();
            assert!(loaded.length >= *length, "round {round}: plan {name} lost {length}, has {}", loaded.length);
            assert!(store.verify(&plan(name)).await.unwrap().is_sound());
        }
    }
    assert_eq!(acknowledged.len(), 4);
}

#[tokio::test]
async fn a_record_whose_making_was_killed_at_any_write_is_made_by_the_next_open() {
    if !has_strace() {
        return;
    }
    let mut kills = 0;
    for write in 1.. {
        let folder = Folder::new();
        let inject = format!("inject=pwrite64:signal=KILL:when={write}");
        let said = Process::start("open", &folder.database(), &["-e", &inject]).rest();
        let store = folder.store();
        let _ = store.append(append("a", 0, 1)).await.unwrap();
        assert!(store.verify(&plan("a")).await.unwrap().is_sound(), "after write {write}");
        assert_eq!(store.info().await.unwrap().schema, 4);
        if said == ["opened"] {
            break;
        }
        kills += 1;
    }
    assert!(kills > 3, "the migration writes more often than {kills} times");
}

#[tokio::test]
async fn a_migration_of_a_full_record_killed_at_any_write_is_made_by_the_next_open() {
    if !has_strace() {
        return;
    }
    let mut kills = 0;
    for write in 1.. {
        let folder = Folder::new();
        let before = older(&folder, 1).await;
        let inject = format!("inject=pwrite64:signal=KILL:when={write}");
        let said = Process::start("open", &folder.database(), &["-e", &inject]).rest();
        let store = folder.store();
        assert_eq!(read_all(&store).await.unwrap(), before, "after write {write}");
        assert_eq!(store.info().await.unwrap().schema, 4);
        assert!(store.check().await.unwrap().is_empty(), "after write {write}");
        if said == ["opened"] {
            break;
        }
        kills += 1;
    }
    assert!(kills > 3, "the migration writes more often than {kills} times");
}
