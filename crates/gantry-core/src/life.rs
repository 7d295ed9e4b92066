//! How a plan lives: given what happened so far, an input and the time, what happens next.
//!
//! `decide` is pure and returns events and effects; `apply` folds events into the state. Events are
//! the only way the state changes, so a life can be replayed, forked and compared byte for byte.
//!
//! Inside, deciding works on a [`Draft`]: the life itself, which sees each event as soon as it is
//! recorded and comes back with the verdict. Nothing scans all tasks: every count and queue that a
//! decision needs is kept up to date by `apply`. [`Life::decide`] does the same on a copy, to ask
//! "what if"; a copy costs one pointer for each task.

mod state; // in reading order: what is known …
mod results;
mod moments;
mod names;
mod defined;
mod graph;
mod index;
mod watch_names;
mod ledger;
mod scope;
mod key;
mod view;
mod apply;
mod replay;
mod refusal;
mod draft; // … and how a turn is decided: what reaches the plan …
mod steer;
mod end_attempt;
mod open_gate;
mod ask_person;
mod fire_timer;
mod revise;
mod reread;
mod reopen;
mod undo;
mod learn;
mod start_task; // … and what follows from it
mod complete_task;
mod ask_judge;
mod recover;
mod follow_route;
mod begin_round;
mod more_rounds;
mod expand_map;
mod adopt;
mod finish;

use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use draft::{Draft, Room, Scarce, Verdict};
pub use more_rounds::UsedUp;
pub use refusal::Refusal;
pub use replay::{BadJournal, create, fork, replay};
pub use results::Results;
pub use state::{State, TaskLife, Timer, Waiting};
pub use undo::STAYS;
pub use view::{PlanState, TakingBack, TaskState, WaitsFor};

use crate::event::AfterUndo;
use crate::id::{AttemptNo, PlanId, Revision, TaskId, TaskNo};
use crate::plan::{Confidence, Plan};
use crate::policy::Dimension;
use crate::time::Timestamp;
use graph::Node;
use ledger::Account;
use moments::Moments;
use names::Names;

/// The state of one plan, folded from its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Life {
    id: PlanId,
    seed: u64,
    /// How many events were applied; the next one gets this number plus one.
    length: u64,
    /// The time of the last event: time never goes back in a journal.
    last_at: Timestamp,
    phase: Phase,
    /// The plan without its tasks.
    header: Arc<Plan>,
    revision: Revision,
    /// One line for each revision: its number and why it was made.
    revisions: Vector<(Revision, String)>,

    /// By number. A turn owns its life, so these are changed in place; a copy is made only while one is shared.
    nodes: Arc<Vec<Arc<Node>>>,
    tasks: Arc<Vec<Arc<TaskLife>>>,
    by_id: Names,
    roots: Arc<Vec<TaskNo>>,
    /// The newest round of each task that was repeated.
    newest_round: OrdMap<TaskId, TaskNo>,
    /// Removed tasks: one that comes back under its name counts its attempts on from there.
    retired: OrdMap<TaskId, TaskNo>,
    /// Which task makes which artifact.
    producers: OrdMap<String, TaskId>,

    /// Tasks that could start now, by the capabilities they use; in each lane the first goes first.
    lanes: OrdMap<String, OrdSet<(i64, TaskNo)>>,
    /// The first task of each lane, those that go first before others.
    heads: OrdSet<(i64, TaskNo)>,
    running: OrdSet<TaskNo>,
    waiting: OrdSet<TaskNo>,
    /// How many of those go on without someone outside.
    stirring: Stirring,
    blocked: OrdSet<TaskNo>,
    /// Blocked tasks by the names that they read.
    watchers: OrdMap<String, OrdSet<TaskNo>>,
    /// Composites whose children may run.
    open: OrdSet<TaskNo>,
    /// How many attempts use each capability.
    busy: OrdMap<String, u32>,
    timers: OrdSet<(Timestamp, Timer)>,
    /// Tasks that are in a lane, running, waiting or blocked: while there is one, the plan goes on.
    active: u32,
    /// How many tasks are in each state, in the order of `State::COUNTED`.
    counts: [u32; 8],
    /// Required tasks that failed with nobody to take care of it.
    failed: OrdSet<TaskNo>,
    /// Finished tasks by when they finished: what undoing goes through backwards.
    done: Moments,
    /// Tasks by when they were last tried: what is not finished may be half done.
    tried: Moments,

    /// Spending under each limit: 0 is the plan, others are tasks with a budget of their own.
    accounts: OrdMap<u32, Account>,
    breaker: Option<Breaker>,
    /// Someone was told that the plan's deadline passed.
    deadline_missed: bool,
    done_words: DoneWords,
    /// A judge was asked about the plan, and what that used is not counted yet.
    #[serde(default)]
    judge_owed: bool,
    /// The number of the event that asked last whether the plan is done.
    #[serde(default)]
    done_asked: u64,
    /// How often no model could judge that since.
    #[serde(default)]
    done_failed: u32,
    undoing: Option<Arc<Undoing>>,

    facts: OrdMap<String, Value>,
    beliefs: OrdMap<String, Confidence>,
    checkpoints: Vector<CheckpointMark>,
    /// After which event each checkpoint stands, by id and by name; of two with one name the newer.
    points: OrdMap<String, u64>,
}

