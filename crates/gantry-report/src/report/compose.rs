//! Fills a layout with what is known about a plan.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::layout::{self, Choice, Layout};
use super::pattern::{Scope, at, flat, is_empty};
use super::prose::{Index, claims_something};
use super::{
    Block, Card, Claim, Content, Line, Report, Row, Section, Source, Span, Subject, Table, Tile, Tone, check, figures,
    figures_of, once,
};
use crate::chart::{Frame, Heading, Sheet};
use crate::claims;
use crate::picture::Picture;

/// A shorter text of a model may stand in what a person wrote by chance.
const QUOTE_BYTES_MIN: usize = 20;
/// What is told without a step that made it: the part, what that is, and who did it.
const OWN_SOURCES: [(&str, &str, &str); 3] = [
    ("schedule", "Computed from tasks, estimates, prices and risks", "code"),
    ("plan", "Written in the plan itself", "person"),
    ("record", "Written down when it happened", "code"),
];
/// How wide charts are drawn; pages scale them.
const CHART_WIDTH_PX: u32 = 1_080;

/// Makes the report, and checks it.
pub fn compose(layout: &Layout, subject: &Subject<'_>, choice: &Choice) -> Report {
    let mut numbers = subject.scheduled.map(|(_, schedule)| figures_of(schedule)).unwrap_or_default();
    numbers.extend(figures::of_work(&subject.plan));
    if subject.parts.get("facts").is_some_and(|facts| facts["priced_by"] == "budget") {
        figures::leave_the_budget_open(&mut numbers);
    }
    if has_ended(subject) {
        figures::leave_out_futures(&mut numbers);
    }
    let mut whole: Map<String, Value> = subject.parts.clone();
    whole.insert("plan".to_owned(), with_totals(with_leaves(subject.plan.clone())));
    if !has_ended(subject) {
        whole.insert("money".to_owned(), figures::of_money(&numbers));
    }
    whole.insert("life".to_owned(), subject.life.clone());
    whole.insert("q".to_owned(), Value::Object(numbers.clone()));
    whole.insert("sources".to_owned(), json!(subject.sources));
    whole.insert("claims".to_owned(), claims::grouped(&subject.plan["claims"]));
    whole.insert("claimed".to_owned(), claims::counted(&subject.plan["claims"]));
    let whole = legible(Value::Object(whole));
    let index = index(layout, subject, &whole);
    let composer = Composer { layout, subject, whole: &whole, index: &index };
    let (wanted, left_out) = composer.wanted(choice);
    let sheets = wanted.iter().flat_map(|(section, _)| composer.sheets(section)).collect();
    let mut sections: Vec<Section> =
        wanted.into_iter().filter_map(|(section, open)| composer.section(section, open)).collect();
    once::say_once(&mut sections);
    once::link_only_what_is_there(&mut sections);
    let about = [at(&whole, "understand.aim"), at(&whole, "plan.objective")];
    let about = about.into_iter().find(|text| !is_empty(text)).map(|text| index.read(&flat(text))).unwrap_or_default();
    let mut report = Report {
        title: crate::legible(&subject.title),
        about,
        day: subject.day.clone(),
        sheets,
        with_tables: composer.with_tables(),
        brief: composer.is_household(),
        left_out,
        sources: composer.sources(&sections),
        sections,
        figures: figures::listed(&numbers),
        findings: Vec::new(),
    };
    report.findings = check::check(&report, subject);
    report
}

/// Tells whether the plan is over: then nothing of it lies ahead.
pub(super) fn has_ended(subject: &Subject<'_>) -> bool {
    !is_empty(&subject.life["ended"])
}

/// Says of every task whether others are inside it.
fn with_leaves(mut plan: Value) -> Value {
    let parents: BTreeSet<String> = plan["tasks"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|task| Some(task["parent"].as_str()?.to_owned()))
        .collect();
    for task in plan["tasks"].as_array_mut().into_iter().flatten() {
        task["leaf"] = json!(!task["id"].as_str().is_some_and(|id| parents.contains(id)));
    }
    plan
}

