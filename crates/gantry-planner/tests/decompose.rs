//! Breaking tasks down: levels, budgets, branches that end, and what is told when something cannot be kept.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use gantry_planner::decompose::{
    Asked, Child, Decomposition, LookedUp, Node, Outcome, Proposal, Proposer, Settings, Tree, decompose, faults,
};

/// Proposes two tasks for everything, unless told otherwise.
#[derive(Default)]
struct Script {
    /// What is proposed for tasks of these names.
    answers: BTreeMap<&'static str, Proposal>,
    /// How often an answer about a task of this name fails; always where it says 9.
    failures: BTreeMap<&'static str, u32>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Proposer for Script {
    async fn propose(&self, asked: &Asked<'_>, again: u32) -> Result<Proposal, Failure> {
        let name = asked.target.and_then(|id| asked.tree.node(id)).map_or("plan", |node| node.name.as_str());
        self.asked.lock().expect("nobody panicked").push(name.to_owned());
        if self.failures.get(name).is_some_and(|times| again < *times) {
            return Err(Failure::new(FailureClass::Transient, "the model is away"));
        }
        let two = || Proposal {
            children: vec![child(&format!("{name} a"), &[]), child(&format!("{name} b"), &[])],
            ..Proposal::default()
        };
        Ok(self.answers.get(name).cloned().unwrap_or_else(two))
    }
}

fn child(name: &str, waits_for: &[&str]) -> Child {
    Child {
        key: name.replace(' ', "-"),
        name: name.to_owned(),
        depends_on: waits_for.iter().map(|key| (*key).to_owned()).collect(),
        ..Child::default()
    }
}

fn node(id: &str, parent: Option<&str>, waits_for: &[&str]) -> Node {
    Node {
        id: id.to_owned(),
        name: id.to_owned(),
        parent: parent.map(str::to_owned),
        dependencies: waits_for.iter().map(|id| (*id).to_owned()).collect(),
        ..Node::default()
    }
}

fn tree(nodes: Vec<Node>) -> Tree {
    Tree { title: "plan".to_owned(), goal: "plan".to_owned(), nodes }
}

fn settings(depth: u32, budget: u32) -> Settings {
    Settings { depth, budget, ..Settings::default() }
}

async fn root_broken_down(script: &Script, depth: u32, budget: u32) -> (Tree, Decomposition) {
    decompose("p", tree(vec![node("root", None, &[])]), Some("root"), &settings(depth, budget), script).await
}

fn ids(nodes: &[Node]) -> Vec<&str> {
    nodes.iter().map(|node| node.id.as_str()).collect()
}

#[tokio::test]
async fn one_level_is_one_level_and_two_are_two() {
    let (_, one) = root_broken_down(&Script::default(), 1, 50).await;
    assert_eq!(ids(&one.created_tasks), ["root-a", "root-b"]);
    assert_eq!((one.outcome, one.stopped_reason.as_str()), (Outcome::Finished, "depth_reached"));
    let (tree, two) = root_broken_down(&Script::default(), 2, 50).await;
    assert_eq!(ids(&two.created_tasks), ["root-a", "root-b", "root-a-a", "root-a-b", "root-b-a", "root-b-b"]);
    assert_eq!(tree.path("root-b-a"), ["root", "root b", "root b a"]);
    assert_eq!((two.stats.llm_calls, two.stats.consumed_budget), (3, 6));
}

#[tokio::test]
async fn the_budget_counts_what_is_made_and_what_is_left_out_is_told() {
    let (_, made) = root_broken_down(&Script::default(), 5, 3).await;
    assert_eq!(ids(&made.created_tasks), ["root-a", "root-b", "root-a-a"]);
    assert_eq!((made.outcome, made.stopped_reason.as_str()), (Outcome::Exhausted, "node_budget_exhausted"));
    assert_eq!(made.left_out.len(), 1);
    assert_eq!(made.left_out[0].what, "the task `root a b`");
    assert_eq!(made.stats.queue_remaining, 2);
}

#[tokio::test]
async fn where_every_branch_ends_before_the_depth_that_is_the_reason() {
    let leaves = || Proposal {
        children: ["a", "b"].map(|name| Child { leaf: true, ..child(name, &[]) }).to_vec(),
        ..Proposal::default()
    };
    let small = Proposal { should_stop: true, reason: "small enough".to_owned(), ..Proposal::default() };
    let answers = BTreeMap::from([("root a", leaves()), ("root b", small)]);
    let (_, made) = root_broken_down(&Script { answers, ..Script::default() }, 9, 500).await;
    assert_eq!((made.outcome, made.stopped_reason.as_str()), (Outcome::Finished, "all_leaves"));
    let leaves = Script { answers: BTreeMap::from([("root", leaves())]), ..Script::default() };
    assert_eq!(root_broken_down(&leaves, 1, 500).await.1.stopped_reason, "depth_reached");
}