/// Where the plan as a whole stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    Created,
    Running {
        /// Since when the time budget is being used up.
        since: Timestamp,
        /// What was used of it before.
        used_ms: u64,
        /// Nothing can go on without someone outside: nothing is used up meanwhile.
        #[serde(default)]
        waits: bool,
    },
    Paused {
        used_ms: u64,
    },
    Completed {
        used_ms: u64,
    },
    Failed {
        causes: Vec<String>,
        used_ms: u64,
    },
    Abandoned,
}

/// How many waiting tasks go on by themselves, by what moves them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Stirring {
    /// Time.
    time: u32,
    /// A runner that finds out what became of an attempt.
    verifier: u32,
    /// A judge, who may be a person.
    judge: u32,
}

/// What is known about the definition of done, as far as it is in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DoneWords {
    /// Nobody was asked.
    #[default]
    Unasked,
    /// A judge is asked about these.
    Asked(Vec<String>),
    /// A judge said that they hold.
    Held,
}

/// Why nothing new starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Breaker {
    dimension: Dimension,
    detail: String,
}

/// An undo in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Undoing {
    /// What is still to be taken back, the next one first.
    rest: Vec<TaskNo>,
    then: AfterUndo,
    /// The undo that is under way.
    attempt: Option<AttemptNo>,
    failures: u32,
    /// Why it cannot go on without a person.
    halted: Option<String>,
}

/// A point that one can come back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointMark {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// After which event.
    pub seq: u64,
}

impl Life {
    /// Returns the plan's id.
    pub fn id(&self) -> &PlanId {
        &self.id
    }
    /// Returns how many events were applied.
    pub fn length(&self) -> u64 {
        self.length
    }
    /// Returns the current revision.
    pub fn revision(&self) -> Revision {
        self.revision
    }
    /// Returns the plan without its tasks.
    pub fn header(&self) -> &Plan {
        &self.header
    }

    fn no(&self, id: &str) -> Option<TaskNo> {
        self.by_id.get(id)
    }
    /// A task of the plan, or one that was removed from it: its answers may still come.
    fn known_once(&self, id: &TaskId) -> Option<TaskNo> {
        self.no(id.as_str()).or_else(|| self.retired.get(id).copied())
    }
    /// The numbers of all tasks that are in the plan, in order.
    fn numbers(&self) -> impl Iterator<Item = TaskNo> {
        let all = self.nodes.iter().zip(1..).filter(|(node, _)| !node.removed);
        all.map(|(_, no)| TaskNo(no))
    }
    fn node(&self, no: TaskNo) -> &Arc<Node> {
        &self.nodes[no.0 as usize - 1]
    }
    fn task(&self, no: TaskNo) -> &Arc<TaskLife> {
        &self.tasks[no.0 as usize - 1]
    }
    fn node_mut(&mut self, no: TaskNo) -> &mut Node {
        Arc::make_mut(&mut Arc::make_mut(&mut self.nodes)[no.0 as usize - 1])
    }
    fn task_mut(&mut self, no: TaskNo) -> &mut TaskLife {
        Arc::make_mut(&mut Arc::make_mut(&mut self.tasks)[no.0 as usize - 1])
    }
    fn task_id(&self, no: TaskNo) -> &TaskId {
        &self.node(no).task.id
    }
}
