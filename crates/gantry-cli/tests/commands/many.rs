//! Lists of topics that become plans, in this process.

use std::collections::BTreeSet;

use gantry_testkit::model_server::{ModelServer, Turn};
use serde_json::{Value, json};

use crate::kit::Kit;

const TOPICS: &str = "Build a garden shed\nOrganise a street party\nMigrate our blog to a new server\nWrite a cookbook\n\
                      Open a bakery\nPlan a hike across Norway\nTeach a class about bees\nRenovate the kitchen\n";

fn rows(kit: &Kit, table: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(std::io::Cursor::new(kit.read(table)));
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn each_topic_becomes_a_plan_with_tasks_and_a_row() {
    let kit = Kit::new();
    kit.write("topics.txt", TOPICS);
    assert_eq!(kit.code("bulk --input topics.txt --offline --depth 1 --dump-dir kept --outlines --verify"), 0);
    let rows = rows(&kit, "bulk_plans.csv");
    assert_eq!(rows[0][..6], ["topic", "plan_id", "status", "retries", "error", "session_id"]);
    let titles: Vec<&str> = rows[1..].iter().map(|row| row[0].as_str()).collect();
    assert_eq!(titles, TOPICS.lines().collect::<Vec<_>>(), "one row for each topic, in their order");
    for row in &rows[1..] {
        assert_eq!((row[2].as_str(), row[3].as_str(), row[4].as_str()), ("success", "0", ""), "{row:?}");
        let tree: Value = serde_json::from_slice(&kit.read(&format!("kept/plans/plan_{}.json", row[1]))).unwrap();
        assert!(tree["nodes"].as_object().unwrap().len() > 2 && tree["adjacency"]["null"].is_array(), "{tree:#}");
        assert!(kit.read(&format!("kept/plans/plan_{}.md", row[1])).starts_with(b"# "));
        let made: Value = serde_json::from_slice(&kit.read(&format!("kept/responses/{}.json", row[5]))).unwrap();
        assert_eq!(made["created_tasks"].as_array().unwrap().len(), row[7].parse::<usize>().unwrap(), "{made:#}");
        assert_eq!(made["stopped_reason"], row[8], "everything about the breaking down is kept");
        assert_eq!(
            kit.json(&format!("status {} --json", row[1]))["state"],
            "blocked",
            "it waits for people, like any other"
        );
    }
}

#[test]
fn what_a_list_says_beside_a_title_is_kept_with_the_plan() {
    let kit = Kit::new();
    let list = "title,goal,description,owner,tier,metadata\nShed,Build a garden shed,4 by 3 m of larch,ana,2,\"{\"\"size\"\": 12}\"\n";
    kit.write("topics.csv", list);
    assert_eq!(kit.code("bulk --input topics.csv --offline --depth 1 --run-id spring"), 0);
    let plan = kit.json("export 1 -f json")["source"].clone();
    assert_eq!((&plan["title"], &plan["owner"]), (&json!("Shed"), &json!("ana")), "{plan:#}");
    let kept = &plan["metadata"];
    let kept = ["description", "tier", "size", "bulk_run_id"].map(|name| kept[name].clone());
    assert_eq!(kept, [json!("4 by 3 m of larch"), json!("2"), json!(12), json!("spring")], "{plan:#}");
    let goal = plan["objective"].as_str().unwrap();
    assert!(goal.contains("Build a garden shed") && goal.ends_with("4 by 3 m of larch"), "{goal}");
}

#[test]
fn plans_are_as_deep_and_as_large_as_was_said() {
    let kit = Kit::new();
    kit.write("topics.txt", "Build a garden shed\n");
    let made = |flags: &str| {
        assert_eq!(kit.code(&format!("bulk --input topics.txt --offline --dump-dir kept --output t.csv {flags}")), 0);
        let row = rows(&kit, "t.csv")[1].clone();
        let made: Value = serde_json::from_slice(&kit.read(&format!("kept/responses/{}.json", row[5]))).unwrap();
        std::fs::remove_file(kit.path("t.csv")).unwrap();
        let created = made["created_tasks"].as_array().unwrap();
        let levels = if created.iter().any(|task| !task["parent"].is_null()) { 2 } else { 1 };
        (levels, created.len(), made["stopped_reason"].as_str().unwrap().to_owned())
    };
    let (levels, flat, why) = made("--run-id one --depth 1");
    assert_eq!((levels, why.as_str()), (1, "depth_reached"));
    let (levels, deep, _) = made("--run-id two --depth 2");
    assert!(levels == 2 && deep > flat, "{deep} tasks in two levels, {flat} in one");
    assert_eq!(made("--run-id few --expand-depth 2 --node-budget 3"), (1, 3, "node_budget_exhausted".to_owned()));
    assert_eq!(made("--run-id one-task --budget 1"), (1, 1, "node_budget_exhausted".to_owned()));
}

#[test]
fn without_a_model_and_with_the_offline_one_forbidden_no_plan_counts_as_made() {
    let kit = Kit::new();
    kit.write("topics.txt", "Build a garden shed\n");
    let said = kit.with_variable("GANTRY_STRICT", "1", "bulk --input topics.txt --max-retries 0");
    assert!(said.contains("[exit 3]") && said.contains("0 of 1 topic have a plan"), "{said}");
    let row = &rows(&kit, "bulk_plans.csv")[1];
    assert!(row[2] == "failed" && row[4].contains("nobody answered"), "{row:?}");
}

#[test]
fn killed_anywhere_the_same_command_goes_on_and_no_topic_becomes_two_plans() {
    let kit = Kit::new();
    kit.write("topics.txt", TOPICS);
    let line = "bulk --input topics.txt --offline --depth 1 --concurrency 2 --run-id night";
    let mut kills = 0;
    for (point, nth) in
        [("after_append", 2), ("before_append", 9), ("after_append", 14), ("before_append", 6), ("after_append", 5)]
    {
        let at = format!("{point}:{nth}");
        kills += u32::from(kit.dies(&[("GANTRY_CRASH_AT", &at)], line));
    }
    assert!(kills >= 3, "only {kills} kills");
    assert_eq!(kit.code(line), 0);
    let rows = rows(&kit, "bulk_plans.csv");
    let plans: BTreeSet<&String> = rows[1..].iter().map(|row| &row[1]).collect();
    assert_eq!((rows.len() - 1, plans.len()), (8, 8), "{rows:?}");
    assert_eq!(kit.json("list --label bulk-night --json").as_array().unwrap().len(), 8, "and there are no others");
    // Without its table the run still knows its plans.
    std::fs::remove_file(kit.path("bulk_plans.csv")).unwrap();
    assert_eq!(kit.code(&format!("{line} --budget 3")), 0);
    let again: Vec<String> = self::rows(&kit, "bulk_plans.csv")[1..].iter().map(|row| row[1].clone()).collect();
    assert_eq!(again, rows[1..].iter().map(|row| row[1].clone()).collect::<Vec<_>>());
    assert_eq!(kit.json("list --label bulk-night --json").as_array().unwrap().len(), 8);
}

#[test]
fn killed_and_gone_on_with_in_another_table_no_topic_becomes_two_plans() {
    let kit = Kit::new();
    kit.write("topics.txt", TOPICS);
    let line = "bulk --input topics.txt --offline --depth 1 --concurrency 2";
    assert!(kit.dies(&[("GANTRY_CRASH_AT", "after_append:14")], line));
    let on = format!("{line} --resume-from bulk_plans.csv --output second.csv");
    assert!(kit.dies(&[("GANTRY_CRASH_AT", "after_append:9")], &on));
    assert_eq!(kit.code(&on), 0);
    // The table may go elsewhere: it knows which run it is of.
    std::fs::create_dir(kit.path("kept")).unwrap();
    std::fs::rename(kit.path("second.csv"), kit.path("kept/third.csv")).unwrap();
    assert_eq!(kit.code(&format!("{line} --output kept/third.csv")), 0);
    assert_eq!(rows(&kit, "kept/third.csv").len() - 1, 8);
    assert_eq!(kit.json("list --json").as_array().unwrap().len(), 8, "a plan for each topic, and no others");
}

#[test]
fn a_token_that_is_kept_for_servers_does_not_matter_where_none_is_asked() {
    let kit = Kit::new();
    kit.write("topics.txt", "Build a garden shed\n");
    let said = kit.with_variable("GANTRY_BULK_API_KEY", "sesame", "bulk --input topics.txt --offline --depth 1");
    assert!(said.ends_with("[exit 0]"), "{said}");
}

#[test]
fn a_second_list_leaves_the_rows_of_the_first_in_the_table() {
    let kit = Kit::new();
    kit.write("a.txt", "Build a garden shed\nWrite a cookbook\n");
    kit.write("b.txt", "Open a bakery\n");
    assert_eq!(kit.code("bulk --input a.txt --offline --depth 1"), 0);
    let said = kit.gantry(&["bulk", "--input", "b.txt", "--offline", "--depth", "1"]);
    assert!(said.contains("1 of 1 topic has a plan") && said.contains("2 rows of other topics stay in it"), "{said}");
    let topics: Vec<String> = rows(&kit, "bulk_plans.csv").into_iter().skip(1).map(|row| row[0].clone()).collect();
    assert_eq!(topics, ["Open a bakery", "Build a garden shed", "Write a cookbook"]);
}

#[test]
fn a_plan_that_waits_to_be_accepted_is_looked_at_as_what_it_will_be() {
    let kit = Kit::new();
    kit.write("topics.txt", "Build a garden shed\n");
    let line = "bulk --input topics.txt --offline --template execution-plan --dump-dir kept --outlines --verify";
    assert_eq!(kit.code(line), 0);
    let row = &rows(&kit, "bulk_plans.csv")[1];
    let tree: Value = serde_json::from_slice(&kit.read(&format!("kept/plans/plan_{}.json", row[1]))).unwrap();
    let nodes = tree["nodes"].as_object().unwrap();
    assert!(nodes.len() > 5 && nodes.values().all(|node| node["name"] != "Accept the plan"), "{tree:#}");
    let outline = String::from_utf8(kit.read(&format!("kept/plans/plan_{}.md", row[1]))).unwrap();
    assert_eq!(outline.matches("- **").count(), nodes.len(), "each task stands in the outline: {outline}");
}

#[test]
fn a_plan_that_is_to_be_carried_out_is_accepted_by_whoever_asks_for_that() {
    let kit = Kit::new();
    kit.write("topics.txt", "Build a garden shed\n");
    let said = kit.gantry(&["bulk", "--input", "topics.txt", "--offline", "--template", "execution-plan", "--execute"]);
    assert!(said.contains("1 of 1 topic has a plan that was carried out"), "{said}");
    assert_eq!(kit.json("status 1 --json")["state"], "completed");
}

#[test]
fn what_the_offline_model_made_instead_of_another_one_is_told() {
    let server = ModelServer::start();
    server.always(Turn::status(500));
    let kit = Kit::new();
    kit.write(
        "gantry.toml",
        format!("[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\ntools = false\nretries = 0\n\n[profiles.balanced]\ndefault = \"here:m\"\n", server.base_url()),
    );
    kit.write("topics.txt", "Build a garden shed\n");
    let said = kit.gantry(&["bulk", "--input", "topics.txt", "--depth", "1"]);
    assert!(said.contains("1 plan was made by the offline model: ") && said.contains("instead of here:m"), "{said}");
    let table = rows(&kit, "bulk_plans.csv");
    let at = table[0].iter().position(|name| name == "degraded").unwrap();
    assert!(table[1][at].contains("instead of here:m"), "{:?}", table[1]);
}

#[test]
fn what_comes_to_nothing_is_told_and_kept_to_be_tried_again() {
    let kit = Kit::new();
    kit.write("topics.txt", "Build a garden shed\nasdf qwer zxcv\n");
    let said = kit.gantry(&["bulk", "--input", "topics.txt", "--offline", "--depth", "1", "--run-id", "r"]);
    assert!(said.contains("[exit 3]") && said.contains("failed: asdf qwer zxcv ("), "{said}");
    assert!(said.contains("1 of 2 topics has a plan"), "{said}");
    assert!(String::from_utf8_lossy(&kit.read("failed_topics.jsonl")).contains("asdf qwer zxcv"));
}

#[test]
fn a_list_that_cannot_be_read_makes_nothing() {
    let kit = Kit::new();
    kit.write("topics.jsonl", "\"Build a shed\"\n7\n");
    kit.write("empty.txt", "\n");
    kit.write("taken.csv", "name\nana\n");
    kit.write("words.txt", "no topic in it");
    kit.write("good.txt", "Build a shed\n");
    insta::assert_snapshot!(kit.session(&[
        "bulk",
        "bulk --input nowhere.txt",
        "bulk --input topics.jsonl",
        "bulk --input empty.txt",
        "bulk --input taken.csv --output taken.csv",
        "bulk --input good.txt --base-url localhost:9000",
        "bulk --input good.txt --base-url http://localhost:9 --prompt-template words.txt",
        "bulk --input good.txt --base-url http://127.0.0.1:9",
        "bulk --input good.txt --run-id a/b",
        "bulk verify nowhere.csv",
        "bulk --input good.txt --resume-from nowhere.csv",
        "bulk --input good.txt --output .",
        "bulk --input good.txt --timeout 5s",
        "bulk --input good.txt --offline --backoff 5s",
        "bulk --input good.txt --offline --api-key sesame",
    ]));
    assert_eq!(kit.json("list --json").as_array().unwrap().len(), 0);
}

#[test]
fn a_dry_run_shows_what_would_be_asked_and_makes_nothing() {
    let kit = Kit::new();
    kit.write("topics.jsonl", "{\"title\": \"Shed\", \"goal\": \"Build a shed\", \"description\": \"4 by 3 m\"}\n");
    kit.write("words.txt", "Plan {title}: {goal} {\"json\": 1}\n");
    insta::assert_snapshot!(kit.session(&[
        "bulk --input topics.jsonl --dry-run",
        "bulk --input topics.jsonl --dry-run --base-url http://localhost:9 --prompt-template words.txt",
    ]));
    let asked = kit.json("bulk --input topics.jsonl --dry-run --json");
    assert_eq!(asked["topics"][0]["request"], "Build a shed\n\n4 by 3 m", "no server is asked: {asked:#}");
    let asked = kit.json("bulk --input topics.jsonl --dry-run --json --base-url http://localhost:9");
    assert_eq!(asked["topics"][0]["request"]["context"]["plan_title"], "Shed", "{asked:#}");
    assert!(!kit.path("bulk_plans.csv").exists());
}

#[test]
fn plans_that_are_gone_are_found_by_looking_again() {
    let kit = Kit::new();
    kit.write("topics.txt", "Build a garden shed\nWrite a cookbook\n");
    assert_eq!(kit.code("bulk --input topics.txt --offline --depth 1"), 0);
    assert_eq!(kit.code("bulk verify bulk_plans.csv"), 0);
    assert_eq!(kit.code("forget 1 --force"), 0);
    let told = kit.json("bulk verify bulk_plans.csv --json");
    assert_eq!(
        (&told["looked_at"], &told["sound"], &told["missing"][0]["plan_id"]),
        (&2.into(), &1.into(), &"1".into())
    );
    assert_eq!(kit.code("bulk verify bulk_plans.csv"), 3);
    assert_eq!(kit.code("cancel 2"), 0);
    assert_eq!(kit.json("bulk verify bulk_plans.csv --json")["failed"][0]["why"], "it was given up");
}

#[test]
fn models_do_the_tasks_of_a_plan_when_that_is_wanted() {
    let kit = Kit::new();
    kit.write("topics.txt", "Build a garden shed\n");
    assert_eq!(kit.code("bulk --input topics.txt --offline --depth 1 --execute"), 0);
    assert_eq!(kit.json("status 1 --json")["state"], "completed");
}

#[test]
fn how_fast_a_list_becomes_plans_can_be_measured() {
    let told = Kit::new().json("bench bulk --only outline --only memory --topics 20 --sizes 5,10 --json");
    let runs = told["runs"].as_array().unwrap();
    let what: Vec<(&str, u64)> =
        runs.iter().map(|run| (run["what"].as_str().unwrap(), run["topics"].as_u64().unwrap())).collect();
    assert_eq!(what, [("outline", 20), ("memory", 5), ("memory", 10)]);
    for figure in ["plans_per_s", "first_row_ms", "most_mb"] {
        assert!(runs.iter().all(|run| run[figure].as_f64().unwrap() > 0.0), "{figure}: {told:#}");
    }
}
