//! What a text says, with certainty, without a model.
//!
//! [`read`] takes a sentence or a page and gives a [`Brief`]: what is asked for, money, times, places, amounts, people, demands
//! and success criteria, and what is left out. Every fact carries the bytes of the words it was read from. Nothing is guessed:
//! what the words do not say stays empty, and [`Brief::missing`] asks for it.
//!
//! The readers below work on one list of tokens (`tokens.rs`) cut into sentences (`page.rs`). Places come first, because they say
//! which dollar `$` is and when summer begins.

use std::ops::Range;

use jiff::civil::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

mod tokens; // in reading order
mod page;
mod words;
mod gazetteer;
mod places;
mod anchor;
mod currency;
mod money;
mod role;
mod dates;
mod korean_dates;
mod lengths;
mod times;
mod amounts;
mod people;
mod success;
mod demands;
mod request;
mod subject;
mod missing;
pub mod change;

use page::Page;

/// What a text says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    /// The language of the text.
    pub locale: Locale,
    /// A short headline.
    pub title: Said,
    /// The thing asked for, as a noun phrase with its article.
    pub what: Said,
    /// The verb that asks for it: open, build, establish.
    pub verb: Option<Said>,
    /// What is to be done, as a verb phrase, where the thing alone does not say it: wash my car, apply for a visa.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deed: Option<String>,
    /// The sentence that says the goal.
    pub goal: Said,
    /// All amounts of money.
    pub money: Vec<Money>,
    /// The one total.
    pub budget: Option<Money>,
    /// All dates and lengths of time that concern the project.
    pub times: Vec<Time>,
    /// The day by which the whole project must be done.
    pub deadline: Option<Date>,
    /// The days on which it happens, where it happens on days rather than being done by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// The day on which the whole project starts.
    pub start: Option<Date>,
    /// How long the whole project may take.
    pub horizon: Option<Length>,
    /// All places named, the main one first.
    pub places: Vec<Place>,
    /// Where it is.
    pub place: Option<Place>,
    /// The ISO code of the country it is in.
    pub country: Option<String>,
    /// The IANA time zone of the place.
    pub zone: Option<String>,
    /// The ISO code of the currency: that of the budget, or else of the country.
    pub currency: Option<String>,
    /// All other quantities.
    pub amounts: Vec<Amount>,
    /// Who wants it, for whom, and how many work on it.
    pub people: People,
    /// What must, must not or should rather be.
    pub demands: Vec<Demand>,
    /// Stated success criteria.
    pub success: Vec<Said>,
    /// What the client says is there already.
    pub has: Vec<Said>,
    /// What is not said and should be asked.
    pub missing: Vec<Missing>,
}

/// The language of a text, by the script of its letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Locale {
    /// English, and all that is not Korean.
    En,
    /// Korean.
    Ko,
}

/// Words of the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The words, without emphasis and with single blanks.
    pub text: String,
    /// Their bytes in the text.
    pub span: Range<usize>,
}

/// A value and the words it was read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact<T> {
    /// The value.
    pub value: T,
    /// The bytes of the words.
    pub span: Range<usize>,
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Money {
    /// The amount; the upper end of a range.
    pub amount: Decimal,
    /// The lower end of a range.
    pub from: Option<Decimal>,
    /// The ISO code of the currency, where the text or its place says it.
    pub currency: Option<String>,
    /// What it is for.
    pub role: MoneyRole,
    /// The bytes of the words.
    pub span: Range<usize>,
}

/// What an amount of money is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MoneyRole {
    /// The total of the project.
    Budget,
    /// A part of the total: a year, a phase, a reserve.
    Part,
    /// The most it may cost.
    Limit,
    /// The price of one thing.
    Price,
    /// All else: revenues, markets, the same amount in another currency.
    Other,
}

/// A date or a length of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Time {
    /// What it is.
    pub kind: TimeKind,
    /// The first day it may mean.
    pub earliest: Option<Date>,
    /// The last day it may mean.
    pub latest: Option<Date>,
    /// The length of a horizon.
    pub length: Option<Length>,
    /// Whether the text is firm about it.
    pub hard: bool,
    /// The bytes of the words.
    pub span: Range<usize>,
}

/// What a time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeKind {
    /// Something is done by then.
    Deadline,
    /// Something starts then.
    Start,
    /// Something takes so long.
    Horizon,
    /// Something happens then.
    Moment,
}

/// The days on which something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// The first of them.
    pub from: Date,
    /// The last of them.
    pub to: Date,
    /// Whether it takes all of them; else it happens on some day among them.
    pub all: bool,
}

/// A length of time in whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Length {
    /// How many; the upper end of a range.
    pub count: u32,
    /// The lower end of a range.
    pub from: Option<u32>,
    /// Of what.
    pub unit: Unit,
    /// Whether it may be more: `10–15+ years`.
    pub open: bool,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
    /// Days.
    Days,
    /// Weeks.
    Weeks,
    /// Months.
    Months,
    /// Years.
    Years,
}

impl Unit {
    /// The unit's name, as it is serialised.
    pub fn word(self) -> &'static str {
        match self {
            Self::Minutes => "minutes",
            Self::Hours => "hours",
            Self::Days => "days",
            Self::Weeks => "weeks",
            Self::Months => "months",
            Self::Years => "years",
        }
    }
}

impl Length {
    /// The length in days, with months of 30.4375 and years of 365.25 days.
    pub fn days(self) -> f64 {
        let unit = match self.unit {
            Unit::Minutes => 1.0 / 1440.0,
            Unit::Hours => 1.0 / 24.0,
            Unit::Days => 1.0,
            Unit::Weeks => 7.0,
            Unit::Months => 30.4375,
            Unit::Years => 365.25,
        };
        f64::from(self.count) * unit
    }
}

