//! Tools of MCP servers, with real servers.

use std::sync::Arc;
use std::time::Duration;

use gantry_core::effect::Failure;
use gantry_core::input::Success;
use gantry_core::policy::{FailureClass, Policy};
use gantry_llm::Secret;
use gantry_llm::config::{KeyState, McpServer, McpVariable, McpWay, Origin};
use gantry_runners::{Mcp, Place, Ports, Runners};
use gantry_testkit::mcp_server;
use serde_json::{Value, json};

use crate::world::{World, eventually, guard, lives, pids, tool};

/// The server that other tests start: this very program, told to run this test alone.
#[test]
#[ignore = "it is a server, which other tests start"]
fn serves() {
    mcp_server::serve_stdio();
}

/// The test server as a program.
pub fn program() -> McpWay {
    let this = std::env::current_exe().unwrap().display().to_string();
    McpWay::Command([&this, "mcp::serves", "--exact", "--ignored", "--nocapture"].map(ToString::to_string).to_vec())
}

fn shell(script: &str) -> McpWay {
    McpWay::Command(["sh", "-c", script].map(str::to_owned).to_vec())
}

pub fn server(way: McpWay) -> McpServer {
    McpServer {
        name: "kit".to_owned(),
        way,
        env: Vec::new(),
        key: None,
        key_state: KeyState::NotNeeded,
        tools: None,
        safe: Vec::new(),
        timeout: Duration::from_mins(1),
        origin: Origin::BuiltIn,
    }
}

/// Runners that can call this server.
pub fn knowing(server: &McpServer) -> Runners {
    let servers = std::collections::BTreeMap::from([(server.name.clone(), server.clone())]);
    Runners::standard(guard()).with_mcp(Mcp::new(guard(), move || Ok(servers.clone())))
}

/// Lets processes run this very program.
pub fn letting_this_program_run(world: &mut World) {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    world.place.sandbox.read_also.push(folder);
}

/// A folder with this server.
fn world(server: &McpServer) -> World {
    let mut world = World::new();
    letting_this_program_run(&mut world);
    world.runners = knowing(server);
    world
}

impl World {
    async fn calls_with(&self, ports: &Ports, name: &str, args: Value) -> Result<Success, Failure> {
        let work = tool(&format!("mcp.kit.{name}"), args);
        self.runners.attempt(&work, &self.place, ports, &self.stop).await.end
    }

    /// One attempt with one call.
    async fn calls(&self, name: &str, args: Value) -> Result<Success, Failure> {
        let ports = self.ports();
        let end = self.calls_with(&ports, name, args).await;
        ports.sessions.close().await;
        end
    }

    fn under(self, change: impl FnOnce(&mut Policy)) -> Self {
        let mut policy = (*self.place.policy).clone();
        change(&mut policy);
        Self { place: Place { policy: Arc::new(policy), ..self.place.clone() }, ..self }
    }
}

#[tokio::test]
async fn a_tool_of_a_program_is_called_and_what_it_gives_becomes_outputs_and_artifacts() {
    let world = world(&server(program()));
    let said = world.calls("echo", json!({"text": "good day"})).await.unwrap();
    assert_eq!(said.outputs["text"], "good day");
    let given = world.calls("data", json!({})).await.unwrap();
    assert_eq!(given.outputs["json"], json!({"answer": 42}));
    assert_eq!(given.outputs["text"], "see the data\n[image: 5 bytes, kept as `image-1`]");
    assert_eq!(world.memory.blob(&given.artifacts, "image-1"), b"hello");
    let effects = world.memory.effects.lock().unwrap();
    assert_eq!(effects[0].request, json!({"server": "kit", "tool": "echo", "args": {"text": "good day"}}));
    assert_eq!(effects[0].answer.as_ref().unwrap()["outputs"]["text"], "good day");
}

#[tokio::test]
async fn a_server_is_started_once_for_an_attempt_and_nothing_of_it_is_left_after_that() {
    let world = world(&server(program()));
    let ports = world.ports();
    for _ in 0..2 {
        world.calls_with(&ports, "breed", json!({"path": "pids"})).await.unwrap();
    }
    let children = pids(&world.root().join("pids"), 2).await;
    assert!(children.iter().all(|pid| lives(*pid)), "the server that started them is still there");
    ports.sessions.close().await;
    assert!(children.iter().all(|pid| !lives(*pid)), "what the server started ends with it");
}

