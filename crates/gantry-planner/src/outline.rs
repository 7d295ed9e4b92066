//! The work of one project, broken down: what a model answers when it is asked for it, and what knowledge gives without
//! one. Estimates are in hours of work, money is in the currency of the plan.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::days::Days;
use crate::fill::Words;
use crate::kind::{Counted, Size, many};
use crate::knowledge::{Knowledge, Needs, Stage, Task, Three, Unit};

/// What is known about a request when its work is broken down.
#[derive(Clone, Debug, Serialize)]
pub struct Given {
    /// The thing, as a noun phrase with its article.
    pub what: String,
    /// Where it happens.
    pub place: Option<String>,
    /// Who wants it.
    pub client: Option<String>,
    /// For whom it is.
    pub users: Option<String>,
    /// A stated amount with its unit.
    pub quantity: Option<String>,
    /// When it has to be done, in words.
    pub deadline: Option<String>,
    /// What it may cost, in words.
    pub budget: Option<String>,
    /// How big it is.
    pub size: Size,
    /// What it may cost, in euro.
    pub budget_eur: Option<f64>,
    /// What such a thing usually costs, in euro, where that is known.
    pub price_eur: Option<f64>,
    /// How long it may take, in days of the calendar.
    pub days: Option<f64>,
    /// How many of something the request speaks of.
    pub counted: Vec<Counted>,
    /// What of the things that such requests are often about it is about.
    pub topics: Vec<String>,
    /// The request.
    pub request: String,
    /// How much of the plan's currency one euro is.
    pub per_eur: f64,
    /// The public is involved.
    pub public: bool,
    /// How many work on it, when that was said.
    pub team: Option<u32>,
    /// What of the things that people often do for themselves it is, if any.
    pub matter: Option<String>,
}

/// The work of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// Who does the work.
    pub roles: Vec<OutlineRole>,
    /// Its parts, in order.
    pub phases: Vec<OutlinePhase>,
    /// What may go wrong.
    pub risks: Vec<OutlineRisk>,
}

/// Someone who does some of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutlineRole {
    /// Its name, a slug.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// How many.
    pub count: u32,
    /// What an hour of one costs.
    pub rate: f64,
}

/// A part of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutlinePhase {
    /// Its name, a slug.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// What it is for.
    pub purpose: String,
    /// What is there after it.
    pub deliverable: String,
    /// What is reached then; none when nobody decides about it.
    pub milestone: Option<Milestone>,
    /// What is done, in order.
    pub tasks: Vec<OutlineTask>,
}

/// The end of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Milestone {
    /// What is reached.
    pub title: String,
    /// What somebody decides there.
    pub decision: String,
}

/// A piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutlineTask {
    /// Its name, a slug.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// Its parts, each handed over on its own, for when it takes months.
    #[serde(default)]
    pub stages: Vec<Stage>,
    /// The work that it goes along with, if any: where both have parts, each part of that waits for the one beside the
    /// part before it.
    #[serde(default)]
    pub beside: String,
    /// What exactly is done.
    pub detail: String,
    /// Who answers for it.
    pub role: String,
    /// Who else works on it.
    #[serde(default)]
    pub with: Vec<String>,
    /// Hours of work at best, most likely and at worst.
    pub hours: Three,
    /// What it waits for.
    #[serde(default)]
    pub after: Vec<String>,
    /// What is there afterwards.
    pub output: String,
    /// How one sees that it is done.
    pub done_when: String,
    /// What it costs beside the work.
    #[serde(default)]
    pub costs: Vec<OutlineCost>,
    /// What may go wrong with it, by id.
    #[serde(default)]
    pub risks: Vec<String>,
    /// It is a part of what happens on the day that was named, not of getting ready for it.
    #[serde(default)]
    pub on_the_day: bool,
}

/// What something costs beside the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutlineCost {
    /// What for.
    pub name: String,
    /// How much, at best, most likely and at worst.
    pub amount: Three,
    /// It is for things that are used up.
    #[serde(default)]
    pub material: bool,
}

/// What may go wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutlineRisk {
    /// Its name, a slug.
    pub id: String,
    /// What happens.
    pub title: String,
    /// What it means.
    pub effect: String,
    /// How likely it is, from 0 to 1.
    pub probability: f64,
    /// How bad it is, from 1 to 5.
    pub impact: u8,
    /// How much longer it takes then, in hours of work.
    pub hours: Three,
    /// How much more it costs then.
    pub cost: Three,
    /// What is done so that it does not happen, or does less harm.
    pub mitigation: String,
    /// Who watches it: a role.
    pub owner: String,
}

