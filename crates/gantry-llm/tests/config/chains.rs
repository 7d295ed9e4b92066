//! Who is asked for a role, in which order, and why others are not.

use gantry_llm::Protocol;
use gantry_llm::config::{Config, ROLES};

use crate::kit::{World, chain, drawn};

#[test]
fn without_keys_the_offline_model_answers_alone_and_the_rest_says_why_not() {
    let config = World::new().config();
    for role in ROLES {
        let chain = config.explain(role, None).unwrap();
        assert!(chain.is_offline(), "{role}");
        assert_eq!(chain.targets.len(), 1, "{role}");
        assert_eq!(chain.targets[0].protocol, Protocol::Offline);
    }
    let left_out = config.explain("writer", None).unwrap().left_out;
    let said: Vec<String> = left_out.iter().map(|out| format!("{}: {}", out.model, out.why)).collect();
    insta::assert_snapshot!(said.join("\n"), @"
    openai:gpt-4o-mini: key missing: OPENAI_API_KEY is not set
    openrouter:openai/gpt-4o-mini: key missing: OPENROUTER_API_KEY is not set
    anthropic:claude-haiku-4-5: key missing: ANTHROPIC_API_KEY is not set
    gemini:gemini-2.5-flash: key missing: GEMINI_API_KEY or GOOGLE_API_KEY is not set
    ");
}

#[test]
fn each_key_opens_the_models_of_its_provider() {
    let keys = [
        ("OPENAI_API_KEY", "openai:gpt-4o-mini"),
        ("OPENROUTER_API_KEY", "openrouter:openai/gpt-4o-mini"),
        ("ANTHROPIC_API_KEY", "anthropic:claude-haiku-4-5"),
        ("GEMINI_API_KEY", "gemini:gemini-2.5-flash"),
        ("GOOGLE_API_KEY", "gemini:gemini-2.5-flash"),
    ];
    for (key, first) in keys {
        let config = World::new().variable(key, "k").config();
        assert_eq!(chain(&config, "writer"), format!("{first} > offline:gantry-offline (built in, like default)"));
    }
}

#[test]
fn every_built_in_profile_has_models_for_every_role_with_any_key() {
    for profile in ["fast", "balanced", "quality"] {
        for key in ["OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
            let config = World::new().variable(key, "k").variable("GANTRY_PROFILE", profile).config();
            for role in ROLES {
                let asked = config.chain(role, None).unwrap();
                assert!(asked.len() > 1, "{profile} {key} {role}");
                assert!(asked.iter().all(|target| target.price.is_some()), "{profile} {key} {role}");
            }
        }
    }
}

#[test]
fn strict_takes_the_fallback_away_and_says_what_is_missing() {
    let strict = |world: World| world.variable("GANTRY_STRICT", "1").config();
    let with_key = strict(World::new().variable("OPENAI_API_KEY", "k"));
    assert_eq!(chain(&with_key, "team.hourly"), "openai:gpt-4o-mini (built in, like team.project)");
    let error = strict(World::new()).explain("planner", None).unwrap_err();
    insta::assert_snapshot!(format!("{error}\nhint: {}", error.hint().unwrap()), @"
    no model can answer for the role `planner`; openai:gpt-4o: key missing: OPENAI_API_KEY is not set; openrouter:openai/gpt-4o: key missing: OPENROUTER_API_KEY is not set; anthropic:claude-sonnet-4-6: key missing: ANTHROPIC_API_KEY is not set; gemini:gemini-2.5-pro: key missing: GEMINI_API_KEY or GOOGLE_API_KEY is not set
    hint: set a key, start a local server, or leave out `strict` to let the offline model answer; see `gantry model doctor`
    ");
    let chosen = strict(World::new().variable("GANTRY_MODEL_PLANNER", "offline"));
    assert_eq!(chain(&chosen, "planner"), "offline:gantry-offline (GANTRY_MODEL_PLANNER)", "it is the choice itself");
    let last = strict(World::new().variable("OPENAI_API_KEY", "k").variable("GANTRY_MODEL_PLANNER", "gpt-4o,offline"));
    let planner = last.explain("planner", None).unwrap();
    assert_eq!(drawn(&planner), "openai:gpt-4o (GANTRY_MODEL_PLANNER)");
    assert_eq!(planner.left_out[0].why, "`strict` forbids falling back to it");
}

#[test]
fn a_model_by_name_takes_the_place_of_the_chain() {
    let config = World::new().variable("OPENAI_API_KEY", "k").config();
    let asked = config.explain("planner", Some("gpt-4.1-nano")).unwrap();
    assert_eq!(drawn(&asked), "openai:gpt-4.1-nano > offline:gantry-offline (the request)");
}

#[test]
fn a_model_that_is_named_for_a_request_or_a_run_and_has_no_key_is_an_error() {
    let in_words = |error: gantry_llm::config::ConfigError| format!("{error}\nhint: {}", error.hint().unwrap());
    let config = World::new().variable("OPENAI_API_KEY", "k").config();
    insta::assert_snapshot!(in_words(config.chain("planner", Some("claude-haiku-4-5")).unwrap_err()), @"
    anthropic:claude-haiku-4-5 cannot be asked: key missing: ANTHROPIC_API_KEY is not set
    hint: name another model, or see how to set it up with `gantry model doctor`
    ");
    let flag = |models: &str| {
        let world = World::new().variable("OPENAI_API_KEY", "k");
        world.around(|around| drop(around.flags.models.insert("writer".to_owned(), models.to_owned()))).config()
    };
    insta::assert_snapshot!(in_words(flag("claude-haiku-4-5").chain("writer", None).unwrap_err()), @"
    --model: anthropic:claude-haiku-4-5 cannot be asked: key missing: ANTHROPIC_API_KEY is not set
    hint: name another model, or see how to set it up with `gantry model doctor`
    ");
    let next = flag("claude-haiku-4-5,gpt-4o");
    assert_eq!(next.chain("writer", None).unwrap()[0].id(), "openai:gpt-4o", "the next one was named, too");
    assert_eq!(next.explain("writer", None).unwrap().missing.unwrap().model, "anthropic:claude-haiku-4-5");
}

#[test]
fn a_model_that_a_file_or_a_variable_names_is_missing_when_it_has_no_key() {
    for world in [
        World::new().variable("GANTRY_MODEL_WRITER", "gpt-4o"),
        World::new().project("[profiles.balanced]\nwriter = \"gpt-4o\"\n"),
    ] {
        let chain = world.config().explain("writer", None).unwrap();
        assert!(chain.is_offline());
        assert_eq!(chain.missing.unwrap().why, "key missing: OPENAI_API_KEY is not set");
    }
    let nobody_said = World::new().config().explain("writer", None).unwrap();
    assert_eq!(nobody_said.missing, None, "what is built in is a list to choose from");
}

#[test]
fn any_model_of_a_provider_can_be_named_without_a_price() {
    let config = World::new().variable("OPENAI_API_KEY", "k").config();
    let target = &config.chain("writer", Some("openai:gpt-99-turbo")).unwrap()[0];
    assert_eq!((target.model.as_str(), target.price), ("gpt-99-turbo", None));
    let known = &config.chain("writer", Some("openai:gpt-4o")).unwrap()[0];
    assert_eq!(known.price, config.models()["gpt-4o"].price, "what is known of a model holds under its long name");
    let tagged = &config.chain("writer", Some("ollama:llama3.2:3b")).unwrap()[0];
    assert_eq!((tagged.provider.as_str(), tagged.model.as_str()), ("ollama", "llama3.2:3b"));
    assert!(tagged.price.is_some_and(|price| price == gantry_llm::Price::default()), "this machine costs nothing");
    assert!(tagged.schemas && !tagged.tools);
}

#[test]
fn unknown_models_and_roles_are_errors_with_the_nearest_names() {
    let config = World::new().config();
    let cases = [
        ("planner", Some("gpt-5")),
        ("planner", Some("gpt4o")),
        ("planner", Some("gpt-5.5-turbo")),
        ("planner", Some("nonsense")),
        ("planner", Some("antropic:claude-haiku-4-5")),
        ("planner", Some("openai:")),
        ("planer", None),
        ("barber", None),
    ];
    let said: Vec<String> = cases
        .iter()
        .map(|(role, model)| match config.explain(role, *model) {
            Ok(chain) => format!("{role} {model:?}: {}", drawn(&chain)),
            Err(error) => format!("{role} {model:?}: {error}\n  hint: {}", error.hint().unwrap()),
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    planner Some("gpt-5"): offline:gantry-offline (the request)
    planner Some("gpt4o"): there is no model `gpt4o`
      hint: did you mean `gpt-4o`? Any other model can be named as `provider:model`
    planner Some("gpt-5.5-turbo"): there is no model `gpt-5.5-turbo`
      hint: did you mean `gpt-3.5-turbo`, `gpt-5` or `gpt-5.5`? Any other model can be named as `provider:model`
    planner Some("nonsense"): there is no model `nonsense`
      hint: name any model as `provider:model`, with one of the providers `anthropic`, `gemini`, `llama.cpp`, `lm-studio`, `offline`, `ollama`, `openai`, `openai-chat`, `openrouter` and `vllm`
    planner Some("antropic:claude-haiku-4-5"): there is no model `antropic:claude-haiku-4-5`
      hint: did you mean `anthropic:claude-haiku-4-5`? Any other model can be named as `provider:model`
    planner Some("openai:"): there is no model `openai:`
      hint: name any model as `provider:model`, with one of the providers `anthropic`, `gemini`, `llama.cpp`, `lm-studio`, `offline`, `ollama`, `openai`, `openai-chat`, `openrouter` and `vllm`
    planer None: there is no role `planer`
      hint: did you mean `planner`?
    barber None: there is no role `barber`
      hint: roles are `planner`, `writer`, `critic`, `judge`, `extractor`, `agent`, `team.project`, `team.daily`, `team.hourly`, `team.daily_report`, `team.report` and `default`
    "#);
}

#[test]
fn profiles_providers_models_and_roles_of_ones_own() {
    let config = World::new()
        .project(
            r#"
            profile = "own"
            [providers.lab]
            protocol = "openai-chat"
            base_url = "http://127.0.0.1:8081/v1"
            concurrent = 1
            silence = "4m"
            [models.qwen]
            provider = "lab"
            model = "qwen2.5-coder-1.5b-instruct-q4_k_m"
            price = { input = 0, output = 0 }
            tools = false
            context = 16_384
            [profiles.own]
            default = "qwen"
            planner = ["lab:big", "qwen"]
            translator = "qwen"
            "#,
        )
        .config();
    assert_eq!(
        chain(&config, "planner"),
        "lab:big > lab:qwen2.5-coder-1.5b-instruct-q4_k_m > offline:gantry-offline (gantry.toml:16)"
    );
    assert_eq!(
        chain(&config, "translator"),
        "lab:qwen2.5-coder-1.5b-instruct-q4_k_m > offline:gantry-offline (gantry.toml:17)"
    );
    assert_eq!(
        chain(&config, "team.hourly"),
        "lab:qwen2.5-coder-1.5b-instruct-q4_k_m > offline:gantry-offline (gantry.toml:15, like default)"
    );
    let target = &config.chain("writer", None).unwrap()[0];
    assert_eq!(target.base_url, "http://127.0.0.1:8081/v1/", "with a slash at the end");
    assert_eq!((target.limits.concurrent_max, target.limits.silence.as_secs()), (1, 240));
    assert_eq!(target.context, Some(16_384));
    assert!(!target.tools);
    assert_eq!(config.models()["qwen"].context, Some(16_384));
}

#[test]
fn a_price_can_be_overridden_and_keeps_everything_else_of_the_model() {
    let world = World::new().variable("OPENAI_API_KEY", "k");
    let config = world.project("[models.\"gpt-4o-mini\"]\nprice = { input = 0.10, output = 0.5 }\n").config();
    let target = &config.chain("writer", None).unwrap()[0];
    let price = target.price.unwrap();
    assert_eq!((price.input.to_string(), price.output.to_string()), ("0.10".to_owned(), "0.50".to_owned()));
    assert_eq!(config.models()["gpt-4o-mini"].context, Some(128_000));
    assert_eq!(target.id(), "openai:gpt-4o-mini");
}

#[test]
fn every_model_that_is_built_in_has_a_price_and_every_price_a_model() {
    let config: Config = World::new().config();
    for (name, model) in config.models() {
        let local = config.providers()[&model.provider].price;
        assert!(model.price.or(local).is_some(), "{name} has no price");
    }
    assert!(!config.prices_as_of().is_empty());
}

#[test]
fn the_effective_form_says_everything_and_no_key() {
    let config = World::new()
        .variable("OPENAI_API_KEY", crate::kit::SECRET)
        .user(&format!("[providers.anthropic]\nkey = \"{}\"\n", crate::kit::SECRET))
        .config();
    let said = serde_json::to_string(&config.effective()).unwrap();
    assert!(said.contains("OPENAI_API_KEY") && said.contains("gantry.toml:2"), "{said}");
    assert!(!said.contains("do-not-show-me"));
    let targets = format!("{:?}", config.chain("planner", None).unwrap());
    assert!(!targets.contains("do-not-show-me"), "{targets}");
}

#[test]
fn models_that_are_likely_meant_are_those_of_the_same_provider() {
    use gantry_llm::Chains;
    let config = World::new().config();
    assert_eq!(config.near("openai:gpt-4o-min"), ["`gpt-4o-mini`", "`gpt-4.1-mini`", "`gpt-5-mini`"]);
    assert_eq!(config.near("anthropic:gpt-4o-min"), Vec::<String>::new());
}