#[tokio::test]
async fn a_server_ends_when_its_attempt_is_dropped_in_the_middle() {
    let world = world(&server(program()));
    let ports = world.ports();
    world.calls_with(&ports, "breed", json!({"path": "pids"})).await.unwrap();
    let children = pids(&world.root().join("pids"), 1).await;
    {
        let hanging = world.calls_with(&ports, "hang", json!({"path": "log"}));
        tokio::pin!(hanging);
        let begun = eventually("it is called", || world.root().join("log").exists());
        tokio::select! {
            end = &mut hanging => panic!("it ended: {end:?}"),
            () = begun => {}
        }
    }
    drop(ports);
    eventually("everything of it has ended", || !lives(children[0])).await;
}

#[tokio::test]
async fn a_server_that_is_not_there_or_is_none_says_so_and_nothing_is_in_doubt() {
    let nowhere = McpWay::Url("http://127.0.0.1:1/mcp".to_owned());
    let missing = McpWay::Command(vec!["no-such-program".to_owned()]);
    let rows = [
        (
            missing,
            FailureClass::Policy,
            "the MCP server `kit` cannot be started: the program `no-such-program` was not found",
        ),
        (
            shell("echo no such thing >&2; exit 1"),
            FailureClass::Transient,
            "the MCP server `kit` ended before it had said anything: no such thing",
        ),
        (
            shell("while read line; do echo nonsense; done"),
            FailureClass::Transient,
            "the MCP server `kit` did not answer within 1 s",
        ),
        (
            shell("while read line; do echo '{\"jsonrpc\": \"2.0\", \"id\": 77, \"result\": {}}'; done"),
            FailureClass::Logic,
            "the MCP server `kit` does not speak MCP as expected",
        ),
        (shell("cat /dev/zero"), FailureClass::Transient, "the MCP server `kit` did not answer within 1 s"),
        (shell("exec sleep 100000"), FailureClass::Transient, "the MCP server `kit` did not answer within 1 s"),
        (nowhere, FailureClass::Transient, "the MCP server `kit` cannot be reached"),
    ];
    for (way, class, message) in rows {
        let shown = way.to_string();
        let timeout = Duration::from_secs(1);
        let world =
            world(&McpServer { timeout, ..server(way) }).under(|policy| policy.network.allow.push("*".to_owned()));
        let failure = world.calls("echo", json!({"text": "x"})).await.unwrap_err();
        assert_eq!(failure.class, class, "{shown}: {failure:?}");
        assert!(failure.message.starts_with(message), "{shown}: {failure:?}");
    }
}

#[tokio::test]
async fn a_call_without_an_answer_may_have_happened_unless_the_tool_is_safe_to_repeat() {
    for (name, said) in [("die", "went away while `die` was under way"), ("hang", "did not answer `hang` within 2 s")] {
        for (safe, class) in [(Vec::new(), FailureClass::Lost), (vec![name.to_owned()], FailureClass::Transient)] {
            let world = world(&McpServer { safe, timeout: Duration::from_secs(2), ..server(program()) });
            let ports = world.ports();
            let failure = world.calls_with(&ports, name, json!({"path": "log"})).await.unwrap_err();
            assert_eq!(failure.class, class, "{failure:?}");
            assert!(failure.message.contains(said), "{failure:?}");
            assert_eq!(failure.message.contains("it may have happened"), class == FailureClass::Lost, "{failure:?}");
            assert_eq!(world.read("log"), format!("{name}\n"), "it was called once");
            let again = world.calls_with(&ports, "echo", json!({"text": "x"})).await;
            assert!(again.is_ok(), "the next call has another server: {again:?}");
            ports.sessions.close().await;
        }
    }
}

