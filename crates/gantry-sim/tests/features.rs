//! The generator reaches everything that it is there to reach: each feature is met in a small range of seeds.

use gantry_core::effect::Failure;
use gantry_core::event::{Asked, Event};
use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Input, Map, Placed, Plan, Reference, Task};
use gantry_core::policy::Usage;
use gantry_sim::run::run_seed;
use gantry_sim::world::{Record, Trace};

/// How many seeds there are to meet everything in.
const SEEDS: u64 = 600;

/// The plan as created.
fn plan(record: &Record) -> &Plan {
    match &record.journal[0].event {
        Event::PlanCreated { plan, .. } => plan,
        other => panic!("a journal begins with {other:?}"),
    }
}

fn any_task(record: &Record, like: impl Fn(&Task) -> bool) -> bool {
    plan(record).tasks.iter().any(like)
}

fn any_event(record: &Record, like: impl Fn(&Event) -> bool) -> bool {
    record.journal.iter().any(|entry| like(&entry.event))
}

/// Tells whether an attempt of a task like this was started.
fn starts(record: &Record, like: impl Fn(&Task) -> bool) -> bool {
    let started = |event: &Event| match event {
        Event::AttemptStarted { task, .. } => plan(record).task(task.as_str()).is_some_and(&like),
        _ => false,
    };
    any_event(record, started)
}

/// Tells whether something really happened for a task like this.
fn happens(record: &Record, like: impl Fn(&Task) -> bool) -> bool {
    record.ledger.iter().any(|deed| plan(record).task(deed.task.as_str()).is_some_and(&like))
}

fn is_reference(input: &Input) -> bool {
    matches!(input, Input::From(_))
}

fn reads_result(input: &Input) -> bool {
    matches!(input, Input::From(Reference::Artifact { name }) if name == "items")
}

fn failures(event: &Event) -> Option<&Failure> {
    match event {
        Event::TaskFailed { failure, .. } | Event::PersonAsked { what: Asked::Help { failure }, .. } => Some(failure),
        _ => None,
    }
}

fn is_map(record: &Record, id: &TaskId) -> bool {
    let added = record.journal.iter().filter_map(|entry| match &entry.event {
        Event::PlanRevised { diff, .. } => Some(diff.added.iter().map(|placed| &placed.task)),
        _ => None,
    });
    let mut all = added.flatten().chain(&plan(record).tasks);
    all.any(|task| task.id == *id && matches!(task.action, Some(Action::Map(_))))
}

/// Tells whether a part of a map that is itself a part of a map was added.
fn maps_in_maps(record: &Record) -> bool {
    any_event(record, |event| match event {
        Event::PlanRevised { diff, by, .. } if by == "gantry" => diff.added.iter().any(|placed| {
            let inner = |map: &Map| map.r#as == "inner";
            matches!(&placed.task.action, Some(Action::Map(map)) if inner(map))
                && any_event(record, |event| matches!(event, Event::TaskOpened { task, .. } if *task == placed.task.id))
                && placed.task.parent.as_ref().is_some_and(|parent| is_map(record, parent))
        }),
        _ => false,
    })
}

/// Tells whether a task was blocked because of facts, and let go when they were known.
fn facts_block_and_let_go(record: &Record) -> bool {
    record.journal.iter().enumerate().any(|(at, entry)| match &entry.event {
        Event::TaskBlocked { task, needs, .. } if !needs.is_empty() => record.journal[at..]
            .iter()
            .any(|later| matches!(&later.event, Event::TaskUnblocked { task: other } if other == task)),
        _ => false,
    })
}

/// Tells whether of two attempts under way at once the later one ended first.
fn answers_overtake(record: &Record) -> bool {
    let mut under_way: Vec<&TaskId> = Vec::new();
    record.journal.iter().any(|entry| match &entry.event {
        Event::AttemptStarted { task, .. } => {
            under_way.push(task);
            false
        }
        Event::AttemptSucceeded { task, .. } | Event::AttemptFailed { task, .. } => {
            let place = under_way.iter().position(|other| *other == task);
            place.map(|place| under_way.remove(place));
            place.is_some_and(|place| place > 0)
        }
        _ => false,
    })
}

/// Tells whether a part of a map was started that reads what a task before the map gave.
fn parts_read(record: &Record) -> bool {
    let reads = |placed: &Placed| placed.task.inputs.contains_key("known") && placed.task.round.is_none();
    let parts = record.journal.iter().filter_map(|entry| match &entry.event {
        Event::PlanRevised { diff, .. } => Some(diff.added.iter().filter(|placed| reads(placed))),
        _ => None,
    });
    parts.flatten().any(|part| record.ledger.iter().any(|deed| deed.task == part.task.id))
}

