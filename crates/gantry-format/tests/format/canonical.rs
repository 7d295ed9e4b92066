//! The canonical form, and the published schema.

use crate::kit::sound;
use gantry_format::{to_json, to_yaml};

#[test]
fn the_checked_in_schema_is_up_to_date() {
    let path = format!("{}/../../schema/plan.schema.json", env!("CARGO_MANIFEST_DIR"));
    let current = format!("{:#}\n", gantry_format::schema());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &current).expect("the schema can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == current, "{path} is old; run this test once with UPDATE_SCHEMA=1");
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let schema = jsonschema::validator_for(&gantry_format::schema()).expect("the schema is a schema");
    let refused = [
        r#"{"tasks": [{"title": "no id"}]}"#,
        r#"{"tasks": [{"id": "a", "depend_on": ["b"]}]}"#,
        r#"{"tasks": [{"id": "a", "run": "x", "agent": "y"}]}"#,
        r#"{"tasks": [{"id": "a b"}]}"#,
        r#"{"tasks": [{"id": "a", "tasks": [{"id": "b", "optional": "yes"}]}]}"#,
        r#"{"titel": "x", "tasks": []}"#,
    ];
    for text in refused {
        let instance = serde_json::from_str(text).expect("the case is JSON");
        assert!(!schema.is_valid(&instance), "{text}");
        assert!(gantry_format::load("plan.json", text.as_bytes()).report.has_errors(), "{text}");
    }
}

#[test]
fn the_schema_accepts_what_the_documentation_teaches() {
    let schema = jsonschema::validator_for(&gantry_format::schema()).expect("the schema is a schema");
    let taught = [
        r#"{"tasks": [{"id": "a", "run": "x", "undo": {"run": "y"}}]}"#,
        r#"{"tasks": [{"id": "a", "run": "x", "undo": {"action": {"run": "y"}}}]}"#,
        r#"{"tasks": [{"id": "a", "run": "x", "undo": "restore"}]}"#,
        r#"{"tasks": [{"id": "a", "map": {"over": [1], "each": {"run": "x"}}}]}"#,
        r#"{"tasks": [{"id": "a", "map": {"over": [1], "each": {"id": "b", "run": "x"}}}]}"#,
    ];
    for text in taught {
        let instance = serde_json::from_str(text).expect("the case is JSON");
        assert!(schema.is_valid(&instance), "{text}");
        assert!(!gantry_format::load("plan.json", text.as_bytes()).report.has_errors(), "{text}");
    }
    let refused = serde_json::json!({"tasks": [{"id": "a", "run": "x", "undo": {"rum": "y"}}]});
    assert!(!schema.is_valid(&refused));
}

