//! The repository of the working folder, with the real git.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::Arc;

use gantry_core::policy::{FailureClass, Policy};
use serde_json::{Value, json};

use crate::world::{World, tool, tree};

/// A folder with a repository that has one commit.
fn repository() -> World {
    let world = World::new();
    world.git(&["init", "--quiet", "--initial-branch=main"]);
    world.write("a.txt", "one\n");
    world.write("src/lib.rs", "fn a() {}\n");
    world.git(&["add", "."]);
    world.git(&["commit", "--quiet", "-m", "first"]);
    world
}

impl World {
    /// What git itself says, as the person who made the repository.
    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        let identity = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgSign=false"];
        let output = command.args(identity).args(args).current_dir(self.root()).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    async fn asks_git(&self, name: &str, args: Value) -> Value {
        let ended = self.run(&tool(name, args)).await;
        json!(ended.end.unwrap_or_else(|failure| panic!("{name}: {failure:?}")).outputs)
    }

    async fn git_refuses(&self, name: &str, args: Value) -> (FailureClass, String) {
        let failure = self.run(&tool(name, args)).await.end.expect_err(name);
        (failure.class, failure.message)
    }

    async fn takes_back(&self) -> Result<String, String> {
        let record = self.memory.intents.lock().unwrap().last().unwrap().clone();
        self.runners.undo(&tool("git.commit", json!({})), &self.place, &self.ports(), &record).await
    }
}

#[tokio::test]
async fn the_status_tells_what_changed_since_the_last_commit() {
    let world = repository();
    let clean = world.asks_git("git.status", json!({})).await;
    assert_eq!((&clean["branch"], &clean["clean"], &clean["files"]), (&json!("main"), &json!(true), &json!([])));
    world.write("a.txt", "two\n");
    world.write("new file", "x");
    std::fs::remove_file(world.root().join("src/lib.rs")).unwrap();
    world.git(&["add", "a.txt"]);
    let status = world.asks_git("git.status", json!({})).await;
    assert_eq!(status["head"], json!(world.git(&["rev-parse", "HEAD"])));
    assert_eq!(
        status["files"],
        json!([
            {"path": "a.txt", "state": "modified", "staged": true},
            {"path": "src/lib.rs", "state": "deleted", "staged": false},
            {"path": "new file", "state": "untracked", "staged": false},
        ])
    );
}

#[tokio::test]
async fn a_diff_shows_files_against_the_last_commit_or_between_two() {
    let world = repository();
    world.write("a.txt", "two\n");
    world.write("src/lib.rs", "fn b() {}\n");
    let one = world.asks_git("git.diff", json!({"paths": ["a.txt"]})).await;
    let text = one["diff"].as_str().unwrap();
    assert!(text.ends_with("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"), "{text}");
    assert_eq!(world.asks_git("git.diff", json!({"staged": true})).await["diff"], "");
    world.git(&["commit", "--quiet", "--all", "-m", "second"]);
    let between = world.asks_git("git.diff", json!({"from": "HEAD~1", "to": "HEAD"})).await;
    assert_eq!(between["paths"], json!(["a.txt", "src/lib.rs"]));
    let (_, said) = world.git_refuses("git.diff", json!({"from": "nowhere"})).await;
    assert!(said.contains("nowhere"), "{said}");
}

#[tokio::test]
async fn a_commit_holds_what_changed_and_the_same_again_commits_nothing() {
    let world = repository();
    world.write("a.txt", "two\n");
    world.write("new.txt", "x");
    let first = world.git(&["rev-parse", "HEAD"]);
    let args = json!({"message": "second\n\nwith more to say", "author": "Ben <ben@example.org>"});
    let done = world.asks_git("git.commit", args.clone()).await;
    assert_eq!((&done["changed"], &done["paths"]), (&json!(true), &json!(["a.txt", "new.txt"])));
    assert_eq!(done["commit"], json!(world.git(&["rev-parse", "HEAD"])));
    assert_eq!(
        world.git(&["log", "-1", "--format=%P|%an|%ae|%s|%b"]),
        format!("{first}|Ben|ben@example.org|second|with more to say")
    );
    assert_eq!(world.git(&["status", "--porcelain"]), "", "the index knows of it");
    let again = world.asks_git("git.commit", args).await;
    assert_eq!((&again["changed"], &again["commit"]), (&json!(false), &done["commit"]));
    let effects = world.memory.effects.lock().unwrap();
    assert_eq!((effects.len(), &effects[0].request["tool"]), (1, &json!("git.commit")));
}

