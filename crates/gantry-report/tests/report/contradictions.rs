//! Each kind of contradiction is found, named, and printed in the report itself.

use gantry_report::report::check::{check, check_html};
use gantry_report::report::{Block, Claim, Content, Report, Section, Span, html, markdown};
use serde_json::json;

use crate::case::Case;

/// The names of the checks that complain.
fn complaints(report: &Report) -> Vec<&'static str> {
    let mut names: Vec<&str> = report.findings.iter().map(|finding| finding.check).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn section(id: &str, words: &str) -> Section {
    let content = Content::Text { label: None, lines: vec![vec![Span::Text(words.to_owned())]] };
    let blocks = vec![Block { from: None, claim: Claim::Computed, content }];
    Section { id: id.to_owned(), title: id.to_owned(), open: true, quoted: false, dense: false, blocks }
}

/// What is found when sections stand in the report that nobody composed.
fn with_sections(more: Vec<Section>) -> Vec<&'static str> {
    let case = Case::sound();
    let mut report = case.report();
    report.sections.extend(more);
    report.findings = check(&report, &case.subject());
    complaints(&report)
}

#[test]
fn nothing_is_found_where_everything_holds_together() {
    let report = Case::sound().report();
    assert_eq!(report.findings, []);
    assert_eq!(check_html(&html::write(&report), 1), []);
    assert!(html::write(&report).contains("nothing contradicts anything else"));
}

#[test]
fn every_kind_of_contradiction_is_caught_by_the_check_that_is_for_it() {
    let by_part: [(&str, &str, serde_json::Value); 9] = [
        ("differing-value", "overview.cost", json!(1)),
        ("differing-value", "summary.approach", json!("Everything fits into a budget of 45,000 EUR.")),
        ("stray-number", "summary.approach", json!("It takes 777 hours of patience.")),
        ("dangling-id", "summary.approach", json!("As R99 says, the lease comes first.")),
        ("date-outside", "overview.phases.0.start", json!("2019-01-01")),
        ("placeholder", "goals.goal", json!("Goal: TBD")),
        ("placeholder", "goals.goal", json!("It does not pass these checks: , .")),
        ("bad-share", "risks.risks.0.probability", json!(1.4)),
        ("unknown-owner", "risks.risks.0.owner", json!("nobody")),
    ];
    for (wanted, path, value) in by_part {
        let report = Case::sound().set(path, value).report();
        assert!(complaints(&report).contains(&wanted), "{path}: {:?}", report.findings);
    }
}

#[test]
fn a_number_from_nowhere_is_taken_out_of_every_form_and_told() {
    let report = Case::sound().set("summary.approach", json!("It takes 87654 hours of patience.")).report();
    let told: Vec<&str> = report.findings.iter().map(|finding| finding.what.as_str()).collect();
    assert_eq!(told, ["nothing gives 87654: It takes [not computed] hours of patience."]);
    for written in [html::write(&report), markdown::write(&report)] {
        let text = written.replace("nothing gives 87654", "");
        assert!(!text.contains("87654") && text.contains("not computed"), "{text}");
    }
}

#[test]
fn what_is_called_feasible_has_nothing_that_does_not_fit() {
    let report = Case::sound().set("overview.gaps", json!(["It is too dear."])).report();
    assert_eq!(complaints(&report), ["verdict-off"]);
}

#[test]
fn sums_orders_and_shares_of_the_plan_are_checked() {
    let changed = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut case = Case::sound();
        change(&mut case.plan);
        complaints(&case.report())
    };
    assert_eq!(changed(&|plan| plan["cost"]["by_kind"][0]["total"] = json!("1.00")), ["sum-off"]);
    assert_eq!(changed(&|plan| plan["tasks"][2]["start"] = json!("2027-03-01T08:00:00+01:00")), ["order-broken"]);
    assert_eq!(changed(&|plan| plan["tasks"][1]["percent"] = json!(140)), ["bad-share"]);
    assert_eq!(changed(&|plan| plan["tasks"][2]["depends_on"] = json!(["nobody"])), ["dangling-id"]);
    assert_eq!(changed(&|plan| plan["tasks"][2]["id"] = json!("lease")), ["dangling-id", "doubled-id", "order-broken"]);
}

#[test]
fn percentiles_come_in_their_order() {
    let mut case = Case::sound();
    let futures = case.schedule.monte_carlo.as_mut().unwrap();
    (futures.finish.p50, futures.finish.p95) = (futures.finish.p95, futures.finish.p50);
    let overview = gantry_report::report::figures_of(&case.schedule);
    let case = case.set("overview.finish_p50", overview["finish_p50"].clone());
    let case = case.set("overview.finish_p95", overview["finish_p95"].clone());
    assert!(complaints(&case.report()).contains(&"percentiles-crossed"));
}

