//! Gates: checks, approvals, rounds.

use gantry_core::id::Revision;
use gantry_core::input::{Decision, Input};
use gantry_testkit::{World, days, hours};
use serde_json::json;

#[test]
fn a_gate_holds_everything_behind_it_however_long_it_takes() {
    let mut world = World::with_plan(
        "
        build
        sign-off  gate  after build  gate.approvals=2
        ship      after sign-off
        ",
    );
    world.finish("build");
    world.approve("sign-off", "ana");
    world.advance(days(30));
    insta::assert_snapshot!(world.tasks(), @"
    build     completed
    sign-off  waiting    1 of 2 approvals
    ship      pending    for sign-off
    ");
    world.approve("sign-off", "ben");
    assert_eq!(world.started().last().unwrap(), "ship");
}

#[test]
fn every_refusal_of_a_decision_in_order() {
    let mut world = World::with_plan(
        r#"
        build
        sign-off  gate  after build  gate.approvals=2  gate.role=maintainer
        listed    gate  gate.approvers=["ana"]
        both      gate  gate.approvers=["ana"]  gate.role=maintainer
        proof     gate  gate.evidence=["test report"]
        ship      after sign-off
        "#,
    );
    let review = |by: &str, role: Option<&str>, gate: &str, revision: Option<u32>| Input::Review {
        by: by.to_owned(),
        role: role.map(str::to_owned),
        decisions: vec![gantry_core::input::GateDecision {
            revision: revision.map(Revision),
            ..World::decision(gate, Decision::Approve, "fine")
        }],
    };
    let mut said = vec![
        world.refusal(review("ana", None, "nowhere", None)),
        world.refusal(review("ana", None, "build", None)),
        world.refusal(review("ana", Some("maintainer"), "sign-off", None)),
        world.refusal(review("ben", None, "listed", None)),
        world.refusal(review("ben", Some("maintainer"), "both", None)),
        world.refusal(review("ana", None, "both", None)),
        world.refusal(review("ben", None, "both", None)),
        world.refusal(review("ben", None, "proof", None)),
    ];
    world.finish("build");
    said.push(world.refusal(review("ana", Some("intern"), "sign-off", None)));
    said.push(world.refusal(review("ana", Some("maintainer"), "sign-off", Some(0))));
    world.turn(review("ana", Some("maintainer"), "sign-off", Some(1)));
    said.push(world.refusal(review("ana", Some("maintainer"), "sign-off", None)));
    world.turn(review("ben", Some("maintainer"), "sign-off", None));
    said.push(world.refusal(review("cai", Some("maintainer"), "sign-off", None)));
    insta::assert_snapshot!(said.join("\n"), @"
    there is no task `nowhere` [life::unknown-task]
    task `build` is not a gate [life::not-a-gate]
    task `sign-off` does not wait for a decision [life::not-waiting]
    ben may not decide gate `listed`: only ana may [life::not-allowed]
    ben may not decide gate `both`: only ana may [life::not-allowed]
    ana may not decide gate `both`: it takes the role `maintainer` [life::not-allowed]
    ben may not decide gate `both`: only ana may, in the role `maintainer` [life::not-allowed]
    task `proof` also needs the evidence `test report` [life::incomplete]
    ana may not decide gate `sign-off`: it takes the role `maintainer` [life::not-allowed]
    revision 0 was looked at, but revision 1 is current [life::old-revision]
    ana has approved gate `sign-off` already [life::approved-already]
    gate `sign-off` is decided already [life::decided-already]
    ");
}

#[test]
fn nobody_is_two_people_by_writing_their_name_in_another_way() {
    let mut world = World::with_plan("ok gate gate.approvals=2\nship after ok");
    world.approve("ok", "Mallory");
    let said = world.refusal(World::review(" mallory", "ok", Decision::Approve));
    assert_eq!(said, " mallory has approved gate `ok` already [life::approved-already]");
    let mut world = World::with_plan("ok gate gate={\"approvals\":1,\"approvers\":[\"Ana\"]}\nship after ok");
    world.approve("ok", "ana");
    assert_eq!(world.started(), ["ship"]);
}

#[test]
fn a_role_that_the_plan_gives_to_some_belongs_to_nobody_else() {
    let mut world = World::with_plan(
        r#"
        plan.stakeholders=[{"name":"anna","role":"lead"},{"name":"bob","role":"lead"},{"name":"cai"}]
        ok     gate  gate.approvals=1  gate.role=lead
        other  gate  gate.approvals=1
        "#,
    );
    let review = |by: &str, role: &str, gate: &str| Input::Review {
        by: by.to_owned(),
        role: Some(role.to_owned()),
        decisions: vec![World::decision(gate, Decision::Approve, "fine")],
    };
    let said = world.refusal(review("mallory", "lead", "ok"));
    assert_eq!(said, "mallory is no lead of this plan: it names anna, bob [life::not-in-role]");
    let said = world.refusal(review("cai", "Lead", "ok"));
    assert_eq!(said, "cai is no Lead of this plan: it names anna, bob [life::not-in-role]");
    world.turn(review("Anna", "lead", "ok"));
    world.turn(review("mallory", "lawyer", "other")); // nobody is named as a lawyer
    assert_eq!(world.state(), gantry_core::life::PlanState::Completed);
}

#[test]
fn a_gate_with_only_expressions_passes_by_itself() {
    let mut world = World::with_plan(
        r#"
        tests
        quality  gate  after tests  gate.checks=["tests.exit_code == 0"]
        ship     after quality
        "#,
    );
    world.started();
    world.finish_with("tests", json!({"exit_code": 0}));
    assert_eq!(world.started(), ["ship"]);
}

#[test]
fn a_failed_check_takes_the_failure_route_without_asking_anyone() {
    let mut world = World::with_plan(
        r#"
        tests
        quality  gate  after tests  gate.checks=["tests.exit_code == 0"]  gate.approvals=1  on failure -> repair
        repair
        ship     after quality
        "#,
    );
    let before = world.length();
    world.finish_with("tests", json!({"exit_code": 1}));
    insta::assert_snapshot!(world.log_since(before), @r#"
    attempt_succeeded tests attempt=1 outputs={"exit_code":1}
    task_completed tests outputs={"exit_code":1}
    gate_opened quality findings=[{"check":"tests.exit_code == 0","holds":false,"because":"tests.exit_code == 0 is false: tests.exit_code = 1"}] needed=1 revision=1
    route_taken quality repair on=failure
    task_failed quality failure={"class":"logic","message":"tests.exit_code == 0 is false: tests.exit_code = 1"} handled=true
    task_skipped ship because=a task before it took another way
    attempt_started repair attempt=1
    "#);
}

#[test]
fn a_rejected_gate_fails_the_plan_unless_a_route_takes_care_of_it() {
    let mut world = World::with_plan("ok gate\nship after ok");
    world.reject("ok", "ana");
    assert_eq!(world.state().to_string(), "failed");
    insta::assert_snapshot!(world.tasks(), @"
    ok    failed     ana rejected it: as tested
    ship  blocked    for ok
    ");

    let mut world = World::with_plan("ok gate on rejected -> rework\nrework\nship after ok");
    world.started();
    world.reject("ok", "ana");
    assert_eq!(world.started(), ["rework"]);
}

#[test]
fn needs_changes_adds_a_fresh_round_of_the_phase_and_never_a_cycle() {
    let mut world = World::with_plan(
        r#"
        scope
        harvest     after scope
        synthesise  after harvest  inputs={"docs":"tasks.harvest.docs"}
        validate    gate  after synthesise  gate.back_to=harvest  gate.rounds_max=2
        plan-it     after validate
        "#,
    );
    world.finish("scope");
    world.finish_with("harvest", json!({"docs": 3}));
    world.finish("synthesise");
    world.started();
    world.needs_changes("validate", "ana");
    assert_eq!(world.started(), ["harvest-r2"]);
    insta::assert_snapshot!(world.tasks(), @"
    scope          completed
    harvest        completed
    synthesise     completed
    validate       completed  needs_changes
    harvest-r2     running
    synthesise-r2  pending    for harvest-r2
    validate-r2    pending    for synthesise-r2
    plan-it        pending    for validate-r2
    ");
    world.finish_with("harvest-r2", json!({"docs": 9}));
    assert_eq!(serde_json::to_string(&world.starts()[0].inputs).unwrap(), r#"{"docs":9}"#);
    world.finish("synthesise-r2");
    world.needs_changes("validate-r2", "ana");
    world.finish_with("harvest-r3", json!({"docs": 10}));
    world.finish("synthesise-r3");
    let said = world.refusal(World::review("ana", "validate-r3", Decision::NeedsChanges));
    assert_eq!(
        said,
        "gate `validate-r3` cannot send work back: 2 rounds were made, and more are not allowed [life::no-more-rounds]"
    );
    world.approve("validate-r3", "ana");
    world.finish("plan-it");
    assert_eq!(world.state().to_string(), "completed");
    let revisions: Vec<String> = world.life().revisions().map(|(number, why)| format!("{number} {why}")).collect();
    insta::assert_snapshot!(revisions.join("\n"), @"
    1 as created
    2 round 2 after `validate`: ana wants changes: as tested
    3 round 3 after `validate-r2`: ana wants changes: as tested
    ");
}

#[test]
fn without_a_way_back_needs_changes_repeats_what_stands_before_the_gate() {
    let mut world = World::with_plan("draft\nreview gate after draft\nprint after review");
    world.finish("draft");
    world.started();
    world.needs_changes("review", "ana");
    assert_eq!(world.started(), ["draft-r2"]);
    insta::assert_snapshot!(world.tasks(), @"
    draft      completed
    review     completed  needs_changes
    draft-r2   running
    review-r2  pending    for draft-r2
    print      pending    for review-r2
    ");
}

#[test]
fn several_gates_are_decided_in_one_review_or_not_at_all() {
    let mut world = World::with_plan("a gate\nb gate\nc gate after a, b");
    let review = |gates: &[&str]| Input::Review {
        by: "ana".to_owned(),
        role: None,
        decisions: gates.iter().map(|gate| World::decision(gate, Decision::Approve, "all fine")).collect(),
    };
    world.refusal(review(&["a", "c"]));
    insta::assert_snapshot!(world.tasks(), @"
    a  waiting    0 of 1 approvals
    b  waiting    0 of 1 approvals
    c  pending    for a, b
    ");
    world.turn(review(&["a", "b"]));
    insta::assert_snapshot!(world.tasks(), @"
    a  completed  approved
    b  completed  approved
    c  waiting    0 of 1 approvals
    ");
}

#[test]
fn someone_is_told_when_nobody_decides() {
    let mut world = World::with_plan(r#"ok gate escalation={"after":"24h","to":["lead","boss"]}"#);
    world.wishes();
    let before = world.length();
    world.advance(hours(24 * 10));
    insta::assert_snapshot!(world.log_since(before), @"
    escalated ok lead level=1 next_at=2026-01-03T09:00:00Z reason=`ok` is waiting for longer than agreed
    escalated ok boss level=2 next_at=2026-01-04T09:00:00Z reason=`ok` is waiting for longer than agreed
    escalated ok boss level=3 reason=`ok` is waiting for longer than agreed
    ");
}

#[test]
fn an_approval_is_for_what_was_seen_so_a_change_before_the_gate_asks_again() {
    let mut world = World::with_plan("draft\nok gate after draft\nship after ok");
    world.finish_with("draft", json!({"text": "one"}));
    world.approve("ok", "ana");
    world.finish("ship");
    assert_eq!(world.state().to_string(), "completed");
    world.edit_output("draft", json!({"text": "two"}));
    insta::assert_snapshot!(world.tasks(), @"
    draft  completed
    ok     waiting    0 of 1 approvals
    ship   completed
    ");
}

#[test]
fn every_decision_keeps_who_what_and_why() {
    let mut world = World::with_plan("ok gate");
    let before = world.length();
    world.approve("ok", "ana");
    insta::assert_snapshot!(world.log_since(before), @r#"
    gate_decided ok by=ana decision=approve rationale=as tested
    task_completed ok outcome=approved outputs={"approved_by":["ana"]}
    plan_completed
    "#);
}

#[test]
fn what_a_gate_must_bring_about_is_tested_like_for_any_task() {
    let mut world =
        World::with_plan("ok gate success_criteria=[\"size(approved_by) >= 2\"] gate.approvals=1\nship after ok");
    world.approve("ok", "ana");
    insta::assert_snapshot!(world.tasks(), @"
    ok    failed     the result is not good enough: size(approved_by) >= 2 is false: size(approved_by) = 1
    ship  blocked    for ok
    ");
}

#[test]
fn words_at_a_gate_that_asks_nobody_are_for_the_judge() {
    let mut world = World::with_plan(
        "policy.judge=person\nok gate gate.approvals=0 gate.checks=[\"it reads well\"]\nship after ok",
    );
    assert_eq!(world.waits_for(), ["ok: a judge of it reads well"]);
    world.judge("ok", true, "it does");
    assert_eq!(world.started(), ["ship"]);
}

#[test]
fn a_gate_says_itself_when_someone_is_to_be_told() {
    let mut world = World::with_plan("plan.owner=olga\nsign-off gate gate.escalate_after=2h");
    world.wishes();
    world.advance(hours(1));
    assert_eq!(world.wishes(), "");
    world.advance(hours(1));
    insta::assert_snapshot!(world.wishes(), @"notify sign-off olga text=`sign-off` is waiting for longer than agreed");
}

#[test]
fn what_an_optional_gate_refused_is_left_out_and_the_plan_goes_on() {
    let mut world = World::with_plan("ok gate optional\nship after ok\nother");
    world.reject("ok", "ana");
    world.finish("other");
    insta::assert_snapshot!(world.tasks(), @"
    ok     failed     ana rejected it: as tested
    ship   skipped    a task before it took another way
    other  completed
    ");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn a_deploy_is_held_until_people_have_approved_a_gate_on_the_way_that_was_taken() {
    let mut world = World::with_plan(
        r#"
        policy.require_gate_for_prod=true
        size
        which   decide={"options":[{"outcome":"big","when":"tasks.size.n > 5"}],"otherwise":"small"}  after size  on big -> ok  on small -> note
        ok      gate
        note
        deploy  kind=deploy  after ok, note
        "#,
    );
    world.finish_with("size", json!({"n": 1}));
    world.finish("note");
    insta::assert_snapshot!(world.tasks(), @"
    size    completed
    which   completed  small
    ok      skipped    no route led to it
    note    completed
    deploy  waiting    help: it deploys, and nobody has approved a gate before it (`require_gate_for_prod`)
    ");
    world.edit_output("size", json!({"n": 9}));
    world.started();
    world.approve("ok", "ana");
    assert_eq!(world.started(), ["deploy"]);
}

#[test]
fn people_who_are_asked_about_work_that_is_sent_back_are_asked_about_the_new_one() {
    let mut world = World::with_plan(
        r#"
        work
        sec    gate  after work  gate.back_to=work
        legal  gate  after work
        print  gate  after work
        ship   after sec, legal, print  inputs={"v":"tasks.work.v"}
        "#,
    );
    world.finish_with("work", json!({"v": 1}));
    world.approve("print", "ben");
    world.needs_changes("sec", "ana");
    insta::assert_snapshot!(world.tasks(), @"
    work     completed
    sec      completed  needs_changes
    work-r2  running
    sec-r2   pending    for work-r2
    legal    pending    for work-r2
    print    pending    for work-r2
    ship     pending    for sec-r2, legal, print, work-r2
    ");
    world.refusal(World::review("cai", "legal", Decision::Approve));
    world.finish_with("work-r2", json!({"v": 2}));
    world.approve("sec-r2", "ana");
    world.approve("legal", "cai");
    world.started();
    world.approve("print", "ben");
    assert_eq!(world.started(), ["ship"]);
}

#[test]
fn what_is_blocked_is_about_the_new_round_when_it_goes_on() {
    let mut world = World::with_plan(
        r#"
        work
        ok    gate  after work  gate.back_to=work
        load  after work  inputs={"v":"tasks.work.v"}  preconditions=["env.ready == true"]
        "#,
    );
    world.finish_with("work", json!({"v": 1}));
    world.needs_changes("ok", "ana");
    world.turn(Input::Observed { facts: [("env.ready".to_owned(), json!(true))].into() });
    world.started();
    world.finish_with("work-r2", json!({"v": 2}));
    assert_eq!(serde_json::to_string(&world.starts()[0].inputs).unwrap(), r#"{"v":2}"#);
}

#[test]
fn two_gates_of_one_review_send_the_same_work_back_once() {
    let mut world = World::with_plan(
        "
        work
        sec    gate  after work  gate.back_to=work
        legal  gate  after work  gate.back_to=work
        ship   after sec, legal
        ",
    );
    world.finish("work");
    world.started();
    world.turn(Input::Review {
        by: "ana".to_owned(),
        role: None,
        decisions: vec![
            World::decision("sec", Decision::NeedsChanges, "encrypt it"),
            World::decision("legal", Decision::NeedsChanges, "name the licence"),
        ],
    });
    assert_eq!(
        serde_json::to_string(&world.starts()[0].inputs).unwrap(),
        r#"{"feedback":"ana wants changes: encrypt it; name the licence"}"#
    );
    insta::assert_snapshot!(world.tasks(), @"
    work     completed
    sec      completed  needs_changes
    work-r2  running
    sec-r2   pending    for work-r2
    legal    pending    for work-r2
    ship     pending    for sec-r2, legal
    ");
}

#[test]
fn two_gates_of_one_review_are_rejected_although_the_first_ends_the_plan() {
    let mut world = World::with_plan("policy.fail_fast=true\ng1 gate\ng2 gate\nship after g1, g2");
    let reject = |gate| World::decision(gate, Decision::Reject, "no");
    world.turn(Input::Review { by: "ana".to_owned(), role: None, decisions: vec![reject("g1"), reject("g2")] });
    assert_eq!(world.state().to_string(), "failed");
    assert_eq!(world.count(|event| matches!(event, gantry_core::event::Event::GateDecided { .. })), 2);
}
