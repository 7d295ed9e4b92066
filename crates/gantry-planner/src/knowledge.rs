//! What is known about kinds of projects: one file for each kind, written by people.
//!
//! The files are data (`templates/execution-plan/knowledge`). Whoever makes a plan without a model takes everything from
//! them: phases, tasks, estimates, roles, risks, choices, documents. Texts in them may name what the request said
//! (`{{ place or "the site" }}`).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::kind::Size;

macro_rules! built_in {
    ($($kind:literal),* $(,)?) => {
        /// The files that come with the program: kind and text.
        pub const BUILT_IN: &[(&str, &str)] = &[$((
            $kind,
            include_str!(concat!("../../../templates/execution-plan/knowledge/", $kind, ".yaml")),
        )),*];
    };
}

built_in![
    "business-launch",
    "campaign-policy",
    "construction",
    "creative-work",
    "emergency-response",
    "event",
    "infrastructure-energy",
    "migration",
    "organisation-change",
    "personal-household",
    "physical-product",
    "research-study",
    "software-product",
    "trip",
];

/// Three numbers: at best, most likely, at worst.
pub type Three = [f64; 3];

/// Everything that is known about one kind of project.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "the fields are those of the file, which templates/execution-plan/knowledge/README.md describes"
)]
pub struct Knowledge {
    pub kind: String,
    pub title: String,
    pub about: String,
    pub the_thing: String,
    pub physical: bool,
    pub signals: Signals,
    pub unit: Unit,
    pub hours_per_day: f64,
    pub calendar: Calendar,
    pub size: BTreeMap<Size, Extent>,
    #[serde(default)]
    pub prices: Vec<Typical>,
    #[serde(default)]
    pub topics: Vec<Topic>,
    pub roles: Vec<Role>,
    pub phases: Vec<Phase>,
    pub household: Household,
    pub risks: Vec<Risk>,
    pub assumptions: Vec<Assumption>,
    pub levers: Vec<Lever>,
    pub scenarios: Vec<Scenario>,
    pub stakeholders: Vec<Stakeholder>,
    pub regulation: Regulation,
    pub documents: Documents,
    pub data: Vec<DataItem>,
    pub metrics: Vec<Metric>,
    pub governance: Governance,
    pub swot: Swot,
    pub premise: Premise,
    pub experts: Vec<Expert>,
    pub premortem: Vec<Failure>,
    pub related: Vec<Related>,
    pub questions: Vec<Question>,
    pub pitch: Pitch,
    pub audit: Vec<AuditItem>,
}

/// What estimates are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Hours of work.
    Hour,
    /// Days of work.
    Day,
    /// Weeks of work.
    Week,
}

/// When work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Calendar {
    /// Monday to Friday.
    Office,
    /// Monday to Saturday.
    Site,
    /// Evenings and weekends.
    SpareTime,
    /// Always.
    RoundTheClock,
}

macro_rules! data {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $of:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize, Serialize)]
        #[serde(deny_unknown_fields)]
        #[expect(missing_docs, reason = "the fields are those of the file")]
        pub struct $name { $(pub $field: $of,)* }
    )*};
}

