//! How big a project is: by its budget and duration on the table of its kind, and by its words where those are unknown.

use super::Kind;
use super::head::{Head, Zone};
use crate::knowledge::Extent;
use crate::phrase::Phrase;
use crate::words::{Word, words};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::LazyLock;

/// How big a project is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// One person or family.
    Household,
    /// A handful of people.
    Small,
    /// A company project.
    Medium,
    /// A programme with many contractors.
    Large,
    /// A national or international undertaking.
    Mega,
}

impl Size {
    /// All sizes, from the smallest on.
    pub const ALL: [Self; 5] = [Self::Household, Self::Small, Self::Medium, Self::Large, Self::Mega];

    /// Returns how many steps lie between two sizes.
    pub fn steps_to(self, other: Self) -> usize {
        (self as usize).abs_diff(other as usize)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Household => "household",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
            Self::Mega => "mega",
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Money says more about size than time does: a small thing may take long.
const BUDGET_WEIGHT: f64 = 3.0;
const DAYS_WEIGHT: f64 = 1.0;
/// Words count beside a duration, and not at all beside a budget.
const WORDS_WEIGHT: f64 = 2.0;
/// Where one person can pay for the small size of a kind out of a year's wage, what one person wants is a household's.
const WAGE_EUR: f64 = 40_000.0;

/// Where the small size of a kind costs less, what says nothing about its size is one person's.
const POCKET_EUR: f64 = 10_000.0;

/// Words that tell a size, from household to mega.
const TELLING: [&[&str]; 5] = [
    &[
        "my|our kitchen|garden|flat|room|bike|commute|home|house|bathroom|roof|attic|living",
        "kitchen",
        "bathroom",
        "attic",
        "tree house",
        "birthday",
        "grandmother*",
        "thesis",
        "novel",
        "my band",
        "kilos",
        "weekend in",
        "hiking",
        "hobby",
        "myself",
        "script",
        "blog post",
        "poem",
        "cup of",
        "at home",
        "living room",
        "우리 집",
        "혼자",
        "취미",
    ],
    &[
        "workshop",
        "shop",
        "restaurant",
        "café|cafe",
        "bakery",
        "village",
        "neighbourhood|neighborhood",
        "club",
        "startup",
        "community",
        "report",
        "local",
        "family",
        "friends",
        "school",
        "move to",
        "moving to",
        "동네",
        "가게",
        "카페",
        "마을",
    ],
    &[
        "city",
        "municipal*",
        "company",
        "hotel",
        "university",
        "regional",
        "region",
        "factory",
        "hospital",
        "castle",
        "platform",
        "museum",
        "harbour|harbor",
        "district*",
        "expedition|exploration",
        "도시",
        "회사",
        "대학",
        "지역",
    ],
    &[
        "national*",
        "nationwide",
        "country",
        "ministry",
        "ministers",
        "government*",
        "federal",
        "countrywide",
        "airport",
        "olympics",
        "metropolis",
        "society",
        "thousands of",
        "people in",
        "province",
        "oblast",
        "army",
        "parliament",
        "eu",
        "국가",
        "정부",
        "전국",
    ],
    &[
        "global*",
        "world",
        "world's",
        "worldwide",
        "humanity",
        "civilization|civilisation",
        "international consortium",
        "moon",
        "mars",
        "planet",
        "continent*",
        "hyperscale",
        "trillion",
        "billion people",
        "space based",
        "hemisphere*",
        "across the .. strait|channel|atlantic",
        "세계",
        "글로벌",
        "인류",
    ],
];

/// Words that make a project one step smaller.
const SMALLER: &[&str] = &["pilot", "small", "modest", "tiny", "low budget", "simple", "시범"];
/// Words that make a project one step bigger.
const BIGGER: &[&str] = &["massive", "huge", "gigantic", "extreme", "thousands of people", "대규모"];

struct Told {
    telling: Vec<Vec<Phrase>>,
    smaller: Vec<Phrase>,
    bigger: Vec<Phrase>,
}

static TOLD: LazyLock<Told> = LazyLock::new(|| {
    let phrases = |texts: &[&str]| texts.iter().map(|text| Phrase::new(text)).collect::<Vec<_>>();
    Told {
        telling: TELLING.iter().map(|texts| phrases(texts)).collect(),
        smaller: phrases(SMALLER),
        bigger: phrases(BIGGER),
    }
});

/// Says how big a project of a kind is.
///
/// A budget and a duration each have a place on the kind's table, between two sizes on a log scale; the size nearest to
/// their weighted mean wins, where money counts three times as much as time. Without a budget the words count too, and
/// without either they decide alone: the biggest size that a word tells ("my kitchen", "national", "global", "between Spain
/// and Morocco"), first in the verb and its object, then in the leading sentences, then anywhere; a step less for "pilot"
/// and a step more for "massive". Where no leading word tells, "I" and "my" mean one person; where none does at all, small.
pub fn size_of(kind: &Kind, budget_eur: Option<f64>, days: Option<f64>, text: &str) -> Size {
    let budget = budget_eur.filter(|budget| *budget > 0.0).map(|budget| place(kind, budget, |scale| scale.budget));
    let days = days.filter(|days| *days > 0.0).map(|days| place(kind, days, |scale| scale.days));
    let said = by_words(kind, text);
    let (sum, weights) = match (budget, days) {
        (Some(budget), Some(days)) => (budget * BUDGET_WEIGHT + days * DAYS_WEIGHT, BUDGET_WEIGHT + DAYS_WEIGHT),
        (Some(budget), None) => (budget, 1.0),
        (None, Some(days)) => match said {
            // What one person does may take long, and stays one person's.
            Some(said) if said < 0.5 => (said, 1.0),
            Some(said) => (days * DAYS_WEIGHT + said * WORDS_WEIGHT, DAYS_WEIGHT + WORDS_WEIGHT),
            None => (days, 1.0),
        },
        (None, None) => {
            (said.unwrap_or(if kind.knowledge.size[&Size::Small].budget <= POCKET_EUR { 0.0 } else { 1.0 }), 1.0)
        }
    };
    let nearest = sum / weights;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 4")]
    let step = nearest.round().clamp(0.0, 4.0) as usize;
    Size::ALL[step]
}

/// Where a value stands on a kind's table, from 0 (household) to 4 (mega), by the logarithm between two sizes.
fn place(kind: &Kind, value: f64, of: impl Fn(&Extent) -> f64) -> f64 {
    let marks: Vec<f64> = kind.knowledge.size.values().map(|scale| of(scale).ln()).collect();
    let value = value.ln();
    let mut step = 0.0;
    for pair in marks.windows(2) {
        if value < pair[1] {
            return step + ((value - pair[0]) / (pair[1] - pair[0])).max(0.0);
        }
        step += 1.0;
    }
    step
}

/// The size that the words of a text tell, from 0 (household) to 4 (mega).
pub(super) fn by_words(kind: &Kind, text: &str) -> Option<f64> {
    let all = words(text);
    let head = Head::of(&all);
    let lead = head.words(&all, Zone::Lead);
    let any = |phrases: &[Phrase], words: &[Word]| phrases.iter().any(|phrase| !phrase.find(words).is_empty());
    let told =
        |words: &[Word]| (0..5_u8).rev().find(|step| any(&TOLD.telling[usize::from(*step)], words)).map(f64::from);
    let person = all
        .iter()
        .any(|word| matches!(word.text.as_str(), "i" | "my" | "me" | "i'm" | "나는" | "저는" | "제가" | "내"));
    let alone = if kind.knowledge.size[&Size::Small].budget <= WAGE_EUR { 0.0 } else { 1.0 };
    let between = between_places(text, &all).then_some(f64::from(Size::Large as u8));
    let step = match told(&head.words(&all, Zone::Head)).or(between).or_else(|| told(&lead)) {
        Some(step) if !(person && step <= 1.0) => step,
        Some(step) => step.min(alone),
        None if person => alone,
        None => told(&all)?,
    };
    let change = f64::from(i8::from(any(&TOLD.bigger, &lead)) - i8::from(any(&TOLD.smaller, &lead)));
    Some((step + change).clamp(0.0, 4.0))
}

/// Returns whether something joins two places: "between Denmark and England".
fn between_places(text: &str, words: &[Word]) -> bool {
    let capital = |word: &Word| text[word.range.clone()].chars().next().is_some_and(char::is_uppercase);
    words.windows(4).any(|four| {
        let joins = matches!(four[0].text.as_str(), "between" | "connecting" | "linking" | "joining");
        joins && four[2].text == "and" && capital(&four[1]) && capital(&four[3])
    })
}
