//! Fields that nobody knows, and values that are none.

use crate::kit::seen;

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
fn a_fault_in_one_item_of_a_list_does_not_hide_those_of_the_others() {
    let file = "\
title: Release
tasks:
  - {id: a, run: x}
  - id: b
    run: y
    depends_on: [a, {x: 1}, zz]
    next:
      - {on: success, to: a, when: 'x >'}
      - {on: success, to: nowhere}
";
    let report = seen(file);
    assert!(report.contains("depends on `zz`, which does not exist\n --> plan.yaml:6:29"), "{report}");
    assert!(report.contains("goes to `nowhere` on success, which does not exist\n --> plan.yaml:9:27"), "{report}");
}

#[test]
fn an_id_that_is_no_text_or_no_name_says_so() {
    insta::assert_snapshot!(seen("title: x\ntasks:\n  - {id: true, run: x}\n  - {id: '*', run: y}\n"), @"
    error[plan::bad-id]: an id is a text, this is `true`
     --> plan.yaml:3:10
      |
    3 |   - {id: true, run: x}
      |          ^^^^
      |
      = help: give the task a name, in quotes if it is a word like `true`

    error[plan::bad-id]: a family of tasks needs a name
     --> plan.yaml:4:10
      |
    4 |   - {id: '*', run: y}
      |          ^^^
      |
      = help: put the name before what stands for the rest, for example `dig-*`
    ");
}

#[test]
fn a_part_may_not_spend_more_than_what_contains_it() {
    let file = "\
title: Release
tasks:
  - id: group
    budget: {model_calls: 2, cost_usd: 1}
    tasks:
      - id: inner
        tasks:
          - id: part
            model: {instruction: Say it.}
            budget: {model_calls: 5}
";
    insta::assert_snapshot!(seen(file), @"
    error[plan::budget-too-large]: task `part` may spend more than `group` around it, so it could never start
      --> plan.yaml:10:35
       |
    10 |             budget: {model_calls: 5}
       |                                   ^
       |
       = help: raise the budget of `group` or lower that of `part`
    ");
}

#[test]
fn a_text_that_looks_like_a_reference_and_is_none_is_told() {
    let file = "\
title: Release
tasks:
  - id: make
    run: make
    artifacts: [report.md]
  - id: use
    run: cat
    depends_on: [make]
    inputs:
      r: artifacts.report.md
      s: tasks.make.out put
      t: tasks.of the day
      v: {value: artifacts.report.md}
";
    insta::assert_snapshot!(seen(file), @"
    warning[plan::almost-reference]: `artifacts.report.md` looks like a reference to artifact `report.md`, but is a plain text: nothing is read from there
      --> plan.yaml:10:10
       |
    10 |       r: artifacts.report.md
       |          ^^^^^^^^^^^^^^^^^^^
       |
       = help: names in a reference are made of letters, digits, `-` and `_`; if a text is meant, write `{value: …}`

    warning[plan::almost-reference]: `tasks.make.out put` looks like a reference to task `make`, but is a plain text: nothing is read from there
      --> plan.yaml:11:10
       |
    11 |       s: tasks.make.out put
       |          ^^^^^^^^^^^^^^^^^^
       |
       = help: names in a reference are made of letters, digits, `-` and `_`; if a text is meant, write `{value: …}`
    ");
}

#[test]
fn every_output_that_is_promised_may_be_named() {
    let tools = [
        ("shell", "command: ls", "exit_code stdout stderr json left_behind"),
        ("files.read", "path: a", "content lines bytes hash"),
        ("files.write", "path: a, content: b", "changed paths summary"),
        ("http.get", "url: 'http://a.example'", "status headers body json url bytes"),
        ("http.download", "url: 'http://a.example', path: a", "changed path bytes hash sha256"),
        ("git.status", "", "branch head clean files count"),
        ("git.diff", "", "diff paths count"),
        ("git.commit", "message: a", "changed commit paths count"),
        ("git.tag", "name: a", "changed tag commit"),
        ("sql.query", "path: a, sql: b", "rows columns count truncated"),
        ("sql.execute", "path: a, sql: b", "changed statements rows"),
        ("mcp.docs.find", "", "text json anything_else"),
    ];
    let mut tasks: Vec<(String, &str)> = tools
        .iter()
        .map(|(name, args, outputs)| (format!("tool: {{name: {name}, args: {{{args}}}}}"), *outputs))
        .collect();
    tasks.push(("run: ls".to_owned(), "exit_code stdout stderr json left_behind"));
    tasks.push(("model: {instruction: Say it.}".to_owned(), "text"));
    tasks.push(("map: {over: [1], each: {run: ls}}".to_owned(), "results"));
    for (action, outputs) in tasks {
        for output in outputs.split(' ') {
            let check = format!("string({output}) != ''");
            let file = format!("title: A\ntasks:\n  - id: a\n    {action}\n    success_criteria: [\"{check}\"]\n");
            assert_eq!(seen(&file), "", "{file}");
        }
    }
}
