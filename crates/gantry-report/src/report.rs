//! The report: one page about a plan that people can read, check and take away.
//!
//! A [`Layout`] (data) says which sections there are and which fields they show; [`compose`] fills it with what is known
//! about a plan and gives a [`Report`]: sections of blocks of lines of spans. Every number and name in it says what it is,
//! so that [`check`](check::check) can hold the parts against each other, and every block says which step made it. The same report is
//! then written as HTML ([`html`]) or Markdown ([`markdown`]).
//!
//! Invariant: the same subject and layout give the same bytes.
//! Invariant: text from outside is data in every form it is written in; nothing of it is markup.

pub mod check;
pub mod csv;
pub mod html;
pub mod layout;
pub mod markdown;

mod compose; // in reading order
mod figures;
mod markup;
mod once;
mod pattern;
mod prose;
mod slim;

use gantry_schedule::{Project, Schedule};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use compose::compose;
pub use figures::{figures_of, whole_hours};
pub use layout::{Choice, Layout};

/// What a report is about.
pub struct Subject<'a> {
    /// What the plan is called.
    pub title: String,
    /// When the report is made, as a day.
    pub day: String,
    /// What the steps of planning made, by the names that the layout uses.
    pub parts: Map<String, Value>,
    /// The machine-readable plan (`document.rs`): tasks, risks, schedule, cost, health.
    pub plan: Value,
    /// How it stands: state, decisions, failures, what it waits for.
    pub life: Value,
    /// Where the parts come from.
    pub sources: Vec<Source>,
    /// The work as it was scheduled; nothing where it cannot be.
    pub scheduled: Option<(&'a Project, &'a Schedule)>,
    /// Whether work has begun: then dates are what they are now, and what planning said may differ.
    pub begun: bool,
}

/// Where a part of a report comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The part that it made.
    pub part: String,
    /// The step.
    pub task: String,
    /// What the step is called.
    pub title: String,
    /// Who answered: a model, code, or a person.
    pub by: String,
    /// Whether a model, code or a person did it.
    pub kind: String,
    /// When it ended.
    pub at: String,
    /// How long it took.
    pub took: String,
    /// What it cost.
    pub cost: String,
    /// The parts that it was given.
    pub inputs: Vec<String>,
    /// How the step stands, when it has not made its part.
    pub missing: Option<String>,
}

/// What a statement rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The request, or a document beside it, says so.
    Given,
    /// Computed from the request and the estimates.
    Computed,
    /// Something outside says so, which is named.
    Fact,
    /// Taken for true until someone looks.
    Assumption,
    /// Someone's judgement: a model's, or knowledge that was stored.
    #[default]
    Estimate,
}

impl Claim {
    /// In words, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Computed => "computed",
            Self::Fact => "fact, source named",
            Self::Assumption => "assumption",
            Self::Estimate => "estimate",
        }
    }
}

/// What stands where a number comes from nowhere.
const FROM_NOWHERE: &str = "[not computed]";

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// Words.
    Text(String),
    /// A number or a date that says what it is.
    Number {
        /// As it is written.
        text: String,
        /// Which quantity it is, or where it stands.
        of: String,
        /// What it rests on.
        claim: Claim,
    },
    /// A number or date that nothing gives: it is told, and does not stand in what is written.
    Stray(String),
    /// The name of something else in the report.
    Ref {
        /// What it is called here.
        text: String,
        /// Its id.
        id: String,
    },
    /// What an earlier section has said.
    Elsewhere {
        /// As it is read.
        text: String,
        /// The section.
        section: String,
    },
    /// A name that is nothing in the report.
    Dangling(String),
}

impl Span {
    /// As it is read.
    pub fn text(&self) -> &str {
        match self {
            Self::Stray(_) => FROM_NOWHERE,
            Self::Text(text)
            | Self::Dangling(text)
            | Self::Number { text, .. }
            | Self::Ref { text, .. }
            | Self::Elsewhere { text, .. } => text,
        }
    }
}

/// A line of text.
pub type Line = Vec<Span>;

/// A line as it is read.
pub fn said(line: &[Span]) -> String {
    line.iter().map(Span::text).collect()
}

