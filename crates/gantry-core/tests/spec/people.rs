//! Questions and work for people.

use gantry_core::effect::ArtifactRef;
use gantry_core::input::{Input, Success};
use gantry_core::policy::Usage;
use gantry_testkit::{World, days, hours};

#[test]
fn a_manual_task_waits_for_a_person_who_hands_in_evidence() {
    let mut world = World::with_plan(r#"visit manual manual={"instruction":"inspect the roof","evidence":["photo"]}"#);
    insta::assert_snapshot!(world.tasks(), @"visit  waiting    someone to do it");
    let report = |artifacts| Input::Report {
        task: gantry_core::id::TaskId::new("visit").unwrap(),
        by: "ben".to_owned(),
        end: Ok(Success { artifacts, ..Success::default() }),
    };
    assert_eq!(world.refusal(report(Vec::new())), "task `visit` also needs the evidence `photo` [life::incomplete]");
    let photo = ArtifactRef { name: "photo".to_owned(), hash: "b3".to_owned(), bytes: 9 };
    world.turn(report(vec![photo]));
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn a_task_without_an_action_is_for_a_person() {
    let mut world = World::with_plan("talk action=none");
    assert_eq!(world.waits_for(), ["talk: someone to do it"]);
    world.done_by("talk", "ana");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn prose_is_done_by_whom_the_policy_names() {
    let drawing = |by: &str| format!("policy.prose={by}\ndesign command=\"derive strategies; compare tradeoffs\"");
    let mut world = World::with_plan(&drawing("person"));
    assert_eq!(world.waits_for(), ["design: someone to do it"]);
    assert!(world.started().is_empty());
    let world = World::with_plan(&drawing("model"));
    assert_eq!(world.starts()[0].action.key(), "model");
    let world = World::with_plan(&drawing("agent"));
    assert_eq!(world.starts()[0].action.key(), "agent");
}

#[test]
fn a_person_can_say_that_it_cannot_be_done() {
    let mut world = World::with_plan("visit person on failure -> call\ncall");
    world.started();
    world.turn(Input::Report {
        task: gantry_core::id::TaskId::new("visit").unwrap(),
        by: "ben".to_owned(),
        end: Err("nobody at home".to_owned()),
    });
    assert_eq!(world.started(), ["call"]);
}

#[test]
fn a_question_with_options_takes_only_those_and_its_answer_chooses_the_route() {
    let mut world = World::with_plan(
        r#"
        which  ask  ask={"question":"Which way?","options":[{"name":"rail","pros":["fast"],"cost_usd":9},"road"]}  on rail -> by-rail  on road -> by-road
        by-rail
        by-road
        "#,
    );
    let answer = Input::Answer {
        task: gantry_core::id::TaskId::new("which").unwrap(),
        by: "ana".to_owned(),
        answer: "boat".to_owned(),
    };
    assert_eq!(
        world.refusal(answer),
        "`boat` is no answer to `which`; choose one of: rail, road [life::unknown-answer]"
    );
    world.answer("which", "rail");
    insta::assert_snapshot!(world.tasks(), @"
    which    completed  rail
    by-rail  running
    by-road  skipped    no route led to it
    ");
}

#[test]
fn a_question_that_nobody_answers_in_time_takes_its_default() {
    let mut world = World::with_plan(r#"when ask ask={"question":"When?","default":"monday","answer_within":"24h"}"#);
    world.advance(hours(23));
    assert_eq!(world.waits_for(), ["when: an answer"]);
    world.advance(hours(1));
    assert_eq!(world.life().outputs("when").unwrap()["answer"], "monday");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn a_plan_that_only_people_can_move_is_blocked_and_says_on_whom() {
    let mut world = World::with_plan("a person\nb ask ask=\"Which?\"\nc gate");
    world.advance(days(3));
    assert_eq!(world.state().to_string(), "blocked");
    assert_eq!(world.waits_for(), ["a: someone to do it", "b: an answer", "c: 0 of 1 approvals"]);
}

#[test]
fn answers_to_what_nobody_asked_are_refused() {
    let mut world = World::with_plan("a");
    let task = || gantry_core::id::TaskId::new("a").unwrap();
    let by = || "ana".to_owned();
    let said = [
        world.refusal(Input::Answer { task: task(), by: by(), answer: "yes".to_owned() }),
        world.refusal(Input::Report { task: task(), by: by(), end: Ok(Success::default()) }),
        world.refusal(Input::Resolve {
            task: task(),
            by: by(),
            resolution: gantry_core::input::Resolution::Skip,
            why: String::new(),
        }),
        world.refusal(Input::Judged {
            task: Some(task()),
            by: by(),
            verdicts: Vec::new(),
            usage: Usage::default(),
            attempt: None,
            asked: None,
        }),
    ];
    insta::assert_snapshot!(said.join("\n"), @"
    task `a` does not wait for an answer [life::not-waiting]
    task `a` does not wait for someone to do it [life::not-waiting]
    task `a` does not wait for help [life::not-waiting]
    task `a` does not wait for a judge [life::not-waiting]
    ");
}

#[test]
fn what_no_capability_could_do_may_be_done_by_hand() {
    let mut world = World::with_plan("write model\nnext after write");
    world.fail("write", gantry_core::policy::FailureClass::Policy, "no model is configured");
    assert_eq!(world.waits_for(), ["write: help: no model is configured"]);
    world.started();
    world.done_by("write", "ana");
    assert_eq!(world.started(), ["next"]);
}

#[test]
fn only_someone_in_the_role_may_do_a_manual_task() {
    let mut world = World::with_plan(
        r#"
        plan.stakeholders=[{"name":"ana","role":"electrician"},{"name":"ben","role":"tenant"}]
        wire   manual manual={"instruction":"connect it","role":"Electrician"}
        paint  manual manual={"instruction":"paint it","role":"painter"}
        "#,
    );
    let report = |task: &str, by: &str| Input::Report {
        task: gantry_core::id::TaskId::new(task).unwrap(),
        by: by.to_owned(),
        end: Ok(Success::default()),
    };
    assert_eq!(
        world.refusal(report("wire", "ben")),
        "ben is no Electrician of this plan: it names ana [life::not-in-role]"
    );
    world.turn(report("wire", "Ana"));
    world.turn(report("paint", "ben"));
    assert_eq!(world.state().to_string(), "completed");
}
