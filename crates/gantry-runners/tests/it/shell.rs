//! Commands: what goes in, what comes out, how they end.

use gantry_core::policy::FailureClass;
use gantry_core::time::Duration;
use gantry_runners::Stream;
use serde_json::json;

use crate::world::{World, eventually, lives, pids, shell};

#[tokio::test]
async fn a_command_gives_its_output_and_exit_code() {
    let world = World::new();
    let success = world.sh("echo out; echo err >&2").await;
    assert_eq!(success.outputs["stdout"], json!("out\n"));
    assert_eq!(success.outputs["stderr"], json!("err\n"));
    assert_eq!(success.outputs["exit_code"], json!(0));
    assert_eq!(world.memory.blob(&success.artifacts, "stdout"), b"out\n");
    assert_eq!(world.memory.shown(Stream::Stderr), "err\n");
}

#[tokio::test]
async fn an_exit_code_is_a_wrong_result_and_says_the_last_words() {
    let world = World::new();
    let failure = world.sh_fails("echo first >&2; echo 'no such thing' >&2; exit 3").await;
    assert_eq!((failure.class, failure.message.as_str()), (FailureClass::Logic, "exit code 3: no such thing"));
    assert_eq!(world.memory.blob(&failure.evidence, "stderr"), b"first\nno such thing\n");
}

#[tokio::test]
async fn no_process_is_left_after_a_stop_however_it_hides() {
    let world = World::new();
    let list = world.root().join("pids");
    // A plain child, one in its own session, one that ignores the polite request, one whose parent is gone.
    let work = shell(
        "sleep 1000 & echo $! >> pids
         setsid sleep 1000 & echo $! >> pids
         (trap '' TERM; echo $(exec sh -c 'echo $PPID') >> pids; sleep 1000; sleep 1000) &
         (setsid sh -c 'echo $$ >> pids; exec sleep 1000' &)
         wait",
    );
    let running = tokio::spawn({
        let (runners, place, ports, stop) =
            (world.runners.clone(), world.place.clone(), world.ports(), world.stop.clone());
        async move { runners.run(&work, &place, &ports, &stop).await }
    });
    let started = pids(&list, 4).await;
    assert!(started.iter().all(|pid| lives(*pid)));
    world.stop.cancel();
    let failure = running.await.unwrap().end.unwrap_err();
    assert_eq!(failure.class, FailureClass::Cancelled);
    assert_eq!(started.into_iter().filter(|pid| lives(*pid)).collect::<Vec<_>>(), Vec::<i32>::new());
}

#[tokio::test]
async fn a_child_in_the_background_neither_hangs_the_runner_nor_survives() {
    let world = World::new();
    let success = world.sh("sleep 1000 & echo $!; setsid sleep 1000 & echo $!").await;
    let left: Vec<i32> =
        success.outputs["stdout"].as_str().unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|pid| !lives(*pid)));
    assert_eq!(success.outputs["left_behind"], json!(2));
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_with_all_its_children() {
    let mut world = World::new();
    world.place.limits.grace = std::time::Duration::from_millis(50);
    let mut work = shell("sleep 1000 & echo $! > pids; trap '' TERM; sleep 1000; sleep 1000");
    work.timeout = Some(Duration::from_ms(300));
    let failure = world.run(&work).await.end.unwrap_err();
    assert_eq!(failure.class, FailureClass::Lost);
    assert_eq!(failure.message, "it took longer than 300ms and was stopped");
    let child: i32 = world.read("pids").trim().parse().unwrap();
    eventually("the child is dead", || !lives(child)).await;
}

#[tokio::test]
async fn a_command_is_on_record_before_it_runs() {
    let world = World::new();
    world.sh("printf done").await;
    {
        let effects = world.memory.effects.lock().unwrap();
        assert_eq!((effects.len(), effects[0].kind.as_str()), (1, "process"));
        assert_eq!(effects[0].request["command"], "printf done");
        assert_eq!(effects[0].answer.as_ref().unwrap()["exit"]["code"], 0);
    }
    world.memory.speechless.store(true, std::sync::atomic::Ordering::SeqCst);
    let failure = world.run(&shell("touch made")).await.end.unwrap_err();
    assert_eq!(failure.class, FailureClass::Transient);
    assert!(!world.root().join("made").exists(), "it ran without being on record");
}
