//! The first event, the whole fold, and another life from any point.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};

use super::begin_round::rename_needs;
use super::moments::Moments;
use super::names::Names;
use super::{DoneWords, Life, Phase, Refusal, Stirring};
use crate::event::{EVENT_VERSION, Entry, Event};
use crate::id::{PlanId, Revision, TaskId, TaskNo};
use crate::plan::{InitialStatus, Plan, Severity, Task};
use crate::time::Timestamp;

/// Begins a life: checks the plan and returns the first line of its journal.
pub fn create(mut plan: Plan, id: PlanId, seed: u64, now: Timestamp) -> Result<Vec<Entry>, Refusal> {
    plan.sort_tree();
    let problems: Vec<_> = plan.check().into_iter().filter(|problem| problem.severity == Severity::Error).collect();
    if !problems.is_empty() {
        return Err(Refusal::BadPlan { problems });
    }
    plan.id = Some(id.clone());
    leave_out_old_rounds(&mut plan);
    Ok(vec![Entry { v: EVENT_VERSION, seq: 1, at: now, event: Event::PlanCreated { id, seed, plan: Box::new(plan) } }])
}

/// A plan that was written down in the middle of its life brings its earlier rounds along. They are over: the newest
/// round is the one to be done, and whoever waits for an earlier one waits for that.
fn leave_out_old_rounds(plan: &mut Plan) {
    let name_and_number = |task: &Task| match &task.round {
        Some(round) => (round.of.clone(), round.number),
        None => (task.id.clone(), 1),
    };
    let mut newest: BTreeMap<TaskId, (u32, TaskId)> = BTreeMap::new();
    for task in &plan.tasks {
        let (name, number) = name_and_number(task);
        if newest.get(&name).is_none_or(|(last, _)| *last <= number) {
            newest.insert(name, (number, task.id.clone()));
        }
    }
    let old = |task: &Task| {
        let (_, newest) = newest.get(&name_and_number(task).0)?;
        (*newest != task.id).then(|| (task.id.clone(), newest.clone()))
    };
    let renamed: BTreeMap<TaskId, TaskId> = plan.tasks.iter().filter_map(old).collect();
    if renamed.is_empty() {
        return;
    }
    for task in &mut plan.tasks {
        if !renamed.contains_key(&task.id) {
            rename_needs(task, &|id: &TaskId| renamed.get(id).cloned());
        } else if task.status == InitialStatus::Pending {
            task.status = InitialStatus::Skipped;
        }
    }
}

/// Folds a whole journal.
pub fn replay(entries: &[Entry]) -> Result<Life, BadJournal> {
    let (first, rest) = entries.split_first().ok_or(BadJournal::Empty)?;
    let Event::PlanCreated { id, seed, plan } = &first.event else { return Err(BadJournal::NoBeginning) };
    if first.v > EVENT_VERSION {
        return Err(BadJournal::Newer { seq: first.seq, version: first.v });
    }
    let mut life = Life::new(id.clone(), *seed, plan, first.at);
    let mut woken = Vec::new();
    for (index, entry) in rest.iter().enumerate() {
        let expected = index as u64 + 2;
        if entry.seq != expected {
            return Err(BadJournal::Gap { expected, found: entry.seq });
        }
        if entry.v > EVENT_VERSION {
            return Err(BadJournal::Newer { seq: entry.seq, version: entry.v });
        }
        woken.clear();
        life.apply_one(entry, &mut woken);
    }
    Ok(life)
}

/// Another life that shares the first `at` events with this one.
pub fn fork(entries: &[Entry], at: u64, id: PlanId, now: Timestamp) -> Result<Vec<Entry>, BadJournal> {
    let length = usize::try_from(at).ok().filter(|length| (1..=entries.len()).contains(length));
    let shared = &entries[..length.ok_or(BadJournal::NoSuchPoint { at, length: entries.len() as u64 })?];
    let life = replay(shared)?;
    let mut forked = shared.to_vec();
    let event = Event::PlanForked { id, from: life.id.clone(), at };
    forked.push(Entry { v: EVENT_VERSION, seq: at + 1, at: now.max(life.last_at), event });
    Ok(forked)
}

/// Why a journal cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadJournal {
    /// It has no entries.
    Empty,
    /// Its first entry does not create a plan.
    NoBeginning,
    /// An entry is missing or out of order.
    Gap {
        /// The number that should come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// An entry was written by a newer program.
    Newer {
        /// Which.
        seq: u64,
        /// Its version.
        version: u32,
    },
    /// There is no such entry to fork at.
    NoSuchPoint {
        /// Where.
        at: u64,
        /// How long the journal is.
        length: u64,
    },
}

impl fmt::Display for BadJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the journal is empty"),
            Self::NoBeginning => f.write_str("the journal does not begin with a plan"),
            Self::Gap { expected, found } => write!(f, "entry {expected} should come, but {found} came"),
            Self::Newer { seq, version } => {
                write!(f, "entry {seq} has version {version}, but this program knows versions up to {EVENT_VERSION}")
            }
            Self::NoSuchPoint { at, length } => write!(f, "there is no entry {at}; the journal has {length}"),
        }
    }
}

impl std::error::Error for BadJournal {}

impl Life {
    fn new(id: PlanId, seed: u64, plan: &Plan, at: Timestamp) -> Self {
        let mut life = Self {
            id,
            seed,
            length: 1,
            last_at: at,
            phase: Phase::Created,
            header: Arc::new(plan.clone_header()),
            revision: Revision(1),
            revisions: Vector::from_iter([(Revision(1), "as created".to_owned())]),
            nodes: Arc::default(),
            tasks: Arc::default(),
            by_id: Names::default(),
            roots: Arc::new(Vec::new()),
            newest_round: OrdMap::new(),
            retired: OrdMap::new(),
            producers: OrdMap::new(),
            lanes: OrdMap::new(),
            heads: OrdSet::new(),
            running: OrdSet::new(),
            waiting: OrdSet::new(),
            stirring: Stirring::default(),
            blocked: OrdSet::new(),
            watchers: OrdMap::new(),
            open: OrdSet::new(),
            busy: OrdMap::new(),
            timers: OrdSet::new(),
            active: 0,
            counts: [0; 8],
            failed: OrdSet::new(),
            done: Moments::default(),
            tried: Moments::default(),
            accounts: OrdMap::new(),
            breaker: None,
            deadline_missed: false,
            done_words: DoneWords::default(),
            judge_owed: false,
            done_asked: 0,
            done_failed: 0,
            undoing: None,
            facts: OrdMap::new(),
            beliefs: OrdMap::new(),
            checkpoints: Vector::new(),
            points: OrdMap::new(),
        };
        life.build(plan);
        let mut woken = Vec::new();
        let count = u32::try_from(life.nodes.len()).unwrap_or(u32::MAX);
        for no in (1..=count).map(TaskNo) {
            life.arm(no);
            life.refresh(no, &mut woken);
            woken.clear();
        }
        life
    }
}