#[tokio::test]
async fn only_the_paths_that_are_named_are_committed_and_what_else_is_staged_stays_so() {
    let world = repository();
    world.write("a.txt", "two\n");
    world.write("src/new.rs", "x");
    world.write("other.txt", "y");
    world.git(&["add", "a.txt"]);
    let done = world.asks_git("git.commit", json!({"message": "src", "paths": ["src/"]})).await;
    assert_eq!(done["paths"], json!(["src/new.rs"]));
    assert_eq!(world.git(&["status", "--porcelain"]), "M  a.txt\n?? other.txt");
}

#[tokio::test]
async fn a_commit_is_taken_back_as_long_as_nothing_came_after_it() {
    let world = repository();
    let first = world.git(&["rev-parse", "HEAD"]);
    world.write("a.txt", "two\n");
    world.write("other.txt", "y");
    world.git(&["add", "a.txt"]);
    let before = world.git(&["status", "--porcelain"]);
    world.asks_git("git.commit", json!({"message": "second"})).await;
    let second = world.git(&["rev-parse", "HEAD"]);
    assert!(world.takes_back().await.unwrap().ends_with("is taken back; the files are as they are"));
    assert_eq!((world.git(&["rev-parse", "HEAD"]), world.git(&["status", "--porcelain"])), (first.clone(), before));
    assert_eq!(world.read("a.txt"), "two\n");
    assert_eq!(world.takes_back().await.as_deref(), Ok("there was no commit to take back"));
    world.git(&["reset", "--quiet", "--hard", &second]);
    world.git(&["commit", "--quiet", "--allow-empty", "-m", "third"]);
    let why = world.takes_back().await.unwrap_err();
    assert!(why.ends_with("is not the last one any more; taking it back would lose what came after it"), "{why}");
    world.git(&["reset", "--quiet", "--hard", &second]);
    world.git(&["switch", "--quiet", "--create", "other"]);
    assert!(world.takes_back().await.is_err(), "on another branch it is not the task's commit");
}

#[tokio::test]
async fn the_first_commit_of_all_is_made_and_taken_back() {
    let world = World::new();
    world.git(&["init", "--quiet", "--initial-branch=main"]);
    world.write("a", "1");
    let work = tool("git.commit", json!({"message": "first"}));
    assert!(world.runners.preview(&work, &world.place).await.unwrap().diff.unwrap().contains("+1"));
    assert_eq!(world.asks_git("git.commit", json!({"message": "first"})).await["paths"], json!(["a"]));
    assert_eq!(world.git(&["log", "--format=%s"]), "first");
    world.takes_back().await.unwrap();
    assert_eq!(world.git(&["status", "--porcelain"]), "?? a");
}

#[tokio::test]
async fn the_record_and_unfinished_files_are_not_committed() {
    let mut world = repository();
    world.place.own_files = vec![world.root().join("gantry.db")];
    for name in ["gantry.db", ".gantry-0123456789abcdef.part", "src/.gantry-0123456789abcdef.tmp", "new"] {
        world.write(name, "x");
    }
    let done = world.asks_git("git.commit", json!({"message": "all"})).await;
    assert_eq!(done["paths"], json!(["new"]));
    assert_eq!(world.git(&["status", "--porcelain", "--untracked-files=all"]).lines().count(), 3);
}

#[tokio::test]
async fn a_preview_of_a_commit_is_its_diff_and_touches_nothing() {
    let world = repository();
    world.write("a.txt", "two\n");
    world.write("new.txt", "x\n");
    let before = tree(world.root());
    let work = tool("git.commit", json!({"message": "second\nmore"}));
    let preview = world.runners.preview(&work, &world.place).await.unwrap();
    assert_eq!(preview.text, "commit 2 files as \"second\"");
    let diff = preview.diff.unwrap();
    assert!(diff.contains("-one\n+two\n") && diff.contains("+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n"), "{diff}");
    assert_eq!(tree(world.root()), before);
    let nothing = tool("git.commit", json!({"message": "x", "paths": ["src"]}));
    assert_eq!(world.runners.preview(&nothing, &world.place).await.unwrap().text, "nothing would change");
}

