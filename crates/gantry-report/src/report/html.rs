//! The report as one HTML file that needs nothing else: no request, no font, no script from anywhere.
//!
//! The page has one style sheet and one script, both in place and named by their hashes in its policy; nothing else runs.
//! Everything can be read without the script, which adds search, copying, zooming and the mark in the contents.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::{
    Block, Card, Claim, Content, Line, Report, Row, Section, Source, Span, Table, Tile, Tone, check, markdown, markup,
    slim,
};
use crate::chart::{Theme, style};

const STYLE: &str = include_str!("page/report.css");
const SCRIPT: &str = include_str!("page/report.js");

/// Writes the report as a page. What its markup itself reveals is added to the findings.
pub fn write(report: &Report) -> String {
    let page = draw(report);
    let page = with_own_ids(&page);
    let found = check::check_html(&page, 1);
    if found.is_empty() {
        return slim::page(&page);
    }
    let mut told = report.clone();
    told.findings.extend(found);
    slim::page(&with_own_ids(&draw(&told)))
}

/// The same where a thing that stands in several tables has its id in the first of them: a link leads to one place.
fn with_own_ids(page: &str) -> String {
    const ID: &str = " id=\"x-";
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let mut out = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = rest.find(ID) {
        let Some(end) = rest[at + ID.len()..].find('"').map(|end| at + ID.len() + end + 1) else { break };
        let is_first = known.insert(&rest[at..end]);
        out.push_str(&rest[..if is_first { end } else { at }]);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// What a page of a report may do: what its own style and script do, and nothing else.
pub fn policy() -> String {
    format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        hash(&sheet()),
        hash(SCRIPT)
    )
}

fn sheet() -> String {
    format!("{}\n{STYLE}", style(Theme::Follow))
}

fn draw(report: &Report) -> String {
    let (style, policy) = (sheet(), policy());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content="gantry";
                title { (report.title) }
                style { (PreEscaped(style)) }
            }
            body {
                a.skip href="#main" { "Skip to the report" }
                nav.contents aria-label="Contents" { (contents(report)) }
                main #main .brief[report.brief] {
                    header.head {
                        h1 { (report.title) }
                        @if !report.about.is_empty() { p.lede { (line(&report.about)) } }
                        p.made { (report.made()) }
                    }
                    @if !report.findings.is_empty() { (findings(report)) }
                    @for section in &report.sections { (draw_section(report, section)) }
                    (provenance(report))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

fn contents(report: &Report) -> Markup {
    html! {
        p.brand { "Contents" }
        input #find type="search" placeholder="Find a task or risk  ( / )" aria-label="Find tasks, risks and everything in tables" autocomplete="off";
        p #found role="status" aria-live="polite" {}
        details open { summary { "All sections" } ol {
            @for section in &report.sections { li { a href=(format!("#{}", section.id)) { (section.title) } } }
            li { a href="#provenance" { "Where it comes from" } }
        } }
    }
}

fn findings(report: &Report) -> Markup {
    html! {
        section.findings #checks {
            h2 { (markdown::verdict(report)) }
            p { "Found by the checks that every report goes through. Until they are mended, mind what they say." }
            ul { @for finding in &report.findings { li { code { (finding.check) } " in " (finding.section) ": " (finding.what) } } }
        }
    }
}

fn draw_section(report: &Report, section: &Section) -> Markup {
    html! {
        section id=(section.id) {
            details open[section.open] {
                summary { h2 { (section.title) } a.self href=(format!("#{}", section.id)) aria-label=(format!("Link to {}", section.title)) { "#" } }
                div.two[section.dense] { @for block in &section.blocks { (draw_block(report, block)) } }
            }
        }
    }
}

fn draw_block(report: &Report, block: &Block) -> Markup {
    let source = block.from.as_ref().and_then(|part| report.sources.iter().find(|source| source.part == *part));
    let from = origin(block.claim, source);
    html! {
        @match &block.content {
            Content::Tiles(tiles) => {
                div.block.tiles { @for one in tiles { (tile(one)) } }
                p.by { (from) }
            },
            Content::Text { label, lines } => div.block {
                @if let Some(label) = label { h3 { (label) (from) } }
                @for (at, text) in lines.iter().enumerate() {
                    p { (line(text)) @if label.is_none() && at + 1 == lines.len() { (from) } }
                }
            },
            Content::List { label, chain, items } => div.block {
                @if let Some(label) = label { h3 { (label) (from) } }
                @if *chain { ol.chain { @for item in items { li { (line(item)) } } } }
                @else { ul { @for item in items { li { (line(item)) } } } }
                @if label.is_none() { (from) }
            },
            Content::Table(one) => div.block.table { (table(one, &from)) },
            Content::Cards { label, cards } => div.block {
                @if let Some(label) = label { h3 { (label) (from) } }
                div.cards { @for one in cards { (card(one)) } }
                @if label.is_none() { (from) }
            },
            Content::Picture { name, title, svg, .. } => div.block { (picture(name, title, svg, &from)) },
            Content::Note { tone, line: text } => p.note data-tone=(tone_word(*tone)) { (line(text)) (from) },
        }
    }
}

/// Where a block comes from, in a word; the rest stands behind the link.
fn origin(claim: Claim, source: Option<&Source>) -> Markup {
    html! {
        @if let Some(source) = source {
            " " a.origin href=(format!("#from-{}", source.part)) {
                (claim.words()) " · " (source.by)
            }
        }
    }
}

fn tone_word(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "plain",
        Tone::Good => "good",
        Tone::Care => "care",
        Tone::Bad => "bad",
    }
}

