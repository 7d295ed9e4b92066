//! Tasks that cannot stand in the plan as they are: their names, what they wait for, where they lead.

use crate::kit::seen;

#[test]
fn a_dependency_on_a_task_that_does_not_exist_is_shown_with_the_nearest_name() {
    let file = "\
title: Release
tasks:
  - id: build
  - id: ship
    depends_on: [biuld]
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::unknown-dependency]: task `ship` depends on `biuld`, which does not exist
     --> plan.yaml:5:18
      |
    5 |     depends_on: [biuld]
      |                  ^^^^^
      |
      = help: did you mean `build`?
    ");
}

#[test]
fn a_dependency_on_itself_is_refused() {
    let file = "\
title: Release
tasks:
  - id: build
    needs: build
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::self-dependency]: task `build` depends on itself
     --> plan.yaml:4:12
      |
    4 |     needs: build
      |            ^^^^^
      |
      = help: remove it
    ");
}

#[test]
fn a_dependency_on_the_task_around_it_is_refused() {
    let file = "\
title: Release
tasks:
  - id: release
    tasks:
      - id: build
      - id: ship
        depends_on: [release]
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::ancestor-dependency]: task `ship` depends on `release`, which contains it
     --> plan.yaml:7:22
      |
    7 |         depends_on: [release]
      |                      ^^^^^^^
      |
      = help: `release` is over only when `ship` is; remove it, or depend on a sibling
    ");
}

#[test]
fn an_id_that_is_used_twice_is_shown_at_both_places() {
    let file = "\
title: Release
tasks:
  - id: build
  - id: ship
  - id: build
    kind: validate
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::duplicate-id]: the id `build` is used twice
     --> plan.yaml:5:9
      |
    3 |   - id: build
      |         ----- first used here
    4 |   - id: ship
    5 |   - id: build
      |         ^^^^^ used again here
      |
      = help: task number 1 has it too; rename one of them
    ");
}

#[test]
fn a_cycle_is_shown_as_a_path() {
    let file = "\
title: Release
tasks:
  - {id: a, depends_on: [c]}
  - {id: b, depends_on: [a]}
  - {id: c, depends_on: [b]}
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::cycle]: these tasks wait for each other: `a` -> `c` -> `b` -> `a`
     --> plan.yaml:3:26
      |
    3 |   - {id: a, depends_on: [c]}
      |                          ^ `a` waits for `c`
    4 |   - {id: b, depends_on: [a]}
      |                          - `b` waits for `a`
    5 |   - {id: c, depends_on: [b]}
      |                          - `c` waits for `b`
      |
      = help: remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`
    ");
}

#[test]
fn each_wait_of_a_cycle_is_shown_at_its_place() {
    let file = "\
title: Release
tasks:
  - id: build
    depends_on: [lint, ship]
  - id: lint
    run: make lint
  - id: test
    tool: {name: check, args: {of: tasks.build.files}}
    next:
      - on: success
        to: ship
  - id: ship
    run: make ship
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::cycle]: these tasks wait for each other: `build` -> `ship` -> `test` -> `build`
      --> plan.yaml:4:24
       |
     4 |     depends_on: [lint, ship]
       |                        ^^^^ `build` waits for `ship`
    ...
     8 |     tool: {name: check, args: {of: tasks.build.files}}
       |                                    ----------------- `test` reads from `build`
    ...
    11 |         to: ship
       |             ---- `test` leads to `ship`
       |
       = help: remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`
    ");
}