/// The process that started another.
fn parent(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_server_that_went_away_between_two_calls_is_started_again_and_nothing_is_in_doubt() {
    let world = world(&server(program()));
    let ports = world.ports();
    world.calls_with(&ports, "breed", json!({"path": "pids"})).await.unwrap();
    let child = pids(&world.root().join("pids"), 1).await[0];
    let program = parent(child);
    let guard = parent(program);
    rustix::process::kill_process(rustix::process::Pid::from_raw(program).unwrap(), rustix::process::Signal::KILL)
        .unwrap();
    eventually("everything of it has ended", || ![child, program, guard].into_iter().any(lives)).await;
    for _ in 0..1_000 {
        tokio::task::yield_now().await; // whoever reads the line hears that it is closed
    }
    assert_eq!(world.calls_with(&ports, "echo", json!({"text": "x"})).await.unwrap().outputs["text"], "x");
    ports.sessions.close().await;
}

#[tokio::test]
async fn what_a_dying_server_said_last_is_in_the_failure() {
    let world = world(&server(program()));
    let failure = world.calls("die", json!({"path": "log"})).await.unwrap_err();
    assert!(failure.message.ends_with(": as the test says"), "{failure:?}");
}

#[tokio::test]
async fn answers_that_are_too_long_are_cut_and_kept() {
    let world = world(&server(program()));
    let given = world.calls("flood", json!({"chars": "200000"})).await.unwrap();
    let text = given.outputs["text"].as_str().unwrap();
    assert!(text.len() < 70_000 && text.contains("[left out: "), "{}", text.len());
    assert_eq!(world.memory.blob(&given.artifacts, "text").len(), 200_000);
    let failure = world.calls("flood", json!({"chars": "30000000"})).await;
    assert!(failure.is_err() || failure.is_ok_and(|given| given.outputs["text"].as_str().unwrap().len() < 70_000));
}

#[tokio::test]
async fn a_server_sees_only_the_variables_that_it_is_given_and_nobody_sees_their_values() {
    let variable =
        |name: &str, value: Option<&str>| McpVariable { name: name.to_owned(), value: value.map(Secret::new) };
    let env = vec![variable("KIT_TOKEN", Some("hunter2-hunter2"))];
    let world = world(&McpServer { env, ..server(program()) });
    let given = world.calls("variable", json!({"name": "KIT_TOKEN"})).await.unwrap();
    assert_eq!(given.outputs["text"], "[secret KIT_TOKEN]");
    let effects = format!("{:?}", world.memory.effects.lock().unwrap());
    assert!(effects.contains("[secret KIT_TOKEN]") && !effects.contains("hunter2"), "{effects}");
    let other = world.calls("variable", json!({"name": "CARGO_MANIFEST_DIR"})).await.unwrap();
    assert_eq!(other.outputs["text"], "it is not set");
    let world = self::world(&McpServer { env: vec![variable("KIT_TOKEN", None)], ..server(program()) });
    let failure = world.calls("echo", json!({"text": "x"})).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Policy);
    assert!(failure.message.contains("`--secret KIT_TOKEN`"), "{failure:?}");
}

#[tokio::test]
async fn calls_that_make_no_sense_are_refused_with_what_there_is() {
    let world = world(&McpServer { tools: Some(vec!["echo".to_owned(), "gone".to_owned()]), ..server(program()) });
    let rows = [
        (
            "echo",
            json!({}),
            FailureClass::Logic,
            "`echo` of the MCP server `kit`: At the top: the property \"text\" is missing.",
        ),
        (
            "append",
            json!({}),
            FailureClass::Policy,
            "`append` is not among the tools of [mcp.kit] in gantry.toml: `echo`, `gone`",
        ),
        ("gone", json!({}), FailureClass::Logic, "the MCP server `kit` has no tool `gone`"),
        ("*", json!({}), FailureClass::Logic, "`mcp.kit.*` stands for several tools; name one"),
    ];
    for (name, args, class, message) in rows {
        let failure = world.calls(name, args).await.unwrap_err();
        assert_eq!(failure.class, class, "{failure:?}");
        assert!(failure.message.starts_with(message), "{failure:?}");
    }
    for (name, message) in [("mcp.kti.echo", "did you mean `kit`?"), ("mcp.kit", "write `mcp.SERVER.TOOL`")] {
        let failure = world.run(&tool(name, json!({}))).await.end.unwrap_err();
        assert!(failure.message.ends_with(message), "{failure:?}");
    }
    let failure = world.run(&tool("mcp.elsewhere.echo", json!({}))).await.end.unwrap_err();
    assert!(failure.is_missing_capability() && failure.message.contains("[mcp.elsewhere]"), "{failure:?}");
}

