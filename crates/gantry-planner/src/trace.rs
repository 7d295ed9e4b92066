//! How the demands of a request stand: measured by the schedule or by the words of the plan, or else with the work that
//! is about them. What cannot be seen stays open.

use std::collections::BTreeSet;

use gantry_core::plan::{Action, Plan, Task};
use serde_json::{Value, json};

use crate::brief::DemandKind;
use crate::facts::{Facts, PricedBy, Wanted};
use crate::overview::{Bounds, Stages, day, futures, items, whole};

/// How many words a demand and a task share at least when the one is about the other.
const SHARED_WORDS_MIN: usize = 2;
/// One of so many words of a demand has to be in a task that is about it.
const SHARED_SHARE: usize = 3;
/// So many tasks are named for a demand.
const NAMED_MAX: usize = 5;
/// A demand that forbids words has so few of its own besides.
const BAN_WORDS_MAX: usize = 5;
/// Words that are in every request, as they begin.
const EVERYWHERE: [&str; 26] = [
    "plan", "projec", "should", "must", "includ", "ensure", "provid", "system", "scenar", "realis", "approa", "requir",
    "within", "withou", "possib", "please", "avoid", "pick", "consid", "needed", "using", "other", "which", "their",
    "there", "every",
];

/// What demands are held against.
pub(crate) struct Trace<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) schedule: &'a Value,
    pub(crate) facts: &'a Facts,
    pub(crate) stages: &'a Stages<'a>,
    /// How the plan stands to money and time.
    pub(crate) bounds: &'a Bounds,
}

/// How a demand stands, why, and which work is about it.
struct Standing {
    status: &'static str,
    why: String,
    work: Vec<String>,
}

impl Standing {
    fn new(status: &'static str, why: impl Into<String>) -> Self {
        Self { status, why: why.into(), work: Vec::new() }
    }
}

