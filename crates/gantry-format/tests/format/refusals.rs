//! Every refusal, as a person sees it.

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
fn every_fault_of_a_map_is_shown_at_once() {
    let file = "\
title: Release
tasks:
  - id: build
    run: make
    retry:
      maximum: 3
      backoff: soon
      jitter: yes
      max: many
    estimate: {low: 1h, likly: 2h, high: late}
";
    insta::assert_snapshot!(seen(file), @r#"
    error[plan::unknown-field]: `retry` has no field `maximum`
     --> plan.yaml:6:7
      |
    6 |       maximum: 3
      |       ^^^^^^^ unknown field

    error[plan::invalid-value]: `soon` is not a duration of at most 100 years; write for example `90s`, `10m`, `1h30m` or `2d`
     --> plan.yaml:7:16
      |
    7 |       backoff: soon
      |                ^^^^

    error[plan::unknown-field]: `retry` has no field `jitter`
     --> plan.yaml:8:7
      |
    8 |       jitter: yes
      |       ^^^^^^ unknown field

    error[plan::wrong-type]: expected a whole number from 0 to 4294967295, found the text "many"
     --> plan.yaml:9:12
      |
    9 |       max: many
      |            ^^^^

    error[plan::unknown-field]: unknown field `likly`
      --> plan.yaml:10:25
       |
    10 |     estimate: {low: 1h, likly: 2h, high: late}
       |                         ^^^^^
       |
       = help: did you mean `likely`?

    error[plan::invalid-value]: `late` is not a duration of at most 100 years; write for example `90s`, `10m`, `1h30m` or `2d`
      --> plan.yaml:10:42
       |
    10 |     estimate: {low: 1h, likly: 2h, high: late}
       |                                          ^^^^
    "#);
}

#[test]
fn every_fault_of_a_list_is_shown_at_once() {
    let file = "\
title: Release
hypotheses:
  - {id: H1, confidence: 3}
  - {id: H2}
  - {idd: H3}
  - [H4]
tasks:
  - id: build
    run: make
    next:
      - {on: failure, to: build, max: 1, wen: late}
      - {on: success}
      - {to: 'not an id!'}
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::invalid-value]: confidence 3 is not between 0 and 1
     --> plan.yaml:3:26
      |
    3 |   - {id: H1, confidence: 3}
      |                          ^

    error[plan::unknown-field]: unknown field `idd`
     --> plan.yaml:5:6
      |
    5 |   - {idd: H3}
      |      ^^^
      |
      = help: did you mean `id`?

    error[plan::wrong-type]: expected a text (the id) or a map, found a list
     --> plan.yaml:6:5
      |
    6 |   - [H4]
      |     ^^^^

    error[plan::unknown-field]: unknown field `wen`
      --> plan.yaml:11:42
       |
    11 |       - {on: failure, to: build, max: 1, wen: late}
       |                                          ^^^
       |
       = help: did you mean `when`?

    error[plan::missing-field]: `to` is missing
      --> plan.yaml:12:9
       |
    12 |       - {on: success}
       |         ^^^^^^^^^^^^^

    error[plan::missing-field]: `on` is missing
      --> plan.yaml:13:9
       |
    13 |       - {to: 'not an id!'}
       |         ^^^^^^^^^^^^^^^^^^

    error[plan::invalid-value]: `not an id!` is not an id: only letters, digits, `-` and `_` are allowed
      --> plan.yaml:13:14
       |
    13 |       - {to: 'not an id!'}
       |              ^^^^^^^^^^^^
    ");
}

