//! Names that lead astray: each gets a clear answer, and nothing outside the workspace is touched.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::bench::{Bench, Tree, pipe};

const PLAN: &str = "id: fine\ntitle: Fine\ntasks: [{id: a, run: echo fine}]\n";

/// Names of things that are not what is expected, in the order in which people meet them.
fn names(bench: &Bench) -> Vec<(&'static str, OsString)> {
    pipe(&bench.beside("pipe"));
    std::fs::create_dir_all(bench.beside("folder")).unwrap();
    std::fs::write(bench.beside("file"), "text").unwrap();
    symlink("loop", bench.beside("loop")).unwrap();
    symlink("nowhere", bench.beside("dangling")).unwrap();
    let beside = |name: &str| bench.beside(name).into_os_string();
    vec![
        ("an empty name", OsString::new()),
        ("a name that is nowhere", "nowhere".into()),
        ("a way out to nowhere", "../../../../../../nowhere".into()),
        ("a line end", "two\nlines\u{1b}[2J".into()),
        ("bytes that are not UTF-8", OsString::from_vec(b"caf\xe9".to_vec())),
        ("5,000 characters", "x".repeat(5_000).into()),
        ("a link to itself", beside("loop")),
        ("a link to nowhere", beside("dangling")),
        ("a file", beside("file")),
        ("something below a file", beside("file/below")),
        ("a folder", beside("folder")),
        ("a pipe", beside("pipe")),
        ("a device", "/dev/null".into()),
    ]
}

/// What is said about each of these names. Nobody is kept waiting, nothing breaks, and nothing beside the record changes.
fn said(bench: &Bench, command: impl Fn(&OsStr) -> Vec<OsString>) -> String {
    let names = names(bench);
    let before = (Tree::of(bench.beside("").as_path()), devices());
    let mut all = Vec::new();
    for (what, name) in &names {
        let told = bench.run(&command(name));
        let printable = |c: char| !c.is_control() || c == '\n';
        assert!(told.err.chars().all(printable) && told.err.len() < 1_000, "{what}: {told}");
        assert!(!told.err.contains("panicked"), "{what}: {told}");
        all.push(format!("# {what}\n{}[exit {}]\n", told.err, told.code));
    }
    assert!(before == (Tree::of(bench.beside("").as_path()), devices()), "something was touched:\n{}", all.concat());
    all.concat()
}

