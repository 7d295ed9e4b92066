//! What people and programs see of the command line.

#![allow(clippy::unwrap_used)] // a test may

use std::io::Write;
use std::process::{Command, Stdio};

/// Runs `gantry` at the root of the repository and draws everything that it says.
fn gantry(args: &[&str], stdin: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gantry"))
        .args(args)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env("COLUMNS", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let talk = if err.is_empty() { String::new() } else { format!("--- talk\n{err}") };
    format!("{out}{talk}[exit {}]", output.status.code().unwrap())
}

#[test]
fn help_shows_what_can_be_done() {
    insta::assert_snapshot!(gantry(&["--help"], ""), @"
    Turns an objective into a plan that can be trusted, and carries it out.

    Plan files are YAML, JSON, the text form (.gantry) or Mermaid flowcharts (.mmd). Data goes to
    standard output, talk to standard error.

    Exit codes: 0 done, 1 a fault of this program or its surroundings, 2 bad input, 3 the plan failed, 4
    it waits for a person, 5 it refused the request.

    Usage: gantry <COMMAND>

    Commands:
      plan         Make a plan from a sentence
      validate     Check plan files and say everything that is wrong, with file, line and column
      run          Carry out a plan file, durably
      resume       Go on with plans from wherever they stand
      status       Show where a plan stands, what it waits for, and what to type next
      list         List plans, the newest first
      watch        Watch one plan, or all of them, on the whole screen
      log          Show what happened to a plan, in plain words
      new          Write a commented plan file to begin with
      schedule     Compute when everything happens, what it costs and how sure that is
      report       Write a report about a plan: one page that people can read, check and take away
      export       Write a plan for programs, as a plan file, as a flowchart, or with its whole life as
                   a zip file
      diff         Show what changed between two plan files or plans: dates, cost, risks and scope, then
                   task by task and field by field
      pause        Start nothing new in a plan; what runs is let finish
      cancel       Give up a plan: stop everything at once
      undo         Take back what a plan did, the last thing first, all of it or down to a checkpoint
      retry        Do a task again that has ended, and whatever that changes behind it
      gate         See what waits for a decision, and decide
      ask          See what people are asked, and answer
      task         See one task with everything known about it, and do what a person can do for it
      artifact     See what tasks made and is kept, and get it
      edit         Change what a finished task gave; exactly what works on it is done again
      revise       Change a plan into what a file says, or in words, as a new revision, while it runs or
                   after it ended
      decompose    Break a plan, or one of its tasks, down into smaller tasks
      chat         Talk about plans in your own words: make one, list them, break tasks down, move them,
                   see where they stand
      bulk         Make many plans from a list of topics
      score        Measure how good plans are
      replan       Show what would bring a late or too dear plan back, each with its price, and take one
      fork         Begin another life of a plan from any point of its journal; the plan itself stays as
                   it is
      replay       Decide a plan's whole life again from what was recorded, and compare
      audit        Check that a plan's record is what was written, and show who decided what, when and
                   why
      restore      Bring the working folder of a plan back to a checkpoint, byte for byte
      import       Take in a plan with its whole life from a zip file that `gantry export --format zip`
                   made
      search       Find plans, tasks and artifacts by words
      pin          Keep a plan from being forgotten
      unpin        Let a pinned plan be forgotten
      forget       Remove a plan with everything that belongs to it
      db           Look after the file that keeps all plans
      model        See which models answer for which role, try them, and find out what is missing
      prompt       See which prompts there are, what they say, and how they fare
      template     See, copy and check the templates that `gantry plan` works by
      serve        Serve the web pages, the API and live streams, and work on plans
      access       Say who may use the server, and what they may do
      doctor       Check that this machine has what plans need, and say how to fix what it lacks
      completions  Print a script that completes commands and options in a shell
      man          Print the manual page, or that of a command
      schema       Print the JSON Schema of plan files, for editors and other programs
      bench        Measure how fast plans are carried out here, beside what this machine can do at best
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version
    [exit 0]
    ");
    insta::assert_snapshot!(gantry(&["validate", "--help"], ""), @"
    Check plan files and say everything that is wrong, with file, line and column

    Usage: gantry validate [OPTIONS] <FILES>...

    Arguments:
      <FILES>...  Plan files; `-` is standard input

    Options:
          --json    Print `{ok, errors: [{code, message, file, line, column, hint}], warnings: […],
                    notes: […]}`
          --strict  Let warnings count as errors
      -h, --help    Print help

    Examples:
      gantry validate plan.yaml
      gantry validate examples/* --json
      cat plan.yaml | gantry validate -
    [exit 0]
    ");
}

#[test]
fn a_sound_plan_is_said_to_be_sound() {
    insta::assert_snapshot!(gantry(&["validate", "examples/feature-x.yaml", "examples/debug-500.yaml"], ""), @r#"
    examples/feature-x.yaml: ok, 5 tasks, 1 warning
    examples/debug-500.yaml: ok, 10 tasks
    --- talk
    warning[plan::no-capability]: there is no capability `search`, `fetch`, `summarize` here: task `research-sources` will ask for help
     --> examples/feature-x.yaml:7:7
      |
    7 |       search(query="idempotent HTTP methods retries") -> links;
      |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: there are agent, checkpoint, decide, files.delete, files.edit, files.move, files.read, files.write, git.branch, git.commit, git.diff, git.status, git.switch, git.tag, http.download, http.get, http.request, model, noop, plan.decompose, plan.forecast, plan.read, plan.report, plan.weave, run, shell, sql.execute, sql.query

    [exit 0]
    "#);
}

#[test]
fn a_wrong_plan_is_shown_like_a_compiler_would() {
    let plan = "title: Ship it\ntasks:\n  - id: build\n    run: make\n  - id: ship\n    depends_on: [biuld]\n    timeout: -5m\n";
    insta::assert_snapshot!(gantry(&["validate", "-"], plan), @"
    --- talk
    error[plan::unknown-dependency]: task `ship` depends on `biuld`, which does not exist
     --> <stdin>:6:18
      |
    6 |     depends_on: [biuld]
      |                  ^^^^^
      |
      = help: did you mean `build`?

    error[plan::invalid-value]: `timeout`: `-5m` is negative; a duration is at least 0s
     --> <stdin>:7:14
      |
    7 |     timeout: -5m
      |              ^^^

    2 errors and 0 warnings in 1 file
    [exit 2]
    ");
}

#[test]
fn programs_get_json() {
    let plan = "title: Ship it\ntasks:\n  - id: ship\n    depends_on: [build]\n";
    insta::assert_snapshot!(gantry(&["validate", "-", "--json"], plan), @r#"
    {
      "ok": false,
      "errors": [
        {
          "code": "plan::unknown-dependency",
          "message": "task `ship` depends on `build`, which does not exist",
          "file": "<stdin>",
          "line": 4,
          "column": 18,
          "hint": null
        }
      ],
      "warnings": [],
      "notes": []
    }
    [exit 2]
    "#);
    insta::assert_snapshot!(gantry(&["validate", "examples/feature-x.yaml", "--json"], ""), @r#"
    {
      "ok": true,
      "errors": [],
      "warnings": [
        {
          "code": "plan::no-capability",
          "message": "there is no capability `search`, `fetch`, `summarize` here: task `research-sources` will ask for help",
          "file": "examples/feature-x.yaml",
          "line": 7,
          "column": 7,
          "hint": "there are agent, checkpoint, decide, files.delete, files.edit, files.move, files.read, files.write, git.branch, git.commit, git.diff, git.status, git.switch, git.tag, http.download, http.get, http.request, model, noop, plan.decompose, plan.forecast, plan.read, plan.report, plan.weave, run, shell, sql.execute, sql.query"
        }
      ],
      "notes": []
    }
    [exit 0]
    "#);
}

#[test]
fn strict_lets_warnings_count() {
    let plan = "title: Retries\ndone_when: [\"bench.p99_ms < 250\"]\ntasks: [{id: tests, run: cargo test}]\n";
    insta::assert_snapshot!(gantry(&["validate", "--strict", "-"], plan), @r#"
    <stdin>: 1 task, 1 warning
    --- talk
    warning[plan::unknown-name]: `bench` in `bench.p99_ms < 250` is not a known name
     --> <stdin>:2:13
      |
    2 | done_when: ["bench.p99_ms < 250"]
      |             ^^^^^^^^^^^^^^^^^^^^
      |
      = help: use one of the task's inputs or outputs, a task id, or `inputs`, `outputs`, `tasks`, `artifacts`, `memory`, `env`

    0 errors and 1 warning in 1 file
    [exit 2]
    "#);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    insta::assert_snapshot!(gantry(&["validate", "nowhere.yaml", "--json"], ""), @r#"
    {
      "ok": false,
      "errors": [
        {
          "code": "file::unreadable",
          "message": "`nowhere.yaml` cannot be read: there is no such file",
          "file": "nowhere.yaml",
          "line": null,
          "column": null,
          "hint": "name a plan file, or `-` for standard input"
        }
      ],
      "warnings": [],
      "notes": []
    }
    [exit 2]
    "#);
    insta::assert_snapshot!(gantry(&["validate", "nowhere.yaml"], ""), @"
    --- talk
    error: `nowhere.yaml` cannot be read: there is no such file

    hint: name a plan file, or `-` for standard input
    1 error and 0 warnings in 1 file
    [exit 2]
    ");
    insta::assert_snapshot!(gantry(&["export", "yaml", "examples"], ""), @"
    --- talk
    error: `examples` cannot be read: it is a folder, not a file

    hint: name a plan file, or `-` for standard input
    [exit 2]
    ");
    insta::assert_snapshot!(gantry(&["exprot"], ""), @"
    --- talk
    error: unrecognized subcommand 'exprot'

      tip: some similar subcommands exist: 'prompt', 'report', 'export'

    Usage: gantry <COMMAND>

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn a_plan_can_be_written_in_every_form() {
    insta::assert_snapshot!(gantry(&["export", "mermaid", "examples/retries.yaml"], ""), @r#"
    flowchart LR
      sources["sources"]
      approval{{"approval"}}
      implement["implement"]
      tests["tests"]
      bench["bench"]
      sources --> approval
      approval --> implement
      implement --> tests
      tests -. failure (max 3) .-> implement
      tests --> bench
    [exit 0]
    "#);
    insta::assert_snapshot!(gantry(&["export", "yaml", "examples/plan-build-search.json"], ""), @"
    id: plan-build-search
    policy:
      require_gate_for_prod: true
    version: 3
    tasks:
      - id: intake-01
        title: Intake objective
        outputs:
          intake: intake.md
      - id: research-01
        title: Research question Q1
        depends_on: [intake-01]
        outputs:
          q1: .openagent/cache/q1.json
          q1_md: kb/q1.md
        budget:
          time: 30m
          cost_usd: 5
    [exit 0]
    ");
    assert!(gantry(&["export", "json", "examples/feature-x.yaml"], "").contains("\"depends_on\""));
}

#[test]
fn the_diff_of_two_files_is_shown() {
    let changed = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/feature-x.yaml"))
        .unwrap()
        .replace("kind: analyze", "kind: synthesize\n    timeout: 2h");
    insta::assert_snapshot!(gantry(&["diff", "examples/feature-x.yaml", "-"], &changed), @r#"
    ~ design-options: kind "analyze" -> "synthesize"
    ~ design-options: timeout (not set) -> "2h"
    [exit 0]
    "#);
    assert!(gantry(&["diff", "--json", "examples/feature-x.yaml", "-"], &changed).contains("\"changed\""));
    insta::assert_snapshot!(gantry(&["diff", "examples/feature-x.yaml", "examples/feature-x.yaml"], ""), @"
    --- talk
    nothing changed
    [exit 0]
    ");
}

#[test]
fn the_schema_is_the_one_that_is_checked_in() {
    let checked_in = include_str!("../../../schema/plan.schema.json");
    assert_eq!(gantry(&["schema"], "").strip_suffix("[exit 0]").unwrap(), checked_in);
}
