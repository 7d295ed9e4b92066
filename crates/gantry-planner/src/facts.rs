//! What is certain about a request before anybody is asked: what it says, what kind of project it is, how big, and what
//! is assumed. Computed once, given to every step; no step says these numbers otherwise.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use jiff::civil::{Date, Weekday};
use serde::{Deserialize, Serialize};

use crate::assemble::Setting;
use crate::brief::change::Changed;
use crate::brief::{self, Brief, Demand, DemandKind, Held, Locale, TimeKind};
use crate::days::Days;
use crate::demanded;
use crate::fill::thousands;
use crate::kind::{Counted, Kind, Kinds, Size, many, size_of, usual};
use crate::knowledge::{Calendar, Count, Knowledge};
use crate::outline::{Given, Outline, round_money};
use crate::screen::{self, Screening, Verdict};

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// What is to be planned, in somebody's own words.
    pub request: String,
    /// The day it is asked on.
    pub today: Date,
    /// Documents that came with it.
    #[serde(default)]
    pub context: Vec<Document>,
    /// What was changed about it later, each in words; later ones count more.
    #[serde(default)]
    pub changes: Vec<String>,
    /// Who goes on although screening said no.
    #[serde(default, rename = "override")]
    pub overridden: Option<Override>,
}

/// Who goes on although screening said no, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// Who.
    pub by: String,
    /// In which role.
    pub role: String,
    /// Why.
    pub why: String,
}

/// The names of what is asked for, as templates name it.
pub const WISHES: [&str; 5] = ["request", "today", "context", "changes", "override"];

impl Asked {
    /// A request without anything beside it.
    pub fn new(request: impl Into<String>, today: Date) -> Self {
        Self { request: request.into(), today, context: Vec::new(), changes: Vec::new(), overridden: None }
    }

    /// The request with everything that was changed about it.
    pub fn words(&self) -> String {
        let mut words = self.request.clone();
        for change in &self.changes {
            words.push_str("\n\nChange: ");
            words.push_str(change);
        }
        words
    }
}

/// What is certain about a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The request as it was made.
    pub request: String,
    /// The language to answer in, in English.
    pub language: String,
    /// The day it was made.
    pub today: Date,
    /// What people call it.
    pub title: String,
    /// The thing, as a noun phrase with its article.
    pub what: String,
    /// What is to be done, as a verb phrase, where the thing alone does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deed: Option<String>,
    /// The thing in two or three words.
    pub the_thing: String,
    /// Where it is.
    pub place: Option<String>,
    /// Who wants it.
    pub client: Option<String>,
    /// For whom it is.
    pub users: Option<String>,
    /// What kind of project it is.
    pub kind: String,
    /// The kind in words.
    pub kind_title: String,
    /// The kind was told by words of the request; else it is the most general one.
    pub kind_was_told: bool,
    /// How big it is.
    pub size: Size,
    /// It happens at places.
    pub physical: bool,
    /// When work begins.
    pub start: Date,
    /// When it has to be done.
    pub deadline: Option<Date>,
    /// The days on which it happens, where what is wanted happens on days rather than being done by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// How long it may take, in days of the calendar.
    pub days: Option<f64>,
    /// What it may cost.
    pub budget: Option<Sum>,
    /// The currency of every amount.
    pub currency: String,
    /// How much of it one euro is, roughly.
    pub per_eur: f64,
    /// The zone of its place in the IANA list.
    pub zone: String,
    /// When people work.
    pub calendar: Calendar,
    /// How many work on it, when that was said.
    pub team_size: Option<u32>,
    /// When it has worked, as it was said.
    pub success: Vec<String>,
    /// How many of something it speaks of.
    #[serde(default)]
    pub counted: Vec<Counted>,
    /// What of the things that people often do for themselves it is, if any.
    #[serde(default)]
    pub matter: Option<String>,
    /// What of the things that requests of its kind are often about it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// What amounts that nobody named are taken from.
    #[serde(default)]
    pub priced_by: PricedBy,
    /// What such a thing usually costs, where that is known.
    #[serde(default)]
    pub price: Option<Sum>,
    /// How long the whole may take, in days of the calendar, where the request says how long rather than until when.
    #[serde(default)]
    pub horizon_days: Option<f64>,
    /// What must, must not or should rather be.
    pub demands: Vec<Wanted>,
    /// What was not said, and what is taken for it.
    pub assumed: Vec<Assumed>,
    /// What to look after, because the subject is sensitive.
    pub safeguards: Vec<String>,
    /// Documents that came with the request.
    pub context: Vec<Document>,
}

