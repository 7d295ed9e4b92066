//! What a report shows, as data: sections, their blocks, and what different readers see first.

use std::collections::BTreeMap;

use gantry_core::suggest::nearest;
use serde::Deserialize;

use super::Claim;

/// The sections that every plan can have.
const BUILT_IN: &str = include_str!("layout.yaml");
/// What whoever takes a plan over has to know.
const HANDOFF: &str = include_str!("handoff.yaml");
/// What became of a plan.
const POSTMORTEM: &str = include_str!("postmortem.yaml");

/// What a report shows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The sections, in order.
    pub sections: Vec<Section>,
    /// What each sort of reader sees: which sections come first, and which are folded.
    #[serde(default)]
    pub audiences: BTreeMap<String, Audience>,
    /// The sections of a plan that fits on a page.
    #[serde(default)]
    pub one_page: Vec<String>,
    /// What ids are the names of: where lists of things with an `id` are found; `path#C` numbers them `C1`, `C2`, ….
    #[serde(default)]
    pub named: Vec<String>,
    /// Where ids have a title that is shown instead.
    #[serde(default)]
    pub titled: Vec<String>,
}

/// What a sort of reader sees.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audience {
    /// These sections come first.
    #[serde(default)]
    pub first: Vec<String>,
    /// These are folded.
    #[serde(default)]
    pub folded: Vec<String>,
}

/// A section.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Its id.
    pub id: String,
    /// Its heading.
    #[serde(default)]
    pub title: String,
    /// It is the section of this id that every plan can have.
    #[serde(default)]
    pub built_in: bool,
    /// The part without which it makes no sense.
    #[serde(default)]
    pub of: Option<String>,
    /// Text in it may have numbers and dates of its own.
    #[serde(default)]
    pub quoted: bool,
    /// Where there is room, it stands in two columns.
    #[serde(default)]
    pub dense: bool,
    /// It is folded away until someone opens it.
    #[serde(default)]
    pub folded: bool,
    /// Its blocks.
    #[serde(default)]
    pub blocks: Vec<Block>,
}

/// A block: exactly one of `tiles`, `text`, `texts`, `list`, `table`, `cards`, `picture` and `note`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Block {
    /// What stands before it.
    pub label: Option<String>,
    /// What it rests on.
    pub claim: Option<Claim>,
    /// Figures that matter.
    pub tiles: Vec<Tile>,
    /// A text, or texts: a path or a pattern.
    pub text: Option<String>,
    /// A paragraph of sentences, each a pattern; one that names what is not there is left out.
    pub texts: Vec<String>,
    /// Where the list is.
    pub list: Option<String>,
    /// Where the rows are.
    pub table: Option<String>,
    /// Where the cards are.
    pub cards: Option<String>,
    /// A chart.
    pub picture: Option<String>,
    /// A text to be seen before the rest, and how bad it is.
    pub note: Option<String>,
    /// How bad a note is: a path to `good`, `care` or `bad`, or the word.
    pub tone: Option<String>,
    /// How an item of a list is written.
    pub item: Option<String>,
    /// The items of a list follow from each other.
    pub chain: bool,
    /// Only where there is nothing at this path.
    pub unless: Option<String>,
    /// It is about what lies ahead, and left out once the plan is over.
    pub ahead: bool,
    /// The rows by how much the numbers at these paths are together, the greatest first.
    pub worst: Vec<String>,
    /// At most so many.
    pub most: Option<usize>,
    /// Columns of a table: heading and pattern.
    pub columns: Vec<Column>,
    /// Columns whose cells stand below the first one where rows are drawn, so that wide tables can be read.
    pub under: Vec<String>,
    /// Rows that are headings: those whose field has this value, such as `kind=summary`.
    pub heading: Option<String>,
    /// Only rows whose field has this value, or has another (`kind!=summary`).
    pub only: Option<String>,
    /// The table is for spreadsheets alone, instead of the ones that are read.
    pub sheet: bool,
    /// The heading of a card.
    pub title: Option<String>,
    /// A word about a card: `chosen if id = /scenarios.chosen`.
    pub mark: Option<String>,
    /// What a card is about.
    pub about: Option<String>,
    /// Lines of a card: label and pattern.
    pub lines: Vec<Column>,
}

/// A figure that matters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tile {
    /// What it is.
    pub label: String,
    /// How much: a pattern.
    pub value: String,
    /// What to know about it: patterns; one that names what is not there is left out.
    #[serde(default)]
    pub notes: Vec<String>,
    /// A path to how good it is.
    #[serde(default)]
    pub tone: Option<String>,
}

/// A heading and a pattern.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "BTreeMap<String, String>")]
pub struct Column {
    /// The heading.
    pub title: String,
    /// The pattern.
    pub pattern: String,
}

impl From<BTreeMap<String, String>> for Column {
    fn from(one: BTreeMap<String, String>) -> Self {
        let (title, pattern) = one.into_iter().next().unwrap_or_default();
        Self { title, pattern }
    }
}

/// What of a report is wanted.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// For whom.
    pub audience: Option<String>,
    /// Only these sections.
    pub sections: Vec<String>,
}

/// A section or a reader that a layout does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// What is not there.
    pub what: String,
    /// What is.
    pub hint: String,
}

impl Layout {
    /// Reads a layout. Sections that every plan can have need only be named.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut layout: Self = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        let known = Self::built_in()?;
        for section in &mut layout.sections {
            if section.built_in {
                let found = known.sections.iter().find(|one| one.id == section.id);
                *section = found.cloned().ok_or_else(|| format!("no plan has a section `{}`", section.id))?;
            }
        }
        layout.named.extend(known.named);
        layout.titled.extend(known.titled);
        Ok(layout)
    }

    /// Says what of a choice is not there, and what is.
    pub fn knows(&self, choice: &Choice) -> Result<(), Unknown> {
        let ids: Vec<&str> = self.sections.iter().map(|section| section.id.as_str()).collect();
        if let Some(wrong) = choice.sections.iter().find(|section| !ids.contains(&section.as_str())) {
            let near = nearest(wrong, ids.iter().copied()).map(|near| format!("did you mean `{near}`? "));
            return Err(Unknown {
                what: format!("the report has no section `{wrong}`"),
                hint: format!("{}it has {}", near.unwrap_or_default(), ids.join(", ")),
            });
        }
        match choice.audience.as_ref().filter(|name| !self.audiences.contains_key(*name)) {
            Some(wrong) => {
                let names: Vec<&str> = self.audiences.keys().map(String::as_str).collect();
                Err(Unknown {
                    what: format!("nobody reads as `{wrong}`"),
                    hint: format!("one of {}", names.join(", ")),
                })
            }
            None => Ok(()),
        }
    }

    /// A page for whoever takes a plan over.
    pub fn handoff() -> Result<Self, String> {
        serde_saphyr::from_str(HANDOFF).map_err(|error| error.to_string())
    }

    /// A page about what became of a plan.
    pub fn postmortem() -> Result<Self, String> {
        serde_saphyr::from_str(POSTMORTEM).map_err(|error| error.to_string())
    }

    /// The layout of plans that no template made.
    pub fn built_in() -> Result<Self, String> {
        serde_saphyr::from_str(BUILT_IN).map_err(|error| error.to_string())
    }
}