fn tile(tile: &Tile) -> Markup {
    html! {
        div.tile data-tone=(tone_word(tile.tone)) {
            p.label { (tile.label) }
            p.value { (line(&tile.value)) }
            @for note in &tile.notes { p.hint { (line(note)) } }
        }
    }
}

fn table(table: &Table, from: &Markup) -> Markup {
    let beside: Vec<usize> = (0..table.columns.len()).filter(|at| !is_under(table, *at)).collect();
    let is_figures = |at: usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.cells.get(at)).filter(|cell| !cell.is_empty());
        let all = cells.clone().all(is_figure);
        all && cells.next().is_some()
    };
    html! {
        div.bar {
            h3 { (table.title) (from) }
        }
        div.wide tabindex="0" role="region" aria-label=(if table.title.is_empty() { "Table" } else { &table.title }) {
            table data-columns=(table.columns.join("\t")) {
                thead { tr { @for at in &beside { th scope="col" class=[is_figures(*at).then_some("n")] title=[told(table, *at)] { (table.columns[*at]) } } } }
                tbody { @for one in &table.rows { (row(table, one, &beside)) } }
            }
        }
    }
}

fn is_under(table: &Table, at: usize) -> bool {
    at > 0 && table.under.contains(&table.columns[at])
}

fn row(table: &Table, row: &Row, beside: &[usize]) -> Markup {
    let id = row.id.as_ref().map(|id| anchor(id));
    let cells: Vec<(usize, &Line)> = row.cells.iter().enumerate().collect();
    let below: Vec<&(usize, &Line)> =
        cells.iter().filter(|(at, cell)| is_under(table, *at) && !cell.is_empty()).collect();
    html! {
        tr id=[id] class=[row.heading.then_some("heading")] {
            @for (at, cell) in cells.iter().filter(|(at, _)| beside.contains(at)) {
                td data-c=[(*at > 0 && !cell.is_empty()).then_some(&table.columns[*at])] class=[is_figure(cell).then_some("n")] {
                    @if *at == 0 && !below.is_empty() {
                        b { (line(cell)) }
                        @for (at, cell) in &below { i data-c=(table.columns[*at]) { (line(cell)) } }
                    } @else { (bare(cell)) }
                }
            }
        }
    }
}

/// What the numbers of a column are, where each of its cells is one.
fn told(table: &Table, at: usize) -> Option<String> {
    let mut cells = table.rows.iter().filter_map(|row| row.cells.get(at)?.first());
    cells.find_map(|span| match span {
        Span::Number { of, claim, .. } => Some(number_title(of, *claim)),
        _ => None,
    })
}

fn number_title(of: &str, claim: Claim) -> String {
    format!("{} ({})", of.replace(['.', '_'], " "), claim.words())
}

/// A cell that is a number alone says what it is at the head of its column.
fn bare(cell: &Line) -> Markup {
    match cell.as_slice() {
        [Span::Number { text, .. }] => html! { (text) },
        other => line(other),
    }
}