/// What amounts that nobody named are taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PricedBy {
    /// What such things usually cost.
    Price,
    /// The prices of single steps.
    Steps,
    /// What projects of this kind and size usually cost.
    #[default]
    Size,
    /// The stated money, because nothing else is known: shares of it, which say nothing about whether it is enough.
    Budget,
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    /// How much.
    pub amount: f64,
    /// The ISO code of its currency.
    pub currency: String,
}

/// A demand of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// `D1`, `D2`, …
    pub id: String,
    /// Its words.
    pub text: String,
    /// What tells whether it is met: `budget`, `deadline` and `team` the schedule, `place` and `quantity` the work, or
    /// nothing but its words.
    pub measured_by: Option<String>,
    /// Whether it must be, must not be, or should rather be.
    #[serde(default)]
    pub kind: DemandKind,
}

/// Something that is taken for granted, because it was not said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assumed {
    /// What it is about.
    pub about: String,
    /// What was not said.
    pub question: String,
    /// What is taken for it.
    pub assumed: String,
}

/// A document that came with the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Where it is from.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Why a request cannot be planned.
#[derive(Clone, Debug, PartialEq)]
pub enum Unplannable {
    /// It must not, or cannot, be planned.
    Screened(Box<Screening>),
    /// What is known does not fit together.
    Broken(String),
}

impl std::fmt::Display for Unplannable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Screened(screening) => write!(out, "{} {}", screening.reason, screening.hint),
            Self::Broken(why) => out.write_str(why),
        }
    }
}

/// The kind of a request that no words tell the kind of: what costs no more than a family can pay is that of a person.
fn general(text: &str, brief: &Brief) -> &'static str {
    /// Whoever begins so founds something, whatever it is called.
    const FOUNDS: [&str; 4] = ["open", "launch", "found", "sell"];
    /// A longer text is about more than one person's wishes.
    const SHORT: usize = 200;
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    if FOUNDS.contains(&first.as_str()) {
        return "business-launch";
    }
    let rate = brief.budget.as_ref().and_then(|money| per_eur(money.currency.as_deref().unwrap_or("EUR")));
    let eur = brief.budget.as_ref().and_then(|money| f64::try_from(money.amount).ok()).zip(rate);
    let dear = brief.budget.is_some() && eur.is_none_or(|(amount, rate)| amount / rate > POCKET_EUR);
    if text.len() > SHORT || dear { "organisation-change" } else { "personal-household" }
}

/// How many requests are remembered: as many as are planned at once.
const RECENT_MAX: usize = 256;
/// A request that is longer, or comes with documents, is read anew: memory stays small.
const RECENT_BYTES_MAX: usize = 8_192;

/// What was certain about the last requests: whoever makes a plan of one reads it, and so does the plan's first step.
static RECENT: Mutex<VecDeque<(Asked, Facts)>> = Mutex::new(VecDeque::new());

impl Facts {
    /// Reads what is asked for. The same request has the same facts, so those of the last ones are not read again.
    pub fn of(asked: &Asked) -> Result<Self, Unplannable> {
        let is_short = asked.request.len() <= RECENT_BYTES_MAX && asked.changes.is_empty() && asked.context.is_empty();
        if !is_short {
            return Self::read_anew(asked);
        }
        let recent = || RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = recent().iter().rev().find(|(of, _)| of == asked) {
            return Ok(known.clone());
        }
        let facts = Self::read_anew(asked)?;
        let mut recent = recent();
        if recent.len() >= RECENT_MAX {
            recent.pop_front();
        }
        recent.push_back((asked.clone(), facts.clone()));
        Ok(facts)
    }

