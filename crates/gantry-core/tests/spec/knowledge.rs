//! Hypotheses, evidence, checkpoints, notes.

use gantry_core::event::{Entry, Event};
use gantry_core::input::{EvidenceFor, Input};
use gantry_core::life;
use gantry_core::plan::Hypothesis;
use gantry_testkit::World;

fn evidence(hypothesis: &str, direction: EvidenceFor) -> Input {
    Input::Evidence {
        hypothesis: hypothesis.to_owned(),
        direction,
        evidence: "tasks.check.pool".to_owned(),
        by: "check-db".to_owned(),
    }
}

#[test]
fn evidence_moves_the_confidence_in_a_hypothesis() {
    let mut world = World::with_plan("plan.hypotheses=[\"H1\",\"H2\",\"H3\"]\ncheck");
    let belief =
        |world: &World| world.life().beliefs().map(|(id, sure)| format!("{id} {sure}")).collect::<Vec<_>>().join(", ");
    assert_eq!(belief(&world), "H1 0.500, H2 0.500, H3 0.500");
    world.turn(evidence("H1", EvidenceFor::Supports));
    world.turn(evidence("H1", EvidenceFor::StronglySupports));
    world.turn(evidence("H2", EvidenceFor::Refutes));
    world.turn(evidence("H3", EvidenceFor::Neutral));
    assert_eq!(belief(&world), "H1 0.941, H2 0.333, H3 0.500");
    world.turn(evidence("H1", EvidenceFor::StronglyRefutes));
    assert_eq!(belief(&world), "H1 0.666, H2 0.333, H3 0.500");
}

#[test]
fn hypotheses_can_be_added_once_and_only_known_ones_take_evidence() {
    let mut world = World::with_plan("check");
    assert_eq!(
        world.refusal(evidence("H9", EvidenceFor::Supports)),
        "there is no hypothesis `H9` [life::unknown-hypothesis]"
    );
    let add = || Input::Hypothesise { hypothesis: Hypothesis { id: "H9".to_owned(), ..Hypothesis::default() } };
    world.turn(add());
    world.turn(evidence("H9", EvidenceFor::Supports));
    assert_eq!(world.refusal(add()), "there is a hypothesis `H9` already [life::known-hypothesis]");
}

#[test]
fn checkpoints_have_a_name_that_says_where_and_when() {
    let mut world = World::with_plan("build\nsave checkpoint after build checkpoint=built\nship after save");
    world.finish("build");
    world.finish("save");
    world.turn(Input::Checkpoint { name: "by hand".to_owned() });
    let marks: Vec<String> = world.life().checkpoints().map(|mark| format!("{} {}", mark.id, mark.name)).collect();
    insta::assert_snapshot!(marks.join("\n"), @"
    cp-save-2026-01-01T09:00:00Z built
    cp-save-2026-01-01T09:00:00Z-2 by hand
    ");
}

#[test]
fn the_policy_can_ask_for_a_checkpoint_after_each_task() {
    let mut world = World::with_plan("policy.checkpoint_each_task=true\nbuild\nship after build");
    world.finish("build");
    world.finish("ship");
    assert_eq!(world.life().checkpoints().count(), 2);
}

#[test]
fn a_plan_keeps_a_bounded_number_of_checkpoints() {
    let mut world = World::with_plan("a checkpoint\nb person");
    world.finish("a");
    let mut journal = world.journal().to_vec();
    for seq in world.length() + 1..=world.length() + 9_999 {
        let event = Event::CheckpointMade { id: format!("cp-{seq}"), name: "again".to_owned(), task: None };
        journal.push(Entry { v: 1, seq, at: journal[0].at, event });
    }
    let life = life::replay(&journal).unwrap();
    let refused = life.decide(&Input::Checkpoint { name: "more".to_owned() }, journal[0].at).unwrap_err();
    assert_eq!(refused.to_string(), "a plan has at most 10000 checkpoints");
    assert_eq!(refused.code(), "life::too-many");
}

#[test]
fn a_plan_has_a_bounded_number_of_hypotheses() {
    let mut plan = gantry_testkit::draw_plan("a");
    let hypothesis = |n: usize| Hypothesis { id: format!("H{n}"), ..Hypothesis::default() };
    plan.hypotheses = (0..1_000).map(hypothesis).collect();
    let mut world = World::not_started(plan.clone());
    world.turn(Input::Start);
    let said = world.refusal(Input::Hypothesise { hypothesis: hypothesis(1_000) });
    assert_eq!(said, "a plan has at most 1000 hypotheses [life::too-many]");
    plan.hypotheses.push(hypothesis(1_000));
    let codes: Vec<&str> = plan.check().iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["plan::too-many-hypotheses"]);
}

#[test]
fn a_hypothesis_that_a_revision_brings_takes_evidence() {
    let mut world = World::with_plan("check person");
    world.revise(|plan| plan.hypotheses.push(Hypothesis { id: "H7".to_owned(), ..Hypothesis::default() }));
    world.turn(evidence("H7", EvidenceFor::Supports));
    assert_eq!(world.life().beliefs().map(|(id, sure)| format!("{id} {sure}")).collect::<Vec<_>>(), ["H7 0.667"]);
}

#[test]
fn evidence_in_words_is_taken_and_what_it_names_must_be_there() {
    let mut world = World::with_plan("plan.hypotheses=[\"H1\"]\ncheck artifacts=[{\"name\":\"pool-stats\"}]");
    let with = |evidence: &str| Input::Evidence {
        hypothesis: "H1".to_owned(),
        direction: EvidenceFor::Supports,
        evidence: evidence.to_owned(),
        by: "ana".to_owned(),
    };
    assert_eq!(world.refusal(with("artifacts.pool-stat")), "nothing makes `artifacts.pool-stat` [life::does-not-fit]");
    assert_eq!(world.refusal(with("tasks.chek.pool")), "nothing makes `tasks.chek.pool` [life::does-not-fit]");
    for evidence in ["artifacts.pool-stats", "tasks.check.pool", "I saw it"] {
        world.turn(with(evidence));
    }
}
