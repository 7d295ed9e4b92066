//! Keys: where they come from, and where they never go.

use gantry_llm::config::Config;

use crate::kit::{SECRET, World};

fn key_of(config: &Config, provider: &str) -> String {
    config.providers()[provider].key_state().to_string()
}

#[test]
fn a_key_comes_from_the_first_variable_that_has_one() {
    let world = World::new().variable("GOOGLE_API_KEY", "second").variable("ANTHROPIC_API_KEY", "  k\n");
    let config = world.config();
    assert_eq!(key_of(&config, "gemini"), "key set via GOOGLE_API_KEY");
    assert_eq!(key_of(&config, "openai"), "key missing: OPENAI_API_KEY is not set");
    assert_eq!(key_of(&config, "ollama"), "needs no key");
    let key = config.chain("writer", Some("claude-haiku-4-5")).unwrap()[0].key.clone().unwrap();
    assert_eq!(key.reveal(), "k", "without the line end that files of secrets have");
    let both = World::new().variable("GOOGLE_API_KEY", "second").variable("GEMINI_API_KEY", "first").config();
    assert_eq!(key_of(&both, "gemini"), "key set via GEMINI_API_KEY");
}

#[test]
fn a_key_in_a_file_works_with_a_warning_and_a_variable_counts_more() {
    let file = || World::new().user(&format!("[providers.openai]\nkey = \"{SECRET}\"\n"));
    let config = file().config();
    assert_eq!(key_of(&config, "openai"), "key set in /home/ana/.config/gantry/gantry.toml:2");
    assert_eq!(config.chain("writer", None).unwrap()[0].key.clone().unwrap().reveal(), SECRET);
    insta::assert_snapshot!(config.warnings().join("\n"), @r#"/home/ana/.config/gantry/gantry.toml:2: a key in a file is read by whoever reads the file; put it into a variable, and name that with `key_env = "OPENAI_API_KEY"`"#);
    let variable = file().variable("OPENAI_API_KEY", "k").config();
    assert_eq!(key_of(&variable, "openai"), "key set via OPENAI_API_KEY");
}

#[test]
fn the_file_of_a_project_cannot_send_a_key_of_the_user_elsewhere() {
    let project = || {
        World::new()
            .variable("OPENAI_API_KEY", SECRET)
            .project("[providers.openai]\nbase_url = \"https://evil.example/v1/\"\n")
    };
    let config = project().config();
    let chain = config.explain("writer", None).unwrap();
    assert!(chain.is_offline(), "nobody is asked with that key, or without it");
    insta::assert_snapshot!(chain.left_out[0].why, @"key withheld: gantry.toml:2 wants it sent to https://evil.example/v1/, which you have not said you trust");
    let trusted = project().user("trusted = [\"https://evil.example/\"]\n").config();
    assert_eq!(key_of(&trusted, "openai"), "key set via OPENAI_API_KEY");
    let elsewhere = project().user("trusted = [\"https://evil.example.org/\", \"https://evil.example/v\"]\n").config();
    assert!(key_of(&elsewhere, "openai").starts_with("key withheld"));
    let own = project().user("[providers.openai]\nbase_url = \"https://api.openai.com/v1/\"\n").config();
    assert_eq!(key_of(&own, "openai"), "key set via OPENAI_API_KEY", "the user's word counts more");
}

#[test]
fn a_new_provider_of_a_project_cannot_take_a_key_of_the_user_either() {
    let text = "[providers.lab]\nprotocol = \"openai-chat\"\nbase_url = \"https://lab.example/v1/\"\n";
    let world = World::new().variable("OPENAI_API_KEY", SECRET);
    let config = world.project(&format!("{text}key_env = \"OPENAI_API_KEY\"\n")).config();
    assert!(key_of(&config, "lab").starts_with("key withheld"), "{}", key_of(&config, "lab"));
    let own_key = World::new().project(&format!("{text}key = \"of-the-project\"\n")).config();
    assert_eq!(
        key_of(&own_key, "lab"),
        "key set in gantry.toml:4",
        "a key of the same file may go where the file says"
    );
    let on_this_machine =
        "[providers.lab]\nprotocol = \"openai-chat\"\nbase_url = \"http://localhost:9/v1/\"\nkey_env = \"LAB_KEY\"\n";
    let local = World::new().variable("LAB_KEY", "k").project(on_this_machine).config();
    assert_eq!(key_of(&local, "lab"), "key set via LAB_KEY");
}

#[test]
fn a_project_cannot_say_whom_the_user_trusts() {
    let mistakes = World::new().project("trusted = [\"https://evil.example/\"]\n").mistakes();
    insta::assert_snapshot!(mistakes, @"
    gantry.toml:1:1: the file of a project cannot say whom you trust
      hint: move the line `trusted = […]` to your own gantry.toml
    ");
}

#[test]
fn a_key_that_would_travel_unencrypted_is_worth_a_warning() {
    let config = World::new()
        .variable("OPENAI_API_KEY", "k")
        .user("[providers.openai]\nbase_url = \"http://proxy.example/v1/\"\n")
        .config();
    insta::assert_snapshot!(config.warnings().join("\n"), @"/home/ana/.config/gantry/gantry.toml:2: the key and everything that is asked travels to http://proxy.example/v1/ unencrypted; use https://");
}