/// What money that was not asked for in the request is uncertain by.
const COST_SPREAD: Three = [0.85, 1.0, 1.3];

impl Outline {
    /// Breaks the work of a request down by what is known about its kind; says which text cannot be filled in.
    pub fn of(knowledge: &Knowledge, given: &Given) -> Result<Self, String> {
        let words = Words::new(knowledge, given);
        if given.size == Size::Household {
            return errands(knowledge, given, &words);
        }
        let kept = Kept::of(knowledge, given);
        let scale = Scale::of(knowledge, given).with_purchases(knowledge, given, &kept);
        let risks_kept: BTreeSet<&str> =
            kept.tasks.values().flat_map(|task| task.risks.iter().map(String::as_str)).collect();
        let mut used: BTreeSet<&str> = BTreeSet::new();
        let mut phases = Vec::new();
        for phase in &knowledge.phases {
            let mut tasks = Vec::new();
            for task in phase.tasks.iter().filter(|task| kept.tasks.contains_key(task.id.as_str())) {
                used.extend(std::iter::once(task.role.as_str()).chain(task.with.iter().map(String::as_str)));
                tasks.push(outline_task(task, &kept, &scale, &words)?);
            }
            if tasks.is_empty() {
                continue;
            }
            phases.push(OutlinePhase {
                id: phase.id.clone(),
                title: words.fill(&phase.title)?,
                purpose: words.fill(&phase.purpose)?,
                deliverable: words.fill(&phase.deliverable)?,
                milestone: Some(Milestone {
                    title: words.fill(&phase.milestone)?,
                    decision: words.fill(&phase.decision)?,
                }),
                tasks,
            });
        }
        let risks = knowledge.risks.iter().filter(|risk| risks_kept.contains(risk.id.as_str())).map(|risk| {
            used.insert(&risk.owner);
            Ok(OutlineRisk {
                id: risk.id.clone(),
                title: words.fill(&risk.title)?,
                effect: words.fill(&risk.effect)?,
                probability: risk.probability,
                impact: risk.impact,
                hours: scale.hours(risk.delay, 0.5),
                cost: risk.cost_share.map(|share| round_money(share * scale.budget)),
                mitigation: words.fill(&risk.mitigation)?,
                owner: risk.owner.clone(),
            })
        });
        let risks: Vec<OutlineRisk> = risks.collect::<Result<_, String>>()?;
        let roles = knowledge.roles.iter().filter(|role| used.contains(role.id.as_str())).map(|role| {
            Ok(OutlineRole {
                id: role.id.clone(),
                title: words.fill(&role.title)?,
                count: role.count.get(&given.size).copied().unwrap_or(1).min(given.team.unwrap_or(u32::MAX)).max(1),
                rate: round_rate(role.rate[1] * given.per_eur),
            })
        });
        Ok(Self { roles: roles.collect::<Result<_, String>>()?, phases, risks })
    }

    /// All pieces of work.
    pub fn tasks(&self) -> impl Iterator<Item = &OutlineTask> {
        self.phases.iter().flat_map(|phase| &phase.tasks)
    }
}

fn outline_task(task: &Task, kept: &Kept<'_>, scale: &Scale, words: &Words) -> Result<OutlineTask, String> {
    let costs = task.costs.iter().map(|cost| {
        Ok(OutlineCost {
            name: words.fill(&cost.name)?,
            amount: COST_SPREAD.map(|spread| round_money(cost.share * scale.bought * spread)),
            material: cost.kind == "material",
        })
    });
    let stages = task
        .stages
        .iter()
        .map(|stage| Ok(Stage { title: words.fill(&stage.title)?, done_when: words.fill(&stage.done_when)? }));
    Ok(OutlineTask {
        id: task.id.clone(),
        title: words.fill(&task.title)?,
        stages: stages.collect::<Result<_, String>>()?,
        beside: if kept.tasks.contains_key(task.beside.as_str()) { task.beside.clone() } else { String::new() },
        detail: words.fill(&task.detail)?,
        role: task.role.clone(),
        with: task.with.clone(),
        hours: scale.hours(task.estimate, task.grows),
        after: kept.after(task),
        output: words.fill(&task.output)?,
        done_when: words.fill(&task.done_when)?,
        costs: costs.collect::<Result<_, String>>()?,
        risks: task.risks.clone(),
        on_the_day: kept.on_the_day.contains(&task.id),
    })
}