data! {
    /// The words that tell the kind.
    Signals { strong: Vec<String>, weak: Vec<String>, against: Vec<String>, ko: Vec<String> }
    /// How much a size is, for this kind.
    Extent { budget: f64, days: f64, what: String }
    /// Someone who does some of the work.
    Role {
        id: String, title: String, why: String, contract: String, rate: Three, count: BTreeMap<Size, u32>,
        skills: Vec<String>, activities: Vec<String>, equipment: Vec<String>, facility: String, without: String,
    }
    /// A part of the work with an end that someone decides about.
    Phase {
        id: String, title: String, purpose: String, deliverable: String, milestone: String, decision: String,
        tasks: Vec<Task>,
    }
    /// What something costs beside work, as a share of everything.
    CostShare { name: String, share: f64, kind: String }
    /// What may go wrong.
    Risk {
        id: String, area: String, title: String, cause: String, effect: String, likelihood: u8, impact: u8,
        probability: f64, delay: Three, cost_share: Three, warning: String, mitigation: String, fallback: String,
        owner: String,
    }
    /// What such a request usually leaves open.
    Assumption {
        id: String, question: String, assumption: String, why: String, if_wrong: String, check: String, about: String,
    }
    /// A choice that shapes the whole.
    Lever {
        id: String, name: String, question: String, options: Vec<Choice>, tension: String, helps: String,
        hurts: String, importance: String,
    }
    /// One way to choose.
    Choice { name: String, effect: String }
    /// Choices that go together.
    Scenario { id: String, name: String, logic: String, settings: BTreeMap<String, usize>, when: String }
    /// Someone whom it concerns.
    Stakeholder { name: String, interest: String, influence: u8, engagement: String, primary: bool }
    /// What the law and the trade ask for.
    Regulation { permits: Vec<String>, standards: Vec<String>, bodies: Vec<String>, actions: Vec<String> }
    /// What is written, and what is found.
    Documents { create: Vec<Create>, find: Vec<Find> }
    /// A document to write.
    Create { name: String, purpose: String, owner: String, contents: Vec<String>, poor: String, phase: String }
    /// A document to find.
    Find { name: String, purpose: String, r#where: String, access: String, recent: String, phase: String }
    /// Something to find out before the plan is believed.
    DataItem {
        title: String, collect: Vec<String>, simulate: Vec<String>, validate: Vec<String>, why: String, owner: String,
    }
    /// A measure of success.
    Metric { name: String, target: String, how: String, often: String }
    /// Who decides and who looks.
    Governance { bodies: Vec<Body>, escalation: Vec<Escalation>, monitoring: Vec<Watch>, misuse: Vec<Misuse> }
    /// A group that decides.
    Body { name: String, purpose: String, members: Vec<String>, decides: String, meets: String, escalates: String }
    /// Who decides when the first cannot.
    Escalation { issue: String, first: String, then: String, why: String }
    /// What is looked at.
    Watch { what: String, how: String, often: String, owner: String, trigger: String, action: String }
    /// How money or power could be misused.
    Misuse { what: String, against: String }
    /// Strengths, weaknesses, opportunities, threats.
    Swot { strengths: Vec<String>, weaknesses: Vec<String>, opportunities: Vec<String>, threats: Vec<String> }
    /// Attacks on the premise.
    Premise { integrity: Attack, accountability: Attack, spectrum: Attack, cascade: Attack, escalation: Attack }
    /// One of them, with what the owner has to answer.
    Attack { attack: String, question: String }
    /// Someone who knows the trade, and what they would say.
    Expert { title: String, knows: String, critique: Vec<Critique> }
    /// One thing that they would say.
    Critique { issue: String, why: String, fix: String }
    /// How it failed, told from the end.
    Failure {
        title: String, assumption: String, story: String, signs: Vec<String>, tripwire: String, playbook: Vec<String>,
        stop: String, owner: String, likelihood: u8, impact: u8,
    }
    /// A project that was like it.
    Related { name: String, r#where: String, when: String, what: String, lesson: String }
    /// What a reader asks.
    Question { q: String, a: String }
    /// Why one should want it.
    Pitch { hook: String, why_now: String, benefit: String, call: String }
    /// A check against reality.
    AuditItem { item: String, question: String, hint: String }
}

/// A piece of work.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of the file")]
pub struct Task {
    pub id: String,
    pub title: String,
    #[serde(default)]
    pub stages: Vec<Stage>,
    #[serde(default)]
    pub beside: String,
    pub detail: String,
    pub role: String,
    #[serde(default)]
    pub with: Vec<String>,
    pub estimate: Three,
    pub grows: f64,
    #[serde(default)]
    pub after: Vec<String>,
    pub output: String,
    pub done_when: String,
    #[serde(default)]
    pub costs: Vec<CostShare>,
    pub risks: Vec<String>,
    /// The topics that it is for; none is for all.
    #[serde(default)]
    pub topics: Vec<String>,
    #[serde(default)]
    pub sizes: Option<Vec<Size>>,
    #[serde(default)]
    pub needs: Option<Needs>,
}

/// A part of a piece of work that is handed over on its own where the whole takes months.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// What people call it.
    pub title: String,
    /// How one sees that it is done; the last part is done when the whole is.
    #[serde(default)]
    pub done_when: String,
}

/// What has to be the case for a task to make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// It happens somewhere.
    Place,
    /// It has to do with things.
    Physical,
    /// The public is involved.
    People,
    /// Money is involved.
    Money,
}