#[test]
fn every_fault_of_an_action_is_shown_at_once() {
    let file = "\
title: Release
tasks:
  - id: sign-off
    gate:
      approvals: two
      rol: maintainer
      escalate_after: soon
  - id: each
    map: {over: [1], max: none, az: item}
";
    insta::assert_snapshot!(seen(file), @r#"
    error[plan::wrong-type]: expected a whole number from 0 to 4294967295, found the text "two"
     --> plan.yaml:5:18
      |
    5 |       approvals: two
      |                  ^^^

    error[plan::unknown-field]: a gate has no field `rol`
     --> plan.yaml:6:7
      |
    6 |       rol: maintainer
      |       ^^^ unknown field
      |
      = help: did you mean `role`?

    error[plan::invalid-value]: `soon` is not a duration of at most 100 years; write for example `90s`, `10m`, `1h30m` or `2d`
     --> plan.yaml:7:23
      |
    7 |       escalate_after: soon
      |                       ^^^^

    error[plan::wrong-type]: expected a whole number from 0 to 4294967295, found the text "none"
     --> plan.yaml:9:27
      |
    9 |     map: {over: [1], max: none, az: item}
      |                           ^^^^

    error[plan::unknown-field]: unknown field `az`
     --> plan.yaml:9:33
      |
    9 |     map: {over: [1], max: none, az: item}
      |                                 ^^
      |
      = help: did you mean `as`?
    "#);
}

#[test]
fn what_is_missing_only_because_it_is_wrong_is_not_reported_twice() {
    let file = "\
title: Release
tasks:
  - id: build
    run: make
    estimate: {low: early, likely: 2h}
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::invalid-value]: `early` is not a duration of at most 100 years; write for example `90s`, `10m`, `1h30m` or `2d`
     --> plan.yaml:5:21
      |
    5 |     estimate: {low: early, likely: 2h}
      |                     ^^^^^
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
fn a_negative_duration_is_refused() {
    let file = "\
title: Release
tasks:
  - id: build
    timeout: -5m
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::invalid-value]: `timeout`: `-5m` is negative; a duration is at least 0s
     --> plan.yaml:4:14
      |
    4 |     timeout: -5m
      |              ^^^
    ");
}

#[test]
fn a_duration_longer_than_any_plan_is_refused() {
    let file = "\
title: Release
tasks:
  - id: build
    retry: {max: 2, backoff: 900000h}
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::invalid-value]: `900000h` is not a duration of at most 100 years; write for example `90s`, `10m`, `1h30m` or `2d`
     --> plan.yaml:4:30
      |
    4 |     retry: {max: 2, backoff: 900000h}
      |                              ^^^^^^^
    ");
}

#[test]
fn a_duration_without_a_unit_is_refused() {
    let file = "\
title: Release
tasks:
  - id: build
    timeout: 90
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::invalid-value]: `timeout`: `90` has no unit; write for example `90s` or `90m`
     --> plan.yaml:4:14
      |
    4 |     timeout: 90
      |              ^^
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
fn a_gate_that_nobody_can_pass_is_refused() {
    let file = "\
title: Release
tasks:
  - id: sign-off
    gate:
      approvals: 2
      approvers: [ana]
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::gate-nobody-can-pass]: gate `sign-off` needs 2 approvals, but only 1 may approve
     --> plan.yaml:4:5
      |
    4 |     gate:
      |     ^^^^
      |
      = help: lower `approvals` or list more `approvers`
    ");
}

#[test]
fn an_unknown_field_of_a_task_is_shown_with_the_nearest_name() {
    let file = "\
title: Release
tasks:
  - id: build
    depend_on: [x]
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::unknown-field]: a task has no field `depend_on`
     --> plan.yaml:4:5
      |
    4 |     depend_on: [x]
      |     ^^^^^^^^^ unknown field
      |
      = help: did you mean `depends_on`?
    ");
}

#[test]
fn a_field_that_belongs_elsewhere_says_where() {
    let file = "\
title: Release
budget: {time: 2h}
run: cargo build
tasks:
  - id: build
    objective: fast
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::unknown-field]: a plan has no field `budget`
     --> plan.yaml:2:1
      |
    2 | budget: {time: 2h}
      | ^^^^^^ unknown field
      |
      = help: `budget` stands under `policy`

    error[plan::unknown-field]: a plan has no field `run`
     --> plan.yaml:3:1
      |
    3 | run: cargo build
      | ^^^ unknown field
      |
      = help: `run` is a field of a task

    error[plan::unknown-field]: a task has no field `objective`
     --> plan.yaml:6:5
      |
    6 |     objective: fast
      |     ^^^^^^^^^ unknown field
      |
      = help: `objective` is a field of the plan itself
    ");
}

