//! Files: changed as a whole or not at all, previewed, taken back, never outside.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;

use gantry_core::policy::{FailureClass, Policy};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{World, tool, tree};

impl World {
    async fn call(&self, name: &str, args: Value) -> Value {
        let ended = self.run(&tool(name, args)).await;
        json!(ended.end.unwrap_or_else(|failure| panic!("{name}: {failure:?}")).outputs)
    }

    async fn refusal(&self, name: &str, args: Value) -> (FailureClass, String) {
        let failure = self.run(&tool(name, args)).await.end.expect_err(name);
        (failure.class, failure.message)
    }

    async fn undo_last(&self) -> Result<String, String> {
        let record = self.memory.intents.lock().unwrap().pop().unwrap();
        self.runners.undo(&tool("files.write", json!({})), &self.place, &self.ports(), &record).await
    }
}

#[tokio::test]
async fn a_file_is_written_once_and_the_same_again_changes_nothing() {
    let world = World::new();
    let args = json!({"path": "a/b/c.txt", "content": "hello\n"});
    assert_eq!(world.call("files.write", args.clone()).await["changed"], json!(true));
    assert_eq!(world.read("a/b/c.txt"), "hello\n");
    assert_eq!(world.call("files.write", args.clone()).await["changed"], json!(false));
    assert_eq!(world.memory.intents.lock().unwrap().len(), 1);
    let happened = world.runners.happened(&tool("files.write", args), &world.place, &world.ports(), &world.stop).await;
    assert_eq!(happened.happened, Some(true));
    assert_eq!(tree(world.root()).len(), 3, "nothing unfinished is left: {:?}", tree(world.root()));
}

#[tokio::test]
async fn a_preview_is_a_diff_and_touches_nothing() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\n");
    let before = tree(world.root());
    let work = tool("files.edit", json!({"path": "a.txt", "search": "two", "replace": "2"}));
    let preview = world.runners.preview(&work, &world.place).await.unwrap();
    assert_eq!(preview.text, "change `a.txt`");
    assert_eq!(preview.diff.unwrap(), "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    assert_eq!(tree(world.root()), before);
    assert!(world.memory.blobs.lock().unwrap().is_empty());
}

#[tokio::test]
async fn undo_restores_content_mode_and_absence_and_removes_folders() {
    let world = World::new();
    let script = world.write("run.sh", b"#!/bin/sh\n\xff\x00");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o751)).unwrap();
    symlink("run.sh", world.root().join("link")).unwrap();
    let before = tree(world.root());
    world.call("files.write", json!({"path": "run.sh", "content": "other", "executable": false})).await;
    world.call("files.write", json!({"path": "new/deep/file", "content": "x"})).await;
    world.call("files.move", json!({"from": "run.sh", "to": "moved/run.sh"})).await;
    world.call("files.delete", json!({"path": "link"})).await;
    assert_ne!(tree(world.root()), before);
    while !world.memory.intents.lock().unwrap().is_empty() {
        world.undo_last().await.unwrap();
    }
    assert_eq!(tree(world.root()), before);
}

#[tokio::test]
async fn undoing_twice_is_undoing_once_and_also_works_when_nothing_was_done() {
    let world = World::new();
    world.write("a", "old");
    world.call("files.write", json!({"path": "a", "content": "new"})).await;
    let record = world.memory.intents.lock().unwrap()[0].clone();
    let work = tool("files.write", json!({}));
    for words in ["one file is as before", "everything was as before already"] {
        let said = world.runners.undo(&work, &world.place, &world.ports(), &record).await;
        assert_eq!(said.as_deref(), Ok(words));
        assert_eq!(world.read("a"), "old");
    }
}

#[tokio::test]
async fn undo_refuses_to_lose_what_someone_else_did_since() {
    let world = World::new();
    world.write("a", "old");
    world.call("files.write", json!({"path": "a", "content": "new"})).await;
    world.write("a", "newer");
    let why = world.undo_last().await.unwrap_err();
    assert_eq!(why, "`a` was changed since; taking it back would lose that change");
    assert_eq!(world.read("a"), "newer");
}

#[tokio::test]
async fn a_diff_changes_makes_and_deletes_files_at_once_or_not_at_all() {
    let world = World::new();
    world.write("a", "one\ntwo\n");
    world.write("gone", "x\n");
    let diff = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n--- /dev/null\n+++ b/new/n\n@@ -0,0 +1 @@\n+n\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    let before = tree(world.root());
    let (class, why) = world
        .refusal("files.edit", json!({"diff": format!("{diff}--- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n")}))
        .await;
    assert_eq!((class, why.as_str()), (FailureClass::Logic, "there is no `none`"));
    assert_eq!(tree(world.root()), before);
    let outputs = world.call("files.edit", json!({"diff": diff})).await;
    assert_eq!(outputs["paths"], json!(["a", "new/n", "gone"]));
    assert_eq!((world.read("a"), world.read("new/n")), ("one\n2\n".to_owned(), "n\n".to_owned()));
    assert!(!world.root().join("gone").exists());
    assert_eq!(world.call("files.edit", json!({"diff": diff})).await["changed"], json!(false));
    world.undo_last().await.unwrap();
    assert_eq!(tree(world.root()), before);
}

