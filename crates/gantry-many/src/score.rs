//! How good a plan is, in figures that nobody has to judge: what can be counted in its words, its tree and its links.
//!
//! Nine dimensions, each from 0 to 1, and their mean as `score` from 0 to 100; beside them every count that they were made of.
//! The formulas are in docs/scores.md. A figure says how a plan is made, not whether it is right: for that see [`judge`].

mod words; // in reading order
mod shape;
mod links;
pub mod judge;

use gantry_core::plan::{Check, Plan, Task};
use serde::Serialize;

use links::Links;
use shape::Shape;
use words::{Terms, tokens};

/// How good a plan is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The mean of all dimensions that can be told, from 0 to 100.
    pub score: u32,
    /// The dimensions.
    pub dimensions: Dimensions,
    /// What they were made of.
    pub measures: Measures,
    /// What the goal asks for by a word that stands in no task.
    pub terms_missing: Vec<String>,
}

/// The dimensions, each from 0 to 1; one that cannot be told is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Dimensions {
    /// How much of what the goal speaks of stands in tasks.
    pub coverage: Option<f64>,
    /// Whether the tree is neither flat nor thin nor lopsided.
    pub balance: Option<f64>,
    /// No task stands there twice, and none says nothing.
    pub distinct: Option<f64>,
    /// Links lead to tasks, not in a circle and not into what contains them, and connect the work.
    pub order: Option<f64>,
    /// Somebody answers for each task.
    pub owners: Option<f64>,
    /// Each task has an estimate of three points that makes sense.
    pub estimates: Option<f64>,
    /// Risks are named, weighed and answered.
    pub risks: Option<f64>,
    /// Each task has a criterion that can be checked.
    pub verifiable: Option<f64>,
    /// The parts are the whole: the 100 % rule, as far as it can be counted.
    pub whole: Option<f64>,
}

impl Dimensions {
    /// Names and figures, in order.
    pub fn all(&self) -> [(&'static str, Option<f64>); 9] {
        [
            ("coverage", self.coverage),
            ("balance", self.balance),
            ("distinct", self.distinct),
            ("order", self.order),
            ("owners", self.owners),
            ("estimates", self.estimates),
            ("risks", self.risks),
            ("verifiable", self.verifiable),
            ("whole", self.whole),
        ]
    }
}

/// What can be counted. Shares are of the tasks without parts, unless they say otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    /// All tasks.
    pub tasks: usize,
    /// Those without parts.
    pub leaves: usize,
    /// How deep the deepest lies; a task at the top lies 0 deep.
    pub depth_max: usize,
    /// How deep they lie on average.
    pub depth_mean: f64,
    /// How many parts a task with parts has, on average.
    pub fanout_mean: f64,
    /// The share of tasks with parts that have exactly one.
    pub single_child_parents: f64,
    /// The share of tasks with parts that have two to nine; the plan itself counts as one where it begins with several tasks.
    pub fanout_fit: f64,
    /// How even the work is among the branches, as entropy from 0 to 1.
    pub branch_evenness: Option<f64>,
    /// How even the depth is, from 0 to 1.
    pub depth_evenness: f64,
    /// How many tasks with parts have a part that is called like them.
    pub parent_echo: usize,
    /// How many words of weight the goal has.
    pub goal_terms: usize,
    /// How many of them stand in tasks.
    pub goal_terms_covered: usize,
    /// How many links there are.
    pub edges: usize,
    /// The share of links that lead to a task of the plan.
    pub refs_ok: f64,
    /// How many links lead into a task that contains the other.
    pub ancestor_edges: usize,
    /// No links lead in a circle.
    pub acyclic: bool,
    /// The share that waits for another or is waited for.
    pub leaf_linked: f64,
    /// How many of them stand one after the other, at most.
    pub levels: usize,
    /// The share that is called exactly like one before it.
    pub dup_exact: f64,
    /// The share that is called almost like one before it.
    pub dup_near: f64,
    /// The share that says nothing but its title.
    pub empty: f64,
    /// The share with an owner.
    pub owner_cov: f64,
    /// The share with people or equipment.
    pub resource_cov: f64,
    /// The share with an estimate.
    pub estimate_cov: f64,
    /// The share with an estimate of three points in order, the first below the last.
    pub estimate3_valid: f64,
    /// The share with criteria.
    pub done_cov: f64,
    /// The share with a criterion that can be checked.
    pub done_verifiable: f64,
    /// The share with outputs or artifacts.
    pub output_cov: f64,
    /// The share that names risks.
    pub risk_cov: f64,
    /// How many tasks with parts have an estimate, as all their parts do.
    pub rollup_checked: usize,
    /// The share of these whose likely length lies between the longest part and the sum of all.
    pub rollup_ok: Option<f64>,
    /// How many things belong to the plan by its scope.
    pub scope_items: usize,
    /// How many of them some task speaks of.
    pub scope_covered: usize,
    /// How many risks there are.
    pub plan_risks: usize,
    /// How many have likelihood and impact.
    pub plan_risks_scored: usize,
    /// How many have an answer.
    pub plan_risks_mitigated: usize,
}

