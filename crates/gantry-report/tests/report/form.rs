//! What is in a report, in which order and form, and for whom.

use gantry_report::report::{Choice, csv, html, markdown};
use serde_json::json;

use crate::case::Case;

fn ids(choice: &Choice) -> Vec<String> {
    Case::sound().report_of(choice).sections.iter().map(|section| section.id.clone()).collect()
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    let (one, other) = (Case::sound().report(), Case::sound().report());
    assert_eq!(html::write(&one), html::write(&other));
    assert_eq!(markdown::write(&one), markdown::write(&other));
}

#[test]
fn a_report_reads_like_this_in_a_terminal() {
    insta::assert_snapshot!(markdown::write(&Case::sound().report()));
}

#[test]
fn the_page_is_built_like_this() {
    insta::assert_snapshot!(outline(&html::write(&Case::sound().report())));
}

/// The elements of a page with their names, one a line, without texts, charts and styles.
fn outline(page: &str) -> String {
    let body = page.split("<main").nth(1).unwrap().split("</main>").next().unwrap();
    let (mut lines, mut depth, mut drawing) = (Vec::new(), 0_usize, false);
    for tag in body.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        let shown = ["section", "h1", "h2", "h3", "h4", "table", "th", "figure", "article", "ul", "ol", "p", "details"];
        if name == "svg" {
            drawing = !tag.starts_with('/');
        }
        if drawing || !shown.contains(&name) {
            continue;
        }
        if tag.starts_with('/') {
            depth -= 1;
            continue;
        }
        let attribute = |wanted: &str| {
            let rest = tag.split(&format!("{wanted}=\"")).nth(1)?;
            Some(format!(" {wanted}={}", rest.split('"').next()?))
        };
        let about: String = ["id", "class", "data-chart"].into_iter().filter_map(attribute).collect();
        lines.push(format!("{}{name}{about}", "  ".repeat(depth)));
        depth += 1;
    }
    lines.join("\n")
}

#[test]
fn readers_get_another_order_and_never_other_facts() {
    let of = |name: &str| Choice { audience: Some(name.to_owned()), ..Choice::default() };
    let (board, team) = (ids(&of("board")), ids(&of("team")));
    assert_eq!((board[0].as_str(), team[0].as_str()), ("summary", "summary"));
    assert_ne!(board, team);
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    assert_eq!(sorted(board), sorted(team));
    let figures = |name: &str| Case::sound().report_of(&of(name)).figures;
    assert_eq!(figures("board"), figures("funder"));
}

#[test]
fn sections_can_be_chosen_and_what_is_left_out_is_named() {
    let choice = Choice { sections: vec!["risks".to_owned()], ..Choice::default() };
    let report = Case::sound().report_of(&choice);
    assert_eq!(report.sections.len(), 1);
    assert!(report.left_out.contains(&"work".to_owned()));
    assert!(html::write(&report).contains("Left out of this report: "));
}

#[test]
fn what_one_person_does_is_one_page() {
    let case = Case::sound().set("facts.size", json!("household"));
    let ids: Vec<String> = case.report().sections.into_iter().map(|section| section.id).collect();
    assert_eq!(ids, ["summary", "cost", "work", "risks", "assumptions"]);
}

#[test]
fn a_part_that_is_missing_is_named_with_its_reason() {
    let page = html::write(&Case::sound().report());
    assert!(page.contains("This is not there: the step “The governance” is failed: no answer."), "{page}");
}

#[test]
fn every_block_can_be_asked_who_made_it() {
    let report = Case::sound().report();
    let page = html::write(&report);
    assert!(page.contains("href=\"#from-summary\"") && page.contains("id=\"from-summary\""));
    assert!(page.contains("words by the offline model, which knows nothing of your case, gpt-9"), "{page}");
    for section in report.sections.iter().filter(|section| section.id != "governance") {
        for block in &section.blocks {
            let from = block.from.as_ref().unwrap_or_else(|| panic!("{}: {:?}", section.id, block.content));
            assert!(report.sources.iter().any(|source| source.part == *from), "{from}");
        }
    }
}

