//! The checkers of turns and whole runs bite, too: a verdict or a record that is wrong in one place is found out.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use gantry_core::event::{AnswerTo, Event};
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::input::Input;
use gantry_core::life::{self, Life, Room, Verdict};
use gantry_core::plan::{Action, Gate, Plan, Run, Task};
use gantry_core::policy::Usage;
use gantry_core::time::Timestamp;
use gantry_sim::checks::{turn, whole};
use gantry_sim::run::guarded;
use gantry_sim::violation::Outcome;
use gantry_sim::world::{Record, Taken, World};

const NOW: Timestamp = Timestamp::from_ms(1_000);

fn task(name: &str) -> Task {
    let action = Some(Action::Run(Run { command: "make".to_owned(), ..Run::default() }));
    Task { action, ..Task::new(TaskId::slugged(name)) }
}

fn plan() -> Plan {
    let gate = Task { action: Some(Action::Gate(Gate::default())), ..Task::new(TaskId::slugged("gate")) };
    Plan { title: "Checked".to_owned(), tasks: vec![task("a"), task("b"), gate], ..Plan::default() }
}

fn decide(life: &Life, inputs: &[Input], room: Room) -> Verdict {
    let mut draft = life.clone().draft(NOW, room);
    for input in inputs {
        draft.take(input).unwrap();
    }
    draft.close()
}

/// A short run, as the simulator records it: one note, then the start.
fn run() -> (Record, Life) {
    let journal = life::create(plan(), PlanId::mint("Checked", 1), 1, NOW).unwrap();
    let life = life::replay(&journal).unwrap();
    let mut record = Record { journal, ..Record::default() };
    let note = Input::Note { task: None, by: "ana".to_owned(), text: "first".to_owned() };
    let (inputs, room) = (vec![note, Input::Start], Room(1));
    let verdict = decide(&life, &inputs, room);
    record.journal.extend(verdict.events);
    record.taken.push(Taken { now: NOW, room, inputs });
    (record, verdict.life)
}

fn rule(outcome: Outcome) -> Option<&'static str> {
    outcome.err().map(|violation| violation.rule)
}

#[test]
fn a_correct_run_breaks_no_rule() {
    let (record, life) = run();
    assert_eq!(whole::check(&record, &life), Ok(()));
}

#[test]
fn a_state_that_is_not_what_the_journal_says_is_found() {
    let (mut record, life) = run();
    record.journal.pop();
    assert_eq!(rule(whole::check(&record, &life)), Some("replay equals memory"));
    record.journal.remove(1);
    assert_eq!(rule(whole::check(&record, &life)), Some("a journal replays"));
}

#[test]
fn a_line_that_says_something_else_is_found() {
    let (record, _) = run();
    let mut lines: Vec<String> = record.journal.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
    assert!(whole::read_back(&record.journal, &lines).is_ok());
    lines[1] = lines[1].replace("first", "last");
    assert_eq!(rule(whole::read_back(&record.journal, &lines).map(|_| ())), Some("what is written can be read back"));
    lines[1].pop();
    assert_eq!(rule(whole::read_back(&record.journal, &lines).map(|_| ())), Some("what is written can be read back"));
}

#[test]
fn inputs_that_do_not_give_the_journal_are_found() {
    let differs = Some("the same inputs give the same journal");
    let found = |change: fn(&mut Vec<Taken>)| {
        let (mut record, life) = run();
        change(&mut record.taken);
        rule(whole::check(&record, &life))
    };
    assert_eq!(found(|taken| taken[0].room = Room::PLENTY), differs, "another room");
    assert_eq!(found(|taken| taken[0].now = Timestamp::from_ms(2_000)), differs, "another time");
    assert_eq!(found(|taken| drop(taken[0].inputs.remove(0))), differs, "an input less");
    assert_eq!(found(|taken| taken[0].inputs.swap(0, 1)), differs, "another order");
    assert_eq!(found(|taken| taken[0].inputs.push(Input::Start)), differs, "an input that is refused");
    assert_eq!(found(Vec::clear), differs, "nothing at all");
}

#[test]
fn an_attempt_that_starts_without_a_record_is_found() {
    let (_, life) = run();
    let mut verdict = decide(&life, &[Input::Tick], Room::PLENTY);
    assert_eq!(turn::check(&verdict, Room::PLENTY), Ok(()));
    verdict.events.clear();
    assert_eq!(rule(turn::check(&verdict, Room::PLENTY)), Some("every started attempt is in the journal"));
}

#[test]
fn a_turn_that_starts_more_than_it_has_room_for_is_found() {
    let (_, life) = run();
    let verdict = decide(&life, &[Input::Tick], Room(1));
    assert_eq!(rule(turn::check(&verdict, Room::NONE)), Some("a turn starts no more than it has room for"));
}

#[test]
fn a_life_that_is_not_what_its_events_say_is_found() {
    let (_, life) = run();
    let verdict = decide(&life, &[Input::Tick], Room::PLENTY);
    let mut folded = life.clone();
    assert_eq!(rule(turn::folds(&verdict, &folded)), Some("the life of a verdict is what its events say"));
    folded.apply(&verdict.events);
    assert_eq!(turn::folds(&verdict, &folded), Ok(()));
}