#[test]
fn an_unknown_field_inside_a_field_is_shown_too() {
    let file = "\
title: Release
tasks:
  - id: build
    run: {command: make, shel: bash}
  - id: sign-off
    gate: {aprovals: 2}
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::unknown-field]: unknown field `shel`
     --> plan.yaml:4:26
      |
    4 |     run: {command: make, shel: bash}
      |                          ^^^^
      |
      = help: did you mean `shell`?

    error[plan::unknown-field]: a gate has no field `aprovals`
     --> plan.yaml:6:12
      |
    6 |     gate: {aprovals: 2}
      |            ^^^^^^^^ unknown field
      |
      = help: did you mean `approvals`?
    ");
}

#[test]
fn a_value_of_the_wrong_type_is_shown_at_its_place() {
    let file = "\
title: Release
tasks:
  - id: build
    labels: slow
    optional: yes
    priority: high
";
    insta::assert_snapshot!(seen(file), @r#"
    error[plan::wrong-type]: `labels`: expected a list, found the text "slow"
     --> plan.yaml:4:13
      |
    4 |     labels: slow
      |             ^^^^

    error[plan::wrong-type]: `optional`: expected `true` or `false`, found the text "yes"
     --> plan.yaml:5:15
      |
    5 |     optional: yes
      |               ^^^
      |
      = help: write `true` or `false`

    error[plan::wrong-type]: `priority`: expected a whole number, found the text "high"
     --> plan.yaml:6:15
      |
    6 |     priority: high
      |               ^^^^
    "#);
}

#[test]
fn a_sentence_with_a_colon_in_it_gets_a_hint() {
    let file = "\
title: Release
tasks:
  - id: build
    success_criteria:
      - every source has: title, link
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::unknown-word]: unknown word `every source has`
     --> plan.yaml:5:9
      |
    5 |       - every source has: title, link
      |         ^^^^^^^^^^^^^^^^
      |
      = help: a text with `: ` in it needs quotes
    ");
}

#[test]
fn a_key_that_is_given_twice_is_shown_at_both_places() {
    let file = "\
title: Release
tasks:
  - id: build
    kind: research
    kind: debug
";
    insta::assert_snapshot!(seen(file), @"
    error[file::duplicate-key]: `kind` is given twice
     --> plan.yaml:5:5
      |
    4 |     kind: research
      |     ---- first given here
    5 |     kind: debug
      |     ^^^^ given again here
    ");
}

#[test]
fn a_field_under_two_names_is_shown_at_both_places() {
    let file = "\
title: Release
tasks:
  - id: a
  - id: b
    needs: [a]
    dependsOn: [a]
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::field-twice]: `dependsOn` is another name for `depends_on`, which is given too
     --> plan.yaml:6:5
      |
    5 |     needs: [a]
      |     ----- first given here
    6 |     dependsOn: [a]
      |     ^^^^^^^^^ given again here
      |
      = help: keep one of them, best as `depends_on`
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
fn a_task_with_two_actions_is_refused() {
    let file = "\
title: Release
tasks:
  - id: build
    run: make
    agent: build it
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::two-actions]: task `build` has both `run` and `agent`
     --> plan.yaml:5:5
      |
    4 |     run: make
      |     --- the first
    5 |     agent: build it
      |     ^^^^^ a second way to run
      |
      = help: make it two tasks, or put one of them under `alternates`
    ");
}

#[test]
fn a_gate_that_also_runs_something_is_refused() {
    let file = "\
title: Release
tasks:
  - id: sign-off
    kind: gate
    command: ask everybody
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::gate-with-action]: task `sign-off` is a gate and has `command` as well
     --> plan.yaml:4:5
      |
    4 |     kind: gate
      |     ^^^^ a gate
    5 |     command: ask everybody
      |     ------- and something to run
      |
      = help: a gate's work is a decision; put the rest into a task before it
    ");
}

#[test]
fn a_listed_gate_without_a_task_is_refused() {
    let file = "\
title: Release
tasks:
  - id: sign-off
    kind: gate
gates:
  - id: signoff
    checks: [looks good]
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::unknown-gate]: gate `signoff` belongs to no task
     --> plan.yaml:6:9
      |
    6 |   - id: signoff
      |         ^^^^^^^ no task has this id
      |
      = help: did you mean `sign-off`?
    ");
}