impl Trace<'_> {
    /// Every demand, and how it stands.
    pub(crate) fn demands(&self) -> Vec<Value> {
        let stands = |demand: &Wanted| {
            let stands = self.stands(demand);
            json!({
                "id": demand.id, "text": demand.text, "kind": demand.kind, "status": stands.status, "where": stands.work,
                "why": stands.why, "checked": self.checked(demand, &stands),
            })
        };
        self.facts.demands.iter().map(stands).collect()
    }

    fn stands(&self, demand: &Wanted) -> Standing {
        match demand.measured_by.as_deref() {
            Some("budget") => self.budget(),
            Some("deadline") => self.deadline(),
            Some("team") => Standing::new("met", "Never do more people work at once."),
            Some("place") => self.place(&demand.text),
            Some("quantity") => self.quantity(&demand.text),
            _ => self.words(demand),
        }
    }

    fn budget(&self) -> Standing {
        let cost = &self.schedule["cost"];
        let likely = whole(&self.schedule["monte_carlo"]["cost"]["p50"]).zip(whole(&cost["budget"]));
        let priced = whole(&cost["total"]).is_some_and(|total| total > 0);
        if let Some(chance) = self.bounds.in_budget.filter(|_| self.bounds.over.is_none())
            && Bounds::is_hopeless(Some(chance))
        {
            return Standing::new(
                "broken",
                format!("It costs no more only if nothing goes wrong: in {}.", futures(chance)),
            );
        }
        let (status, why) = match () {
            () if self.bounds.over.is_some() => ("broken", "The plan costs more than that."),
            () if !priced => ("open", "Nothing in the plan has a price yet."),
            () if self.facts.priced_by == PricedBy::Budget => (
                "open",
                "Purchases are shares of that money, because no price of such a thing is known: offers have to show whether it is enough.",
            ),
            () if likely.is_some_and(|(p50, budget)| p50 > budget) => {
                ("open", "As planned it costs no more, but half of all cases do.")
            }
            () => ("met", "The plan costs no more than that."),
        };
        Standing::new(status, why)
    }

    fn deadline(&self) -> Standing {
        let in_time = self.bounds.in_time;
        if let Some(chance) = in_time.filter(|chance| self.bounds.late.is_none() && Bounds::is_hopeless(Some(*chance)))
        {
            return Standing::new(
                "broken",
                format!("That is kept only if nothing goes wrong: in {}.", futures(chance)),
            );
        }
        if let Some(held) = self.bounds.on_the_day.as_ref().filter(|_| self.bounds.late.is_none()) {
            let likely = in_time.is_none_or(|chance| chance >= 0.5);
            return Standing::new(if likely { "met" } else { "open" }, held.lies());
        }
        let likely = day(&self.schedule["monte_carlo"]["finish"]["p50"]).zip(self.facts.deadline);
        let (status, why) = match () {
            () if self.facts.deadline.is_none() => ("open", "No day to keep could be read."),
            () if self.facts.is_past_due() => ("broken", "That day had passed when it was asked for."),
            () if self.bounds.late.is_some() => ("broken", "The plan takes longer than that."),
            () if likely.is_some_and(|(p50, due)| p50 > due) => {
                ("open", "As planned it is done by then, but not in half of all cases.")
            }
            () => ("met", "The plan is done by then."),
        };
        Standing::new(status, why)
    }

    /// Work that names the place happens there.
    fn place(&self, place: &str) -> Standing {
        let work = self.work_of(|task| told(task).contains(&place.to_lowercase()));
        if work.is_empty() {
            return Standing::new("open", "No work names the place: its rules, prices and holidays are not looked up.");
        }
        Standing { work, ..Standing::new("met", "The work named is about this place.") }
    }

    /// What is counted by an amount that was said, or names it.
    fn quantity(&self, amount: &str) -> Standing {
        let counted: Vec<String> = self.facts.counted_errands(amount);
        let known = counted.into_iter().filter(|id| self.plan.task(id).is_some()).take(NAMED_MAX);
        let work: Vec<String> = known.collect();
        if !work.is_empty() {
            return Standing { work, ..Standing::new("met", "The work named is counted by it.") };
        }
        if self.facts.is_priced_by(amount) {
            return Standing::new("met", "What such a thing usually costs was counted by it.");
        }
        let work = self.work_of(|task| told(task).contains(&amount.to_lowercase()));
        if work.is_empty() {
            return Standing::new("open", "Nothing in the plan counts with it: somebody has to look.");
        }
        Standing { work, ..Standing::new("planned", "The work named is about it.") }
    }

    /// What is neither money, time, people, place nor amount.
    fn words(&self, demand: &Wanted) -> Standing {
        let banned = if demand.kind == DemandKind::MustNot { banned(&demand.text) } else { Vec::new() };
        if !banned.is_empty() {
            return self.without(&banned);
        }
        if let Some(role) = self.role_for(demand) {
            let work = self.work_of(|task| task.owner.as_deref() == Some(role.as_str()));
            return Standing { work, ..Standing::new("met", format!("The team has it: {role}.")) };
        }
        let wanted = words(&demand.text);
        let shared = |task: &&Task| words(&told(task)).intersection(&wanted).count();
        let least = least(&wanted);
        let mut work: Vec<(usize, &Task)> = self.work().map(|task| (shared(&task), task)).collect();
        work.retain(|(shared, _)| *shared >= least);
        work.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
        let work: Vec<String> = work.into_iter().take(NAMED_MAX).map(|(_, task)| task.id.to_string()).collect();
        let standing = match (work.is_empty(), demand.kind) {
            (true, _) => Standing::new(
                "open",
                "No work is about it, and nothing in the schedule measures it: somebody has to look.",
            ),
            (false, DemandKind::MustNot) => {
                Standing::new("open", "The work named is where it could be broken: somebody has to look there.")
            }
            (false, _) => Standing::new("planned", "The work named is about it: its results show whether it is met."),
        };
        Standing { work, ..standing }
    }

    /// Words that must not be used are looked for in everything that was thought out so far.
    fn without(&self, banned: &[String]) -> Standing {
        let has = |text: &str, word: &str| has(&text.to_lowercase(), word);
        let used: Vec<&String> = banned
            .iter()
            .filter(|word| {
                let in_stages = self.stages.iter().any(|(_, answer)| has(&answer.to_string(), word));
                in_stages || self.work().any(|task| has(&told(task), word))
            })
            .collect();
        if used.is_empty() {
            return Standing::new("met", "None of it stands in the work, the team or the risks.");
        }
        let work = self.work_of(|task| used.iter().any(|word| has(&told(task), word)));
        let used: Vec<String> = used.iter().map(|word| format!("“{word}”")).collect();
        Standing { work, ..Standing::new("broken", format!("The plan speaks of {}.", used.join(", "))) }
    }

    /// The pieces of work: no phases and no decisions.
    fn work(&self) -> impl Iterator<Item = &Task> {
        self.plan.tasks.iter().filter(|task| task.action.is_some() && !matches!(task.action, Some(Action::Gate(_))))
    }

    fn work_of(&self, is_meant: impl Fn(&Task) -> bool) -> Vec<String> {
        self.work().filter(|task| is_meant(task)).take(NAMED_MAX).map(|task| task.id.to_string()).collect()
    }

    /// In which stages a demand was looked for, and what was found there.
    fn checked(&self, demand: &Wanted, stands: &Standing) -> Vec<Value> {
        let of_people = matches!(demand.measured_by.as_deref(), Some("team"));
        if matches!(demand.measured_by.as_deref(), Some("budget" | "deadline" | "team")) {
            let mut checked: Vec<Value> = Vec::new();
            let people = |team: &Value| items(team).filter_map(|role| role["count"].as_u64()).sum::<u64>();
            let team = self.stages.iter().find(|(stage, _)| *stage == "team").filter(|_| of_people);
            if let Some(((stage, team), most)) = team.zip(self.facts.team_size) {
                let found = if people(team) > u64::from(most) { "someone has several roles" } else { "met" };
                checked.push(json!({"stage": stage, "found": found}));
            }
            checked.push(json!({"stage": "schedule", "found": stands.status}));
            return checked;
        }
        let banned = if demand.kind == DemandKind::MustNot { banned(&demand.text) } else { Vec::new() };
        let role = self.role_for(demand);
        let stages = self.stages.iter().map(|(stage, answer)| {
            let found = match &role {
                Some(role) if *stage == "team" => Found::Satisfied(role.clone()),
                _ if !banned.is_empty() => Found::of_banned(answer, &banned),
                _ => Found::of_words(answer, &words(&demand.text)),
            };
            found.told(stage)
        });
        let work = json!({"stage": "work", "found": match (stands.status, stands.work.is_empty()) {
            ("broken", _) => "broken",
            ("met", ..) => "satisfied",
            (_, true) => "not named",
            _ => "named, unclear whether it is kept",
        }});
        stages.chain([work]).collect()
    }

    /// The role that a demand asks for by its title.
    fn role_for(&self, demand: &Wanted) -> Option<String> {
        if demand.kind == DemandKind::MustNot {
            return None;
        }
        let text = demand.text.to_lowercase();
        let team = self.stages.iter().find(|(stage, _)| *stage == "team");
        let titles = team.into_iter().flat_map(|(_, team)| items(team)).filter_map(|role| role["title"].as_str());
        // A title of one word, such as lead, stands in many sentences that ask for nobody.
        let asked = |title: &&str| title.contains(' ') && has(&text, &title.to_lowercase());
        titles.filter(asked).max_by_key(|title| title.len()).map(str::to_owned)
    }
}

