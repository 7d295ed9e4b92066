//! Secrets: given to processes, never seen.

use gantry_runners::Secrets;
use serde_json::json;

use crate::world::{World, shell, tool};

const VALUE: &str = "hunter2-and-more";

fn world() -> World {
    let mut world = World::new();
    world.place.secrets = Secrets::of([("TOKEN".to_owned(), VALUE.to_owned())]).unwrap();
    world
}

/// Looks for the value in everything that was handed to a port.
fn seen(world: &World) -> Vec<String> {
    let memory = &world.memory;
    let mut all: Vec<String> = Vec::new();
    all.extend(memory.blobs.lock().unwrap().values().map(|bytes| String::from_utf8_lossy(bytes).into_owned()));
    all.push(memory.shown(gantry_runners::Stream::Stdout) + &memory.shown(gantry_runners::Stream::Stderr));
    all.extend(memory.beats.lock().unwrap().iter().map(|beat| format!("{beat:?}")));
    all.extend(memory.effects.lock().unwrap().iter().map(|effect| format!("{effect:?}")));
    all.extend(memory.intents.lock().unwrap().iter().map(ToString::to_string));
    all.retain(|text| text.contains(VALUE) || text.contains("aHVudGVyMi1hbmQtbW9yZ"));
    all
}

#[tokio::test]
async fn a_process_gets_a_secret_and_nobody_sees_it() {
    let world = world();
    let command =
        "test \"$TOKEN\" = \"hunter2-and-\"more && echo $TOKEN; printf hunter2; /bin/true; printf -- -and-more;
        printf %s $TOKEN | base64; echo $TOKEN >&2; echo out=$TOKEN >> $GANTRY_OUTPUTS";
    let success = world.sh(command).await;
    assert!(!format!("{success:?}").contains(VALUE));
    assert!(success.outputs["stdout"].as_str().unwrap().starts_with("[secret TOKEN]\n[secret TOKEN][secret TOKEN]"));
    assert_eq!(success.outputs["out"], json!("[secret TOKEN]"));
    let failure = world.sh_fails("echo wrong $TOKEN >&2; exit 1").await;
    assert_eq!(failure.message, "exit code 1: wrong [secret TOKEN]");
    assert_eq!(seen(&world), Vec::<String>::new());
}

#[tokio::test]
async fn a_file_with_a_secret_comes_back_byte_for_byte_and_is_kept_without_it() {
    let world = world();
    let content = format!("a={VALUE}\nb=aHVudGVyMi1hbmQtbW9yZQ==\nc=1\n");
    world.write("settings", &content);
    let work = tool("files.edit", json!({"path": "settings", "search": "c=1", "replace": "c=2"}));
    let preview = world.runners.preview(&work, &world.place).await.unwrap();
    assert!(!preview.diff.unwrap().contains(VALUE));
    let ended = world.run(&work).await;
    assert!(world.read("settings").contains("c=2") && world.read("settings").contains(VALUE));
    let read = world.run(&tool("files.read", json!({"path": "settings"}))).await.end.unwrap();
    assert!(!format!("{read:?}").contains(VALUE));
    assert_eq!(seen(&world), Vec::<String>::new());
    let record = ended.undo.unwrap();
    world.runners.undo(&work, &world.place, &world.ports(), &record).await.unwrap();
    assert_eq!(world.read("settings"), content);
}

#[tokio::test]
async fn what_held_a_secret_that_is_gone_is_not_restored_wrongly() {
    let mut world = world();
    world.write("settings", VALUE);
    let work = tool("files.write", json!({"path": "settings", "content": "new"}));
    let record = world.run(&work).await.undo.unwrap();
    world.place.secrets = Secrets::none();
    let why = world.runners.undo(&work, &world.place, &world.ports(), &record).await.unwrap_err();
    assert!(why.contains("the secret `TOKEN` is not known here any more"), "{why}");
    world.place.secrets = Secrets::of([("TOKEN".to_owned(), "correct-horse".to_owned())]).unwrap();
    let why = world.runners.undo(&work, &world.place, &world.ports(), &record).await.unwrap_err();
    assert!(why.contains("a secret in it has another value now"), "{why}");
    assert_eq!(world.read("settings"), "new");
}

#[tokio::test]
async fn a_preview_of_a_command_shows_no_secret() {
    let world = world();
    let preview = world.runners.preview(&shell(&format!("login {VALUE}")), &world.place).await.unwrap();
    assert_eq!(preview.text, "would run in `.`, no network: login [secret TOKEN]");
}
