//! Every example of the repository is read as its author meant it.
//!
//! Each snapshot shows what is found first and then the plan in its canonical form.

use gantry_format::{Loaded, load, to_json, to_yaml};

use crate::kit::{example, shared};

/// Reads an example and returns what is found and the canonical form, which must be the same plan.
fn read(name: &str) -> String {
    let Loaded { plan, report } = load(name, example(name).as_bytes());
    let plan = plan.unwrap_or_else(|| panic!("{}", report.render(false)));
    let yaml = to_yaml(&plan);
    for (again, text) in [("again.yaml", &yaml), ("again.json", &to_json(&plan))] {
        let again = load(again, text.as_bytes());
        assert_eq!(again.plan.as_ref(), Some(&plan), "{}\n{text}", again.report.render(false));
    }
    let instance = serde_json::from_str(&to_json(&plan)).expect("canonical JSON is JSON");
    let schema = jsonschema::validator_for(&gantry_format::schema()).expect("the schema is a schema");
    let misfits: Vec<String> =
        schema.iter_errors(&instance).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(misfits.is_empty(), "{name} does not fit the schema: {misfits:#?}");
    format!("{}\n{yaml}", report.render(false)).trim_start().to_owned()
}

macro_rules! examples {
    ($($test:ident $file:literal)*) => {$(
        #[test]
        fn $test() {
            insta::assert_snapshot!($file, read($file));
        }
    )*};
}

examples! {
    a_single_task_is_read_as_a_plan_of_one "rfc-collect.yaml"
    a_plan_with_a_family_of_tasks_and_a_list_of_gates_is_read "http3-research.yaml"
    research_then_implementation_is_read "feature-x.yaml"
    hypotheses_and_bare_steps_are_read "debug-500.yaml"
    the_minimal_json_is_read "plan-build-search.json"
    the_text_language_is_read "fetch-and-rank.gantry"
    the_flowchart_of_research_then_build_is_read "research-then-build.mmd"
    the_flowchart_of_a_debug_plan_is_read "debug.mmd"
    the_flowchart_with_a_subgraph_is_read "research-and-debug.mmd"
    the_plan_of_the_design_is_read "retries.yaml"
    a_plan_that_anyone_can_run_is_read "count-lines.yaml"
    a_refactoring_with_tests_is_read "refactor-with-tests.yaml"
    tasks_that_models_do_are_read "by-models.yaml"
    a_plan_with_people_calendars_and_costs_is_read "open-a-shop.yaml"
    a_plan_with_a_server_a_database_and_git_is_read "price-list.yaml"
}

#[test]
fn every_file_among_the_examples_is_read_by_a_test() {
    let folder = format!("{}/../../examples", env!("CARGO_MANIFEST_DIR"));
    let this_file = include_str!("examples.rs");
    for entry in std::fs::read_dir(folder).expect("there are examples") {
        let name = entry.expect("the folder can be read").file_name().to_string_lossy().into_owned();
        assert!(this_file.contains(&format!("{name:?}")), "{name} is read by no test");
    }
}

#[test]
fn the_examples_are_those_of_the_founding_documents() {
    let Some(path) = shared("seeds/001-advanced-planning-system.md") else { return };
    let text = std::fs::read_to_string(path).expect("the document can be read");
    let blocks: Vec<&str> = text
        .split("\n```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.split_once('\n'))
        .map(|(_, block)| block)
        .collect();
    let own = |name: &str| {
        let lines: Vec<String> =
            example(name).lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
        lines.join("\n").trim().to_owned()
    };
    for name in
        ["rfc-collect.yaml", "http3-research.yaml", "feature-x.yaml", "debug-500.yaml", "plan-build-search.json"]
    {
        let own = own(name);
        assert!(blocks.iter().any(|block| block.trim() == own), "{name} is not as it is written there:\n{own}");
    }
}