/// Measures a plan: the work, without the way there.
pub fn score(plan: &Plan) -> Score {
    let shape = Shape::of(plan);
    let links = Links::of(plan, &shape);
    let leaves: Vec<&Task> = shape.leaves().map(|at| &plan.tasks[at]).collect();
    let said: Vec<String> = plan.tasks.iter().map(said).collect();
    let spoken = Terms::of(said.iter().map(String::as_str));
    let goal = words::of_weight(&format!("{} {}", plan.title, plan.objective));
    let terms_missing: Vec<String> = goal.iter().filter(|term| !spoken.has(term)).cloned().collect();
    let (dup_exact, dup_near) = words::doubles(leaves.iter().map(|task| task.name()));
    let share = |fits: &dyn Fn(&Task) -> bool| ratio(leaves.iter().filter(|task| fits(task)).count(), leaves.len());
    let estimate = |task: &Task| plan.schedule.of(task).and_then(|more| more.estimate);
    let three = |task: &Task| match (estimate(task), &task.estimate) {
        (Some(own), _) => own.low <= own.likely && own.likely <= own.high && own.low < own.high,
        (None, Some(own)) => own.low <= own.likely && own.likely <= own.high && own.low < own.high,
        (None, None) => false,
    };
    let needs = |task: &Task| plan.schedule.of(task).is_some_and(|more| !more.needs.is_empty());
    let (rollup_checked, rolled_up) = rolled_up(plan, &shape);
    let risks = register(plan);
    let scope_covered =
        plan.scope.included.iter().filter(|item| words::of_weight(item).iter().any(|term| spoken.has(term))).count();
    let measures = Measures {
        tasks: plan.tasks.len(),
        leaves: leaves.len(),
        depth_max: shape.depth_max(),
        depth_mean: hundredths(shape.depth_mean()),
        fanout_mean: hundredths(shape.fanout_mean()),
        single_child_parents: shape.parents_with(|parts| parts == 1),
        fanout_fit: shape.fanout_fit(),
        branch_evenness: shape.branch_evenness().map(thousandths),
        depth_evenness: thousandths(shape.depth_evenness()),
        parent_echo: echoes(plan, &shape),
        goal_terms: goal.len(),
        goal_terms_covered: goal.len() - terms_missing.len(),
        edges: links.edges,
        refs_ok: ratio(links.sound, links.edges.max(1)),
        ancestor_edges: links.into_ancestors,
        acyclic: links.acyclic,
        leaf_linked: ratio(links.linked, leaves.len()),
        levels: links.levels,
        dup_exact: ratio(dup_exact, leaves.len()),
        dup_near: ratio(dup_near, leaves.len()),
        empty: share(&says_nothing),
        owner_cov: share(&|task| task.owner.as_deref().is_some_and(|owner| !owner.trim().is_empty())),
        resource_cov: share(&|task| !task.resources.is_empty() || needs(task)),
        estimate_cov: share(&|task| task.estimate.is_some() || estimate(task).is_some()),
        estimate3_valid: share(&three),
        done_cov: share(&|task| criteria(task).next().is_some()),
        done_verifiable: share(&|task| criteria(task).any(verifiable)),
        output_cov: share(&|task| !task.outputs.is_empty() || !task.artifacts.is_empty()),
        risk_cov: share(&|task| !task.risks.is_empty()),
        rollup_checked,
        rollup_ok: (rollup_checked > 0).then(|| ratio(rolled_up, rollup_checked)),
        scope_items: plan.scope.included.len(),
        scope_covered,
        plan_risks: risks.len(),
        plan_risks_scored: risks.iter().filter(|(scored, _)| *scored).count(),
        plan_risks_mitigated: risks.iter().filter(|(_, mitigated)| *mitigated).count(),
    };
    let dimensions = dimensions(&measures, &shape);
    let told: Vec<f64> = dimensions.all().iter().filter_map(|(_, figure)| *figure).collect();
    Score { score: percent(mean(&told).unwrap_or(0.0)), dimensions, measures, terms_missing }
}

