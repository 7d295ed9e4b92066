//! Holds a report against itself. What is found is printed in the report, and `gantry report --check` ends with it.
//!
//! The names of the checks are a promise: `differing-value`, `stray-number`, `dangling-id`, `date-outside`, `empty-section`,
//! `placeholder`, `repeated-sentence`, `surviving-script`, `sum-off`, `percentiles-crossed`, `verdict-off`, `order-broken`,
//! `bad-share`, `doubled-id`, `unknown-owner`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::pattern::at;
use super::{Content, Figure, Finding, Line, Report, Section, Span, Subject, said};

/// How much of a text a finding quotes.
const QUOTED_CHARS: usize = 160;

/// Everything that does not hold together.
pub fn check(report: &Report, subject: &Subject<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    lines_of(report, &mut |section, line| {
        marks(section, line, &mut found);
        placeholders(section, line, &mut found);
        if !section.quoted {
            dates(report, section, line, &mut found);
            named_values(report, section, line, &mut found);
        }
    });
    sections(report, &mut found);
    repeated(report, &mut found);
    numbers(report, subject, &mut found);
    tasks(&subject.plan, &mut found);
    shares(&subject.parts, &mut found);
    found
}

/// Markup that must not be in a page: scripts and handlers that are not its own, and anything fetched from elsewhere.
pub fn check_html(page: &str, own_scripts: usize) -> Vec<Finding> {
    let lower = page.to_ascii_lowercase();
    let finding = |what: &str| Finding { check: "surviving-script", section: "page".to_owned(), what: what.to_owned() };
    let mut found = Vec::new();
    if lower.matches("<script").count() != own_scripts {
        found.push(finding("there is a script that is not the page's own"));
    }
    for tag in tags(&lower) {
        let outside = ["src=\"http", "src=\"//", "href=\"javascript:", "href=\"data:"];
        let name = tag.split([' ', '/', '\n', '\t']).next().unwrap_or_default();
        let fetching = ["iframe", "object", "embed", "base", "link"];
        if fetching.contains(&name) || outside.iter().any(|sign| tag.contains(sign)) {
            found.push(finding(&format!("this fetches or runs something: {}", cut(tag))));
        }
        if let Some(there) = tag.split(" href=\"#").nth(1).and_then(|rest| rest.split('"').next())
            && !lower.contains(&format!(" id=\"{there}\""))
        {
            let what = format!("a link leads to `#{there}`, which is not in the page");
            found.push(Finding { check: "dangling-id", section: "page".to_owned(), what });
        }
        if tag.split_whitespace().skip(1).any(|word| word.starts_with("on") && word.contains("=\"")) {
            found.push(finding(&format!("this has a handler: {}", cut(tag))));
        }
    }
    found
}

/// The tags of a page.
fn tags(page: &str) -> impl Iterator<Item = &str> {
    page.split('<').skip(1).filter_map(|rest| rest.split('>').next()).filter(|tag| !tag.starts_with('!'))
}

fn cut(text: &str) -> String {
    let short: String = text.chars().take(QUOTED_CHARS).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// Shows every line with its section.
fn lines_of(report: &Report, see: &mut dyn FnMut(&Section, &Line)) {
    for section in &report.sections {
        for block in &section.blocks {
            match &block.content {
                Content::Tiles(tiles) => {
                    for tile in tiles {
                        see(section, &tile.value);
                        tile.notes.iter().for_each(|note| see(section, note));
                    }
                }
                Content::Text { lines, .. } => lines.iter().for_each(|line| see(section, line)),
                Content::List { items, .. } => items.iter().for_each(|line| see(section, line)),
                Content::Table(table) => {
                    table.rows.iter().flat_map(|row| &row.cells).for_each(|cell| see(section, cell));
                }
                Content::Cards { cards, .. } => {
                    for card in cards {
                        see(section, &card.title);
                        card.text.iter().for_each(|text| see(section, text));
                        card.lines.iter().for_each(|(_, line)| see(section, line));
                    }
                }
                Content::Note { line, .. } => see(section, line),
                Content::Picture { .. } => {}
            }
        }
    }
}

fn finding(check: &'static str, section: &Section, what: String) -> Finding {
    Finding { check, section: section.id.clone(), what }
}

/// Numbers from nowhere and names of nothing.
fn marks(section: &Section, line: &Line, found: &mut Vec<Finding>) {
    for span in line {
        match span {
            Span::Stray(number) => {
                let what = format!("nothing gives {number}: {}", cut(&said(line)));
                found.push(finding("stray-number", section, what));
            }
            Span::Dangling(name) => {
                found.push(finding(
                    "dangling-id",
                    section,
                    format!("`{name}` is nothing in this plan: {}", cut(&said(line))),
                ));
            }
            Span::Text(_) | Span::Number { .. } | Span::Ref { .. } | Span::Elsewhere { .. } => {}
        }
    }
}

/// Texts that were meant to be replaced.
fn placeholders(section: &Section, line: &Line, found: &mut Vec<Finding>) {
    const SIGNS: [&str; 14] = [
        "‹",
        "lorem ipsum",
        "tbd",
        "todo",
        "{{",
        "}}",
        "n/a",
        "insert here",
        "placeholder",
        ": ,",
        ": .",
        ", .",
        "“”",
        "()",
    ];
    let text = said(line).to_lowercase();
    let whole = |sign: &str| {
        let is_word = sign.chars().all(|letter| letter.is_alphanumeric() || letter == '/');
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '/');
        if is_word { words.into_iter().any(|word| word == sign) } else { text.contains(sign) }
    };
    if !section.quoted
        && let Some(sign) = SIGNS.iter().find(|sign| whole(sign))
    {
        found.push(finding("placeholder", section, format!("`{sign}` stands in: {}", cut(&said(line)))));
    }
}