#[test]
fn sections_say_something_and_say_it_once() {
    assert_eq!(with_sections(vec![section("void", "  ")]), ["empty-section"]);
    let sentence = "This sentence stands in the report in two places at once.";
    assert_eq!(with_sections(vec![section("one", sentence), section("two", sentence)]), ["repeated-sentence"]);
    assert_eq!(with_sections(vec![section("risks", "Twice there.")]), ["doubled-id"]);
}

#[test]
fn a_sentence_that_was_said_gives_way_to_where_it_was_said() {
    let sentence = "One oven first, a second one when the first is always full.";
    let report = Case::sound().set("goals.goal", json!(sentence)).report();
    assert_eq!(report.findings, []);
    let text = markdown::write(&report);
    assert_eq!(text.matches(sentence).count(), 1, "{text}");
    assert!(text.contains("see Summary"), "{text}");
}

#[test]
fn a_long_name_may_stand_wherever_its_thing_is_named() {
    let name = "Parts of different suppliers do not fit together at the end";
    let mut case = Case::sound().set("risks.risks.0.title", json!(name));
    case.plan["risks"][0]["title"] = json!(name);
    let report = case.report();
    assert_eq!(report.findings, []);
    let text = markdown::write(&report);
    assert_eq!(text.matches(name).count(), 2, "in the register and at the task that it threatens: {text}");
}

#[test]
fn scripts_handlers_and_foreign_addresses_in_a_page_are_found() {
    let page = html::write(&Case::sound().report());
    for evil in [
        "<script>alert(1)</script>",
        "<img src=\"x\" onerror=\"alert(1)\">",
        "<iframe src=\"/\"></iframe>",
        "<img src=\"https://example.org/x.png\">",
        "<a href=\"javascript:alert(1)\">x</a>",
        "<a href=\"#nowhere\">x</a>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "<a href=javascript:alert(1)>x</a>",
        "<img src='http://example.org/x.png'>",
        "<p id=\"risks\">x</p>",
    ] {
        let changed = page.replacen("</main>", &format!("{evil}</main>"), 1);
        assert!(!check_html(&changed, 1).is_empty(), "{evil}");
    }
}

#[test]
fn what_is_found_stands_in_the_report_itself() {
    let report = Case::sound().set("goals.goal", json!("Goal: TBD")).report();
    let (page, text) = (html::write(&report), markdown::write(&report));
    assert!(page.contains("One thing does not hold together.") && page.contains("<code>placeholder</code>"), "{page}");
    assert!(text.contains("- `placeholder` in goals"), "{text}");
}

#[test]
fn a_number_from_nowhere_in_what_the_plan_is_said_to_be_is_told() {
    let mut case = Case::sound();
    case.parts.insert("understand".to_owned(), json!({"aim": "A bakery that serves 777 customers."}));
    let report = case.report();
    assert_eq!(complaints(&report), ["stray-number"]);
    assert!(markdown::write(&report).contains("- `stray-number` in about"));
}

#[test]
fn what_people_wrote_keeps_its_numbers_and_what_models_wrote_does_not() {
    let mut case = Case::sound();
    case.plan["objective"] = json!("Serve 200 customers a day by 2028.");
    case.plan["tasks"][1]["description"] =
        json!("Bake 45 minutes at 230 degrees with R2 flour, within a budget of 300 EUR.");
    case.plan["tasks"][1]["owner"] = json!("Mara");
    case.plan["tasks"][1]["success_criteria"] = json!(["at least 3 loaves of 750 g", "sold before 2026-01-31"]);
    let report = case.report();
    assert_eq!(report.findings, []);
    let text = markdown::write(&report);
    for told in ["200 customers", "45 minutes at 230", "R2 flour", "300 EUR", "| Mara |", "750 g", "2026-01-31"] {
        assert!(text.contains(told), "{told}: {text}");
    }
    let case = case
        .set("summary.approach", json!("Bake 45 minutes at 230 degrees with R2 flour, within a budget of 300 EUR."));
    assert!(complaints(&case.report()).contains(&"stray-number"), "the same words of a model come from nowhere");
}

#[test]
fn what_is_over_has_no_futures() {
    let mut ended = Case::sound();
    ended.begun = true;
    ended.life = json!({"state": "abandoned", "ended": "It ended.", "over": {"state": "abandoned", "day": "2027-03-01", "took": "3d"}});
    let report = ended.report();
    assert_eq!(report.findings, []);
    let text = markdown::write(&report);
    assert!(text.contains("**Ended:** 2027-03-01"), "{text}");
    for foretold in ["eight of ten", "kept in", "First steps", "Decisions to take now", "How sure"] {
        assert!(!text.contains(foretold), "{foretold}: {text}");
    }
    let alive = Case::sound().report();
    let found: Vec<&str> = check(&alive, &ended.subject()).iter().map(|finding| finding.check).collect();
    assert_eq!(found, ["verdict-off"], "a finish that is foretold of what is over");
}
