//! Holds a report against itself. What is found is printed in the report, and `gantry report --check` ends with it.
//!
//! The names of the checks are a promise: `differing-value`, `stray-number`, `dangling-id`, `date-outside`, `empty-section`,
//! `placeholder`, `repeated-sentence`, `surviving-script`, `sum-off`, `percentiles-crossed`, `verdict-off`, `order-broken`,
//! `bad-share`, `doubled-id`, `unknown-owner`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::compose::has_ended;
use super::once;
use super::pattern::at;
use super::prose::OWN_WORDS;
use super::{Content, Figure, Finding, Line, Report, Section, Span, Subject, said};

/// Where what the plan is stands, in a line.
const ABOUT: &str = "about";

/// Quantities of what lies ahead.
const AHEAD: [&str; 4] = ["finish_p50", "cost_p50", "deadline_chance", "budget_chance"];
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

/// Markup that must not be in a page: scripts and handlers that are not its own, anything fetched from elsewhere, links to
/// nowhere and ids of two things.
pub fn check_html(page: &str, own_scripts: usize) -> Vec<Finding> {
    let finding = |check, what: &str| Finding { check, section: "page".to_owned(), what: what.to_owned() };
    let mut found = Vec::new();
    let (mut scripts, mut links, mut ids) = (0, BTreeSet::new(), BTreeSet::new());
    for tag in tags(page) {
        let name = tag.split([' ', '/', '\n', '\t']).next().unwrap_or_default();
        let all: Vec<(String, &str)> =
            attributes(&tag[name.len()..]).map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        let name = name.to_ascii_lowercase();
        scripts += usize::from(name == "script");
        let fetching = ["iframe", "object", "embed", "base", "link"].contains(&name.as_str());
        if fetching || all.iter().any(|(name, value)| is_outside(name, value)) {
            found.push(finding("surviving-script", &format!("this fetches or runs something: {}", cut(tag))));
        }
        if all.iter().any(|(name, _)| name.starts_with("on")) {
            found.push(finding("surviving-script", &format!("this has a handler: {}", cut(tag))));
        }
        for (name, value) in all {
            match name.as_str() {
                "id" if !ids.insert(value) => {
                    found.push(finding("doubled-id", &format!("two things are called `{value}`")));
                }
                "href" => links.extend(value.strip_prefix('#').filter(|there| !there.is_empty())),
                _ => {}
            }
        }
    }
    if scripts != own_scripts {
        found.push(finding("surviving-script", "there is a script that is not the page's own"));
    }
    for there in links.difference(&ids) {
        found.push(finding("dangling-id", &format!("a link leads to `#{there}`, which is not in the page")));
    }
    found
}

/// An address elsewhere, or one that runs.
fn is_outside(name: &str, value: &str) -> bool {
    // Browsers skip what is not printed in the name of a scheme.
    let value: String = value.chars().filter(|letter| !letter.is_control() && !letter.is_whitespace()).collect();
    let value = value.to_ascii_lowercase();
    let runs = ["javascript:", "vbscript:", "data:"].iter().any(|scheme| value.starts_with(scheme));
    let elsewhere = value.starts_with("//") || value.contains("://");
    match name {
        "src" | "srcset" | "poster" | "data" | "background" => runs || elsewhere,
        "href" | "xlink:href" | "action" | "formaction" => runs,
        _ => false,
    }
}

/// The attributes of a tag, however they are quoted.
fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_space = |letter: char| letter.is_whitespace() || letter == '/';
    let mut rest = tag;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(is_space);
        let end = rest.find(|letter: char| letter == '=' || is_space(letter)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let Some(value) = after.trim_start().strip_prefix('=').map(str::trim_start) else {
            rest = after;
            return (!name.is_empty()).then_some((name, ""));
        };
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            _ => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
        };
        rest = after;
        Some((name, value))
    })
}

/// The tags of a page.
fn tags(page: &str) -> impl Iterator<Item = &str> {
    page.split('<')
        .skip(1)
        .filter_map(|rest| rest.split('>').next())
        .filter(|tag| tag.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/'))
}

fn cut(text: &str) -> String {
    let short: String = text.chars().take(QUOTED_CHARS).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// Shows every line with its section. What the plan is, in a line, stands before all of them.
fn lines_of(report: &Report, see: &mut dyn FnMut(&Section, &Line)) {
    let about = Section { id: ABOUT.to_owned(), ..Section::default() };
    once::placed(report, &mut |section, _, line| see(section.unwrap_or(&about), line));
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
        let is_told = of.starts_with("facts") || of == OWN_WORDS;
        if is_date(text) && is_date(start) && outside && !due && !is_told {
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
    // A person may give a task a budget of its own; the aim of the plan speaks of the whole.
    let is_own = |span: &Span| matches!(span, Span::Number { of, .. } if of == OWN_WORDS) && section.id != ABOUT;
    for span in line {
        let lower = before.to_lowercase();
        if let Span::Number { text, .. } | Span::Stray(text) = span
            && !is_own(span)
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
    once::placed(report, &mut |section, place, line| {
        let Some(section) = section.filter(|section| !section.quoted && !titles.contains(&said(line))) else { return };
        let text = said(line);
        let gone = once::giving_way(place, line, &mut |sentence| {
            *first.entry(sentence.to_owned()).or_insert_with(|| section.id.clone()) != section.id
        });
        for sentence in gone.into_iter().map(|range| text[range].to_owned()) {
            if told.insert(sentence.clone()) {
                let what = format!("this stands in `{}`, too: {}", first[&sentence], cut(&sentence));
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
    let ahead = report.figures.iter().find(|figure| AHEAD.contains(&figure.name)).filter(|_| has_ended(subject));
    if let Some(figure) = ahead {
        tell("verdict-off", format!("the plan is over, and {} is foretold as {}", figure.name, figure.value));
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