fn text_of<'r>(report: &'r Report, name: &str) -> Option<&'r str> {
    value_of(report, name).and_then(Value::as_str)
}

fn value_of<'r>(report: &'r Report, name: &str) -> Option<&'r Value> {
    report.figures.iter().find(|figure| figure.name == name).map(|figure: &Figure| &figure.value)
}

/// Dates that lie outside everything that is planned.
fn dates(report: &Report, section: &Section, line: &Line, found: &mut Vec<Finding>) {
    let (Some(start), Some(finish)) = (text_of(report, "start"), text_of(report, "finish")) else { return };
    let last = ["finish_p95", "deadline"].into_iter().filter_map(|name| text_of(report, name)).chain([finish]).max();
    for span in line {
        let Span::Number { text, of, .. } = span else { continue };
        let outside = text.as_str() < start.min(report.day.as_str()) || last.is_some_and(|last| text.as_str() > last);
        // A deadline that has passed is told where it does not fit.
        let due = text_of(report, "deadline") == Some(text.as_str());
        if is_date(text) && is_date(start) && outside && !due && !of.starts_with("facts") {
            found.push(finding("date-outside", section, format!("{text} lies outside the plan: {}", cut(&said(line)))));
        }
    }
}

pub(super) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && bytes.iter().filter(|byte| byte.is_ascii_digit()).count() == 8
}

/// A text that calls a value by the name of a quantity and gives another one.
fn named_values(report: &Report, section: &Section, line: &Line, found: &mut Vec<Finding>) {
    const CALLED: [(&str, &str); 4] = [
        ("deadline is ", "deadline"),
        ("deadline of ", "deadline"),
        ("budget is ", "budget"),
        ("budget of ", "budget"),
    ];
    let mut before = String::new();
    for span in line {
        let lower = before.to_lowercase();
        if let Span::Number { text, .. } | Span::Stray(text) = span
            && let Some((called, name)) = CALLED.iter().find(|(called, _)| lower.ends_with(called))
            && let Some(value) = value_of(report, name)
        {
            let written = super::prose::plain(text.split(' ').next().unwrap_or(text));
            let is = super::prose::plain(value.as_str().unwrap_or(&value.to_string()));
            // A budget may be written in millions.
            let same = written == is
                || text.parse::<f64>().is_ok_and(|short| is.starts_with(&format!("{short}").replace('.', "")));
            if !same {
                let what = format!("the {name} is {is}, and here “{called}{text}”: {}", cut(&said(line)));
                found.push(finding("differing-value", section, what));
            }
        }
        before.push_str(span.text());
    }
}

/// Sections in which nothing stands, and ids that stand twice.
fn sections(report: &Report, found: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for section in &report.sections {
        let empty = section.blocks.iter().all(|block| match &block.content {
            Content::Text { lines, .. } => lines.iter().all(|line| said(line).trim().is_empty()),
            Content::Table(table) => table.rows.is_empty(),
            Content::List { items, .. } => items.is_empty(),
            _ => false,
        });
        if empty {
            found.push(finding("empty-section", section, format!("“{}” says nothing", section.title)));
        }
        let mut here = BTreeSet::new();
        for block in &section.blocks {
            if let Content::Table(table) = &block.content {
                for id in table.rows.iter().filter_map(|row| row.id.as_ref()) {
                    if !here.insert((table.title.clone(), id.clone())) {
                        found.push(finding("doubled-id", section, format!("`{id}` stands twice in one table")));
                    }
                }
            }
        }
        if !seen.insert(section.id.clone()) {
            found.push(finding("doubled-id", section, format!("two sections are called `{}`", section.id)));
        }
    }
}

/// Sentences that stand in more than one section.
fn repeated(report: &Report, found: &mut Vec<Finding>) {
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    let mut told: BTreeSet<String> = BTreeSet::new();
    let titles: BTreeSet<String> = titles_of(report);
    lines_of(report, &mut |section, line| {
        if section.quoted || titles.contains(&said(line)) {
            return;
        }
        for (_, sentence) in super::once::sentences(line) {
            let other = first.entry(sentence.clone()).or_insert_with(|| section.id.clone());
            if *other != section.id && told.insert(sentence.clone()) {
                let what = format!("this stands in `{other}`, too: {}", cut(&sentence));
                found.push(finding("repeated-sentence", section, what));
            }
        }
    });
}

