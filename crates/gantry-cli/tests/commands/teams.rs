//! What the variables of teams do to tasks in the roles of teams, with a real server on this machine.

use gantry_testkit::model_server::{Gate, ModelServer, Turn};

use super::kit::Kit;
use super::serving::words;

/// A kit whose models are at this server.
fn kit(server: &ModelServer) -> Kit {
    let (kit, address) = (Kit::new(), server.base_url());
    let provider = format!("[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{address}\"\nretries = 0\n");
    kit.write("gantry.toml", provider + "[profiles.balanced]\ndefault = \"here:m\"\nteam.project = \"here:m\"\n");
    kit
}

/// A plan with one task in a role.
fn plan(role: &str) -> String {
    format!(
        "id: one\ntitle: One\npolicy: {{retry: {{max: 0}}, recovery: {{transient: [abort], policy: [abort]}}}}\ntasks:\n  - {{id: say, model: {{instruction: Plan it., role: {role}}}}}\n"
    )
}

#[test]
fn each_variable_for_a_model_of_a_team_says_who_is_asked_in_its_role() {
    // The variable, its role, and the other roles that take over from it.
    let rows = [
        (
            "VDOS_PLANNER_PROJECT_MODEL",
            "team.project",
            vec!["team.daily", "team.hourly", "team.daily_report", "team.report"],
        ),
        ("VDOS_PLANNER_DAILY_MODEL", "team.daily", vec!["team.hourly", "team.daily_report"]),
        ("VDOS_PLANNER_HOURLY_MODEL", "team.hourly", vec![]),
        ("VDOS_PLANNER_DAILY_REPORT_MODEL", "team.daily_report", vec![]),
        ("VDOS_PLANNER_SIM_REPORT_MODEL", "team.report", vec![]),
    ];
    let roles = ["team.project", "team.daily", "team.hourly", "team.daily_report", "team.report"];
    for (variable, own, followers) in rows {
        let server = ModelServer::start();
        server.always(Turn::text("It is planned."));
        let kit = kit(&server);
        // What gantry.toml says of `team.project` counts more for those that take over from it.
        let config = String::from_utf8(kit.read("gantry.toml")).unwrap();
        kit.write("gantry.toml", config.replace("team.project = \"here:m\"\n", ""));
        let task = |role: &str| {
            let id = role.replace(['.', '_'], "-");
            format!("  - {{id: {id}, model: {{instruction: Plan {id}., role: {role}}}}}\n")
        };
        let tasks: String = roles.map(task).concat();
        kit.write("plan.yaml", format!("id: all\ntitle: All\ntasks:\n{tasks}"));
        // Whoever has no model of a team has the one for everybody.
        let variables = [(variable, "here:special"), ("GANTRY_MODEL_DEFAULT", "here:m")];
        let said = kit.with_variables(&variables, "run plan.yaml");
        assert!(said.ends_with("[exit 0]"), "{said}");
        let heard = server.heard();
        for role in roles {
            let id = role.replace(['.', '_'], "-");
            let asked = heard.iter().find(|heard| words(heard).contains(&format!("Plan {id}."))).unwrap();
            let special = role == own || followers.contains(&role);
            let model = if special { "special" } else { "m" };
            assert_eq!(asked.body["model"], model, "{variable}: {role}");
        }
        let listed = kit.with_variables(&variables, "model list");
        let chain = listed.lines().position(|line| line.contains("here:special")).unwrap_or_else(|| panic!("{listed}"));
        let above: Vec<&str> = listed.lines().take(chain + 4).skip(chain - 1).collect();
        assert!(above[0].contains(own) && above.concat().contains(variable), "{listed}");
    }
}

#[test]
fn the_language_of_a_team_is_that_of_its_prompts() {
    let server = ModelServer::start();
    server.always(Turn::text("It is planned."));
    let kit = kit(&server);
    kit.write("plan.yaml", plan("team.daily"));
    assert!(kit.with_variable("VDOS_LOCALE", "ko", "run plan.yaml").ends_with("[exit 0]"));
    let asked = words(&server.heard()[0]);
    assert!(asked.chars().any(|letter| ('가'..='힣').contains(&letter)), "{asked}");
}

