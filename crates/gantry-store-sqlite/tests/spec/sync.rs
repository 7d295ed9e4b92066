//! What is acknowledged was synced before, and the log is taken over whole or again.

use gantry_store::Store;

use crate::child::Process;
use crate::kit::{Folder, grow, has_strace, plan};

#[tokio::test]
async fn nothing_is_acknowledged_before_everything_that_was_written_is_synced() {
    if !has_strace() {
        return;
    }
    let folder = Folder::new();
    let _ = grow(&folder.store(), "a", 1).await;
    let log = folder.file("calls.txt");
    let strace = ["-y", "-e", "trace=pwrite64,fdatasync,fsync,write", "-o", log.to_str().unwrap()];
    let said = Process::start("append-40", &folder.database(), &strace).rest();
    assert_eq!(said.iter().filter(|line| line.starts_with("ack ")).count(), 40, "{said:?}");
    let (acknowledged, synced) = acknowledged_and_synced(&std::fs::read_to_string(log).unwrap());
    assert!(acknowledged == 40 && synced >= 40, "{acknowledged} acknowledged, {synced} synced");
}

/// How often something was acknowledged, each time after everything before it was synced, and how often it was synced.
fn acknowledged_and_synced(calls: &str) -> (usize, usize) {
    let (mut unsynced, mut acknowledged, mut synced) = (0, 0, 0);
    for call in calls.lines() {
        let on_log = call.contains("gantry.db-wal>");
        if call.contains("pwrite64(") && on_log {
            unsynced += 1;
        } else if (call.contains("sync(") && on_log && call.ends_with("= 0")) || call.contains("sync resumed>) = 0") {
            (unsynced, synced) = (0, synced + 1);
        } else if call.contains("write(1") && call.contains("child: ack") {
            assert_eq!(unsynced, 0, "acknowledgement {acknowledged} came before its sync:\n{calls}");
            acknowledged += 1;
        }
    }
    (acknowledged, synced)
}

#[tokio::test]
async fn what_is_noted_outlives_a_kill_at_once_and_is_synced_with_the_turn_after_it() {
    let folder = Folder::new();
    let _ = grow(&folder.store(), "a", 1).await;
    let mut process = Process::start("note", &folder.database(), &[]);
    assert_eq!(process.says().as_deref(), Some("noted"));
    process.kill();
    let page = folder.store().effects(&plan("a"), None, 0, 10).await.unwrap();
    assert_eq!(page.items.len(), 1, "it is there");
    if !has_strace() {
        return;
    }
    let folder = Folder::new();
    let _ = grow(&folder.store(), "a", 1).await;
    let log = folder.file("calls.txt");
    let strace = ["-y", "-e", "trace=pwrite64,fdatasync,fsync,write", "-o", log.to_str().unwrap()];
    let said = Process::start("note-20", &folder.database(), &strace).rest();
    assert_eq!(said.iter().filter(|line| line.starts_with("ack ")).count(), 20, "{said:?}");
    let (acknowledged, synced) = acknowledged_and_synced(&std::fs::read_to_string(log).unwrap());
    assert_eq!(acknowledged, 20, "each turn with the note before it");
    assert!(synced < 30, "notes have no sync of their own: {synced} syncs");
}

#[tokio::test]
async fn a_log_whose_taking_over_is_killed_at_any_write_loses_nothing() {
    if !has_strace() {
        return;
    }
    let mut kills = 0;
    for write in 1.. {
        let folder = Folder::new();
        let _ = grow(&folder.store(), "a", 1).await;
        let database = folder.database();
        // In this mode the file itself is written only when the log is taken over, as at the end of a process.
        let inject = "inject=pwrite64:signal=KILL:when=".to_owned() + &write.to_string();
        let strace = ["-P", database.to_str().unwrap(), "-e", "trace=pwrite64", "-e", &inject];
        let (said, whole) = Process::start("append-40", &database, &strace).ended();
        let last = said.iter().filter_map(|line| line.strip_prefix("ack ")?.parse::<u64>().ok()).max();
        let store = folder.store();
        let report = store.verify(&plan("a")).await.unwrap();
        assert!(report.is_sound(), "killed at write {write}: {report:?}");
        assert_eq!(Some(report.length), last, "killed at write {write}");
        assert_eq!(store.check().await, Ok(vec![]), "killed at write {write}");
        if whole {
            break;
        }
        kills += 1;
    }
    assert!(kills >= 4, "only {kills} kills");
}

#[tokio::test]
async fn a_record_that_was_removed_or_replaced_acknowledges_nothing_more() {
    let folder = Folder::new();
    let store = folder.store();
    let last = grow(&store, "a", 3).await;
    let (here, aside) = (folder.database(), folder.file("aside.db"));
    std::fs::rename(&here, &aside).unwrap();
    for replaced in [false, true] {
        if replaced {
            std::fs::write(&here, "something else").unwrap();
        }
        let refused = store.append(crate::kit::append("a", last.length, 1)).await;
        assert!(
            matches!(&refused, Err(gantry_store::StoreError::Gone { what }) if what.contains("gantry.db")),
            "{refused:?}"
        );
        assert_eq!(here.exists(), replaced, "no empty record is begun in its place");
    }
    std::fs::rename(&aside, &here).unwrap();
    let again = store.append(crate::kit::append("a", last.length, 1)).await.unwrap();
    assert_eq!(again.length, last.length + 1, "and it goes on when it is back");
    assert!(store.verify(&plan("a")).await.unwrap().is_sound());
}