    fn read_anew(asked: &Asked) -> Result<Self, Unplannable> {
        let (text, today) = (asked.words(), asked.today);
        let screening = screen::screen(&text);
        let refused = matches!(screening.verdict, Verdict::Refuse | Verdict::Unusable);
        let overridden = asked.overridden.as_ref().filter(|_| refused && screening.may_be_overridden());
        if refused && overridden.is_none() {
            return Err(Unplannable::Screened(Box::new(screening)));
        }
        let mut brief = brief::read(&asked.request, today);
        let changed: Vec<Changed> =
            asked.changes.iter().map(|change| brief::change::apply(&mut brief, change, today)).collect();
        let kinds = Kinds::built_in().map_err(|error| Unplannable::Broken(error.to_string()))?;
        let told = kinds.of(&asked.request).best().map(|best| best.kind.clone());
        let name = told.as_deref().unwrap_or_else(|| general(&asked.request, &brief));
        let kind = kinds.get(name).ok_or_else(|| Unplannable::Broken(format!("nothing is known about `{name}`")))?;
        let mut facts = Self::read(&text, today, &brief, kind);
        for (at, (change, what)) in asked.changes.iter().zip(&changed).enumerate() {
            let replaced = changed[at + 1..].contains(what);
            let measured_by = match what {
                Changed::Budget if !replaced => Some("budget".to_owned()),
                Changed::Time if !replaced => Some("deadline".to_owned()),
                Changed::Budget | Changed::Time | Changed::Other => None,
            };
            let id = format!("D{}", facts.demands.len() + 1);
            facts.demands.push(Wanted { id, text: change.clone(), measured_by, kind: DemandKind::Must });
        }
        let mut safeguards = screening.safeguards;
        safeguards.extend(overridden.map(|over| {
            format!("Screening said no ({}) {} went on as {}: {}", screening.reason, over.by, over.role, over.why)
        }));
        let context = asked.context.iter().map(|document| vetted(document, &mut safeguards)).collect();
        Ok(Self { kind_was_told: told.is_some(), safeguards, context, ..facts })
    }

    fn read(text: &str, today: Date, brief: &Brief, kind: &Kind) -> Self {
        let stated = brief.budget.as_ref().and_then(|money| money.currency.clone());
        // Who writes Korean and names no place is in Korea.
        let (local, zone) = match brief.locale {
            Locale::En => ("EUR", "UTC"),
            Locale::Ko => ("KRW", "Asia/Seoul"),
        };
        let currency = stated
            .or_else(|| brief.currency.clone())
            .unwrap_or_else(|| if brief.place.is_some() { "EUR" } else { local }.to_owned());
        let rate = per_eur(&currency);
        let amount = brief.budget.as_ref().and_then(|money| f64::try_from(money.amount).ok());
        let horizon = brief.horizon.map(brief::Length::days);
        let counted = counted(brief);
        // A currency without a rate is used as it is, and its size is not known.
        let stated = amount.zip(rate).map(|(amount, rate)| amount / rate);
        let matter = kind.matter(text, &counted).filter(|matter| {
            let most = (USUAL_TIMES * usual(matter, &counted, text)).max(POCKET_EUR);
            stated.is_none_or(|stated| stated <= most)
        });
        let matter = matter.map(|matter| matter.id.clone());
        let happens = Days::built_in().know(kind.name(), matter.as_deref());
        let held = if happens { days_of(brief).filter(|held| held.to >= today) } else { None };
        let begun = brief.start.filter(|start| *start >= today && held.is_none_or(|held| held.from != *start));
        let start = begun.unwrap_or_else(|| next_workday(today));
        let until = brief.deadline.map(|deadline| f64::from((deadline - start).get_days()));
        let days = until.filter(|days| *days > 0.0).or(horizon);
        // Whoever wants to spend ten times as much wants something else than what is known.
        let is_usual = |price: &f64| stated.is_none_or(|stated| stated < USUAL_TIMES * price);
        let price = kind.price(text, &counted).filter(|price| matter.is_none() && is_usual(price));
        let size = match matter {
            Some(_) => Size::Household,
            // What a thing costs says how big it is; what somebody wants to spend does not.
            None => size_of(kind, price.or(stated), horizon, text),
        };
        let knowledge = kind.knowledge_of(matter.as_deref());
        let priced_by = match (size, price, stated) {
            (Size::Household, _, _) => PricedBy::Steps,
            (_, Some(_), _) => PricedBy::Price,
            (_, None, Some(_)) => PricedBy::Budget,
            (_, None, None) => PricedBy::Size,
        };
        let mut assumed: Vec<Assumed> = brief
            .missing
            .iter()
            .map(|missing| Assumed {
                about: serde_json::to_value(missing.topic)
                    .ok()
                    .and_then(|topic| Some(topic.as_str()?.to_owned()))
                    .unwrap_or_default(),
                question: missing.ask.question.in_locale(brief.locale).to_owned(),
                assumed: missing.ask.default.in_locale(brief.locale).to_owned(),
            })
            .collect();
        let price = price.map(|eur| Sum { amount: round_money(eur * rate.unwrap_or(1.0)), currency: currency.clone() });
        assumed.extend(basis(priced_by, price.as_ref(), &knowledge.size[&size].what));
        if size == Size::Household {
            assumed.extend(usual_counts(knowledge, &counted, text));
        }
        assumed.extend(unknown_place(brief));
        let mut demands = demands(brief, text);
        demands.extend(said_of_it(brief, demands.len()));
        Self {
            request: text.to_owned(),
            language: match brief.locale {
                Locale::En => "English",
                Locale::Ko => "Korean",
            }
            .to_owned(),
            today,
            title: brief.title.text.clone(),
            what: brief.what.text.clone(),
            deed: brief.deed.clone(),
            the_thing: knowledge.the_thing.clone(),
            place: brief.place.as_ref().map(|place| place.name.clone()),
            client: brief.people.client.as_ref().map(|client| client.text.clone()),
            users: brief.people.users.as_ref().map(|users| users.text.clone()),
            kind: kind.name().to_owned(),
            kind_title: knowledge.title.clone(),
            kind_was_told: true,
            size,
            physical: knowledge.physical,
            start,
            deadline: brief.deadline.or_else(|| held.map(|held| held.to)).or_else(|| after(start, horizon)),
            held,
            days,
            budget: amount.map(|amount| Sum { amount, currency: currency.clone() }),
            per_eur: rate.unwrap_or(1.0),
            currency,
            zone: brief.zone.clone().unwrap_or_else(|| if brief.place.is_some() { "UTC" } else { zone }.to_owned()),
            calendar: match size {
                Size::Household => knowledge.household.calendar.unwrap_or(knowledge.calendar),
                _ => knowledge.calendar,
            },
            counted,
            matter,
            topics: kind.topics(text),
            priced_by,
            price,
            horizon_days: horizon,
            team_size: brief.people.team.as_ref().map(|team| team.value),
            success: brief.success.iter().map(|said| said.text.clone()).collect(),
            demands,
            assumed,
            safeguards: Vec::new(),
            context: Vec::new(),
        }
    }

