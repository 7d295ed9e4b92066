//! Input that means harm gets a short refusal, on a small stack, without a panic.
//!
//! A case that does not come to an end is stopped and failed by the test runner (`.config/nextest.toml`).

use gantry_format::{load, node};
use proptest::prelude::*;

use crate::kit::shared;

/// Threads of async runtimes have stacks of this size.
const STACK_BYTES: usize = 2 * 1024 * 1024;

/// Reads on a small stack and returns the code of the first error, or `ok`.
fn code(name: &'static str, bytes: Vec<u8>) -> String {
    let read = move || {
        let loaded = load(name, &bytes);
        assert!(loaded.report.render(false).len() < 100_000, "the report is as hostile as the input");
        let first = loaded.report.errors().next();
        first.map_or("ok", |error| error.code).to_owned()
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(read).expect("a thread starts");
    thread.join().expect("reading does not panic")
}

fn nested(open: &str, inside: &str, close: &str, depth: usize) -> Vec<u8> {
    format!("{}{inside}{}", open.repeat(depth), close.repeat(depth)).into_bytes()
}

fn alias_bomb() -> Vec<u8> {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let inner = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", [inner.as_str(); 9].join(", "));
    }
    bomb.into_bytes()
}

/// Actions and plans inside each other, as deep as a file may nest.
fn maps_in_maps() -> Vec<u8> {
    nested("{id: a, map: {over: [], each: ", "{id: z, run: x}", "}}", 30)
}

fn plans_in_plans(depth: usize) -> Vec<u8> {
    nested("{title: a, tasks: [{id: a, plan: ", "{tasks: [x]}", "}]}", depth)
}

fn tasks_in_tasks() -> Vec<u8> {
    let tasks = nested("{id: a, tasks: [", "x", "]}", 30);
    [b"title: x\ntasks: [".as_slice(), &tasks, b"]"].concat()
}

fn many_values(count: usize) -> Vec<u8> {
    format!("{{\"tasks\": 1, \"metadata\": [{}0]}}", "0,".repeat(count)).into_bytes()
}

/// The most memory that this process ever had, where the system says so.
fn memory_peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1_024)
}

