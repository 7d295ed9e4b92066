//! A task makes a plan, and the plan takes it in: the product of planning is the plan.

use gantry_core::life::PlanState;
use gantry_core::plan::Plan;
use gantry_core::policy::FailureClass::Logic;
use gantry_testkit::{World, hours};
use serde_json::{Value, json};

const DRAFT_AND_WORK: &str = r#"
    draft
    accept  after draft   gate={"approvals":1}
    work    after accept  adopt="tasks.draft.plan"
    report  after work
"#;

fn house() -> Value {
    json!({
        "tasks": [
            {"id": "dig", "run": "dig"},
            {"id": "walls", "depends_on": ["dig"], "tasks": [{"id": "bricks", "run": "buy"}, {"id": "mortar", "run": "mix"}]},
        ],
        "schedule": {"start": "2027-03-01", "tasks": {"dig": {"estimate": "2d"}}},
    })
}

fn accepted(plan: &Value) -> World {
    let mut world = World::with_plan(DRAFT_AND_WORK);
    world.finish_with("draft", json!({"plan": plan}));
    world.approve("accept", "mara");
    world
}

#[test]
fn what_a_task_has_made_becomes_the_next_revision_and_runs() {
    let mut world = accepted(&house());
    insta::assert_snapshot!(world.tasks(), @"
    draft   completed
    accept  completed  approved
    work    running
    dig     running
    walls   pending    for dig
    bricks  pending    for walls
    mortar  pending    for walls
    report  pending    for work
    ");
    assert_eq!(world.life().revision().0, 2);
    assert_eq!(world.life().plan().schedule.tasks.len(), 1, "the schedule comes along");
    world.finish("dig");
    world.finish("bricks");
    world.finish("mortar");
    world.finish("report");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn what_waits_to_be_accepted_can_be_looked_at_before() {
    let ids = |plan: &Plan| plan.tasks.iter().map(|task| task.id.to_string()).collect::<Vec<_>>();
    let mut world = World::with_plan(DRAFT_AND_WORK);
    assert_eq!(world.life().proposed(), world.life().plan(), "nothing was made yet");
    world.finish_with("draft", json!({"plan": house()}));
    assert_eq!(ids(&world.life().plan()), ["draft", "accept", "work", "report"]);
    let proposed = world.life().proposed().work();
    assert_eq!(ids(&proposed), ["work", "dig", "walls", "bricks", "mortar", "report"], "what led to it is left out");
    world.approve("accept", "mara");
    assert_eq!(world.life().plan().work(), proposed, "what was shown is what was accepted");
    world.finish("dig");
    let mut other = house();
    other["tasks"][0]["run"] = json!("dig deeper");
    world.edit_output("draft", json!({"plan": other}));
    assert_ne!(
        world.life().proposed().work(),
        world.life().plan().work(),
        "what was made anew is shown before it is accepted"
    );
}

#[test]
fn when_it_is_made_anew_only_what_differs_is_redone() {
    let mut world = accepted(&house());
    world.finish("dig");
    world.finish("bricks");
    let mut other = house();
    other["tasks"][1]["tasks"][0]["run"] = json!("buy more");
    other["tasks"][1]["tasks"][1] = json!({"id": "roof", "run": "roof"});
    world.started();
    world.edit_output("draft", json!({"plan": other}));
    assert_eq!(world.waits_for(), ["accept: 0 of 1 approvals"], "what was accepted was another plan");
    world.approve("accept", "mara");
    assert_eq!(world.started(), ["bricks", "roof"]);
    insta::assert_snapshot!(world.tasks(), @"
    draft   completed
    accept  completed  approved
    work    running
    dig     completed
    walls   running
    bricks  running    attempt 2
    roof    running
    report  pending    for work
    ");
}

#[test]
fn what_is_no_plan_is_told_and_nothing_changes() {
    for (made, why) in [
        (json!("a plan"), "it is no object with `tasks`"),
        (json!({"tasks": []}), "it has no tasks"),
        (json!({"tasks": [{"title": "x"}]}), "one of its tasks has no `id`"),
        (json!({"tasks": [{"id": "x", "colour": "red"}]}), "unknown field `colour`"),
        (json!({"tasks": [{"id": "report"}]}), "the plan has a task `report` already"),
        (json!({"tasks": [{"id": "x", "depends_on": ["y"]}]}), "`y`"),
        (json!({"tasks": [{"id": "x", "depends_on": ["z"]}, {"id": "z", "depends_on": ["x"]}]}), "x"),
    ] {
        let world = accepted(&made);
        assert_eq!(world.life().revision().0, 1, "{made}");
        let tasks = world.tasks();
        assert!(tasks.contains("adopt") && tasks.contains(why), "{made}: {tasks}");
    }
}

#[test]
fn a_file_that_is_read_again_keeps_what_was_adopted() {
    let mut world = accepted(&house());
    world.finish("dig");
    world.revise(|plan| {
        plan.tasks.retain(|task| ["draft", "accept", "work", "report"].contains(&task.id.as_str()));
        plan.title = "Another title".to_owned();
    });
    assert!(world.tasks().contains("mortar"), "{}", world.tasks());
}

#[test]
fn a_part_that_fails_is_answered_like_any_other() {
    let mut world = accepted(&json!({"tasks": [{"id": "dig", "run": "dig"}]}));
    world.fail("dig", Logic, "rock");
    assert_eq!(world.state(), PlanState::Failed);
    assert_eq!(world.life().causes(), ["task `work` failed: its part `dig` failed: rock"]);
}

#[test]
fn the_budget_of_nodes_holds_for_what_is_adopted() {
    let mut world = World::with_plan(&format!("policy.budget.nodes=3\n{DRAFT_AND_WORK}"));
    world.finish_with("draft", json!({"plan": house()}));
    world.approve("accept", "mara");
    assert!(world.tasks().contains("the nodes budget does not suffice"), "{}", world.tasks());
}

#[test]
fn a_task_that_comes_to_a_finished_part_opens_it_again() {
    let mut world = accepted(&json!({"tasks": [
        {"id": "walls", "tasks": [{"id": "bricks", "run": "buy"}]},
        {"id": "garden", "run": "plant"},
    ]}));
    world.finish("bricks");
    let other = json!({"tasks": [
        {"id": "walls", "tasks": [{"id": "bricks", "run": "buy"}, {"id": "roof", "run": "roof"}]},
        {"id": "garden", "run": "plant"},
    ]});
    world.edit_output("draft", json!({"plan": other}));
    world.approve("accept", "mara");
    assert!(world.started().contains(&"roof".to_owned()), "{}", world.tasks());
    world.finish("garden");
    world.finish("roof");
    world.finish("report");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_later_draft_that_is_no_plan_leaves_the_work_as_it_is_and_asks() {
    let mut world = accepted(&house());
    world.edit_output("draft", json!({"plan": "nothing"}));
    world.approve("accept", "mara");
    assert_eq!(world.waits_for(), ["work: help: what it should adopt is no plan: it is no object with `tasks`"]);
    assert!(world.tasks().contains("dig     running"), "{}", world.tasks());
    world.edit_output("draft", json!({"plan": house()}));
    world.approve("accept", "mara");
    for task in ["dig", "bricks", "mortar", "report"] {
        world.finish(task);
    }
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_draft_that_becomes_what_it_was_is_adopted_again() {
    let small = json!({"tasks": [{"id": "dig", "run": "dig"}]});
    let large = json!({"tasks": [{"id": "dig", "run": "dig"}, {"id": "fill", "run": "fill"}]});
    let mut world = accepted(&small);
    world.finish("dig");
    for (made, has_fill) in [(&large, true), (&small, false)] {
        world.edit_output("draft", json!({"plan": made}));
        world.approve("accept", "mara");
        assert_eq!(world.tasks().contains("fill"), has_fill, "{}", world.tasks());
    }
}

/// The plan is drafted, carried out and looked at; what does not please is drafted anew.
const DRAFTED_ANEW: &str = r#"
    draft
    work    after draft  adopt="tasks.draft.plan"
    review  after work   next=[{"on":"failure","to":"draft","max":2}]
    report  after review
"#;

#[test]
fn a_later_round_takes_in_tasks_of_its_own() {
    let mut world = World::with_plan(DRAFTED_ANEW);
    world
        .finish_with("draft", json!({"plan": {"tasks": [{"id": "dig", "run": "dig"}, {"id": "fill", "run": "fill"}]}}));
    world.finish("dig");
    world.finish("fill");
    world.fail("review", Logic, "too shallow");
    let deeper = json!({
        "tasks": [
            {"id": "dig", "run": "dig deeper", "success_criteria": ["depth > 2"]},
            {"id": "prop", "depends_on": ["dig"], "run": "prop", "inputs": {"depth": "tasks.dig.depth"}},
        ],
        "schedule": {"tasks": {"dig": {"estimate": "3d"}, "prop": {"after": ["dig SS+1d"]}}},
        "done_when": ["tasks.prop.holds == true"],
    });
    world.started();
    world.finish_with("draft-r2", json!({"plan": deeper}));
    assert_eq!(world.started(), ["dig-r2"]);
    insta::assert_snapshot!(world.tasks(), @"
    draft      completed
    work       completed
    dig        completed
    fill       completed
    review     failed     too shallow
    draft-r2   completed
    work-r2    running
    dig-r2     running
    prop-r2    pending    for dig-r2
    review-r2  pending    for work-r2
    report     pending    for review-r2
    ");
    world.finish_with("dig-r2", json!({"depth": 3}));
    assert_eq!(world.starts()[0].inputs["depth"], json!(3));
    world.finish_with("prop-r2", json!({"holds": true}));
    world.finish("review-r2");
    world.finish("report");
    assert_eq!(world.state(), PlanState::Completed);
    let plan = world.life().plan();
    assert_eq!(plan.schedule.tasks.keys().map(ToString::to_string).collect::<Vec<_>>(), ["dig-r2", "prop-r2"]);
    assert_eq!(plan.schedule.tasks["prop-r2"].after[0].task, "dig-r2");
}

#[test]
fn what_a_later_round_took_in_is_made_anew_like_that_of_the_first() {
    let mut world = World::with_plan(DRAFTED_ANEW);
    let small = json!({"tasks": [{"id": "dig", "run": "dig"}]});
    world.finish_with("draft", json!({"plan": small}));
    world.finish("dig");
    world.fail("review", Logic, "too shallow");
    world.finish_with("draft-r2", json!({"plan": small}));
    world.finish("dig-r2");
    let large = json!({"tasks": [{"id": "dig", "run": "dig"}, {"id": "fill", "depends_on": ["dig"], "run": "fill"}]});
    world.started();
    world.edit_output("draft-r2", json!({"plan": large}));
    assert_eq!(world.started(), ["fill-r2"], "what stays as it was keeps its result");
    insta::assert_snapshot!(world.tasks(), @"
    draft      completed
    work       completed
    dig        completed
    review     failed     too shallow
    draft-r2   completed
    work-r2    running
    dig-r2     completed
    fill-r2    running
    review-r2  running
    report     pending    for review-r2
    ");
}

#[test]
fn what_a_round_takes_in_counts_as_no_round_of_its_own() {
    let mut world = World::with_plan(DRAFTED_ANEW);
    let again = json!({"tasks": [{"id": "dig", "run": "dig"}, {"id": "look", "depends_on": ["dig"], "run": "look"}]});
    for round in ["", "-r2", "-r3"] {
        world.finish_with(&format!("draft{round}"), json!({"plan": again}));
        world.finish(&format!("dig{round}"));
        world.finish(&format!("look{round}"));
        world.fail(&format!("review{round}"), Logic, "no");
    }
    assert_eq!(world.state(), PlanState::Failed, "two rounds more are allowed, not three\n{}", world.tasks());
}

#[test]
fn a_part_that_has_everything_drafted_anew_does_so_as_often_as_it_may() {
    let mut world = World::with_plan("draft\nwork after draft adopt=\"tasks.draft.plan\"");
    let made = json!({"tasks": [{"id": "try", "run": "try", "next": [{"on": "failure", "to": "draft", "max": 2}]}]});
    for round in ["", "-r2", "-r3"] {
        world.finish_with(&format!("draft{round}"), json!({"plan": made}));
        world.fail(&format!("try{round}"), Logic, "no");
    }
    insta::assert_snapshot!(world.tasks(), @"
    draft     completed
    work      completed
    try       failed     no
    draft-r2  completed
    work-r2   completed
    try-r2    failed     no
    draft-r3  completed
    work-r3   failed     its part `try-r3` failed: no
    try-r3    failed     no
    ");
    assert_eq!(world.state(), PlanState::Failed);
}

#[test]
fn a_name_that_another_task_has_is_refused_in_every_round() {
    let mut world = World::with_plan(DRAFTED_ANEW);
    world.finish_with("draft", json!({"plan": {"tasks": [{"id": "dig", "run": "dig"}]}}));
    world.finish("dig");
    world.fail("review", Logic, "no");
    world.finish_with("draft-r2", json!({"plan": {"tasks": [{"id": "report", "run": "dig"}]}}));
    assert!(world.tasks().contains("the plan has a task `report` already"), "{}", world.tasks());
}

#[test]
fn what_is_adopted_anew_goes_on_with_the_rounds_of_its_own_loops() {
    let looping = |ship: &str| {
        json!({"plan": {"tasks": [
            {"id": "build", "run": "build"},
            {"id": "test", "depends_on": ["build"], "run": "test", "next": [{"on": "failure", "to": "build", "max": 2}]},
            {"id": "ship", "depends_on": ["test"], "run": ship},
        ]}})
    };
    let mut world = World::with_plan("draft\nwork after draft adopt=\"tasks.draft.plan\"");
    world.finish_with("draft", looping("ship"));
    world.finish("build");
    world.fail("test", Logic, "red");
    world.edit_output("draft", looping("ship by air"));
    insta::assert_snapshot!(world.tasks(), @"
    draft     completed
    work      running
    build     completed
    test      failed     red
    build-r2  running
    test-r2   pending    for build-r2
    ship      pending    for test-r2
    ");
    world.finish("build-r2");
    world.finish("test-r2");
    world.finish("ship");
    assert_eq!(world.state(), PlanState::Completed);
}

#[test]
fn a_timebox_goes_on_where_it_was_when_its_parts_are_made_anew() {
    let mut world = World::with_plan("draft\nwork after draft adopt=\"tasks.draft.plan\" timebox=2h");
    let plan = |ids: &[&str]| {
        let tasks: Vec<Value> = ids.iter().map(|id| json!({"id": id, "run": "dig"})).collect();
        json!({"plan": {"tasks": tasks}})
    };
    world.finish_with("draft", plan(&["dig"]));
    world.advance(hours(1));
    world.edit_output("draft", plan(&["dig", "fill"]));
    world.advance(hours(1));
    insta::assert_snapshot!(world.tasks(), @"
    draft  completed
    work   completed
    dig    abandoned  the timebox of `work` is over
    fill   abandoned  the timebox of `work` is over
    ");
}
