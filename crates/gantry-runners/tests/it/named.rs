//! Files that a task declares as artifacts.

use std::sync::Arc;

use gantry_core::effect::Failure;
use gantry_core::input::Success;
use gantry_core::policy::{FailureClass, Policy};
use gantry_runners::{Brief, Work};
use serde_json::json;

use crate::world::{World, shell, tool};

fn declaring(work: Work, artifacts: &[&str]) -> Work {
    let artifacts = artifacts.iter().map(|name| (*name).to_owned()).collect();
    Work { brief: Arc::new(Brief { artifacts, ..Brief::default() }), ..work }
}

impl World {
    async fn makes(&self, work: Work, artifacts: &[&str]) -> Result<Success, Failure> {
        self.runners.attempt(&declaring(work, artifacts), &self.place, &self.ports(), &self.stop).await.end
    }
}

#[tokio::test]
async fn a_file_that_is_declared_as_an_artifact_is_kept_as_the_task_left_it() {
    let world = World::new();
    let made = world.makes(shell("mkdir out; printf '\\377bin' > out/data; echo said"), &["out/data", "stdout"]).await;
    let made = made.unwrap();
    assert_eq!(world.memory.blob(&made.artifacts, "out/data"), b"\xffbin");
    assert_eq!(made.artifacts.iter().filter(|artifact| artifact.name == "stdout").count(), 1);
    let written = tool("files.write", json!({"path": "notes.md", "content": "hello"}));
    let made = world.makes(written, &["notes.md"]).await.unwrap();
    assert_eq!(world.memory.blob(&made.artifacts, "notes.md"), b"hello");
}

#[tokio::test]
async fn an_output_of_that_name_is_the_artifact() {
    let world = World::new();
    let made = world.makes(shell("echo 'sources=[1]' > $GANTRY_OUTPUTS"), &["sources", "stderr"]).await.unwrap();
    assert_eq!(made.outputs["sources"], json!([1]));
    assert!(made.artifacts.is_empty(), "{:?}", made.artifacts);
}

#[tokio::test]
async fn a_task_that_did_not_make_its_artifact_has_failed_and_says_so() {
    let mut world = World::new();
    let failure = world.makes(shell("echo said"), &["report.md"]).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Logic);
    assert_eq!(
        failure.message,
        "it was to make the artifact `report.md`, and there is neither such a file in the working folder nor such an output"
    );
    assert_eq!(world.memory.blob(&failure.evidence, "stdout"), b"said\n", "what it said is kept all the same");
    let rows = [
        ("mkdir folder", "folder", "is a folder; a file is needed"),
        ("true", "../out", "`..` leads out"),
        ("ln -s /etc/passwd link", "link", "links are not followed"),
    ];
    for (command, name, why) in rows {
        let failure = world.makes(shell(command), &[name]).await.unwrap_err();
        assert!(failure.message.contains(why), "{name}: {}", failure.message);
    }
    let mut policy = Policy::default();
    policy.files.read = vec!["docs/**".to_owned()];
    policy.files.write = vec!["docs/**".to_owned()];
    world.place.policy = Arc::new(policy);
    world.write("secret", "x");
    let failure = world.makes(shell("true"), &["secret"]).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Policy, "{}", failure.message);
}

#[tokio::test]
async fn the_record_is_no_artifact() {
    let mut world = World::new();
    world.place.own_files = vec![world.root().join("g.db")];
    world.write("g.db", "record");
    let failure = world.makes(shell("true"), &["g.db"]).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Policy);
    assert!(failure.message.contains("is the record that this plan is kept in"), "{}", failure.message);
}