    /// The day by which it was to be done had passed when it was asked for.
    pub fn is_past_due(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline < self.today)
    }

    /// What is known about its kind.
    pub fn knowledge(&self) -> Result<&'static Knowledge, String> {
        let kinds = Kinds::built_in().map_err(|error| error.to_string())?;
        let kind = kinds.get(&self.kind).ok_or_else(|| format!("nothing is known about `{}`", self.kind))?;
        Ok(kind.knowledge_of(self.matter.as_deref()))
    }

    /// What knowledge needs to break the work down.
    pub fn given(&self) -> Given {
        let rated = per_eur(&self.currency).is_some();
        Given {
            what: self.what.clone(),
            place: self.place.clone(),
            client: self.client.clone(),
            users: self.users.clone(),
            quantity: None,
            deadline: self.deadline.map(|deadline| deadline.to_string()),
            budget: self.budget.as_ref().map(|budget| format!("{} {}", budget.amount, budget.currency)),
            size: self.size,
            budget_eur: self.budget.as_ref().filter(|_| rated).map(|budget| budget.amount / self.per_eur),
            price_eur: self.price.as_ref().map(|price| price.amount / self.per_eur),
            days: self.horizon_days,
            counted: self.counted.clone(),
            topics: self.topics.clone(),
            request: self.request.clone(),
            per_eur: self.per_eur,
            public: self.size != Size::Household,
            team: self.team_size,
            matter: self.matter.clone(),
        }
    }

    /// The errands that are counted by an amount of the request.
    pub(crate) fn counted_errands(&self, amount: &str) -> Vec<String> {
        let Ok(knowledge) = self.knowledge() else { return Vec::new() };
        if self.size != Size::Household {
            return Vec::new();
        }
        let amount = amount.to_lowercase();
        let household = &knowledge.household;
        let by =
            household.counts.iter().filter(|(_, count)| count.of.iter().any(|unit| amount.ends_with(unit.as_str())));
        let by: Vec<&String> = by.map(|(name, _)| name).collect();
        let counts = |per: &[String]| per.iter().any(|name| by.contains(&name));
        let errands =
            household.tasks.iter().filter(|task| counts(&task.per) || task.costs.iter().any(|cost| counts(&cost.per)));
        errands.map(|task| task.id.clone()).collect()
    }

    /// Tells whether the usual price was counted by an amount of the request.
    pub(crate) fn is_priced_by(&self, amount: &str) -> bool {
        let kinds = Kinds::built_in().ok();
        let kind = kinds.and_then(|kinds| kinds.get(&self.kind)).filter(|_| self.priced_by == PricedBy::Price);
        kind.is_some_and(|kind| kind.prices_by(&self.request, &amount.to_lowercase()))
    }

    /// The work, by what is known about its kind alone.
    pub fn outline(&self) -> Result<Outline, String> {
        let mut outline = Outline::of(self.knowledge()?, &self.given())?;
        demanded::add_work(&mut outline, &self.demands, self.size, self.today);
        Ok(outline)
    }

    /// What a plan needs beside its work.
    pub fn setting(&self) -> Setting {
        Setting {
            start: self.start,
            calendar: self.calendar,
            zone: self.zone.clone(),
            days_off: Vec::new(),
            currency: self.currency.clone(),
            budget: self.budget.as_ref().map(|budget| budget.amount),
            deadline: self.deadline,
            held: self.held,
            success: self.success.clone(),
            team: self.team_size,
        }
    }
}

