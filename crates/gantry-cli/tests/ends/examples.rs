//! Every example is carried out to its end by someone who types what `gantry status` says can be typed.
//!
//! Models and searches do not exist yet: whoever is asked for help with such a task does it by hand.

use std::path::Path;

use serde_json::Value;

use crate::bench::Bench;

/// What it takes to bring an example to its end.
#[derive(Default)]
struct Row {
    file: &'static str,
    /// Files of the workspace.
    files: &'static [(&'static str, &'static str)],
    /// What people hand in with a task that they did.
    outputs: &'static [(&'static str, &'static str)],
    /// What people answer; the first choice where nothing is said.
    answers: &'static [(&'static str, &'static str)],
    /// What the plan is changed into when it can never start otherwise.
    revision: Option<fn(&str) -> String>,
}

/// More steps than any example takes.
const STEPS_MAX: usize = 60;

/// Runs an example and types whatever is waited for, until it has ended. Returns what was typed and the last state.
fn bring_to_an_end(row: &Row) -> String {
    let bench = Bench::new();
    for (name, content) in row.files {
        bench.write(name, content, 0o755);
    }
    let path = format!("{}/../../examples/{}", env!("CARGO_MANIFEST_DIR"), row.file);
    let mut command = bench.command(&["run", &path]);
    // A program of the workspace stands in for one that takes long.
    let tools = std::env::join_paths([bench.work("tools")].into_iter().chain(paths())).unwrap();
    let output = command.env("PATH", &tools).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3 | 4)), "{}", String::from_utf8_lossy(&output.stderr));
    let mut typed = Vec::new();
    for _ in 0..STEPS_MAX {
        let status = bench.json(&["status", "1", "--json"]);
        let state = status["state"].as_str().unwrap();
        if ["completed", "failed", "abandoned"].contains(&state) {
            assert_eq!(bench.run(&["replay", "1"]).code, 0);
            assert_eq!(bench.run(&["audit", "1"]).code, 0);
            typed.push(format!("{state} {}", status["causes"]));
            return typed.join("\n").replace(status["id"].as_str().unwrap(), "PLAN");
        }
        for wait in status["waiting_for"].as_array().unwrap() {
            let Some(words) = answer(row, wait, &bench) else { continue };
            let told = bench.run(&words);
            assert_eq!(told.code, 0, "gantry {}: {told}", words.join(" "));
            typed.push(words.join(" ").replace(bench.beside("").to_str().unwrap(), ""));
        }
        let resumed = bench.command(&["resume", "1"]).env("PATH", &tools).output().unwrap();
        assert!(matches!(resumed.status.code(), Some(0 | 3 | 4)), "{}", String::from_utf8_lossy(&resumed.stderr));
    }
    panic!("{} never ends:\n{}", row.file, typed.join("\n"));
}

fn paths() -> Vec<std::path::PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect()
}

/// What to type about something that is waited for, made from what the program itself proposes.
fn answer(row: &Row, wait: &Value, bench: &Bench) -> Option<Vec<String>> {
    let task = wait["task"].as_str()?;
    let proposed = wait["commands"][0].as_str().unwrap_or_else(|| panic!("nothing can be typed about {wait}"));
    let mut words: Vec<String> = proposed.split(' ').skip(1).map(str::to_owned).collect();
    // What others need is named by the proposal, and handed in by the row.
    while words.last().is_some_and(|word| word.ends_with("=VALUE")) {
        words.truncate(words.len() - 2);
    }
    let handed_in = row.outputs.iter().filter(|(of, _)| *of == task);
    let outputs = handed_in.flat_map(|(_, output)| ["--output".to_owned(), (*output).to_owned()]);
    match [words[0].as_str(), words[1].as_str()] {
        ["gate", "approve"] => words.extend(["--rationale", "seen"].map(str::to_owned)),
        ["task", "done"] => words.extend(outputs),
        ["task", "resolve"] => {
            words.pop();
            words.push("complete".to_owned());
            words.extend(outputs);
        }
        ["ask", "answer"] => {
            let offered = words.pop().unwrap();
            let first = offered.split('|').next().unwrap();
            let chosen = row.answers.iter().find(|(of, _)| *of == task).map_or(first, |(_, answer)| *answer);
            words.push(chosen.to_owned());
        }
        ["revise", _] => {
            let change = row.revision.unwrap_or_else(|| panic!("{} can never go on: {wait}", row.file));
            let exported = bench.run(&["export", "yaml", "1"]).out;
            let path = bench.plan(&change(&exported));
            words[2] = path.to_string_lossy().into_owned();
            words.truncate(4);
            words.push("offline".to_owned());
        }
        _ => panic!("{proposed} is not known here"),
    }
    Some(words)
}