fn dimensions(m: &Measures, shape: &Shape) -> Dimensions {
    if m.tasks == 0 {
        return Dimensions { coverage: (m.goal_terms > 0).then_some(0.0), balance: Some(0.0), ..Dimensions::default() };
    }
    let parents = shape.parents().count();
    let mean_of = |parts: &[Option<f64>]| mean(&parts.iter().flatten().copied().collect::<Vec<_>>()).map(thousandths);
    let whole_parts = [
        (parents > 0).then_some(1.0 - m.single_child_parents),
        (parents > 0).then(|| 1.0 - ratio(m.parent_echo, parents)),
        m.rollup_ok,
        (m.scope_items > 0).then(|| ratio(m.scope_covered, m.scope_items)),
    ];
    let balance = if m.leaves < 2 {
        Some(0.0)
    } else {
        mean_of(&[Some(m.fanout_fit), m.branch_evenness, Some(m.depth_evenness)])
    };
    let order = if m.acyclic {
        let apart = (m.edges > 0).then(|| 1.0 - ratio(m.ancestor_edges, m.edges));
        mean_of(&[(m.edges > 0).then_some(m.refs_ok), apart, (m.leaves > 1).then_some(m.leaf_linked)])
    } else {
        Some(0.0)
    };
    let risks = match m.plan_risks {
        0 => 0.0,
        all => f64::midpoint(ratio(m.plan_risks_scored, all), ratio(m.plan_risks_mitigated, all)),
    };
    Dimensions {
        coverage: (m.goal_terms > 0).then(|| ratio(m.goal_terms_covered, m.goal_terms)),
        balance,
        distinct: Some(thousandths((1.0 - m.dup_near - m.empty).max(0.0))),
        order,
        owners: Some(m.owner_cov),
        estimates: Some(m.estimate3_valid),
        risks: Some(thousandths(risks)),
        verifiable: Some(m.done_verifiable),
        whole: mean_of(&whole_parts),
    }
}

/// Everything that a task says.
fn said(task: &Task) -> String {
    let mut said = vec![task.name()];
    said.extend([&task.description, &task.purpose].into_iter().flatten().map(String::as_str));
    said.extend(criteria(task).map(Check::text));
    said.extend(task.outputs.keys().map(String::as_str));
    said.extend(task.outputs.values().filter_map(|output| output.description.as_deref()));
    said.extend(task.artifacts.iter().map(|artifact| artifact.name.as_str()));
    said.join(" ")
}

fn criteria(task: &Task) -> impl Iterator<Item = &Check> {
    task.success_criteria.iter().chain(&task.postconditions)
}

