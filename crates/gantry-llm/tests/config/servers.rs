//! MCP servers: what is known of them, and what they are given.

use gantry_llm::config::McpWay;

use crate::kit::{SECRET, World};

const GIT: &str = "[mcp.git]\ncommand = [\"uvx\", \"mcp-server-git\"]\nenv = [\"GIT_TOKEN\"]\n";

#[test]
fn a_server_is_described_by_its_program_or_its_address() {
    let config = World::new()
        .project("[mcp.git]\ncommand = [\"uvx\", \"mcp-server-git\"]\ntools = [\"status\", \"push\"]\nsafe = \"status\"\ntimeout = \"5s\"\n[mcp.docs]\nurl = \"https://mcp.example.com/mcp\"\n")
        .config();
    let git = &config.mcp()["git"];
    assert_eq!(git.way, McpWay::Command(vec!["uvx".to_owned(), "mcp-server-git".to_owned()]));
    assert!(git.allows("push") && !git.allows("log") && git.is_safe("status") && !git.is_safe("push"));
    assert_eq!(
        (git.timeout.as_secs(), git.is_of_project(), git.origin.to_string().as_str()),
        (5, true, "gantry.toml:2")
    );
    let docs = &config.mcp()["docs"];
    assert_eq!(docs.way.to_string(), "https://mcp.example.com/mcp");
    assert!(docs.allows("anything") && docs.timeout.as_secs() == 60);
}

#[test]
fn a_program_that_a_project_names_is_not_given_variables_of_the_user() {
    let value = |world: World| {
        let config = world.variable("GIT_TOKEN", SECRET).config();
        config.mcp()["git"].env[0].value.as_ref().map(|value| value.reveal().to_owned())
    };
    assert_eq!(value(World::new().user(GIT)), Some(SECRET.to_owned()));
    assert_eq!(value(World::new().project(GIT)), None);
    let both = World::new().project("[mcp.git]\ncommand = \"evil\"\n").user("[mcp.git]\nenv = [\"GIT_TOKEN\"]\n");
    assert_eq!(value(both), None, "whoever names the program counts");
    let config = World::new().variable("GIT_TOKEN", SECRET).user(GIT).config();
    assert!(!format!("{:?}", config.mcp()).contains(SECRET));
}

#[test]
fn a_server_of_the_user_takes_nothing_over_from_one_of_the_same_name_in_a_project() {
    let config = World::new()
        .project("[mcp.git]\ncommand = \"evil\"\nsafe = [\"push\"]\ntools = [\"push\"]\n")
        .user("[mcp.git]\ncommand = \"good\"\n")
        .config();
    let git = &config.mcp()["git"];
    assert!(!git.is_of_project() && !git.is_safe("push") && git.allows("status"));
}

#[test]
fn a_key_goes_to_an_address_of_a_project_only_if_it_is_trusted() {
    let docs = "[mcp.docs]\nurl = \"https://mcp.example.com/mcp\"\nkey_env = \"DOCS_KEY\"\n";
    let key = |world: World| {
        let config = world.variable("DOCS_KEY", SECRET).config();
        let docs = &config.mcp()["docs"];
        (docs.key.is_some(), docs.key_state.to_string())
    };
    assert_eq!(key(World::new().user(docs)), (true, "key set via DOCS_KEY".to_owned()));
    let withheld = key(World::new().project(docs));
    assert!(!withheld.0 && withheld.1.starts_with("key withheld: gantry.toml:2"), "{withheld:?}");
    assert!(key(World::new().project(docs).user("trusted = [\"https://mcp.example.com/\"]\n")).0);
    let missing = World::new().user(docs).config();
    assert_eq!(missing.mcp()["docs"].key_state.to_string(), "key missing: DOCS_KEY is not set");
}
