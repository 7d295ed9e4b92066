//! From charts to plans and back: the charts of the founding documents, real charts, and any chart.

use std::collections::BTreeSet;

use gantry_core::plan::Plan;
use gantry_format::mermaid::{self, Flowchart};
use proptest::prelude::*;

use crate::kit::{data, draw_plan, errors, flowcharts, imported, shared};

const SEEDS: [&str; 3] = [
    "flowchart LR
  A[Intake objective] --> B[Decompose into DAG]
  B --> C{Unknowns?}
  C -- yes --> R1[Research Q1]
  C -- yes --> R2[Research Q2]
  R1 & R2 --> S[Synthesize KB + citations]
  C -- no --> E[Execute build]
  S --> E[Execute build]
  E --> V[Validate outputs]
  V --> D{Meets DoD?}
  D -- no --> RP[Replan: add/adjust steps]
  D -- yes --> H[Archive + handoff]
",
    "flowchart LR
  R[Repro minimal case] --> L[Collect logs/metrics]
  L --> H1{Hypothesis 1}
  L --> H2{Hypothesis 2}
  H1 --> T1[Test H1]
  H2 --> T2[Test H2]
  T1 -- pass --> F1[Implement fix path 1]
  T1 -- fail --> H2
  T2 -- pass --> F2[Implement fix path 2]
  T2 -- fail --> H3{Hypothesis 3}
  H3 --> T3[Test H3]
",
    "graph LR
  A[Scope] --> B[Harvest Sources]
  B --> C[Synthesize]
  C --> D{Validation Gate}
  D -->|approved| E[Actionable Plan]
  D -->|needs changes| B

  subgraph Debug Path
    R[Repro Matrix]
    R --> DB[Check DB]
    R --> RACE[Check Race]
    R --> TO[Check Timeout]
    DB --> G{Decision}
    RACE --> G
    TO --> G
    G --> FIX[Fix]
    FIX --> VERIFY[Verify]
  end
",
];

/// Who leads to whom, by the texts of the nodes, and who is in which subgraph.
fn graph(chart: &Flowchart) -> BTreeSet<String> {
    let text = |id: &str| {
        let node = chart.nodes.iter().find(|node| node.id == id);
        let subgraph = chart.subgraphs.iter().find(|subgraph| subgraph.id == id);
        match (node, subgraph) {
            (Some(node), _) => node.label.clone().unwrap_or_else(|| id.to_owned()),
            (None, Some(subgraph)) => subgraph.title.clone(),
            (None, None) => id.to_owned(),
        }
    };
    let edges = chart.edges.iter().map(|edge| format!("{} -> {}", text(&edge.from), text(&edge.to)));
    let nodes = chart.nodes.iter().map(|node| text(&node.id));
    let inside = chart.subgraphs.iter().flat_map(|subgraph| {
        subgraph.nodes.iter().map(|node| format!("{} in {}", text(node), subgraph.title)).collect::<Vec<_>>()
    });
    edges.chain(nodes).chain(inside).collect()
}