#[test]
fn harmful_input_is_refused_for_what_it_is() {
    let anchored_text = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(1 << 20), "*a,".repeat(1_000));
    let anchors_in_anchors: String = (0..60).map(|level| format!("&n{level} [")).collect();
    let wide = anchors_in_anchors + &"x, ".repeat(50_000) + &"]".repeat(60);
    let cases: Vec<(&str, &'static str, Vec<u8>, &str)> = vec![
        ("alias bomb", "a.yaml", alias_bomb(), "file::too-large"),
        ("one large text a thousand times", "a.yaml", anchored_text.into_bytes(), "file::too-large"),
        ("anchors in anchors", "a.yaml", wide.into_bytes(), "file::too-large"),
        ("brackets, YAML", "a.yaml", nested("[", "", "]", 10_000), "file::too-deep"),
        ("braces, YAML", "a.yaml", nested("{a: ", "", "}", 10_000), "file::too-deep"),
        ("dashes", "a.yaml", "- ".repeat(10_000).into_bytes(), "file::too-deep"),
        ("brackets, JSON", "a.json", nested("[", "", "]", 100_000), "file::too-deep"),
        ("braces, JSON", "a.json", nested("{\"a\":", "1", "}", 100_000), "file::too-deep"),
        (
            "a mapping of mappings, one line each",
            "a.yaml",
            (0..5_000).map(|n| " ".repeat(n) + "a:\n").collect::<String>().into_bytes(),
            "file::too-deep",
        ),
        (
            "tasks in tasks, DSL",
            "a.gantry",
            (0..5_000).map(|n| " ".repeat(n) + "task a\n").collect::<String>().into_bytes(),
            "file::too-deep",
        ),
        ("a file of 65 MiB", "a.yaml", vec![b'a'; node::BYTES_MAX + 1], "file::too-large"),
        ("a file of 65 MiB, JSON", "a.json", vec![b'['; node::BYTES_MAX + 1], "file::too-large"),
        ("a NUL", "a.yaml", b"title: a\0b\ntasks: [x]".to_vec(), "file::control-character"),
        ("an escaped NUL", "a.json", br#"{"title": "a\u0000", "tasks": ["x"]}"#.to_vec(), "file::control-character"),
        ("not UTF-8", "a.yaml", b"title: \xff\xfe\n".to_vec(), "file::not-utf8"),
        ("UTF-16", "a.json", b"\xff\xfe{\0}\0".to_vec(), "file::not-utf8"),
        ("a surrogate in UTF-8", "a.json", b"[\"\xed\xa0\x80\"]".to_vec(), "file::not-utf8"),
        ("half a surrogate pair", "a.json", br#"{"title": "\ud800"}"#.to_vec(), "file::syntax"),
        ("half a surrogate pair, YAML", "a.yaml", b"title: \"\\ud800\"".to_vec(), "file::syntax"),
        ("infinity", "a.yaml", b"title: .inf\ntasks: [x]".to_vec(), "file::number"),
        ("not a number", "a.yaml", b"title: .nan\ntasks: [x]".to_vec(), "file::number"),
        ("a number beyond all bounds", "a.json", br#"{"version": 1e999, "tasks": ["x"]}"#.to_vec(), "file::number"),
        ("maps in maps", "a.yaml", [b"title: x\ntasks: [".as_slice(), &maps_in_maps(), b"]"].concat(), "ok"),
        ("plans in plans", "a.yaml", plans_in_plans(20), "ok"),
        ("plans in plans, one too many", "a.yaml", plans_in_plans(21), "file::too-deep"),
        ("tasks in tasks", "a.yaml", tasks_in_tasks(), "plan::duplicate-id"),
        ("as many values as there may be", "a.json", many_values(node::NODES_MAX - 10), "plan::wrong-type"),
        ("a few values more", "a.json", many_values(node::NODES_MAX + 10), "file::too-large"),
    ];
    for (what, name, bytes, expected) in cases {
        assert_eq!(code(name, bytes), expected, "{what}");
    }
    if let Some(peak) = memory_peak_bytes() {
        assert!(peak < 1 << 30, "reading took {} MiB", peak >> 20);
    }
}

#[test]
fn a_file_that_is_too_large_is_told_how_large_it_may_be() {
    // Whoever reads a pipe has stopped reading before its end.
    let report = load("plan.yaml", &vec![b'a'; node::BYTES_MAX + 1]).report.render(false);
    assert!(report.contains("the file is larger than 64 MiB, which is the most that is read"), "{report}");
}

#[test]
fn the_big_list_of_naughty_strings_can_be_titles() {
    let Some(path) = shared("data/security/naughty/blns.json") else { return };
    let text = std::fs::read_to_string(path).expect("the list can be read");
    let strings: Vec<String> = serde_json::from_str(&text).expect("the list is JSON");
    for string in strings.iter().filter(|string| !string.contains('\0')) {
        let mut plan = gantry_core::plan::Plan { title: string.clone(), ..Default::default() };
        plan.metadata.insert(string.clone(), string.as_str().into());
        for (name, text) in [("a.yaml", gantry_format::to_yaml(&plan)), ("a.json", gantry_format::to_json(&plan))] {
            let loaded = load(name, text.as_bytes());
            assert_eq!(loaded.plan.as_ref(), Some(&plan), "{string:?}\n{text}\n{}", loaded.report.render(false));
        }
    }
}

/// Pieces that plan files are made of, put together without sense.
fn shards() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "title", "tasks", "id", "a", "b", "gate", "map", "each", "plan", "next", "on", "to", "kind", ":", ": ", "- ",
        "\n", "\n  ", "\n    ", "[", "]", "{", "}", ",", "\"", "'", "|", ">", "&x ", "*x", "<<", "!t ", "#", "?", "%",
        "@", "~", "null", "1", "-1", "1e9", ".inf", "5m", "task ", "plan ", "->", "needs:", "run:", "expect:", "\t",
        "\r\n", "é", "\u{feff}", "---", "...", "\\", "\\u", "graph LR", "-->", "subgraph", "end",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for name in ["a", "a.yaml", "a.json", "a.gantry", "a.mmd"] {
            let report = load(name, &bytes).report;
            report.render(true);
            report.to_json();
        }
    }

    #[test]
    fn no_pieces_of_plans_make_reading_panic(text in shards()) {
        for name in ["a", "a.yaml", "a.json", "a.gantry", "a.mmd"] {
            let loaded = load(name, text.as_bytes());
            loaded.report.render(false);
            prop_assert!(loaded.plan.is_some() != loaded.report.has_errors());
        }
    }
}
