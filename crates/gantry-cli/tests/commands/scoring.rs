//! How good plans are: figures, and a model that judges.

use std::path::Path;
use std::process::Command;

use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::{Value, json};

use super::kit::Kit;

const GOOD: &str = "
id: boat
title: Build a boat
objective: Build a wooden boat and launch it in Aarhus
scope: {included: [hull, rigging]}
tasks:
  - id: hull
    title: Build the wooden hull
    description: Frames, planks and keel of the boat.
    tasks:
      - {id: frames, title: Cut the frames, manual: cut them, owner: ana, estimate: {low: 1d, likely: 2d, high: 4d}, success_criteria: [12 frames lie within 2 mm of the drawing]}
      - {id: planks, title: Plank the hull, depends_on: [frames], manual: plank it, owner: ben, estimate: {low: 3d, likely: 5d, high: 9d}, success_criteria: [no light is seen through any seam], risks: [{name: rot, likelihood: 0.2, impact: a plank is lost, mitigation: buy two more}]}
  - id: water
    title: On the water
    depends_on: [hull]
    tasks:
      - {id: rigging, title: Set the rigging, manual: set it, owner: ana, estimate: {low: 1d, likely: 2d, high: 3d}, success_criteria: [the mast holds 200 kg]}
      - {id: launch, title: Launch it in Aarhus harbour, depends_on: [rigging], manual: launch, owner: ben, estimate: {low: 1h, likely: 2h, high: 1d}, success_criteria: [it floats for 24 hours]}
";

const POOR: &str = "
id: poor
title: Build a boat
objective: Build a wooden boat and launch it in Aarhus
tasks:
  - {id: a, title: Do the work}
  - {id: b, title: Do the works}
  - {id: c, title: Finish properly, success_criteria: [it is good]}
";

#[test]
fn a_plan_with_everything_has_better_figures_than_one_with_nothing() {
    let kit = Kit::new();
    kit.write("good.yaml", GOOD);
    kit.write("poor.yaml", POOR);
    insta::assert_snapshot!(kit.gantry(&["score", "good.yaml", "poor.yaml"]));
    let told = kit.json("score poor.yaml --json");
    insta::assert_snapshot!(format!("{:#}", told[0]));
}

#[test]
fn a_plan_of_the_record_is_measured_without_the_way_there_and_like_its_file() {
    let kit = Kit::new();
    kit.write("good.yaml", GOOD);
    kit.gantry(&["run", "good.yaml"]);
    let (of_file, of_plan) = (kit.json("score good.yaml --json"), kit.json("score boat --json"));
    assert_eq!(
        (&of_file[0]["dimensions"], &of_file[0]["measures"]),
        (&of_plan[0]["dimensions"], &of_plan[0]["measures"])
    );
    kit.gantry(&["plan", "--template", "outline", "--yes", "--offline", "Build a garden shed"]);
    let told = kit.json("score @last --json");
    assert!(told[0]["measures"]["tasks"].as_u64().unwrap() >= 2, "{told:#}");
    let status = kit.json("status @last --json");
    let ids: Vec<&str> =
        status["task_list"].as_array().unwrap().iter().filter_map(|task| task["id"].as_str()).collect();
    assert!(ids.contains(&"break-down"), "the way there is in the plan, and is not measured: {ids:?}");
}

#[test]
fn what_cannot_be_measured_is_told() {
    let kit = Kit::new();
    insta::assert_snapshot!(kit.session(&["score", "score nowhere", "score nowhere.yaml"]));
}

#[test]
#[expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]
fn an_outside_script_counts_the_same_in_the_plan_for_programs() {
    let mut beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let Some(script) = beside.find_map(|above| Some(above.join("shared/score-plan")).filter(|path| path.is_file()))
    else {
        eprintln!("skipped: there is no `shared/score-plan` beside the workspace");
        return;
    };
    let kit = Kit::new();
    kit.write("good.yaml", GOOD);
    kit.write("poor.yaml", POOR);
    kit.gantry(&["plan", "--yes", "--offline", "--detail", "fast", "Build a garden shed of 4 by 3 metres by June"]);
    // Its `leaf_linked` counts every task that it visits, so that one is left out.
    let same = [
        "tasks",
        "leaves",
        "depth_max",
        "depth_mean",
        "fanout_mean",
        "single_child_parents",
        "parent_echo",
        "edges",
        "refs_ok",
        "ancestor_edges",
        "acyclic",
        "levels",
        "dup_exact",
        "dup_near",
        "estimate_cov",
        "owner_cov",
        "resource_cov",
        "output_cov",
        "risk_cov",
        "plan_risks",
        "plan_risks_scored",
        "plan_risks_mitigated",
    ];
    for plan in ["good.yaml", "poor.yaml", "@last"] {
        std::fs::write(kit.path("plan.json"), kit.output(&["export", plan, "--format", "json"]).stdout).unwrap();
        let output = Command::new("python3").arg(&script).arg(kit.path("plan.json")).output().unwrap();
        let theirs: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        let ours = &kit.json(&format!("score {plan} --json"))[0]["measures"];
        for name in same {
            let figure = |value: &Value| value.as_f64().or_else(|| value.as_bool().map(|yes| f64::from(u8::from(yes))));
            let (theirs, ours) = (figure(&theirs[name]).unwrap(), figure(&ours[name]).unwrap());
            assert!((theirs - ours).abs() < 0.0011, "{name} of {plan}: {theirs} and {ours}");
        }
    }
}

fn asking(server: &ModelServer) -> Kit {
    let kit = Kit::new();
    let address = server.base_url();
    kit.write(
        "gantry.toml",
        format!("[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{address}\"\ntools = false\nretries = 0\n\n[profiles.balanced]\ndefault = \"here:m\"\n"),
    );
    kit.write("good.yaml", GOOD);
    kit
}

fn verdicts(answers: &[&str]) -> Turn {
    let verdict =
        |n: usize| json!({"criterion": n + 1, "reason": "as the plan shows", "answer": answers[n % answers.len()]});
    Turn::json(&json!({"verdicts": (0..30).map(verdict).collect::<Vec<_>>()}))
}

#[test]
fn a_model_judges_a_plan_by_thirty_criteria_and_is_asked_once() {
    let server = ModelServer::start();
    server.then(verdicts(&["yes", "partly", "yes", "no", "yes"]));
    let kit = asking(&server);
    let first = kit.json("score good.yaml --judge --json");
    let judgement = &first[0]["judgement"];
    assert_eq!((&judgement["score"], &judgement["dimensions"][0]["score"]), (&json!(7.0), &json!(7)), "{judgement:#}");
    assert_eq!(judgement["dimensions"].as_array().unwrap().len(), 6);
    assert_eq!(kit.json("score good.yaml --judge --json"), first);
    assert_eq!(server.counts().requests, 1, "the same plan is not judged twice");
    let heard = server.heard()[0].body.to_string();
    assert!(heard.contains("12 frames lie within 2 mm") && heard.contains("It finds out early"), "{heard}");
    let drawn = kit.gantry(&["score", "good.yaml", "--judge"]);
    assert!(drawn.contains("7.0 of 10") && drawn.contains("Scientific rigor"), "{drawn}");
}

#[test]
fn without_a_model_nobody_judges_and_that_is_told() {
    let kit = Kit::new();
    kit.write("good.yaml", GOOD);
    let said = kit.gantry(&["score", "good.yaml", "--judge", "--model", "offline"]);
    assert!(said.contains("nobody has judged it") && said.ends_with("[exit 3]"), "{said}");
}