#[tokio::test]
async fn a_run_in_which_nobody_answers_has_failed() {
    let script = Script { failures: BTreeMap::from([("root", 9)]), ..Script::default() };
    let (tree, made) = root_broken_down(&script, 2, 50).await;
    assert_eq!(tree.nodes.len(), 1);
    assert_eq!(made.outcome, Outcome::Failed);
    assert_eq!(made.stopped_reason, "nobody answered: the model is away");
    assert_eq!(made.failed_nodes.iter().map(|failed| failed.id.as_str()).collect::<Vec<_>>(), ["root"]);
    assert_eq!(made.stats.llm_calls, 2, "it was asked once more, as the settings say");
}

#[tokio::test]
async fn who_fails_once_is_asked_again() {
    let script = Script { failures: BTreeMap::from([("root", 1)]), ..Script::default() };
    let (_, made) = root_broken_down(&script, 1, 50).await;
    assert_eq!((made.outcome, made.created_tasks.len(), made.stats.llm_calls), (Outcome::Finished, 2, 2));
}

#[tokio::test]
async fn a_task_that_fails_leaves_the_others_alone_and_is_told() {
    let script = Script { failures: BTreeMap::from([("root a", 9)]), ..Script::default() };
    let (_, made) = root_broken_down(&script, 2, 50).await;
    assert_eq!(ids(&made.created_tasks), ["root-a", "root-b", "root-b-a", "root-b-b"]);
    assert_eq!((made.outcome, made.stopped_reason.as_str()), (Outcome::Incomplete, "some_nodes_failed"));
}

#[tokio::test]
async fn a_task_without_children_ends_its_branch_and_no_other() {
    let small = Proposal { should_stop: true, reason: "small enough".to_owned(), ..Proposal::default() };
    let answers = BTreeMap::from([("root a", Proposal::default()), ("root b", small)]);
    let script = Script { answers, ..Script::default() };
    let nodes = vec![node("root", None, &[]), node("other", None, &[])];
    let (_, made) = decompose("p", tree(nodes), None, &settings(2, 50), &script).await;
    assert_eq!(
        ids(&made.created_tasks),
        ["root-a", "root-b", "other-a", "other-b", "other-a-a", "other-a-b", "other-b-a", "other-b-b"]
    );
    let stopped: Vec<_> = made.stopped_nodes.iter().map(|node| (node.id.as_str(), node.reason.as_str())).collect();
    assert_eq!(stopped, [("root-a", "empty_children"), ("root-b", "small enough")]);
    assert_eq!(made.stats.queue_remaining, 0);
}

#[tokio::test]
async fn a_single_task_that_is_small_enough_says_so() {
    let stop = |reason: &str| Proposal { should_stop: true, reason: reason.to_owned(), ..Proposal::default() };
    for (answer, reason) in
        [(stop("one call"), "one call"), (stop(""), "llm_requested_stop"), (Proposal::default(), "empty_children")]
    {
        let script = Script { answers: BTreeMap::from([("root", answer)]), ..Script::default() };
        let (_, made) = root_broken_down(&script, 2, 50).await;
        assert_eq!((made.outcome, made.stopped_reason.as_str()), (Outcome::Finished, reason));
    }
}

#[tokio::test]
async fn siblings_wait_for_each_other_by_their_keys() {
    let children = vec![child("pour", &["dig", "dig"]), child("dig", &[])];
    let script = Script {
        answers: BTreeMap::from([("root", Proposal { children, ..Proposal::default() })]),
        ..Script::default()
    };
    let (tree, made) = root_broken_down(&script, 1, 50).await;
    assert_eq!(tree.node("pour").unwrap().dependencies, ["dig"]);
    assert_eq!(made.left_out, []);
}

