//! Lists of topics that become plans, in this process.

use std::collections::BTreeSet;

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
}

#[test]
fn without_a_model_and_with_the_offline_one_forbidden_no_plan_counts_as_made() {
    let kit = Kit::new();
    kit.write("topics.txt", "Build a garden shed\n");
    let said = kit.with_variable("GANTRY_STRICT", "1", "bulk --input topics.txt --max-retries 0");
    assert!(said.contains("[exit 3]") && said.contains("0 of 1 topics have a plan"), "{said}");
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
fn what_comes_to_nothing_is_told_and_kept_to_be_tried_again() {
    let kit = Kit::new();
    kit.write("topics.txt", "Build a garden shed\nasdf qwer zxcv\n");
    let said = kit.gantry(&["bulk", "--input", "topics.txt", "--offline", "--depth", "1", "--run-id", "r"]);
    assert!(said.contains("[exit 3]") && said.contains("failed: asdf qwer zxcv ("), "{said}");
    assert!(said.contains("1 of 2 topics have a plan"), "{said}");
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
}

#[test]
fn models_do_the_tasks_of_a_plan_when_that_is_wanted() {
    let kit = Kit::new();
    kit.write("topics.txt", "Build a garden shed\n");
    assert_eq!(kit.code("bulk --input topics.txt --offline --depth 1 --execute"), 0);
    assert_eq!(kit.json("status 1 --json")["state"], "completed");
}
