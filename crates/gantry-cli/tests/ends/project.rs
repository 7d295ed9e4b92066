//! A small real project: edits are applied, its tests run and fail, recovery edits again, until it is green or given up.

use crate::bench::Bench;

/// The example that everyone can run.
fn example() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/refactor-with-tests.yaml").to_owned()
}

/// The tests of the project, run by hand.
fn tests_pass(bench: &Bench, folder: &str) -> bool {
    let tests = ["-B", "-m", "unittest", "discover", "-s", folder];
    let output = std::process::Command::new("python3").args(tests).current_dir(bench.work("")).output();
    output.unwrap().status.success()
}

#[test]
fn edits_and_failing_tests_take_turns_until_the_tests_are_green() {
    let bench = Bench::new();
    let told = bench.run(&["run", &example()]);
    assert_eq!(told.code, 0, "{told}");
    assert!(tests_pass(&bench, "shop"));
    insta::assert_snapshot!(std::fs::read_to_string(bench.work("shop/price.py")).unwrap(), @r#"
    """Prices, in cents."""

    import math


    def rounded(cents):
        return math.floor(cents + 0.5)


    def with_tax(cents):
        return rounded(cents * 119 / 100)


    def with_discount(cents, percent):
        return rounded(cents * (100 - percent) / 100)
    "#);

    let status = bench.json(&["status", "refactor-with-tests", "--json"]);
    let tasks = status["task_list"].as_array().unwrap().iter();
    let rounds: Vec<String> = tasks.map(|task| format!("{} {}", task["id"], task["state"]).replace('"', "")).collect();
    insta::assert_snapshot!(rounds.join("\n"), @r"
    project completed
    code completed
    spec completed
    extract completed
    choose completed
    edit completed
    tests failed
    choose-r2 completed
    edit-r2 completed
    tests-r2 failed
    choose-r3 completed
    edit-r3 completed
    tests-r3 completed
    ");
    assert_eq!((&status["state"], &status["revision"]), (&"completed".into(), &3.into()));

    let before = bench.snapshot();
    assert_eq!(bench.run(&["resume", "refactor-with-tests"]).code, 0);
    assert_eq!(bench.run(&["replay", "refactor-with-tests"]).code, 0, "the same decisions lead there again");
    assert_eq!(bench.snapshot(), before, "finished work is not done again");
}

#[test]
fn what_the_plan_made_of_nothing_is_nothing_again_when_it_is_taken_back() {
    let bench = Bench::new();
    let before = bench.snapshot();
    let text = std::fs::read_to_string(example()).unwrap();
    // Without the edit that adds the import the tests stay red.
    let hopeless = text.replace("\\n\\nimport math", "\\n\\nimport maths");
    assert_ne!(hopeless, text);
    let told = bench.run(&["run", bench.plan(&hopeless).to_str().unwrap()]);
    assert_eq!(told.code, 3, "{told}");
    assert!(told.out.contains("`tests-r4` failed: exit code 1"), "{told}");
    assert!(bench.work("shop/price.py").exists());
    let told = bench.run(&["cancel", "refactor-with-tests", "--undo"]);
    assert_eq!(told.code, 0, "{told}");
    assert_eq!(bench.snapshot(), before);
}

/// A project with files of several kinds and modes.
fn old_project(bench: &Bench) {
    bench.write("shop/price.py", "def with_tax(cents):\n    return int(cents * 119 / 100)\n", 0o640);
    bench.write(
        "shop/test_price.py",
        "import unittest\nfrom price import with_tax\n\n\nclass Prices(unittest.TestCase):\n    def test_tax(self):\n        self.assertEqual(with_tax(50), 61)\n",
        0o644,
    );
    bench.write("bin/check", "#!/bin/sh\nexit 0\n", 0o755);
    bench.write("notes/old.txt", "to be moved, and the last line has no end", 0o444);
    bench.write("notes/secret.txt", "to be deleted\n", 0o600);
    bench.write("notes/picture.bin", [0, 159, 146, 150, 255, 0, 10], 0o604);
    std::os::unix::fs::symlink("../bin/check", bench.work("notes/link")).unwrap();
}

/// Changes everything that can be changed, then runs tests that no edit can satisfy.
const HOPELESS: &str = r#"
  - {id: start, checkpoint: start}
  - id: change
    depends_on: [start]
    tasks:
      - id: edit
        tool: {name: files.edit, args: {path: shop/price.py, search: "int(", replace: "round("}}
        undo: restore
      - id: patch
        depends_on: [edit]
        tool:
          name: files.edit
          args: {diff: "--- a/shop/price.py\n+++ b/shop/price.py\n@@ -1,2 +1,3 @@\n+# Prices, in cents.\n def with_tax(cents):\n     return round(cents * 119 / 100)\n"}
        undo: restore
      - {id: overwrite, tool: {name: files.write, args: {path: bin/check, content: "exit 1\n", executable: false}}, undo: restore}
      - {id: picture, tool: {name: files.write, args: {path: notes/picture.bin, base64: "AAEC"}}, undo: restore}
      - {id: new, tool: {name: files.write, args: {path: a/b/c/new.txt, content: new, executable: true}}, undo: restore}
      - {id: delete, tool: {name: files.delete, args: {path: notes/secret.txt}}, undo: restore}
      - {id: unlink, tool: {name: files.delete, args: {path: notes/link}}, undo: restore}
      - {id: move, tool: {name: files.move, args: {from: notes/old.txt, to: moved/deep/new.txt}}, undo: restore}
      - id: tests
        depends_on: [patch, overwrite, picture, new, delete, unlink, move]
        run: python3 -B -m unittest discover -s shop
"#;

/// A way to give up.
#[derive(Default)]
struct Way {
    /// More about the plan.
    rules: &'static str,
    /// More about the task that changes everything.
    change: &'static str,
    /// More tasks.
    more: &'static str,
    /// What a person says afterwards.
    then: &'static [&'static str],
}

/// Gives the hopeless plan up in this way: the old project must be there again, byte for byte and mode for mode.
fn is_restored(way: &Way) -> String {
    let bench = Bench::new();
    old_project(&bench);
    let before = bench.snapshot();
    let tasks = HOPELESS.replace("- id: change\n", &format!("- id: change\n{}", way.change));
    let plan = format!("id: hopeless\ntitle: Hopeless\n{}\ntasks:{tasks}{}", way.rules, way.more);
    let told = bench.run(&["run", bench.plan(&plan).to_str().unwrap()]);
    assert_eq!(told.code, 3, "{told}");
    if !way.then.is_empty() {
        assert_ne!(bench.snapshot(), before, "nothing is taken back unasked");
        let told = bench.run(way.then);
        assert_eq!(told.code, 0, "{told}");
    }
    assert_eq!(bench.snapshot(), before, "{told}");
    assert_eq!(bench.run(&["replay", "hopeless"]).code, 0);
    bench.json(&["status", "hopeless", "--json"])["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_policy_to_undo_restores_the_project_when_its_tests_fail() {
    let way = Way { rules: "policy: {recovery: {logic: [undo]}}", ..Way::default() };
    assert_eq!(is_restored(&way), "failed");
}

#[test]
fn a_route_to_an_undo_restores_the_project_when_its_tests_fail() {
    let way = Way {
        rules: "done_when: [\"tasks.tests.exit_code == 0\"]",
        change: "    next: [{on: failure, to: take-back}]\n",
        more: "  - {id: take-back, undo_to: start}\n",
        ..Way::default()
    };
    assert_eq!(is_restored(&way), "failed");
}

#[test]
fn cancelling_a_failed_plan_with_undo_restores_the_project() {
    let way = Way { then: &["cancel", "hopeless", "--undo"], ..Way::default() };
    assert_eq!(is_restored(&way), "abandoned");
}
