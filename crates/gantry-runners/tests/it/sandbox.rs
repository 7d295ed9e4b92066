//! What a process may touch, and what survives a kill of everything above it.

use std::process::Stdio;
use std::sync::Arc;

use gantry_core::policy::{FailureClass, Policy};
use gantry_runners::work::SandboxMode;
use serde_json::json;

use crate::world::{World, eventually, lives, pids, shell};

/// Whether the kernel confines; where it does not, tests of confinement say so and end.
pub async fn confined(world: &World) -> bool {
    let success = world.sh("true").await;
    needs("a kernel that confines", !success.outputs.contains_key("sandbox"))
}

/// Tells whether something that a test needs is here. Where it is not, the test says so and ends; but where everything is
/// to be tested, it fails.
pub fn needs(what: &str, is_here: bool) -> bool {
    assert!(
        is_here || std::env::var_os("GANTRY_TEST_ALL").is_none_or(|all| all.is_empty()),
        "{what} is missing, and GANTRY_TEST_ALL is set"
    );
    if !is_here {
        eprintln!("skipped: {what} is missing");
    }
    is_here
}

#[tokio::test]
async fn a_process_writes_in_the_working_folder_and_nowhere_else() {
    let mut world = World::new();
    if !confined(&world).await {
        return;
    }
    world.place.sandbox.mode = SandboxMode::Required;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("private"), "private").unwrap();
    let path = outside.path().display();
    world.sh("echo in > inside; echo tmp > \"$TMPDIR/x\"; echo null > /dev/null").await;
    assert_eq!(world.read("inside"), "in\n");
    for command in [
        format!("echo x > {path}/new"),
        format!("echo x >> {path}/private"),
        format!("cat {path}/private"),
        format!("rm {path}/private"),
        format!("ln -s {path} out && echo x > out/new"),
        format!("ln {path}/private hard"),
    ] {
        let failure = world.sh_fails(&command).await;
        assert_eq!(failure.class, FailureClass::Logic, "{command}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(outside.path().join("private")).unwrap(), "private");
}

#[tokio::test]
async fn the_write_scope_of_the_policy_binds_processes() {
    let mut world = World::new();
    if !confined(&world).await {
        return;
    }
    world.write("src/a", "a");
    world.write("other/b", "b");
    let mut policy = Policy::default();
    policy.files.write = vec!["src/**".to_owned(), "made/**".to_owned()];
    world.place.policy = Arc::new(policy);
    world.sh("echo x > src/a; mkdir -p made/deep; echo y > made/deep/c; cat other/b").await;
    assert_eq!((world.read("src/a"), world.read("made/deep/c")), ("x\n".to_owned(), "y\n".to_owned()));
    world.sh_fails("echo x > other/b").await;
    assert_eq!(world.read("other/b"), "b");
}

#[tokio::test]
async fn what_the_plan_around_a_plan_may_not_write_its_processes_may_not_either() {
    let mut world = World::new();
    if !confined(&world).await {
        return;
    }
    world.write("src/deep/a", "a");
    world.write("other/b", "b");
    let writes = |globs: &[&str]| {
        let mut policy = Policy::default();
        policy.files.write = globs.iter().map(|glob| (*glob).to_owned()).collect();
        Arc::new(policy)
    };
    for (own, above) in
        [(&[][..], &["src/**"][..]), (&["src/deep/**", "other/**"], &["src/**"]), (&["**"], &["src/**"])]
    {
        (world.place.policy, world.place.above) = (writes(own), vec![writes(above)]);
        world.sh("echo x >> src/deep/a").await;
        world.sh_fails("echo x >> other/b").await;
    }
    assert_eq!(world.read("other/b"), "b");
}

#[tokio::test]
async fn a_scope_that_is_a_link_to_elsewhere_is_refused() {
    let mut world = World::new();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), world.root().join("src")).unwrap();
    let mut policy = Policy::default();
    policy.files.write = vec!["src/**".to_owned()];
    world.place.policy = Arc::new(policy);
    let failure = world.sh_fails("echo x > src/a").await;
    assert_eq!(failure.class, FailureClass::Policy, "{failure:?}");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn without_a_host_in_the_policy_there_is_no_network() {
    let mut world = World::new();
    if !confined(&world).await {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    let failure = world.sh_fails(&connect).await;
    assert!(failure.message.contains("Permission denied"), "{failure:?}");
    world.sh_fails("bash -c 'echo x > /dev/udp/127.0.0.1/9'").await;
    let mut policy = Policy::default();
    policy.network.allow = vec!["example.org".to_owned()];
    world.place.policy = Arc::new(policy);
    let success = world.sh(&connect).await;
    let gap = "hosts cannot be told apart for processes, so the whole network is open";
    assert_eq!(success.outputs["sandbox"], json!({"partial": {"missing": [gap]}}));
    world.place.sandbox.mode = SandboxMode::Required;
    let failure = world.sh_fails(&connect).await;
    assert_eq!(failure.class, FailureClass::Policy);
    assert!(failure.message.contains(gap), "{failure:?}");
}

#[tokio::test]
async fn a_confined_process_cannot_signal_its_guard() {
    let world = World::new();
    if !confined(&world).await {
        return;
    }
    let failure = world.sh_fails("kill -KILL $PPID").await;
    assert!(failure.message.contains("exit code"), "{failure:?}");
}

#[tokio::test]
async fn a_command_that_the_policy_forbids_never_starts() {
    let mut world = World::new();
    let mut policy = Policy::default();
    policy.commands.deny = vec!["touch".to_owned()];
    world.place.policy = Arc::new(policy);
    let failure = world.sh_fails("true && touch x").await;
    assert_eq!(
        (failure.class, failure.message.as_str()),
        (FailureClass::Policy, "`touch` is in `policy.commands.deny`")
    );
    assert!(!world.root().join("x").exists());
}

#[tokio::test]
async fn a_command_cannot_run_outside_the_working_folder() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), world.root().join("out")).unwrap();
    for cwd in ["..", "/", "out", "no-such-folder"] {
        let mut work = shell("true");
        let gantry_core::plan::Action::Run(run) = &mut work.action else { unreachable!() };
        run.cwd = Some(cwd.to_owned());
        let failure = world.run(&work).await.end.unwrap_err();
        let policy = cwd != "no-such-folder";
        assert_eq!(failure.class == FailureClass::Policy, policy, "{cwd}: {failure:?}");
    }
}

