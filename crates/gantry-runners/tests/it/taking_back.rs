//! Taking back what commands did to the working folder.

use gantry_core::plan::Undo;
use gantry_runners::Work;
use serde_json::Value;

use crate::world::{World, shell, tree};

fn restorable(command: &str) -> Work {
    Work { undo: Undo::Restore, ..shell(command) }
}

impl World {
    async fn take_back(&self, work: &Work, record: &Value) -> Result<String, String> {
        self.runners.undo(work, &self.place, &self.ports(), record).await
    }

    fn records(&self) -> Vec<Value> {
        self.memory.intents.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn what_a_command_changed_made_and_deleted_is_as_before() {
    let world = World::new();
    world.write("old", "one");
    world.write("gone/deep", "two");
    std::fs::create_dir(world.root().join("empty")).unwrap();
    let before = tree(world.root());
    let work = restorable("echo x > old; rm -r gone empty; mkdir -p new/inner bare; echo y > new/inner/file");
    world.run(&work).await.end.unwrap();
    assert_ne!(tree(world.root()), before);
    let records = world.records();
    assert_eq!(records.len(), 1, "the folder after it is told in the same record: {records:?}");
    assert_eq!(world.take_back(&work, &records[0]).await.unwrap(), "3 files are as before");
    assert_eq!(tree(world.root()), before);
    assert_eq!(world.take_back(&work, &records[0]).await.unwrap(), "everything was as before already");
}

#[tokio::test]
async fn what_others_did_later_stays_and_is_never_overwritten() {
    let world = World::new();
    world.write("shared", "one");
    let work = restorable("echo two > shared; echo made > made");
    world.run(&work).await.end.unwrap();
    world.write("theirs", "kept");
    let record = &world.records()[0];
    world.take_back(&work, record).await.unwrap();
    assert_eq!((world.read("shared"), world.read("theirs")), ("one".to_owned(), "kept".to_owned()));
    world.run(&work).await.end.unwrap();
    world.write("shared", "three");
    let why = world.take_back(&work, &world.records()[1]).await.unwrap_err();
    assert_eq!(why, "`shared` was changed since; taking it back would lose that change");
    assert_eq!(world.read("made"), "made\n", "then nothing goes back");
}

#[tokio::test]
async fn a_command_that_fails_is_taken_back_as_well() {
    let world = World::new();
    let work = restorable("echo half > half; exit 1");
    world.run(&work).await.end.unwrap_err();
    assert_eq!(world.take_back(&work, &world.records()[0]).await.unwrap(), "one file is as before");
    assert!(tree(world.root()).is_empty());
}

#[tokio::test]
async fn after_a_command_that_was_cut_off_the_whole_folder_goes_back_and_is_kept_first() {
    let world = World::new();
    world.write("file", "one");
    let work = restorable("echo two > file");
    world.run(&work).await.end.unwrap();
    let mut record = world.records()[0].clone();
    record["record"].as_object_mut().unwrap().remove("after");
    let how = world.take_back(&work, &record).await.unwrap();
    assert!(how.starts_with("it was cut off, so the whole folder is as before it (one file);"), "{how}");
    assert_eq!(world.read("file"), "one");
}

#[tokio::test]
async fn what_could_not_be_kept_is_said() {
    let mut world = World::new();
    world.place.limits.file_bytes_max = 10;
    world.write("large", "x".repeat(11));
    let work = restorable("echo more >> large; echo made > made");
    world.run(&work).await.end.unwrap();
    let how = world.take_back(&work, &world.records()[0]).await.unwrap();
    assert_eq!(how, "one file is as before; not kept, so left as it is: `large`");
}

#[tokio::test]
async fn nothing_is_kept_for_a_command_that_is_not_to_be_restored() {
    let world = World::new();
    world.write("file", "one");
    world.sh("echo two > file").await;
    assert!(world.records().is_empty());
}

#[tokio::test]
async fn the_engine_s_own_files_are_left_alone() {
    let mut world = World::new();
    world.write("record.db", "1");
    world.place.own_files = vec![world.root().join("record.db"), world.root().join("record.db-wal")];
    let work = restorable("echo made > made");
    world.run(&work).await.end.unwrap();
    world.write("record.db", "2");
    world.write("record.db-wal", "3");
    assert_eq!(world.take_back(&work, &world.records()[0]).await.unwrap(), "one file is as before");
    assert_eq!((world.read("record.db"), world.read("record.db-wal")), ("2".to_owned(), "3".to_owned()));
}
