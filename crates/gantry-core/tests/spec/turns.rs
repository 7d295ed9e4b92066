//! A turn may take in several inputs, and may have room for fewer attempts than the plan would start.

use std::collections::BTreeSet;

use gantry_core::effect::{ArtifactRef, Failure};
use gantry_core::id::{AttemptNo, Revision, TaskId};
use gantry_core::input::{Change, Decision, EvidenceFor, Input, Resolution, Success, TakeBack, Verdict};
use gantry_core::life::{PlanState, Room};
use gantry_core::plan::{Hypothesis, Money, diff};
use gantry_core::policy::FailureClass::{Logic, Transient};
use gantry_core::policy::Usage;
use gantry_core::time::Duration;
use gantry_testkit::{World, draw_plan, mins, secs};
use serde_json::json;

fn id(name: &str) -> TaskId {
    TaskId::new(name).unwrap()
}

#[test]
fn several_answers_in_one_turn_end_as_they_would_one_by_one() {
    let begun = || {
        let mut world = World::with_plan(
            r#"
            a
            b  retry={"max":2,"backoff":"5s"}
            c
            d  heartbeat=30s
            e  after a, c
            f  after b
            "#,
        );
        world.started();
        world
    };
    let mut together = begun();
    together.together(&[
        together.finished_with("a", json!({"n": 1})),
        together.failed("b", Transient, "later"),
        together.alive("d", "half way"),
        together.finished("c"),
    ]);
    let mut one_by_one = begun();
    one_by_one.finish_with("a", json!({"n": 1}));
    one_by_one.fail("b", Transient, "later");
    one_by_one.heartbeat("d", "half way");
    one_by_one.finish("c");
    assert_eq!(together.tasks(), one_by_one.tasks());
    assert_eq!(together.waits_for(), one_by_one.waits_for());
    assert_eq!(together.started(), ["e"]);
    assert_eq!(one_by_one.started(), ["e"]);
    insta::assert_snapshot!(together.tasks(), @"
    a  completed
    b  waiting    another try at 2026-01-01T09:00:04.193Z
    c  completed
    d  running
    e  running
    f  pending    for b
    ");
}

#[test]
fn the_inputs_of_a_turn_are_taken_in_their_order() {
    let late = || {
        let mut world = World::with_plan("a  timeout=10m");
        world.clock_shows("2026-01-01T09:10:00Z");
        world
    };
    let mut answer_first = late();
    answer_first.together(&[answer_first.finished("a"), Input::Tick]);
    assert_eq!(answer_first.state(), PlanState::Completed);
    let mut clock_first = late();
    clock_first.together(&[Input::Tick, clock_first.finished("a")]);
    assert_ne!(clock_first.state(), PlanState::Completed);
    assert!(clock_first.log_since(0).contains("answer_ignored a"), "{}", clock_first.log_since(0));
}

#[test]
fn an_answer_that_comes_twice_in_one_turn_counts_once() {
    let mut world = World::with_plan("a\nb after a");
    let answer = world.finished("a");
    world.started();
    world.together(&[answer.clone(), answer]);
    assert_eq!(world.started(), ["b"]);
    assert_eq!(world.log_since(0).matches("answer_ignored a").count(), 1);
    assert_eq!(world.log_since(0).matches("task_completed a").count(), 1);
}

#[test]
fn a_refused_input_among_others_leaves_no_trace_and_the_others_count() {
    let begun = || {
        let mut world = World::with_plan(
            "
            g  gate  gate.approvals=2
            q  ask
            a
            b
            c  after a, b
            ",
        );
        world.approve("g", "bo");
        world.wishes();
        world
    };
    let mut mixed = begun();
    let twice_in_one_review = Input::Review {
        by: "ana".to_owned(),
        role: None,
        decisions: vec![
            World::decision("g", Decision::Approve, "fine"),
            World::decision("nowhere", Decision::Approve, "fine"),
        ],
    };
    let stale = Input::Revise {
        by: "ana".to_owned(),
        rationale: String::new(),
        base: Revision(0),
        change: Change::To(Box::new(draw_plan("z"))),
    };
    let wrong_plan = mixed.revision(|plan| plan.tasks[4].depends_on.push(id("nobody")));
    let unknown = Input::Ended {
        task: id("nobody"),
        attempt: AttemptNo(1),
        end: Ok(Success::default()),
        usage: Usage::default(),
    };
    let retry = Input::Retry { task: id("a"), by: "ana".to_owned(), why: String::new() };
    let undo = Input::Undo { to: "nowhere".to_owned(), by: "ana".to_owned(), why: String::new() };
    let refused = mixed.together_in(
        Room::PLENTY,
        &[
            retry,
            twice_in_one_review,
            mixed.finished("a"),
            stale,
            wrong_plan,
            unknown,
            mixed.finished("b"),
            undo,
            Input::Resume { by: "ana".to_owned() },
        ],
    );
    insta::assert_snapshot!(refused.join("\n"), @"
    task `a` runs right now [life::task-runs]
    there is no task `nowhere` [life::unknown-task]
    revision 0 was looked at, but revision 1 is current [life::old-revision]
    the changed plan would be wrong; task `c` depends on `nobody`, which does not exist [life::bad-plan]
    there is no task `nobody` [life::unknown-task]
    there is no checkpoint or finished task `nowhere` [life::unknown-point]
    a plan that is running cannot be resumed [life::wrong-state]
    ");
    let mut alone = begun();
    alone.together(&[alone.finished("a"), alone.finished("b")]);
    assert_eq!(mixed.log_since(0), alone.log_since(0));
    assert_eq!(mixed.life(), alone.life());
    assert_eq!(mixed.wishes(), alone.wishes());
    assert_eq!(mixed.life().task_state("c").unwrap().to_string(), "running");
}

#[test]
fn a_turn_in_which_everything_is_refused_does_nothing() {
    let mut world = World::with_plan("a");
    world.wishes();
    let before = world.life().clone();
    let refused = world.together_in(Room::PLENTY, &[Input::Start, Input::Resume { by: "ana".to_owned() }]);
    assert_eq!(refused.len(), 2);
    assert_eq!(world.life(), &before);
    assert_eq!(world.wishes(), "");
}

#[test]
fn without_room_nothing_starts_but_what_needs_no_runner_goes_on() {
    let mut world = World::not_started(draw_plan(
        r#"
        a
        sum    compute={"n":"1 + 2"}
        which  after sum  decide={"options":[{"outcome":"small","when":"sum.n < 9"}]}
        g      gate  after which
        b      after sum
        "#,
    ));
    assert!(world.together_in(Room::NONE, &[Input::Start]).is_empty());
    assert!(world.started().is_empty());
    insta::assert_snapshot!(world.tasks(), @"
    a      ready
    sum    completed
    which  completed  small
    g      waiting    0 of 1 approvals
    b      ready
    ");
    world.together_in(Room::NONE, &[Input::Tick]);
    assert!(world.started().is_empty());
    assert_eq!(world.life().next_wake(), Some(world.journal().last().unwrap().at), "another turn is due at once");
    world.together_in(Room::PLENTY, &[Input::Tick]);
    assert_eq!(world.started(), ["a", "b"]);
}

#[test]
fn room_for_one_starts_just_one_and_the_rest_later() {
    let mut world = World::not_started(draw_plan("a\nb  priority=5\nc\nd  after b"));
    world.together_in(Room(1), &[Input::Start]);
    assert_eq!(world.started(), ["b"], "the most important one goes first");
    world.together_in(Room(1), &[world.finished("b")]);
    assert_eq!(world.started(), ["a"]);
    world.together_in(Room::NONE, &[world.finished("a")]);
    assert!(world.started().is_empty());
    world.advance(secs(0));
    assert_eq!(world.started(), ["c", "d"]);
}

#[test]
fn what_a_plan_allows_at_once_holds_however_much_room_there_is() {
    let mut world = World::not_started(draw_plan("policy.parallel=2\na\nb\nc"));
    world.together_in(Room(3), &[Input::Start]);
    assert_eq!(world.started(), ["a", "b"]);
    world.together_in(Room(3), &[world.finished("a"), world.finished("b")]);
    assert_eq!(world.started(), ["c"]);
}

#[test]
fn a_life_decided_again_from_what_it_took_in_gives_its_journal_byte_for_byte() {
    let mut world = World::not_started(draw_plan(
        r#"
        a  retry={"max":2,"backoff":"5s"}
        b  after a  undo=restore  on failure -> a max=1
        m  map  after a  map={"over":"tasks.a.list"}
        g  gate  after b
        "#,
    ));
    world.together_in(Room::NONE, &[Input::Start]);
    world.advance(secs(1));
    world.together(&[world.failed("a", Transient, "later"), Input::Tick]);
    world.advance(mins(1));
    world.together_in(Room(1), &[world.finished_with("a", json!({"list": [1, 2]})), Input::Start]);
    world.advance(mins(1));
    world.fail("b", Logic, "broken");
    world.crash();
    world.cancel(TakeBack::Everything);
    let written = |journal: &[_]| serde_json::to_string(journal).unwrap();
    assert_eq!(written(&world.decided_again()), written(world.journal()));
}

/// One input of each kind, with everything in it that it can carry.
fn one_of_each_kind() -> Vec<Input> {
    let (by, why, task) = ("ana".to_owned(), "why not".to_owned(), id("a"));
    let attempt = AttemptNo(3);
    let kept = ArtifactRef { name: "log".to_owned(), hash: "ab".to_owned(), bytes: 7 };
    let outputs = [("n".to_owned(), json!(1.5)), ("deep".to_owned(), json!({"tasks": [null, true, "ü"]}))];
    let success = Success {
        outputs: outputs.clone().into(),
        artifacts: vec![kept.clone()],
        outcome: Some("good".to_owned()),
        shortfall: None,
    };
    let mut failure = Failure::new(Logic, "no");
    failure.mode = Some("flaky".to_owned());
    failure.retry_after = Some(Duration::from_ms(1_234));
    failure.evidence.push(kept.clone());
    let usage = Usage { cost_usd: Money(1), model_calls: 2, tokens: 3, nodes: 4 };
    let (old, new) = (draw_plan("a\nb after a"), draw_plan("policy.parallel=2\na\nc gate after a"));
    let revise = |change| Input::Revise { by: by.clone(), rationale: why.clone(), base: Revision(2), change };
    let resolve = |resolution| Input::Resolve { task: task.clone(), by: by.clone(), resolution, why: why.clone() };
    let mut decision = World::decision("g", Decision::NeedsChanges, "not yet");
    decision.evidence.push("report".to_owned());
    decision.revision = Some(Revision(4));
    let hypothesis = Hypothesis { id: "H1".to_owned(), statement: Some("so".to_owned()), ..Hypothesis::default() };
    let evidence = |direction| Input::Evidence {
        hypothesis: "H1".to_owned(),
        direction,
        evidence: "seen".to_owned(),
        by: by.clone(),
    };
    let judged = |task| Input::Judged {
        task,
        by: by.clone(),
        verdicts: vec![Verdict {
            check: "it is safe".to_owned(),
            holds: false,
            because: why.clone(),
            another_way: false,
        }],
        usage,
        attempt: None,
        asked: None,
    };
    let ended = |end| Input::Ended { task: task.clone(), attempt, end, usage };
    let cancel = |undo| Input::Cancel { by: by.clone(), why: why.clone(), undo };
    vec![
        Input::Start,
        Input::Pause { by: by.clone(), why: why.clone() },
        Input::Resume { by: by.clone() },
        cancel(TakeBack::Nothing),
        cancel(TakeBack::Everything),
        Input::Tick,
        Input::Recover,
        ended(Ok(success.clone())),
        ended(Err(failure)),
        Input::Heartbeat { task: task.clone(), attempt, note: "half".to_owned(), artifacts: vec![kept] },
        Input::Verified { task: task.clone(), attempt, happened: Some(true), outputs: outputs.clone().into(), usage },
        Input::Verified { task: task.clone(), attempt, happened: None, outputs: [].into(), usage },
        judged(Some(task.clone())),
        judged(None),
        Input::JudgeFailed { task: Some(task.clone()), why: why.clone(), usage, attempt, asked: 3, failed: 1 },
        Input::UndoEnded { task: task.clone(), attempt, end: Ok("as before".to_owned()), usage },
        Input::UndoEnded { task: task.clone(), attempt, end: Err("stuck".to_owned()), usage },
        Input::Observed { facts: [("network.online".to_owned(), json!(true))].into() },
        Input::Review { by: by.clone(), role: Some("maintainer".to_owned()), decisions: vec![decision] },
        Input::Answer { task: task.clone(), by: by.clone(), answer: "yes".to_owned() },
        Input::Report { task: task.clone(), by: by.clone(), end: Ok(success) },
        Input::Report { task: task.clone(), by: by.clone(), end: Err("no time".to_owned()) },
        resolve(Resolution::Retry { guidance: Some("gently".to_owned()) }),
        resolve(Resolution::Complete { outputs: outputs.clone().into() }),
        resolve(Resolution::Skip),
        resolve(Resolution::Fail),
        revise(Change::By(Box::new(diff(&old, &new)))),
        revise(Change::To(Box::new(new))),
        Input::EditOutput { task: task.clone(), by: by.clone(), why: why.clone(), outputs: outputs.into() },
        Input::Retry { task: task.clone(), by: by.clone(), why: why.clone() },
        Input::Undo { to: "half".to_owned(), by: by.clone(), why: why.clone() },
        Input::Checkpoint { name: "half".to_owned() },
        Input::Hypothesise { hypothesis },
        evidence(EvidenceFor::Supports),
        evidence(EvidenceFor::StronglySupports),
        evidence(EvidenceFor::Neutral),
        evidence(EvidenceFor::Refutes),
        evidence(EvidenceFor::StronglyRefutes),
        Input::Note { task: Some(task), by: by.clone(), text: "remember".to_owned() },
        Input::Note { task: None, by, text: String::new() },
    ]
}

/// The place of a kind among all kinds: a new kind has to be added here, and then above.
fn place(input: &Input) -> usize {
    match input {
        Input::Start => 0,
        Input::Pause { .. } => 1,
        Input::Resume { .. } => 2,
        Input::Cancel { .. } => 3,
        Input::Tick => 4,
        Input::Recover => 5,
        Input::Ended { .. } => 6,
        Input::Heartbeat { .. } => 7,
        Input::Verified { .. } => 8,
        Input::Judged { .. } => 9,
        Input::JudgeFailed { .. } => 10,
        Input::UndoEnded { .. } => 11,
        Input::Observed { .. } => 12,
        Input::Review { .. } => 13,
        Input::Answer { .. } => 14,
        Input::Report { .. } => 15,
        Input::Resolve { .. } => 16,
        Input::Revise { .. } => 17,
        Input::EditOutput { .. } => 18,
        Input::Retry { .. } => 19,
        Input::Undo { .. } => 20,
        Input::Checkpoint { .. } => 21,
        Input::Hypothesise { .. } => 22,
        Input::Evidence { .. } => 23,
        Input::Note { .. } => 24,
    }
}

#[test]
fn every_kind_of_input_is_read_back_as_it_was_written() {
    let inputs = one_of_each_kind();
    let places: BTreeSet<usize> = inputs.iter().map(place).collect();
    assert_eq!(places, (0..25).collect(), "one of each kind");
    for input in inputs {
        let text = serde_json::to_string(&input).unwrap();
        let back: Input = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(back, input, "{text}");
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }
    let room: Room = serde_json::from_str(&serde_json::to_string(&Room::PLENTY).unwrap()).unwrap();
    assert_eq!(room, Room::PLENTY);
}

#[test]
fn a_turn_that_would_be_too_long_goes_on_in_the_next() {
    // Each start is one event, and a turn stops starting things after ten thousand.
    let tasks = (0..10_500).map(|n| format!("t{n}")).collect::<Vec<_>>().join("\n");
    let mut world = World::with_plan(&format!("policy.parallel=20000\n{tasks}"));
    let first = world.started().len();
    assert!((9_000..10_500).contains(&first), "{first} were started");
    assert_eq!(world.life().next_wake(), Some(world.journal().last().unwrap().at));
    world.turn(Input::Tick);
    assert_eq!(first + world.started().len(), 10_500);
}