/// The days on which an event happens; one that starts on some day lasts as long as was said.
fn days_of(brief: &Brief) -> Option<Held> {
    let starts = brief.start.filter(|_| brief.deadline.is_none());
    let begun = || {
        let from = starts?;
        let days = brief.horizon.map(|length| length.days() - 1.0).filter(|days| *days > 0.0);
        let to = days.map_or(Some(from), |days| after(from, Some(days)))?;
        Some(Held { from, to, all: true })
    };
    brief.held.or_else(begun)
}

/// How many of something a request speaks of; days and nights of its own length, too.
fn counted(brief: &Brief) -> Vec<Counted> {
    let of = |what: &str, count: f64| Counted { what: what.to_owned(), count };
    let amounts = brief.amounts.iter().filter_map(|amount| {
        let count = f64::try_from(amount.value).ok().filter(|count| *count > 0.0)?;
        Some(of(&amount.unit.to_lowercase(), count))
    });
    let days = brief.horizon.map(|length| length.days().round()).filter(|days| *days >= 1.0);
    let stay = days.into_iter().flat_map(|days| [of("days", days), of("nights", (days - 1.0).max(1.0))]);
    let team = brief.people.team.iter().map(|team| of("people", f64::from(team.value)));
    amounts.chain(stay).chain(team).collect()
}

/// What amounts rest on, where the request does not say it.
fn basis(priced_by: PricedBy, price: Option<&Sum>, what: &str) -> Option<Assumed> {
    let (question, assumed) = match priced_by {
        PricedBy::Steps => return None,
        PricedBy::Price => {
            let price = price?;
            let amount = thousands(&price.amount.to_string());
            ("What does such a thing usually cost?", format!("About {amount} {} in all, whatever is to be spent on it.", price.currency))
        }
        PricedBy::Size => ("How big is it?", format!("As big as usual for {what}.")),
        PricedBy::Budget => (
            "Is the stated money enough?",
            "Nothing here knows what such a thing costs: purchases are shares of the stated money, so offers have to show whether it is enough.".to_owned(),
        ),
    };
    Some(Assumed { about: "price".to_owned(), question: question.to_owned(), assumed })
}

/// A place about which nothing is known here.
fn unknown_place(brief: &Brief) -> Option<Assumed> {
    let unknown = |place: &&brief::Place| brief.country.is_none() && place.kind == brief::PlaceKind::City;
    let place = brief.place.as_ref().filter(unknown)?;
    let currency = brief.currency.as_deref().unwrap_or("EUR");
    Some(Assumed {
        about: "place".to_owned(),
        question: format!("Where is {}?", place.name),
        assumed: format!("In no country that is known here: amounts are in {currency}, hours are those of UTC."),
    })
}

/// How many there are of what steps are counted by, where the request does not say it.
fn usual_counts(knowledge: &Knowledge, counted: &[Counted], text: &str) -> Vec<Assumed> {
    let said = |count: &&Count| {
        let without = Count { usual: -1.0, ..(*count).clone() };
        many(&without, counted, text) > 0.0
    };
    let unsaid = knowledge.household.counts.values().filter(|count| !said(count));
    unsaid
        .filter_map(|count| {
            let what = count.of.first()?;
            Some(Assumed {
                about: "quantity".to_owned(),
                question: format!("How many {what}?"),
                assumed: format!("{}, as is usual.", count.usual),
            })
        })
        .collect()
}