/// Says below the sorts of cost what they are together.
fn with_totals(mut plan: Value) -> Value {
    let total = plan["cost"]["total"].clone();
    if let Some(sorts) = plan["cost"]["by_kind"].as_array_mut().filter(|sorts| sorts.len() > 1) {
        sorts.push(json!({"kind": "all together", "total": total}));
    }
    plan
}

/// The same without letters that nobody sees, or that turn others around.
fn legible(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(crate::legible(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(legible).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, legible(value))).collect())
        }
        other => other,
    }
}

/// Everything that texts may name.
fn index(layout: &Layout, subject: &Subject<'_>, whole: &Value) -> Index {
    let mut index = Index::default();
    for (name, claim) in [("deadline", Claim::Given), ("budget", Claim::Given)] {
        index.know_numbers(name, &whole["q"][name], claim);
    }
    index.know_numbers("q", &whole["q"], Claim::Computed);
    index.know_numbers("facts", &whole["facts"], Claim::Given);
    let planned = if subject.begun { "as planned" } else { "overview" };
    index.know_numbers(planned, &without_words(&whole["overview"]), Claim::Computed);
    index.know_numbers("health", &whole["plan"]["health"], Claim::Computed);
    for project in at(whole, "related.related").as_array().into_iter().flatten() {
        index.know_numbers("related", &project["name"], Claim::Fact);
    }
    for path in &layout.named {
        let (path, letter) = path.split_once('#').map_or((path.as_str(), None), |(path, letter)| (path, Some(letter)));
        index.know_ids(at(whole, path), letter);
    }
    for text in own_words(subject, whole) {
        index.know_own_words(text);
    }
    index
}

/// What people wrote: answers of theirs, and whatever of the plan no model did.
fn own_words<'v>(subject: &Subject<'_>, whole: &'v Value) -> Vec<&'v str> {
    let of_kind = |kind: &str| {
        let mut texts = Vec::new();
        let parts = subject.sources.iter().filter(|source| source.kind == kind);
        parts.for_each(|source| texts_in(&whole[&source.part], &mut texts));
        texts
    };
    let by_models: BTreeSet<&str> = of_kind("model").into_iter().collect();
    let plan = &whole["plan"];
    let mut written = Vec::new();
    for field in ["title", "objective"] {
        texts_in(&plan[field], &mut written);
    }
    for list in ["tasks", "risks"] {
        for thing in plan[list].as_array().into_iter().flatten() {
            for field in ["title", "description", "success_criteria", "owner", "effect", "mitigation"] {
                texts_in(&thing[field], &mut written);
            }
        }
    }
    // What was put together from what a model wrote is the model's.
    let by_model = |text: &str| {
        let has = |other: &&str| other.len() >= QUOTE_BYTES_MIN && claims_something(other) && text.contains(*other);
        by_models.contains(text) || by_models.iter().any(|other| other.contains(text) || has(other))
    };
    let mut own = of_kind("person");
    own.extend(written.into_iter().filter(|text| claims_something(text) && !by_model(text)));
    own
}

/// Every text in a value.
fn texts_in<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => texts.push(text.trim()),
        Value::Array(items) => items.iter().for_each(|item| texts_in(item, texts)),
        Value::Object(fields) => fields.values().for_each(|value| texts_in(value, texts)),
        _ => {}
    }
}

