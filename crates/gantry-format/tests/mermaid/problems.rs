//! What is refused, with which words, and that nothing panics or takes forever.

use gantry_format::mermaid::{self, limits};
use proptest::prelude::*;

use crate::kit::drawn;

#[test]
fn every_problem_is_reported_with_its_place_and_a_hint() {
    insta::assert_snapshot!(drawn("
        flowchart LR
          A -->|HTTP (gateways)| B
          B --> 
          C[text (more)]
          D[\"open]
        "), @r#"
    "(": `(` cannot stand in a text without quotes
      hint: put the whole text in double quotes, and close it with `|`
    "(": `(` cannot stand in a text without quotes
      hint: put the whole text in double quotes, and close it with `]`
    "\"": this quote is never closed
      hint: close it with `"`; a quote inside of a text is written `#quot;`
    "#);
}

#[test]
fn a_subgraph_that_never_ends_and_an_end_too_many_are_problems() {
    insta::assert_snapshot!(drawn("flowchart\nsubgraph one\nA"), @r#"
    "subgraph one": subgraph `one` is never closed
      hint: end it with a line `end`
    "#);
    insta::assert_snapshot!(drawn("flowchart\nA\nend\nB"), @r#"
    "end": `end` without a subgraph
      hint: remove it, or give a node called `end` another id
    "#);
}

#[test]
fn a_keyword_is_not_an_id() {
    insta::assert_snapshot!(drawn("flowchart\nA --> B\nend --> C\nclass --> D"), @r#"
    "end": `end` is a keyword here
      hint: give the node another id, and write `id["end"]` for its text
    "class": `class` is a keyword here
      hint: give the node another id, and write `id["class"]` for its text
    "#);
}

#[test]
fn another_kind_of_diagram_is_named() {
    insta::assert_snapshot!(drawn("sequenceDiagram\nA->>B: hi"), @r#"
    "sequenceDiagram": `sequenceDiagram` is not a flowchart
      hint: only charts that start with `flowchart` or `graph` can be read
    "#);
    insta::assert_snapshot!(drawn("```mermaid\nflowchart LR\n```"), @r#"
    "```mermaid": this starts with a code fence
      hint: give only the text between the fences
    "#);
    insta::assert_snapshot!(drawn(""), @r#"
    "": this does not start like a flowchart
      hint: start with a line such as `flowchart LR`
    "#);
    insta::assert_snapshot!(drawn("flowchart sideways"), @r#"
    "sideways": `sideways` is not a direction
      hint: use TB, TD, BT, LR or RL, and start the first node on a new line
    "#);
}

#[test]
fn a_left_arrow_gets_a_hint() {
    insta::assert_snapshot!(drawn("flowchart\nA <-- B"), @r#"
    "<--": the text of this link is not followed by the end of the link
      hint: write `A -- text --> B` or `A -->|text| B`; there is no left arrow, so write `B --> A`
    "#);
}

#[test]
fn texts_and_data_that_never_close_are_problems() {
    insta::assert_snapshot!(drawn("flowchart\nA[text\nB@{ shape: diam\naccDescr { text"), @r#"
    "[": this text is never closed
      hint: close it with `]`
    "@{": this `@{` is never closed
      hint: close it with `}`
    "accDescr": this description is never closed
      hint: close it with `}`
    "#);
    insta::assert_snapshot!(drawn("---\ntitle: x\nflowchart LR"), @r#"
    "---": the front matter is never closed
      hint: end it with a line of three dashes
    "#);
}

#[test]
fn reading_stops_after_a_hundred_problems() {
    let text = format!("flowchart\n{}", "A B\n".repeat(1_000));
    let problems = mermaid::parse(&text).expect_err("bad lines");
    assert_eq!(problems.len(), limits::PROBLEMS_MAX + 1);
}

#[test]
fn each_limit_is_kept() {
    let too_long = " ".repeat(limits::INPUT_BYTES_MAX + 1);
    let nodes: Vec<String> = (0..=limits::NODES_MAX).map(|number| format!("n{number}")).collect();
    let nodes = nodes.join("\n");
    let wide = vec!["a"; 300].join(" & ");
    let long = "x".repeat(500_000);
    let nested = "subgraph s\n".repeat(limits::NESTING_MAX + 1);
    let texts = [
        too_long,
        format!("flowchart\n{nodes}"),
        format!("flowchart\n{wide} --> {wide}"),
        format!("flowchart\n{wide} -->|{long}| b"),
        format!("flowchart\n{nested}"),
    ];
    let messages: Vec<String> =
        texts.iter().map(|text| mermaid::parse(text).expect_err("too large").remove(0).message).collect();
    insta::assert_snapshot!(messages.join("\n"), @"
    the chart has 1048577 bytes, and at most 1048576 are read
    more than 10000 nodes
    more than 50000 edges
    more than 16777216 bytes of text on edges
    more than 32 subgraphs inside one another
    ");
}

#[test]
fn subgraphs_named_inside_one_another_keep_the_nesting_limit() {
    let mut text = String::from("flowchart\n");
    for level in 0..limits::NESTING_MAX + 2 {
        text.extend([format!("subgraph s{level}\n"), format!("s{}\nend\n", level + 1)]);
    }
    let problems = mermaid::parse(&text).expect_err("too deep");
    assert_eq!(problems[0].message, "more than 32 subgraphs inside one another");
}

/// How long each hostile text is: if reading were quadratic, they would take many minutes.
const TEXT_BYTES: usize = 128 * 1024;

#[test]
fn hostile_texts_are_read_to_an_end() {
    let shapes = [
        "A>x\n",
        "A@{ \"x\"\n",
        "A -. x\n",
        "A[",
        "A[\"`\n",
        "x%%",
        "%%{",
        "A -->|",
        "subgraph \n",
        "A((",
        "A:::",
        "\"",
        "A e@",
        "-.",
        "A--",
        "A -- .",
        "accDescr {\n",
        "click A \"\n",
        "A & ",
        "#",
        "A;",
        "direction ",
        "A\n\n\n\n",
        "A@{a:",
        "A@{ l: x }\n",
    ];
    for shape in shapes {
        let text = format!("flowchart\n{}", shape.repeat(TEXT_BYTES / shape.len()));
        let _ = mermaid::parse(&text); // one that takes too long is stopped by the test runner
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        let _ = mermaid::parse(&text);
    }

    #[test]
    fn no_heap_of_chart_pieces_makes_the_reader_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        let text = format!("flowchart LR\n{}", pieces.concat());
        if let Err(problems) = mermaid::parse(&text) {
            for problem in problems {
                prop_assert!(text.get(problem.span).is_some());
            }
        }
    }
}

/// Pieces of charts, to be thrown together.
const PIECES: &[&str] = &[
    "A",
    "é",
    "b1",
    "end",
    "subgraph",
    "subgraph s",
    "x",
    "o",
    " ",
    " ",
    "\n",
    "\n",
    ";",
    "\"",
    "`",
    "&",
    " & ",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "/",
    "\\",
    ">",
    "|",
    "-",
    "--",
    "-->",
    "---",
    "-.",
    ".->",
    "-.->",
    "==",
    "==>",
    "~~~",
    "<",
    "<-->",
    ":::",
    "@{",
    "@{ shape: diam, label: \"x\" }",
    "%%",
    "%%{",
    "}%%",
    "style A",
    "click A \"",
    "accDescr {",
    "#quot;",
    "direction LR",
    "e1@",
];