/// What a family may want to spend on something that usually costs nearly nothing.
const POCKET_EUR: f64 = 10_000.0;

/// A usual price says nothing about something for which so many times as much is to be spent.
const USUAL_TIMES: f64 = 10.0;

/// A document as steps may read it: one that gives orders to whoever reads it is named, and its text is kept back.
fn vetted(document: &Document, safeguards: &mut Vec<String>) -> Document {
    let Some(order) = screen::orders(&document.text) else { return document.clone() };
    safeguards.push(format!(
        "The document `{}` gives orders to whoever plans (“{order}”): nothing in it was followed, and its text was left out.",
        document.name
    ));
    Document { name: document.name.clone(), text: "(left out: it gives orders to whoever reads it)".to_owned() }
}

/// What the request demands; how many work on it is a demand like others.
fn demands(brief: &Brief, text: &str) -> Vec<Wanted> {
    let mut all: Vec<(usize, Wanted)> = Vec::new();
    for demand in &brief.demands {
        let measured_by = measured_by(demand, brief).map(str::to_owned);
        let wanted = Wanted { id: String::new(), text: demand.text.clone(), measured_by, kind: demand.kind };
        all.push((demand.span.start, wanted));
    }
    if let Some(team) = &brief.people.team {
        let within = |demand: &&Demand| demand.span.start <= team.span.start && team.span.end <= demand.span.end;
        match brief.demands.iter().position(|demand| within(&demand)) {
            Some(at) if all[at].1.measured_by.is_none() => all[at].1.measured_by = Some("team".to_owned()),
            _ => {
                let text = text.get(team.span.clone()).unwrap_or_default().to_owned();
                let measured_by = Some("team".to_owned());
                all.push((team.span.start, Wanted { id: String::new(), text, measured_by, kind: DemandKind::Must }));
            }
        }
    }
    all.sort_by_key(|(start, _)| *start);
    let numbered = all.into_iter().zip(1..).map(|((_, wanted), number)| Wanted { id: format!("D{number}"), ..wanted });
    numbered.collect()
}

/// How many amounts of the first sentence are followed.
const AMOUNTS_MAX: usize = 3;

/// Where it is to be and how much of it: what is said without demanding is wanted, too.
fn said_of_it(brief: &Brief, already: usize) -> Vec<Wanted> {
    let want = |text: &str, by: &str| (text.to_owned(), by.to_owned());
    let place = brief.place.iter().map(|place| want(&place.name, "place"));
    let within = |amount: &&brief::Amount| brief.goal.span.contains(&amount.span.start) && amount.unit != "%";
    let amount = |amount: &brief::Amount| want(&format!("{} {}", amount.value, amount.unit), "quantity");
    let amounts = brief.amounts.iter().filter(within).take(AMOUNTS_MAX).map(amount);
    let numbered = place.chain(amounts).zip(already + 1..);
    numbered
        .map(|((text, by), number)| Wanted {
            id: format!("D{number}"),
            text,
            measured_by: Some(by),
            kind: DemandKind::Must,
        })
        .collect()
}

/// What of the schedule tells whether a demand is met: it is the budget, or the time that everything may take.
fn measured_by(demand: &Demand, brief: &Brief) -> Option<&'static str> {
    let money = demand.money.and_then(|at| brief.money.get(at));
    let time = demand.time.and_then(|at| brief.times.get(at));
    let is_whole = time.is_some_and(|time| match time.kind {
        TimeKind::Deadline | TimeKind::Moment => brief.deadline.is_some() && time.latest == brief.deadline,
        TimeKind::Horizon => brief.horizon.is_some() && time.length == brief.horizon,
        TimeKind::Start => false,
    });
    if is_whole {
        return Some("deadline");
    }
    (money.is_some() && money == brief.budget.as_ref()).then_some("budget")
}

fn after(start: Date, days: Option<f64>) -> Option<Date> {
    #[expect(clippy::cast_possible_truncation, reason = "a number of days that a person wrote")]
    let days = days?.ceil().min(100_000.0) as i64;
    start.checked_add(jiff::Span::new().try_days(days).ok()?).ok()
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