/// What was computed, without what models wrote.
fn without_words(value: &Value) -> Value {
    const WRITTEN: [&str; 6] = ["title", "effect", "mitigation", "owner", "name", "role"];
    match value {
        Value::Object(fields) => {
            let computed = fields.iter().filter(|(name, _)| !WRITTEN.contains(&name.as_str()));
            Value::Object(computed.map(|(name, value)| (name.clone(), without_words(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_words).collect()),
        other => other.clone(),
    }
}

struct Composer<'a> {
    layout: &'a Layout,
    subject: &'a Subject<'a>,
    whole: &'a Value,
    index: &'a Index,
}

impl<'a> Composer<'a> {
    /// The sections that are wanted, in the reader's order, and what is left out.
    fn wanted(&self, choice: &Choice) -> (Vec<(&'a layout::Section, bool)>, Vec<String>) {
        let audience = choice.audience.as_ref().and_then(|name| self.layout.audiences.get(name));
        let household = self.is_household() && !self.layout.one_page.is_empty();
        let ended = has_ended(self.subject);
        // What became of a plan is worth more than its page.
        let became = |section: &layout::Section| section.of.as_ref().is_some_and(|of| of.starts_with("life."));
        let chosen = |section: &&layout::Section| {
            if choice.sections.is_empty() {
                !household || self.layout.one_page.contains(&section.id) || ended && became(section)
            } else {
                choice.sections.contains(&section.id)
            }
        };
        let (mut wanted, others): (Vec<&layout::Section>, Vec<&layout::Section>) =
            self.layout.sections.iter().partition(chosen);
        if let Some(audience) = audience {
            let place = |id: &String| audience.first.iter().position(|first| first == id).unwrap_or(usize::MAX);
            wanted.sort_by_key(|section| place(&section.id));
        }
        let folded = |id: &String| audience.is_some_and(|audience| audience.folded.contains(id));
        let left_out = others.into_iter().filter(|section| self.is_there(section)).map(|section| section.id.clone());
        (wanted.iter().map(|section| (*section, !section.folded && !folded(&section.id))).collect(), left_out.collect())
    }

    fn is_household(&self) -> bool {
        at(self.whole, "facts.size") == "household"
    }

    /// The tables of a section that are for spreadsheets alone.
    fn sheets(&self, section: &layout::Section) -> Vec<(String, Table)> {
        let sheets = section.blocks.iter().filter(|block| block.sheet);
        let tables = sheets.filter_map(|block| {
            let path = block.table.as_ref()?;
            match self.repeated(section, block, at(self.whole, path))? {
                Content::Table(table) => Some((section.id.clone(), table)),
                _ => None,
            }
        });
        tables.collect()
    }

    /// The sections from which a spreadsheet can be made.
    fn with_tables(&self) -> Vec<String> {
        let is_filled =
            |block: &layout::Block| block.table.as_ref().is_some_and(|path| !is_empty(at(self.whole, path)));
        let filled = self.layout.sections.iter().filter(|section| section.blocks.iter().any(is_filled));
        filled.map(|section| section.id.clone()).collect()
    }

    /// Where the parts come from, with what was computed or written down where something of it is shown.
    fn sources(&self, sections: &[Section]) -> Vec<Source> {
        let blocks = sections.iter().flat_map(|section| &section.blocks);
        let named: BTreeSet<&str> = blocks.filter_map(|block| block.from.as_deref()).collect();
        let known = |part: &str| self.source(part).is_some();
        let more = OWN_SOURCES.iter().filter(|(part, ..)| named.contains(part) && !known(part));
        let more = more.map(|(part, title, by)| Source {
            part: (*part).to_owned(),
            title: (*title).to_owned(),
            by: (*by).to_owned(),
            kind: (*by).to_owned(),
            ..Source::default()
        });
        self.subject.sources.iter().cloned().chain(more).collect()
    }

    /// The part that something at a path comes from.
    fn from(&self, path: &str) -> Option<String> {
        let has = |part: &str| self.source(part).is_some_and(|source| source.missing.is_none());
        let (part, rest) = path.trim_start_matches('/').split_once('.').unwrap_or((path, ""));
        let made = |made: &'static str, otherwise: &'static str| if has(made) { made } else { otherwise };
        let of = match (part, rest.split('.').next().unwrap_or_default()) {
            ("plan", "tasks") => made("breakdown", "plan"),
            ("plan", "risks") => made("risks", "plan"),
            ("q" | "money" | "plan", _) => "schedule",
            ("life" | "sources", _) => "record",
            ("claims" | "claimed", _) => "schedule",
            (part, _) if has(part) => return Some(part.to_owned()),
            _ => return None,
        };
        Some(of.to_owned())
    }

    fn is_there(&self, section: &layout::Section) -> bool {
        section.of.as_ref().is_none_or(|part| !is_empty(at(self.whole, part)))
    }

    fn source(&self, part: &str) -> Option<&'a Source> {
        self.subject.sources.iter().find(|source| source.part == part)
    }

    fn section(&self, section: &layout::Section, open: bool) -> Option<Section> {
        let part = section.of.as_deref().map(|path| path.split('.').next().unwrap_or(path));
        let mut blocks: Vec<Block> = Vec::new();
        if self.is_there(section) {
            blocks.extend(section.blocks.iter().filter_map(|block| self.block(section, block)));
        } else if let Some(missing) = part.and_then(|part| self.source(part)).and_then(|source| {
            let why = source.missing.as_ref()?;
            Some(format!("This is not there: the step “{}” {why}.", source.title))
        }) {
            let content = Content::Note { tone: Tone::Care, line: vec![Span::Text(missing)] };
            blocks.push(Block { from: part.map(str::to_owned), claim: Claim::Computed, content });
        }
        (!blocks.is_empty()).then(|| Section {
            id: section.id.clone(),
            title: section.title.clone(),
            open,
            quoted: section.quoted,
            dense: section.dense,
            blocks,
        })
    }

    fn scope(&self, row: &'a Value, quoted: bool) -> Scope<'a> {
        Scope { whole: self.whole, row, index: self.index, quoted }
    }

    fn block(&self, section: &layout::Section, block: &layout::Block) -> Option<Block> {
        if block.unless.as_ref().is_some_and(|path| !is_empty(at(self.whole, path))) {
            return None;
        }
        if block.sheet || block.ahead && has_ended(self.subject) {
            return None;
        }
        let scope = self.scope(self.whole, section.quoted);
        let path = [&block.list, &block.table, &block.cards].into_iter().flatten().next();
        let content = match path {
            Some(path) => self.repeated(section, block, at(self.whole, path))?,
            None if !block.tiles.is_empty() => {
                let tiles: Vec<Tile> = block.tiles.iter().filter_map(|one| tile(one, &scope)).collect();
                (!tiles.is_empty()).then_some(Content::Tiles(tiles))?
            }
            None if block.picture.is_some() => self.picture(block)?,
            None if block.note.is_some() => {
                let line = scope.fill(block.note.as_deref()?)?;
                Content::Note { tone: tone(&scope, block.tone.as_deref()), line }
            }
            None if !block.texts.is_empty() => {
                let mut whole: Line = Vec::new();
                for line in block.texts.iter().filter_map(|text| scope.fill(text)) {
                    if !whole.is_empty() {
                        whole.push(Span::Text(" ".to_owned()));
                    }
                    whole.extend(line);
                }
                (!whole.is_empty()).then_some(Content::Text { label: block.label.clone(), lines: vec![whole] })?
            }
            None => Content::Text { label: block.label.clone(), lines: texts(&scope, block.text.as_deref()?)? },
        };
        let told = [&block.text, &block.note].into_iter().flatten().chain(&block.texts);
        let tiles = block.tiles.iter().map(|tile| &tile.value);
        let from = match path {
            Some(path) => self.from(path),
            None if block.picture.is_some() => self.from("q"),
            None => told.chain(tiles).filter_map(|text| part_of(text)).find_map(|path| self.from(&path)),
        };
        let kind = from.as_deref().map(|part| self.source(part).map_or(part, |source| source.kind.as_str()));
        let claim = block.claim.unwrap_or(match kind {
            Some("model") => Claim::Estimate,
            Some("plan") => Claim::Given,
            _ => Claim::Computed,
        });
        Some(Block { from, claim, content })
    }

    fn repeated(&self, section: &layout::Section, block: &layout::Block, rows: &'a Value) -> Option<Content> {
        let label = block.label.clone();
        let rows: Vec<&Value> = match rows {
            Value::Array(items) => items.iter().filter(|row| passes(row, block.only.as_deref())).collect(),
            _ => return None,
        };
        let mut rows = rows;
        if !block.worst.is_empty() {
            let weight = |row: &Value| block.worst.iter().filter_map(|path| at(row, path).as_f64()).product::<f64>();
            rows.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
        }
        let most = block.most.unwrap_or(usize::MAX);
        let rows = rows.into_iter().take(most);
        if block.table.is_some() {
            let rows: Vec<Row> = rows.map(|row| self.row(section, block, row)).collect();
            let columns = block.columns.iter().map(|column| column.title.clone()).collect();
            let table = without_empty_columns(Table {
                title: label.unwrap_or_default(),
                columns,
                under: block.under.clone(),
                rows,
            });
            return (!table.rows.is_empty()).then_some(Content::Table(table));
        }
        if block.cards.is_some() {
            let cards: Vec<Card> = rows.filter_map(|row| self.card(section, block, row)).collect();
            return (!cards.is_empty()).then_some(Content::Cards { label, cards });
        }
        let pattern = block.item.as_deref().unwrap_or("{$}");
        let items: Vec<Line> = rows.filter_map(|row| self.scope(row, section.quoted).fill(pattern)).collect();
        (!items.is_empty()).then_some(Content::List { label, chain: block.chain, items })
    }

    fn row(&self, section: &layout::Section, block: &layout::Block, row: &'a Value) -> Row {
        let scope = self.scope(row, section.quoted);
        Row {
            id: row["id"].as_str().map(str::to_owned),
            heading: block.heading.as_deref().is_some_and(|test| passes(row, Some(test))),
            cells: block
                .columns
                .iter()
                .map(|column| self.filled(&scope, &column.pattern).unwrap_or_default())
                .collect(),
        }
    }

    /// A pattern; `list each pattern` is written for everything in a list.
    fn filled(&self, scope: &Scope<'a>, pattern: &str) -> Option<Line> {
        let Some((path, pattern)) = pattern.split_once(" each ") else { return scope.fill(pattern) };
        let mut joined: Line = Vec::new();
        let all = scope.find(path.trim()).as_array()?;
        for one in all.iter().filter_map(|one| self.scope(one, scope.quoted).fill(pattern)) {
            if !joined.is_empty() {
                joined.push(Span::Text(" ".to_owned()));
            }
            joined.extend(one);
        }
        (!joined.is_empty()).then_some(joined)
    }

    fn card(&self, section: &layout::Section, block: &layout::Block, row: &'a Value) -> Option<Card> {
        let scope = self.scope(row, section.quoted);
        let mark = block.mark.as_deref().and_then(|mark| {
            let (word, test) = mark.split_once(" if ")?;
            let (field, other) = test.split_once(" = ")?;
            (scope.find(field.trim()) == scope.find(other.trim())).then(|| word.to_owned())
        });
        let lines =
            block.lines.iter().filter_map(|line| Some((line.title.clone(), self.filled(&scope, &line.pattern)?)));
        Some(Card {
            id: row["id"].as_str().map(str::to_owned),
            title: scope.fill(block.title.as_deref()?)?,
            mark,
            text: block.about.as_deref().and_then(|about| scope.fill(about)),
            lines: lines.collect(),
        })
    }

    fn picture(&self, block: &layout::Block) -> Option<Content> {
        let (project, schedule) = self.subject.scheduled?;
        let name = block.picture.clone()?;
        let picture = match name.as_str() {
            "gantt" => Picture::Gantt,
            "network" => Picture::Network,
            "histogram" => Picture::Histogram,
            "s-curve" => Picture::SCurve,
            "load" => Picture::Load,
            "cash" => Picture::Cash,
            "tornado" => Picture::Tornado,
            _ => return None,
        };
        let dated = matches!(schedule.start, gantry_schedule::Moment::Date(..));
        let nothing = match picture {
            Picture::Cash => !dated || schedule.cost.cash_flow.months.is_empty(),
            Picture::Load => schedule.resources.is_empty(),
            Picture::Histogram | Picture::SCurve | Picture::Tornado if has_ended(self.subject) => true,
            _ => schedule.tasks.is_empty(),
        };
        if nothing {
            return None;
        }
        let title = block.label.clone().unwrap_or_else(|| name.clone());
        let frame = Frame {
            id: format!("chart-{name}"),
            heading: Heading::Hidden,
            sheet: Sheet::OfThePage,
            ..Frame::titled(&title, CHART_WIDTH_PX)
        };
        let svg = picture.draw(schedule, project, &frame)?;
        let told = svg.split("</desc>").next().and_then(|head| head.split("<desc").nth(1)?.split_once('>'));
        let told = told.map(|(_, told)| unescaped(told)).unwrap_or_default();
        Some(Content::Picture { name, title, told, svg })
    }
}

/// Markup as the text that it stands for.
fn unescaped(markup: &str) -> String {
    let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    named.iter().fold(markup.to_owned(), |text, (name, letter)| text.replace(name, letter))
}

/// The first path of a pattern, or the path that it is.
fn part_of(text: &str) -> Option<String> {
    let path = text.split_once('{').map_or(text, |(_, rest)| rest);
    Some(path.split(['|', '}']).next()?.to_owned())
}

/// `kind=summary`, `kind!=summary`.
fn passes(row: &Value, test: Option<&str>) -> bool {
    let Some(test) = test else { return true };
    match test.split_once("!=") {
        Some((field, value)) => flat(at(row, field)) != value,
        None => test.split_once('=').is_some_and(|(field, value)| flat(at(row, field)) == value),
    }
}

/// Columns in which nothing stands say nothing.
fn without_empty_columns(mut table: Table) -> Table {
    let keep: Vec<bool> =
        (0..table.columns.len()).map(|at| table.rows.iter().any(|row| !row.cells[at].is_empty())).collect();
    let kept = |at: usize| keep.get(at).copied().unwrap_or(false);
    let mut at = 0;
    table.columns.retain(|_| {
        at += 1;
        kept(at - 1)
    });
    for row in &mut table.rows {
        let mut at = 0;
        row.cells.retain(|_| {
            at += 1;
            kept(at - 1)
        });
    }
    table
}

fn texts(scope: &Scope<'_>, text: &str) -> Option<Vec<Line>> {
    if text.contains('{') {
        return scope.fill(text).map(|line| vec![line]);
    }
    let value = scope.find(text);
    let whole = match value {
        Value::Array(items) => items.iter().map(flat).collect::<Vec<_>>(),
        other => flat(other).split("\n\n").map(str::to_owned).collect(),
    };
    let read = |text: &String| if scope.quoted { vec![Span::Text(text.clone())] } else { scope.index.read(text) };
    let lines: Vec<Line> = whole.iter().filter(|text| !text.trim().is_empty()).map(read).collect();
    (!lines.is_empty()).then_some(lines)
}

fn tile(tile: &layout::Tile, scope: &Scope<'_>) -> Option<Tile> {
    Some(Tile {
        label: tile.label.clone(),
        value: scope.fill(&tile.value)?,
        notes: tile.notes.iter().filter_map(|note| scope.fill(note)).collect(),
        tone: tone(scope, tile.tone.as_deref()),
    })
}

fn tone(scope: &Scope<'_>, path: Option<&str>) -> Tone {
    let word = path.map(|path| scope.find(path).as_str().unwrap_or(path));
    match word {
        Some("good") => Tone::Good,
        Some("care") => Tone::Care,
        Some("bad") => Tone::Bad,
        _ => Tone::Plain,
    }
}