type Feature = (&'static str, fn(&Record) -> bool);

const FEATURES: [Feature; 32] = [
    ("answers that come in another order than their attempts began", answers_overtake),
    ("parts of a map that read what a task gave", parts_read),
    ("a depth budget", |record| plan(record).policy.budget.depth.is_some()),
    ("a map that the depth budget stops", |record| {
        any_event(record, |event| failures(event).is_some_and(|failure| failure.message.contains("depth budget")))
    }),
    ("a branches budget of a plan", |record| plan(record).policy.budget.branches.is_some()),
    ("a branches budget of a task", |record| any_task(record, |task| task.budget.branches.is_some())),
    ("an agent that searches in width and depth", |record| {
        starts(record, |task| matches!(&task.action, Some(Action::Agent(agent)) if agent.width.is_some()))
    }),
    ("a deploy behind the gate that the policy asks for", |record| {
        plan(record).policy.require_gate_for_prod
            && happens(record, |task| task.kind.as_ref().is_some_and(|kind| kind.as_str() == "deploy"))
    }),
    ("a policy that lets agents plan", |record| plan(record).policy.agent_planning),
    ("files, hosts and commands that a plan is limited to", |record| {
        let policy = &plan(record).policy;
        !policy.files.write.is_empty() || !policy.network.allow.is_empty() || !policy.commands.deny.is_empty()
    }),
    ("a result of the plan that a task reads", |record| happens(record, |task| task.inputs.values().any(reads_result))),
    ("a result of the plan that a map is over", |record| {
        any_task(record, |task| matches!(&task.action, Some(Action::Map(map)) if reads_result(&map.over)))
    }),
    ("a reference in the arguments of a tool", |record| {
        happens(record, |task| matches!(&task.action, Some(Action::Tool(tool)) if tool.args.values().any(is_reference)))
    }),
    ("a reference among the parameters of a nested plan", |record| {
        happens(
            record,
            |task| matches!(&task.action, Some(Action::Plan(nested)) if nested.with.values().any(is_reference)),
        )
    }),
    ("a text inside a value that looks like a reference", |record| {
        happens(record, |task| matches!(&task.action, Some(Action::Tool(tool)) if tool.args.contains_key("note")))
    }),
    ("a call that someone has to approve", |record| {
        any_event(record, |event| failures(event).is_some_and(Failure::is_needs_approval))
    }),
    ("an approval", |record| {
        any_event(record, |event| matches!(event, Event::PersonAnswered { said, .. } if said == "approve"))
    }),
    ("a refusal of what has to be approved", |record| {
        any_event(record, |event| matches!(event, Event::PersonAnswered { said, .. } if said.starts_with("refuse: ")))
    }),
    ("a map in a map", maps_in_maps),
    ("a nested plan that really runs", |record| {
        happens(record, |task| matches!(&task.action, Some(Action::Plan(nested)) if nested.plan.is_some()))
    }),
    ("a template that really runs", |record| {
        happens(record, |task| matches!(&task.action, Some(Action::Plan(nested)) if nested.template.is_some()))
    }),
    ("a precondition on a fact", |record| any_task(record, |task| !task.preconditions.is_empty())),
    ("a task that facts block and let go", facts_block_and_let_go),
    ("a tool with a precondition of its own", |record| {
        starts(record, |task| match &task.action {
            Some(Action::Tool(tool)) => plan(record).capabilities.iter().any(|known| known.name == tool.name),
            _ => false,
        })
    }),
    ("a judge that uses something", |record| {
        any_event(record, |event| matches!(event, Event::Judged { usage, .. } if *usage != Usage::default()))
    }),
    ("a verifier that uses something", |record| {
        any_event(record, |event| matches!(event, Event::Verified { usage, .. } if *usage != Usage::default()))
    }),
    ("an undo that uses something", |record| {
        any_event(record, |event| matches!(event, Event::TaskUndone { usage, .. } if *usage != Usage::default()))
    }),
    ("a plan that is adopted", |record| {
        let own = |placed: &Placed| placed.task.id.as_str().starts_with("own");
        any_event(record, |event| matches!(event, Event::PlanRevised { diff, .. } if diff.added.iter().any(own)))
    }),
    ("a plan that is adopted once more in a later round", |record| {
        let again = |placed: &Placed| {
            let round = placed.task.round.as_ref();
            placed.task.id.as_str().starts_with("own")
                && round.is_some_and(|round| round.because.as_str().starts_with("adopts"))
        };
        any_event(record, |event| matches!(event, Event::PlanRevised { diff, .. } if diff.added.iter().any(again)))
    }),
    ("several inputs in one turn", |record| record.taken.iter().any(|turn| turn.inputs.len() > 1)),
    ("five inputs and more in one turn", |record| record.taken.iter().any(|turn| turn.inputs.len() >= 5)),
    ("a turn without room", |record| record.taken.iter().any(|turn| turn.room.0 == 0)),
];

#[test]
fn every_feature_of_plans_and_turns_is_met() {
    let mut missing: Vec<Feature> = FEATURES.to_vec();
    for seed in 3_000_000..3_000_000 + SEEDS {
        if missing.is_empty() {
            return;
        }
        let report = run_seed(seed, Trace::Off);
        assert_eq!(report.violation, None, "seed {seed}");
        missing.retain(|(_, is_met)| !is_met(&report.record));
    }
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    assert!(names.is_empty(), "not met in {SEEDS} seeds: {names:?}");
}
