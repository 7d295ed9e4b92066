//! Two processes on one file.

use gantry_store::{PlanNo, Store};

use crate::child::Process;
use crate::kit::{Folder, grow, has_strace, plan};

#[tokio::test]
async fn a_claim_excludes_other_processes_and_ends_with_its_process() {
    let folder = Folder::new();
    let store = folder.store();
    let mut process = Process::start("claim", &folder.database(), &[]);
    assert_eq!(process.says().as_deref(), Some("claimed"));
    assert!(store.claim(PlanNo(1)).await.unwrap().is_none());
    assert!(store.claimed_by_other(PlanNo(1)).await.unwrap());
    process.kill();
    assert!(!store.claimed_by_other(PlanNo(1)).await.unwrap());
    let claim = store.claim(PlanNo(1)).await.unwrap();
    assert!(claim.is_some(), "the system gave it back");
    let mut process = Process::start("claim", &folder.database(), &[]);
    assert_eq!(process.says().as_deref(), Some("refused"));
    process.kill();
}

#[tokio::test]
async fn two_processes_that_append_to_one_plan_lose_nothing_and_double_nothing() {
    let folder = Folder::new();
    let store = folder.store();
    let _ = grow(&store, "a", 1).await;
    let both = [0, 1].map(|_| Process::start("race", &folder.database(), &[]));
    for process in both {
        assert_eq!(process.rest(), ["done"]);
    }
    let report = store.verify(&plan("a")).await.unwrap();
    assert!(report.is_sound());
    assert_eq!((report.length, report.turns), (101, 101));
}

#[tokio::test]
async fn what_another_process_wrote_is_noticed() {
    let folder = Folder::new();
    let store = folder.store();
    let seen = store.mark();
    let seen = store.changed(seen).await; // the first look counts as news
    let process = Process::start("race", &folder.database(), &[]);
    assert!(store.changed(seen).await > seen);
    assert_eq!(process.rest(), ["done"]);
}

/// What a process says that holds everything that tells others that it is there.
const HELD: Option<&str> = Some("file true, index true");

#[tokio::test]
async fn a_process_that_comes_to_a_log_in_use_is_seen_by_all_who_come_after_it() {
    let folder = Folder::new();
    let first = folder.store();
    let _ = grow(&first, "a", 3).await;
    let mut second = Process::start("as told", &folder.database(), &[]);
    assert_eq!(second.told("append").as_deref(), Some("ack 4"));
    assert_eq!(second.told("name your locks").as_deref(), HELD);
    drop(first);
    for length in 5..9 {
        // Comes, reads, and leaves as the last one but the second.
        assert_eq!(folder.store().load(&plan("a")).await.unwrap().unwrap().length, length - 1);
        assert_eq!(second.told("append"), Some(format!("ack {length}")), "it goes on");
        assert_eq!(second.told("name your locks").as_deref(), HELD);
    }
    assert_eq!(second.told("die"), None);
    let report = folder.store().verify(&plan("a")).await.unwrap();
    assert!(report.is_sound() && report.length == 8, "{report:?}");
}

#[tokio::test]
async fn what_is_acknowledged_after_trouble_with_the_disk_outlives_those_who_come_and_go() {
    if !has_strace() {
        return;
    }
    for error in ["ENOSPC", "EIO"] {
        let folder = Folder::new();
        let _ = grow(&folder.store(), "a", 1).await;
        let inject = format!("inject=fdatasync,fsync:error={error}:when=5");
        let mut process = Process::start("as told", &folder.database(), &["-e", &inject]);
        // The calls of each thread are counted on their own, and two may write.
        let said: Vec<String> = (0..40).filter_map(|_| process.told("append")).collect();
        assert!(said.iter().any(|said| said.starts_with("error")), "no sync failed: {said:?}");
        assert_eq!(process.told("name your locks").as_deref(), HELD);
        assert!(folder.store().load(&plan("a")).await.unwrap().is_some(), "comes and goes");
        let said: Vec<String> = (0..5).filter_map(|_| process.told("append")).collect();
        let last = said.iter().rev().find_map(|said| said.strip_prefix("ack ")?.parse::<u64>().ok());
        assert_eq!(process.told("name your locks").as_deref(), HELD);
        assert_eq!(process.told("die"), None);
        let report = folder.store().verify(&plan("a")).await.unwrap();
        assert!(last.is_some() && report.is_sound() && Some(report.length) >= last, "{error}: {report:?}, {said:?}");
    }
}
