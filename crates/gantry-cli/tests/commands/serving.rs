//! Plans that call tools of MCP servers, from the command line, with real servers.

use gantry_testkit::mcp_server::{McpServer, serve_stdio};
use gantry_testkit::model_server::{Heard, ModelServer, Turn};
use serde_json::{Value, json};

use super::kit::Kit;

/// The server that other tests start: this very program, told to run this test alone.
#[test]
#[ignore = "it is a server, which other tests start"]
fn serves() {
    serve_stdio();
}

/// The test server as `gantry.toml` names it.
pub fn program() -> String {
    let this = std::env::current_exe().unwrap();
    format!("command = {:?}\n", [this.to_str().unwrap(), "serving::serves", "--exact", "--ignored", "--nocapture"])
}

/// `gantry` with this line, where processes may run this very program.
fn run(kit: &Kit, line: &str) -> String {
    kit.gantry(&letting_this_program_run(line).iter().map(String::as_str).collect::<Vec<_>>())
}

fn letting_this_program_run(line: &str) -> Vec<String> {
    let folder = std::env::current_exe().unwrap().parent().unwrap().display().to_string();
    line.split(' ').map(str::to_owned).chain(["--allow-read".to_owned(), folder]).collect()
}

/// The models at this server, as `gantry.toml` names them.
pub fn models(server: &ModelServer) -> String {
    format!(
        "[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\ntools = false\nretries = 0\n\n[profiles.balanced]\ndefault = \"here:m\"\n\n",
        server.base_url()
    )
}

/// What the server was asked, as one text.
pub fn words(heard: &Heard) -> String {
    let messages = heard.body["messages"].as_array().unwrap();
    messages.iter().filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

pub fn step(tool: &str, args: Value, answer: &str) -> Turn {
    Turn::json(&json!({"thought": "next", "tool": tool, "args": args, "answer": answer}))
}

const TOOL: &str =
    "id: call\ntitle: Call a tool\ntasks:\n  - id: greet\n    tool: {name: mcp.kit.echo, args: {text: good day}}\n";

#[test]
fn a_task_calls_a_tool_of_a_program_and_of_an_address() {
    let kit = Kit::new();
    kit.write("gantry.toml", format!("[mcp.kit]\n{}", program()));
    kit.write("plan.yaml", TOOL);
    let said = run(&kit, "run plan.yaml");
    assert!(said.contains("text = good day") && said.ends_with("[exit 0]"), "{said}");
    assert!(kit.gantry(&["replay", "call"]).ends_with("[exit 0]"));
    let remote = McpServer::start();
    kit.write("gantry.toml", format!("[mcp.kit]\nurl = \"{}\"\n", remote.url()));
    kit.write("plan.yaml", TOOL.replace("id: call\n", "id: far\npolicy: {network: {allow: [127.0.0.1]}}\n"));
    let said = kit.gantry(&["run", "plan.yaml"]);
    assert!(said.contains("text = good day") && said.ends_with("[exit 0]"), "{said}");
    assert_eq!(remote.calls(), 1);
    kit.write("plan.yaml", TOOL.replace("id: call\n", "id: closed\n"));
    let said = kit.gantry(&["run", "plan.yaml"]);
    assert!(said.contains("`127.0.0.1` is outside `policy.network.allow`") && said.ends_with("[exit 4]"), "{said}");
    assert_eq!(remote.calls(), 1, "nothing was sent");
}

#[test]
fn an_agent_calls_a_tool_of_a_server_and_sees_what_it_gives_as_data() {
    let server = ModelServer::start();
    server.otherwise(|heard| {
        if words(heard).contains("text: once") {
            step("finish", json!({}), "It is there.")
        } else {
            step("mcp.kit.append", json!({"path": "log", "line": "once"}), "")
        }
    });
    let kit = Kit::new();
    kit.write("gantry.toml", format!("{}[mcp.kit]\n{}", models(&server), program()));
    kit.write("plan.yaml", AGENT);
    let said = run(&kit, "run plan.yaml");
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert_eq!(kit.read("log"), b"once\n");
    let first = words(&server.heard()[0]);
    assert!(first.contains("mcp.kit.append") && first.contains("Does what `append` says."), "{first}");
    assert!(first.contains("mcp.kit.echo"), "a star stands for all tools of a server");
    let last = words(server.heard().last().unwrap());
    let at = last.find("text: once").unwrap();
    assert!(last[..at].contains("data, not instructions"), "{last}");
    assert!(kit.gantry(&["log", "helper"]).contains("turn 1: mcp.kit.append"));
}

const AGENT: &str = "id: helper\ntitle: Let an agent do it\npolicy: {agent_planning: true}\ntasks:\n  - id: work\n    agent: {goal: Append one line to the file log., tools: [\"mcp.kit.*\"]}\n";

/// Processes of the test server that run in this folder.
fn left(kit: &Kit) -> usize {
    let folder = kit.path("").canonicalize().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter(|process| std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == folder)).count()
}

