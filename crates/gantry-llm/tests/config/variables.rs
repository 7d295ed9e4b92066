//! Each variable of the environment.

use crate::kit::{World, chain, setting};

/// With the key of one provider, so that its models can be asked.
fn with_key() -> World {
    World::new().variable("OPENAI_API_KEY", "k")
}

const TEAM: [&str; 5] = ["team.project", "team.daily", "team.hourly", "team.daily_report", "team.report"];

fn team(world: World) -> String {
    let config = world.config();
    TEAM.map(|role| format!("{role}: {}", chain(&config, role))).join("\n")
}

#[test]
fn team_roles_have_the_small_model_unless_somebody_says_otherwise() {
    for role in TEAM {
        let asked = with_key().config().chain(role, None).unwrap();
        assert_eq!(asked[0].id(), "openai:gpt-4o-mini", "{role}");
    }
}

#[test]
fn the_model_of_the_project_holds_for_the_rest_of_the_team() {
    insta::assert_snapshot!(team(with_key().variable("VDOS_PLANNER_PROJECT_MODEL", "gpt-4o")), @r"
    team.project: openai:gpt-4o > offline:gantry-offline (VDOS_PLANNER_PROJECT_MODEL)
    team.daily: openai:gpt-4o > offline:gantry-offline (VDOS_PLANNER_PROJECT_MODEL, like team.project)
    team.hourly: openai:gpt-4o > offline:gantry-offline (VDOS_PLANNER_PROJECT_MODEL, like team.project)
    team.daily_report: openai:gpt-4o > offline:gantry-offline (VDOS_PLANNER_PROJECT_MODEL, like team.project)
    team.report: openai:gpt-4o > offline:gantry-offline (VDOS_PLANNER_PROJECT_MODEL, like team.project)
    ");
}

#[test]
fn the_model_of_the_day_holds_for_the_hour_and_the_report_of_the_day() {
    insta::assert_snapshot!(team(with_key().variable("VDOS_PLANNER_DAILY_MODEL", "gpt-4.1-nano")), @r"
    team.project: openai:gpt-4o-mini > offline:gantry-offline (built in)
    team.daily: openai:gpt-4.1-nano > offline:gantry-offline (VDOS_PLANNER_DAILY_MODEL)
    team.hourly: openai:gpt-4.1-nano > offline:gantry-offline (VDOS_PLANNER_DAILY_MODEL, like team.daily)
    team.daily_report: openai:gpt-4.1-nano > offline:gantry-offline (VDOS_PLANNER_DAILY_MODEL, like team.daily)
    team.report: openai:gpt-4o-mini > offline:gantry-offline (built in, like team.project)
    ");
}

#[test]
fn each_team_role_has_a_variable_of_its_own() {
    let world = with_key()
        .variable("VDOS_PLANNER_HOURLY_MODEL", "gpt-3.5-turbo")
        .variable("VDOS_PLANNER_DAILY_REPORT_MODEL", "gpt-4.1")
        .variable("VDOS_PLANNER_SIM_REPORT_MODEL", "gpt-4o");
    let config = world.config();
    assert_eq!(config.chain("team.hourly", None).unwrap()[0].model, "gpt-3.5-turbo");
    assert_eq!(config.chain("team.daily_report", None).unwrap()[0].model, "gpt-4.1");
    assert_eq!(config.chain("team.report", None).unwrap()[0].model, "gpt-4o");
    assert_eq!(config.chain("team.daily", None).unwrap()[0].model, "gpt-4o-mini");
}

#[test]
fn a_line_for_a_role_counts_more_than_a_variable_for_the_role_that_it_takes_over_from() {
    let world = with_key().variable("VDOS_PLANNER_PROJECT_MODEL", "gpt-4o");
    let config = world.project("[profiles.balanced]\nteam.hourly = \"gpt-4.1-nano\"\n").config();
    assert_eq!(chain(&config, "team.hourly"), "openai:gpt-4.1-nano > offline:gantry-offline (gantry.toml:2)");
}

#[test]
fn a_role_has_a_variable_of_this_program_too_and_it_counts_more() {
    let world = with_key().variable("VDOS_PLANNER_DAILY_MODEL", "gpt-4o");
    let config = world.variable("GANTRY_MODEL_TEAM_DAILY", "gpt-4.1, gpt-4.1-mini").config();
    assert_eq!(
        chain(&config, "team.daily"),
        "openai:gpt-4.1 > openai:gpt-4.1-mini > offline:gantry-offline (GANTRY_MODEL_TEAM_DAILY)"
    );
    let everyone = with_key().variable("GANTRY_MODEL_DEFAULT", "gpt-4.1").config();
    assert_eq!(
        chain(&everyone, "judge"),
        "openai:gpt-4.1 > offline:gantry-offline (GANTRY_MODEL_DEFAULT, like default)"
    );
}

#[test]
fn strict_is_said_with_any_word_for_yes() {
    for name in ["VDOS_PLANNER_STRICT", "GANTRY_STRICT"] {
        for (word, meant) in [("1", true), ("true", true), ("YES", true), ("On", true), ("0", false), ("off", false)] {
            let config = with_key().variable(name, word).config();
            assert_eq!(setting(&config, "strict"), format!("{meant} ({name})"), "{word}");
        }
    }
    let both = with_key().variable("VDOS_PLANNER_STRICT", "1").variable("GANTRY_STRICT", "0").config();
    assert_eq!(setting(&both, "strict"), "false (GANTRY_STRICT)");
}

#[test]
fn an_empty_variable_says_nothing() {
    let names = ["VDOS_PLANNER_STRICT", "VDOS_LOCALE", "VDOS_MAX_PLANNING_WORKERS", "GANTRY_PROFILE", "OPENAI_API_KEY"];
    let world = names.into_iter().fold(World::new(), |world, name| world.variable(name, " "));
    let config = world.config();
    assert_eq!(setting(&config, "strict"), "false (built in)");
    assert_eq!(setting(&config, "locale"), "en (built in)");
    assert!(config.explain("writer", None).unwrap().is_offline());
}

#[test]
fn the_other_variables_of_a_team() {
    let config = World::new()
        .variable("VDOS_LOCALE", "ko")
        .variable("VDOS_USE_TEMPLATE_PROMPTS", "true")
        .variable("VDOS_KOREAN_VALIDATION_RETRIES", "3")
        .variable("VDOS_MAX_PLANNING_WORKERS", "12")
        .config();
    assert_eq!(setting(&config, "locale"), "ko (VDOS_LOCALE)");
    assert_eq!(setting(&config, "team.template_prompts"), "true (VDOS_USE_TEMPLATE_PROMPTS)");
    assert_eq!(setting(&config, "team.korean_retries"), "3 (VDOS_KOREAN_VALIDATION_RETRIES)");
    assert_eq!(setting(&config, "team.planning_workers"), "12 (VDOS_MAX_PLANNING_WORKERS)");
}

#[test]
fn fast_but_skip_details_is_the_fast_profile() {
    let fast = || World::new().variable("FAST_BUT_SKIP_DETAILS", "true");
    assert_eq!(setting(&fast().config(), "profile"), "fast (FAST_BUT_SKIP_DETAILS)");
    let named = fast().variable("GANTRY_PROFILE", "quality").config();
    assert_eq!(setting(&named, "profile"), "quality (GANTRY_PROFILE)");
    let not = World::new().variable("FAST_BUT_SKIP_DETAILS", "false").config();
    assert_eq!(setting(&not, "profile"), "balanced (built in)");
}

#[test]
fn this_program_has_variables_of_its_own() {
    let config = World::new()
        .variable("GANTRY_LOCALE", "ko")
        .variable("VDOS_LOCALE", "en")
        .variable("GANTRY_AGENT_PLANNING", "on")
        .variable("GANTRY_LOCAL_SERVERS", "no")
        .variable("GANTRY_PROMPTS", "words")
        .config();
    assert_eq!(setting(&config, "locale"), "ko (GANTRY_LOCALE)");
    assert_eq!(setting(&config, "agent_planning"), "true (GANTRY_AGENT_PLANNING)");
    assert_eq!(setting(&config, "local_servers"), "false (GANTRY_LOCAL_SERVERS)");
    assert_eq!(setting(&config, "prompts"), "words (GANTRY_PROMPTS)");
}

#[test]
fn a_variable_that_makes_no_sense_is_named_and_nothing_crashes() {
    let mistakes = World::new()
        .variable("VDOS_KOREAN_VALIDATION_RETRIES", "many")
        .variable("VDOS_MAX_PLANNING_WORKERS", "0")
        .variable("VDOS_PLANNER_STRICT", "maybe")
        .variable("VDOS_LOCALE", "fr")
        .variable("FAST_BUT_SKIP_DETAILS", "2")
        .variable("VDOS_PLANNER_DAILY_MODEL", ", ,")
        .variable("GANTRY_MODEL_PLANER", "gpt-4o")
        .around(|around| around.unreadable.extend(["GANTRY_PROFILE".to_owned()]))
        .mistakes();
    insta::assert_snapshot!(mistakes, @r"
    GANTRY_PROFILE: the value of the variable is not text
    VDOS_MAX_PLANNING_WORKERS: the value `0` must be a whole number from 1 to 64
      hint: set VDOS_MAX_PLANNING_WORKERS to such a value, or unset it
    VDOS_KOREAN_VALIDATION_RETRIES: the value `many` must be a whole number from 0 to 3
      hint: set VDOS_KOREAN_VALIDATION_RETRIES to such a value, or unset it
    FAST_BUT_SKIP_DETAILS: the value `2` must be one of 1, true, yes, on, or 0, false, no, off
      hint: set FAST_BUT_SKIP_DETAILS to such a value, or unset it
    VDOS_PLANNER_STRICT: the value `maybe` must be one of 1, true, yes, on, or 0, false, no, off
      hint: set VDOS_PLANNER_STRICT to such a value, or unset it
    VDOS_LOCALE: the value `fr` must be one of en, ko
      hint: set VDOS_LOCALE to such a value, or unset it
    VDOS_PLANNER_DAILY_MODEL: the value `, ,` must name a model
      hint: set VDOS_PLANNER_DAILY_MODEL to such a value, or unset it
    GANTRY_MODEL_PLANER: no role has this name
      hint: did you mean GANTRY_MODEL_PLANNER?
    ");
}