#[tokio::test]
async fn no_hook_and_no_helper_runs_and_what_is_set_up_stays() {
    let world = repository();
    for hook in
        ["pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-checkout", "post-index-change"]
    {
        let path = world.write(
            &format!(".git/hooks/{hook}"),
            "#!/bin/sh\ntouch \"$(git rev-parse --show-toplevel)/hooked\"\nexit 1\n",
        );
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    world.git(&["config", "core.fsmonitor", "touch hooked"]);
    world.git(&["config", "diff.external", "touch hooked"]);
    world.git(&["config", "commit.gpgSign", "true"]);
    world.git(&["config", "gpg.program", "touch"]);
    let config = world.read(".git/config");
    world.write("a.txt", "two\n");
    world.asks_git("git.status", json!({})).await;
    world.asks_git("git.diff", json!({})).await;
    world.asks_git("git.branch", json!({"name": "side"})).await;
    world.asks_git("git.commit", json!({"message": "second"})).await;
    world.asks_git("git.switch", json!({"name": "side"})).await;
    world.asks_git("git.tag", json!({"name": "v1", "message": "one"})).await;
    assert!(!world.root().join("hooked").exists());
    assert_eq!(world.read(".git/config"), config);
}

#[tokio::test]
async fn branches_and_tags_are_made_once_and_removed_again() {
    let world = repository();
    let first = world.git(&["rev-parse", "HEAD"]);
    for (name, args) in [
        ("git.branch", json!({"name": "side/one"})),
        ("git.tag", json!({"name": "v1.0"})),
        ("git.tag", json!({"name": "v1.1", "message": "noted"})),
    ] {
        let before = tree(world.root());
        let preview = world.runners.preview(&tool(name, args.clone()), &world.place).await.unwrap();
        assert!(preview.text.starts_with("make the ") && tree(world.root()) == before, "{}", preview.text);
        let made = world.asks_git(name, args.clone()).await;
        assert_eq!((&made["changed"], &made["commit"]), (&json!(true), &json!(first)));
        assert_eq!(world.asks_git(name, args.clone()).await["changed"], false);
        world.git(&["commit", "--quiet", "--allow-empty", "-m", "more"]);
        let (_, said) = world.git_refuses(name, args).await;
        assert!(said.contains("already, at ") && said.contains("and not at"), "{said}");
        world.git(&["reset", "--quiet", "--hard", &first]);
        assert!(world.takes_back().await.unwrap().ends_with("is removed"));
        assert!(world.takes_back().await.unwrap().starts_with("there is no"));
    }
    assert_eq!(world.git(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
}

#[tokio::test]
async fn a_switch_changes_files_and_goes_back() {
    let world = repository();
    world.git(&["switch", "--quiet", "--create", "side"]);
    world.write("a.txt", "side\n");
    world.git(&["commit", "--quiet", "--all", "-m", "side"]);
    world.git(&["switch", "--quiet", "main"]);
    let work = tool("git.switch", json!({"name": "side"}));
    let preview = world.runners.preview(&work, &world.place).await.unwrap();
    assert_eq!(preview.text, "switch to the branch `side`, which changes one file");
    assert!(preview.diff.unwrap().ends_with("-one\n+side\n") && world.read("a.txt") == "one\n");
    assert_eq!(world.asks_git("git.switch", json!({"name": "side"})).await["changed"], true);
    assert_eq!(world.read("a.txt"), "side\n");
    assert_eq!(world.asks_git("git.switch", json!({"name": "side"})).await["changed"], false);
    world.write("a.txt", "not committed\n");
    assert!(world.takes_back().await.unwrap_err().contains("a.txt"), "what is not committed is not lost");
    world.git(&["checkout", "--quiet", "a.txt"]);
    assert_eq!(world.takes_back().await.as_deref(), Ok("`main` is worked on as before"));
    assert_eq!((world.read("a.txt").as_str(), world.git(&["branch", "--show-current"]).as_str()), ("one\n", "main"));
    let (_, said) = world.git_refuses("git.switch", json!({"name": "none"})).await;
    assert_eq!(said, "there is no branch `none`; make it with `git.branch`");
}

#[tokio::test]
async fn files_outside_of_the_policy_are_neither_shown_nor_committed_nor_changed() {
    let mut world = repository();
    world.git(&["switch", "--quiet", "--create", "side"]);
    world.write("a.txt", "side\n");
    world.git(&["commit", "--quiet", "--all", "-m", "side"]);
    world.git(&["switch", "--quiet", "main"]);
    let mut policy = Policy::default();
    policy.files.write = vec!["src/**".to_owned()];
    policy.files.read = vec!["src/**".to_owned()];
    world.place.policy = Arc::new(policy);
    world.write("a.txt", "secret\n");
    world.write("src/lib.rs", "fn b() {}\n");
    let status = world.asks_git("git.status", json!({})).await;
    assert_eq!((&status["count"], &status["left_out"], &status["clean"]), (&json!(1), &json!(1), &json!(false)));
    let diff = world.asks_git("git.diff", json!({})).await;
    assert_eq!((&diff["paths"], &diff["left_out"]), (&json!(["src/lib.rs"]), &json!(1)));
    assert!(!diff["diff"].as_str().unwrap().contains("secret"));
    let (class, said) = world.git_refuses("git.commit", json!({"message": "all"})).await;
    assert_eq!(class, FailureClass::Policy);
    assert!(said.starts_with("`a.txt` is outside `policy.files.write`") && said.contains("say with `paths`"), "{said}");
    assert_eq!(world.git_refuses("git.switch", json!({"name": "side"})).await.0, FailureClass::Policy);
    let done = world.asks_git("git.commit", json!({"message": "src", "paths": ["src"]})).await;
    assert_eq!(done["paths"], json!(["src/lib.rs"]), "the repository itself is for the capability to write");
}

#[tokio::test]
async fn only_a_repository_that_is_whole_in_the_working_folder_is_used() {
    let outer = repository();
    let mut inner = World::new();
    inner.place.root = outer.root().join("src");
    let (_, said) = inner.git_refuses("git.status", json!({})).await;
    assert!(said.starts_with("the working folder is no git repository"), "what is above is not looked at: {said}");
    outer.git(&["config", "core.worktree", "/usr"]);
    outer.write("a.txt", "two\n");
    let status = outer.asks_git("git.status", json!({})).await;
    assert_eq!(status["count"], 1, "its files are those of the working folder: {status}");
    let linked = World::new();
    linked.write(".git", format!("gitdir: {}/.git", outer.root().display()));
    let (_, said) = linked.git_refuses("git.status", json!({})).await;
    assert!(said.contains("is elsewhere"), "{said}");
}

#[tokio::test]
async fn what_git_could_take_for_something_else_is_refused() {
    let world = repository();
    for (name, args) in [
        ("git.diff", json!({"from": "--output=x"})),
        ("git.diff", json!({"from": "a..b"})),
        ("git.diff", json!({"paths": ["../x"]})),
        ("git.branch", json!({"name": "-D"})),
        ("git.branch", json!({"name": "a b"})),
        ("git.branch", json!({"name": "x.lock"})),
        ("git.tag", json!({"name": "v1", "at": "--all"})),
        ("git.commit", json!({"message": "  "})),
        ("git.commit", json!({"message": "x", "author": "nobody"})),
        ("git.commit", json!({"msg": "x"})),
        ("git.switch", json!({"name": ":/first"})),
    ] {
        let (_, said) = world.git_refuses(name, args.clone()).await;
        assert!(said.len() < 300, "{args}: {said}");
    }
    let mut world = world;
    let mut policy = Policy::default();
    policy.commands.deny = vec!["git".to_owned()];
    world.place.policy = Arc::new(policy);
    assert_eq!(world.git_refuses("git.status", json!({})).await.0, FailureClass::Policy);
}

#[tokio::test]
async fn a_preview_of_a_commit_says_that_the_tasks_before_it_change_more() {
    let mut world = repository();
    world.place.foreseen = gantry_runners::Foreseen::begin();
    let write = tool("files.write", json!({"path": "sub/n.txt", "content": "x"}));
    world.runners.preview(&write, &world.place).await.unwrap();
    let commit = tool("git.commit", json!({"message": "second"}));
    let text = world.runners.preview(&commit, &world.place).await.unwrap().text;
    assert_eq!(text, "commit what the tasks before it change as \"second\"");
    world.write("a.txt", "two\n");
    let text = world.runners.preview(&commit, &world.place).await.unwrap().text;
    assert_eq!(text, "commit one file, and what the tasks before it change, as \"second\"");
}

#[tokio::test]
async fn a_lock_that_a_killed_git_has_left_is_told_with_what_to_do() {
    let world = repository();
    world.git(&["branch", "other"]);
    world.write(".git/index.lock", "");
    let (_, said) = world.git_refuses("git.switch", json!({"name": "other"})).await;
    assert!(said.contains("index.lock': File exists.") && said.ends_with("has left it: remove that file"), "{said}");
    assert!(!said.contains("; "), "advice for a terminal is left out: {said}");
}
