//! Every finding has a code that stays, and every code is shown by a test.

use std::collections::BTreeSet;
use std::path::Path;

use gantry_format::load;

/// What is found in a file, by code.
fn codes(name: &str, text: &str) -> Vec<&'static str> {
    load(name, text.as_bytes()).report.diagnostics.iter().map(|finding| finding.code).collect()
}

#[test]
fn what_is_seldom_wrong_has_a_code_too() {
    let loops = (0..1_001).map(|n| format!("  - {{id: t{n}, next: [{{on: failure, to: t{n}, max: 1}}]}}\n"));
    let many_loops = format!("tasks:\n{}", loops.collect::<String>());
    let cases = [
        ("", "file::empty"),
        ("? [a, b]\n: 1\n", "file::key"),
        ("<<: 3\ntasks: [x]\n", "file::merge"),
        ("tasks: []\n", "plan::no-tasks"),
        ("capabilities: [{name: web}, {name: web}]\ntasks: [x]\n", "plan::duplicate-capability"),
        ("hypotheses: [H1, H1]\ntasks: [x]\n", "plan::duplicate-hypothesis"),
        ("tasks: [{id: list, run: x}, {id: all-*, needs: [list], tasks: [x]}]\n", "plan::family-with-tasks"),
        ("gates: [{id: g}, {id: g}]\ntasks: [{id: g, kind: gate}]\n", "plan::gate-twice"),
        ("tasks: [{id: a, tasks: [{id: b, next: [{on: success, to: a}]}]}]\n", "plan::kin-route"),
        ("tasks: [{id: a, map: {over: [1], each: {run: x, tasks: [y]}}}]\n", "plan::map-of-many"),
        ("tasks: [{id: a, tool: files.read}]\n", "plan::missing-argument"),
        ("tasks: [{id: a, tool: {name: model, args: {instruction: Go.}}}]\n", "plan::not-a-tool"),
        ("tasks: [{id: a, agent: {goal: Go., tools: [shell, agent]}}]\n", "plan::not-a-tool"),
        ("tasks: [{id: a, ask: {question: which?, answer_within: 2h}}]\n", "plan::no-default"),
        ("tasks: [{id: a, decide: {options: [{outcome: b, when: env.ci}]}}]\n", "plan::no-otherwise"),
        ("tasks: [{id: a, model: {instruction: x}, outputs: {y: y.md}}]\n", "plan::no-such-part"),
        ("schedule: {people: [{id: ana}, {id: ana}]}\ntasks: [{id: a, run: x}]\n", "plan::schedule-duplicate"),
        (
            "schedule: {calendars: [{id: never, week: {}}], tasks: {a: {estimate: 1d, calendar: never}}}\ntasks: [{id: a, run: x}]\n",
            "plan::schedule-no-time",
        ),
        (many_loops.as_str(), "plan::too-many-loops"),
    ];
    for (text, code) in cases {
        let found = codes("plan.yaml", text);
        assert!(found.contains(&code), "{code} is not among {found:?}");
    }
    assert!(codes("plan.mmd", "flowchart LR\n  a --- b\n  click a href \"x\"\n").contains(&"plan::chart-loss"));
}

#[test]
fn every_code_is_shown_by_a_test() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text_of = |folder: &str| {
        let of = |name: &str| texts(&crates.join(name).join(folder)).concat();
        of("gantry-core") + &of("gantry-format")
    };
    let (sources, tests) = (text_of("src"), text_of("tests"));
    let is_code = |word: &&str| {
        let name = ["plan::", "file::", "life::"].iter().find_map(|sort| word.strip_prefix(sort));
        name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
    };
    let codes: BTreeSet<&str> = sources.split('"').filter(is_code).collect();
    assert!(codes.len() > 100, "the codes are read from the sources: {codes:?}");
    let unseen: Vec<&&str> = codes.iter().filter(|code| !tests.contains(**code)).collect();
    assert!(unseen.is_empty(), "no test shows {unseen:?}");
}

/// The texts of all sources and snapshots below a folder.
fn texts(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(texts(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "snap") {
            all.push(std::fs::read_to_string(&path).expect("a text"));
        }
    }
    all
}