macro_rules! examples {
    ($($test:ident: $row:expr;)*) => {
        $(
            #[test]
            fn $test() {
                insta::assert_snapshot!(bring_to_an_end(&$row));
            }
        )*

        #[test]
        fn every_example_is_brought_to_an_end() {
            let rows: &[Row] = &[$($row),*];
            for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let known = rows.iter().any(|row| row.file == name);
                let elsewhere = ["refactor-with-tests.yaml", "price-list.yaml"].contains(&name.as_str());
                assert!(known || elsewhere, "{name} has no row");
            }
        }
    };
}

examples! {
    counting_lines_ends: Row {
        file: "count-lines.yaml",
        files: &[("notes.md", "one\ntwo\n"), ("more.md", "one\n")],
        ..Row::default()
    };
    a_plan_with_a_schedule_ends: Row { file: "open-a-shop.yaml", ..Row::default() };
    tasks_that_models_do_end_without_any_model: Row { file: "by-models.yaml", ..Row::default() };
    debugging_with_hypotheses_ends: Row { file: "debug-500.yaml", ..Row::default() };
    the_flowchart_of_a_debug_plan_ends: Row { file: "debug.mmd", ..Row::default() };
    research_then_implementation_ends: Row {
        file: "feature-x.yaml",
        outputs: &[("research-sources", r#"notes={"citations": ["RFC 9110", "RFC 8470"]}"#)],
        ..Row::default()
    };
    the_text_language_ends: Row {
        file: "fetch-and-rank.gantry",
        outputs: &[
            ("rfc-collect-1", r#"sources=["RFC 9002", "RFC 9114"]"#),
            ("rfc-summarize-1", r#"notes=["loss recovery is described in RFC 9002"]"#),
        ],
        ..Row::default()
    };
    a_plan_with_a_family_of_tasks_ends: Row {
        file: "http3-research.yaml",
        outputs: &[("gaps-identify-1", r#"gaps=["pacing", "migration"]"#)],
        ..Row::default()
    };
    the_minimal_json_ends: Row { file: "plan-build-search.json", ..Row::default() };
    the_flowchart_with_a_subgraph_ends: Row { file: "research-and-debug.mmd", ..Row::default() };
    the_flowchart_of_research_then_build_ends: Row { file: "research-then-build.mmd", ..Row::default() };
    the_plan_of_the_design_ends: Row {
        file: "retries.yaml",
        files: &[("tools/cargo", "#!/bin/sh\necho \"p99_ms=17\" > \"$GANTRY_OUTPUTS\"\n"), ("src/lib.rs", "")],
        outputs: &[("sources", r#"notes={"citations": ["RFC 9110", "RFC 8470"]}"#)],
        ..Row::default()
    };
    a_single_task_ends: Row {
        file: "rfc-collect.yaml",
        outputs: &[("rfc-collect-1", r#"sources=["RFC 9002"]"#)],
        revision: Some(|plan| plan.replace("- network.online == true\n", "- network.online == false\n")),
        ..Row::default()
    };
}
