//! Output: whole characters, bounded, handed in early; inputs and the environment.

use gantry_core::policy::FailureClass;
use gantry_core::time::Duration;
use gantry_runners::Stream;
use serde_json::json;

use crate::world::{World, shell};

#[tokio::test]
async fn a_character_that_is_cut_in_two_is_shown_whole_and_what_is_no_text_is_visible() {
    let world = World::new();
    // The two halves of `ä` come in two writes, with a process in between.
    let success = world.sh(r"printf '\303'; /bin/true; printf '\244'; printf '\377\000'").await;
    assert_eq!(success.outputs["stdout"], json!("ä\\xff\\x00"));
    assert_eq!(world.memory.shown(Stream::Stdout), "ä\\xff\\x00");
    assert_eq!(world.memory.blob(&success.artifacts, "stdout"), b"\xc3\xa4\xff\x00");
}

#[tokio::test]
async fn huge_output_is_kept_at_both_ends_and_says_how_much_is_missing() {
    let mut world = World::new();
    world.place.limits.stream_bytes_max = 100_000;
    world.place.limits.tail_bytes = 10;
    let success = world.sh("echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last").await;
    assert_eq!(success.outputs["stdout"], json!("xxxx\nlast\n"));
    let kept = String::from_utf8(world.memory.blob(&success.artifacts, "stdout")).unwrap();
    assert!(kept.starts_with("first\nx") && kept.ends_with("x\nlast\n"));
    assert!(kept.contains("\n[gantry: 19900012 bytes are left out here]\n"), "{}", &kept[49_990..50_060]);
    assert!(kept.len() < 100_100);
    // What was handed in early is bounded too.
    let early: u64 =
        world.memory.beats.lock().unwrap().iter().flat_map(|(_, parts)| parts).map(|part| part.bytes).sum();
    assert!(early <= 100_000, "{early}");
}

#[tokio::test]
async fn the_output_of_a_long_task_is_handed_in_while_it_grows() {
    let mut world = World::new();
    world.place.limits.part_bytes = 1_000;
    let success = world.sh("head -c 5000 /dev/zero | tr '\\0' a").await;
    let parts: Vec<_> = world.memory.beats.lock().unwrap().iter().flat_map(|(_, parts)| parts.clone()).collect();
    assert!(!parts.is_empty());
    assert_eq!(parts[0].name, "stdout.part-1");
    let early: Vec<u8> = parts.iter().flat_map(|part| world.memory.blobs.lock().unwrap()[&part.hash].clone()).collect();
    assert!(world.memory.blob(&success.artifacts, "stdout").starts_with(&early));
}

#[tokio::test]
async fn a_silent_task_with_a_heartbeat_reports_that_it_is_alive() {
    let world = World::new();
    let work = {
        let mut work = shell("while [ ! -e go ]; do sleep 0.01; done");
        work.heartbeat = Some(Duration::from_ms(5));
        work
    };
    let go = async {
        crate::world::eventually("a heartbeat", || !world.memory.beats.lock().unwrap().is_empty()).await;
        world.write("go", "");
    };
    let (ended, ()) = tokio::join!(world.run(&work), go);
    assert!(ended.end.is_ok());
}

#[tokio::test]
async fn what_a_command_did_is_in_doubt_when_what_it_said_cannot_be_kept() {
    let world = World::new();
    world.memory.refuses.store(true, std::sync::atomic::Ordering::SeqCst);
    let failure = world.sh_fails("echo paid; touch paid").await;
    assert_eq!(failure.class, FailureClass::Lost, "{failure:?}");
    assert!(world.root().join("paid").exists());
}

#[tokio::test]
async fn a_task_reports_that_it_is_alive_before_what_it_said_is_kept() {
    let world = World::new();
    let mut work = shell("echo ready; while [ ! -e go ]; do sleep 0.01; done");
    work.heartbeat = Some(Duration::from_ms(5));
    let go = async {
        crate::world::eventually("something is handed in", || !world.memory.blobs.lock().unwrap().is_empty()).await;
        world.write("go", "");
    };
    let (ended, ()) = tokio::join!(world.run(&work), go);
    assert!(ended.end.is_ok());
    let beats = world.memory.beats.lock().unwrap();
    assert!(beats[0].1.is_empty(), "the first word is only that it is alive: {beats:?}");
}