/// Tells the program that the test below starts, which is this one, where to run its command.
const FOLDER: &str = "GANTRY_TEST_FOLDER";

#[tokio::test]
async fn no_process_is_left_after_the_program_itself_is_killed() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return run_until_killed(folder.into()).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut program = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sandbox::no_process_is_left_after_the_program_itself_is_killed", "--nocapture"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = pids(&folder.path().join("pids"), 3).await;
    assert!(started.iter().all(|pid| lives(*pid)));
    program.start_kill().unwrap();
    program.wait().await.unwrap();
    eventually("everything that the program started is dead", || !started.iter().any(|pid| lives(*pid))).await;
}

/// The program that is killed: it runs a command that does not end.
async fn run_until_killed(folder: std::path::PathBuf) {
    let mut world = World::new();
    world.place.root = folder;
    let command = "sleep 1000 & echo $! >> pids; setsid sleep 1000 & echo $! >> pids; echo $$ >> pids; wait";
    world.run(&shell(command)).await.end.unwrap();
}

#[tokio::test]
async fn dropping_a_run_ends_its_processes() {
    let world = World::new();
    let work = shell("echo $$ >> pids; sleep 1000");
    let list = world.root().join("pids");
    let started = tokio::select! {
        _ = world.run(&work) => panic!("it sleeps for long"),
        started = pids(&list, 1) => started,
    };
    eventually("the process is dead", || !lives(started[0])).await;
}