/// What one person does of it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of the file")]
pub struct Household {
    pub unit: Unit,
    /// When they do it; none is when everybody else works on such things.
    #[serde(default)]
    pub calendar: Option<Calendar>,
    /// What the errands are multiplied by, by name.
    #[serde(default)]
    pub counts: BTreeMap<String, Count>,
    pub tasks: Vec<Errand>,
    /// What people often want, each with steps and prices of its own.
    #[serde(default)]
    pub matters: Vec<Matter>,
}

/// A piece of work of one person.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of the file")]
pub struct Errand {
    pub id: String,
    pub title: String,
    pub detail: String,
    pub estimate: Three,
    /// The counts that the estimate is for one of.
    #[serde(default)]
    pub per: Vec<String>,
    #[serde(default)]
    pub after: Vec<String>,
    pub output: String,
    pub done_when: String,
    #[serde(default)]
    pub costs: Vec<Price>,
    /// What may go wrong with it, by id.
    #[serde(default)]
    pub risks: Vec<String>,
}

/// What is paid for an errand, in euro.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of the file")]
pub struct Price {
    pub name: String,
    pub eur: Three,
    /// The counts that it is paid for each of.
    #[serde(default)]
    pub per: Vec<String>,
    pub kind: String,
}

/// How many there are of something, such as guests.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// What requests call them.
    pub of: Vec<String>,
    /// How many, where nothing says so.
    pub usual: f64,
    /// Words that say how many: `weekend` is two nights.
    #[serde(default)]
    pub said: BTreeMap<String, f64>,
}

/// Something that people often do for themselves.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of the file")]
pub struct Matter {
    pub id: String,
    /// Words that ask for it.
    pub of: Vec<String>,
    /// Words that mean something else.
    #[serde(default)]
    pub not: Vec<String>,
    #[serde(default)]
    pub calendar: Option<Calendar>,
    #[serde(default)]
    pub counts: BTreeMap<String, Count>,
    pub tasks: Vec<Errand>,
    /// What may go wrong, where the register of the kind is about something else.
    #[serde(default)]
    pub risks: Vec<Risk>,
}

/// Something that requests of one kind are about, with work of its own.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of the file")]
pub struct Topic {
    pub id: String,
    /// Words that ask for it.
    pub of: Vec<String>,
    /// Words that mean something else.
    #[serde(default)]
    pub not: Vec<String>,
}

/// What such a thing usually costs in all, in euro, whatever anybody wants to spend.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of the file")]
pub struct Typical {
    /// Words that ask for it.
    pub of: Vec<String>,
    /// Words that mean something else.
    #[serde(default)]
    pub not: Vec<String>,
    pub eur: f64,
    /// What requests call the things that the price is for one of; none where it is for the whole.
    #[serde(default)]
    pub per: Vec<String>,
    /// How many of them there are, where nothing says so.
    #[serde(default = "one")]
    pub usual: f64,
}

fn one() -> f64 {
    1.0
}

impl Knowledge {
    /// Reads the file of a kind, and says everything that is wrong with it.
    pub fn read(kind: &str, text: &str) -> Result<Self, Vec<String>> {
        let knowledge: Self = serde_saphyr::from_str(text).map_err(|error| vec![error.to_string()])?;
        let faults = knowledge.faults(kind);
        if faults.is_empty() { Ok(knowledge) } else { Err(faults) }
    }

