//! Two processes on one file.

use gantry_store::{PlanNo, Store};

use crate::child::Process;
use crate::kit::{Folder, grow, plan};

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
