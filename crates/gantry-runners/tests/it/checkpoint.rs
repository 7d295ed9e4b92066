//! Checkpoints of the working folder, and going back to them.

use std::os::unix::fs::{PermissionsExt, symlink};

use gantry_core::input::Success;
use gantry_core::plan::{Action, Checkpoint};
use gantry_runners::Secrets;
use gantry_runners::checkpoint::{Manifest, restore};
use proptest::prelude::*;
use serde_json::json;

use crate::world::{World, doing, tree};

impl World {
    async fn checkpoint(&self) -> Success {
        let action = Action::Checkpoint(Checkpoint { name: "here".to_owned(), note: None });
        self.run(&doing(action)).await.end.unwrap()
    }

    async fn manifest(&self) -> Manifest {
        let success = self.checkpoint().await;
        Manifest::fetch(&success.artifacts[0].hash, &self.ports()).await.unwrap()
    }
}

#[tokio::test]
async fn going_back_restores_files_modes_links_and_empty_folders() {
    let world = World::new();
    let script = world.write("bin/run", b"#!/bin/sh\n\xff\0");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o750)).unwrap();
    world.write("a", "a");
    world.write("kept/x", "x");
    symlink("no/such/place", world.root().join("link")).unwrap();
    std::fs::create_dir_all(world.root().join("empty/inner")).unwrap();
    let before = tree(world.root());
    let manifest = world.manifest().await;
    assert_eq!(tree(world.root()), before);
    std::fs::remove_dir_all(world.root().join("bin")).unwrap();
    std::fs::remove_dir_all(world.root().join("empty")).unwrap();
    std::fs::remove_file(world.root().join("link")).unwrap();
    std::fs::remove_file(world.root().join("a")).unwrap();
    world.write("a/now/a/folder", "x");
    world.write("bin", "now a file");
    world.write("new/deep", "x");
    std::fs::set_permissions(world.root().join("kept/x"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let changed = tree(world.root());
    let restored = restore(&manifest, &world.place, &world.ports(), &world.stop).await.unwrap();
    assert_eq!(tree(world.root()), before);
    let safety = Manifest::fetch(&restored.safety.hash, &world.ports()).await.unwrap();
    restore(&safety, &world.place, &world.ports(), &world.stop).await.unwrap();
    assert_eq!(tree(world.root()), changed, "going back from going back");
}

#[tokio::test]
async fn what_is_ignored_is_neither_kept_nor_removed() {
    let world = World::new();
    world.write(".gitignore", "target/\n*.log\n");
    world.write("target/big", "made");
    world.write(".git/config", "git's own");
    world.write("src", "s");
    let success = world.checkpoint().await;
    assert_eq!(success.outputs["files"], json!(2));
    assert_eq!(success.outputs["name"], json!("here"));
    assert!(success.outputs["environment"]["os"].is_string());
    let manifest = Manifest::fetch(&success.artifacts[0].hash, &world.ports()).await.unwrap();
    world.write("run.log", "log");
    world.write("target/more", "made");
    world.write("src", "changed");
    let before = tree(world.root());
    restore(&manifest, &world.place, &world.ports(), &world.stop).await.unwrap();
    let mut wanted = before;
    wanted.insert("src".to_owned(), wanted["src"].replace(&format!("{:?}", b"changed"), &format!("{:?}", b"s")));
    assert_eq!(tree(world.root()), wanted);
}

#[tokio::test]
async fn what_is_too_large_is_left_out_by_name_and_stays_as_it_is() {
    let mut world = World::new();
    world.place.limits.file_bytes_max = 10;
    world.place.limits.checkpoint_bytes_max = 15;
    world.write("large", "x".repeat(11));
    world.write("one", "1234567890");
    world.write("two", "1234567890");
    let success = world.checkpoint().await;
    let left_out: Vec<&String> = success.outputs["left_out"].as_object().unwrap().keys().collect();
    assert_eq!(left_out, ["large", "two"]);
    let manifest = Manifest::fetch(&success.artifacts[0].hash, &world.ports()).await.unwrap();
    world.write("one", "changed");
    let wanted = world.read("large");
    restore(&manifest, &world.place, &world.ports(), &world.stop).await.unwrap();
    assert_eq!((world.read("one"), world.read("large")), ("1234567890".to_owned(), wanted));
}

#[tokio::test]
async fn only_what_changed_is_new_in_the_next_checkpoint() {
    let world = World::new();
    world.write("a", "a");
    world.write("b", "b");
    let first = world.manifest().await;
    let blobs = world.memory.blobs.lock().unwrap().len();
    world.write("b", "B");
    std::fs::remove_file(world.root().join("a")).unwrap();
    let second = world.manifest().await;
    assert_eq!(second.changed_since(&first).into_iter().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(world.memory.blobs.lock().unwrap().len(), blobs + 2, "the new content and the manifest");
}

#[tokio::test]
async fn a_damaged_checkpoint_changes_nothing() {
    let world = World::new();
    world.write("a", "a");
    world.write("b", "b");
    let manifest = world.manifest().await;
    world.write("a", "A");
    world.write("b", "B");
    let before = tree(world.root());
    let hash = blake3::hash(b"b").to_hex().to_string();
    world.memory.blobs.lock().unwrap().insert(hash, b"bad".to_vec());
    let why = restore(&manifest, &world.place, &world.ports(), &world.stop).await.unwrap_err();
    assert_eq!(why, "`b` cannot be restored: what is kept is damaged");
    assert_eq!(tree(world.root()), before);
}

#[tokio::test]
async fn a_checkpoint_holds_no_secret_and_still_restores_it() {
    let mut world = World::new();
    world.place.secrets = Secrets::of([("TOKEN".to_owned(), "hunter2-and-more".to_owned())]).unwrap();
    world.write("settings", "x=hunter2-and-more\n");
    let manifest = world.manifest().await;
    world.write("settings", "gone");
    restore(&manifest, &world.place, &world.ports(), &world.stop).await.unwrap();
    assert_eq!(world.read("settings"), "x=hunter2-and-more\n");
    let blobs = world.memory.blobs.lock().unwrap();
    assert!(blobs.values().all(|bytes| !String::from_utf8_lossy(bytes).contains("hunter2")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn going_back_gives_the_same_folder_whatever_happened(
        first in prop::collection::btree_map("[ab](/[ab]){0,2}", any::<Option<u8>>(), 0..6),
        then in prop::collection::btree_map("[ab](/[ab]){0,2}", any::<Option<u8>>(), 0..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::new();
            let make = |all: &std::collections::BTreeMap<String, Option<u8>>| {
                for (path, content) in all {
                    let path = world.root().join(path);
                    // Some do not fit beside others; what fits is made.
                    let _ = std::fs::create_dir_all(path.parent().unwrap());
                    let _ = match content {
                        Some(byte) => std::fs::write(&path, [*byte]),
                        None => std::fs::create_dir(&path),
                    };
                }
            };
            make(&first);
            let before = tree(world.root());
            let manifest = world.manifest().await;
            for entry in std::fs::read_dir(world.root()).unwrap().take(1) {
                let path = entry.unwrap().path();
                let _ = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
            }
            make(&then);
            restore(&manifest, &world.place, &world.ports(), &world.stop).await.unwrap();
            assert_eq!(tree(world.root()), before);
        });
    }
}

#[tokio::test]
async fn a_checkpoint_tells_what_changed_since_the_last_one() {
    let world = World::new();
    world.write("same", "same");
    world.write("gone", "gone");
    world.write("other", "before");
    let first = world.checkpoint().await;
    assert_eq!(first.outputs["changed"], json!(3), "everything is new at first");
    world.write("other", "after");
    world.write("new", "new");
    std::fs::remove_file(world.root().join("gone")).unwrap();
    let mut work = doing(Action::Checkpoint(Checkpoint { name: "here".to_owned(), note: None }));
    work.inputs.insert("since".to_owned(), json!(first.artifacts[0].hash));
    let second = world.run(&work).await.end.unwrap();
    assert_eq!((&second.outputs["files"], &second.outputs["changed"]), (&json!(3), &json!(3)));
}

#[tokio::test]
async fn a_checkpoint_names_the_tools_and_the_commit() {
    let world = World::new();
    world.write("a", "a");
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(args).current_dir(world.root());
        let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet"]);
    git(&["add", "a"]);
    git(&["commit", "--quiet", "-m", "first"]);
    let facts = world.checkpoint().await.outputs["environment"].clone();
    assert_eq!(facts["git_head"], json!(git(&["rev-parse", "HEAD"])));
    assert_eq!(facts["git"], json!(git(&["--version"])));
    assert_eq!((&facts["os"], &facts["arch"]), (&json!(std::env::consts::OS), &json!(std::env::consts::ARCH)));
}