    /// The same knowledge, narrowed to something that people often do for themselves.
    #[must_use]
    pub fn narrowed(&self, matter: &Matter) -> Self {
        let mut narrow = self.clone();
        narrow.household = Household {
            unit: self.household.unit,
            calendar: matter.calendar.or(self.household.calendar),
            counts: matter.counts.clone(),
            tasks: matter.tasks.clone(),
            matters: Vec::new(),
        };
        if !matter.risks.is_empty() {
            narrow.risks.clone_from(&matter.risks);
        }
        narrow
    }

    /// All tasks, in order.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.phases.iter().flat_map(|phase| &phase.tasks)
    }

    fn faults(&self, kind: &str) -> Vec<String> {
        let mut faults = Vec::new();
        let roles: BTreeSet<&str> = self.roles.iter().map(|role| role.id.as_str()).collect();
        let risks: BTreeSet<&str> = self.risks.iter().map(|risk| risk.id.as_str()).collect();
        let levers: BTreeSet<&str> = self.levers.iter().map(|lever| lever.id.as_str()).collect();
        let assumptions: BTreeSet<&str> = self.assumptions.iter().map(|assumption| assumption.id.as_str()).collect();
        let mut wrong = |what: String| faults.push(what);
        if self.kind != kind {
            wrong(format!("it says that its kind is `{}`", self.kind));
        }
        for size in Size::ALL {
            match self.size.get(&size) {
                None => wrong(format!("it does not say how much `{size}` is")),
                Some(extent) if !(extent.budget > 0.0 && extent.days > 0.0) => {
                    wrong(format!("budget and days of `{size}` must be more than nothing"));
                }
                Some(_) => {}
            }
        }
        let extents: Vec<&Extent> = self.size.values().collect();
        if !extents.is_sorted_by(|one, next| one.budget < next.budget && one.days < next.days) {
            wrong("each size must cost more and take longer than the one before".to_owned());
        }
        let mut before: BTreeSet<&str> = BTreeSet::new();
        for task in self.tasks() {
            let id = &task.id;
            for role in std::iter::once(&task.role).chain(&task.with).filter(|role| !roles.contains(role.as_str())) {
                wrong(format!("task `{id}` is for the role `{role}`, which it does not have"));
            }
            for other in task.after.iter().filter(|other| !before.contains(other.as_str())) {
                wrong(format!("task `{id}` comes after `{other}`, which is not before it"));
            }
            for risk in task.risks.iter().filter(|risk| !risks.contains(risk.as_str())) {
                wrong(format!("task `{id}` has the risk `{risk}`, which is not in the register"));
            }
            for topic in task.topics.iter().filter(|topic| !self.topics.iter().any(|known| known.id == **topic)) {
                wrong(format!("task `{id}` is for the topic `{topic}`, which is not listed"));
            }
            if !rises(task.estimate) || task.estimate[2] <= 0.0 {
                wrong(format!("the estimate of task `{id}` does not rise"));
            }
            if let Some((_, earlier)) = task.stages.split_last()
                && (earlier.is_empty() || earlier.iter().any(|stage| stage.done_when.is_empty()))
            {
                wrong(format!("task `{id}` has one stage, or a stage before its last that nobody sees the end of"));
            }
            if !task.beside.is_empty() && !self.tasks().any(|other| other.id == task.beside && other.id != *id) {
                wrong(format!("task `{id}` goes along with `{}`, which is no other task", task.beside));
            }
            if !before.insert(id) {
                wrong(format!("there are two tasks `{id}`"));
            }
        }
        let has_work = |topic: &&Topic| self.tasks().any(|task| task.topics.contains(&topic.id));
        for topic in self.topics.iter().filter(|topic| !has_work(topic)) {
            wrong(format!("the topic `{}` has no work of its own", topic.id));
        }
        let whole = (&self.household.tasks, &self.household.counts, &self.risks);
        let own = self.household.matters.iter().map(|own| {
            let register = if own.risks.is_empty() { &self.risks } else { &own.risks };
            (&own.tasks, &own.counts, register)
        });
        for (tasks, counts, register) in own.chain([whole]) {
            errand_faults(tasks, counts, &mut wrong);
            for (task, risk) in tasks.iter().flat_map(|task| task.risks.iter().map(move |risk| (task, risk))) {
                if !register.iter().any(|known| known.id == *risk) {
                    wrong(format!("errand `{}` has the risk `{risk}`, which is not in the register", task.id));
                }
            }
        }
        for matter in self.household.matters.iter().filter(|matter| (1..REGISTER_MIN).contains(&matter.risks.len())) {
            wrong(format!(
                "`{}` has less than {REGISTER_MIN} risks; without any, those of the kind are taken",
                matter.id
            ));
        }
        for price in self.prices.iter().filter(|price| !(price.eur > 0.0 && price.usual > 0.0) || price.of.is_empty()) {
            wrong(format!("the price of `{}` makes no sense", price.of.join(", ")));
        }
        for risk in &self.risks {
            if !rises(risk.delay) || !rises(risk.cost_share) || !(0.0..=1.0).contains(&risk.probability) {
                wrong(format!("the numbers of risk `{}` make no sense", risk.id));
            }
            if !roles.contains(risk.owner.as_str()) {
                wrong(format!("risk `{}` is owned by `{}`, who is no role", risk.id, risk.owner));
            }
        }
        for scenario in &self.scenarios {
            for (lever, option) in &scenario.settings {
                if !levers.contains(lever.as_str()) || *option > 2 {
                    wrong(format!("scenario `{}` sets `{lever}` to {option}", scenario.id));
                }
            }
        }
        for failure in self.premortem.iter().filter(|failure| !assumptions.contains(failure.assumption.as_str())) {
            wrong(format!("`{}` rests on `{}`, which is no assumption", failure.title, failure.assumption));
        }
        faults
    }
}

