//! Who counts more than whom.

use gantry_llm::config::Flags;

use crate::kit::{World, chain, setting};

#[test]
fn without_any_word_everything_is_built_in() {
    let config = World::new().config();
    assert_eq!(setting(&config, "profile"), "balanced (built in)");
    assert_eq!(setting(&config, "strict"), "false (built in)");
    assert_eq!(setting(&config, "locale"), "en (built in)");
    assert_eq!(setting(&config, "agent_planning"), "false (built in)");
    assert_eq!(setting(&config, "prompts"), "prompts (built in)");
    assert_eq!(setting(&config, "team.planning_workers"), "4 (built in)");
    assert!(config.files().is_empty());
    assert!(config.warnings().is_empty());
}

#[test]
fn the_user_counts_more_than_the_project_the_environment_more_and_the_command_line_most() {
    let project = || World::new().project("profile = \"fast\"\n");
    assert_eq!(setting(&project().config(), "profile"), "fast (gantry.toml:1)");
    let user = || project().user("\nprofile = \"quality\"\n");
    assert_eq!(setting(&user().config(), "profile"), "quality (/home/ana/.config/gantry/gantry.toml:2)");
    let variable = || user().variable("GANTRY_PROFILE", "balanced");
    assert_eq!(setting(&variable().config(), "profile"), "balanced (GANTRY_PROFILE)");
    let flag = variable().around(|around| around.flags.profile = Some("fast".to_owned()));
    assert_eq!(setting(&flag.config(), "profile"), "fast (--profile)");
}

#[test]
fn whoever_changes_one_value_of_a_provider_keeps_the_others() {
    let world = World::new().variable("OPENAI_API_KEY", "k");
    let world = world.project("[providers.openai]\nconcurrent = 2\nretries = 0\n");
    let config = world.user("[providers.openai]\nretries = 5\ntimeout = \"90s\"\n").config();
    let target = &config.chain("writer", None).unwrap()[0];
    assert_eq!(target.id(), "openai:gpt-4o-mini");
    assert_eq!(target.base_url, "https://api.openai.com/v1/");
    assert_eq!(target.limits.concurrent_max, 2);
    assert_eq!(target.limits.retries_max, 5);
    assert_eq!(target.limits.timeout.as_secs(), 90);
}

#[test]
fn the_nearest_file_upwards_is_that_of_the_project() {
    let world = World::new().file("/home/ana/gantry.toml", "locale = \"ko\"\nprompts = \"words\"\n");
    let above = world.config();
    assert_eq!(setting(&above, "locale"), "ko (/home/ana/gantry.toml:1)");
    assert_eq!(setting(&above, "prompts"), "/home/ana/words (/home/ana/gantry.toml:2)", "named from its own folder");
    let nearer = World::new()
        .file("/home/ana/gantry.toml", "locale = \"ko\"\nstrict = true\n")
        .file("/home/ana/work/gantry.toml", "locale = \"en\"\n")
        .config();
    assert_eq!(setting(&nearer, "locale"), "en (/home/ana/work/gantry.toml:1)");
    assert_eq!(setting(&nearer, "strict"), "false (built in)", "only the nearest one is read");
}

#[test]
fn the_file_of_the_user_is_read_once_wherever_one_works() {
    let world = World::new().user("strict = true\n");
    let config = world.around(|around| around.working_folder = "/home/ana/.config/gantry".into()).config();
    assert_eq!(config.files().len(), 1);
    assert!(config.strict());
}

#[test]
fn every_setting_can_stand_in_a_file() {
    let config = World::new()
        .project(
            "profile = \"quality\"\nstrict = true\nlocale = \"ko\"\nagent_planning = true\nlocal_servers = false\n\
             prompts = \"words\"\n[team]\nplanning_workers = 8\nkorean_retries = 2\ntemplate_prompts = true\n",
        )
        .variable("OPENAI_API_KEY", "k")
        .config();
    assert_eq!(config.profile().value, "quality");
    assert!(config.strict());
    assert_eq!(config.locale(), "ko");
    assert!(config.agent_planning());
    assert!(!config.local_servers());
    assert_eq!(config.prompts(), std::path::Path::new("/home/ana/work/app/words"));
    assert!(config.prompts_are_named());
    assert_eq!(config.planning_workers(), 8);
    assert_eq!(config.korean_retries(), 2);
    assert!(config.template_prompts());
}

#[test]
fn the_command_line_names_models_by_role() {
    let flags =
        Flags { models: [("critic".to_owned(), "offline".to_owned())].into(), strict: true, ..Flags::default() };
    let world = World::new().variable("OPENAI_API_KEY", "k").variable("GANTRY_MODEL_CRITIC", "gpt-4o");
    let config = world.around(|around| around.flags = flags).config();
    assert_eq!(chain(&config, "critic"), "offline:gantry-offline (--model)");
    assert_eq!(setting(&config, "strict"), "true (--strict)");
}
