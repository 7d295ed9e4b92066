//! What the documentation shows works as it is shown.

use gantry_llm::config::ROLES;
use gantry_llm::prompts::Prompts;

use crate::kit::World;

const MODELS: &str = include_str!("../../../../docs/models.md");

/// The blocks of the documentation in this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    MODELS.split(begin.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn every_configuration_that_is_shown_can_be_read() {
    let shown = blocks("toml");
    assert!(shown.len() >= 3, "{shown:?}");
    for text in shown {
        World::new().user(text).load().unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

#[test]
fn the_prompt_that_is_shown_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let shown = blocks("markdown");
    std::fs::write(folder.path().join("greet.en.md"), shown[0]).unwrap();
    let faults = Prompts::load(&[folder.path()]).err().unwrap_or_default();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_role_provider_and_built_in_prompt_is_named() {
    let config = World::new().config();
    let prompts = Prompts::built_in().unwrap_or_else(|faults| panic!("{faults:#?}"));
    let names = ROLES.into_iter().chain(config.providers().keys().map(String::as_str)).chain(prompts.names());
    let missing: Vec<&str> = names.filter(|name| !MODELS.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