#[tokio::test]
async fn every_dependency_that_cannot_be_kept_is_told_with_its_reason() {
    let children =
        vec![child("a", &["b", "nobody", "a"]), child("b", &["a", "root", "above"]), child("c", &["after", "before"])];
    let script = Script {
        answers: BTreeMap::from([("root", Proposal { children, ..Proposal::default() })]),
        ..Script::default()
    };
    let nodes = vec![
        node("above", None, &[]),
        node("root", Some("above"), &[]),
        node("after", None, &["root"]),
        node("before", None, &[]),
    ];
    let (tree, made) = decompose("p", tree(nodes), Some("root"), &settings(1, 50), &script).await;
    assert_eq!(tree.node("a").unwrap().dependencies, ["b"]);
    assert_eq!(tree.node("c").unwrap().dependencies, ["before"]);
    let left: Vec<String> =
        made.left_out.iter().map(|left| format!("{}: {}, {}", left.task, left.what, left.why)).collect();
    insta::assert_snapshot!(left.join("\n"), @r"
    a: the dependency on `nobody`, there is no such task
    a: the dependency on `a`, it is the task itself
    b: the dependency on `a`, they would wait for each other
    b: the dependency on `root`, it is a part of that task, which is over only after its parts
    b: the dependency on `above`, it is a part of that task, which is over only after its parts
    c: the dependency on `after`, they would wait for each other
    ");
}

#[tokio::test]
async fn what_has_children_is_not_asked_about_and_its_children_are() {
    let script = Script::default();
    let nodes = vec![node("root", None, &[]), node("old", Some("root"), &[])];
    let (_, made) = decompose("p", tree(nodes.clone()), Some("root"), &settings(2, 50), &script).await;
    assert_eq!(*script.asked.lock().unwrap(), ["old"]);
    assert_eq!(ids(&made.created_tasks), ["old-a", "old-b"]);
    let (_, none) = decompose("p", tree(nodes.clone()), Some("root"), &settings(1, 50), &Script::default()).await;
    assert_eq!((none.outcome, none.stopped_reason.as_str()), (Outcome::Finished, "nothing_to_break_down"));
    let more = Settings { allow_existing_children: true, ..settings(1, 50) };
    let (tree, _) = decompose("p", tree(nodes), Some("root"), &more, &Script::default()).await;
    assert_eq!(tree.children(Some("root")).count(), 3);
}

#[tokio::test]
async fn an_empty_plan_gets_its_first_tasks_and_whoever_asks_again_goes_on() {
    let (grown, made) = decompose("p", tree(Vec::new()), None, &settings(1, 50), &Script::default()).await;
    assert_eq!(ids(&made.created_tasks), ["plan-a", "plan-b"]);
    let (_, more) = decompose("p", grown, None, &settings(2, 2), &Script::default()).await;
    assert_eq!(ids(&more.created_tasks), ["plan-a-a", "plan-a-b"]);
}

#[tokio::test]
async fn a_name_that_is_taken_gets_a_number() {
    let children = vec![child("root", &[]), child("Root!", &[])];
    let script = Script {
        answers: BTreeMap::from([("root", Proposal { children, ..Proposal::default() })]),
        ..Script::default()
    };
    let (_, made) = root_broken_down(&script, 1, 50).await;
    assert_eq!(ids(&made.created_tasks), ["root-2", "root-3"]);
}

#[test]
fn every_setting_is_read_from_its_variable_and_has_an_effect() {
    let read = |pairs: &[(&str, &str)]| {
        let pairs: BTreeMap<String, String> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Settings::from_variables(|name| pairs.get(name).cloned())
    };
    assert_eq!(read(&[]).unwrap(), Settings::default());
    let all = read(&[
        ("DECOMP_MAX_DEPTH", "3"),
        ("DECOMP_TOTAL_NODE_BUDGET", "9"),
        ("DECOMP_MIN_CHILDREN", "1"),
        ("DECOMP_MAX_CHILDREN", "4"),
        ("DECOMP_STOP_ON_EMPTY", "off"),
        ("DECOMP_RETRY_LIMIT", "0"),
        ("DECOMP_ALLOW_EXISTING_CHILDREN", "YES"),
        ("DECOMP_MODEL", "gpt-4o"),
    ]);
    let expected = Settings {
        depth: 3,
        budget: 9,
        children_min: 1,
        children_max: 4,
        stop_on_empty: false,
        retries: 0,
        allow_existing_children: true,
        model: Some("gpt-4o".to_owned()),
        search: None,
    };
    assert_eq!(all.unwrap(), expected);
    for (name, value) in [
        ("DECOMP_MAX_DEPTH", "two"),
        ("DECOMP_MAX_DEPTH", "0"),
        ("DECOMP_MIN_CHILDREN", "-1"),
        ("DECOMP_MIN_CHILDREN", "6"),
        ("DECOMP_STOP_ON_EMPTY", "maybe"),
    ] {
        let bad = read(&[(name, value)]).unwrap_err().to_string();
        assert!(bad.contains(value), "{bad}");
    }
}

#[test]
fn who_is_asked_may_be_named_with_its_provider_or_be_a_server_of_its_own() {
    let model = |pairs: &[(&str, &str)]| {
        let get = |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Settings::from_variables(get).map(|settings| settings.model).map_err(|bad| bad.to_string())
    };
    assert_eq!(model(&[("DECOMP_MODEL", "gpt-4o")]).unwrap().unwrap(), "gpt-4o");
    assert_eq!(model(&[("DECOMP_MODEL", "m"), ("DECOMP_PROVIDER", "ollama")]).unwrap().unwrap(), "ollama:m");
    let own = [("DECOMP_MODEL", "m"), ("DECOMP_PROVIDER", "qwen"), ("DECOMP_API_URL", "http://here/v1")];
    assert_eq!(model(&own).unwrap().unwrap(), "decomp:m");
    insta::assert_snapshot!(model(&own[1..]).unwrap_err(), @"`DECOMP_PROVIDER` is `qwen`, which is not enough: `DECOMP_MODEL` says which of its models");
    insta::assert_snapshot!(model(&own[2..]).unwrap_err(), @"`DECOMP_API_URL` is `http://here/v1`, which is not enough: `DECOMP_MODEL` says which model is asked there");
}

#[test]
fn a_search_needs_a_tool_that_searches() {
    let read = |search: &str, tool: &str| {
        let get = |name: &str| match name {
            "DECOMP_ENABLE_WEB_SEARCH" => Some(search.to_owned()),
            "DECOMP_SEARCH_TOOL" => Some(tool.to_owned()),
            _ => None,
        };
        Settings::from_variables(get)
    };
    assert_eq!(read("false", "mcp.web.search").unwrap(), Settings::default());
    assert_eq!(read("Yes", "mcp.web.search").unwrap().search.as_deref(), Some("mcp.web.search"));
    insta::assert_snapshot!(read("true", " ").unwrap_err().to_string(), @"`DECOMP_ENABLE_WEB_SEARCH` is `true`, which is not enough: `DECOMP_SEARCH_TOOL` says what searches, such as `mcp.web.search` for the tool `search` of [mcp.web] in gantry.toml");
    assert!(read("perhaps", "").is_err());
}

#[test]
fn whether_a_new_plan_is_broken_down_at_once_is_said_by_a_variable() {
    let read = |value: Option<&str>| {
        Settings::breaks_down_at_once(|name| value.filter(|_| name == "DECOMP_AUTO_ON_CREATE").map(str::to_owned))
    };
    assert!(read(None).unwrap() && read(Some("on")).unwrap() && !read(Some("No")).unwrap());
    assert!(read(Some("later")).is_err());
}

#[tokio::test]
async fn what_was_looked_up_stays_with_its_task_and_what_was_not_found_is_told() {
    let found = LookedUp::Found(serde_json::Map::from_iter([("combined".to_owned(), "a permit is needed".into())]));
    let with = |looked_up: LookedUp, names: [&str; 2]| Proposal {
        children: names.map(|name| child(name, &[])).to_vec(),
        looked_up: Some(looked_up),
        ..Proposal::default()
    };
    let answers = BTreeMap::from([
        ("root", with(found.clone(), ["root a", "root b"])),
        ("root a", with(found, ["x", "y"])),
        ("root b", with(LookedUp::Not("nobody searches".to_owned()), ["z", "w"])),
    ]);
    let script = Script { answers, ..Script::default() };
    let (tree, made) = root_broken_down(&script, 2, 50).await;
    let researched: Vec<&str> = made.researched.iter().map(|one| one.task.as_str()).collect();
    assert_eq!((researched, made.stats.enriched_nodes), (vec!["root", "root-a"], 2));
    assert_eq!(made.created_tasks[0].context["combined"], "a permit is needed", "also with the task that was made");
    assert_eq!(tree.node("root-a").unwrap().context, made.created_tasks[0].context);
    assert!(tree.node("root-b").unwrap().context.is_empty());
    let left: Vec<_> = made.left_out.iter().map(|left| (left.task.as_str(), left.why.as_str())).collect();
    assert_eq!(left, [("root-b", "nobody searches")]);
}

#[test]
fn a_proposal_is_held_against_the_settings_and_the_room_that_there_is() {
    let of = |count: usize| Proposal {
        children: (0..count).map(|n| child(&format!("task {n}"), &[])).collect(),
        ..Proposal::default()
    };
    let (usual, tree) = (Settings::default(), Tree::default());
    let asked = |budget| Asked { tree: &tree, target: None, levels: 1, budget, settings: &usual };
    let wrong = |proposal: &Proposal| faults(proposal, &asked(50));
    assert!(wrong(&of(2)).is_empty() && wrong(&of(5)).is_empty() && wrong(&of(0)).is_empty());
    assert_eq!(wrong(&of(1)), ["there is 1 child; propose at least 2, or say `should_stop` and why"]);
    assert_eq!(wrong(&of(6)), ["there are 6 children; propose at most 5"]);
    assert_eq!(asked(1).children(), 1..=1);
    assert!(faults(&of(1), &asked(1)).is_empty(), "nobody is to propose what there is no room for");
    assert!(faults(&of(2), &asked(1)).is_empty(), "what is over is left out, and told");
    let never_empty = Settings { stop_on_empty: false, ..Settings::default() };
    assert_eq!(faults(&of(0), &Asked { settings: &never_empty, ..asked(50) }).len(), 1);
    let twins = Proposal { children: vec![child("x", &[]), child("x", &[])], ..Proposal::default() };
    assert_eq!(wrong(&twins), ["two children have the key `x`"]);
}