/// A task that does nothing by itself and says nothing beyond its title.
fn says_nothing(task: &Task) -> bool {
    let blank = |text: &Option<String>| text.as_deref().is_none_or(|text| tokens(text) == tokens(task.name()));
    task.action.is_none() && blank(&task.description) && blank(&task.purpose) && criteria(task).next().is_none()
}

/// Words that leave to everyone what they mean.
const VAGUE: [&str; 26] = [
    "good",
    "well",
    "properly",
    "proper",
    "adequate",
    "adequately",
    "appropriate",
    "appropriately",
    "successful",
    "successfully",
    "satisfactory",
    "nice",
    "better",
    "best",
    "optimal",
    "reasonable",
    "sufficient",
    "sufficiently",
    "effective",
    "effectively",
    "efficient",
    "efficiently",
    "smooth",
    "smoothly",
    "quality",
    "etc",
];

/// Tells whether two people would come to the same answer: an expression, a number, or words enough without a vague one.
fn verifiable(check: &Check) -> bool {
    let Check::Words(text) = check else { return true };
    let words = words::split(text);
    let numbered = text.chars().any(char::is_numeric);
    numbered || words.len() >= 4 && !words.iter().any(|word| VAGUE.contains(&word.as_str()))
}

/// How many tasks with parts have a part that is called like them.
fn echoes(plan: &Plan, shape: &Shape) -> usize {
    let echoed = |(parent, parts): (usize, &Vec<usize>)| {
        let own = tokens(plan.tasks[parent].name());
        !own.is_empty() && parts.iter().any(|part| tokens(plan.tasks[*part].name()) == own)
    };
    shape.parents().filter(|parent| echoed(*parent)).count()
}

/// How many tasks with parts can be held against them by length, and how many of those fit.
fn rolled_up(plan: &Plan, shape: &Shape) -> (usize, usize) {
    let (mut checked, mut fit) = (0, 0);
    let likely = |at: usize| plan.tasks[at].estimate.as_ref().map(|estimate| estimate.likely.as_ms());
    for (parent, parts) in shape.parents() {
        let lengths: Option<Vec<u64>> = parts.iter().map(|part| likely(*part)).collect();
        let (Some(own), Some(lengths)) = (likely(parent), lengths) else { continue };
        checked += 1;
        let longest = lengths.iter().copied().max().unwrap_or_default();
        let sum = lengths.iter().fold(0_u64, |sum, length| sum.saturating_add(*length));
        fit += usize::from((longest..=sum).contains(&own));
    }
    (checked, fit)
}

/// All risks, the register's and those that only tasks name: weighed, and answered.
fn register(plan: &Plan) -> Vec<(bool, bool)> {
    let filled = |text: &str| !text.trim().is_empty();
    let said = |text: &Option<String>| text.as_deref().is_some_and(filled);
    let mut known: std::collections::BTreeSet<&str> = std::collections::BTreeSet::new();
    let mut all = Vec::new();
    for risk in &plan.schedule.risks {
        known.insert(&risk.id);
        // The register always says how likely a risk is, and what it would do.
        all.push((risk.impact.is_some() || filled(&risk.effect), filled(&risk.mitigation)));
    }
    for risk in plan.tasks.iter().flat_map(|task| &task.risks) {
        if known.insert(&risk.name) {
            all.push((risk.likelihood.is_some() && said(&risk.impact), said(&risk.mitigation)));
        }
    }
    all
}

#[expect(clippy::cast_precision_loss, reason = "counts of tasks")]
fn ratio(part: usize, all: usize) -> f64 {
    thousandths(part as f64 / all.max(1) as f64)
}

#[expect(clippy::cast_precision_loss, reason = "nine figures")]
fn mean(figures: &[f64]) -> Option<f64> {
    (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
}

fn thousandths(figure: f64) -> f64 {
    (figure * 1_000.0).round() / 1_000.0
}

fn hundredths(figure: f64) -> f64 {
    (figure * 100.0).round() / 100.0
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 100")]
fn percent(figure: f64) -> u32 {
    (figure.clamp(0.0, 1.0) * 100.0).round() as u32
}