#[test]
fn a_gate_field_in_two_places_is_refused() {
    let file = "\
title: Release
tasks:
  - id: sign-off
    gate: {approvals: 1}
gates:
  - id: sign-off
    approvals: 2
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::field-twice]: `approvals` of this gate is given twice
     --> plan.yaml:7:5
      |
    4 |     gate: {approvals: 1}
      |            --------- first given here
    ...
    7 |     approvals: 2
      |     ^^^^^^^^^ given again here
    ");
}

#[test]
fn a_family_of_tasks_needs_one_list() {
    let file = "\
title: Release
tasks:
  - id: a
  - id: b
  - id: dive-*
    depends_on: [a, b]
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::family-source]: a family of tasks needs one task to take its list from
     --> plan.yaml:5:9
      |
    5 |   - id: dive-*
      |         ^^^^^^ as many tasks as a list has items
      |
      = help: let it depend on exactly one task, or write `map: {over: tasks.<id>.<output>}`
    ");
}

#[test]
fn an_unknown_word_is_shown_with_the_nearest_one() {
    let file = "\
title: Release
policy: {judge: persn}
tasks:
  - id: build
    status: compleet
    undo: restor
";
    insta::assert_snapshot!(seen(file), @r#"
    error[plan::unknown-word]: unknown word `persn`
     --> plan.yaml:2:17
      |
    2 | policy: {judge: persn}
      |                 ^^^^^
      |
      = help: did you mean `person`?

    error[plan::unknown-word]: the text "compleet" is not a state
     --> plan.yaml:5:13
      |
    5 |     status: compleet
      |             ^^^^^^^^
      |
      = help: did you mean `completed`?

    error[plan::unknown-word]: `undo`: unknown word `restor`
     --> plan.yaml:6:11
      |
    6 |     undo: restor
      |           ^^^^^^
      |
      = help: did you mean `restore`?
    "#);
}

#[test]
fn a_state_of_a_run_is_not_kept_and_that_is_said() {
    let file = "\
title: Release
status: running
tasks:
  - id: build
    status: failed
";
    insta::assert_snapshot!(seen(file), @"
    warning[plan::state-not-kept]: `running` is the state of a run and is not kept; the plan is read as one that has not begun
     --> plan.yaml:2:9
      |
    2 | status: running
      |         ^^^^^^^
      |
      = help: what happened in a run is in its journal

    warning[plan::state-not-kept]: `failed` is the state of a run and is not kept; the task is read as `pending`
     --> plan.yaml:5:13
      |
    5 |     status: failed
      |             ^^^^^^
      |
      = help: what happened in a run is in its journal
    ");
}

#[test]
fn a_broken_expression_is_taken_as_words_and_that_is_said() {
    let file = r#"title: Release
tasks:
  - id: tests
    run: cargo test
    success_criteria: ["tests.exit_code = 0"]
"#;
    insta::assert_snapshot!(seen(file), @r#"
    warning[plan::words-like-expression]: `tests.exit_code = 0` is taken as words for a judge, because it is no expression: unexpected `=`; use `==` to compare
     --> plan.yaml:5:41
      |
    5 |     success_criteria: ["tests.exit_code = 0"]
      |                                         ^
      |
      = help: mend the expression, or say with `expr: …` or `words: …` which is meant
    "#);
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
fn a_list_instead_of_a_plan_is_refused() {
    let file = "\
- id: a
- id: b
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::wrong-type]: a plan is a map, this is a list
     --> plan.yaml:1:1
      |
    1 | - id: a
      | ^^^^^^^
      |
      = help: a plan has at least a `title` and `tasks`
    ");
}

#[test]
fn tasks_that_are_no_list_are_refused() {
    let file = "\
title: Release
tasks: {id: a}
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::wrong-type]: tasks stand in a list, this is a map
     --> plan.yaml:2:8
      |
    2 | tasks: {id: a}
      |        ^^^^^^^
      |
      = help: start each task with `- id: …`
    ");
}

#[test]
fn yaml_that_is_none_is_shown_where_it_breaks() {
    let file = "\
title: Release
tasks:
  - id: build
    title: Build: all of it
";
    insta::assert_snapshot!(seen(file), @"
    error[file::syntax]: not valid YAML: mapping values are not allowed in this context
     --> plan.yaml:4:17
      |
    4 |     title: Build: all of it
      |                 ^ here
      |
      = help: a text with `: ` in it needs quotes
    ");
}

#[test]
fn a_tab_in_the_indentation_gets_a_hint() {
    let file = "title: Release\ntasks:\n\t- id: build\n";
    insta::assert_snapshot!(seen(file), @"
    error[file::syntax]: not valid YAML: tabs disallowed within this context (block indentation)
     --> plan.yaml:3:2
      |
    3 |     - id: build
      |     ^ here
      |
      = help: indent with spaces, not tabs
    ");
}

#[test]
fn a_tag_is_refused() {
    let file = "\
title: !!str Release
tasks: []
";
    insta::assert_snapshot!(seen(file), @"
    error[file::tag]: YAML tags such as `!!str` are not read
     --> plan.yaml:1:8
      |
    1 | title: !!str Release
      |        ^^^^^ a tag
      |
      = help: remove it; write a text in quotes to keep it a text
    ");
}

#[test]
fn a_second_document_is_refused() {
    let file = "\
title: Release
tasks: [build]
---
title: Other
";
    insta::assert_snapshot!(seen(file), @"
    error[file::many-documents]: the file has a second document
     --> plan.yaml:3:1
      |
    3 | ---
      | ^^^ the second document starts here
      |
      = help: keep one plan per file
    ");
}

#[test]
fn an_alias_that_contains_itself_is_refused() {
    let file = "\
title: Release
metadata: &loop
  again: *loop
tasks: [build]
";
    insta::assert_snapshot!(seen(file), @"
    error[file::alias]: an alias stands inside what it stands for
     --> plan.yaml:3:10
      |
    3 |   again: *loop
      |          ^^^^^ this would never end
    ");
}

#[test]
fn a_number_that_is_not_finite_is_refused() {
    let file = "\
title: Release
metadata: {limit: .inf}
tasks: [build]
";
    insta::assert_snapshot!(seen(file), @"
    error[file::number]: `.inf` is not a finite number
     --> plan.yaml:2:19
      |
    2 | metadata: {limit: .inf}
      |                   ^^^^ plans hold finite numbers only
      |
      = help: put it in quotes if it is meant as a text
    ");
}

#[test]
fn a_number_that_does_not_fit_is_refused() {
    let file = "\
title: Release
metadata: {count: 18446744073709551616}
tasks: [build]
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::number-too-large]: the number 18446744073709551616 does not fit into 64 bits
     --> plan.yaml:2:19
      |
    2 | metadata: {count: 18446744073709551616}
      |                   ^^^^^^^^^^^^^^^^^^^^
      |
      = help: put it in quotes to keep it as a text
    ");
}

#[test]
fn an_undo_that_is_no_action_is_told_what_was_meant() {
    insta::assert_snapshot!(seen("tasks:\n  - {id: a, run: x, undo: {rum: y}}\n  - {id: b, run: x, undo: {run: y, never: z}}\n"), @"
    error[plan::unknown-word]: `undo`: there is no action `rum`
     --> plan.yaml:2:28
      |
    2 |   - {id: a, run: x, undo: {rum: y}}
      |                            ^^^
      |
      = help: did you mean `run`?

    error[plan::unknown-word]: `undo` is one action, such as `run: …`, or one word
     --> plan.yaml:3:28
      |
    3 |   - {id: b, run: x, undo: {run: y, never: z}}
      |                            ^^^
      |
      = help: write `undo: {run: …}`, `undo: restore` or `undo: never`
    ");
}

#[test]
fn whoever_says_that_words_are_meant_is_not_asked() {
    let file = "tasks: [{id: a, run: x, success_criteria: [{words: 'exit_code = 0'}]}]";
    insta::assert_snapshot!(seen(file), @"");
}

#[test]
fn what_a_plan_needs_and_the_place_does_not_have_is_said_only_where_that_is_known() {
    let file = "
deadline: 2026-01-01
tasks:
  - {id: a, model: {instruction: think}}
  - {id: b, model: {instruction: think again}}
  - {id: c, tool: {name: files.wrte}}
  - {id: d, command: search(q) -> links, deadline: 2026-01-02}
  - {id: e, run: x, deadline: 2030-01-01}
";
    assert!(gantry_format::load("plan.yaml", file.as_bytes()).report.diagnostics.is_empty());
    let now = gantry_core::time::Timestamp::parse("2026-03-01").expect("a day");
    let around = gantry_format::Around { capabilities: &["files.write", "run"], now };
    let loaded = gantry_format::load_around("plan.yaml", file.as_bytes(), &around);
    assert!(loaded.plan.is_some());
    insta::assert_snapshot!(loaded.report.render(false), @"
    warning[plan::deadline-passed]: the deadline of the plan has passed already: 2026-01-01T00:00:00Z
     --> plan.yaml:2:11
      |
    2 | deadline: 2026-01-01
      |           ^^^^^^^^^^
      |
      = help: missing a deadline stops nothing, but someone is told at once

    warning[plan::no-capability]: there is no capability `model` here: task `a` will ask for help
     --> plan.yaml:4:13
      |
    4 |   - {id: a, model: {instruction: think}}
      |             ^^^^^
      |
      = help: there are files.write, run

    warning[plan::no-capability]: there is no capability `files.wrte` here: task `c` would fail
     --> plan.yaml:6:26
      |
    6 |   - {id: c, tool: {name: files.wrte}}
      |                          ^^^^^^^^^^
      |
      = help: did you mean `files.write`?

    warning[plan::no-capability]: there is no capability `search` here: task `d` will ask for help
     --> plan.yaml:7:22
      |
    7 |   - {id: d, command: search(q) -> links, deadline: 2026-01-02}
      |                      ^^^^^^^^^^^^^^^^^^
      |
      = help: there are files.write, run

    warning[plan::deadline-passed]: the deadline of task `d` has passed already: 2026-01-02T00:00:00Z
     --> plan.yaml:7:52
      |
    7 |   - {id: d, command: search(q) -> links, deadline: 2026-01-02}
      |                                                    ^^^^^^^^^^
      |
      = help: missing a deadline stops nothing, but someone is told at once
    ");
}

#[test]
fn a_fault_in_an_expression_is_shown_where_it_is() {
    let file = "\
title: Release
tasks:
  - id: a
    run: make
    preconditions:
      - expr: \"memory.has_space >= 50MB && (network.online ==\"
    next:
      - {on: success, to: b, when: 'exit_code === 0'}
  - {id: b, run: make}
";
    insta::assert_snapshot!(seen(file), @r#"
    error[plan::invalid-value]: expected a value, found the end
     --> plan.yaml:6:62
      |
    6 |       - expr: "memory.has_space >= 50MB && (network.online =="
      |                                                              ^

    error[plan::invalid-value]: unexpected `===`; use `==` to compare
     --> plan.yaml:8:47
      |
    8 |       - {on: success, to: b, when: 'exit_code === 0'}
      |                                               ^
    "#);
}

#[test]
fn a_precondition_with_a_slip_is_refused_for_nobody_would_test_it() {
    let file = "\
title: Clean
tasks:
  - {id: wipe, run: rm -r old, preconditions: [backup.exists = true]}
  - {id: sweep, run: rm -r new, preconditions: [{words: backup.exists = true}], success_criteria: [exit_code = 0]}
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::words-like-expression]: `backup.exists = true` would hold nothing back: it is no expression: unexpected `=`; use `==` to compare
     --> plan.yaml:3:62
      |
    3 |   - {id: wipe, run: rm -r old, preconditions: [backup.exists = true]}
      |                                                              ^
      |
      = help: mend the expression, or say with `expr: …` or `words: …` which is meant

    warning[plan::words-like-expression]: `exit_code = 0` is taken as words for a judge, because it is no expression: unexpected `=`; use `==` to compare
     --> plan.yaml:4:110
      |
    4 |   - {id: sweep, run: rm -r new, preconditions: [{words: backup.exists = true}], success_criteria: [exit_code = 0]}
      |                                                                                                              ^
      |
      = help: mend the expression, or say with `expr: …` or `words: …` which is meant
    ");
}
