//! Files that are no plan at all.

use crate::kit::seen;

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
fn a_quote_that_is_not_closed_is_shown_where_it_opens() {
    let rest = "tasks:\n  - id: build\n    title: \"Build all\"\n";
    insta::assert_snapshot!(seen(&format!("title: \"Release\n{rest}")), @r#"
    error[file::syntax]: not valid YAML: a quote is not closed
     --> plan.yaml:1:8
      |
    1 | title: "Release
      |        ^ it opens here
    2 | tasks:
      | - invalid indentation in multiline quoted scalar, here
      |
      = help: close it with the same mark on its line; inside it, write `\"` in double and `''` in single quotes
    "#);
    insta::assert_snapshot!(seen(&format!("{rest}    run: 'make all\n    timeout: 5m\n")), @r#"
    error[file::syntax]: not valid YAML: a quote is not closed
     --> plan.yaml:4:10
      |
    4 |     run: 'make all
      |          ^ it opens here
    5 |     timeout: 5m
      |     - invalid indentation in multiline quoted scalar, here
      |
      = help: close it with the same mark on its line; inside it, write `\"` in double and `''` in single quotes
    "#);
    insta::assert_snapshot!(seen(&format!("{rest}    labels: [\"slow, quick]\n    risks: [\"cold\"]\n")), @r#"
    error[file::syntax]: not valid YAML: a quote is not closed
     --> plan.yaml:4:14
      |
    4 |     labels: ["slow, quick]
      |              ^ it opens here
    5 |     risks: ["cold"]
      |     - invalid indentation, here
      |
      = help: close it with the same mark on its line; inside it, write `\"` in double and `''` in single quotes
    "#);
    let places = [
        ("title: 'Release\n---\n", 1),
        ("title: x # don't \"\ntasks: [\"a, b]\nlabels: [c]\n", 2),
        ("title: it's\nowner: 5\"\ntasks:\n  - \"a\n  - 'b'\n", 4),
    ];
    for (file, line) in places {
        assert!(seen(file).contains(&format!("plan.yaml:{line}:")), "{}", seen(file));
    }
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