#[test]
fn no_cell_and_no_item_is_only_a_link_to_another_section() {
    let sentence = "One oven first, a second one when the first is always full.";
    let goals = json!({"goal": "Bread.", "needs": ["An oven.", sentence], "relevant": sentence});
    let mut case = Case::sound().set("risks.risks.0.cause", json!(sentence));
    case.parts.insert("goals".to_owned(), goals);
    let report = case.report();
    assert_eq!(report.findings, []);
    let text = markdown::write(&report);
    assert!(!text.contains("| [see") && !text.contains("- [see"), "{text}");
    assert!(text.contains("- and what else stands in [Summary](#summary)"), "{text}");
    assert!(text.contains(&format!("| {sentence} |")), "a cell keeps what it is for: {text}");
}

#[test]
fn an_id_that_texts_use_stands_beside_its_title() {
    let case = Case::sound().set("summary.approach", json!("Mind that no-lease is the first to act on."));
    let text = markdown::write(&case.report());
    assert!(text.contains("| Id | Risk |") && text.contains("| no-lease | The lease falls through |"), "{text}");
}

#[test]
fn a_link_leads_to_one_place() {
    let mut case = Case::sound();
    case.parts
        .insert("phases".to_owned(), json!({"phases": [{"id": "shop", "title": "The shop", "purpose": "Have one."}]}));
    let page = html::write(&case.report());
    assert_eq!(page.matches(" id=\"x-shop\"").count(), 1);
    assert!(page.contains("nothing contradicts anything else"));
}

#[test]
fn the_sum_of_the_sorts_of_cost_leads_to_what_to_ask_for() {
    let report = Case::sound().report();
    let text = markdown::write(&report);
    for row in [
        "| **all together** | **23,900 EUR** |",
        "| As planned | 23,900 EUR |",
        "| In eight of ten futures at most |",
        "| Left of the budget |",
    ] {
        assert!(text.contains(row), "{row}: {text}");
    }
}

#[test]
fn spreadsheets_get_numbers_and_every_column() {
    let report = Case::sound().report();
    let work = csv::write(&report, "work").unwrap();
    let head = work.lines().next().unwrap();
    assert_eq!(
        head,
        "Id,Task,Part of,Owner,Hours at best,Hours likely,Hours at worst,Start,Finish,After,Cost (EUR),Float,Critical,Done when,Risks"
    );
    let lease = work.lines().find(|line| line.starts_with("lease,")).unwrap();
    assert!(lease.contains(",Founder,24,40,80,2027-03-01,2027-03-08,,"), "{lease}");
    assert!(csv::write(&report, "schedule").unwrap().starts_with("Id,Task,Part of,Start,Finish,"));
    assert!(csv::write(&report, "cost").unwrap().contains("\r\nmaterial,18000\r\n"), "no commas in numbers");
    assert!(csv::write(&report, "risks").unwrap().starts_with("Id,Risk,Likelihood (%),Impact (of 5),"));
    let refused = csv::write(&report, "summary").unwrap_err();
    assert_eq!(refused.what, "the section `summary` has no table");
    assert!(refused.hint.contains("schedule, phases, cost, work"), "{}", refused.hint);
}

#[test]
fn what_takes_hours_is_told_by_the_hour() {
    let mut case = Case::sound();
    let last = case.schedule.tasks.iter().position(|row| row.id == "lease").unwrap();
    case.schedule.finish = case.schedule.tasks[last].finish;
    case.plan["tasks"][1]["estimate"] = json!({"low": 0.02, "likely": 0.05, "high": 0.5});
    let text = markdown::write(&case.report());
    assert!(text.contains("| Founder | 1 / 3 / 30 min | 2027-03-01 08:00 | 2027-03-08 12:00 |"), "{text}");
}

#[test]
fn wide_tables_have_their_long_columns_below_the_first_and_lose_none() {
    let report = Case::sound().report();
    let page = html::write(&report);
    assert!(page.contains("<i data-c=\"Done when\">Both sides have signed.</i>"), "{page}");
    assert!(markdown::write(&report).contains("| Done when |"), "columns are columns where text cannot be stacked");
}
