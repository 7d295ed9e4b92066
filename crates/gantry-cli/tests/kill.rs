//! kill -9, for real: at named points and at random moments, again and again, with a ledger outside of the record.

#![allow(clippy::unwrap_used)] // a test may

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use gantry_core::event::Event;
use gantry_core::id::PlanId;
use gantry_core::life::PlanState;
use gantry_engine::WhatIf;
use gantry_store::Store;
use gantry_store_sqlite::SqliteStore;

/// A folder with a plan, its record and a ledger that tasks write to.
struct Scene {
    folder: tempfile::TempDir,
}

/// How a process ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Killed,
    Exit(i32),
}

impl Scene {
    fn new(plan: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn gantry(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
        command.args(args).args(["--db", "gantry.db"]).current_dir(self.path()).env_remove("GANTRY_DB");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs the plan, or goes on with it, until it is killed at this point or ends.
    fn run_until_killed_at(&self, point: &str, nth: u32) -> End {
        let mut command = self.go_on();
        let status = command.env("GANTRY_CRASH_AT", format!("{point}:{nth}")).status().unwrap();
        status.code().map_or(End::Killed, End::Exit)
    }

    /// Runs the plan, or goes on with it, and kills it after some time.
    fn run_and_kill_after(&self, micros: u64) -> End {
        let mut child = self.go_on().spawn().unwrap();
        // Not a wait for anything: the moment of death is what is drawn.
        std::thread::sleep(std::time::Duration::from_micros(micros));
        let _ = child.kill();
        child.wait().unwrap().code().map_or(End::Killed, End::Exit)
    }

    fn go_on(&self) -> Command {
        // The same key: a second request goes on with the plan of the first, however far it came.
        self.gantry(&["run", "plan.yaml", "--key", "once"])
    }

    fn ledger(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path().join("ledger")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Reads the record: it is sound, decides again to the same, and says which tasks are finished.
    fn record(&self) -> Record {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let store = SqliteStore::open(self.path().join("gantry.db")).unwrap();
            let Ok(card) = store.plan("@last").await else { return Record::default() };
            let report = store.verify(&card.id).await.unwrap();
            assert!(report.is_sound(), "{:?}", report.problems);
            let replayed = gantry_engine::replay(&store, &card.id, WhatIf::default()).await.unwrap();
            assert_eq!(replayed.difference, None, "the life decided again is the same");
            let mut record = Record { state: Some(card.card.state), ..Record::default() };
            for event in events(&store, &card.id).await {
                match event {
                    Event::TaskCompleted { task, .. } => *record.completed.entry(task.to_string()).or_default() += 1,
                    Event::TaskUndone { task, .. } => *record.undone.entry(task.to_string()).or_default() += 1,
                    _ => {}
                }
            }
            record
        })
    }
}

#[derive(Debug, Default)]
struct Record {
    state: Option<PlanState>,
    completed: BTreeMap<String, u32>,
    undone: BTreeMap<String, u32>,
}

async fn events(store: &SqliteStore, plan: &PlanId) -> Vec<Event> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = store.turns(plan, after, 1_000).await.unwrap();
        all.extend(page.items.into_iter().flat_map(|turn| turn.entries).map(|entry| entry.event));
        match page.next {
            Some(next) => after = next,
            None => return all,
        }
    }
}

/// Tasks that leave a mark in the ledger, in a small web.
fn web() -> String {
    let task = |id: &str, needs: &str| {
        format!("  - {{id: {id}, run: 'echo {id} >> ledger; echo marked', depends_on: [{needs}], idempotency: safe}}\n")
    };
    let tasks = [task("a", ""), task("b", "a"), task("c", "a"), task("d", "b, c"), task("e", "d"), task("f", "d")];
    format!("id: web\ntasks:\n{}", tasks.concat())
}

/// Kills and goes on until the plan has ended; after every kill the record is looked at.
fn survive(scene: &Scene, mut next: impl FnMut(u32) -> Option<End>) -> u32 {
    let mut kills = 0;
    loop {
        let finished: BTreeSet<String> = scene.record().completed.into_keys().collect();
        let marks = scene.ledger().len();
        let end = next(kills).unwrap_or_else(|| scene.run_until_killed_at("never", 1));
        for task in &scene.ledger()[marks..] {
            assert!(!finished.contains(task), "`{task}` was finished and ran again");
        }
        match end {
            End::Killed => kills += 1,
            End::Exit(0) => break,
            End::Exit(code) => panic!("it ended with {code}: {:?}", scene.record()),
        }
    }
    let record = scene.record();
    assert_eq!(record.state, Some(PlanState::Completed));
    assert!(record.completed.values().all(|times| *times == 1), "each task finished once: {record:?}");
    assert_eq!(record.completed.len(), 6);
    assert!(record.undone.is_empty(), "nothing of a plan that is done was taken back: {record:?}");
    let marked: BTreeSet<String> = scene.ledger().into_iter().collect();
    assert_eq!(marked.len(), 6, "nothing was left out");
    kills
}

/// How often a plan is killed at each named point at least.
const KILLS_EACH_MIN: u32 = 25;

/// Each named point, on the first to the sixth time it is passed, and then on to the end.
fn killed_at(point: &str) {
    let (mut kills, mut plans) = (0, 0);
    while plans < 6 || kills < KILLS_EACH_MIN {
        let nth = plans % 6 + 1;
        plans += 1;
        let scene = Scene::new(&web());
        // Killed at this point again and again, so that recovery itself is killed, too.
        kills += survive(&scene, |kills| (kills < 5).then(|| scene.run_until_killed_at(point, nth)));
        assert!(plans < 100, "only {kills} kills at {point} in {plans} plans");
    }
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_is_killed_before_an_append() {
    killed_at("before_append");
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_is_killed_after_an_append_and_before_the_effect() {
    killed_at("after_append");
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_is_killed_during_an_effect() {
    killed_at("during_effect");
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_is_killed_after_an_effect_and_before_its_answer() {
    killed_at("after_effect");
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_is_killed_at_any_moment() {
    let mut kills = 0;
    let mut dice: u64 = 0x9e37_79b9_7f4a_7c15;
    // Set GANTRY_KILLS for more.
    let wanted = std::env::var("GANTRY_KILLS").map_or(150, |wanted| wanted.parse().unwrap());
    while kills < wanted {
        let scene = Scene::new(&web());
        kills += survive(&scene, |kills| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (kills < 12).then(|| scene.run_and_kill_after(dice >> 33 & 0x3_ffff))
        });
    }
}