#[tokio::test]
async fn a_killed_guard_takes_the_command_along_and_the_attempt_is_lost() {
    let world = World::new();
    let work = shell("echo $PPID >> pids; echo $$ >> pids; while :; do sleep 0.01; done");
    let list = world.root().join("pids");
    let kill = async {
        let started = pids(&list, 2).await;
        let guard = rustix::process::Pid::from_raw(started[0]).unwrap();
        rustix::process::kill_process(guard, rustix::process::Signal::KILL).unwrap();
        started[1]
    };
    let (ended, command) = tokio::join!(world.run(&work), kill);
    assert_eq!(ended.end.unwrap_err().class, FailureClass::Lost);
    eventually("the command is dead", || !lives(command)).await;
}

#[tokio::test]
async fn a_child_in_its_own_session_does_not_outlive_a_killed_guard() {
    let world = World::new();
    let other = World::new();
    let command =
        "echo $PPID >> pids; setsid sh -c 'echo $$ >> pids; setsid sleep 1000 & echo $! >> pids; wait' & wait";
    let (work, list) = (shell(command), world.root().join("pids"));
    let beside = shell("echo $$ >> pids; until [ -e go ]; do sleep 0.01; done");
    let kill = async {
        pids(&other.root().join("pids"), 1).await;
        let started = pids(&list, 3).await;
        let guard = rustix::process::Pid::from_raw(started[0]).unwrap();
        rustix::process::kill_process(guard, rustix::process::Signal::KILL).unwrap();
        started
    };
    let lose = async {
        let (ended, started) = tokio::join!(world.run(&work), kill);
        assert_eq!(ended.end.unwrap_err().class, FailureClass::Lost);
        assert!(!started.iter().any(|pid| lives(*pid)), "they are gone before the attempt has ended");
        other.write("go", "");
    };
    let (beside, ()) = tokio::join!(other.run(&beside), lose);
    assert!(beside.end.is_ok(), "what others run goes on: {beside:?}");
}

#[tokio::test]
async fn a_kernel_without_confinement_is_said_and_refused_when_it_is_required() {
    let mut world = World::new();
    // A guard to which the kernel says that there is no such thing.
    let guard = world.write(
        "guard",
        format!(
            "#!/bin/sh\nexec strace -f -qq -o /dev/null -e trace=landlock_create_ruleset -e \\\n  inject=landlock_create_ruleset:error=ENOSYS {} \"$@\"\n",
            env!("CARGO_BIN_EXE_gantry-guard")
        ),
    );
    std::fs::set_permissions(&guard, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    if !needs("strace", std::process::Command::new("strace").args(["-qq", "true"]).output().is_ok()) {
        return;
    }
    world.runners = gantry_runners::Runners::standard(gantry_runners::GuardProgram::at(guard));
    let success = world.sh("echo ran").await;
    let status = success.outputs["sandbox"].to_string();
    assert!(status.contains("none") || status.contains("partial"), "{status}");
    world.place.sandbox.mode = SandboxMode::Required;
    let failure = world.sh_fails("touch made").await;
    assert_eq!(failure.class, FailureClass::Policy, "{failure:?}");
    assert!(!world.root().join("made").exists());
}

#[tokio::test]
async fn what_is_written_is_seen_before_the_end() {
    let world = World::new();
    let work = shell("echo begun; while [ ! -e go ]; do sleep 0.01; done");
    let see = async {
        eventually("the first line is shown", || world.memory.shown(gantry_runners::Stream::Stdout) == "begun\n").await;
        world.write("go", "");
    };
    let (ended, ()) = tokio::join!(world.run(&work), see);
    assert!(ended.end.is_ok());
}

#[tokio::test]
async fn orphans_are_found_where_the_session_began_outside_the_container() {
    let this = std::env::current_exe().unwrap();
    let container = |program: &std::path::Path| {
        let mut command = std::process::Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc"]).arg(program);
        command
    };
    if !container("true".as_ref()).output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this machine does not let the test make a container");
        return;
    }
    let inside = container(&this)
        .args(["--exact", "sandbox::a_child_in_its_own_session_does_not_outlive_a_killed_guard"])
        .output()
        .unwrap();
    assert!(inside.status.success(), "{}", String::from_utf8_lossy(&inside.stdout));
}