#[tokio::test]
async fn no_path_leads_out_of_the_working_folder() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target");
    std::fs::write(&target, "untouched").unwrap();
    symlink(outside.path(), world.root().join("folder-link")).unwrap();
    symlink(&target, world.root().join("file-link")).unwrap();
    symlink("..", world.root().join("up")).unwrap();
    let name = world.root().file_name().unwrap().to_str().unwrap();
    let absolute = target.display().to_string();
    let paths =
        ["../target", "a/../../target", &absolute, "folder-link/target", "file-link", "up/x", &format!("up/{name}/x")];
    for path in paths {
        for (tool, args) in [
            ("files.write", json!({"path": path, "content": "x"})),
            ("files.edit", json!({"path": path, "search": "untouched", "replace": "x"})),
            ("files.edit", json!({"diff": format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-untouched\n+x\n")})),
            ("files.read", json!({"path": path})),
            ("files.move", json!({"from": path, "to": "stolen"})),
            ("files.move", json!({"from": "own", "to": path})),
        ] {
            world.write("own", "own");
            if (tool, path) == ("files.move", "file-link") {
                continue; // the link itself is inside
            }
            let (_, why) = world.refusal(tool, args).await;
            assert!(!why.contains("untouched"), "{tool} {path}: {why}");
        }
    }
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "untouched");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_link_that_is_swapped_in_while_files_are_written_leads_nowhere() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    let (folder, aside, link) = (world.root().join("folder"), world.root().join("aside"), world.root().join("link"));
    std::fs::create_dir(&folder).unwrap();
    symlink(outside.path(), &link).unwrap();
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let done = Arc::clone(&done);
        move || {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = std::fs::rename(&folder, &aside);
                let _ = std::fs::rename(&link, &folder);
                let _ = std::fs::rename(&folder, &link);
                let _ = std::fs::rename(&aside, &folder);
            }
        }
    });
    for round in 0..300 {
        let path = format!("folder/file-{round}");
        let _ = world.run(&tool("files.write", json!({"path": path, "content": "x"}))).await;
    }
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    swapper.join().unwrap();
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn hostile_paths_are_refused_with_a_reason() {
    let world = World::new();
    for path in [
        json!("a\nb"),
        json!("a\0b"),
        json!("x/".repeat(2_500)),
        json!("x".repeat(300)),
        json!(""),
        json!(7),
        json!(null),
    ] {
        let (_, why) = world.refusal("files.write", json!({"path": path, "content": "x"})).await;
        assert!(why.contains("path") && why.len() < 300 && !why.contains('\n'), "{path}: {why}");
    }
    let (_, why) = world.refusal("files.write", json!({"path": "a", "contents": "x"})).await;
    assert_eq!(why, "`files.write` has no argument `contents`; did you mean `content`?");
    assert!(tree(world.root()).is_empty());
}

#[tokio::test]
async fn the_policy_says_which_files_may_be_touched() {
    let mut world = World::new();
    let mut policy = Policy::default();
    policy.files.write = vec!["src/**".to_owned()];
    policy.files.read = vec!["docs/**".to_owned()];
    world.place.policy = Arc::new(policy);
    world.write("docs/a", "a");
    world.write("other", "o");
    world.call("files.write", json!({"path": "src/x", "content": "x"})).await;
    world.call("files.read", json!({"path": "docs/a"})).await;
    for (tool, args) in [
        ("files.write", json!({"path": "docs/a", "content": "x"})),
        ("files.read", json!({"path": "other"})),
        ("files.move", json!({"from": "src/x", "to": "other2"})),
        ("files.delete", json!({"path": "other"})),
        ("files.edit", json!({"diff": "--- a/other\n+++ b/other\n@@ -1 +1 @@\n-o\n+p\n"})),
    ] {
        let (class, why) = world.refusal(tool, args).await;
        assert_eq!(class, FailureClass::Policy, "{tool}: {why}");
    }
}

#[tokio::test]
async fn every_policy_around_has_to_agree() {
    let mut world = World::new();
    let mut above = Policy::default();
    above.files.write = vec!["src/**".to_owned()];
    world.place.above = vec![Arc::new(Policy::default()), Arc::new(above)];
    world.call("files.write", json!({"path": "src/x", "content": "x"})).await;
    let (class, why) = world.refusal("files.write", json!({"path": "other", "content": "x"})).await;
    assert_eq!(
        (class, why.as_str()),
        (FailureClass::Policy, "`other` is outside `policy.files.write`, which allows `src/**`")
    );
}