/// What things are called, which may be said wherever they are named.
fn titles_of(report: &Report) -> BTreeSet<String> {
    let mut titles = BTreeSet::new();
    for block in report.sections.iter().flat_map(|section| &section.blocks) {
        match &block.content {
            Content::Table(table) => {
                let named = table.rows.iter().filter(|row| row.id.is_some());
                titles.extend(named.filter_map(|row| row.cells.first()).map(|title| said(title)));
            }
            Content::Cards { cards, .. } => titles.extend(cards.iter().map(|card| said(&card.title))),
            _ => {}
        }
    }
    titles
}

/// Quantities that cannot be true together.
fn numbers(report: &Report, subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let mut tell = |check, what: String| found.push(Finding { check, section: "figures".to_owned(), what });
    let before = |one: &str, other: &str| match (value_of(report, one), value_of(report, other)) {
        (Some(Value::String(one)), Some(Value::String(other))) => one <= other,
        (Some(one), Some(other)) => one.as_f64() <= other.as_f64(),
        _ => true,
    };
    for (one, other) in [
        ("finish_p50", "finish_p80"),
        ("finish_p80", "finish_p95"),
        ("cost_p50", "cost_p80"),
        ("cost_p80", "cost_p95"),
        ("start", "finish"),
    ] {
        if !before(one, other) {
            tell("percentiles-crossed", format!("{one} comes after {other}"));
        }
    }
    if !subject.begun {
        let planned = subject.parts.get("overview").unwrap_or(&Value::Null);
        for figure in &report.figures {
            let said = at(planned, figure.name);
            let differs = match (said, &figure.value) {
                (Value::Null, _) => false,
                (Value::Number(one), Value::Number(other)) => one.as_f64() != other.as_f64(),
                (one, other) => one != other,
            };
            if differs {
                tell(
                    "differing-value",
                    format!("{} is {} here and {said} where it was planned", figure.name, figure.value),
                );
            }
        }
        let feasible = at(planned, "feasible");
        let gaps = at(planned, "gaps").as_array().is_some_and(|gaps| !gaps.is_empty());
        if feasible == &Value::Bool(true) && gaps {
            tell("verdict-off", "it is called feasible, and something does not fit".to_owned());
        }
    }
    let cost = &subject.plan["cost"];
    let sum = |list: &Value| -> Option<f64> {
        list.as_array()?
            .iter()
            .map(|one| one["total"].as_str().map_or(one["total"].as_f64(), |text| text.parse().ok()))
            .sum()
    };
    let total = cost["total"].as_str().and_then(|text| text.parse::<f64>().ok()).or(cost["total"].as_f64());
    if let (Some(total), Some(parts)) = (total, sum(&cost["by_kind"]))
        && (total - parts).abs() >= 0.01
    {
        tell("sum-off", format!("the sorts of cost are {parts} together, and the total is {total}"));
    }
}

/// Work that starts before what it waits for has finished, and owners whom nobody knows.
fn tasks(plan: &Value, found: &mut Vec<Finding>) {
    let rows: BTreeMap<&str, &Value> =
        plan["tasks"].as_array().into_iter().flatten().filter_map(|task| Some((task["id"].as_str()?, task))).collect();
    let typed = plan["source"]["schedule"]["tasks"].as_object();
    for (id, task) in &rows {
        let mut tell = |check, what: String| found.push(Finding { check, section: "work".to_owned(), what });
        // Links with a type of their own may begin earlier.
        let own = typed.and_then(|tasks| tasks.get(*id)).is_some_and(|task| !task["after"].is_null());
        for before in task["depends_on"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let Some(other) = rows.get(before) else {
                tell("dangling-id", format!("`{id}` waits for `{before}`, which does not exist"));
                continue;
            };
            if let (Some(finish), Some(start), false) = (other["finish"].as_str(), task["start"].as_str(), own)
                && moment(finish) > moment(start)
            {
                tell("order-broken", format!("`{id}` starts at {start}, and `{before}` finishes at {finish}"));
            }
        }
        if task["percent"].as_f64().is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
            tell("bad-share", format!("`{id}` is {} % done", task["percent"]));
        }
    }
}

/// Moments of one zone compare as they are written, but offsets change in summer.
fn moment(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok()
}

/// Likelihoods that are none, and owners who are in no team.
fn shares(parts: &serde_json::Map<String, Value>, found: &mut Vec<Finding>) {
    let team: BTreeSet<&str> = parts
        .get("team")
        .map(|team| at(team, "team"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|one| one["id"].as_str())
        .collect();
    for risk in parts.get("risks").map(|risks| at(risks, "risks")).and_then(Value::as_array).into_iter().flatten() {
        let name = risk["id"].as_str().unwrap_or_default();
        let mut tell = |check, what: String| found.push(Finding { check, section: "risks".to_owned(), what });
        if risk["probability"].as_f64().is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            tell("bad-share", format!("the likelihood of `{name}` is {}", risk["probability"]));
        }
        if let Some(owner) = risk["owner"].as_str()
            && !team.is_empty()
            && !team.contains(owner)
        {
            tell("unknown-owner", format!("`{name}` belongs to `{owner}`, who is not in the team"));
        }
    }
}
