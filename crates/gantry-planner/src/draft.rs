//! From a sentence to a plan, without a model: read, screened, broken down, put together.

use jiff::civil::{Date, Weekday};
use serde::Serialize;
use serde_json::Value;

use crate::assemble::{self, Setting};
use crate::brief::{self, Brief};
use crate::kind::{Kinds, Size, size_of};
use crate::knowledge::Knowledge;
use crate::outline::{Given, Outline};
use crate::screen::{self, Screening, Verdict};

/// What was made of a request.
#[derive(Clone, Debug, Serialize)]
pub struct Draft {
    /// Whether it may be planned, and with which care.
    pub screening: Screening,
    /// What it says.
    pub brief: Brief,
    /// What kind of project it is.
    pub kind: String,
    /// The kind was told by words of the request; else it is the most general one.
    pub kind_was_told: bool,
    /// How big it is.
    pub size: Size,
    /// The work.
    pub outline: Outline,
    /// The plan, as it is exported.
    pub plan: Value,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq)]
pub enum NoDraft {
    /// It must not, or cannot, be planned.
    Screened(Box<Screening>),
    /// What is known does not fit together.
    Broken(String),
}

/// The kind of a request that no words tell the kind of.
const GENERAL: &str = "organisation-change";

impl Draft {
    /// Plans a request that comes in on this day.
    pub fn of(text: &str, today: Date) -> Result<Self, NoDraft> {
        let screening = screen::screen(text);
        if matches!(screening.verdict, Verdict::Refuse | Verdict::Unusable) {
            return Err(NoDraft::Screened(Box::new(screening)));
        }
        let brief = brief::read(text, today);
        let kinds = Kinds::built_in().map_err(|error| NoDraft::Broken(error.to_string()))?;
        let ranked = kinds.of(text);
        let told = ranked.best().map(|best| best.kind.clone());
        let kind = told.clone().unwrap_or_else(|| GENERAL.to_owned());
        let known = kinds.get(&kind).ok_or_else(|| NoDraft::Broken(format!("nothing is known about `{kind}`")))?;
        let means = Means::of(&brief, today);
        let size = size_of(known, means.budget_eur, means.days, text);
        let given = given(&brief, size, &means);
        let outline = Outline::of(&known.knowledge, &given).map_err(NoDraft::Broken)?;
        let setting = setting(&brief, &known.knowledge, &means, today);
        let plan = assemble::plan(&outline, &setting).map_err(NoDraft::Broken)?;
        Ok(Self { screening, brief, kind, kind_was_told: told.is_some(), size, outline, plan })
    }
}

/// Money and time that a request grants.
struct Means {
    currency: String,
    per_eur: f64,
    budget: Option<f64>,
    budget_eur: Option<f64>,
    start: Date,
    deadline: Option<Date>,
    days: Option<f64>,
}

impl Means {
    fn of(brief: &Brief, today: Date) -> Self {
        let stated = brief.budget.as_ref().and_then(|money| money.currency.clone());
        let currency = stated.or_else(|| brief.currency.clone()).unwrap_or_else(|| "EUR".to_owned());
        let per_eur = per_eur(&currency);
        // A currency without a rate is used as it is, and its size is not known.
        let budget = brief.budget.as_ref().and_then(|money| f64::try_from(money.amount).ok());
        let start = brief.start.filter(|start| *start >= today).unwrap_or_else(|| next_workday(today));
        let horizon = brief.horizon.map(brief::Length::days);
        let until = brief.deadline.map(|deadline| f64::from((deadline - start).get_days()));
        Self {
            budget_eur: budget.zip(per_eur).map(|(budget, rate)| budget / rate),
            per_eur: per_eur.unwrap_or(1.0),
            budget,
            start,
            deadline: brief.deadline,
            days: until.filter(|days| *days > 0.0).or(horizon),
            currency,
        }
    }
}

fn given(brief: &Brief, size: Size, means: &Means) -> Given {
    Given {
        what: brief.what.text.clone(),
        place: brief.place.as_ref().map(|place| place.name.clone()),
        client: brief.people.client.as_ref().map(|client| client.text.clone()),
        users: brief.people.users.as_ref().map(|users| users.text.clone()),
        quantity: None,
        deadline: means.deadline.map(|deadline| deadline.to_string()),
        budget: means.budget.map(|budget| format!("{budget} {}", means.currency)),
        size,
        budget_eur: means.budget_eur,
        days: means.days,
        per_eur: means.per_eur,
        public: size != Size::Household,
    }
}

fn setting(brief: &Brief, knowledge: &Knowledge, means: &Means, today: Date) -> Setting {
    let in_time = |deadline: &Date| *deadline > today;
    let from_horizon = means.days.filter(|_| means.deadline.is_none() && brief.horizon.is_some()).and_then(|days| {
        #[expect(clippy::cast_possible_truncation, reason = "a number of days that a person wrote")]
        let days = days.ceil().min(100_000.0) as i64;
        means.start.checked_add(jiff::Span::new().try_days(days).ok()?).ok()
    });
    Setting {
        start: means.start,
        calendar: knowledge.calendar,
        zone: brief.zone.clone().unwrap_or_else(|| "UTC".to_owned()),
        days_off: Vec::new(),
        currency: means.currency.clone(),
        budget: means.budget,
        deadline: means.deadline.filter(in_time).or(from_horizon),
        success: brief.success.iter().map(|said| said.text.clone()).collect(),
    }
}

fn next_workday(today: Date) -> Date {
    let mut day = today;
    loop {
        day = day.tomorrow().unwrap_or(day);
        if !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) {
            return day;
        }
    }
}

/// How much of a currency one euro is, roughly.
pub fn per_eur(currency: &str) -> Option<f64> {
    let rates = include_str!("../data/currencies.tsv").lines().filter(|line| !line.starts_with('#'));
    rates.filter_map(|line| line.split_once('\t')).find(|(code, _)| *code == currency)?.1.parse().ok()
}