#[test]
fn two_verdicts_about_the_same_are_found() {
    let (_, life) = run();
    let (one, other) = (decide(&life, &[Input::Tick], Room(1)), decide(&life, &[Input::Tick], Room::NONE));
    assert_eq!(rule(turn::decided_twice(&one, &other, &[])), Some("deciding twice gives one verdict"));
    assert_eq!(rule(turn::without_refused(&one, &other, &[])), Some("a refused input leaves no trace"));
    assert_eq!(turn::decided_twice(&one, &one, &[]), Ok(()));
    assert_eq!(turn::without_refused(&one, &one, &[]), Ok(()));
}

#[test]
fn an_ignored_answer_that_does_something_is_found() {
    let (_, life) = run();
    let task = TaskId::slugged("a");
    let late =
        Input::Heartbeat { task: task.clone(), attempt: AttemptNo(1), note: String::new(), artifacts: Vec::new() };
    let mut verdict = decide(&life, &[late], Room::PLENTY);
    let (attempt, reason, usage, to) = (AttemptNo(9), String::new(), Usage::default(), AnswerTo::Attempt);
    let ignored = Event::AnswerIgnored { task, attempt, reason, usage, to };
    let mut entry = verdict.events[0].clone();
    entry.event = ignored;
    verdict.events = vec![entry];
    assert_eq!(rule(turn::ignored(&life, &verdict)), Some("an ignored answer changes nothing"));
    verdict.life = life.clone();
    assert_eq!(turn::ignored(&life, &verdict), Ok(()));
    verdict.events.push(verdict.events[0].clone());
    assert_eq!(rule(turn::ignored(&life, &verdict)), Some("an ignored answer changes nothing"));
}

#[test]
fn a_plan_that_the_diffs_do_not_make_is_found() {
    let mut other = plan();
    assert_eq!(turn::revision(&plan(), &other), Ok(()));
    other.tasks.pop();
    assert_eq!(rule(turn::revision(&plan(), &other)), Some("diffs make the plan that the life reports"));
    other.tasks[0].depends_on.push(TaskId::slugged("nobody"));
    assert_eq!(rule(turn::revision(&other, &other)), Some("every revision is a valid plan"));
}

#[test]
fn a_wake_that_does_nothing_is_found() {
    let (_, life) = run();
    assert_eq!(turn::woken(&life, NOW, false), Ok(()));
    assert_eq!(rule(turn::woken(&life, NOW, true)), Some("a wake that is due does something"));
    let started = decide(&life, &[Input::Tick], Room::PLENTY).life;
    assert_eq!(turn::woken(&started, NOW, true), Ok(()), "nothing is due");
}

#[test]
fn a_plan_that_stands_still_is_found() {
    let (_, life) = run();
    assert_eq!(turn::helped(&life, true), Ok(()));
    assert_eq!(rule(turn::helped(&life, false)), Some("a plan that is helped goes on"));
}

#[test]
fn a_plan_that_cannot_begin_is_found() {
    assert!(World::with_plan(plan(), 1).is_ok());
    let mut circle = plan();
    circle.tasks[0].depends_on.push(TaskId::slugged("b"));
    circle.tasks[1].depends_on.push(TaskId::slugged("a"));
    assert_eq!(rule(World::with_plan(circle, 1).map(|_| ())), Some("a valid plan begins"));
}

#[test]
fn a_plan_that_does_not_end_though_everybody_helps_is_found() {
    let helped = |turns_max: usize| World::with_plan(plan(), 1).and_then(|mut world| world.help_within(turns_max));
    assert_eq!(helped(100), Ok(()));
    assert_eq!(rule(helped(2)), Some("a plan that is helped ends"));
}

#[test]
fn a_life_that_cannot_be_forked_is_found() {
    let unforkable = Some("a life can be forked anywhere");
    let (record, _) = run();
    let mut journal = record.journal;
    assert_eq!(whole::forked(&journal), Ok(()));
    journal[1].seq = 9;
    assert_eq!(rule(whole::forked(&journal)), unforkable, "an entry is missing");
    assert_eq!(rule(whole::forked(&journal[1..])), unforkable, "the beginning is missing");
    assert_eq!(rule(whole::forked(&[])), unforkable, "there is nothing to fork");
}

#[test]
fn something_that_cannot_be_written_is_found() {
    let (record, life) = run();
    assert!(whole::written(&record.journal).is_ok() && whole::written(&life).is_ok());
    let without_text = std::collections::BTreeMap::from([((1, 2), "the key is no text")]);
    assert_eq!(rule(whole::written(&without_text).map(|_| ())), Some("everything can be written"));
}

#[test]
fn a_panic_is_found() {
    let (_, violation) = guarded(|| panic!("out of bounds"));
    let violation = violation.unwrap();
    assert_eq!((violation.rule, violation.detail.as_str()), ("nothing panics", "out of bounds"));
    assert_eq!(guarded(|| (Record::default(), None)).1, None);
}