/// What one stage says of a demand.
enum Found {
    /// It does not speak of it.
    Nothing,
    /// It does in these words; whether that keeps it has to be read.
    Unclear(String),
    /// It shows that it is kept.
    Satisfied(String),
    /// It goes against it, with these words.
    Broken(String),
}

impl Found {
    /// The text of an answer that says most about a demand.
    fn of_words(answer: &Value, wanted: &BTreeSet<String>) -> Self {
        let shared = |text: &&str| words(text).intersection(wanted).count();
        let said = texts(answer).into_iter().max_by_key(|text| shared(text));
        said.filter(|text| shared(text) >= least(wanted)).map_or(Self::Nothing, |text| Self::Unclear(text.to_owned()))
    }

    fn of_banned(answer: &Value, banned: &[String]) -> Self {
        let speaks = |text: &&str| banned.iter().any(|word| has(&text.to_lowercase(), word));
        texts(answer)
            .into_iter()
            .find(speaks)
            .map_or_else(|| Self::Satisfied("none of it is named".to_owned()), |text| Self::Broken(text.to_owned()))
    }

    fn told(&self, stage: &str) -> Value {
        let (found, text) = match self {
            Self::Nothing => return json!({"stage": stage, "found": "not named"}),
            Self::Unclear(text) => ("named, unclear whether it is kept", text),
            Self::Satisfied(text) => ("satisfied", text),
            Self::Broken(text) => ("broken", text),
        };
        json!({"stage": stage, "found": found, "text": text.chars().take(QUOTE_MAX).collect::<String>()})
    }
}

