//! Mistakes in files, each with its place and a way out.

use gantry_llm::config::Surroundings;

use crate::kit::{SECRET, World};

#[test]
fn unknown_keys_are_errors_with_their_place_and_the_nearest_key() {
    let mistakes = World::new()
        .project(
            "strct = true\n\n[providers.openai]\ntimeuot = \"5s\"\ncolour = 1\n[models.\"gpt-4o\"]\n  price = { input = 1, output = 2, in = 3 }\n[team]\nworkers = 2\n",
        )
        .mistakes();
    insta::assert_snapshot!(mistakes, @"
    gantry.toml:1:1: unknown key `strct`
      hint: did you mean `strict`?
    gantry.toml:4:1: unknown key `providers.openai.timeuot`
      hint: did you mean `timeout`?
    gantry.toml:5:1: unknown key `providers.openai.colour`
      hint: known are `protocol`, `base_url`, `key_env`, `key`, `requests_per_minute`, `tokens_per_minute`, `concurrent`, `timeout`, `silence`, `retries`, `price`, `schemas`, `tools` and `keep`
    gantry.toml:7:36: unknown key `models.gpt-4o.price.in`
      hint: known are `input`, `cached` and `output`
    gantry.toml:9:1: unknown key `team.workers`
      hint: known are `planning_workers`, `korean_retries` and `template_prompts`
    ");
}

#[test]
fn values_of_the_wrong_kind_are_errors_with_their_place() {
    let mistakes = World::new()
        .project(
            "strict = \"yes\"\nprofile = 3\nlocale = \"kr\"\nproviders = 1\n[models.\"gpt-4o\"]\nprice = 3\ncontext = 0\n\
             [models.a]\nprice = { input = -1, output = 2 }\n[profiles.balanced]\nplanner = []\nwriter = [1]\n",
        )
        .user(
            "[providers.openai]\nprotocol = \"openai-chatt\"\ntimeout = 30\nretries = 99\nconcurrent = 0\n\
             base_url = \"ftp://host/\"\ntools = 1\n",
        )
        .mistakes();
    insta::assert_snapshot!(mistakes, @r#"
    gantry.toml:1:1: `strict` must be true or false
    gantry.toml:2:1: `profile` must be a text, such as "…"
    gantry.toml:3:1: `locale` cannot be `kr`
      hint: did you mean `ko`?
    gantry.toml:4:1: `providers` must be a table: write `[providers]` and the lines below it
    gantry.toml:6:1: `models.gpt-4o.price` must be dollars for a million tokens, such as { input = 0.15, output = 0.60 }
    gantry.toml:7:1: `models.gpt-4o.context` must be a whole number from 1 to 100000000
    gantry.toml:9:11: `models.a.price.input` must be an amount of dollars, such as 0.15
    gantry.toml:11:1: `profiles.balanced.planner` must be a text, or a list of texts such as ["…", "…"]
    gantry.toml:12:1: `profiles.balanced.writer` must be a text, or a list of texts such as ["…", "…"]
    /home/ana/.config/gantry/gantry.toml:2:1: `providers.openai.protocol` cannot be `openai-chatt`
      hint: did you mean `openai-chat`?
    /home/ana/.config/gantry/gantry.toml:3:1: `providers.openai.timeout` must be a length of time from 1s to 3600s, such as "90s" or "5m"
    /home/ana/.config/gantry/gantry.toml:4:1: `providers.openai.retries` must be a whole number from 0 to 10
    /home/ana/.config/gantry/gantry.toml:5:1: `providers.openai.concurrent` must be a whole number from 1 to 4096
    /home/ana/.config/gantry/gantry.toml:6:1: `providers.openai.base_url` must begin with http:// or https:// and name a host
    /home/ana/.config/gantry/gantry.toml:7:1: `providers.openai.tools` must be true or false
    gantry.toml:8:9: the model `a` has no `provider`
      hint: add for example provider = "openai"; known are `anthropic`, `gemini`, `llama.cpp`, `lm-studio`, `offline`, `ollama`, `openai`, `openai-chat`, `openrouter` and `vllm`
    "#);
}

#[test]
fn what_is_no_toml_is_said_with_its_place() {
    insta::assert_snapshot!(World::new().project("profile = \"fast\"\nstrict = \n").mistakes(), @"gantry.toml:2:10: this is not TOML: string values must be quoted, expected literal string");
}

#[test]
fn names_that_nobody_knows_are_errors_with_the_nearest_names() {
    let mistakes = World::new()
        .project(
            "profile = \"balancd\"\n[models.mine]\nprovider = \"opnai\"\n[models.other]\nprovider = \"elsewhere\"\n\
             [models.third]\ncontext = 9\n",
        )
        .mistakes();
    insta::assert_snapshot!(mistakes, @r#"
    gantry.toml:3:1: there is no provider `opnai`
      hint: did you mean `openai`?
    gantry.toml:5:1: there is no provider `elsewhere`
      hint: describe it: [providers.elsewhere]
    gantry.toml:6:9: the model `third` has no `provider`
      hint: add for example provider = "openai"; known are `anthropic`, `gemini`, `llama.cpp`, `lm-studio`, `offline`, `ollama`, `openai`, `openai-chat`, `openrouter` and `vllm`
    gantry.toml:1:1: there is no profile `balancd`
      hint: did you mean `balanced`?
    "#);
}

#[test]
fn an_unknown_model_is_an_error_wherever_it_is_named_and_never_replaced() {
    let mistakes = World::new()
        .project("[profiles.own]\ndefault = [\"gpt-4o-mni\", \"offline\"]\nplanner = \"opnai:gpt-9\"\n")
        .user("[profiles.fast]\nwriter = \"clade-haiku-4-5\"\n")
        .variable("VDOS_PLANNER_PROJECT_MODEL", "gpt-6")
        .mistakes();
    insta::assert_snapshot!(mistakes, @"
    /home/ana/.config/gantry/gantry.toml:2:1: there is no model `clade-haiku-4-5`
      hint: did you mean `claude-haiku-4-5`? Any other model can be named as `provider:model`
    gantry.toml:2:1: there is no model `gpt-4o-mni`
      hint: did you mean `gpt-4o-mini`, `gpt-4.1-mini` or `gpt-5-mini`? Any other model can be named as `provider:model`
    gantry.toml:3:1: there is no model `opnai:gpt-9`
      hint: did you mean `openai:gpt-9`? Any other model can be named as `provider:model`
    VDOS_PLANNER_PROJECT_MODEL: there is no model `gpt-6`
      hint: did you mean `gpt-5`? Any other model can be named as `provider:model`
    ");
}

#[test]
fn a_provider_of_ones_own_needs_an_address_and_a_protocol() {
    let mistakes = World::new()
        .project("[providers.a]\nprotocol = \"openai-chat\"\n[providers.b]\nbase_url = \"http://127.0.0.1:1/v1\"\n")
        .mistakes();
    insta::assert_snapshot!(mistakes, @r#"
    gantry.toml:1:12: the provider `a` has no `base_url`
      hint: add for example base_url = "http://127.0.0.1:8081/v1/"
    gantry.toml:3:12: the provider `b` has no `protocol`
      hint: add for example protocol = "openai-chat", which most local servers speak
    "#);
}

#[test]
fn answers_can_be_kept_only_where_the_protocol_has_it() {
    let lab = "[providers.lab]\nprotocol = \"openai-responses\"\nbase_url = \"http://127.0.0.1:1/v1/\"\nkeep = true\n";
    let config = World::new().project(lab).config();
    let kept = |model: &str| config.explain("writer", Some(model)).unwrap().targets[0].keep;
    assert!(kept("lab:m") && !kept("ollama:m"), "nothing is kept unless somebody says so");
    let mistakes = World::new().project("[providers.anthropic]\nkeep = true\n[providers.gemini]\nkeep = false\n");
    insta::assert_snapshot!(mistakes.mistakes(), @"
    gantry.toml:2:1: the provider `anthropic` cannot keep answers: it speaks `anthropic`
      hint: leave out `keep`; only `openai-responses` has it
    ");
}

#[test]
fn a_profile_of_ones_own_that_forgets_a_role_says_so() {
    let world = World::new().project("profile = \"own\"\n[profiles.own]\nplanner = \"offline\"\n");
    insta::assert_snapshot!(world.mistakes(), @r#"
    gantry.toml:1:1: the profile `own` names no models for the role `writer`
      hint: add a line `default = ["…"]` to it
    "#);
}

#[test]
fn a_name_that_is_nearly_a_known_one_is_worth_a_warning() {
    let world =
        World::new().project("[profiles.balancd]\ndefault = \"offline\"\n[profiles.fast]\nplaner = \"offline\"\n");
    insta::assert_snapshot!(world.config().warnings().join("\n"), @"
    gantry.toml:2: `balancd` is a new profile; did you mean `balanced`?
    gantry.toml:4: `planer` is a new role; did you mean `planner`?
    ");
    let own = World::new().project("[profiles.mine]\ndefault = \"offline\"\ntranslator = \"offline\"\n").config();
    assert!(own.warnings().is_empty(), "{:?}", own.warnings());
}

#[test]
fn the_command_line_is_checked_too() {
    let mistakes = World::new()
        .around(|around| {
            around.flags.profile = Some("quick".to_owned());
            around.flags.locale = Some("de".to_owned());
            around.flags.models.insert("writter".to_owned(), "gpt-4o".to_owned());
        })
        .mistakes();
    insta::assert_snapshot!(mistakes, @"
    --locale: there are no prompts in `de`
      hint: there are prompts in `en` and `ko`
    --model: there is no role `writter`
      hint: did you mean `writer`?
    --profile: there is no profile `quick`
      hint: profiles are `balanced`, `fast` and `quality`
    ");
}

#[test]
fn no_message_shows_a_key_however_it_is_written() {
    let broken = [
        format!("[providers.openai]\nkey = {SECRET}\n"),
        format!("[providers.openai]\nkey = \"{SECRET}\n"),
        format!("[providers.openai]\nkey_env = \"{SECRET}\"\n"),
        format!("[providers.openai]\nkey = [\"{SECRET}\"]\n"),
        format!("[providers.openai]\nbase_url = \"https://ana:{SECRET}@host/\"\n"),
        format!("[providers.openai]\nbase_url = \"https://host/?key={SECRET}\"\n"),
        format!("[providers.openai]\nkey = \"{SECRET}\"\nkeey = \"{SECRET}\"\n"),
    ];
    for text in broken {
        let said = World::new().user(&text).mistakes();
        assert!(!said.contains("do-not-show-me"), "{text}\n{said}");
        assert!(said.contains("gantry.toml:"), "{said}");
    }
}

#[test]
fn a_key_that_cannot_be_one_is_said_without_it() {
    let mistakes = World::new().variable("OPENAI_API_KEY", &format!("{SECRET}\nmore")).mistakes();
    insta::assert_snapshot!(mistakes, @"
    OPENAI_API_KEY: this cannot be a key: it holds blanks, line ends or letters beyond ASCII
      hint: set OPENAI_API_KEY to the key alone, or unset it
    ");
}

#[test]
fn a_file_that_cannot_be_read_is_no_file_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("gantry.toml")).unwrap();
    let mut around = Surroundings::of_this_process(gantry_llm::config::Flags::default()).unwrap();
    around.variables.clear();
    around.user_folder = None;
    around.working_folder = folder.path().to_owned();
    let Err(error) = gantry_llm::config::Config::load(&around) else { panic!("a folder was read") };
    assert_eq!(error.to_string(), "gantry.toml: the file cannot be read: it is not a file");
    std::fs::remove_dir(folder.path().join("gantry.toml")).unwrap();
    std::fs::write(folder.path().join("gantry.toml"), vec![b'#'; (1 << 20) + 1]).unwrap();
    let Err(error) = gantry_llm::config::Config::load(&around) else { panic!("an endless file was read") };
    assert!(error.to_string().contains("more than"), "{error}");
}