#[test]
fn a_strict_team_fails_where_another_has_the_offline_model_answer() {
    let server = ModelServer::start();
    server.always(Turn::status(500));
    let kit = kit(&server);
    kit.write("plan.yaml", plan("team.hourly"));
    let said = kit.with_variable("VDOS_PLANNER_STRICT", "0", "run plan.yaml");
    assert!(said.contains("vdos-stub-hourly") && said.ends_with("[exit 0]"), "{said}");
    kit.write("plan.yaml", plan("team.hourly").replace("id: one", "id: two"));
    let said = kit.with_variable("VDOS_PLANNER_STRICT", "1", "run plan.yaml");
    assert!(said.contains("500") && said.ends_with("[exit 3]"), "{said}");
}

#[test]
fn an_answer_in_english_is_asked_for_again_where_a_team_insists_on_korean() {
    for (retries, requests, kept) in [("0", 1, "Please review it."), ("2", 2, "계획을 검토하세요.")] {
        let server = ModelServer::start();
        server.then(Turn::text("Please review it.")).then(Turn::text("계획을 검토하세요."));
        let kit = kit(&server);
        kit.write("plan.yaml", plan("team.daily"));
        let variables = [("VDOS_LOCALE", "ko"), ("VDOS_KOREAN_VALIDATION_RETRIES", retries)];
        let said = kit.with_variables(&variables, "run plan.yaml");
        assert!(said.ends_with("[exit 0]"), "{said}");
        assert_eq!(server.counts().requests, requests, "{retries} retries");
        assert_eq!(kit.json("task show one say --json")["outputs"]["text"], kept);
    }
}

const PROMPT: &str = "---\nname: team-daily\nversion: \"1\"\nlocale: en\nrole: team.daily\ndescription: Plans a day.\ninputs:\n  - {name: instruction, type: text, description: what is wanted, example: Plan it.}\n---\n## system\nYou plan days our way.\n\n## user\n{{ instruction }}\n";

#[test]
fn a_role_of_a_team_has_a_prompt_of_its_own_where_that_is_wanted() {
    let server = ModelServer::start();
    server.always(Turn::text("It is planned."));
    let kit = kit(&server);
    std::fs::create_dir(kit.path("prompts")).unwrap();
    kit.write("prompts/team-daily.en.md", PROMPT);
    for (number, wanted) in ["false", "true"].into_iter().enumerate() {
        kit.write("plan.yaml", plan("team.daily").replace("id: one", &format!("id: day-{number}")));
        let said = kit.with_variable("VDOS_USE_TEMPLATE_PROMPTS", wanted, "run plan.yaml");
        assert!(said.ends_with("[exit 0]"), "{said}");
        let asked = words(server.heard().last().unwrap());
        assert_eq!(asked.contains("You plan days our way."), wanted == "true", "{asked}");
        assert!(asked.contains("Plan it."), "{asked}");
    }
    kit.write("plan.yaml", plan("team.hourly").replace("id: one", "id: hour"));
    let said = kit.with_variable("VDOS_USE_TEMPLATE_PROMPTS", "true", "run plan.yaml");
    assert!(said.contains("team-hourly.en.md") && said.contains("there is no such prompt"), "{said}");
}

#[test]
fn no_more_plans_of_a_team_are_asked_for_at_once_than_it_has_workers() {
    for (workers, at_once) in [("1", 1), ("3", 3)] {
        let server = ModelServer::start();
        let gate = Gate::closed();
        server.always(Turn::text("It is planned.").behind(&gate));
        let kit = kit(&server);
        let task = |n: u32| format!("  - {{id: t{n}, model: {{instruction: Plan {n}., role: team.hourly}}}}\n");
        let tasks: String = (1..=3).map(task).collect();
        kit.write("plan.yaml", format!("id: many\ntitle: Many\ntasks:\n{tasks}"));
        let beside = kit.beside_with(&[("VDOS_MAX_PLANNING_WORKERS", workers)], "run plan.yaml");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(server.until(|counts| counts.under_way == at_once));
        gate.open();
        assert_eq!(beside.ended(), Some(0));
        assert_eq!((server.counts().requests, server.counts().at_once_max), (3, at_once), "{workers} workers");
    }
}