/// A number that is read along its column; a date is read like a word.
fn is_figure(cell: &Line) -> bool {
    matches!(cell.as_slice(), [Span::Number { text, .. }] if !text.get(..10).is_some_and(check::is_date))
}

fn card(card: &Card) -> Markup {
    html! {
        article.card id=[card.id.as_ref().map(|id| anchor(id))] {
            h4 { (line(&card.title)) @if let Some(mark) = &card.mark { " " span.mark { (mark) } } }
            @if let Some(text) = &card.text { p { (line(text)) } }
            @if !card.lines.is_empty() { dl { @for (label, text) in &card.lines { div { dt { (label) } dd { (line(text)) } } } } }
        }
    }
}

fn picture(name: &str, title: &str, svg: &str, from: &Markup) -> Markup {
    html! {
        figure data-chart=(name) {
            div.bar {
                figcaption { (title) (from) }
                span.tools {
                    @if name == "gantt" || name == "network" {
                        button type="button" data-critical aria-pressed="false" hidden { "Critical path only" }
                        button type="button" data-zoom="in" aria-label="Zoom in" hidden { "+" }
                        button type="button" data-zoom="out" aria-label="Zoom out" hidden { "−" }
                    }
                }
            }
            div.chart tabindex="0" role="region" aria-label=(title) { (PreEscaped(slim::slim(svg))) }
        }
    }
}

/// The id of something that others name.
fn anchor(id: &str) -> String {
    let safe: String = id
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' })
        .take(120)
        .collect();
    format!("x-{safe}")
}

fn line(line: &[Span]) -> Markup {
    let plain = |span: &Span| matches!(span, Span::Text(text) if markup::is_marked(text));
    if !line.iter().any(plain) {
        return html! { @for one in line { (span(one)) } };
    }
    let letters = line.iter().enumerate().map(|(number, span)| match span {
        Span::Text(text) => text.clone(),
        _ => markup::place(number).into_iter().collect(),
    });
    let text: String = letters.collect();
    PreEscaped(markup::drawn(&text, |number| line.get(number).map(|one| span(one).into_string())))
}

fn span(span: &Span) -> Markup {
    html! {
            @match span {
                Span::Text(text) => (text),
                Span::Number { text, of, claim } => data title=(number_title(of, *claim)) { (text) },
                Span::Stray(_) => mark.stray title="a number stood here that neither the request nor the schedule gives" { (span.text()) },
                Span::Ref { text, id } => a href=(format!("#{}", anchor(id))) { (text) },
                Span::Elsewhere { text, section } => a href=(format!("#{section}")) { (text) },
                Span::Dangling(text) => mark.stray title="this names nothing in the plan" { (text) },
            }
    }
}

fn provenance(report: &Report) -> Markup {
    html! {
        section #provenance {
            details open {
                summary { h2 { "Where it comes from" } a.self href="#provenance" aria-label="Link to where it comes from" { "#" } }
                p { "Dates, costs and lengths were computed from the tasks and their estimates; nobody wrote them. Point at a number to see what it is. " b { "Given" } " stands in the request, " b { "computed" } " follows from the estimates, an " b { "estimate" } " is a judgement, an " b { "assumption" } " waits for someone to look, a " b { "fact" } " names its source." }
                @if report.findings.is_empty() { p.note data-tone="good" { (markdown::verdict(report)) } }
                @if !report.left_out.is_empty() { p { "Left out of this report: " (report.left_out.join(", ")) "." } }
                @if !report.sources.is_empty() {
                    div.table { div.wide tabindex="0" role="region" aria-label="Steps" { table {
                        thead { tr { th scope="col" { "Part" } th scope="col" { "Step" } th scope="col" { "By" } th scope="col" { "When" } th scope="col" { "Took" } th scope="col" { "Cost" } th scope="col" { "From" } } }
                        tbody { @for source in &report.sources {
                            tr id=(format!("from-{}", source.part)) {
                                td { (source.part) } td { (source.title) } td { (source.missing.as_ref().unwrap_or(&source.by)) } td { (source.at) } td.n { (source.took) } td.n { (source.cost) }
                                td { (source.inputs.join(", ")) }
                            }
                        } }
                    } } }
                }
            }
        }
    }
}
