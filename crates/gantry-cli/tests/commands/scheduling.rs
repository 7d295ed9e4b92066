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
fn whatever_stands_in_standard_input_is_read_as_what_it_is() {
    let kit = Kit::new();
    let table = "id,duration,after\na,2d,\nb,3d,a\n";
    kit.write("table.csv", table);
    let xml = said(&kit, &["schedule", "table.csv", "--start", "2026-03-02", "--msproject"]);
    let project =
        r#"{"unit": "day", "tasks": [{"id": "a", "estimate": "2d"}, {"id": "b", "estimate": "3d", "after": ["a"]}]}"#;
    let plan = "title: Two\ntasks:\n  - {id: a, estimate: {low: 2d, likely: 2d, high: 2d}}\n  - {id: b, depends_on: [a], estimate: {low: 3d, likely: 3d, high: 3d}}\n";
    let plan_json =
        r#"{"title": "Two", "tasks": [{"id": "a", "estimate": {"low": "5d", "likely": "5d", "high": "5d"}}]}"#;
    for (what, text) in
        [("a table", table), ("XML", &xml), ("a project", project), ("a plan", plan), ("a plan", plan_json)]
    {
        let output = kit.output_of("schedule - --json --draws 0", text);
        let told = String::from_utf8_lossy(&output.stderr);
        let schedule: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"));
        assert_eq!(schedule["makespan"], 5, "{what}: {schedule}");
    }
}

