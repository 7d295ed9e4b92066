//! What a task does, decides and expects.

use crate::kit::seen;

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
  - {id: d, command: search('q') -> links, deadline: 2026-01-02}
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
    7 |   - {id: d, command: search('q') -> links, deadline: 2026-01-02}
      |                      ^^^^^^^^^^^^^^^^^^^^
      |
      = help: there are files.write, run

    warning[plan::deadline-passed]: the deadline of task `d` has passed already: 2026-01-02T00:00:00Z
     --> plan.yaml:7:54
      |
    7 |   - {id: d, command: search('q') -> links, deadline: 2026-01-02}
      |                                                      ^^^^^^^^^^
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

#[test]
fn a_slip_inside_a_map_is_shown_where_it_stands() {
    let file = "\
title: Clean up
tasks:
  - id: hosts
    run: list-hosts
  - id: wipe
    map:
      over: tasks.hosts.stdout
      each:
        run: rm -r old
        needs: [hosts]
        preconditions: [backup.exists = true]
        timeout: 0s
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::each-stands-alone]: what each item becomes cannot have `depends_on`: its place in the plan is that of the map
      --> plan.yaml:10:9
       |
    10 |         needs: [hosts]
       |         ^^^^^
       |
       = help: give `depends_on` to the map, or let each item become several tasks with `plan: {tasks: …}`

    error[plan::words-like-expression]: `backup.exists = true` would hold nothing back: it is no expression: unexpected `=`; use `==` to compare
      --> plan.yaml:11:39
       |
    11 |         preconditions: [backup.exists = true]
       |                                       ^
       |
       = help: mend the expression, or say with `expr: …` or `words: …` which is meant

    error[plan::zero-duration]: `timeout` of task `wipe` is zero, so it can never succeed
      --> plan.yaml:12:18
       |
    12 |         timeout: 0s
       |                  ^^
    ");
}

#[test]
fn a_slip_in_a_family_is_shown_where_it_stands() {
    let file = "\
title: Clean up
tasks:
  - id: hosts
    run: list-hosts
  - id: wipe-*
    needs: [hosts]
    run: rm -r old
    timeout: 0s
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::zero-duration]: `timeout` of task `wipe` is zero, so it can never succeed
     --> plan.yaml:8:14
      |
    8 |     timeout: 0s
      |              ^^
    ");
}

#[test]
fn a_slip_in_a_precondition_of_a_nested_plan_is_refused() {
    let file = "\
title: Clean up
tasks:
  - id: all
    plan:
      tasks:
        - id: wipe
          run: rm -r old
          preconditions: [backup.exists = true]
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::words-like-expression]: `backup.exists = true` would hold nothing back: it is no expression: unexpected `=`; use `==` to compare
     --> plan.yaml:8:41
      |
    8 |           preconditions: [backup.exists = true]
      |                                         ^
      |
      = help: mend the expression, or say with `expr: …` or `words: …` which is meant
    ");
}

#[test]
fn a_fault_in_an_expression_over_several_lines_or_with_escapes_is_shown_at_the_expression() {
    let file = "\
tasks:
  - id: a
    run: x
    preconditions:
      - expr: |
          exit_code == 0
            && stdout ==
  - id: b
    run: x
    preconditions:
      - expr: \"stdout == \\\"ok\\\" &&\"
";
    insta::assert_snapshot!(seen(file), @r#"
    error[plan::invalid-value]: line 3, column 1: expected a value, found the end
     --> plan.yaml:6:11
      |
    6 |           exit_code == 0
      |           ^^^^^^^^^^^^^^

    error[plan::invalid-value]: column 18: expected a value, found the end
      --> plan.yaml:11:15
       |
    11 |       - expr: "stdout == \"ok\" &&"
       |               ^^^^^^^^^^^^^^^^^^^^^
    "#);
}
