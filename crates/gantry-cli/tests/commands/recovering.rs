//! Everything at once: taking up what was left behind, and the kill switch.

use crate::kit::{Kit, RELEASE};

const SAFE: &str = "id: safe\ntasks: [{id: work, run: 'echo once >> done.txt', idempotency: safe}]\n";

#[test]
fn all_plans_that_were_left_behind_are_taken_up_side_by_side() {
    let kit = Kit::with_plan(RELEASE);
    kit.write("safe.yaml", SAFE);
    assert_eq!(kit.killed_at("after_append", "run safe.yaml"), None, "its process is killed");
    kit.write("paused.yaml", "id: paused\ntasks: [{id: q, ask: Well?}]\n");
    assert_eq!((kit.code("run paused.yaml"), kit.code("pause paused")), (4, 0));
    kit.write("secret.yaml", "id: secret\ntasks: [{id: q, ask: Well?}]\n");
    assert!(kit.with_variable("TOKEN", "walrus77walrus", "run secret.yaml --secret TOKEN").ends_with("[exit 4]"));
    assert_eq!(kit.code("fork release"), 0);

    let said = kit.gantry(&["resume", "--all"]);
    assert!(said.contains("3 plans were left behind"), "{said}");
    assert!(said.contains("`secret` cannot go on: the plan was begun with the secret `TOKEN`"), "{said}");
    assert!(said.contains("(safe): completed") && said.contains("(release): waiting"), "{said}");
    assert!(!said.contains("paused") && said.ends_with("[exit 2]"), "the worst counts: {said}");
    assert_eq!(kit.read("done.txt"), b"once\n");

    let with_secret = kit.with_variable("TOKEN", "walrus77walrus", "resume --all --json");
    assert!(with_secret.ends_with("[exit 4]"), "{with_secret}");
    let ended = with_secret.lines().filter(|line| line.starts_with("{\"ended\"")).count();
    assert_eq!(ended, 2, "plans with other secrets go on beside each other: {with_secret}");
}