#[tokio::test]
async fn a_process_sees_a_clean_environment_and_who_it_works_for() {
    let mut world = World::new();
    world.place.environment.insert("OPERATOR".to_owned(), "o".to_owned());
    let mut work = shell("env | sed 's/=.*//' | sort");
    work.environment.insert("OF_TASK".to_owned(), "t".to_owned());
    work.inputs.insert("page count".to_owned(), json!(3));
    let success = world.run(&work).await.end.unwrap();
    let names = success.outputs["stdout"].as_str().unwrap().to_owned();
    let allowed = |name: &str| {
        let known = [
            "PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TERM", "USER", "LOGNAME", "TMPDIR", "PWD", "OLDPWD", "SHLVL",
            "_",
        ];
        known.contains(&name)
            || name.starts_with("LC_")
            || name.starts_with("GANTRY_")
            || ["OPERATOR", "OF_TASK"].contains(&name)
    };
    assert_eq!(names.lines().filter(|name| !allowed(name)).collect::<Vec<_>>(), Vec::<&str>::new());
    let line = r#"echo "$GANTRY_PLAN $GANTRY_TASK $GANTRY_ATTEMPT $GANTRY_KEY $GANTRY_INPUT_PAGE_COUNT $OF_TASK $OPERATOR"; cat "$GANTRY_INPUTS""#;
    let work = gantry_runners::Work { action: shell(line).action, ..work };
    let success = world.run(&work).await.end.unwrap();
    assert_eq!(success.outputs["stdout"], json!("plan-1 task-1 1 key-1 3 t o\n{\"page count\":3}"));
}

#[tokio::test]
async fn a_process_reads_no_input_and_hands_in_outputs() {
    let world = World::new();
    let success = world.sh(r#"cat; echo p99_ms=212 >> "$GANTRY_OUTPUTS"; echo '{"a": [1]}'"#).await;
    assert_eq!(success.outputs["p99_ms"], json!(212));
    assert_eq!(success.outputs["json"], json!({"a": [1]}));
    let failure = world.sh_fails(r#"echo exit_code=0 >> "$GANTRY_OUTPUTS""#).await;
    assert!(failure.message.contains("`exit_code` is given by the runner"), "{failure:?}");
}

#[tokio::test]
async fn a_variable_that_no_process_can_be_given_is_refused() {
    let world = World::new();
    let too_long = "x".repeat(200_000);
    for (name, value) in [("A=B", "x"), ("A", "x\0y"), ("", "x"), ("A", too_long.as_str())] {
        let mut work = shell("true");
        work.environment.insert(name.to_owned(), value.to_owned());
        let failure = world.run(&work).await.end.unwrap_err();
        assert!(failure.message.contains("cannot be given to a process"), "{failure:?}");
    }
    let mut work = shell("wc -c < \"$GANTRY_INPUTS\"; echo ${GANTRY_INPUT_LONG-unset}");
    work.inputs.insert("long".to_owned(), json!(too_long));
    let success = world.run(&work).await.end.unwrap();
    assert_eq!(success.outputs["stdout"], json!("200011\nunset\n"));
}

#[tokio::test]
async fn signals_are_sorted_by_who_sent_them() {
    let world = World::new();
    for (command, class, words) in [
        ("kill -KILL $$", FailureClass::Lost, "signal 9 (SIGKILL); the machine may be out of memory"),
        ("kill -TERM $$", FailureClass::Lost, "signal 15 (SIGTERM)"),
        ("kill -SEGV $$", FailureClass::Logic, "signal 11 (SIGSEGV)"),
        ("sh -c 'kill -KILL $$'; exit $?", FailureClass::Lost, "signal 9 (SIGKILL)"),
    ] {
        let failure = world.sh_fails(command).await;
        assert_eq!(failure.class, class, "{command}: {failure:?}");
        assert!(failure.message.contains(words), "{command}: {failure:?}");
    }
}

#[tokio::test]
async fn a_shell_that_does_not_exist_is_said() {
    let world = World::new();
    let mut work = shell("true");
    let gantry_core::plan::Action::Run(run) = &mut work.action else { unreachable!() };
    run.shell = Some("no-such-shell".to_owned());
    let failure = world.run(&work).await.end.unwrap_err();
    assert_eq!(failure.class, FailureClass::Logic);
    assert!(failure.message.starts_with("the program `no-such-shell` was not found"), "{failure:?}");
}

#[tokio::test]
async fn an_unknown_capability_names_the_nearest() {
    let world = World::new();
    let failure = world.run(&crate::world::tool("files.wirte", json!({}))).await.end.unwrap_err();
    assert_eq!(failure.message, "there is no capability `files.wirte`; did you mean `files.write`?");
}
