//! Which prompts there are, what they say, and how they fare.

use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::json;

use super::kit::Kit;

const GREET: &str = "---\nname: greet\nversion: \"3\"\nlocale: en\nrole: writer\ndescription: Greets somebody.\ninputs:\n  - {name: who, type: text, description: whom to greet, example: Ana}\nweight: 0\nvariants:\n  formal: {weight: 1, system: You greet people with respect.}\n---\n## system\nYou greet people.\n\n## user\nGreet {{ who }}.\n";

fn greeting(server: &ModelServer) -> Kit {
    let kit = Kit::new();
    let address = server.base_url();
    kit.write("gantry.toml", format!("[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{address}\"\nretries = 0\n\n[profiles.balanced]\ndefault = \"here:m\"\n"));
    std::fs::create_dir(kit.path("prompts")).unwrap();
    kit.write("prompts/greet.en.md", GREET);
    kit
}

#[test]
fn prompts_are_listed_with_version_language_variants_and_file() {
    let kit = greeting(&ModelServer::start());
    let said = kit.gantry(&["prompt", "list"]);
    let line = said.lines().find(|line| line.starts_with("greet")).unwrap_or_else(|| panic!("{said}"));
    for part in ["en", "version 3", "writer", "greet.en.md", "variants: formal"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let all = kit.json("prompt list --json");
    let names: Vec<&str> = all["prompts"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"judge") && names.contains(&"greet"), "{names:?}");
}

#[test]
fn a_prompt_is_shown_with_its_inputs_and_what_it_says() {
    let kit = greeting(&ModelServer::start());
    let said = kit.gantry(&["prompt", "show", "greet", "--variant", "formal"]);
    assert!(said.contains("who: a text: whom to greet") && said.contains("Greet Ana."), "{said}");
    assert!(said.contains("You greet people with respect."), "{said}");
    let unknown = kit.gantry(&["prompt", "show", "gret"]);
    assert!(unknown.contains("there is no such prompt") && unknown.ends_with("[exit 2]"), "{unknown}");
}

#[test]
fn uses_of_prompts_are_counted_from_the_record_by_version_and_variant() {
    let server = ModelServer::start();
    server.then(Turn::text("Good day.").usage(100, 20)).then(Turn::status(500));
    let kit = greeting(&server);
    let nothing = kit.gantry(&["prompt", "stats"]);
    assert!(nothing.contains("no use of a prompt is on record"), "{nothing}");
    kit.write("plan.yaml", "id: p\ntitle: Greet\ntasks:\n  - {id: one, inputs: {who: \"Ana\"}, model: {prompt: greet}}\n  - {id: two, depends_on: [one], inputs: {who: \"Ben\"}, model: {prompt: greet}}\n");
    let said = kit.gantry(&["run", "plan.yaml"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    let stats = kit.json("prompt stats greet --json");
    let greet = &stats["prompts"][0];
    assert_eq!((&greet["prompt"], &greet["version"], &greet["best"]), (&json!("greet"), &json!("3"), &json!("formal")));
    let metrics = &greet["variants"][0]["metrics"];
    assert_eq!((&metrics["uses"], &metrics["successes"], &metrics["tokens"]), (&json!(2), &json!(1), &json!(120)));
    let drawn = kit.gantry(&["prompt", "stats"]);
    assert!(drawn.contains("2 uses") && drawn.contains("50 % succeed"), "{drawn}");
}

#[test]
fn a_prompt_that_was_edited_is_asked_again_and_only_for_the_tasks_that_use_it() {
    let server = ModelServer::start();
    server.always(Turn::text("Good day."));
    let kit = greeting(&server);
    kit.write("plan.yaml", "id: p\ntitle: Greet\ntasks:\n  - {id: one, inputs: {who: \"Ana\"}, model: {prompt: greet}}\n  - {id: two, model: {instruction: Say something.}}\n");
    assert!(kit.gantry(&["run", "plan.yaml"]).ends_with("[exit 0]"));
    assert!(kit.gantry(&["resume", "p"]).ends_with("[exit 0]"));
    assert_eq!(server.counts().requests, 2, "nothing has changed");
    assert!(!kit.gantry(&["replay", "p"]).contains("prompt"), "it is the same prompt");
    kit.write("prompts/greet.en.md", GREET.replace("with respect", "with great respect"));
    let replayed = kit.gantry(&["replay", "p"]);
    assert!(replayed.contains("everything is the same") && replayed.ends_with("[exit 0]"), "{replayed}");
    let told = "the prompt `greet` is another one now than when the plan used it: `one` would be asked again with it";
    assert!(replayed.contains(told), "{replayed}");
    let changed = &kit.json("replay p --json")["changed_prompts"];
    assert_eq!(*changed, json!([{"prompt": "greet", "asked_again": ["one"]}]));
    assert_eq!(server.counts().requests, 2, "nobody was asked");
    let said = kit.gantry(&["resume", "p"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert_eq!(server.counts().requests, 3, "{said}");
    assert!(server.bodies()[2].to_string().contains("with great respect"));
    assert!(kit.gantry(&["log", "p"]).contains("its prompt or model has changed"));
    assert!(kit.gantry(&["replay", "p"]).ends_with("[exit 0]"));
}
