//! Diffs say what changed, and make the one version from the other.

use gantry_core::id::TaskId;
use gantry_core::plan::{Diff, Input, Plan, Task, diff};
use gantry_testkit::draw_plan;
use proptest::prelude::*;

#[test]
fn a_diff_reads_like_a_list_of_changes() {
    let before = draw_plan("a\nb after a\nc after b timeout=5m\ngroup\n  x\n  y");
    let after = draw_plan("plan.title=Renamed\nb after c timeout=10m\nc\nd after b\ngroup\n  y\n  x");
    let diff = diff(&before, &after);
    insta::assert_snapshot!(diff.to_string(), @r#"
    ~ plan: title "A drawn plan" -> "Renamed"
    - a
    + d  after b
    > y  now first
    ~ b: depends_on ["a"] -> ["c"]
    ~ b: timeout (not set) -> "10m"
    ~ c: depends_on ["b"] -> (not set)
    ~ c: timeout "5m" -> (not set)
    "#);
    let (came, went) = diff.edges(&before);
    let show = |edges: Vec<gantry_core::plan::Edge>| {
        edges.iter().map(|edge| format!("{} on {}", edge.task, edge.on)).collect::<Vec<_>>()
    };
    assert_eq!(show(came), ["d on b", "b on c"]);
    assert_eq!(show(went), ["b on a", "c on b"]);
}

#[test]
fn a_diff_is_json_and_back() {
    let before = draw_plan("a\nb after a");
    let after = draw_plan("a timeout=1h\nc");
    let diff = diff(&before, &after);
    let text = serde_json::to_string(&diff).unwrap();
    assert_eq!(serde_json::from_str::<Diff>(&text).unwrap(), diff);
}

#[test]
fn a_diff_for_another_plan_is_refused() {
    let (before, after) = (draw_plan("a\nb"), draw_plan("b"));
    let error = diff(&before, &after).apply_to(&after).unwrap_err();
    assert_eq!(error.to_string(), "the change does not fit this plan: there is no task `a`");
}

/// A plan of a few tasks in any tree order, drawn from numbers.
fn plan_of(numbers: &[(u8, u8, u8)]) -> Plan {
    let id = |n: u8| TaskId::new(&format!("t{n}")).expect("an id");
    let mut plan = Plan { title: format!("plan of {}", numbers.len()), ..Plan::default() };
    for (name, parent, other) in numbers {
        if plan.task(id(*name % 12).as_str()).is_some() {
            continue;
        }
        let parents: Vec<TaskId> = plan.tasks.iter().map(|task| task.id.clone()).collect();
        plan.tasks.push(Task {
            parent: parents.get(usize::from(*parent)).cloned(),
            priority: (other % 3 == 0).then_some(i32::from(*other)),
            inputs: [("n".to_owned(), Input::Value(serde_json::json!(other % 4)))].into_iter().collect(),
            ..Task::new(id(*name % 12))
        });
    }
    plan.sort_tree();
    plan
}

proptest! {
    #[test]
    fn a_diff_applied_to_the_first_version_gives_the_second(
        a in proptest::collection::vec((0..12_u8, 0..20_u8, 0..9_u8), 0..12),
        b in proptest::collection::vec((0..12_u8, 0..20_u8, 0..9_u8), 0..12),
    ) {
        let (a, b) = (plan_of(&a), plan_of(&b));
        let diff = diff(&a, &b);
        prop_assert_eq!(diff.apply_to(&a), Ok(b.clone()));
        prop_assert_eq!(diff.is_empty(), a == b);
    }
}

#[test]
fn any_two_plans_are_a_diff_apart() {
    let drawn = |seed: u64| gantry_sim::plans::draw(&mut gantry_sim::dice::Dice::new(seed, 1)).plan;
    for seed in 0..200 {
        let (a, b) = (drawn(seed), drawn(seed + 1));
        assert_eq!(diff(&a, &b).apply_to(&a), Ok(b), "seed {seed}");
        // Most of it is as it was: tasks of one plan among those of another, moved and changed at once.
        let (mut edited, other) = (a.clone(), drawn(seed + 1_000));
        edited.policy = other.policy.clone();
        edited.hypotheses = other.hypotheses.clone();
        for (task, like) in edited.tasks.iter_mut().zip(&other.tasks).step_by(2) {
            (task.action, task.next, task.inputs) = (like.action.clone(), like.next.clone(), like.inputs.clone());
            (task.depends_on, task.parent) = (like.depends_on.clone(), None);
        }
        edited.tasks.rotate_left(1);
        edited.sort_tree();
        assert_eq!(diff(&a, &edited).apply_to(&a), Ok(edited), "seed {seed}, edited");
    }
}