#[test]
fn a_cycle_through_a_composite_shows_what_contains_what() {
    let file = "\
title: Release
tasks:
  - id: group
    tasks:
      - id: part
        depends_on: [after]
  - id: after
    depends_on: [group]
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::cycle]: these tasks wait for each other: `group` -> `part` -> `after` -> `group`
     --> plan.yaml:5:13
      |
    5 |       - id: part
      |             ^^^^ `part` is a part of `group`
    6 |         depends_on: [after]
      |                      ----- `part` waits for `after`
    7 |   - id: after
    8 |     depends_on: [group]
      |                  ----- `after` waits for `group`
      |
      = help: remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`
    ");
}

#[test]
fn a_route_to_nowhere_is_refused() {
    let file = "\
title: Release
tasks:
  - id: build
    next:
      - on: failure
        to: mend
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::unknown-route]: task `build` goes to `mend` on failure, which does not exist
     --> plan.yaml:6:13
      |
    6 |         to: mend
      |             ^^^^
    ");
}

#[test]
fn a_task_that_nothing_leads_to_is_refused() {
    let file = "\
title: Release
tasks:
  - id: sign-off
    gate: {approvals: 1}
    next: [{on: maybe, to: ship}]
  - id: ship
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::unknown-outcome]: task `sign-off` never ends with `maybe`
     --> plan.yaml:5:17
      |
    5 |     next: [{on: maybe, to: ship}]
      |                 ^^^^^
      |
      = help: it ends with one of: approved, rejected, needs_changes

    error[plan::unreachable]: task `ship` can never run: nothing that happens leads to it
     --> plan.yaml:6:9
      |
    6 |   - id: ship
      |         ^^^^
      |
      = help: mend the routes that lead to it, or remove it
    ");
}

#[test]
fn a_task_without_an_id_gets_a_proposal() {
    let file = "\
title: Release
tasks:
  - title: Build it all
  - id: ship
    depends_on: [build-it-all]
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::missing-field]: a task needs an `id`
     --> plan.yaml:3:5
      |
    3 |   - title: Build it all
      |     ^^^^^ this task has none
      |
      = help: add for example `id: build-it-all`
    ");
}

#[test]
fn an_id_with_spaces_in_it_gets_a_proposal() {
    let file = "\
title: Release
tasks:
  - id: build it
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::bad-id]: `build it` is not an id: only letters, digits, `-` and `_` are allowed
     --> plan.yaml:3:9
      |
    3 |   - id: build it
      |         ^^^^^^^^
      |
      = help: for example `build-it`
    ");
}

#[test]
fn a_task_of_the_plan_that_stands_inside_another_has_one_parent() {
    let file = "\
title: Release
tasks:
  - id: a
  - id: b
    tasks:
      - id: c
        parent: a
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::two-parents]: this task stands inside `b`
     --> plan.yaml:7:17
      |
    7 |         parent: a
      |                 ^ but names another parent
      |
      = help: remove `parent`, or move the task
    ");
}

#[test]
fn a_fault_inside_a_nested_plan_is_shown_at_its_line() {
    let file = "\
title: Outside
tasks:
  - id: all
    plan:
      with: {place: here}
      plan:
        title: Inside
        tasks:
          - id: build
            needs: [test]
          - id: test
            needs: [build]
          - id: test
          - id: ship
            needs: [tset]
  - id: many
    map:
      over: [1, 2]
      each:
        plan:
          tasks:
            - id: one
              timeout: 0s
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::cycle]: these tasks wait for each other: `build` -> `test` -> `build`
      --> plan.yaml:10:21
       |
    10 |             needs: [test]
       |                     ^^^^ `build` waits for `test`
    11 |           - id: test
    12 |             needs: [build]
       |                     ----- `test` waits for `build`
       |
       = help: remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`

    error[plan::duplicate-id]: the id `test` is used twice
      --> plan.yaml:13:17
       |
    11 |           - id: test
       |                 ---- first used here
    12 |             needs: [build]
    13 |           - id: test
       |                 ^^^^ used again here
       |
       = help: task number 2 has it too; rename one of them

    error[plan::unknown-dependency]: task `ship` depends on `tset`, which does not exist
      --> plan.yaml:15:21
       |
    15 |             needs: [tset]
       |                     ^^^^
       |
       = help: did you mean `test`?

    error[plan::zero-duration]: `timeout` of task `one` is zero, so it can never succeed
      --> plan.yaml:23:24
       |
    23 |               timeout: 0s
       |                        ^^
    ");
}

#[test]
fn a_bad_id_hides_only_those_who_may_mean_it() {
    let file = "\
title: Release
tasks:
  - id: build it
  - id: test
    depends_on: [build-it]
  - id: ship
    depends_on: [nope]
    next: [{on: success, to: nowhere}]
";
    let said = seen(file);
    for told in ["`build it` is not an id", "depends on `nope`", "`nowhere`"] {
        assert!(said.contains(told), "{said}");
    }
    assert!(!said.contains("depends on `build-it`"), "{said}");
}