/// How good or bad something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Neither.
    #[default]
    Plain,
    /// It holds.
    Good,
    /// To be looked at.
    Care,
    /// It does not hold.
    Bad,
}

/// A figure that matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tile {
    /// What it is.
    pub label: String,
    /// How much.
    pub value: Line,
    /// What to know about it.
    pub notes: Vec<Line>,
    /// How good that is.
    pub tone: Tone,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// Those of them whose cells stand below the first one where rows are drawn.
    pub under: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The id by which others name it.
    pub id: Option<String>,
    /// It is a heading of the rows below it.
    pub heading: bool,
    /// The cells.
    pub cells: Vec<Line>,
}

/// A thing with a heading and some lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Card {
    /// The id by which others name it.
    pub id: Option<String>,
    /// Its heading.
    pub title: Line,
    /// A word about it, such as `chosen`.
    pub mark: Option<String>,
    /// What it is about.
    pub text: Option<Line>,
    /// Labelled lines.
    pub lines: Vec<(String, Line)>,
}

/// What a block shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Figures that matter.
    Tiles(Vec<Tile>),
    /// Paragraphs, perhaps with a label.
    Text {
        /// What they are about.
        label: Option<String>,
        /// The paragraphs.
        lines: Vec<Line>,
    },
    /// A list, perhaps with a label.
    List {
        /// What it is of.
        label: Option<String>,
        /// Each item follows from the one before it.
        chain: bool,
        /// The items.
        items: Vec<Line>,
    },
    /// A table.
    Table(Table),
    /// Cards.
    Cards {
        /// What they are.
        label: Option<String>,
        /// The cards.
        cards: Vec<Card>,
    },
    /// A chart.
    Picture {
        /// Which one.
        name: String,
        /// What it shows.
        title: String,
        /// The same in words.
        told: String,
        /// The chart.
        #[serde(skip)]
        svg: String,
    },
    /// Something to be seen before the rest.
    Note {
        /// How bad it is.
        tone: Tone,
        /// What it says.
        line: Line,
    },
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// The part that it comes from.
    pub from: Option<String>,
    /// What it rests on.
    pub claim: Claim,
    /// What it shows.
    pub content: Content,
}

/// A section.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its id.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Whether it is unfolded.
    pub open: bool,
    /// Text in it may have numbers and dates of its own: the request, projects of others, what happened.
    pub quoted: bool,
    /// Where there is room, it stands in two columns.
    pub dense: bool,
    /// Its blocks.
    pub blocks: Vec<Block>,
}

/// One quantity, known by its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
}

/// Something that does not hold together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which check found it; a promise.
    pub check: &'static str,
    /// Where.
    pub section: String,
    /// What is wrong.
    pub what: String,
}

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// What the plan is called.
    pub title: String,
    /// What it is, in a line.
    pub about: Line,
    /// When it was made, as a day.
    pub day: String,
    /// Its sections, in reading order.
    pub sections: Vec<Section>,
    /// Tables for spreadsheets alone, each with its section.
    #[serde(skip)]
    pub sheets: Vec<(String, Table)>,
    /// The sections that have tables, also those that were not asked for.
    #[serde(skip)]
    pub with_tables: Vec<String>,
    /// It is what one person does, so what only the curious read is not printed.
    #[serde(skip)]
    pub brief: bool,
    /// What was left out, and how to get it.
    pub left_out: Vec<String>,
    /// Where its parts come from.
    pub sources: Vec<Source>,
    /// The quantities that it names.
    pub figures: Vec<Figure>,
    /// What does not hold together.
    pub findings: Vec<Finding>,
}

impl Report {
    /// When it was made, and by whom.
    pub fn made(&self) -> String {
        let mut by: Vec<&str> = Vec::new();
        let answered = |source: &&Source| source.kind == "model" && source.missing.is_none() && !source.by.is_empty();
        for source in self.sources.iter().filter(answered) {
            let name = if source.by.starts_with("gantry-offline") {
                "the offline model, which knows nothing of your case"
            } else {
                &source.by
            };
            if !by.contains(&name) {
                by.push(name);
            }
        }
        match by.as_slice() {
            [] => format!("Report of {}", self.day),
            by => format!("Report of {} · words by {} · numbers by computation", self.day, by.join(", ")),
        }
    }
}