/// A register has so many risks at least.
const REGISTER_MIN: usize = 3;

/// What is wrong with the steps of one person.
fn errand_faults(tasks: &[Errand], counts: &BTreeMap<String, Count>, wrong: &mut impl FnMut(String)) {
    let mut before: BTreeSet<&str> = BTreeSet::new();
    for task in tasks {
        let id = &task.id;
        for other in task.after.iter().filter(|other| !before.contains(other.as_str())) {
            wrong(format!("errand `{id}` comes after `{other}`, which is not before it"));
        }
        if !rises(task.estimate) || task.estimate[2] <= 0.0 || task.costs.iter().any(|cost| !rises(cost.eur)) {
            wrong(format!("the numbers of errand `{id}` do not rise"));
        }
        let per = task.costs.iter().flat_map(|cost| &cost.per).chain(&task.per);
        for count in per.filter(|count| !counts.contains_key(*count)) {
            wrong(format!("errand `{id}` is counted by `{count}`, which is not said"));
        }
        if !before.insert(id) {
            wrong(format!("there are two errands `{id}`"));
        }
    }
}

fn rises([low, likely, high]: Three) -> bool {
    0.0 <= low && low <= likely && likely <= high && high.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_comes_with_the_program_is_sound() {
        let faults: Vec<String> = BUILT_IN
            .iter()
            .filter_map(|(kind, text)| Some(format!("{kind}: {:?}", Knowledge::read(kind, text).err()?)))
            .collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn a_file_with_slips_is_told_all_of_them() {
        let (kind, text) = BUILT_IN[0];
        let text = text.replacen("grows:", "grow:", 1);
        assert!(Knowledge::read(kind, &text).unwrap_err()[0].contains("grow"));
        assert!(Knowledge::read("another", BUILT_IN[0].1).unwrap_err()[0].contains("says that its kind is"));
    }
}
