//! Gates and questions.

use rustix::process::Signal;

use crate::kit::{Kit, RELEASE};

const ASK: &str = "
id: trip
title: Plan a trip
tasks:
  - id: where
    ask: {question: Which region?, options: [eu, us]}
  - id: name
    ask: What is it called?
  - id: book
    depends_on: [where, name]
    run: echo booked
";

#[test]
fn gates_that_wait_are_listed_and_shown() {
    let kit = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(kit.session(&["gate list", "gate show release sign-off", "gate show 1 legal"]), @"
    $ gantry gate list
    NO  PLAN     GATE      APPROVALS  TITLE
    1   release  sign-off  0 of 1     Sign it off
    1   release  legal     0 of 1     legal
    [exit 0]
    $ gantry gate show release sign-off
    gate        sign-off: Sign it off
    plan        release (blocked, revision 1)
    state       0 of 1 approvals
    may decide  anyone
    check       build.exit_code == 0 (holds)
    check       the notes are clear (for people to judge)
    [exit 0]
    $ gantry gate show 1 legal
    gate        legal: legal
    plan        release (blocked, revision 1)
    state       0 of 1 approvals
    may decide  ana, ben with role `lawyer`
    [exit 0]
    ");
    insta::assert_snapshot!(kit.gantry(&["gate", "list", "rel", "--json"]), @r#"
    [
      {
        "plan": "release",
        "no": 1,
        "gate": "sign-off",
        "title": "Sign it off",
        "role": null,
        "approvers": [],
        "evidence": [],
        "checks": [
          "build.exit_code == 0",
          "the notes are clear"
        ],
        "needed": 1,
        "approved_by": [],
        "revision": 1,
        "commands": [
          "gantry gate approve release sign-off"
        ]
      },
      {
        "plan": "release",
        "no": 1,
        "gate": "legal",
        "title": "legal",
        "role": "lawyer",
        "approvers": [
          "ana",
          "ben"
        ],
        "evidence": [],
        "checks": [],
        "needed": 1,
        "approved_by": [],
        "revision": 1,
        "commands": [
          "gantry gate approve release legal --role lawyer"
        ]
      }
    ]
    [exit 0]
    "#);
    insta::assert_snapshot!(Kit::new().gantry(&["gate", "list"]), @"
    --- talk
    no gate waits for a decision
    [exit 0]
    ");
}

#[test]
fn whoever_may_not_decide_is_told_why() {
    let kit = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(kit.session(&[
        "gate approve release legal",
        "gate approve release legal --by eve --role lawyer",
        "gate approve release legal --by eve",
        "gate approve release ship",
        "gate approve release sing-off",
        "gate approve release sign-off sign-off",
        "gate approve release",
    ]), @"
    $ gantry gate approve release legal
    --- talk
    error: ana may not decide gate `legal`: it takes the role `lawyer`

    hint: see who may with `gantry gate show release GATE`; say who you are with `--by` and `--role`
    [exit 5]
    $ gantry gate approve release legal --by eve --role lawyer
    --- talk
    error: eve may not decide gate `legal`: only ana, ben may

    hint: see who may with `gantry gate show release GATE`; say who you are with `--by` and `--role`
    [exit 5]
    $ gantry gate approve release legal --by eve
    --- talk
    error: eve may not decide gate `legal`: only ana, ben may, in the role `lawyer`

    hint: see who may with `gantry gate show release GATE`; say who you are with `--by` and `--role`
    [exit 5]
    $ gantry gate approve release ship
    --- talk
    error: task `ship` is not a gate

    hint: see which gates wait with `gantry gate list release`
    [exit 2]
    $ gantry gate approve release sing-off
    --- talk
    error: there is no task `sing-off` in plan `release`

    hint: did you mean `sign-off`?
    [exit 2]
    $ gantry gate approve release sign-off sign-off
    --- talk
    error: gate `sign-off` is named twice
    [exit 2]
    $ gantry gate approve release
    --- talk
    error: the following required arguments were not provided:
      <GATE>...

    Usage: gantry gate approve <PLAN> <GATE>...

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn several_gates_are_decided_in_one_review_or_none_is() {
    let kit = Kit::with_plan(RELEASE);
    assert_eq!(kit.code("gate approve release sign-off legal"), 5);
    assert_eq!(kit.json("gate list --json").as_array().unwrap().len(), 2, "neither was decided");
    insta::assert_snapshot!(kit.session(&[
        "gate approve release sign-off legal --role lawyer --rationale \"all tests pass\"",
        "gate approve release sign-off",
        "gate list",
    ]), @r#"
    $ gantry gate approve release sign-off legal --role lawyer --rationale "all tests pass"
    --- talk
    ana approved `sign-off`, `legal`
    nobody works on it right now; go on with `gantry resume release`
    [exit 0]
    $ gantry gate approve release sign-off
    --- talk
    error: gate `sign-off` is decided already

    hint: see what was decided with `gantry log release`
    [exit 5]
    $ gantry gate list
    --- talk
    no gate waits for a decision
    [exit 0]
    "#);
    assert_eq!(kit.code("resume release"), 0);
    insta::assert_snapshot!(kit.gantry(&["gate", "show", "release", "sign-off"]), @"
    gate        sign-off: Sign it off
    plan        release (completed, revision 1)
    state       completed
    may decide  anyone
    check       build.exit_code == 0 (holds)
    check       the notes are clear (for people to judge)
    decided     2026-01-01T00:00:00Z ana as lawyer approved it: all tests pass
    [exit 0]
    ");
}

#[test]
fn a_gate_that_wants_changes_withdraws_others_about_the_same_work_and_a_rejected_one_is_told() {
    let kit = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(kit.session(&[
        "gate needs-changes release sign-off --why \"the notes are empty\"",
        "gate reject release legal --role lawyer --rationale \"the licence is wrong\"",
    ]), @r#"
    $ gantry gate needs-changes release sign-off --why "the notes are empty"
    --- talk
    ana sent back the work before `sign-off`
    nobody works on it right now; go on with `gantry resume release`
    [exit 0]
    $ gantry gate reject release legal --role lawyer --rationale "the licence is wrong"
    --- talk
    error: task `legal` does not wait for a decision

    hint: see where it stands with `gantry status release`
    [exit 5]
    "#);
    let kit = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(kit.session(&["gate reject release legal --role lawyer --rationale \"the licence is wrong\""]), @r#"
    $ gantry gate reject release legal --role lawyer --rationale "the licence is wrong"
    --- talk
    ana rejected `legal`
    `sign-off` waits for 0 of 1 approvals
    next:
      gantry gate approve release sign-off  # or `reject`, `needs-changes`
      gantry resume release                 # then go on
    [exit 0]
    "#);
}

#[test]
fn an_approval_reaches_the_process_that_works_on_the_plan() {
    let kit = Kit::new();
    let running = kit.start_release();
    insta::assert_snapshot!(kit.session(&[
        "gate approve release legal",
        "gate approve release sign-off legal --role lawyer",
    ]), @"
    $ gantry gate approve release legal
    --- talk
    error: ana may not decide gate `legal`: it takes the role `lawyer`

    hint: see who may with `gantry gate show release GATE`; say who you are with `--by` and `--role`
    [exit 5]
    $ gantry gate approve release sign-off legal --role lawyer
    --- talk
    ana approved `sign-off`, `legal`
    the process that works on `release` has heard it
    [exit 0]
    ");
    assert_eq!(running.ended(), Some(0), "the plan went on and came to its end");
    assert_eq!(kit.json("task show release ship --json")["state"], "completed");
}

#[test]
fn a_plan_says_what_a_plan_inside_it_waits_for() {
    let kit = Kit::with_plan(
        "id: outer\ntitle: Outer\ntasks:\n  - id: check\n    plan:\n      title: Check inside\n      tasks: [{id: ok, gate: {approvals: 1}}]\n",
    );
    let page = kit.gantry(&["status", "outer"]);
    assert!(page.contains("waits for what a plan inside it waits for") && !page.contains("gone"), "{page}");
    let next = kit.json("status outer --json")["next"][0].clone();
    let approve: Vec<&str> = next.as_str().unwrap().split(' ').skip(1).collect();
    assert!(kit.gantry(&approve).ends_with("[exit 0]"), "what it offers can be typed: {next}");
    assert_eq!(kit.code("resume outer"), 0);
}

#[test]
fn questions_are_listed_and_answered() {
    let kit = Kit::with_plan(ASK);
    insta::assert_snapshot!(kit.session(&[
        "ask list",
        "ask answer trip where mars",
        "ask answer trip book yes",
        "ask answer trip where eu",
        "ask answer trip where us",
        "ask answer trip name Holiday --by ben",
        "ask list",
    ]), @"
    $ gantry ask list
    1 trip where: Which region?
        one of: eu, us
    1 trip name: What is it called?
    [exit 0]
    $ gantry ask answer trip where mars
    --- talk
    error: `mars` is no answer to `where`; choose one of: eu, us
    [exit 5]
    $ gantry ask answer trip book yes
    --- talk
    error: task `book` does not wait for an answer

    hint: see where it stands with `gantry status trip`
    [exit 5]
    $ gantry ask answer trip where eu
    --- talk
    ana answered `where`: eu
    `name` waits for an answer
    next:
      gantry ask answer trip name ANSWER  # What is it called?
      gantry resume trip                  # then go on
    [exit 0]
    $ gantry ask answer trip where us
    --- talk
    error: task `where` does not wait for an answer

    hint: see where it stands with `gantry status trip`
    [exit 5]
    $ gantry ask answer trip name Holiday --by ben
    --- talk
    ben answered `name`: Holiday
    nobody works on it right now; go on with `gantry resume trip`
    [exit 0]
    $ gantry ask list
    --- talk
    no question waits for an answer
    [exit 0]
    ");
    assert_eq!(kit.code("resume trip"), 0);
}

#[test]
fn what_a_sender_said_who_was_killed_is_shown_until_it_counts_and_counts_once() {
    let kit = Kit::new();
    let process = kit.start_release();
    process.signal(Signal::STOP);
    assert_eq!(kit.killed_at("after_submit", "gate approve release sign-off"), None, "killed before the answer");
    let status = kit.gantry(&["status", "release"]);
    assert!(status.contains("said, and counts as soon as it is heard:\n  ana: review\n"), "{status}");
    drop(process); // whoever worked on the plan is gone, too
    let status = kit.gantry(&["status", "release"]);
    assert!(status.contains("said, and counts when the plan goes on:\n  ana: review\n"), "{status}");
    assert_eq!(kit.json("status release --json")["unheard"][0]["decisions"][0]["gate"], "sign-off");
    assert_eq!(kit.code("resume release"), 4);
    let after = kit.json("status release --json");
    assert_eq!(after["unheard"].as_array().unwrap().len(), 0);
    let state = |task: &str| {
        let all = after["task_list"].as_array().unwrap();
        all.iter().find(|one| one["id"] == task).unwrap()["state"].clone()
    };
    assert_eq!((state("sign-off"), state("legal")), ("completed".into(), "waiting".into()));
}
