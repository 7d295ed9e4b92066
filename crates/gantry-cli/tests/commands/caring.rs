//! The record, the machine, the shell.

use crate::kit::{FILES, Kit, RELEASE};

#[test]
fn a_copy_of_the_record_opens_while_a_plan_is_being_worked_on() {
    let kit = Kit::new();
    let running = kit.start_release();
    assert_eq!(kit.code("db backup copy.db"), 0);
    assert_eq!(kit.code("audit release --db copy.db"), 0);
    insta::assert_snapshot!(kit.session(&["forget release --force", "db backup copy.db"]), @"
    $ gantry forget release --force
    --- talk
    error: plan `release` is being worked on by another process

    hint: see what it does with `gantry watch release`
    [exit 5]
    $ gantry db backup copy.db
    --- talk
    error: `copy.db` exists already

    hint: name a file that does not exist
    [exit 2]
    ");
    assert_eq!(kit.code("cancel release"), 0);
    assert_eq!(running.ended(), Some(3));
}

#[test]
fn the_record_is_looked_after() {
    let kit = Kit::with_plan(RELEASE);
    let info = kit.json("db info --json");
    assert_eq!((&info["plans"], &info["schema"]), (&1.into(), &4.into()));
    insta::assert_snapshot!(kit.session(&["db check", "db migrate", "db vacuum"]), @"
    $ gantry db check
    --- talk
    the file is sound; check a plan's journal with `gantry audit`
    [exit 0]
    $ gantry db migrate
    --- talk
    the record has the newest schema, 4
    [exit 0]
    $ gantry db vacuum
    --- talk
    removed 0 blobs with 0 B
    [exit 0]
    ");
    let none = Kit::new();
    insta::assert_snapshot!(none.session(&["db info", "db backup copy.db", "db migrate"]), @"
    $ gantry db info
    --- talk
    error: there is no record at `FOLDER/gantry.db`

    hint: name it with `--db FILE` or GANTRY_DB; the first `gantry run` makes one
    [exit 2]
    $ gantry db backup copy.db
    --- talk
    error: there is no record at `FOLDER/gantry.db`

    hint: name it with `--db FILE` or GANTRY_DB; the first `gantry run` makes one
    [exit 2]
    $ gantry db migrate
    --- talk
    error: there is no record at `FOLDER/gantry.db`

    hint: name it with `--db FILE` or GANTRY_DB; the first `gantry run` makes one
    [exit 2]
    ");
    assert!(!none.record().exists(), "looking after nothing makes no file");
}

#[test]
fn a_vacuum_leaves_what_checkpoints_need() {
    let kit = Kit::new();
    kit.write("a.txt", "old");
    kit.run(FILES);
    let long_ago = "UPDATE blob SET at = 0";
    assert!(rusqlite::Connection::open(kit.record()).unwrap().execute(long_ago, []).unwrap() > 0);
    assert_eq!(kit.json("db vacuum --json")["blobs"], 0);
    assert_eq!(kit.code("restore files --to start"), 0);
    assert_eq!(kit.read("a.txt"), b"old");
    assert!(rusqlite::Connection::open(kit.record()).unwrap().execute(long_ago, []).unwrap() > 0);
    assert_eq!(kit.json("db vacuum --json")["blobs"], 0, "the folder as it was before is needed, too");
    assert_eq!(kit.code("forget files"), 0);
    assert!(rusqlite::Connection::open(kit.record()).unwrap().execute(long_ago, []).unwrap() > 0);
    assert!(kit.json("db vacuum --json")["blobs"].as_u64().unwrap() > 0, "nobody needs it any more");
}

#[test]
fn a_plan_is_pinned_found_and_forgotten() {
    let kit = Kit::with_plan(FILES);
    insta::assert_snapshot!(kit.session(&[
        "search chan file",
        "search",
        "search ???",
        "search penguin",
        "pin files",
        "forget files",
        "unpin files",
        "forget files",
        "forget files",
    ]), @"
    $ gantry search chan file
    files  Change some files
    [exit 0]
    $ gantry search
    --- talk
    error: the following required arguments were not provided:
      <WORDS>...

    Usage: gantry search <WORDS>...

    For more information, try '--help'.
    [exit 2]
    $ gantry search ???
    --- talk
    error: `???` has no word to search for
    [exit 2]
    $ gantry search penguin
    --- talk
    nothing was found
    [exit 0]
    $ gantry pin files
    --- talk
    `files` is pinned
    [exit 0]
    $ gantry forget files
    --- talk
    error: plan `files` is pinned

    hint: unpin it first
    [exit 5]
    $ gantry unpin files
    --- talk
    `files` is not pinned any more
    [exit 0]
    $ gantry forget files
    --- talk
    forgot `files`
    [exit 0]
    $ gantry forget files
    --- talk
    error: there is no plan `files`

    hint: list what exists with `gantry list`
    [exit 2]
    ");
    let held = Kit::with_plan(RELEASE);
    insta::assert_snapshot!(held.gantry(&["forget", "release"]), @"
    --- talk
    error: plan `release` is blocked and has not ended

    hint: cancel it first, or say `--force`
    [exit 5]
    ");
}

#[test]
fn the_doctor_grades_everything_and_fails_on_what_cannot_work() {
    let kit = Kit::with_plan(RELEASE);
    let found = kit.json("doctor --json");
    let names: Vec<&str> = found["findings"].as_array().unwrap().iter().map(|f| f["what"].as_str().unwrap()).collect();
    assert_eq!(names, ["sandbox", "folder", "room", "record", "shell", "git", "terminal", "models"]);
    assert_eq!(kit.code("doctor"), 0);
    std::fs::write(kit.record(), "this is no record, whatever its name says").unwrap();
    let broken = kit.json("doctor --json");
    assert_eq!((&broken["ok"], &broken["findings"][3]["grade"]), (&false.into(), &"fail".into()));
    assert_eq!(kit.code("doctor"), 1);
}

#[test]
fn shells_and_manuals_know_the_commands() {
    let kit = Kit::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = kit.gantry(&["completions", shell]);
        assert!(script.contains("needs-changes") && script.ends_with("[exit 0]"), "{shell}");
    }
    let page = kit.gantry(&["man"]);
    assert!(page.contains(".TH gantry 1") && page.contains("gantry\\-gate(1)"), "{page}");
    assert!(kit.gantry(&["man", "gate"]).contains(".TH gantry-gate 1"));
    insta::assert_snapshot!(kit.session(&["man nowhere", "completions ksh"]), @"
    $ gantry man nowhere
    --- talk
    error: there is no command `nowhere`

    hint: see which there are with `gantry help`
    [exit 2]
    $ gantry completions ksh
    --- talk
    error: invalid value 'ksh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn without_a_name_the_record_is_in_the_data_folder() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let gantry = |variables: &[(&str, &std::path::Path)], args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gantry"));
        command.args(args).env_clear().env("PATH", std::env::var_os("PATH").unwrap()).envs(variables.iter().copied());
        let output = command.current_dir(folder.path()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (data, home) = (at("data"), at("home"));
    assert_eq!(gantry(&[("XDG_DATA_HOME", &data), ("HOME", &home)], &["list"]).0, 0);
    assert!(data.join("gantry/gantry.db").exists() && !home.exists());
    let mode = std::fs::metadata(data.join("gantry")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "nobody else looks into it");
    assert_eq!(gantry(&[("HOME", &home)], &["list"]).0, 0);
    assert!(home.join(".local/share/gantry/gantry.db").exists());
    let (code, told) = gantry(&[], &["list"]);
    assert_eq!(code, 2);
    assert!(told.contains("neither XDG_DATA_HOME nor HOME is set") && told.contains("`--db FILE`"), "{told}");
    let (named, other) = (at("named.db"), at("other.db"));
    assert_eq!(gantry(&[("HOME", &home), ("GANTRY_DB", &named)], &["list"]).0, 0);
    assert_eq!(gantry(&[("GANTRY_DB", &named)], &["list", "--db", other.to_str().unwrap()]).0, 0);
    assert!(named.exists() && other.exists(), "a variable beats the default, and an option the variable");
}

#[test]
fn a_bench_has_the_figures_that_programs_were_promised() {
    let kit = Kit::new();
    let figures = kit.json("bench --json --only resume --only start --only bytes");
    for key in ["resume_ms", "start_ms", "idle_mb", "bytes_per_task", "bytes_written_per_task", "raw_commits_per_s"] {
        assert!(figures[key].as_f64().is_some_and(|figure| figure > 0.0), "{key}: {figures}");
    }
    assert_eq!(figures["resume_repeats"], 0, "no finished task is repeated");
    let bytes = |tasks: &str| figures["bytes_per_task_by_size"][tasks].as_f64().unwrap();
    assert!(bytes("10000") <= bytes("100"), "bytes per task do not grow with the plan: {figures}");
    let figures = kit.json("bench --json --rounds 1 --only load");
    for entries in ["1000", "10000", "100000"] {
        assert!(figures["load_ms_by_entries"][entries].as_f64().is_some_and(|ms| ms > 0.0), "{entries}: {figures}");
    }
    for only in [&["chain_ratio"][..], &["fan_ratio"], &["many_ratio"], &["pipeline_ratio", "pipeline_bound_ms"]] {
        let figures = kit.json(&format!("bench --json --rounds 1 --only {}", only[0].split('_').next().unwrap()));
        assert!(only.iter().all(|key| figures[key].as_f64().is_some_and(|figure| figure > 0.0)), "{only:?}: {figures}");
    }
}

#[test]
fn a_damaged_record_is_told_and_its_copy_in_its_place_goes_on() {
    let kit = Kit::new();
    kit.write(
        "plan.yaml",
        "id: asked\ntitle: A\ntasks:\n  - {id: a, run: echo one}\n  - {id: ok, ask: Really?, depends_on: [a]}\n",
    );
    assert_eq!(kit.code("run plan.yaml"), 4);
    assert_eq!(kit.code("db backup copy.db"), 0);
    let beside = |end: &str| std::path::PathBuf::from(format!("{}{end}", kit.record().display()));
    let without_log = || ["-wal", "-shm"].map(beside).iter().for_each(|log| drop(std::fs::remove_file(log)));
    without_log();
    let mut bytes = std::fs::read(kit.record()).unwrap();
    bytes[4_096..].fill(0xaa);
    std::fs::write(kit.record(), bytes).unwrap();
    let told = kit.gantry(&["status", "asked"]);
    assert!(told.contains("error: ") && told.contains("hint: ") && told.ends_with("[exit 1]"), "{told}");
    without_log();
    std::fs::copy(kit.path("copy.db"), kit.record()).unwrap();
    assert_eq!(kit.code("ask answer asked ok yes"), 0);
    assert_eq!(kit.code("resume asked"), 0);
    assert_eq!((kit.code("audit asked"), kit.code("db check")), (0, 0));
}

#[test]
fn the_exit_codes_are_the_same_in_the_help_and_in_the_documents() {
    let (kit, top) = (Kit::new(), std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let read = |name: &str| std::fs::read_to_string(top.join(name)).unwrap();
    let meanings = ["done", "fault", "bad input", "failed", "waits for a person", "refused"];
    for text in [kit.gantry(&["--help"]), read("README.md"), read("docs/command-line.md")] {
        let words = text.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let mut rest = &words[words.find("Exit codes").expect("it tells them")..];
        for (code, meaning) in meanings.iter().enumerate() {
            rest = &rest[rest.find(&format!(" {code} ")).unwrap_or_else(|| panic!("no {code} in {words}"))..];
            let next = rest[2..].find(&format!(" {} ", code + 1)).map_or(rest.floor_char_boundary(80), |at| at + 2);
            assert!(rest[..next].contains(meaning), "{code} is not `{meaning}` in: {}", &rest[..next]);
        }
    }
}
