//! What is said for each no, and with which exit code.

use gantry_core::id::{PlanId, Revision};
use gantry_core::life::PlanState;

use super::*;
use crate::desk::refusal as refused;

/// One of each. The matches below have no arm for the rest, so that a new one asks for its place here.
fn refusals() -> Vec<Refusal> {
    let text = |text: &str| text.to_owned();
    let all = vec![
        Refusal::UnknownTask { task: text("ship") },
        Refusal::WrongState { verb: "paused", state: PlanState::Completed },
        Refusal::NotWaitingFor { task: text("ship"), what: text("an answer") },
        Refusal::NotAGate { task: text("ship") },
        Refusal::DecidedAlready { gate: text("sign-off") },
        Refusal::ApprovedAlready { gate: text("sign-off"), by: text("ana") },
        Refusal::NotAllowed { gate: text("legal"), by: text("ana"), role: None, approvers: vec![text("ben")] },
        Refusal::NotInRole { by: text("ana"), role: text("lawyer"), people: vec![text("ben")] },
        Refusal::NoMoreRounds { gate: text("sign-off"), reason: text("it had 3 rounds") },
        Refusal::Incomplete { task: text("look"), missing: text("the evidence `photo`") },
        Refusal::UnknownAnswer { task: text("which"), answer: text("x"), choices: vec![text("eu"), text("us")] },
        Refusal::OldRevision { seen: Revision(1), current: Revision(2) },
        Refusal::BadPlan { problems: Vec::new() },
        Refusal::DoesNotFit { reason: text("task `x` is not there") },
        Refusal::NothingChanges,
        Refusal::OverBudget { detail: text("$5.00 of $5.00 are spent") },
        Refusal::TaskRuns { task: text("ship") },
        Refusal::NotFinished { task: text("ship") },
        Refusal::Undoing,
        Refusal::UnknownPoint { to: text("start") },
        Refusal::KnownHypothesis { id: text("h1") },
        Refusal::TooMany { what: "hypotheses", max: 100 },
        Refusal::UnknownHypothesis { id: text("h1") },
    ];
    let place = |refusal: &Refusal| match refusal {
        Refusal::UnknownTask { .. } => 0,
        Refusal::WrongState { .. } => 1,
        Refusal::NotWaitingFor { .. } => 2,
        Refusal::NotAGate { .. } => 3,
        Refusal::DecidedAlready { .. } => 4,
        Refusal::ApprovedAlready { .. } => 5,
        Refusal::NotAllowed { .. } => 6,
        Refusal::NotInRole { .. } => 7,
        Refusal::NoMoreRounds { .. } => 8,
        Refusal::Incomplete { .. } => 9,
        Refusal::UnknownAnswer { .. } => 10,
        Refusal::OldRevision { .. } => 11,
        Refusal::BadPlan { .. } => 12,
        Refusal::DoesNotFit { .. } => 13,
        Refusal::NothingChanges => 14,
        Refusal::OverBudget { .. } => 15,
        Refusal::TaskRuns { .. } => 16,
        Refusal::NotFinished { .. } => 17,
        Refusal::Undoing => 18,
        Refusal::UnknownPoint { .. } => 19,
        Refusal::KnownHypothesis { .. } => 20,
        Refusal::TooMany { .. } => 21,
        Refusal::UnknownHypothesis { .. } => 22,
    };
    assert!(all.iter().map(place).eq(0..23), "one of each, in order");
    all
}

fn store_errors() -> Vec<StoreError> {
    let what = "writing `gantry.db`".to_owned();
    let plan = PlanId::new("release").unwrap();
    let all = vec![
        StoreError::Conflict { length: 7 },
        StoreError::NotFound { what: "plan `x`".to_owned(), candidates: vec!["release".to_owned()] },
        StoreError::Ambiguous {
            reference: "rel".to_owned(),
            candidates: vec!["relay".to_owned(), "release".to_owned()],
        },
        StoreError::Busy { what: what.clone() },
        StoreError::Full { what: what.clone() },
        StoreError::ReadOnly { what: what.clone() },
        StoreError::Gone { what: what.clone() },
        StoreError::corrupt("the turn of entries 4 to 7"),
        StoreError::Foreign { what: what.clone() },
        StoreError::NewerSchema { found: 9, known: 3 },
        StoreError::AlreadyDone { plan: plan.clone() },
        StoreError::KeyReused { key: "once".to_owned() },
        StoreError::TooLarge { what: "the blob".to_owned(), bytes: 9, bytes_max: 8 },
        StoreError::Invalid { what: "a turn without entries".to_owned() },
        StoreError::Pinned { plan },
        StoreError::Io { what },
    ];
    let place = |error: &StoreError| match error {
        StoreError::Conflict { .. } => 0,
        StoreError::NotFound { .. } => 1,
        StoreError::Ambiguous { .. } => 2,
        StoreError::Busy { .. } => 3,
        StoreError::Full { .. } => 4,
        StoreError::ReadOnly { .. } => 5,
        StoreError::Gone { .. } => 6,
        StoreError::Corrupt { .. } => 7,
        StoreError::Foreign { .. } => 8,
        StoreError::NewerSchema { .. } => 9,
        StoreError::AlreadyDone { .. } => 10,
        StoreError::KeyReused { .. } => 11,
        StoreError::TooLarge { .. } => 12,
        StoreError::Invalid { .. } => 13,
        StoreError::Pinned { .. } => 14,
        StoreError::Io { .. } => 15,
    };
    assert!(all.iter().map(place).eq(0..16), "one of each, in order");
    all
}

