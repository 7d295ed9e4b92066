//! Composites: parents and children.

use gantry_core::policy::FailureClass::Logic;
use gantry_testkit::World;

#[test]
fn children_run_first_then_the_parent_itself() {
    // Roots 1; siblings 2 and 3 below it, 2 depending on 3: the order is 3, 2, 1.
    let mut world = World::with_plan(
        "
        one  run
          two    after three
          three
        ",
    );
    assert_eq!(world.started(), ["three"]);
    world.finish("three");
    assert_eq!(world.started(), ["two"]);
    world.finish("two");
    assert_eq!(world.started(), ["one"]);
    world.finish("one");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn a_composite_holds_its_children_until_it_may_begin_and_ends_with_the_last() {
    let mut world = World::with_plan(
        "
        before
        group   after before
          a
          b
        behind  after group
        ",
    );
    assert_eq!(world.started(), ["before"]);
    world.finish("before");
    assert_eq!(world.started(), ["a", "b"]);
    world.finish("a");
    assert!(world.started().is_empty());
    insta::assert_snapshot!(world.tasks(), @"
    before  completed
    group   running
    a       completed
    b       running
    behind  pending    for group
    ");
    world.finish("b");
    assert_eq!(world.started(), ["behind"]);
}

#[test]
fn a_composite_with_a_failed_part_fails_once_nothing_in_it_goes_on() {
    let mut world = World::with_plan(
        "
        group   on failure -> repair
          a
          b
          c  after a
        repair
        behind  after group
        ",
    );
    world.fail("a", Logic, "broken");
    insta::assert_snapshot!(world.tasks(), @"
    group   running
    a       failed     broken
    b       running
    c       pending    for a
    repair  pending    for group
    behind  pending    for group
    ");
    world.finish("b");
    insta::assert_snapshot!(world.tasks(), @"
    group   failed     its part `a` failed: broken
    a       failed     broken
    b       completed
    c       abandoned  `group` failed
    repair  running
    behind  skipped    a task before it took another way
    ");
    world.finish("repair");
    assert_eq!(world.state().to_string(), "completed");
}

#[test]
fn an_optional_part_may_fail() {
    let mut world = World::with_plan("group\n  a\n  nice  optional\nbehind after group");
    world.fail("nice", Logic, "no luck");
    world.finish("a");
    world.finish("behind");
    assert_eq!(world.state().to_string(), "completed");
    insta::assert_snapshot!(world.log_since(world.length() - 1), @r#"plan_completed degraded=["nice"]"#);
}

#[test]
fn what_waits_for_an_optional_task_that_failed_goes_on_without_it() {
    let mut world = World::with_plan("a\nnice optional\nlast after a, nice");
    world.fail("nice", Logic, "no luck");
    world.finish("a");
    world.finish("last");
    assert_eq!(world.state().to_string(), "completed");
}