/// A place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The name as written.
    pub name: String,
    /// How wide it is.
    pub kind: PlaceKind,
    /// The ISO code of its country; none for places in several.
    pub country: Option<String>,
    /// The bytes of the name.
    pub span: Range<usize>,
}

/// How wide a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// A town or a part of one.
    City,
    /// A part of a country, or of the world.
    Region,
    /// A country.
    Country,
}

/// A quantity with its unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// The value; the upper end of a range.
    pub value: Decimal,
    /// The lower end of a range.
    pub from: Option<Decimal>,
    /// The other sides of `12.7 km × 12.7 km`.
    pub sides: Vec<Decimal>,
    /// The unit, or the things counted.
    pub unit: String,
    /// The bytes of the words.
    pub span: Range<usize>,
}

/// The people of a brief.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct People {
    /// Who wants it.
    pub client: Option<Said>,
    /// For whom it is.
    pub users: Option<Said>,
    /// How many work on it.
    pub team: Option<Fact<u32>>,
}

/// Something that must, must not or should rather be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demand {
    /// `C1`, `C2`, … in the order of the text.
    pub id: String,
    /// How it demands.
    pub kind: DemandKind,
    /// Its words.
    pub text: String,
    /// The amount in [`Brief::money`] that it limits.
    pub money: Option<usize>,
    /// The time in [`Brief::times`] that it limits.
    pub time: Option<usize>,
    /// Its bytes.
    pub span: Range<usize>,
}

/// How a demand demands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DemandKind {
    /// It must be so.
    #[default]
    Must,
    /// It must not be so.
    MustNot,
    /// It should rather be so.
    Prefer,
}

/// Something that is not said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What is not said.
    pub topic: Topic,
    /// What to ask.
    #[serde(flatten)]
    pub ask: Question,
}

/// What a brief should say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// What it may cost.
    Budget,
    /// Where it is.
    Place,
    /// When it is done.
    Time,
    /// Who works on it.
    Team,
    /// When it has worked.
    Success,
    /// What must and must not be.
    Constraints,
}

/// A question with its default and its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What to ask.
    pub question: Text,
    /// What a plan takes without an answer.
    pub default: Text,
    /// Why it matters.
    pub why: Text,
}

/// A text in each language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// In English.
    pub en: String,
    /// In Korean.
    pub ko: String,
}

impl Text {
    /// The text in a language.
    pub fn in_locale(&self, locale: Locale) -> &str {
        match locale {
            Locale::En => &self.en,
            Locale::Ko => &self.ko,
        }
    }
}

/// Reads what a text says. Relative times ("next year", "before summer") count from `today`.
pub fn read(text: &str, today: Date) -> Brief {
    let page = Page::new(text);
    let places = places::read(&page);
    let south = places.country.is_some_and(|country| country.south);
    let money = money::read(&page, places.country);
    let budget = money::budget(&money);
    let times = times::read(&page, today, south);
    let mut taken: Vec<Range<usize>> =
        money.iter().map(|money| money.span.clone()).chain(times.all.iter().map(|time| time.span.clone())).collect();
    taken.sort_by_key(|span| span.start);
    let amounts = amounts::read(&page, &taken);
    let people = people::read(&page);
    let success = success::read(&page);
    let first = |holds: &dyn Fn(&Time) -> bool| times.all.iter().position(holds);
    let due = first(&|time| time.latest.is_some() && time.latest == times.deadline);
    let long = first(&|time| time.length.is_some() && time.length == times.horizon);
    let bound: Vec<usize> = due.into_iter().chain(long).collect();
    let demands =
        demands::read(&page, &success, &demands::Limits { budget, money: &money, times: &times.all, bound: &bound });
    let subject = subject::read(&page);
    let told = missing::Told {
        budget: budget.is_some(),
        place: places.main.is_some(),
        time: times.deadline.is_some_and(|day| day >= today) || times.horizon.is_some(),
        team: people.team.is_some(),
        success: !success.is_empty(),
        constraints: demands.iter().any(|demand| !taken.contains(&demand.span)),
    };
    let budget = budget.map(|at| money[at].clone());
    let nothing = || Said { text: String::new(), span: 0..0 };
    let (title, what, verb, deed, goal) = subject.map_or_else(
        || (nothing(), nothing(), None, None, nothing()),
        |subject| (subject.title, subject.what, subject.verb, subject.deed, subject.goal),
    );
    let country = places.country.map(|country| country.code.clone());
    let own = budget.as_ref().and_then(|budget| budget.currency.clone());
    Brief {
        locale: locale(text),
        title,
        what,
        verb,
        deed,
        goal,
        budget,
        deadline: times.deadline,
        held: times.held,
        start: times.start,
        horizon: times.horizon,
        times: times.all,
        missing: missing::read(&page, &told),
        places: places.all,
        place: places.main,
        currency: own.or_else(|| places.country.map(|country| country.currency.clone())),
        country,
        zone: places.zone,
        money,
        amounts,
        has: people::has(&page),
        people,
        demands,
        success,
    }
}

/// Korean where at least a third of the letters are Hangul: Korean texts carry many Latin names.
fn locale(text: &str) -> Locale {
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    let hangul = text.chars().filter(|letter| tokens::is_hangul(*letter)).count();
    if hangul > 0 && hangul * 3 >= letters { Locale::Ko } else { Locale::En }
}
