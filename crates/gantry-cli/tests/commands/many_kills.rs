//! Long lists of real topics: killed at random, and nothing is lost and nothing twice; memory stays small.

use std::collections::BTreeSet;
use std::path::Path;

use super::kit::Kit;

/// How many topics there are; a variable says more.
const TOPICS: usize = 150;
const TOPICS_VARIABLE: &str = "GANTRY_TEST_TOPICS";

/// How many times as much memory a list may take as the first fifth of it.
const GROWTH_MAX: f64 = 1.35;

/// The first topics of a list of real ones beside the workspace.
#[expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]
fn real_topics() -> Option<Vec<String>> {
    let mut beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let list = beside
        .find_map(|above| std::fs::read_to_string(above.join("shared/data/topics/taskbench_requests_2000.txt")).ok());
    if list.is_none() {
        eprintln!("skipped: there is no `shared/data/topics` beside the workspace");
    }
    let count = std::env::var(TOPICS_VARIABLE).ok().and_then(|count| count.parse().ok()).unwrap_or(TOPICS);
    Some(list?.lines().take(count).map(str::to_owned).collect())
}

fn rows(kit: &Kit) -> usize {
    let text = std::fs::read(kit.path("bulk_plans.csv")).unwrap_or_default();
    text.split(|byte| *byte == b'\n').count().saturating_sub(2) // the head, and what is behind the last end of a line
}

#[test]
fn killed_five_times_at_random_no_row_is_lost_and_no_topic_is_two_plans() {
    let Some(topics) = real_topics() else { return };
    let kit = Kit::new();
    kit.write("topics.txt", topics.join("\n"));
    let line = "bulk --input topics.txt --offline --depth 1 --run-id real --json";
    let mut chance = 0x9e37_79b9_7f4a_7c15_u64;
    let mut told: BTreeSet<String> = BTreeSet::new();
    for _ in 0..5 {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let room = topics.len() / 6;
        let until = (rows(&kit) + 1 + (chance >> 33) as usize % room).min(topics.len() - 1);
        let mut under_way = kit.start(line);
        while rows(&kit) < until && under_way.is_there() {
            std::thread::yield_now();
        }
        under_way.kill();
        let kept = String::from_utf8_lossy(&kit.read("bulk_plans.csv")).into_owned();
        let whole = &kept[..kept.rfind('\n').map_or(0, |end| end + 1)];
        let now: BTreeSet<String> = whole.lines().skip(1).map(str::to_owned).collect();
        assert!(told.is_subset(&now), "a row that was told is gone: {:?}", told.difference(&now).next());
        told = now;
    }
    assert!(told.len() < topics.len(), "it was killed before its end");
    let made = kit.json(line);
    let made = made["rows"].as_array().unwrap();
    let plans: BTreeSet<&str> = made.iter().map(|row| row["plan_id"].as_str().unwrap()).collect();
    let with_plan = made.iter().filter(|row| row["plan_id"] != "").count();
    assert_eq!(made.len(), topics.len(), "a row for each topic");
    assert_eq!(plans.iter().filter(|plan| !plan.is_empty()).count(), with_plan, "each has a plan of its own");
    for (row, topic) in made.iter().zip(&topics) {
        let title: String = row["topic"].as_str().unwrap().to_owned();
        assert_eq!(title, topic.split_whitespace().collect::<Vec<_>>().join(" "), "in the order of the list");
        assert!(row["status"] == "success" || row["error"] != "", "{row}");
    }
    let listed = kit.json("list --label bulk-real --all --json");
    assert_eq!(listed.as_array().unwrap().len(), with_plan, "and the record has no others");
}

#[test]
fn memory_does_not_grow_with_the_list() {
    let Some(topics) = real_topics() else { return };
    let most = |count: usize| {
        let kit = Kit::new();
        kit.write("topics.txt", topics[..count].join("\n"));
        let mut under_way = kit.start("bulk --input topics.txt --offline --depth 1 --concurrency 8 --json");
        let mut most = 0.0_f64;
        while under_way.is_there() {
            most = most.max(under_way.resident_mb());
            std::thread::yield_now();
        }
        most
    };
    let (few, all) = (most(topics.len() / 5), most(topics.len()));
    assert!(all < few * GROWTH_MAX, "{few:.1} MB for a fifth of the list, {all:.1} MB for all of it");
}

#[test]
fn as_many_topics_at_once_as_may_be_asked_for_fit_the_record() {
    let kit = Kit::new();
    kit.write(
        "topics.txt",
        (1..=40).fold(String::new(), |text, at| format!("{text}Build a garden shed for family {at}\n")),
    );
    assert_eq!(kit.code("bulk --input topics.txt --offline --depth 1 --concurrency 256 --verify"), 0);
    assert_eq!(rows(&kit), 40);
    let listed = kit.json("list --text family --all --json");
    assert_eq!(listed.as_array().unwrap().len(), 40);
}