/// The others keep the spellings of the documents that they come from; what they are written as fits the schema, too
/// (`examples.rs`).
#[test]
fn files_in_the_spelling_of_the_documentation_fit_the_schema_as_they_stand() {
    let schema = jsonschema::validator_for(&gantry_format::schema()).expect("the schema is a schema");
    let files = [
        "examples/by-models.yaml",
        "examples/count-lines.yaml",
        "examples/open-a-shop.yaml",
        "examples/refactor-with-tests.yaml",
        "examples/retries.yaml",
        "templates/execution-plan/plan.yaml",
    ];
    for file in files {
        let text =
            std::fs::read_to_string(format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"))).expect("it is there");
        let plan: serde_json::Value = serde_saphyr::from_str(&text).expect("it is YAML");
        let faults: Vec<String> =
            schema.iter_errors(&plan).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
        assert!(faults.is_empty(), "{file}: {faults:#?}");
    }
}

#[test]
fn actions_are_fields_of_their_task_and_tasks_stand_inside_their_parent() {
    let plan = sound(
        "plan.yaml",
        "
tasks:
  - {id: part-1, parent: whole, action: {run: make}}
  - {id: whole, title: The whole}
  - {id: part-2, parent: whole, undo: {run: make clean}, alternates: [{agent: try it}]}
",
    );
    insta::assert_snapshot!(to_yaml(&plan), @"
    tasks:
      - id: whole
        title: The whole
        tasks:
          - id: part-1
            run: make
          - id: part-2
            undo:
              run: make clean
            alternates:
              - agent: try it
    ");
}

#[test]
fn tasks_inside_a_map_or_a_nested_plan_have_the_same_form() {
    let plan = sound(
        "plan.yaml",
        "
tasks:
  - id: search
    command: search('terms') -> hits
  - id: dive
    depends_on: [search]
    map: {over: tasks.search.hits, max: 9, each: {run: open, needs: [], kind: research}}
  - id: inner
    plan: {title: Inner, nodes: [{id: a, run: make}, one more thing]}
  - id: day
    plan: office-day
",
    );
    insta::assert_snapshot!(to_yaml(&plan), @"
    tasks:
      - id: search
        command: search('terms') -> hits
      - id: dive
        map:
          over: tasks.search.hits
          max: 9
          each:
            id: dive
            kind: research
            run: open
        depends_on: [search]
      - id: inner
        plan:
          plan:
            title: Inner
            tasks:
              - id: a
                run: make
              - id: task-2
                title: one more thing
                command: one more thing
      - id: day
        plan:
          template: office-day
    ");
    assert_eq!(sound("plan.json", &to_json(&plan)), plan);
}

#[test]
fn a_tree_deeper_than_files_may_nest_is_written_flat_below() {
    let tasks: String = (0..50)
        .map(|level| match level {
            0 => "  - {id: t0}\n".to_owned(),
            _ => {
                format!("  - {{id: t{level}, parent: t{}}}\n  - {{id: s{level}, parent: t{}}}\n", level - 1, level - 1)
            }
        })
        .collect();
    let plan = sound("plan.yaml", &format!("title: Deep\ntasks:\n{tasks}"));
    assert_eq!(plan.tasks.len(), 99);
    assert_eq!(sound("plan.yaml", &to_yaml(&plan)), plan);
    assert_eq!(sound("plan.json", &to_json(&plan)), plan);
}

#[test]
fn texts_are_quoted_exactly_when_a_reader_could_mistake_them() {
    let texts = [
        "plain words",
        "HTTP/3 (draft)",
        "a->b",
        "10 apples",
        "2h",
        "user@example.org",
        "no",
        "Off",
        "~",
        "null",
        "010",
        "1e3",
        "0x1F",
        "1:30",
        "2025-10-30",
        ".5",
        "-1",
        "- dash",
        "a: b",
        "a:",
        "a #b",
        "#a",
        "*a",
        "&a",
        "!a",
        "[a]",
        "{a}",
        "a, b",
        "say \"yes\"",
        "it's",
        "",
        " lead",
        "trail ",
        "tab\there",
        "nel\u{85}",
        "bell\u{7}",
        "two\nlines",
        "ends\n",
        "more\n\n",
        "\nstarts",
        "trail \nx",
        "...",
        "---",
        "=",
        "<<",
        "été",
        "日本",
    ];
    let titles: serde_json::Value = texts
        .iter()
        .enumerate()
        .map(|(n, text)| (format!("k{n:02}"), (*text).into()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let plan = sound("plan.json", &serde_json::json!({"metadata": titles, "tasks": ["one"]}).to_string());
    let yaml = to_yaml(&plan);
    insta::assert_snapshot!(yaml, @r##"
    metadata:
      k00: plain words
      k01: HTTP/3 (draft)
      k02: a->b
      k03: 10 apples
      k04: 2h
      k05: user@example.org
      k06: "no"
      k07: "Off"
      k08: "~"
      k09: "null"
      k10: "010"
      k11: "1e3"
      k12: "0x1F"
      k13: "1:30"
      k14: "2025-10-30"
      k15: ".5"
      k16: "-1"
      k17: "- dash"
      k18: "a: b"
      k19: "a:"
      k20: "a #b"
      k21: "#a"
      k22: "*a"
      k23: "&a"
      k24: "!a"
      k25: "[a]"
      k26: "{a}"
      k27: "a, b"
      k28: 'say "yes"'
      k29: it's
      k30: ""
      k31: " lead"
      k32: "trail "
      k33: "tab\there"
      k34: "nel\u0085"
      k35: "bell\u0007"
      k36: |-
        two
        lines
      k37: |
        ends
      k38: |+
        more

      k39: "\nstarts"
      k40: "trail \nx"
      k41: "..."
      k42: "---"
      k43: "="
      k44: "<<"
      k45: été
      k46: 日本
    tasks:
      - id: task-1
        title: one
        command: one
    "##);
    assert_eq!(sound("plan.yaml", &yaml), plan);
}