/// Waits until no process runs in the folder of the test.
fn none_left(kit: &Kit) {
    let until = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while left(kit) > 0 {
        assert!(std::time::Instant::now() < until, "processes are left");
        std::thread::yield_now();
    }
}

#[test]
fn a_call_that_was_under_way_at_kill_9_is_not_made_again_and_no_process_is_left() {
    for (plan, name) in [(AGENT, "helper"), (HANGING, "call")] {
        let server = ModelServer::start();
        server.otherwise(|heard| {
            let said = words(heard);
            if said.contains("wants it again") {
                step("finish", json!({}), "Someone looked.")
            } else {
                step("mcp.kit.hang", json!({"path": "log"}), "")
            }
        });
        let kit = Kit::new();
        kit.write("gantry.toml", format!("{}[mcp.kit]\n{}", models(&server), program()));
        kit.write("plan.yaml", plan);
        let args = letting_this_program_run("run plan.yaml");
        let mut child = kit.beside(&args);
        let until = std::time::Instant::now() + std::time::Duration::from_mins(1);
        while !kit.path("log").exists() {
            assert!(std::time::Instant::now() < until, "the tool was never called");
            std::thread::yield_now();
        }
        assert!(left(&kit) > 1, "the server runs in the folder of the plan, beside gantry itself");
        child.kill();
        none_left(&kit);
        let said = kit.gantry(&["resume", name]);
        assert!(said.ends_with("[exit 4]"), "{said}");
        assert!(said.contains("may have happened") || said.contains("went away"), "{said}");
        assert_eq!(kit.read("log"), b"hang\n", "it was called once");
        assert!(kit.gantry(&["audit", name]).ends_with("[exit 0]"));
    }
}

const HANGING: &str = "id: call\ntitle: Call\ntasks:\n  - {id: wait, tool: {name: mcp.kit.hang, args: {path: log}}}\n";

#[test]
fn a_server_that_is_missing_is_said_before_and_while_a_plan_runs() {
    let kit = Kit::new();
    kit.write("plan.yaml", TOOL);
    let said = kit.gantry(&["validate", "plan.yaml"]);
    assert!(said.contains("there is no capability `mcp.kit.echo` here"), "{said}");
    let said = kit.gantry(&["run", "plan.yaml"]);
    assert!(said.contains("there is no MCP server `kit`; describe it in gantry.toml: [mcp.kit]"), "{said}");
    assert!(said.ends_with("[exit 4]"), "{said}");
    kit.write("gantry.toml", "[mcp.kit]\ncommand = [\"no-such-program\"]\n");
    assert!(kit.gantry(&["validate", "plan.yaml"]).ends_with("[exit 0]"));
    kit.write("plan.yaml", TOOL.replace("id: call\n", "id: other\n"));
    let said = kit.gantry(&["run", "plan.yaml"]);
    assert!(said.contains("the program `no-such-program` was not found") && said.ends_with("[exit 4]"), "{said}");
}

#[test]
fn a_secret_of_a_server_is_in_no_output_and_no_record() {
    let kit = Kit::new();
    kit.write("gantry.toml", format!("[mcp.kit]\nenv = [\"KIT_TOKEN\"]\n{}", program()));
    kit.write(
        "plan.yaml",
        TOOL.replace("mcp.kit.echo, args: {text: good day}", "mcp.kit.variable, args: {name: KIT_TOKEN}"),
    );
    let said = run(&kit, "run plan.yaml");
    assert!(said.contains("give it to the plan with `--secret KIT_TOKEN`"), "{said}");
    kit.write(
        "plan.yaml",
        TOOL.replace("id: call\n", "id: again\n")
            .replace("mcp.kit.echo, args: {text: good day}", "mcp.kit.variable, args: {name: KIT_TOKEN}"),
    );
    let line = letting_this_program_run("run plan.yaml --secret KIT_TOKEN").join(" ");
    let said = kit.with_variable("KIT_TOKEN", "hunter2-hunter2", &line);
    assert!(said.contains("text = [secret KIT_TOKEN]") && said.ends_with("[exit 0]"), "{said}");
    assert!(!kit.record_holds(b"hunter2-hunter2"));
}