#[test]
fn when_nothing_was_left_behind_that_is_said() {
    let kit = Kit::with_plan("id: over\ntasks: [{id: a, run: 'true'}]\n");
    insta::assert_snapshot!(kit.session(&["resume --all", "resume --all over", "resume --all --json"]), @r#"
    $ gantry resume --all
    --- talk
    no plan was left behind: none is unfinished that nobody works on
    [exit 0]
    $ gantry resume --all over
    --- talk
    error: the argument '--all' cannot be used with '[PLAN]...'

    Usage: gantry resume --all [PLAN]...

    For more information, try '--help'.
    [exit 2]
    $ gantry resume --all --json
    {"said":"no plan was left behind: none is unfinished that nobody works on"}
    [exit 0]
    "#);
}

#[test]
fn the_kill_switch_stops_everything_whoever_works_on_it() {
    let kit = Kit::with_plan(RELEASE);
    let stubborn = "id: stubborn\ntasks: [{id: a, run: 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done'}]\n";
    kit.write("stubborn.yaml", stubborn);
    let beside = kit.start("run stubborn.yaml");
    let runs = || std::fs::read_to_string(kit.path("pid")).is_ok_and(|pid| pid.ends_with('\n'));
    assert!((0..2_000).any(|_| kit.code("list") == 0 && runs()), "it never began");
    let pid = String::from_utf8(kit.read("pid")).unwrap().trim().to_owned();

    insta::assert_snapshot!(kit.gantry(&["cancel", "--all", "--why", "enough"]), @"
    stubborn: stopped
    release: stopped
    [exit 0]
    ");
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "its process is gone, though it would not go");
    assert_eq!(beside.ended(), Some(3));
    for plan in ["stubborn", "release"] {
        let log = kit.gantry(&["audit", plan]);
        assert!(log.contains("ana") && log.contains("enough"), "who and why is on record: {log}");
        assert_eq!(kit.json(&format!("status {plan} --json"))["state"], "abandoned");
    }
    insta::assert_snapshot!(kit.session(&["cancel --all", "cancel --all --json", "cancel"]), @"
    $ gantry cancel --all
    --- talk
    no plan is under way
    [exit 0]
    $ gantry cancel --all --json
    []
    [exit 0]
    $ gantry cancel
    --- talk
    error: the following required arguments were not provided:
      <PLAN>

    Usage: gantry cancel <PLAN>

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn on_a_terminal_the_kill_switch_asks_first() {
    let kit = Kit::with_plan(RELEASE);
    let (said, code) = kit.on_a_terminal(&["cancel", "--all"], "n\n");
    assert!(said.contains("give up 1 plan, for good?") && said.contains("nothing was stopped"), "{said}");
    assert_eq!((code, &kit.json("status release --json")["state"]), (0, &"blocked".into()));
    let (said, _) = kit.on_a_terminal(&["cancel", "--all", "--yes"], "");
    assert!(said.contains("release: stopped") && !said.contains("for good"), "{said}");
}

const HOSTS: &str = "id: hosts\npolicy: {network: {allow: [example.org]}}\ntasks: [{id: a, run: 'true'}]\n";

#[test]
fn a_network_scope_that_cannot_be_kept_is_said_at_the_start_and_remembered() {
    let kit = Kit::new();
    kit.write("plan.yaml", HOSTS);
    let said = kit.gantry(&["run", "plan.yaml"]);
    let told = |text: &str| text.contains("hosts cannot be told apart") || text.contains("not confined");
    assert!(
        said.lines().skip_while(|line| *line != "--- talk").take(3).any(told) && said.ends_with("[exit 0]"),
        "among the first lines: {said}"
    );
    let log = kit.gantry(&["log", "hosts"]);
    assert!(log.lines().any(|line| line.contains("note by gantry") && told(line)), "{log}");
}

#[test]
fn where_full_confinement_is_required_nothing_begins_without_it() {
    let kit = Kit::new();
    kit.write("plan.yaml", HOSTS);
    let said = kit.gantry(&["run", "plan.yaml", "--require-sandbox"]);
    assert!(said.contains("full confinement is required") && said.ends_with("[exit 5]"), "{said}");
    assert_eq!(kit.json("list --json"), serde_json::json!([]), "there is no plan");
}

#[test]
fn confinement_is_announced_for_agents_maps_and_plans_inside() {
    let kit = Kit::new();
    let network = "network: {allow: [example.org]}";
    let around = |tasks: &str| format!("id: p\ntitle: P\npolicy: {{agent_planning: true, {network}}}\ntasks:\n{tasks}");
    for (what, plan) in [
        ("an agent", around("  - {id: a, agent: {goal: look, tools: [shell]}}")),
        ("a map", around("  - {id: a, map: {over: [1], each: {run: make}}}")),
        ("taking back", around("  - {id: a, manual: look, undo: {run: make}}")),
        ("finding out", around("  - {id: a, manual: look, verify: {run: make}}")),
        ("another way", around("  - {id: a, manual: look, alternates: [{run: make}]}")),
        (
            "a plan inside",
            format!(
                "id: p\ntitle: P\npolicy: {{{network}}}\ntasks:\n  - id: a\n    plan:\n      title: Q\n      policy: {{{network}}}\n      tasks:\n        - {{id: b, run: 'true'}}\n"
            ),
        ),
    ] {
        kit.write("plan.yaml", plan);
        let told = kit.gantry(&["run", "plan.yaml", "--require-sandbox"]);
        assert!(told.contains("full confinement is required") && told.ends_with("[exit 5]"), "{what}: {told}");
    }
    assert!(!kit.record().exists(), "nothing was begun");
    kit.write("plan.yaml", around("  - {id: a, manual: look}"));
    assert_eq!(kit.code("run plan.yaml --require-sandbox"), 4, "a person is not confined");
}
