//! Every other spelling means the same as the canonical one.

use crate::kit::{seen, sound};
use gantry_format::{load, to_yaml};

#[test]
fn other_spellings_read_as_the_canonical_ones() {
    let rows = [
        ("plan_id: p\ntasks: [x]", "id: p\ntasks: [x]"),
        ("planId: p\nnodes: [x]", "id: p\ntasks: [x]"),
        ("steps: [x]", "tasks: [x]"),
        ("policies: {requireGateForProd: true}\ntasks: [x]", "policy: {require_gate_for_prod: true}\ntasks: [x]"),
        ("state: pending\ntasks: [x]", "tasks: [x]"),
        ("createdAt: 2025-10-30\ntasks: [x]", "created_at: 2025-10-30T00:00:00Z\ntasks: [x]"),
        ("memory: {keys: [a.b]}\ntasks: [x]", "memory: [a.b]\ntasks: [x]"),
        ("tasks: [{id: a}, {id: b, needs: a}]", "tasks: [{id: a}, {id: b, depends_on: [a]}]"),
        ("tasks: [{id: a}, {id: b, waitingForId: [a]}]", "tasks: [{id: a}, {id: b, depends_on: [a]}]"),
        ("tasks: [{id: a}, {id: b, waiting_for: a}]", "tasks: [{id: a}, {id: b, depends_on: [a]}]"),
        ("tasks: [{id: a}, {id: b, dependsOn: [a]}]", "tasks: [{id: a}, {id: b, depends_on: [a]}]"),
        ("tasks: [{id: 1}, {id: 2, needs: 1}]", "tasks: [{id: '1'}, {id: '2', depends_on: ['1']}]"),
        ("tasks: [{id: a, subplan: [{id: b}]}]", "tasks: [{id: a}, {id: b, parent: a}]"),
        ("tasks: [{id: a, subtasks: [do it]}]", "tasks: [{id: a}, {id: a-1, parent: a, title: do it, command: do it}]"),
        ("tasks: [{id: a, budget: {timeMin: 30, costUSD: 5}}]", "tasks: [{id: a, budget: {time: 30m, cost_usd: 5}}]"),
        ("tasks: [{id: a, budget: {timeMin: 0.5}}]", "tasks: [{id: a, budget: {time: 30s}}]"),
        ("tasks: [{id: a, outputs: [kb/q1.md]}]", "tasks: [{id: a, outputs: {q1: kb/q1.md}}]"),
        ("tasks: [{id: a, kind: gate, checks: [ok?]}]", "tasks: [{id: a, kind: gate, gate: {checks: [ok?]}}]"),
        ("tasks: [{id: a, kind: gate}]", "tasks: [{id: a, kind: gate, gate: {}}]"),
        ("tasks: [{id: a, gate: }]", "tasks: [{id: a, gate: {}}]"),
        ("tasks: [{id: a, kind: debug, checks: [ok?]}]", "tasks: [{id: a, kind: debug, success_criteria: [ok?]}]"),
        ("tasks: [{id: a, expect: [ok?]}]", "tasks: [{id: a, success_criteria: [ok?]}]"),
        ("tasks: [{id: a, commands: ['f(1) -> y', g(y)]}]", "tasks: [{id: a, command: 'f(1) -> y; g(y)'}]"),
        (
            "tasks: [{id: a, using: web.fetch, input: {q: 1}}]",
            "tasks: [{id: a, capabilities: [web.fetch], inputs: {q: 1}}]",
        ),
        ("tasks: [{id: a, rollback: {run: x}}]", "tasks: [{id: a, undo: {run: x}}]"),
        ("tasks: [{id: a, action: {run: x}}]", "tasks: [{id: a, run: x}]"),
        ("tasks: [{id: a, depends_on: , labels: null}]", "tasks: [{id: a}]"),
        ("tasks: [{id: a, run: x}]\ngates: []", "tasks: [{id: a, run: x}]"),
        (
            "tasks: [{id: a, outputs: {hits: h.json}}, {id: dive-*, kind: research, needs: a}, {id: z, needs: [dive-*]}]",
            "tasks: [{id: a, outputs: {hits: h.json}}, {id: dive, kind: research, depends_on: [a], map: {over: tasks.a.hits}}, {id: z, depends_on: [dive]}]",
        ),
        (
            "tasks: [{id: a}, {id: dive-*, needs: a, run: open}]",
            "tasks: [{id: a}, {id: dive, depends_on: [a], map: {over: tasks.a, each: {id: dive, run: open}}}]",
        ),
        (
            "tasks: [{id: g, kind: gate, checks: [one]}]\ngates: [{id: g, checks: [two], approvals: 2}]",
            "tasks: [{id: g, kind: gate, gate: {checks: [one, two], approvals: 2}}]",
        ),
    ];
    for (written, canonical) in rows {
        assert_eq!(to_yaml(&sound("plan.yaml", written)), to_yaml(&sound("plan.yaml", canonical)), "{written}");
    }
}

#[test]
fn generated_ids_do_not_repeat_ids_of_the_file() {
    let plan = sound("plan.yaml", "tasks: [{id: a, tasks: [one, {id: a-1}, two]}, three, {id: task-2}]");
    let ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["a", "a-2", "a-1", "a-3", "task-3", "task-2"]);
}

#[test]
fn alternatives_in_a_sketch_are_read_as_the_first_with_a_warning() {
    insta::assert_snapshot!(seen("state: pending|running\ntasks: [{id: a, kind: research|debug, status: pending|done}]"), @"
    warning[plan::placeholder]: this lists alternatives; `pending` is taken
     --> plan.yaml:1:8
      |
    1 | state: pending|running
      |        ^^^^^^^^^^^^^^^ several words
      |
      = help: write the one that is meant

    warning[plan::placeholder]: this lists alternatives; `research` is taken
     --> plan.yaml:2:23
      |
    2 | tasks: [{id: a, kind: research|debug, status: pending|done}]
      |                       ^^^^^^^^^^^^^^ several words
      |
      = help: write the one that is meant

    warning[plan::placeholder]: this lists alternatives; `pending` is taken
     --> plan.yaml:2:47
      |
    2 | tasks: [{id: a, kind: research|debug, status: pending|done}]
      |                                               ^^^^^^^^^^^^ several words
      |
      = help: write the one that is meant
    ");
}

#[test]
fn the_format_is_told_by_the_ending_else_by_the_beginning() {
    let cases = [
        ("plan.yml", "title: t\ntasks: [x]"),
        ("plan.JSON", r#"{"title": "t", "tasks": ["x"]}"#),
        ("plan", r#"  {"title": "t", "tasks": ["x"]}"#),
        ("plan", "\u{feff}title: t\ntasks: [x]"),
        ("plan", "plan \"t\"\ntask x"),
        ("-", "task x \"t\""),
        ("plan.txt", "flowchart LR\n  a --> b"),
        ("stdin", "graph TD\n  a --> b"),
        ("plan.mermaid", "graph TD\n  a --> b"),
    ];
    for (name, text) in cases {
        let loaded = load(name, text.as_bytes());
        assert!(loaded.plan.is_some(), "{name} {text:?}\n{}", loaded.report.render(false));
    }
}
