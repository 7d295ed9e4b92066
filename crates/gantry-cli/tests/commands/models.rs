//! Which models answer, and what is said about keys and mistakes.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use super::kit::Kit;

const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-proj-do-not-show-me");

#[test]
fn the_effective_configuration_says_who_answers_and_who_said_so() {
    let kit = Kit::new();
    kit.write("gantry.toml", "profile = \"own\"\n\n[profiles.own]\ndefault = [\"gpt-4o-mini\", \"claude-haiku-4-5\"]\njudge = \"openai:gpt-99\"\n");
    insta::assert_snapshot!(kit.with_variables(&[KEY, ("GANTRY_MODEL_PLANNER", "gpt-4o")], "model list"), @"
    profile                own      gantry.toml:1
    strict                 false    built in
    locale                 en       built in
    agent_planning         false    built in
    local_servers          false    GANTRY_LOCAL_SERVERS
    prompts                prompts  built in
    team.planning_workers  4        built in
    team.korean_retries    0        built in
    team.template_prompts  false    built in

    planner
      1  openai:gpt-4o                  $2.50 in, $10.00 out  key set via OPENAI_API_KEY
      2  offline:gantry-offline         free                  needs no key
         said by: GANTRY_MODEL_PLANNER

    writer, critic, extractor, agent, team.project, team.daily, team.hourly, team.daily_report,
    team.report, default
      1  openai:gpt-4o-mini          $0.15 in, $0.60 out  key set via OPENAI_API_KEY
      2  offline:gantry-offline      free                 needs no key
      -  anthropic:claude-haiku-4-5  left out             key missing: ANTHROPIC_API_KEY is not set
         said by: gantry.toml:4

    judge
      1  openai:gpt-99           price unknown  key set via OPENAI_API_KEY
      2  offline:gantry-offline  free           needs no key
         said by: gantry.toml:5

    Prices are dollars for a million tokens, of 2026-08-21; they change, and can be set in gantry.toml.
    [exit 0]
    ");
}

#[test]
fn without_keys_the_offline_model_answers_and_it_is_said() {
    insta::assert_snapshot!(Kit::new().gantry(&["model", "list"]), @"
    profile                balanced  built in
    strict                 false     built in
    locale                 en        built in
    agent_planning         false     built in
    local_servers          false     GANTRY_LOCAL_SERVERS
    prompts                prompts   built in
    team.planning_workers  4         built in
    team.korean_retries    0         built in
    team.template_prompts  false     built in

    planner, critic
      1  offline:gantry-offline       free      needs no key
      -  openai:gpt-4o                left out  key missing: OPENAI_API_KEY is not set
      -  openrouter:openai/gpt-4o     left out  key missing: OPENROUTER_API_KEY is not set
      -  anthropic:claude-sonnet-4-6  left out  key missing: ANTHROPIC_API_KEY is not set
      -  gemini:gemini-2.5-pro        left out  key missing: GEMINI_API_KEY or GOOGLE_API_KEY is not set
         said by: built in

    writer, judge, extractor, agent, team.project, team.daily, team.hourly, team.daily_report,
    team.report, default
      1  offline:gantry-offline         free      needs no key
      -  openai:gpt-4o-mini             left out  key missing: OPENAI_API_KEY is not set
      -  openrouter:openai/gpt-4o-mini  left out  key missing: OPENROUTER_API_KEY is not set
      -  anthropic:claude-haiku-4-5     left out  key missing: ANTHROPIC_API_KEY is not set
      -  gemini:gemini-2.5-flash        left out  key missing: GEMINI_API_KEY or GOOGLE_API_KEY is not set
         said by: built in

    Prices are dollars for a million tokens, of 2026-08-21; they change, and can be set in gantry.toml.
    --- talk

    hint: only the offline model answers; see what is missing with `gantry model doctor`
    [exit 0]
    ");
}

#[test]
fn options_count_more_than_everything_else() {
    let kit = Kit::new();
    let listed = kit.with_variables(
        &[KEY, ("GANTRY_PROFILE", "fast")],
        "model list --profile quality --strict --model judge=gpt-4o-mini --json",
    );
    let json: serde_json::Value = serde_json::from_str(listed.split("[exit").next().unwrap()).unwrap();
    assert_eq!(json["settings"][0], serde_json::json!({"name": "profile", "value": "quality", "origin": "--profile"}));
    let judge = json["roles"].as_array().unwrap().iter().find(|role| role["role"] == "judge").unwrap();
    assert_eq!((&judge["origin"], &judge["chain"][0]["model"]), (&"--model".into(), &"gpt-4o-mini".into()));
    assert_eq!(judge["chain"].as_array().unwrap().len(), 1, "nobody stands in");
    assert_eq!(judge["chain"][0]["key"], serde_json::json!({"state": "set", "origin": "OPENAI_API_KEY"}));
}

#[test]
fn mistakes_in_the_configuration_are_told_with_their_place() {
    let kit = Kit::new();
    kit.write("gantry.toml", "profil = \"fast\"\n[profiles.balanced]\nplanner = \"gpt-4o-mni\"\n");
    insta::assert_snapshot!(kit.with_variables(&[("VDOS_MAX_PLANNING_WORKERS", "lots")], "model list"), @"
    --- talk
    error: the configuration has 2 faults
    gantry.toml:1:1: unknown key `profil`
      hint: did you mean `profile`?
    VDOS_MAX_PLANNING_WORKERS: the value `lots` must be a whole number from 1 to 64
      hint: set VDOS_MAX_PLANNING_WORKERS to such a value, or unset it
    [exit 2]
    ");
    insta::assert_snapshot!(kit.gantry(&["model", "doctor"]), @"
    fail  models  gantry.toml:1:1: unknown key `profil`
                  fix: did you mean `profile`?
    [exit 1]
    ");
    let unknown = Kit::new();
    insta::assert_snapshot!(unknown.with_variables(&[KEY], "model test gpt-5o"), @"
    --- talk
    error: there is no model `gpt-5o`

    hint: did you mean `gpt-4o`, `gpt-5` or `gpt-5.4`? Any other model can be named as `provider:model`
    [exit 2]
    ");
    insta::assert_snapshot!(unknown.gantry(&["model", "test", "gpt-4o"]), @"
    --- talk
    error: openai:gpt-4o cannot be asked: key missing: OPENAI_API_KEY is not set

    hint: see how to set it up with `gantry model doctor`
    [exit 2]
    ");
}

#[test]
fn no_output_of_any_model_command_shows_a_key() {
    let kit = Kit::new();
    let config = format!("[providers.anthropic]\nkey = \"{}\"\n", KEY.1);
    kit.write("gantry.toml", &config);
    for line in [
        "model list",
        "model list --json",
        "model test",
        "model test --json",
        "model doctor",
        "model doctor --json",
        "doctor --json",
    ] {
        let said = kit.with_variables(&[KEY], line);
        assert!(!said.contains("do-not-show-me"), "{line}: {said}");
        assert!(said.contains("openai"), "{line}: {said}");
    }
}

#[test]
fn the_doctor_of_models_says_what_is_missing_and_how_to_fix_it() {
    let kit = Kit::new();
    kit.write("gantry.toml", "[providers.openrouter]\nbase_url = \"https://elsewhere.example/v1/\"\n[profiles.balanced]\njudge = \"openai:gpt-99\"\n");
    let said = kit.with_variables(&[KEY, ("OPENROUTER_API_KEY", "k")], "model doctor");
    insta::assert_snapshot!(said, @r#"
    ok    configuration  FOLDER/work/gantry.toml
    ok    keys           set for openai, openai-chat
    -     provider       anthropic: key missing: ANTHROPIC_API_KEY is not set
                         how: export ANTHROPIC_API_KEY=…
    -     provider       gemini: key missing: GEMINI_API_KEY or GOOGLE_API_KEY is not set
                         how: export GEMINI_API_KEY=…
    ok    provider       openai: key set via OPENAI_API_KEY
    ok    provider       openai-chat: key set via OPENAI_API_KEY
    warn  provider       openrouter: key withheld: gantry.toml:2 wants it sent to https://elsewhere.example/v1/, which you have not said you trust
                         fix: if you trust it, add to your own gantry.toml: trusted = ["https://elsewhere.example/v1/"]
    -     server         servers on this machine are not looked for: `local_servers` is false
                         how: see who said so with `gantry model list`
    ok    roles          profile balanced: every role has a model
    warn  prices         unknown for openai:gpt-99: a budget of money cannot be held with them
                         fix: add to gantry.toml: models."gpt-99" = { provider = "openai", price = { input = …, output = … } }
    ok    prompts        10 are sound: agent-reflect, agent-score, agent-step, agent-tools, chat, critic, decide, judge, plan-judge, task
    [exit 0]
    "#);
}

/// A server that lists one model, as those on this machine do, as often as it is asked.
fn listening() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            while reader.read_line(&mut line).unwrap() > 2 {
                line.clear();
            }
            let body = r#"{"object": "list", "data": [{"id": "llama3.2:3b", "object": "model"}]}"#;
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    format!("http://{address}/v1/")
}

#[test]
fn a_server_on_this_machine_is_found_and_offered() {
    let kit = Kit::new();
    let base_url = listening();
    let nowhere = "http://127.0.0.1:1/v1/";
    kit.write(
        "gantry.toml",
        format!(
            "[providers.ollama]\nbase_url = \"{base_url}\"\n[providers.\"llama.cpp\"]\nbase_url = \"{nowhere}\"\n\
             [providers.lm-studio]\nbase_url = \"{nowhere}\"\n[providers.vllm]\nbase_url = \"{nowhere}\"\n"
        ),
    );
    let address = base_url.trim_start_matches("http://").trim_end_matches("/v1/").to_owned();
    let said = kit.with_variables(&[("GANTRY_LOCAL_SERVERS", "yes")], "model doctor").replace(&address, "ADDRESS");
    insta::assert_snapshot!(said, @"
    ok    configuration  FOLDER/work/gantry.toml
    warn  keys           none is set
                         fix: set one of OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY and OPENROUTER_API_KEY, or start a local server
    -     provider       anthropic: key missing: ANTHROPIC_API_KEY is not set
                         how: export ANTHROPIC_API_KEY=…
    -     provider       gemini: key missing: GEMINI_API_KEY or GOOGLE_API_KEY is not set
                         how: export GEMINI_API_KEY=…
    -     provider       openai: key missing: OPENAI_API_KEY is not set
                         how: export OPENAI_API_KEY=…
    -     provider       openai-chat: key missing: OPENAI_API_KEY is not set
                         how: export OPENAI_API_KEY=…
    -     provider       openrouter: key missing: OPENROUTER_API_KEY is not set
                         how: export OPENROUTER_API_KEY=…
    -     server         llama.cpp: nothing answers at http://127.0.0.1:1
                         how: start it with `llama-server -m MODEL.gguf`
    -     server         lm-studio: nothing answers at http://127.0.0.1:1
                         how: start its server with `lms server start`
    ok    server         ollama answers at http://ADDRESS with llama3.2:3b
                         how: use it for everything: export GANTRY_MODEL_DEFAULT=ollama:llama3.2:3b
    -     server         vllm: nothing answers at http://127.0.0.1:1
                         how: start it with `vllm serve MODEL`
    ok    roles          profile balanced: every role has a model
    ok    prompts        10 are sound: agent-reflect, agent-score, agent-step, agent-tools, chat, critic, decide, judge, plan-judge, task
    [exit 0]
    ");
    let doctor = kit.with_variables(&[("GANTRY_LOCAL_SERVERS", "yes")], "doctor");
    assert!(doctor.contains("profile balanced: ollama:llama3.2:3b, then offline:gantry-offline"), "{doctor}");
}

#[test]
fn prompts_of_a_project_are_checked_by_the_doctor() {
    let kit = Kit::new();
    std::fs::create_dir(kit.path("prompts")).unwrap();
    kit.write("prompts/judge.en.md", "---\nname: judge\n---\n## user\n{{ x }}\n");
    let said = kit.gantry(&["model", "doctor"]);
    let prompts: Vec<&str> = said.lines().filter(|line| line.contains("prompts")).collect();
    assert!(said.ends_with("[exit 1]") && prompts[0].contains("judge.en.md:"), "{said}");
}

#[test]
fn the_help_says_what_there_is_and_how_to_use_it() {
    insta::assert_snapshot!(Kit::new().session(&["model --help", "model test --help"]), @"
    $ gantry model --help
    See which models answer for which role, try them, and find out what is missing

    Usage: gantry model [OPTIONS] <COMMAND>

    Commands:
      list      Show the effective configuration: each role with its models, prices and keys, and who
                said so
      test      Ask each model for one word, to see whether it answers
      estimate  Say what a plan would ask of models and what that would cost at most, before it runs
      stats     Add up what was asked of models, from the calls on record: calls, failures, fallbacks,
                tokens, money and time
      doctor    Say what is configured, what is missing, which servers answer on this machine, and how
                to fix it
      help      Print this message or the help of the given subcommand(s)

    Options:
          --profile <NAME>        Which models answer: fast, balanced, quality, or a profile of your own
          --strict                Fail rather than let the offline model answer in the place of another
          --model <[ROLE=]MODEL>  Let these models answer for a role, or for all; with commas, one after
                                  the other; may be repeated
          --json                  Print JSON
      -h, --help                  Print help

    Models are configured in gantry.toml, in the environment and with options; see docs/models.md.

    Examples:
      gantry model list
      gantry model list --profile quality --json
      gantry model test
      gantry model test planner
      gantry model test ollama:llama3.2
      gantry model estimate plan.yaml
      gantry model stats 7
      gantry model doctor
    [exit 0]
    $ gantry model test --help
    Ask each model for one word, to see whether it answers

    Usage: gantry model test [OPTIONS] [ROLE|MODEL]

    Arguments:
      [ROLE|MODEL]  A role, or a model [default: all models of the profile]

    Options:
          --profile <NAME>        Which models answer: fast, balanced, quality, or a profile of your own
          --strict                Fail rather than let the offline model answer in the place of another
          --model <[ROLE=]MODEL>  Let these models answer for a role, or for all; with commas, one after
                                  the other; may be repeated
          --json                  Print JSON
      -h, --help                  Print help

    The exit code is 1 when a model does not answer. A model that costs money costs a tiny part of a
    cent.

    Examples:
      gantry model test                     all models of the profile
      gantry model test planner             the models of a role
      gantry model test openai:gpt-4o-mini  any model of a provider
    [exit 0]
    ");
}

#[test]
fn what_a_plan_would_cost_is_told_before_it_runs_and_nobody_is_asked() {
    let kit = Kit::new();
    kit.write("plan.yaml", "id: log\ntitle: Read a log\npolicy: {agent_planning: true, budget: {model_calls: 9}}\ntasks:\n  - {id: look, run: echo timeout}\n  - id: explain\n    depends_on: [look]\n    inputs: {log: tasks.look.stdout}\n    model: {instruction: Say what is wrong., settings: {tokens_max: 100}}\n  - {id: choose, decide: {question: Ship it?, options: [ship, wait]}}\n  - {id: mend, agent: {goal: Mend it., tools: [shell], max_turns: 8}}\n  - {id: all, depends_on: [explain], map: {over: tasks.explain.text, each: {model: {instruction: Do it.}}}}\n");
    insta::assert_snapshot!(kit.with_variables(&[KEY], "model estimate plan.yaml --model gpt-4o-mini"), @"
    Read a log: what models would be asked; nobody is asked now

    explain  openai:gpt-4o-mini  1 call    246 tokens    $0.000082
    choose   openai:gpt-4o-mini  1 call    1219 tokens   $0.000633
    mend     openai:gpt-4o-mini  8 calls   9144 tokens   $0.004976
    at most                      10 calls  10609 tokens  $0.005691
    not counted: all: one task for each item of a list
    not counted: inputs that other tasks make, what tools give, repairs and repetitions
    the budget of the plan may stop it before: 9 calls
    [exit 0]
    ");
    let json = kit.json("model estimate plan.yaml --json");
    assert_eq!(json["tasks"][0]["model"], "offline:gantry-offline", "without a key it costs nothing: {json}");
    assert_eq!((&json["at_most"]["calls"], &json["at_most"]["cost_usd"]), (&10.into(), &0.into()), "{json}");
    // Judges, other ways and the last question of an agent are asked as well.
    kit.write("more.yaml", "id: more\ntitle: More\npolicy: {agent_planning: true, judge: model}\ndone_when: [people like it]\ntasks:\n  - id: look\n    run: echo timeout\n    alternates: [{model: {instruction: Say what is wrong.}}]\n    success_criteria: [it names the cause, \"exit_code == 0\"]\n  - {id: mend, agent: {goal: Mend it., tools: [shell], max_turns: 1}, outputs: {cause: {type: text}}}\n");
    let json = kit.json("model estimate more.yaml --json");
    let rows = json["tasks"].as_array().unwrap().iter();
    let rows: Vec<String> = rows.map(|row| format!("{}: {}", row["task"], row["at_most"]["calls"])).collect();
    assert_eq!(
        rows,
        [
            "\"look, way 2\": 1",
            "\"look, judge\": 1",
            "\"look, critic\": 1",
            "\"mend\": 2",
            "\"done_when, judge\": 1",
            "\"done_when, critic\": 1"
        ]
    );
    kit.write("none.yaml", "id: none\ntitle: No models\ntasks: [{id: look, run: echo timeout}]\n");
    insta::assert_snapshot!(kit.gantry(&["model", "estimate", "none.yaml"]), @"
    No models: asks no model
    [exit 0]
    ");
}

#[test]
fn what_asking_takes_is_measured_without_any_network_or_key() {
    let kit = Kit::new();
    let figures = kit.json("bench models --only calls --only pipeline --json");
    let figure = |name: &str| figures[name].as_f64().unwrap_or_else(|| panic!("{name}: {figures}"));
    assert!(figure("call_p50_us") > figure("bare_p50_us") && figure("call_p99_us") >= figure("call_p50_us"));
    assert!((figure("pipeline_bound_ms") - 1_800.0).abs() < f64::EPSILON);
    assert!(figure("pipeline_ratio") >= 1.0, "nothing is faster than its longest path: {figures}");
    assert!(figures.get("recalled_calls_per_s").is_none(), "only what is asked for is measured: {figures}");
    assert_eq!(kit.code("bench models --only nonsense"), 2);
    assert_eq!(kit.code("bench --only chain models"), 2, "the two measure different things");
}