#[test]
fn what_a_change_makes_impossible_is_told_in_words() {
    let kit = Kit::new();
    kit.write("project.json", r#"{"unit": "day", "deadline": "5", "tasks": [{"id": "a", "estimate": "4d"}]}"#);
    let told = said(&kit, &["schedule", "project.json", "--draws", "0", "--what-if", "project.deadline=3 hard"]);
    assert!(told.contains("the project is due by 3 and is done at 4, 1d of work too late"), "{told}");
    assert!(!told.contains("constraint"), "{told}");
}

#[test]
fn what_microsoft_project_has_no_place_for_is_told() {
    let kit = Kit::new();
    kit.write("project.json", r#"{"start": "2026-03-02", "budget": 100, "tasks": [{"id": "a", "estimate": "4d"}]}"#);
    let output = kit.output(&["schedule", "project.json", "--msproject"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("mind: the file has no place for the budget"), "{told}");
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
    let asked = ["schedule", "plan.yaml", "--start", "2027-01-04", "--what-if", "task.walls.estimate=1h"];
    let kept = said(&kit, &[&asked[..], &["-o", "different.txt"]].concat());
    assert_eq!(kept, "", "it is in the file");
    let printed = said(&kit, &asked);
    assert!(printed.contains("2027-01-04T05:00:00+00:00"), "five hours after it starts: {printed}");
    assert!(kit.read("different.txt") == printed.as_bytes(), "as it is printed where there is no terminal");
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
fn what_of_a_file_is_not_read_is_told_in_every_form() {
    let kit = Kit::new();
    kit.write("table.csv", "id,Duraton\na,5d\n");
    let note = "line 1: the column `Duraton` is not read; did you mean `duration`?";
    assert_eq!(kit.json("schedule table.csv --json")["warnings"][0]["what"], note);
    assert!(said(&kit, &["schedule", "table.csv"]).contains(note));
    for more in ["--csv", "--what-if=task.a.priority=3"] {
        let output = kit.output(&["schedule", "table.csv", more]);
        assert!(String::from_utf8(output.stderr).unwrap().contains(note), "{more}");
    }
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

/// The example with people, calendars and costs.
fn shop() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/open-a-shop.yaml").to_owned()
}

#[test]
fn the_schedule_of_a_plan_gives_dates_people_and_money() {
    let kit = Kit::new();
    insta::assert_snapshot!(said(&kit, &["schedule", &shop(), "--draws", "500"]));
    let schedule = kit.json(&format!("schedule {} --json --draws 0", shop()));
    assert_eq!(schedule["feasible"], true);
    let verdict = &schedule["deadlines"][0];
    assert_eq!((&verdict["task"], &verdict["hard"], &verdict["met"]), (&"opening".into(), &true.into(), &true.into()));
}

#[test]
fn a_plan_with_a_schedule_that_goes_out_and_comes_back_is_the_same() {
    let kit = Kit::new();
    kit.gantry(&["run", &shop()]);
    let canonical = said(&kit, &["export", "yaml", &shop()]);
    for form in ["yaml", "json"] {
        let file = format!("plan.{form}");
        kit.gantry(&["export", form, "open-a-shop", "-o", &file]);
        assert_eq!(said(&kit, &["export", "yaml", &file]), canonical, "{form}");
        assert_eq!(said(&kit, &["export", "yaml", "open-a-shop"]), canonical);
    }
    kit.gantry(&["export", "zip", "open-a-shop", "-o", "plan.zip"]);
    let elsewhere = kit.with_record("elsewhere.db");
    elsewhere.gantry(&["import", "plan.zip"]);
    assert_eq!(said(&elsewhere, &["export", "yaml", "open-a-shop"]), canonical, "zip");
}

const ESTIMATED: &str = "
id: house
title: House
deadline: 2020-01-01
tasks:
  - {id: walls, run: echo walls}
  - {id: roof, manual: build it, depends_on: [walls], estimate: {low: 2h, likely: 2h, high: 2h}}
";

#[test]
fn status_and_list_say_when_a_plan_will_be_done_and_how_late_that_is() {
    let kit = Kit::with_plan(ESTIMATED);
    let status = kit.json("status house --json");
    let forecast = &status["forecast"];
    let finish: jiff::Timestamp = forecast["finish"].as_str().unwrap().parse().unwrap();
    let began: jiff::Timestamp = status["task_list"][1]["started_at"].as_str().unwrap().parse().unwrap();
    assert_eq!(finish.as_second(), began.as_second() + 2 * 3_600, "two hours after it began");
    let deadline: jiff::Timestamp = "2020-01-01T00:00:00Z".parse().unwrap();
    assert_eq!(forecast["late_by_ms"], finish.as_millisecond() - deadline.as_millisecond());
    assert_eq!(forecast["p80"], forecast["finish"], "there is no doubt");
    let page = said(&kit, &["status", "house"]);
    assert!(page.contains("done about ") && page.contains(" after the deadline"), "{page}");
    let listed = kit.json("list --json");
    assert_eq!(listed[0]["forecast"], *forecast);
    kit.gantry(&["task", "done", "house", "roof"]);
    kit.gantry(&["resume", "house"]);
    assert_eq!(kit.json("status house --json")["forecast"], serde_json::Value::Null);
    assert_eq!(kit.json("list --json")[0]["forecast"], serde_json::Value::Null);
}

#[test]
fn a_changed_schedule_is_a_revision_that_moves_the_forecast() {
    let kit = Kit::with_plan(&format!("{ESTIMATED}schedule: {{tasks: {{roof: {{estimate: 3ed}}}}}}\n"));
    let days = |kit: &Kit| {
        let status = kit.json("status house --json");
        let at = |text: &serde_json::Value| text.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second();
        (at(&status["forecast"]["finish"]) - at(&status["task_list"][1]["started_at"])) / 86_400
    };
    assert_eq!(days(&kit), 3);
    kit.write("longer.yaml", format!("{ESTIMATED}schedule: {{tasks: {{roof: {{estimate: 5ed}}}}}}\n"));
    kit.gantry(&["revise", "house", "longer.yaml", "--rationale", "it rains"]);
    assert_eq!(days(&kit), 5);
    let told = said(&kit, &["diff", "house@r1", "house@r2"]);
    assert!(told.contains(r#"~ plan: schedule.tasks.roof.estimate "3ed" -> "5ed""#), "{told}");
}

const DATED: &str = r#"{"name": "House", "start": "2026-03-02", "calendar": "office", "currency": "EUR",
    "data_date": "2026-03-10T13:00", "budget": 20000, "deadline": "2026-03-20 hard",
    "calendars": [{"id": "office", "week": {"mon-fri": ["09:00-17:00"]}}],
    "resources": [{"id": "ana", "rate": 100}, {"id": "ben", "rate": 80}],
    "tasks": [
        {"id": "walls", "estimate": "5d", "needs": ["ana"],
            "progress": {"started": "2026-03-02T09:00", "finished": "2026-03-09T12:00", "cost": 4700}},
        {"id": "roof", "estimate": "3d / 4d / 11d", "after": ["walls"], "needs": ["ben"], "costs": [{"name": "tiles", "amount": 6000}]},
        {"id": "paint", "estimate": "2d / 3d / 7d", "after": ["walls"], "needs": ["ben"]},
        {"id": "rest", "estimate": "15d", "after": ["roof", "paint"], "needs": ["ana"]},
        {"id": "done", "after": ["rest"]}]}"#;

#[test]
fn a_schedule_is_written_as_a_calendar_and_for_microsoft_project() {
    let kit = Kit::new();
    kit.write("house.json", DATED);
    let calendar = said(&kit, &["schedule", "house.json", "--ical"]);
    assert!(calendar.starts_with("BEGIN:VCALENDAR\r\n") && calendar.ends_with("END:VCALENDAR\r\n"), "{calendar}");
    assert_eq!(calendar.matches("DTSTAMP:20260310T130000Z").count(), 6, "known at the data date");
    said(&kit, &["schedule", "house.json", "--msproject", "-o", "house.xml"]);
    let (ours, read) = (kit.json("schedule house.json --json"), kit.json("schedule house.xml --json"));
    for field in ["start", "finish", "makespan", "critical_path"] {
        assert_eq!(ours[field], read[field], "{field}");
    }
}

#[test]
fn the_page_tells_of_every_deadline_and_pictures_count_as_it_does() {
    let kit = Kit::new();
    let page = said(&kit, &["schedule", &shop(), "--draws", "0"]);
    assert!(page.contains("deadline  `opening` by ") && page.contains(": kept with "), "{page}");
    assert!(page.contains("critical  7 tasks: "), "{page}");
    for chart in ["gantt", "network"] {
        let svg = said(&kit, &["schedule", &shop(), "--draws", "0", "--svg", chart]);
        assert!(svg.contains("7 of 10 tasks") || svg.contains("10 tasks, 7 of them critical"), "{chart}");
    }
}

#[test]
fn only_one_form_is_written_at_a_time() {
    let kit = Kit::new();
    kit.write("house.json", DATED);
    let forms = ["--csv", "--ical", "--msproject", "--svg=gantt", "--json"];
    for (at, one) in forms.iter().enumerate() {
        for other in &forms[at + 1..] {
            let output = kit.output(&["schedule", "house.json", one, other]);
            assert_eq!(output.status.code(), Some(2), "{one} {other}");
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.contains("cannot be used with"), "{said}");
        }
    }
}

#[test]
fn what_has_no_dates_gets_them_with_a_start() {
    let kit = Kit::new();
    kit.write("table.csv", TABLE);
    let output = kit.output(&["schedule", "table.csv", "--ical"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--start"));
    let calendar = said(&kit, &["schedule", "table.csv", "--ical", "--start", "2026-03-02"]);
    assert!(calendar.contains("DTSTART;VALUE=DATE:20260302"), "{calendar}");
}

#[test]
fn the_page_has_chance_money_and_how_it_stands() {
    let kit = Kit::new();
    kit.write("house.json", DATED);
    let page = said(&kit, &["schedule", "house.json"]);
    for passage in [
        "P10 2026-",
        "P95 2026-",
        "set aside",
        "budget     20000.00: ",
        "earned value at Tue 2026-03-10 13:00:",
        "SPI",
        "CPI",
        "EAC",
    ] {
        assert!(page.contains(passage), "{passage}\n{page}");
    }
    for passage in ["due each month, in EUR:", "2026-03", "what moves the finish most:", "MISSED by", "tried"] {
        assert!(page.contains(passage), "{passage}\n{page}");
    }
}

#[test]
fn the_health_of_a_schedule_is_a_line_for_each_of_14_checks() {
    let kit = Kit::new();
    kit.write("table.csv", TABLE);
    insta::assert_snapshot!(said(&kit, &["schedule", "table.csv", "--health"]));
    insta::assert_snapshot!("the_health_of_work_under_way", {
        kit.write("house.json", DATED);
        said(&kit, &["schedule", "house.json", "--health"])
    });
    let schedule = kit.json("schedule table.csv --health --json");
    let checks = schedule["health"].as_array().unwrap();
    assert_eq!((checks.len(), &schedule["makespan"]), (14, &6.into()), "beside everything else");
    assert_eq!(
        checks[0],
        serde_json::json!({
            "id": "logic", "title": "logic", "passed": false, "value": 25.0, "limit": 5.0, "bound": "at_most",
            "unit": "%", "count": 1, "tasks": ["fence"]
        })
    );
    assert_eq!(kit.json("schedule table.csv --json").get("health"), None, "only for those who ask");
}

#[test]
fn how_near_is_critical_what_an_estimate_is_worth_and_how_sure_one_wants_to_be_can_be_said() {
    let kit = Kit::new();
    let table = "id,low,likely,high,after,cost\na,1d,2d,9d,,100\nb,2d,2d,2d,,\nend,1d,1d,1d,\"a, b\",\n";
    kit.write("table.csv", table);
    let near = |asked: &str| {
        let schedule = kit.json(&format!("schedule table.csv --json --draws 0 {asked}"));
        let tasks = schedule["tasks"].as_array().unwrap();
        let near = tasks.iter().filter(|task| task["near_critical"] == true).map(|task| task["id"].to_string());
        (schedule["makespan"].to_string(), near.collect::<Vec<_>>().join(" "))
    };
    assert_eq!(near(""), ("4".to_owned(), String::new()), "the mean of 1, 2 and 9 is 3");
    assert_eq!(near("--near 1d"), ("4".to_owned(), "\"b\"".to_owned()));
    assert_eq!(near("--basis likely"), ("3".to_owned(), String::new()));
    let page = said(&kit, &["schedule", "table.csv", "--near", "1d"]);
    assert!(page.contains("nearly    1 task: b"), "{page}");
    kit.write(
        "rate.json",
        r#"{"unit": "day", "resources": [{"id": "ana", "rate": 100}],
        "tasks": [{"id": "a", "estimate": "1d/2d/9d", "needs": ["ana"]}]}"#,
    );
    let aside = |asked: &str| {
        let schedule = kit.json(&format!("schedule rate.json --json {asked}"));
        schedule["cost"]["contingency"].as_str().unwrap().parse::<f64>().unwrap()
    };
    assert!(aside("--confidence 50") < aside("") && aside("") < aside("--confidence 95"));
    for (flag, wrong) in [("--near", "-2d"), ("--near", "soon"), ("--confidence", "100"), ("--basis", "best")] {
        assert_eq!(kit.output(&["schedule", "table.csv", &format!("{flag}={wrong}")]).status.code(), Some(2));
    }
}

#[test]
fn a_search_is_made_where_people_are_short_and_can_be_switched_off() {
    let kit = Kit::new();
    kit.write("table.csv", TABLE);
    assert!(kit.json("schedule table.csv --json")["optimiser"]["schedules"].as_u64().unwrap() > 0);
    assert_eq!(kit.json("schedule table.csv --json --schedules 0")["optimiser"], serde_json::Value::Null);
    kit.write("free.csv", "id,duration,after\na,1d,\nb,2d,a\n");
    assert_eq!(kit.json("schedule free.csv --json")["optimiser"], serde_json::Value::Null);
}

#[test]
fn work_waits_for_people_within_its_float_or_not_at_all_if_asked() {
    let kit = Kit::new();
    kit.write("table.csv", TABLE);
    let told = |level: &str| {
        let schedule = kit.json(&format!("schedule table.csv --json --level {level}"));
        (schedule["makespan"].clone(), schedule["overloads"].as_array().unwrap().len(), schedule["feasible"].clone())
    };
    assert_eq!(told("slip"), (6.into(), 0, true.into()));
    assert_eq!(told("float"), (4.into(), 1, false.into()), "ana has five days of work before paint, and three days");
    assert_eq!(told("off"), (4.into(), 1, false.into()));
}

const INSTANCE: &str = "\
jobs (incl. supersource/sink ):  4
RESOURCES
  - renewable                 :  2   R
  - nonrenewable              :  0   N
  - doubly constrained        :  0   D
PRECEDENCE RELATIONS:
jobnr.    #modes  #successors   successors
   1        1          2           2   3
   2        1          1           4
   3        1          1           4
   4        1          0
REQUESTS/DURATIONS:
jobnr. mode duration  R 1  R 2
------------------------------------------------------------------------
  1      1     0       0    0
  2      1     4       2    0
  3      1     5       1    3
  4      1     0       0    0
RESOURCEAVAILABILITIES:
  R 1  R 2
    2    3
";

#[test]
fn a_benchmark_instance_has_job_numbers_and_whole_periods() {
    let kit = Kit::new();
    kit.write("j.sm", INSTANCE);
    let schedule = kit.json("schedule j.sm --json --schedules 100");
    assert_eq!(
        (&schedule["makespan"], &schedule["unit"], &schedule["finish"]),
        (&9.into(), &"period".into(), &9.into())
    );
    let tasks = schedule["tasks"].as_array().unwrap();
    let ids: Vec<&str> = tasks.iter().map(|task| task["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["1", "2", "3", "4"]);
    for task in tasks {
        for key in ["start", "finish", "float"] {
            assert!(task[key].is_u64(), "{key} of {task} is a whole number");
        }
        assert!(task["critical"].is_boolean() && task["resources"].is_array(), "{task}");
    }
    assert_eq!(schedule["critical_path"].as_array().unwrap().len(), 4);
    assert_eq!(tasks[2]["resources"], serde_json::json!([{"id": "R1", "amount": 1}, {"id": "R2", "amount": 3}]));
    assert!(schedule["optimiser"]["schedules"].as_u64().unwrap() <= 100);
    let once = said(&kit, &["schedule", "j.sm", "--json", "--schedules", "100"]);
    assert_eq!(once, said(&kit, &["schedule", "j.sm", "--json", "--schedules", "100"]), "the same bytes");
}

#[test]
fn a_seed_gives_the_same_bytes_and_another_seed_other_futures() {
    let kit = Kit::new();
    kit.write("project.json", DATED);
    let drawn =
        |seed: &str, draws: &str| said(&kit, &["schedule", "project.json", "--json", "--seed", seed, "--draws", draws]);
    assert_eq!(drawn("7", "300"), drawn("7", "300"));
    let futures = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap()["monte_carlo"].clone();
    assert_ne!(futures(drawn("7", "300")), futures(drawn("8", "300")));
    assert_eq!(futures(drawn("7", "300"))["draws"], 300);
    assert_eq!(futures(drawn("7", "0")), serde_json::Value::Null);
    assert!(said(&kit, &["schedule", "project.json", "--svg", "cash"]).starts_with("<svg"));
}

/// No schedule of these takes less than 16 days, and no bound says so: a search goes on until it is stopped.
const UNPROVEN: &str = r#"{"resources": [{"id": "crew", "capacity": 11}], "tasks": [
    {"id": "a", "estimate": "2d", "needs": ["crew 7"]}, {"id": "b", "estimate": "9d", "needs": ["crew 4"]},
    {"id": "c", "estimate": "8d", "needs": ["crew 3"]}, {"id": "d", "estimate": "8d", "needs": ["crew 7"]}]}"#;

#[test]
fn a_search_by_time_ends_by_itself_with_and_without_what_if() {
    let kit = Kit::new();
    kit.write("project.json", UNPROVEN);
    let change = ["--what-if", "task.a.estimate=3d"];
    for more in [&[][..], &change[..]] {
        let args = [&["schedule", "project.json", "--json", "--draws", "0", "--for", "200ms"], more].concat();
        let told: serde_json::Value = serde_json::from_str(&said(&kit, &args)).unwrap();
        assert!(told["optimiser"]["proven"] == false || told["difference"][0]["path"] == "tasks.a.finish", "{told}");
    }
}

#[test]
#[expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]
fn every_published_workflow_is_drawn() {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let Some(folder) = beside.map(|above| above.join("shared/data/wfinstances")).find(|path| path.is_dir()) else {
        eprintln!("skipped: there is no `shared/data/wfinstances` beside the workspace");
        return;
    };
    let kit = Kit::new();
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.extension().is_some_and(|ending| ending == "json")) {
        for chart in ["gantt", "network"] {
            let svg =
                said(&kit, &["schedule", file.to_str().unwrap(), "--svg", chart, "--schedules", "0", "--draws", "0"]);
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{chart} of {}", file.display());
        }
    }
}