/// What one person does: a few errands, no committee. Nobody is paid for them; what is bought has its price.
fn errands(knowledge: &Knowledge, given: &Given, words: &Words) -> Result<Outline, String> {
    let counts = &knowledge.household.counts;
    let times = |per: &[String]| -> f64 {
        let named = per.iter().filter_map(|name| counts.get(name));
        named.map(|count| many(count, &given.counted, &given.request)).product()
    };
    let unit = hours_in(knowledge.household.unit, 8.0);
    let on_the_day = Days::built_in().errands(&knowledge.kind, given.matter.as_deref());
    let tasks = knowledge.household.tasks.iter().map(|task| {
        let hours = unit * times(&task.per);
        let costs = task.costs.iter().map(|cost| {
            let times = times(&cost.per) * given.per_eur;
            Ok(OutlineCost {
                name: words.fill(&cost.name)?,
                amount: cost.eur.map(|eur| round_money(eur * times)),
                material: cost.kind == "material",
            })
        });
        Ok(OutlineTask {
            id: task.id.clone(),
            title: words.fill(&task.title)?,
            stages: Vec::new(),
            beside: String::new(),
            detail: words.fill(&task.detail)?,
            role: "you".to_owned(),
            with: Vec::new(),
            hours: task.estimate.map(|n| (n * hours * 100.0).round() / 100.0),
            after: task.after.clone(),
            output: words.fill(&task.output)?,
            done_when: words.fill(&task.done_when)?,
            costs: costs.collect::<Result<_, String>>()?,
            risks: task.risks.clone(),
            on_the_day: on_the_day.contains(&task.id),
        })
    });
    let phase = OutlinePhase {
        id: "steps".to_owned(),
        title: "Steps".to_owned(),
        purpose: given.what.clone(),
        deliverable: given.what.clone(),
        milestone: None,
        tasks: tasks.collect::<Result<_, String>>()?,
    };
    let you = OutlineRole { id: "you".to_owned(), title: "You".to_owned(), count: 1, rate: 0.0 };
    Ok(Outline { roles: vec![you], phases: vec![phase], risks: Vec::new() })
}

/// The tasks that make sense for a request.
struct Kept<'a> {
    tasks: BTreeMap<&'a str, &'a Task>,
    all: BTreeMap<&'a str, &'a Task>,
    on_the_day: &'a [String],
}

impl<'a> Kept<'a> {
    fn of(knowledge: &'a Knowledge, given: &Given) -> Self {
        let fits = |task: &&Task| {
            let sized = task.sizes.as_ref().is_none_or(|sizes| sizes.contains(&given.size));
            let about = task.topics.is_empty() || task.topics.iter().any(|topic| given.topics.contains(topic));
            sized
                && about
                && match task.needs {
                    None => true,
                    Some(Needs::Place) => given.place.is_some() || knowledge.physical,
                    Some(Needs::Physical) => knowledge.physical,
                    Some(Needs::People) => given.public,
                    Some(Needs::Money) => given.budget_eur.is_some(),
                }
        };
        let all: BTreeMap<&str, &Task> = knowledge.tasks().map(|task| (task.id.as_str(), task)).collect();
        let tasks = knowledge.tasks().filter(fits).map(|task| (task.id.as_str(), task)).collect();
        Self { tasks, all, on_the_day: Days::built_in().tasks(&knowledge.kind) }
    }

    /// What a task waits for: where something that it waits for is left out, what that waited for.
    fn after(&self, task: &Task) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut stack: Vec<&str> = task.after.iter().rev().map(String::as_str).collect();
        while let Some(id) = stack.pop() {
            if self.tasks.contains_key(id) {
                if !found.iter().any(|known| known == id) {
                    found.push(id.to_owned());
                }
            } else if let Some(left_out) = self.all.get(id) {
                stack.extend(left_out.after.iter().rev().map(String::as_str));
            }
        }
        found
    }
}

/// How big the project is, compared with the one that the estimates of the file are for.
struct Scale {
    factor: f64,
    hours: f64,
    /// What everything costs, in the currency of the plan.
    budget: f64,
    /// What purchases are shares of.
    bought: f64,
}