/// The names of all devices: a database beside one of them would be easy to overlook.
fn devices() -> Vec<OsString> {
    let mut names: Vec<OsString> = std::fs::read_dir("/dev").unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn a_plan_file_that_is_none_is_said_to_be_none() {
    let bench = Bench::new();
    insta::assert_snapshot!(said(&bench, |name| vec!["run".into(), name.into(), "--dry-run".into()]));
    for command in ["run", "validate"] {
        for (what, name) in names(&Bench::new()) {
            let told = bench.run(&[OsStr::new(command), name.as_os_str()]);
            assert_eq!(told.code, 2, "{command} {what}: {told}");
        }
    }
}

#[test]
fn a_plan_that_a_program_writes_is_read_through_the_pipe_that_the_shell_opened() {
    let bench = Bench::new();
    let script = format!(
        "{} run <(printf 'title: Piped\\ntasks: [{{id: a, run: echo fine}}]\\n')",
        env!("CARGO_BIN_EXE_gantry")
    );
    let bash = std::process::Command::new("bash")
        .args(["-c", &script])
        .env("GANTRY_DB", bench.beside("gantry.db"))
        .current_dir(bench.work(""))
        .output()
        .unwrap();
    assert!(bash.status.success(), "{}", String::from_utf8_lossy(&bash.stderr));
}

#[test]
fn a_workspace_that_is_none_is_said_to_be_none() {
    let bench = Bench::new();
    let plan = bench.plan(PLAN);
    insta::assert_snapshot!(said(&bench, |name| {
        vec!["run".into(), plan.clone().into(), "--dry-run".into(), "--workspace".into(), name.into()]
    }));
    for (what, name) in names(&Bench::new()).into_iter().filter(|(what, _)| *what != "a folder") {
        let run = [OsStr::new("run"), plan.as_os_str(), OsStr::new("--workspace"), name.as_os_str()];
        assert_eq!(bench.run(&run).code, 2, "{what}");
    }
    assert!(!bench.beside("gantry.db").exists(), "nothing is recorded");
}

#[test]
fn a_workspace_whose_full_name_cannot_be_recorded_is_refused() {
    let bench = Bench::new();
    let plan = bench.plan(PLAN);
    for name in [OsString::from_vec(b"caf\xe9".to_vec()), "two\nlines".into()] {
        std::fs::create_dir(bench.beside("").join(&name)).unwrap();
        let _ = std::fs::remove_file(bench.beside("plain"));
        symlink(&name, bench.beside("plain")).unwrap();
        let told = bench.run(&["run", plan.to_str().unwrap(), "--workspace", "../plain"]);
        assert_eq!(told.code, 2, "{told}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(told.err.split("its full name").next().unwrap(), @"error: the folder `../plain` cannot be used: ");
        }
    }
}

#[test]
fn a_record_that_cannot_be_one_is_said_to_be_none() {
    let bench = Bench::new();
    // A file that is named but does not exist is made, which is no mistake; `list` makes none of these.
    let mistakes = ["nowhere", "line end", "UTF-8", "link to nowhere"];
    let listing = |name: &OsStr| [OsStr::new("list"), OsStr::new("--db"), name].map(OsStr::to_owned);
    let all = names(&bench);
    let mut shown = Vec::new();
    let before = devices();
    for (what, name) in all.iter().filter(|(what, _)| !mistakes.iter().any(|mistake| what.contains(mistake))) {
        let told = bench.run(&listing(name));
        assert!(matches!(told.code, 1 | 2), "{what}: {told}");
        shown.push(format!("# {what}\n{}[exit {}]\n", told.err, told.code));
    }
    assert_eq!(devices(), before);
    assert_eq!(std::fs::read(bench.beside("file")).unwrap(), b"text", "what is no record stays as it is");
    insta::assert_snapshot!(shown.concat());
}

#[test]
fn odd_names_of_a_record_are_names_of_files() {
    let bench = Bench::new();
    let plan = bench.plan(PLAN);
    for name in
        [OsString::from_vec(b"caf\xe9".to_vec()), "two\nlines".into(), ":memory:".into(), "file:x?mode=memory".into()]
    {
        let run = [OsStr::new("run"), plan.as_os_str(), OsStr::new("--db"), &name];
        assert_eq!(bench.run(&run).code, 0, "{}", name.display());
        assert!(bench.work("").join(&name).is_file(), "{}", name.display());
        let list = [OsStr::new("list"), OsStr::new("--json"), OsStr::new("--db"), &name];
        assert!(bench.run(&list).out.contains("\"fine\""), "{}", name.display());
    }
}

#[test]
fn other_files_that_are_read_are_looked_at_first() {
    let bench = Bench::new();
    let plan = bench.plan(PLAN);
    assert_eq!(bench.run(&["run", plan.to_str().unwrap()]).code, 0);
    for (what, name) in names(&bench) {
        let commands: [&[&OsStr]; 4] = [
            &["import".as_ref(), &name],
            &["replay".as_ref(), "fine".as_ref(), "--policy".as_ref(), &name],
            &["revise".as_ref(), "fine".as_ref(), &name, "--rationale".as_ref(), "why".as_ref()],
            &["run".as_ref(), plan.as_os_str(), "--secrets-file".as_ref(), &name],
        ];
        for command in commands {
            let told = bench.run(command);
            assert_eq!(told.code, 2, "{command:?} with {what}: {told}");
            assert!(told.err.starts_with("error") && !told.err.contains('\u{1b}'), "{what}: {told}");
        }
    }
    assert_eq!(bench.json(&["list", "--json"]).as_array().unwrap().len(), 1, "nothing was begun");
}

/// A plan with one task for each target of each capability.
fn targets(paths: &[&str]) -> String {
    let mut tasks = Vec::new();
    for (no, path) in paths.iter().enumerate() {
        let path = serde_json::to_string(path).unwrap();
        for (name, more) in [
            ("read", String::new()),
            ("write", ", content: changed".to_owned()),
            ("edit", ", search: secret, replace: changed".to_owned()),
            ("delete", String::new()),
        ] {
            tasks
                .push(format!("  - {{id: {name}-{no}, tool: {{name: files.{name}, args: {{path: {path}{more}}}}}}}\n"));
        }
        tasks.push(format!(
            "  - {{id: in-{no}, tool: {{name: files.move, args: {{from: {path}, to: stolen-{no}}}}}}}\n"
        ));
        tasks
            .push(format!("  - {{id: out-{no}, tool: {{name: files.move, args: {{from: mine-{no}, to: {path}}}}}}}\n"));
    }
    format!("id: targets\ntitle: Targets\npolicy: {{parallel: 1}}\ntasks:\n{}", tasks.concat())
}

#[test]
fn files_outside_the_workspace_are_neither_read_nor_touched() {
    let bench = Bench::new();
    std::fs::create_dir(bench.beside("outside")).unwrap();
    std::fs::write(bench.beside("outside/secret.txt"), "secret").unwrap();
    bench.write("own.txt", "own", 0o644);
    bench.write("sub/inner.txt", "inner", 0o644);
    symlink("../outside", bench.work("folder-link")).unwrap();
    symlink("../outside/secret.txt", bench.work("file-link")).unwrap();
    pipe(&bench.work("pipe"));
    let absolute = bench.beside("outside/secret.txt");
    let long = "x/".repeat(2_500) + "y";
    let name = "n".repeat(300);
    let paths = [
        "",
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        absolute.to_str().unwrap(),
        "/dev/null",
        "folder-link/secret.txt",
        "file-link",
        "two\nlines",
        &long,
        &name,
        "sub",
        "pipe",
        ".",
        "own.txt/below",
    ];
    for no in 0..paths.len() {
        bench.write(&format!("mine-{no}"), "mine", 0o644);
    }
    let before = Tree::of(&bench.beside("outside"));
    let told = bench.run(&["run", bench.plan(&targets(&paths)).to_str().unwrap()]);
    assert!(matches!(told.code, 3 | 4), "{told}");
    assert!(!told.err.contains("panicked") && !told.out.contains("secret\n"), "{told}");
    assert_eq!(Tree::of(&bench.beside("outside")), before);
    assert_eq!(std::fs::read(bench.work("own.txt")).unwrap(), b"own");
    assert!(!bench.work("stolen-3").exists());

    let status = bench.json(&["status", "targets", "--json"]);
    let mut lines = Vec::new();
    for task in status["task_list"].as_array().unwrap() {
        let (id, about) = (task["id"].as_str().unwrap(), task["about"].as_str().unwrap_or_default());
        let folder = bench.beside("").canonicalize().unwrap();
        let about = about.replace(folder.to_str().unwrap(), "DIR");
        // The path from the root of the system is as long as the name of the temporary folder.
        let shown = !id.ends_with("-3");
        if shown && (id.starts_with("read") || id.starts_with("write") || task["state"] == "completed") {
            lines.push(format!("{id} {}: {about}\n", task["state"].as_str().unwrap()));
        }
    }
    insta::assert_snapshot!(lines.concat());
}

/// Takes what stands in the workspace away and puts a link to the outside there.
const SWAP: &str = "rm -rf sub && ln -s ../outside sub";

#[test]
fn a_folder_that_becomes_a_link_during_the_run_is_not_followed() {
    for (name, args) in [
        ("read", "path: sub/secret.txt"),
        ("write", "path: sub/new.txt, content: x"),
        ("write", "path: sub/secret.txt, content: x"),
        ("edit", "path: sub/secret.txt, search: secret, replace: x"),
        ("delete", "path: sub/secret.txt"),
        ("move", "from: sub/secret.txt, to: stolen.txt"),
        ("move", "from: own.txt, to: sub/own.txt"),
    ] {
        let bench = Bench::new();
        std::fs::create_dir(bench.beside("outside")).unwrap();
        std::fs::write(bench.beside("outside/secret.txt"), "secret").unwrap();
        bench.write("own.txt", "own", 0o644);
        let plan = format!(
            "id: swap\ntitle: Swap\ntasks:\n  - {{id: first, tool: {{name: files.write, args: {{path: sub/a.txt, content: a}}}}, undo: restore}}\n  - {{id: swap, run: '{SWAP}', depends_on: [first]}}\n  - {{id: then, tool: {{name: files.{name}, args: {{{args}}}}}, depends_on: [swap]}}\n"
        );
        let before = Tree::of(&bench.beside("outside"));
        let told = bench.run(&["run", bench.plan(&plan).to_str().unwrap()]);
        assert_eq!(told.code, 4, "{name} {args}: {told}");
        assert!(told.out.contains("`sub` is a link, and links are not followed"), "{told}");
        let undone = bench.run(&["cancel", "swap", "--undo"]);
        assert_eq!(undone.code, 4, "what cannot be taken back waits for a person: {undone}");
        assert_eq!(Tree::of(&bench.beside("outside")), before);
        assert_eq!(std::fs::read(bench.work("own.txt")).unwrap(), b"own");
    }
}

#[test]
fn a_workspace_that_becomes_a_link_between_two_runs_is_not_followed() {
    for action in ["run: touch made", "tool: {name: files.write, args: {path: made, content: x}}", "checkpoint: here"] {
        let bench = Bench::new();
        let plan = format!(
            "id: swap\ntitle: Swap\ntasks:\n  - {{id: go, ask: Go on?}}\n  - {{id: then, {action}, depends_on: [go]}}\n"
        );
        assert_eq!(bench.run(&["run", bench.plan(&plan).to_str().unwrap()]).code, 4);
        assert_eq!(bench.run(&["ask", "answer", "swap", "go", "yes"]).code, 0);
        std::fs::rename(bench.work(""), bench.beside("before")).unwrap();
        std::fs::create_dir(bench.beside("outside")).unwrap();
        symlink("outside", bench.beside("work")).unwrap();
        let told = bench.run(&["resume", "swap"]);
        assert!(matches!(told.code, 3 | 4), "{action}: {told}");
        assert!(told.out.contains("is a link to `outside`, and links are not followed"), "{action}: {told}");
        assert_eq!(Tree::of(&bench.beside("outside")), Tree::of(&bench.beside("before")), "both are empty");
    }
}

#[test]
fn proofs_and_artifacts_with_odd_names_are_refused_or_shown_harmlessly() {
    let bench = Bench::new();
    let plan = bench.plan(
        "id: odd\ntitle: Odd\ntasks: [{id: hand, manual: Hand it in}, {id: print, run: \"printf '\\\\033[2Jhi'\"}]\n",
    );
    assert_eq!(bench.run(&["run", plan.to_str().unwrap()]).code, 4);
    bench.write("proof", "proof", 0o644);
    bench.write("taken", "taken", 0o644);
    pipe(&bench.work("pipe"));
    symlink("nowhere", bench.work("dangling")).unwrap();
    let long = format!("{}=proof", "n".repeat(5_000));
    let mut shown = Vec::new();
    for evidence in ["", "nowhere", "pipe", "/dev/null", ".", "two\nlines=proof", long.as_str()] {
        let told = bench.run(&["task", "done", "odd", "hand", "--evidence", evidence]);
        assert_eq!(told.code, 2, "{told}");
        shown.push(format!("{}[exit {}]\n", told.err, told.code));
    }
    assert_eq!(bench.run(&["task", "done", "odd", "hand", "--evidence", "../../up=proof"]).code, 0);
    for output in ["", "taken", "dangling", ".", "/dev/null", "nowhere/file"] {
        let told = bench.run(&["artifact", "get", "odd/hand/../../up", "-o", output]);
        assert_eq!(told.code, 2, "{output}: {told}");
        shown.push(format!("{}[exit {}]\n", told.err, told.code));
    }
    for reference in
        ["", "odd", "odd//x", "odd/hand/", "odd/hand/../../etc/passwd", "odd/hand/x@99999999999", "../x/y/z"]
    {
        let told = bench.run(&["artifact", "get", reference, "-o", "out"]);
        assert_eq!(told.code, 2, "{reference}: {told}");
        shown.push(format!("{}[exit {}]\n", told.err, told.code));
    }
    assert_eq!(bench.run(&["artifact", "get", "odd/hand/../../up", "-o", "out"]).code, 0);
    assert_eq!(std::fs::read(bench.work("out")).unwrap(), b"proof");
    assert_eq!(std::fs::read(bench.work("taken")).unwrap(), b"taken");
    assert!(!Path::new(&bench.work("nowhere")).exists());
    assert!(!bench.run(&["artifact", "show", "odd/print/stdout"]).out.contains('\u{1b}'), "shown, not obeyed");
    insta::assert_snapshot!(shown.concat());
}
