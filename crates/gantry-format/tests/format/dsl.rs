//! The small text language.

use gantry_format::{load, to_yaml};

use crate::kit::sound;

fn read(text: &str) -> String {
    to_yaml(&sound("plan.gantry", text))
}

fn seen(text: &str) -> String {
    load("plan.gantry", text.as_bytes()).report.render(false)
}

#[test]
fn a_task_with_everything_the_language_has() {
    insta::assert_snapshot!(read(r#"
plan release "Ship \"it\"" owner:ana
  objective: Out by Friday.
  hypotheses: [H1]

task search "Find sources"   # the first one
  run: search("a: b") -> hits

task build "Build it" kind:implement using:shell using:git priority:3 owner:"ana b"
  needs: search
  input:
    level: 2
    query: "x: y"
  run: |
    make all

    make check
  expect:
    - >= 5 things: all good
    - "quoted"
  retry: {max: 1}
  on failure -> search max:2
  on success -> ship

  task docs "Docs inside"
    run: make docs

task ship
  gate:
    checks: [looks good]
    approvals: 2
"#), @r#"
    id: release
    title: 'Ship "it"'
    objective: Out by Friday.
    owner: ana
    hypotheses: [H1]
    tasks:
      - id: search
        title: Find sources
        command: 'search("a: b") -> hits'
      - id: build
        title: Build it
        kind: implement
        run: |
          make all

          make check
        depends_on: [search]
        next:
          - on: failure
            to: search
            max: 2
          - on: success
            to: ship
        inputs:
          level: 2
          query: "x: y"
        success_criteria:
          - words: ">= 5 things: all good"
          - quoted
        capabilities: [shell, git]
        retry:
          max: 1
          backoff: 1s
          backoff_max: 5m
        owner: ana b
        priority: 3
        tasks:
          - id: docs
            title: Docs inside
            run: make docs
      - id: ship
        gate:
          checks:
            - looks good
          approvals: 2
    "#);
}

#[test]
fn a_file_without_a_plan_line_is_a_plan_too() {
    insta::assert_snapshot!(read("task a\ntask b\n  needs: [a]\n"), @"
    tasks:
      - id: a
      - id: b
        depends_on: [a]
    ");
}

#[test]
fn mistakes_are_shown_at_their_place() {
    insta::assert_snapshot!(seen(r#"plan "Release
task build "Build" fast
  neds: x
  on failure repair
  timeout: [1
   title: Shifted
  just words
    and more
task ship kind:gate kind:debug
  needs: buidl
	tab: here
"#), @r#"
    error[file::syntax]: a quote is not closed
     --> plan.gantry:1:6
      |
    1 | plan "Release
      |      ^^^^^^^^ it opens here
      |
      = help: close it with `"` on the same line

    error[file::syntax]: this line cannot be read
     --> plan.gantry:2:20
      |
    2 | task build "Build" fast
      |                    ^^^^ expected `name:value` or the end of the line

    error[plan::unknown-field]: a task has no field `neds`
     --> plan.gantry:3:3
      |
    3 |   neds: x
      |   ^^^^ unknown field
      |
      = help: did you mean `needs`?

    error[file::syntax]: this line cannot be read
     --> plan.gantry:4:3
      |
    4 |   on failure repair
      |   ^^^^^^^^^^^^^^^^^ expected `on <ending> -> <task id>`
      |
      = help: for example `on failure -> repair`

    error[file::syntax]: not valid YAML: illegal placement of ':' indicator
     --> plan.gantry:6:9
      |
    6 |    title: Shifted
      |         ^ here
      |
      = help: this line is indented by 3 spaces and the line before it by 2; fields of one task start in the same column

    error[file::syntax]: this line cannot be read
     --> plan.gantry:7:3
      |
    7 |   just words
      |   ^^^^^^^^^^ expected a field (`name: value`), a route (`on failure -> id`) or a task

    error[file::duplicate-key]: `kind` is given twice
     --> plan.gantry:9:21
      |
    9 | task ship kind:gate kind:debug
      |           ----      ^^^^ given again here
      |           |
      |           first given here

    error[plan::unknown-dependency]: task `ship` depends on `buidl`, which does not exist
      --> plan.gantry:10:10
       |
    10 |   needs: buidl
       |          ^^^^^
       |
       = help: did you mean `build`?

    error[file::syntax]: a tab in the indentation
      --> plan.gantry:11:1
       |
    11 |     tab: here
       | ^^^^ here
       |
       = help: indent with spaces
    "#);
}

#[test]
fn a_second_plan_and_lines_that_belong_to_nothing_are_refused() {
    insta::assert_snapshot!(seen("title: x\nplan \"A\"\nplan \"B\"\n  task a\n"), @r#"
    error[file::syntax]: this line cannot be read
     --> plan.gantry:1:1
      |
    1 | title: x
      | ^^^^^^^^ expected `plan "Title"` or `task <id> "Title"`

    error[file::many-documents]: the file has a second plan
     --> plan.gantry:3:1
      |
    2 | plan "A"
      | -------- the first plan
    3 | plan "B"
      | ^^^^^^^^
      |
      = help: keep one plan per file

    error[file::syntax]: this task stands inside nothing
     --> plan.gantry:4:3
      |
    4 |   task a
      |   ^^^^^^
      |
      = help: start it at the beginning of the line
    "#);
}

#[test]
fn fields_that_are_given_twice_are_shown_at_both_places() {
    insta::assert_snapshot!(seen("task a \"A\"\n  title: B\n  run: x\n  run: y\n"), @r#"
    error[file::duplicate-key]: `title` is given twice
     --> plan.gantry:2:3
      |
    1 | task a "A"
      |        --- first given here
    2 |   title: B
      |   ^^^^^ given again here

    error[file::duplicate-key]: `run` is given twice
     --> plan.gantry:4:3
      |
    3 |   run: x
      |   --- first given here
    4 |   run: y
      |   ^^^ given again here
    "#);
}

#[test]
fn needs_are_named_one_after_the_other() {
    insta::assert_snapshot!(read("task a\ntask b\ntask c\n  needs: a b\n"), @"
    tasks:
      - id: a
      - id: b
      - id: c
        depends_on: [a, b]
    ");
}

#[test]
fn a_field_without_a_space_after_its_colon_is_not_passed_over() {
    insta::assert_snapshot!(seen("plan x\n\ntask a\n  run: sleep 3\n  timeout:1s\n  labels:[x]\n"), @"
    error[file::syntax]: this line cannot be read
     --> plan.gantry:5:3
      |
    5 |   timeout:1s
      |   ^^^^^^^^^^ expected a field (`name: value`)
      |
      = help: put a space after the colon

    error[file::syntax]: this line cannot be read
     --> plan.gantry:6:3
      |
    6 |   labels:[x]
      |   ^^^^^^^^^^ expected a field (`name: value`)
      |
      = help: put a space after the colon
    ");
}

#[test]
fn what_stands_behind_a_hash_after_needs_is_a_comment() {
    let text = "plan x\n\ntask a\n  run: x\n\ntask b\n  needs: a # why\n  run: y\n";
    assert!(read(text).contains("depends_on: [a]"), "{}", read(text));
}