#[tokio::test]
async fn a_tool_that_says_it_failed_is_a_wrong_result_in_its_own_words() {
    let world = world(&server(program()));
    let failure = world.calls("fail", json!({"text": "the disk is full"})).await.unwrap_err();
    assert_eq!((failure.class, failure.message.as_str()), (FailureClass::Logic, "the disk is full"));
}

#[tokio::test]
async fn a_server_that_changes_its_tools_is_asked_again_which_it_has() {
    let world = world(&server(program()));
    let ports = world.ports();
    world.calls_with(&ports, "vanish", json!({})).await.unwrap();
    let failure = world.calls_with(&ports, "vanish", json!({})).await.unwrap_err();
    assert!(failure.message.starts_with("the MCP server `kit` has no tool `vanish`"), "{failure:?}");
    assert!(world.calls_with(&ports, "echo", json!({"text": "x"})).await.is_ok());
    ports.sessions.close().await;
}

#[tokio::test]
async fn policies_hold_for_servers_as_for_everything_else() {
    let program_name = std::env::current_exe().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    let denied = world(&server(program())).under(|policy| policy.commands.deny.push(program_name.clone()));
    let failure = denied.calls("echo", json!({"text": "x"})).await.unwrap_err();
    assert!(failure.class == FailureClass::Policy && failure.message.contains("policy.commands.deny"), "{failure:?}");
    let denied = world(&server(program())).under(|policy| policy.tools.deny.push("mcp.kit.ec*".to_owned()));
    let failure = denied.calls("echo", json!({"text": "x"})).await.unwrap_err();
    assert_eq!(failure.message, "`mcp.kit.echo` is in `policy.tools.deny`");
    let only = world(&server(program())).under(|policy| policy.tools.allow.push("files.*".to_owned()));
    let failure = only.calls("echo", json!({"text": "x"})).await.unwrap_err();
    assert_eq!(failure.message, "`mcp.kit.echo` is not in `policy.tools.allow`, which has `files.*`");
    let narrow = world(&server(program())).under(|policy| policy.files.write.push("out/**".to_owned()));
    let outside = narrow.calls("append", json!({"path": "log", "line": "x"})).await.unwrap();
    let confined = outside.outputs["text"].as_str().unwrap().starts_with("cannot append");
    assert!(confined || !crate::sandbox::confined(&narrow).await, "{outside:?}");
}

#[tokio::test]
async fn a_server_at_an_address_is_called_where_the_policy_lets_it() {
    let remote = mcp_server::McpServer::start();
    let way = McpWay::Url(remote.url());
    let world = world(&server(way.clone()));
    let failure = world.calls("echo", json!({"text": "x"})).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Policy);
    assert_eq!(failure.message, "`127.0.0.1` is outside `policy.network.allow`, which allows nothing");
    assert_eq!(remote.calls(), 0);
    let world = self::world(&server(way)).under(|policy| policy.network.allow.push("127.0.0.1".to_owned()));
    assert_eq!(world.calls("echo", json!({"text": "good day"})).await.unwrap().outputs["text"], "good day");
    assert_eq!(remote.calls(), 1);
    let failure = world.calls("fail", json!({"text": "no"})).await.unwrap_err();
    assert_eq!(failure.message, "no");
}

#[tokio::test]
async fn stopping_an_attempt_stops_a_call_that_is_under_way() {
    let world = world(&server(program()));
    let ports = world.ports();
    let stopping = async {
        eventually("it is called", || world.root().join("log").exists()).await;
        world.stop.cancel();
    };
    let (end, ()) = tokio::join!(world.calls_with(&ports, "hang", json!({"path": "log"})), stopping);
    assert_eq!(end.unwrap_err().class, FailureClass::Cancelled);
    ports.sessions.close().await;
}

#[tokio::test]
async fn what_would_be_called_can_be_seen_before() {
    let world = world(&server(shell("exit 1")));
    let preview = world.runners.preview(&tool("mcp.kit.echo", json!({"text": "x"})), &world.place).await.unwrap();
    assert_eq!(preview.text, "would call `echo` of the MCP server `kit` (sh -c exit 1) with\n{\n  \"text\": \"x\"\n}");
}