#[tokio::test]
async fn of_a_large_file_the_beginning_is_handed_on_and_all_of_it_is_kept() {
    let world = World::new();
    let large = "ä line\n".repeat(200_000);
    world.write("large", &large);
    let success = world.run(&tool("files.read", json!({"path": "large"}))).await.end.unwrap();
    let shown = success.outputs["content"].as_str().unwrap();
    assert!(shown.len() <= 512 << 10 && large.starts_with(shown), "{} bytes", shown.len());
    assert_eq!(success.outputs["truncated"], json!(true));
    assert_eq!(world.memory.blob(&success.artifacts, "content"), large.as_bytes());
}

#[tokio::test]
async fn reading_gives_lines_and_says_how_many_there_are() {
    let world = World::new();
    world.write("a", "1\n2\n3\n4\n");
    let outputs = world.call("files.read", json!({"path": "a", "from_line": 2, "lines": 2})).await;
    assert_eq!((&outputs["content"], &outputs["lines"]), (&json!("2\n3\n"), &json!(4)));
    let (_, why) = world.refusal("files.read", json!({"path": "none"})).await;
    assert_eq!(why, "there is no `none`");
}

/// One random change.
#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<u8>),
    Delete(usize),
    Move(usize, usize),
    Edit(usize, String),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0_usize..5, prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(path, bytes)| Step::Write(path, bytes)),
        (0_usize..5).prop_map(Step::Delete),
        (0_usize..5, 0_usize..5).prop_map(|(from, to)| Step::Move(from, to)),
        (0_usize..5, "[a-d]{1,3}").prop_map(|(path, text)| Step::Edit(path, text)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_changes_that_are_undone_leave_the_folder_as_it_was(steps in prop::collection::vec(step(), 1..8)) {
        const PATHS: [&str; 5] = ["a", "b/c", "b/d", "e/f/g", "h"];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::new();
            world.write("a", "abcd\n");
            world.write("b/c", "dcba\n");
            let before = tree(world.root());
            for step in steps {
                let (name, args) = match step {
                    Step::Write(path, bytes) => {
                        use base64::Engine;
                        let text = base64::engine::general_purpose::STANDARD.encode(bytes);
                        ("files.write", json!({"path": PATHS[path], "base64": text}))
                    }
                    Step::Delete(path) => ("files.delete", json!({"path": PATHS[path]})),
                    Step::Move(from, to) => ("files.move", json!({"from": PATHS[from], "to": PATHS[to]})),
                    Step::Edit(path, text) => ("files.edit", json!({"path": PATHS[path], "search": text, "replace": "x"})),
                };
                let _ = world.run(&tool(name, args)).await; // some do not fit, and then change nothing
            }
            while !world.memory.intents.lock().unwrap().is_empty() {
                world.undo_last().await.unwrap();
            }
            assert_eq!(tree(world.root()), before);
        });
    }
}

#[tokio::test]
async fn a_working_folder_that_became_a_link_is_not_followed() {
    let mut world = World::new();
    world.write("a.txt", "a");
    let link = tempfile::tempdir().unwrap();
    let root = link.path().join("work");
    symlink(world.root(), &root).unwrap();
    world.place.root = root;
    let (class, message) = world.refusal("files.write", json!({"path": "b.txt", "content": "b"})).await;
    assert_eq!(class, FailureClass::Policy);
    assert!(message.contains("is a link to") && message.contains("links are not followed"), "{message}");
}

#[tokio::test]
async fn a_file_that_is_too_large_is_refused_with_its_real_size() {
    let mut world = World::new();
    world.place.limits.file_bytes_max = 10;
    world.write("large.txt", "x".repeat(1_000));
    let failure = world.run(&tool("files.read", json!({"path": "large.txt"}))).await.end.unwrap_err();
    assert_eq!(failure.message, "`large.txt` has 1000 bytes; at most 10 are read and kept");
}

#[tokio::test]
async fn the_record_is_out_of_reach() {
    let mut world = World::new();
    world.place.own_files = ["g.db", "g.db-shm", "g.db-lock"].map(|name| world.root().join(name)).to_vec();
    world.write("g.db", "record\n");
    world.write("a", "a\n");
    let before = tree(world.root());
    let rows = [
        ("files.read", json!({"path": "g.db"})),
        ("files.write", json!({"path": "g.db-lock", "content": ""})),
        ("files.edit", json!({"path": "./g.db", "search": "record", "replace": "x"})),
        (
            "files.edit",
            json!({"diff": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n--- a/g.db\n+++ b/g.db\n@@ -1 +1 @@\n-record\n+x\n"}),
        ),
        ("files.delete", json!({"path": "g.db"})),
        ("files.move", json!({"from": "g.db", "to": "b"})),
        ("files.move", json!({"from": "a", "to": "g.db-shm"})),
    ];
    for (name, args) in rows {
        let (class, why) = world.refusal(name, args.clone()).await;
        assert_eq!(class, FailureClass::Policy, "{name} {args}: {why}");
        assert!(why.contains("is the record that this plan is kept in, or a part of it"), "{why}");
        assert!(world.runners.preview(&tool(name, args), &world.place).await.is_err());
    }
    assert_eq!(tree(world.root()), before);
}