/// So much of a text is quoted.
const QUOTE_MAX: usize = 160;

/// Every text in an answer.
fn texts(answer: &Value) -> Vec<&str> {
    match answer {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Tells whether a text in small letters has these words as whole words.
fn has(text: &str, words: &str) -> bool {
    let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    text.match_indices(words)
        .any(|(at, _)| !is_part(text[..at].chars().next_back()) && !is_part(text[at + words.len()..].chars().next()))
}

/// Everything that a task says, in small letters.
fn told(task: &Task) -> String {
    let done = task.success_criteria.iter().map(|done| json!(done).to_string());
    let made = task.outputs.values().map(|output| json!(output).to_string());
    let text =
        [task.name().to_owned(), task.description.clone().unwrap_or_default()].into_iter().chain(done).chain(made);
    text.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The words that a demand forbids: those of "Banned words: a, b", "don't use a" and "without a".
fn banned(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let listed = |after: &str| -> Vec<String> {
        let end = after.find(['.', '(', '\n']).unwrap_or(after.len());
        let words = after[..end]
            .split([',', '/', ';'])
            .flat_map(|part| part.split(" or "))
            .flat_map(|part| part.split(" and "));
        let clean = words.map(|word| word.trim().trim_matches(['-', ':', '"', '“', '”']).trim());
        clean.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    if let Some((_, after)) = lower.split_once("banned words:") {
        return listed(after).into_iter().filter(|word| word.split(' ').count() <= BAN_WORDS_MAX).collect();
    }
    let begins = ["do not use ", "don't use ", "don’t use ", "i don't use ", "i don’t use ", "without ", "no "];
    let after = begins.iter().find_map(|begin| lower.trim().strip_prefix(begin)).unwrap_or_default();
    if after.split_whitespace().count() > BAN_WORDS_MAX { Vec::new() } else { listed(after) }
}

/// Tells whether a text is about a demand: it shares enough of its words.
pub(crate) fn is_about(text: &str, demand: &str) -> bool {
    let wanted = words(demand);
    words(text).intersection(&wanted).count() >= least(&wanted)
}

/// Tells whether a demand forbids words.
pub(crate) fn is_ban(demand: &str) -> bool {
    !banned(demand).is_empty()
}

/// How many of the words of a demand a text has to share.
fn least(wanted: &BTreeSet<String>) -> usize {
    SHARED_WORDS_MIN.max(wanted.len().div_ceil(SHARED_SHARE)).min(wanted.len()).max(1)
}

/// The words of a text that say something: long ones, without their endings.
fn words(text: &str) -> BTreeSet<String> {
    let long = |word: &&str| word.chars().count() > 4;
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(long);
    let begun = words.map(|word| word.to_lowercase().chars().take(6).collect::<String>());
    begun.filter(|word| !EVERYWHERE.contains(&word.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forbidden_is_read_as_words() {
        assert_eq!(banned("Banned words: blockchain/AI/quantum."), ["blockchain", "ai", "quantum"]);
        assert_eq!(
            banned("Banned words: VR, AR, and the metaverse (in any form), Robots"),
            ["vr", "ar", "the metaverse"]
        );
        assert_eq!(banned("Don't use DAO."), ["dao"]);
        assert_eq!(banned("I don't use sugar, milk."), ["sugar", "milk"]);
        assert_eq!(banned("without concrete"), ["concrete"]);
        assert!(banned("No credible anchor tenants = no FID for the next phase.").is_empty(), "a sentence is no list");
        assert!(banned("Do not assume the answer is yes.").is_empty());
    }
}
