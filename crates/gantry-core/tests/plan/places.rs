//! A task comes to, moves within and leaves the tree of a plan.

use gantry_core::id::TaskId;
use gantry_core::plan::{Misplaced, Place, Plan, Task};

fn id(name: &str) -> TaskId {
    TaskId::slugged(name)
}

/// `a(b c(d)) e`.
fn family() -> Plan {
    let task = |name: &str, parent: Option<&str>| Task { parent: parent.map(id), ..Task::new(id(name)) };
    let tasks =
        vec![task("a", None), task("b", Some("a")), task("c", Some("a")), task("d", Some("c")), task("e", None)];
    Plan { title: "Family".to_owned(), tasks, ..Plan::default() }
}

/// `a(b c(d)) e`.
fn drawn(plan: &Plan) -> String {
    fn below(plan: &Plan, parent: Option<&TaskId>) -> String {
        let inside = plan.tasks.iter().filter(|task| task.parent.as_ref() == parent);
        let all: Vec<String> = inside
            .map(|task| match below(plan, Some(&task.id)).as_str() {
                "" => task.id.to_string(),
                parts => format!("{}({parts})", task.id),
            })
            .collect();
        all.join(" ")
    }
    below(plan, None)
}

#[test]
fn a_task_comes_before_after_first_inside_last_inside_at_a_position_or_at_the_end() {
    let cases = [
        (Place::Last { parent: None }, "a(b c(d)) e x"),
        (Place::Last { parent: Some(id("a")) }, "a(b c(d) x) e"),
        (Place::Before(id("c")), "a(b x c(d)) e"),
        (Place::After(id("c")), "a(b c(d) x) e"),
        (Place::After(id("a")), "a(b c(d)) x e"),
        (Place::FirstChild(id("a")), "a(x b c(d)) e"),
        (Place::LastChild(id("a")), "a(b c(d) x) e"),
        (Place::FirstChild(id("e")), "a(b c(d)) e(x)"),
        (Place::At { parent: None, position: 0 }, "x a(b c(d)) e"),
        (Place::At { parent: Some(id("a")), position: 1 }, "a(b x c(d)) e"),
        (Place::At { parent: Some(id("a")), position: 2 }, "a(b c(d) x) e"),
    ];
    for (place, expected) in cases {
        let mut plan = family();
        plan.put(Task::new(id("x")), &place).unwrap();
        assert_eq!(drawn(&plan), expected, "{place:?}");
    }
}

#[test]
fn a_task_moves_with_everything_below_it() {
    let cases = [
        ("c", Place::Last { parent: None }, "a(b) e c(d)"),
        ("c", Place::Before(id("a")), "c(d) a(b) e"),
        ("c", Place::FirstChild(id("a")), "a(c(d) b) e"),
        ("c", Place::At { parent: Some(id("a")), position: 0 }, "a(c(d) b) e"),
        ("b", Place::At { parent: Some(id("a")), position: 1 }, "a(c(d) b) e"),
        ("a", Place::LastChild(id("e")), "e(a(b c(d)))"),
        ("d", Place::After(id("b")), "a(b d c) e"),
    ];
    for (task, place, expected) in cases {
        let mut plan = family();
        plan.shift(&id(task), &place).unwrap();
        assert_eq!(drawn(&plan), expected, "{task} {place:?}");
    }
}

#[test]
fn a_task_goes_with_everything_below_it_unless_others_wait_for_that() {
    let mut plan = family();
    assert_eq!(plan.take_out(&id("c")), Ok(vec![id("c"), id("d")]));
    assert_eq!(drawn(&plan), "a(b) e");
    let mut plan = family();
    plan.tasks[4].depends_on = vec![id("d")];
    assert_eq!(plan.take_out(&id("c")), Err(Misplaced::Awaited(vec![(id("e"), id("d"))])));
    assert_eq!(drawn(&plan), "a(b c(d)) e", "nothing has changed");
}

#[test]
fn what_has_no_place_is_refused_and_changes_nothing() {
    let put = |place: Place| (Task::new(id("x")), place);
    let cases = [
        (put(Place::Before(id("zz"))), Misplaced::Unknown(id("zz"))),
        (put(Place::At { parent: None, position: 3 }), Misplaced::TooFar { position: 3, siblings: 2 }),
        ((Task::new(id("a")), Place::Last { parent: None }), Misplaced::Taken(id("a"))),
    ];
    for ((task, place), expected) in cases {
        let mut plan = family();
        assert_eq!(plan.put(task, &place), Err(expected));
        assert_eq!(plan, family());
    }
    for (task, place) in [("a", Place::LastChild(id("d"))), ("a", Place::Before(id("a"))), ("c", Place::After(id("d")))]
    {
        let mut plan = family();
        assert_eq!(plan.shift(&id(task), &place), Err(Misplaced::InsideItself(id(task))));
        assert_eq!(plan, family());
    }
    let mut plan = family();
    let far = plan.shift(&id("b"), &Place::At { parent: Some(id("a")), position: 2 });
    assert_eq!(far, Err(Misplaced::TooFar { position: 2, siblings: 1 }), "positions count without the task that moves");
}
