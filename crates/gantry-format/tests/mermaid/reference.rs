//! Real charts against what mermaid 11 reads in them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gantry_format::mermaid::{self, Flowchart};
use serde_json::Value;

use crate::kit::{data, flowcharts};

/// Makes texts comparable: one space for any whitespace, one spelling per entity, quote and line break.
fn comparable(text: &str) -> String {
    let text = text
        .replace("ﬂ°°", "#")
        .replace("ﬂ°", "#")
        .replace("¶ß", ";")
        .replace("#quot;", "\"")
        .replace("#9829;", "♥")
        .replace("<br />", "<br>")
        .replace("<br/>", "<br>")
        .replace('\'', "\"");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn field<'value>(value: &'value Value, name: &str) -> &'value str {
    value[name].as_str().unwrap_or_default()
}

fn ours(chart: &Flowchart) -> Vec<String> {
    let mut lines = vec![format!("direction {}", chart.direction.keyword())];
    for node in &chart.nodes {
        let text = comparable(node.label.as_ref().unwrap_or(&node.id));
        lines.push(format!("node {} {text}", node.id));
    }
    for edge in &chart.edges {
        let text = comparable(edge.label.as_deref().unwrap_or_default());
        lines.push(format!("edge {} {} {:?} {text}", edge.from, edge.to, edge.style));
    }
    let mut subgraphs: Vec<_> = chart
        .subgraphs
        .iter()
        .map(|subgraph| {
            let nodes: BTreeSet<_> = subgraph.nodes.iter().cloned().collect();
            format!("subgraph {} {} {nodes:?}", subgraph.id, comparable(&subgraph.title))
        })
        .collect();
    subgraphs.sort();
    lines.extend(subgraphs);
    lines
}

fn theirs(reference: &Value) -> Vec<String> {
    let list = |name: &str| reference[name].as_array().cloned().unwrap_or_default();
    let subgraph_ids: BTreeSet<String> =
        list("subgraphs").iter().map(|subgraph| field(subgraph, "id").to_owned()).collect();
    let mut lines = vec![format!("direction {}", field(reference, "direction"))];
    for vertex in list("vertices") {
        // An edge to a subgraph makes mermaid list the subgraph's id as a vertex too.
        if !subgraph_ids.contains(field(&vertex, "id")) {
            lines.push(format!("node {} {}", field(&vertex, "id"), comparable(field(&vertex, "text"))));
        }
    }
    for edge in list("edges") {
        let style = match field(&edge, "stroke") {
            "normal" => "Solid",
            "dotted" => "Dotted",
            "thick" => "Thick",
            _ => "Invisible",
        };
        let text = comparable(field(&edge, "text"));
        lines.push(format!("edge {} {} {style} {text}", field(&edge, "start"), field(&edge, "end")));
    }
    let mut subgraphs: Vec<_> = list("subgraphs")
        .iter()
        .map(|subgraph| {
            let nodes: BTreeSet<_> = subgraph["nodes"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|node| node.as_str().map(str::to_owned))
                .filter(|node| !subgraph_ids.contains(node))
                .collect();
            format!("subgraph {} {} {nodes:?}", field(subgraph, "id"), comparable(field(subgraph, "title")))
        })
        .collect();
    subgraphs.sort();
    lines.extend(subgraphs);
    lines
}

#[test]
fn real_charts_read_the_way_mermaid_reads_them() {
    let Some(data) = data() else { return };
    let text = std::fs::read_to_string(data.join("reference_parse.json")).expect("the reference");
    let reference: Value = serde_json::from_str(&text).expect("valid JSON");
    let mut same = 0;
    let mut refused = 0;
    let mut different = String::new();
    for (name, text) in flowcharts(&data) {
        let expected = &reference[&name];
        let parsed = mermaid::parse(&text);
        if expected["ok"] != Value::Bool(true) {
            refused += usize::from(parsed.is_err());
            continue;
        }
        match parsed {
            Ok(chart) if ours(&chart) == theirs(expected) => same += 1,
            Ok(chart) => {
                let (ours, theirs) = (ours(&chart), theirs(expected));
                for (our, their) in ours.iter().zip(&theirs).filter(|(our, their)| our != their) {
                    let _ = writeln!(different, "{name}\n  ours   {our}\n  theirs {their}");
                }
                let _ = writeln!(different, "{name}: {} and {} lines", ours.len(), theirs.len());
            }
            Err(problems) => {
                let _ = writeln!(different, "{name}: {problems:?}");
            }
        }
    }
    assert_eq!((same, refused), (160, 2), "{different}");
}
