//! What people often do for themselves, and what things usually cost: found by the words of a request.

use serde::{Deserialize, Serialize};

use super::head::{Head, Zone};
use super::{Kind, Size};
use crate::knowledge::{Count, Knowledge, Matter, Typical};
use crate::phrase::Phrase;
use crate::words::words;

/// How many of something a request speaks of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// What it calls them.
    pub what: String,
    /// How many.
    pub count: f64,
}

impl Kind {
    /// What people often do for themselves, if that is what a text asks for: nothing in it speaks of more than a few people.
    pub fn matter(&self, text: &str, counted: &[Counted]) -> Option<&Matter> {
        /// More guests than this are no family's.
        const FAMILY_MAX: f64 = 400.0;
        let few = |matter: &&Matter| matter.counts.values().all(|count| many(count, counted, text) <= FAMILY_MAX);
        let small = super::size::by_words(self, text).is_none_or(|step| step < f64::from(Size::Medium as u8));
        let asked = Asked::of(text);
        let mut matters = self.knowledge.household.matters.iter().filter(|matter| small && few(matter));
        matters.find(|matter| asked.finds(&matter.of, Zone::Lead) && !asked.finds(&matter.not, Zone::Lead))
    }

    /// What of the things that its requests are often about this one is about, at most two.
    pub fn topics(&self, text: &str) -> Vec<String> {
        /// A request that is about everything is about nothing more than the others.
        const TOPICS_MAX: usize = 2;
        let asked = Asked::of(text);
        let about = self
            .knowledge
            .topics
            .iter()
            .filter(|topic| asked.finds(&topic.of, Zone::Lead) && !asked.finds(&topic.not, Zone::Lead));
        about.take(TOPICS_MAX).map(|topic| topic.id.clone()).collect()
    }

    /// Everything that is known about it, narrowed to one of the things that people often do for themselves.
    pub fn knowledge_of(&self, matter: Option<&str>) -> &Knowledge {
        let own = self.matters.iter().find(|(id, _)| Some(id.as_str()) == matter);
        own.map_or(&self.knowledge, |(_, knowledge)| knowledge)
    }

    /// What the thing that a text asks for usually costs, in euro, where that is known.
    pub fn price(&self, text: &str, counted: &[Counted]) -> Option<f64> {
        let price = self.typical(text)?;
        let said = counted.iter().find(|counted| price.per.iter().any(|unit| ends_with(&counted.what, unit)));
        Some(price.eur * said.map_or(price.usual, |said| said.count))
    }

    /// Tells whether that price is for one of what an amount counts.
    pub fn prices_by(&self, text: &str, amount: &str) -> bool {
        self.typical(text).is_some_and(|price| price.per.iter().any(|unit| ends_with(amount, unit)))
    }

    fn typical(&self, text: &str) -> Option<&Typical> {
        let asked = Asked::of(text);
        let fits = |price: &&Typical| asked.finds(&price.of, Zone::Head) && !asked.finds(&price.not, Zone::Lead);
        self.knowledge.prices.iter().find(fits)
    }
}

/// What the steps of a matter usually cost, in euro.
pub(crate) fn usual(matter: &Matter, counted: &[Counted], text: &str) -> f64 {
    let times = |per: &[String]| -> f64 {
        per.iter().filter_map(|name| matter.counts.get(name)).map(|count| many(count, counted, text)).product()
    };
    let costs = matter.tasks.iter().flat_map(|task| &task.costs);
    costs.map(|cost| cost.eur[1] * times(&cost.per)).sum()
}

/// How many of something there are: as a request says, else as usual.
pub(crate) fn many(count: &Count, counted: &[Counted], text: &str) -> f64 {
    let said = counted.iter().find(|counted| count.of.iter().any(|unit| ends_with(&counted.what, unit)));
    let text = text.to_lowercase();
    let word = || count.said.iter().find(|(word, _)| text.contains(word.as_str())).map(|(_, many)| *many);
    said.map(|said| said.count).or_else(word).unwrap_or(count.usual)
}

/// Tells whether `wedding guests` are guests.
fn ends_with(what: &str, unit: &str) -> bool {
    what.strip_suffix(unit).is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

/// The words of a text, and where it says what it wants.
struct Asked {
    words: Vec<crate::words::Word>,
    head: Head,
}

impl Asked {
    fn of(text: &str) -> Self {
        let words = words(text);
        Self { head: Head::of(&words), words }
    }

    /// Tells whether one of these words, or several of them, stand where it says what is wanted, or nearer to it.
    fn finds(&self, phrases: &[String], least: Zone) -> bool {
        let mut forms = phrases.iter().flat_map(|phrase| forms(phrase));
        forms.any(|form| form.find(&self.words).iter().any(|place| self.head.zone(place) >= least))
    }
}

/// How requests write a phrase of a price or a matter: one of the thing, or several.
pub(super) fn forms(phrase: &str) -> [Phrase; 2] {
    let words = phrase.replace('-', " ");
    let several = format!("{words}s");
    [words, several].map(|words| Phrase::of_thing(&words))
}
