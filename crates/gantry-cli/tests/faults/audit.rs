//! What has to be true of a journal and of the ledger outside of it, whatever happened to the processes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gantry_core::event::{Event, Source};
use gantry_core::life::{Life, PlanState};
use gantry_core::plan::Idempotency;
use gantry_engine::WhatIf;
use gantry_store::Store;
use gantry_store_sqlite::SqliteStore;

/// One line of the ledger: an attempt that really did something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    pub plan: String,
    pub task: String,
    pub attempt: u32,
    pub key: String,
}

impl Mark {
    pub fn read(line: &str) -> Option<Self> {
        let [plan, task, attempt, key] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
        Some(Self { plan: plan.to_owned(), task: task.to_owned(), attempt: attempt.parse().ok()?, key: key.to_owned() })
    }
}

/// A plan whose record was found to be sound and to agree with the ledger.
#[derive(Debug)]
pub struct Audit {
    pub state: PlanState,
    pub events: Vec<Event>,
}

impl Audit {
    /// Reads a plan and checks everything that can be checked; none when it does not exist.
    pub fn of(db: &Path, plan: &str, marks: &[Mark]) -> Option<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (events, life) = runtime.block_on(async {
            let store = SqliteStore::open(db).unwrap();
            let id = store.plan(plan).await.ok()?.id;
            let report = store.verify(&id).await.unwrap();
            assert!(report.is_sound(), "{:?}", report.problems);
            let replayed = gantry_engine::replay(&store, &id, WhatIf::default()).await.unwrap();
            assert_eq!(replayed.difference, None, "the life decided again is the same");
            let entries = gantry_engine::entries(&store, &id).await.unwrap();
            assert!(entries.iter().map(|entry| entry.at).is_sorted(), "the journal never goes back in time");
            let life = gantry_engine::open(&store, &id).await.unwrap().life;
            Some((entries.into_iter().map(|entry| entry.event).collect::<Vec<_>>(), life))
        })?;
        one_final_state(&events);
        nothing_starts_early(&events, &life);
        let marks: Vec<Mark> = marks.iter().filter(|mark| mark.plan == life.id().as_str()).cloned().collect();
        the_ledger_agrees(&events, &life, &marks);
        Some(Self { state: life.state(), events })
    }

    /// The tasks that are completed, each as often as it was.
    pub fn completed(&self) -> Vec<String> {
        self.tasks(|event| matches!(event, Event::TaskCompleted { .. }))
    }

    /// The tasks that were taken back, in order.
    pub fn undone(&self) -> Vec<String> {
        self.tasks(|event| matches!(event, Event::TaskUndone { .. }))
    }

    pub fn tasks(&self, like: impl Fn(&Event) -> bool) -> Vec<String> {
        self.events.iter().filter(|event| like(event)).filter_map(task_of).collect()
    }

    pub fn count(&self, like: impl Fn(&Event) -> bool) -> usize {
        self.events.iter().filter(|event| like(event)).count()
    }
}

/// The task that an event is about.
fn task_of(event: &Event) -> Option<String> {
    serde_json::to_value(event).unwrap()["task"].as_str().map(str::to_owned)
}

/// A task ends once, unless someone opened it again or took it back in between.
fn one_final_state(events: &[Event]) {
    let mut ended = BTreeSet::new();
    for event in events {
        match event {
            Event::TaskCompleted { task, .. }
            | Event::TaskFailed { task, .. }
            | Event::TaskSkipped { task, .. }
            | Event::TaskAbandoned { task, .. } => assert!(ended.insert(task.clone()), "`{task}` ended twice"),
            Event::TaskReopened { task, .. } | Event::TaskUndone { task, .. } => drop(ended.remove(task)),
            _ => {}
        }
    }
}

/// No attempt starts before everything that its task waits for is done.
fn nothing_starts_early(events: &[Event], life: &Life) {
    let mut done = BTreeSet::new();
    for event in events {
        match event {
            Event::TaskCompleted { task, .. } | Event::TaskSkipped { task, .. } => drop(done.insert(task.clone())),
            Event::AttemptStarted { task, .. } => {
                let needs = life.definition(task.as_str()).map(|task| task.depends_on.clone()).unwrap_or_default();
                for need in needs.iter().filter_map(|need| life.definition(need.as_str())) {
                    assert!(done.contains(&need.id), "`{task}` started before `{}` was done", need.id);
                }
            }
            _ => {}
        }
    }
}

/// What was done outside was recorded before, was done once for each attempt, and is not missing.
fn the_ledger_agrees(events: &[Event], life: &Life, marks: &[Mark]) {
    let (mut started, mut succeeded) = (BTreeSet::new(), BTreeSet::new());
    for event in events {
        match event {
            Event::AttemptStarted { task, attempt, key, .. } => {
                let mark =
                    Mark { plan: life.id().to_string(), task: task.to_string(), attempt: attempt.0, key: key.clone() };
                assert!(started.insert(mark), "attempt {attempt} at `{task}` was started twice");
            }
            Event::AttemptSucceeded { task, attempt, .. } => drop(succeeded.insert((task.to_string(), attempt.0))),
            _ => {}
        }
    }
    let (mut seen, mut by_key) = (BTreeSet::new(), BTreeMap::<_, u32>::new());
    for mark in marks {
        assert!(started.contains(mark), "{mark:?} was done and is not in the record");
        assert!(seen.insert((mark.task.clone(), mark.attempt)), "{mark:?} was done twice");
        *by_key.entry((mark.task.clone(), mark.key.clone())).or_default() += 1;
    }
    for ((task, key), times) in by_key {
        let repeatable = life.definition(&task).is_some_and(|task| task.repeatable() != Idempotency::Unsafe);
        assert!(times == 1 || repeatable, "`{task}` was done {times} times under the key {key}");
    }
    if marks.is_empty() {
        return; // the tasks of this plan leave no marks
    }
    let made = events.iter().filter_map(|event| match event {
        Event::TaskCompleted { task, source: Source::Made, .. } => Some(task.to_string()),
        _ => None,
    });
    let marked: BTreeSet<&str> = marks.iter().map(|mark| mark.task.as_str()).collect();
    for task in made.filter(|task| succeeded.iter().any(|(succeeded, _)| succeeded == task)) {
        let leaves_marks = marks_itself(life, &task);
        assert!(!leaves_marks || marked.contains(task.as_str()), "`{task}` is said to be done and was not");
    }
}

/// Tells whether a task writes into the ledger.
fn marks_itself(life: &Life, task: &str) -> bool {
    let action = life.definition(task).and_then(|task| task.action.clone());
    serde_json::to_string(&action).unwrap().contains(">> ledger")
}