fn drawn(faults: impl Iterator<Item = Fault>) -> String {
    let line = |fault: Fault| {
        let hint = fault.advice().map(|hint| format!("\n    hint: {hint}")).unwrap_or_default();
        format!("{} {}{hint}\n", fault.code(), fault.message())
    };
    faults.map(line).collect()
}

#[test]
fn every_refusal_has_its_code_its_words_its_exit_code_and_what_to_do() {
    let plan = PlanId::new("release").unwrap();
    let line = |refusal: Refusal| {
        let fault = refused(EngineError::Refused(refusal), &plan);
        let told = fault.to_json();
        let hint = fault.advice().map(|hint| format!("\n    hint: {hint}")).unwrap_or_default();
        format!("{} {} {}{hint}\n", fault.code(), told["refusal"].as_str().unwrap(), fault.message())
    };
    insta::assert_snapshot!(refusals().into_iter().map(line).collect::<String>(), @"
    5 life::unknown-task there is no task `ship`
    5 life::wrong-state a plan that is completed cannot be paused
        hint: see where it stands with `gantry status release`
    5 life::not-waiting task `ship` does not wait for an answer
        hint: see where it stands with `gantry status release`
    5 life::not-a-gate task `ship` is not a gate
        hint: see its gates with `gantry gate list release`
    5 life::decided-already gate `sign-off` is decided already
        hint: see what was decided with `gantry log release`
    5 life::approved-already ana has approved gate `sign-off` already
        hint: it takes the approval of someone else
    5 life::not-allowed ana may not decide gate `legal`: only ben may
        hint: see who may with `gantry gate show release GATE`; say who you are with `--by` and `--role`
    5 life::not-in-role ana is no lawyer of this plan: it names ben
        hint: decide in a role that is yours; who has which stands in the plan's `stakeholders`
    5 life::no-more-rounds gate `sign-off` cannot send work back: it had 3 rounds
        hint: approve or reject it, or allow more with `gantry revise release FILE --rationale WHY`
    5 life::incomplete task `look` also needs the evidence `photo`
        hint: judge every check: `--holds CHECK` or `--fails CHECK=WHY`
    5 life::unknown-answer `x` is no answer to `which`; choose one of: eu, us
    5 life::old-revision revision 1 was looked at, but revision 2 is current
        hint: look at the plan again, then repeat the request
    2 life::bad-plan the changed plan would be wrong
        hint: find each with its place by `gantry validate FILE`
    5 life::does-not-fit task `x` is not there
    5 life::nothing-changes nothing would change
    5 life::over-budget the budget does not allow it: $5.00 of $5.00 are spent
        hint: allow more in `policy.budget` with `gantry revise release FILE --rationale WHY`
    5 life::task-runs task `ship` runs right now
        hint: wait for it, or pause the plan first
    5 life::not-finished task `ship` is not finished
        hint: see where it stands with `gantry status release`
    5 life::undoing what was done is being taken back right now
        hint: see how far it is with `gantry status release`
    5 life::unknown-point there is no checkpoint or finished task `start`
        hint: see its checkpoints with `gantry restore release`, its tasks with `gantry status release`
    5 life::known-hypothesis there is a hypothesis `h1` already
    5 life::too-many a plan has at most 100 hypotheses
    5 life::unknown-hypothesis there is no hypothesis `h1`
    ");
}

#[test]
fn every_trouble_of_the_record_has_its_words_and_its_exit_code() {
    insta::assert_snapshot!(drawn(store_errors().into_iter().map(Fault::from)), @"
    1 the journal has 7 entries by now: someone else appended first
        hint: load the plan and decide again
    2 there is no plan `x`
        hint: did you mean release?
    2 `rel` fits more than one plan: relay, release
        hint: write more of the id, or the plan's number
    1 the record is busy: writing `gantry.db`
        hint: try again; if it stays busy, see which process holds the file
    1 there is no room left: writing `gantry.db`
        hint: free some room on the disk; nothing that was acknowledged is lost
    1 the record is read-only: writing `gantry.db`
        hint: check the permissions of the file and of its folder
    1 the record is gone: writing `gantry.db`
        hint: put the file back where it was; nothing that was acknowledged is lost
    1 the record is damaged: the turn of entries 4 to 7
        hint: do not write to this record; restore a backup, or run `gantry audit` to see what is still sound
    1 this is not a record of Gantry: writing `gantry.db`
        hint: name another file: this one was left as it is
    1 the record has schema 9, and this program knows schemas up to 3
        hint: use the newer program; the record was left as it is
    5 this request was carried out before: plan `release`
        hint: look at the plan that the first request made
    5 the key `once` was used for another request before
        hint: choose a new key for a new request
    1 the blob has 9 bytes, and at most 8 are kept
        hint: split it, or keep it outside and record where it is
    2 the request makes no sense: a turn without entries
    5 plan `release` is pinned
        hint: unpin it first
    1 writing `gantry.db`
        hint: check the disk; nothing that was acknowledged is lost
    ");
}

#[test]
fn the_exit_codes_are_those_of_the_documentation() {
    let told = include_str!("../../../../docs/command-line.md");
    let rows = told.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let codes: Vec<u8> = rows.filter_map(|(code, _)| code.parse().ok()).collect();
    assert_eq!(codes, [DONE, INTERNAL, BAD_INPUT, FAILED, WAITING, REFUSED]);
}