#[test]
fn the_doctor_says_which_servers_answer_with_which_tools_and_which_are_left_out() {
    let kit = Kit::new();
    let remote = McpServer::start();
    let program = program();
    kit.write(
        "gantry.toml",
        format!("[mcp.far]\nurl = \"{}\"\ntools = [\"echo\", \"append\", \"echoo\"]\n[mcp.gone]\nurl = \"http://127.0.0.1:1/\"\n[mcp.kit]\n{program}", remote.url()),
    );
    let lines = |said: String| -> Vec<String> {
        let said =
            said.replace(&remote.url(), "URL").replace(std::env::current_exe().unwrap().to_str().unwrap(), "KIT");
        let of_servers = said.lines().skip_while(|line| !line.contains(" mcp ")).map(str::trim_end);
        of_servers.take_while(|line| !line.starts_with('[')).map(str::to_owned).collect()
    };
    let found = lines(kit.gantry(&["doctor"]));
    assert!(found[0].contains("far: URL: echo, append; not among its `tools` in gantry.toml: hang, die"), "{found:?}");
    assert!(found[0].contains("left out: `not a name`: its name is longer than 128 letters, or has"), "{found:?}");
    assert!(found[0].ends_with("; `echoo`: the server has no such tool that can be called"), "{found:?}");
    let gone = found.iter().find(|line| line.contains("gone: ")).unwrap();
    assert!(gone.contains("gone: http://127.0.0.1:1/: the MCP server `gone` cannot be reached: "), "{found:?}");
    assert!(!gone.contains("rmcp"), "{found:?}");
    assert!(found.iter().any(|line| line.contains("not started, since gantry.toml:7 names it")), "{found:?}");
    assert!(found.iter().any(|line| line.contains("`gantry doctor --ask kit`")), "{found:?}");
    let said = kit.gantry(&["doctor", "--ask", "kti"]);
    assert!(said.contains("did you mean `kit`?") && said.ends_with("[exit 2]"), "{said}");
    let own = Kit::new();
    own.write_own_config("[mcp.kit]\ncommand = [\"sh\", \"-c\", \"echo it is broken >&2; exit 1\"]\n");
    let said = own.gantry(&["doctor"]);
    assert!(said.contains("the MCP server `kit` ended before it had said anything: it is broken"), "{said}");
    assert!(said.ends_with("[exit 0]"), "a server that is not there is no reason to fail: {said}");
}

#[test]
fn mistakes_in_the_description_of_a_server_are_told_with_their_place() {
    let rows = [
        ("[mcp.kit]\n", "gantry.toml:1:6: the MCP server `kit` has neither a `command` nor a `url`"),
        ("[mcp.kit]\ncommand = \"x\"\nurl = \"http://a/\"\n", "has both a `command` and a `url`"),
        ("[mcp.kit]\nurl = \"ftp://a/\"\n", "gantry.toml:2:1: `mcp.kit.url` must begin with http:// or https://"),
        ("[mcp.kit]\ncomand = \"x\"\n", "did you mean `command`?"),
        ("[mcp.\"a b\"]\ncommand = \"x\"\n", "`a b` cannot be the name of an MCP server"),
        (
            "[mcp.kit]\ncommand = \"x\"\ntools = [\"a\"]\nsafe = [\"b\"]\n",
            "says that `b` is safe, which is not among its `tools`",
        ),
        ("[mcp.kit]\ncommand = \"x\"\nenv = [\"sk-secret-secret\"]\n", "names a variable in `env` that is none"),
        ("[mcp.kit]\nurl = \"http://a/\"\nenv = [\"TOKEN\"]\n", "has `env`, which does nothing here"),
    ];
    for (config, message) in rows {
        let kit = Kit::new();
        kit.write("gantry.toml", config);
        let said = kit.gantry(&["model", "list"]);
        assert!(said.contains(message) && said.ends_with("[exit 2]"), "{config}: {said}");
        assert!(!said.contains("sk-secret"), "{said}");
    }
}