/// Things are bought for so much of what something costs, however much work it is.
const BOUGHT_SHARE_MIN: f64 = 0.25;

impl Scale {
    fn of(knowledge: &Knowledge, given: &Given) -> Self {
        let points: Vec<(f64, f64)> =
            Size::ALL.iter().filter_map(|size| knowledge.size.get(size)).map(|at| (at.budget, at.days)).collect();
        let here = knowledge.size.get(&given.size);
        let swapped: Vec<(f64, f64)> = points.iter().map(|(budget, days)| (*days, *budget)).collect();
        // What is known of the thing itself counts first: neither little money nor little time makes it smaller.
        let usual = given.price_eur.map(|price| between(&points, price));
        let days = match (usual, given.days) {
            (Some(usual), Some(days)) => Some(usual.max(days)),
            (usual, days) => usual.or(days),
        };
        let days = days.or_else(|| given.budget_eur.map(|budget| between(&points, budget)));
        let days = days.or(here.map(|here| here.days)).unwrap_or(180.0);
        let budget = given.price_eur.or(given.budget_eur).or_else(|| given.days.map(|days| between(&swapped, days)));
        let budget = budget.or(here.map(|here| here.budget)).unwrap_or(100_000.0);
        let small = knowledge.size.get(&Size::Small).map_or(days, |small| small.days);
        Self {
            factor: (days / small).clamp(0.01, 200.0),
            hours: hours_in(knowledge.unit, knowledge.hours_per_day),
            budget: budget * given.per_eur,
            bought: budget * given.per_eur,
        }
    }

    /// Where it is known what the whole costs, what is bought is what the work leaves of it.
    fn with_purchases(self, knowledge: &Knowledge, given: &Given, kept: &Kept<'_>) -> Self {
        let Some(price) = given.price_eur else { return self };
        let rate = |id: &String| knowledge.roles.iter().find(|role| role.id == *id).map_or(0.0, |role| role.rate[1]);
        let tasks = || knowledge.tasks().filter(|task| kept.tasks.contains_key(task.id.as_str()));
        let work: f64 = tasks()
            .map(|task| {
                let people: f64 = std::iter::once(&task.role).chain(&task.with).map(rate).sum();
                self.hours(task.estimate, task.grows)[1] * people
            })
            .sum();
        let shares: f64 = tasks().flat_map(|task| &task.costs).map(|cost| cost.share).sum();
        if shares <= 0.0 {
            return self;
        }
        let left = (price - work).max(price * BOUGHT_SHARE_MIN);
        Self { bought: left / shares * given.per_eur, ..self }
    }

    fn hours(&self, estimate: Three, grows: f64) -> Three {
        let times = self.factor.powf(grows) * self.hours;
        estimate.map(|n| round_hours(n * times))
    }
}

fn hours_in(unit: Unit, per_day: f64) -> f64 {
    match unit {
        Unit::Hour => 1.0,
        Unit::Day => per_day,
        Unit::Week => per_day * 5.0,
    }
}

/// A value between known points, on a scale on which ten times as much is one step.
fn between(points: &[(f64, f64)], at: f64) -> f64 {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return at };
    if at <= first.0 {
        return first.1;
    }
    for pair in points.windows(2) {
        let ((low, from), (high, to)) = (pair[0], pair[1]);
        if at <= high && low > 0.0 && from > 0.0 && high > low {
            let share = (at / low).ln() / (high / low).ln();
            return (from.ln() + share * (to.ln() - from.ln())).exp();
        }
    }
    last.1
}

/// Nobody estimates to the minute: a few minutes, quarters of an hour, then hours, then half days.
fn round_hours(hours: f64) -> f64 {
    let step = match hours {
        h if h < 1.0 => 0.05,
        h if h < 4.0 => 0.25,
        h if h < 40.0 => 1.0,
        _ => 4.0,
    };
    ((hours / step).round() * step).max(0.05)
}

/// Two digits that count.
pub(crate) fn round_money(amount: f64) -> f64 {
    if amount < 1.0 {
        return amount.max(0.0).round();
    }
    let step = 10f64.powf(amount.log10().floor() - 1.0).max(1.0);
    (amount / step).round() * step
}

fn round_rate(rate: f64) -> f64 {
    if rate < 20.0 { (rate * 2.0).round() / 2.0 } else { rate.round() }
}
