//! How people call a plan: its id, its number, the beginning of its id, or `@last`.

use gantry_core::suggest::nearest;

use crate::{PlanNo, StoreError};

/// How many plans an error names at most.
pub const CANDIDATES_MAX: usize = 10;

/// How many of the newest plans are compared with a name that fits none.
pub const COMPARED_MAX: usize = 1_000;

/// How many plans with a similar name are suggested.
const SUGGESTED_MAX: usize = 3;

/// What every minted id begins with, so that people need not type it.
const MINTED: &str = "plan-";

/// A plan as people call it. An id that fits in whole comes before everything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// `@last`: the plan that was created last; plans inside plans do not count.
    Last,
    /// Digits: the plan's number.
    No(PlanNo),
    /// Anything else: the beginning of an id.
    Prefix(String),
}

impl Reference {
    /// Reads what someone typed. Nothing is not the beginning of every name, but no name at all.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        let text = text.trim();
        match text.parse() {
            _ if text.is_empty() => Err(StoreError::Invalid {
                what: "an empty text names no plan; name one by its id, its number, the beginning of its id, or @last"
                    .to_owned(),
            }),
            _ if text == "@last" => Ok(Self::Last),
            Ok(no) => Ok(Self::No(PlanNo(no))),
            Err(_) => Ok(Self::Prefix(text.to_owned())),
        }
    }

    /// The error for a name that fits no plan, with the plans that are called almost like it.
    pub fn unknown<'a>(text: &str, ids: impl IntoIterator<Item = &'a str>) -> StoreError {
        let text = text.trim();
        let is_near = |id: &&str| {
            let bare = id.strip_prefix(MINTED).unwrap_or(id);
            // The letters that were drawn at the end of a minted id are not what people mistype.
            let beginning = bare.rsplit_once('-').map_or(bare, |(beginning, _)| beginning);
            nearest(text, [id, bare, beginning, &id[..id.len() - bare.len() + beginning.len()]]).is_some()
        };
        let near = ids.into_iter().take(COMPARED_MAX).filter(is_near).take(SUGGESTED_MAX);
        StoreError::NotFound { what: format!("plan `{text}`"), candidates: near.map(str::to_owned).collect() }
    }

    /// Returns the beginnings of ids that a text stands for.
    pub fn prefixes(text: &str) -> [String; 2] {
        [text.to_owned(), format!("{MINTED}{text}")]
    }
}
