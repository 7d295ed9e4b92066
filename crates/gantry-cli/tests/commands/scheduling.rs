//! `gantry schedule`: plans and files of other tools become dates, money and risk.

use crate::kit::Kit;

const TABLE: &str = "id,duration,after,resources\n\
    dig,2d,,ana\n\
    pour,1d,dig,ana\n\
    fence,2d,,ana\n\
    paint,1d,\"pour, fence\",ben\n";

fn said(kit: &Kit, args: &[&str]) -> String {
    let output = kit.output(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(kit: &Kit, file: &str) -> String {
    let output = kit.output(&["schedule", file]);
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_table_is_scheduled_so_that_nobody_has_two_things_to_do_at_once() {
    let kit = Kit::new();
    kit.write("table.csv", TABLE);
    let schedule = kit.json("schedule table.csv --json");
    assert_eq!((&schedule["makespan"], &schedule["unit"]), (&6.into(), &"day".into()), "ana has five days of work");
    let tasks = schedule["tasks"].as_array().unwrap();
    assert_eq!(tasks.iter().filter(|task| task["critical"] == true).count(), 4, "{tasks:?}");
    assert_eq!(schedule["feasible"], true);
}

#[test]
fn a_plan_file_is_a_schedule_of_its_estimates() {
    let kit = Kit::new();
    kit.write(
        "plan.yaml",
        "title: House\ntasks:\n  - {id: walls, estimate: {low: 2h, likely: 4h, high: 12h}}\n  - {id: roof, depends_on: [walls], estimate: {low: 1h, likely: 1h, high: 1h}}\n",
    );
    let schedule = kit.json("schedule plan.yaml --json --draws 500");
    assert_eq!(schedule["critical_path"], serde_json::json!(["walls", "roof"]));
    assert_eq!(schedule["makespan"], 6, "the mean of 2, 4 and 12 is 5");
    assert_eq!(kit.json("schedule plan.yaml --json --draws 500")["makespan"], 6);
    let different = kit.json("schedule plan.yaml --json --what-if task.walls.estimate=1h");
    assert!(
        different["difference"].as_array().unwrap().iter().any(|change| change["path"] == "makespan"),
        "{different}"
    );
}

#[test]
fn a_deadline_that_cannot_be_kept_is_told_with_its_gap() {
    let kit = Kit::new();
    kit.write(
        "project.json",
        r#"{"unit": "hour", "deadline": "3 hard", "tasks": [{"id": "a", "estimate": "2h"}, {"id": "b", "estimate": "2h", "after": ["a"]}]}"#,
    );
    let schedule = kit.json("schedule project.json --json");
    assert_eq!(schedule["feasible"], false);
    assert_eq!(schedule["infeasible"][0]["constraint"]["by"], 1);
}

#[test]
fn charts_and_tables_are_written_for_other_tools() {
    let kit = Kit::new();
    kit.write("table.csv", TABLE);
    for chart in ["gantt", "network", "histogram", "s-curve", "load", "tornado"] {
        let svg = said(&kit, &["schedule", "table.csv", "--svg", chart]);
        assert!(svg.starts_with("<svg"), "{chart}: {svg}");
    }
    let table = said(&kit, &["schedule", "table.csv", "--csv"]);
    assert!(table.lines().nth(1).unwrap().starts_with("dig,"), "{table}");
}

#[test]
fn what_cannot_be_scheduled_is_refused_with_everything_that_is_wrong() {
    let kit = Kit::new();
    kit.write("table.csv", "id,duration,after\na,1d,b\nb,1d,a\nc,1d,nobody\n");
    let said = refused(&kit, "table.csv");
    assert!(said.contains("nobody") && said.contains("cannot be scheduled"), "{said}");
    kit.write("bad.csv", "id,duration\na,soon\n");
    let said = refused(&kit, "bad.csv");
    assert!(said.contains("line 2") && said.contains("soon"), "{said}");
}