/// Draws the plan, reads the drawing and makes a plan of it again.
fn there_and_back(plan: &Plan) -> Plan {
    let text = mermaid::export(plan);
    let chart = mermaid::parse(&text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    mermaid::import(&chart).plan
}

#[test]
fn the_charts_of_the_founding_documents_become_valid_plans_and_the_same_charts_again() {
    for seed in SEEDS {
        let chart = mermaid::parse(seed).expect("a chart");
        let plan = mermaid::import(&chart).plan;
        assert_eq!(errors(&plan), Vec::<String>::new());
        let again = mermaid::parse(&mermaid::export(&plan)).expect("a chart");
        assert_eq!(graph(&again), graph(&chart));
        assert_eq!(mermaid::import(&again).plan, plan);
    }
}

#[test]
fn the_charts_above_are_those_of_the_founding_documents() {
    let Some(path) = shared("seeds/001-advanced-planning-system.md") else { return };
    let text = std::fs::read_to_string(path).expect("the document can be read");
    let charts: Vec<&str> = text.split("```mermaid\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(charts, SEEDS);
}

#[test]
fn a_research_plan_reads_like_this() {
    insta::assert_snapshot!(imported(SEEDS[0]), @r#"
    A "Intake objective"
    B "Decompose into DAG" after A
    C "Unknowns?" decide [yes, no] after B; yes to R1; yes to R2; no to E
    R1 "Research Q1"
    R2 "Research Q2"
    S "Synthesize KB + citations" after R1, R2; success to E
    E "Execute build"
    V "Validate outputs" after E
    D "Meets DoD?" decide [no, yes] after V; no to RP; yes to H
    RP "Replan: add/adjust steps"
    H "Archive + handoff"
    note "-->": `E` starts after `S` or after another way in, whichever is taken
    "#);
}

#[test]
fn a_debug_plan_reads_like_this() {
    insta::assert_snapshot!(imported(SEEDS[1]), @r#"
    R "Repro minimal case"
    L "Collect logs/metrics" after R; success to H2
    H1 "Hypothesis 1" decide [] after L
    H2 "Hypothesis 2" decide []
    T1 "Test H1" after H1; success to F1; failure to H2
    T2 "Test H2" after H2; success to F2; failure to H3
    F1 "Implement fix path 1"
    F2 "Implement fix path 2"
    H3 "Hypothesis 3" decide []
    T3 "Test H3" after H3
    note "-->": `H2` starts after `L` or after another way in, whichever is taken
    note "-- pass -->": `pass` on a link out of `T1` is read as `success`
    note "-- fail -->": `fail` on a link out of `T1` is read as `failure`
    note "-- pass -->": `pass` on a link out of `T2` is read as `success`
    note "-- fail -->": `fail` on a link out of `T2` is read as `failure`
    "#);
}

#[test]
fn a_plan_with_a_gate_reads_like_this_and_is_drawn_like_this() {
    insta::assert_snapshot!(imported(SEEDS[2]), @r#"
    A "Scope"
    B "Harvest Sources" after A
    C "Synthesize" after B
    D "Validation Gate" gate after C; success to E; needs_changes to B max 3
    E "Actionable Plan"
    debug-path "Debug Path"
    R "Repro Matrix" in debug-path
    DB "Check DB" in debug-path after R
    RACE "Check Race" in debug-path after R
    TO "Check Timeout" in debug-path after R
    G "Decision" decide [] in debug-path after DB, RACE, TO
    FIX "Fix" in debug-path after G
    VERIFY "Verify" in debug-path after FIX
    note "-->|approved|": `approved` on a link out of `D` is read as `success`
    note "-->|needs changes|": the link from `D` to `B` closes a circle: it becomes a way back, taken at most 3 times
    "#);
    let plan = mermaid::import(&mermaid::parse(SEEDS[2]).expect("a chart")).plan;
    insta::assert_snapshot!(mermaid::export(&plan), @r#"
    flowchart LR
      A["Scope"]
      B["Harvest Sources"]
      C["Synthesize"]
      D{{"Validation Gate"}}
      E["Actionable Plan"]
      subgraph debug-path["Debug Path"]
        R["Repro Matrix"]
        DB["Check DB"]
        RACE["Check Race"]
        TO["Check Timeout"]
        G{"Decision"}
        FIX["Fix"]
        VERIFY["Verify"]
      end
      A --> B
      B --> C
      C --> D
      D -->|success| E
      D -. needs changes (max 3) .-> B
      R --> DB
      R --> RACE
      R --> TO
      DB --> G
      RACE --> G
      TO --> G
      G --> FIX
      FIX --> VERIFY
    "#);
}

#[test]
fn real_charts_become_valid_plans_that_survive_being_drawn() {
    let Some(data) = data() else { return };
    let mut seen = 0;
    for (name, text) in flowcharts(&data) {
        let Ok(chart) = mermaid::parse(&text) else { continue };
        let imported = mermaid::import(&chart);
        assert_eq!(errors(&imported.plan), Vec::<String>::new(), "{name}");
        let again = there_and_back(&imported.plan);
        assert_eq!(draw_plan(&again), draw_plan(&imported.plan), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 160);
}

/// One line of a chart over a few nodes and subgraphs.
fn any_line() -> impl Strategy<Value = String> {
    let id = prop::sample::select(vec!["a", "b", "c", "d", "e", "f", "one", "two", "e-1", "审"]);
    let look = prop::sample::select(vec![
        "",
        "",
        "",
        "[Work]",
        "{Go?}",
        "{Review}",
        "{{Gate}}",
        "([Ask])",
        "[\"a #quot;b#quot;\"]",
    ]);
    let link = prop::sample::select(vec![
        "-->",
        "-->",
        "-->",
        "---",
        "==>",
        "-.->",
        "<-->",
        "~~~",
        "-->|yes|",
        "-->|no|",
        "-->|approved|",
        "-->|needs changes|",
        "-->|success|",
        "-->|failure|",
        "-->|\"other (text)\"|",
        "-. again (max 2) .->",
    ]);
    let chain = (id.clone(), look, link, id).prop_map(|(from, look, link, to)| format!("{from}{look} {link} {to}\n"));
    let frame =
        prop::sample::select(vec!["subgraph one\n", "subgraph two[Two]\n", "subgraph three words\n", "end\n", "end\n"]);
    prop_oneof![4 => chain, 1 => frame.prop_map(str::to_owned)]
}

proptest! {
    #[test]
    fn any_chart_becomes_a_plan_that_is_valid_and_survives_being_drawn(lines in prop::collection::vec(any_line(), 0..25)) {
        let mut text = String::from("flowchart\n");
        let mut depth = 0_u32;
        for line in lines {
            match line.as_str() {
                "end\n" if depth == 0 => continue,
                "end\n" => depth -= 1,
                line if line.starts_with("subgraph") => depth += 1,
                _ => {}
            }
            text += &line;
        }
        text += &"end\n".repeat(depth as usize);
        let chart = mermaid::parse(&text).expect("a chart");
        let mermaid::Imported { plan, notes } = mermaid::import(&chart);
        prop_assert_eq!(errors(&plan), Vec::<String>::new(), "{}", text);
        // What made a node a gate may have been on a way back that could not be kept.
        if notes.iter().any(|note| note.text.contains(" is left out: `")) {
            return Ok(());
        }
        let again = there_and_back(&plan);
        prop_assert_eq!(draw_plan(&again), draw_plan(&plan), "{}\n{}", text, mermaid::export(&plan));
    }

    #[test]
    fn any_title_is_read_back_as_it_was(titles in prop::collection::vec(any::<String>(), 1..5)) {
        let mut plan = Plan::default();
        for (number, title) in titles.iter().enumerate() {
            let mut task = gantry_core::plan::Task::new(gantry_core::id::TaskId::slugged(&format!("t{number}")));
            task.title = title.split(|c: char| c.is_control() || c.is_whitespace()).collect::<Vec<_>>().join("");
            plan.tasks.push(task);
        }
        let chart = mermaid::parse(&mermaid::export(&plan)).expect("a chart");
        for (node, task) in chart.nodes.iter().zip(&plan.tasks) {
            prop_assert_eq!(node.label.as_deref(), Some(task.name().trim()));
        }
    }
}
