//! The whole computation: from a project to a schedule with everything that people ask of it.
//!
//! [`schedule`] is the one way in. It makes the project ready, runs both passes, levels, runs them again on the levelled
//! network, and then counts: floats, paths, deadlines, money, chance.

mod options; // in reading order
mod rows;
mod late;
mod remedy;
mod short;
mod warnings;

use rust_decimal::Decimal;
use serde::Serialize;

pub use late::{Constraint, Fix, Infeasible, Verdict};
pub use options::{Basis, Options, USUAL_DRAWS};
pub use rows::{Assigned, Hours, LoadStep, Overload, ResourceRow, TaskKind, TaskRow};
pub use warnings::Warning;

use crate::calendar::Timeline;
use crate::cost::{self, CostReport};
use crate::earned_value::{EarnedValue, earned_value};
use crate::frame::{Moment, Quantity};
use crate::health::{PathTest, path_test};
use crate::level::{self, Found, Levelling, Placement, Search};
use crate::model::{HORIZON_FIRST, HORIZON_MAX, Model};
use crate::monte_carlo::{MonteCarlo, Outcome, simulate};
use crate::network::{Deadlines, Float, Network, Times, backward, drag, driving_paths, floats, forward};
use crate::problem::Problem;
use crate::project::{Project, Unit};
use crate::rcpsp::Effort;

/// More critical paths than this tell nobody more.
const PATHS_MAX: usize = 10;

/// Dates, floats, people, money and risk of a project.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Schedule {
    /// What the project is called.
    pub name: String,
    /// The time of work from its start to its finish, on the project's calendar, in its unit.
    pub makespan: Quantity,
    /// The unit of every length in here.
    pub unit: Unit,
    /// When it starts.
    pub start: Moment,
    /// When it finishes.
    pub finish: Moment,
    /// Whether every hard deadline is kept, every need met and nobody has too much to do.
    pub feasible: bool,
    /// The first critical path, from its first task to its last.
    pub critical_path: Vec<String>,
    /// All critical paths, up to ten.
    pub critical_paths: Vec<Vec<String>>,
    /// Every task, in the order of the project.
    pub tasks: Vec<TaskRow>,
    /// How each deadline stands.
    pub deadlines: Vec<Verdict>,
    /// What cannot be kept, by how much, and what would help.
    pub infeasible: Vec<Infeasible>,
    /// When someone has more to do than they can.
    pub overloads: Vec<Overload>,
    /// What is odd, but does not stop the schedule.
    pub warnings: Vec<Warning>,
    /// What everyone has to do.
    pub resources: Vec<ResourceRow>,
    /// What it costs.
    pub cost: CostReport,
    /// What the optimiser did; only when it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimiser: Option<Optimiser>,
    /// How it stands at the data date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earned_value: Option<EarnedValue>,
    /// What many futures say; only when some were drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monte_carlo: Option<MonteCarlo>,
    /// What the end does when a critical task takes longer, for [`health`](crate::health).
    #[serde(skip)]
    pub(crate) path_test: Option<PathTest>,
}

/// What has been computed before it is written down.
pub(crate) struct Computed<'p> {
    pub model: Model<'p>,
    /// The network as it is worked on, with the order of people as ties and nothing pinned.
    pub network: Network,
    /// The same, with everything held where it is.
    pub pinned: Network,
    pub placement: Placement,
    pub late: Vec<Times>,
    pub floats: Vec<Float>,
    /// In seconds of work on the project's timeline.
    pub drags: Vec<i64>,
    pub paths: Vec<Vec<usize>>,
    pub end: i64,
    pub found: Option<Found>,
}

/// What the optimiser did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Optimiser {
    /// How many schedules it made.
    pub schedules: u64,
    /// No schedule has a shorter makespan than this.
    pub lower_bound: Quantity,
    /// Whether this schedule is known to be as short as can be.
    pub proven: bool,
}

/// Computes the schedule of a project. The error names everything that is wrong with the project itself; a project that
/// is right but cannot be kept has a schedule that says so.
pub fn schedule(project: &Project, options: &Options) -> Result<Schedule, Vec<Problem>> {
    schedule_until(project, options, &|| false)
}

/// The same, but the optimiser stops looking as soon as `stop` says so; how far it came then depends on the machine.
/// With [`Options::UNTIL_STOPPED`] nothing else ends the search, but that no schedule can be shorter.
pub fn schedule_until(project: &Project, options: &Options, stop: &dyn Fn() -> bool) -> Result<Schedule, Vec<Problem>> {
    let computed = compute(project, options, stop)?;
    let lines = cost::lines(&computed, options.basis);
    let infeasible = late::infeasible(&computed, options);
    let overloads = rows::overloads(&computed);
    let model = &computed.model;
    let critical_paths: Vec<Vec<String>> = computed.paths.iter().map(|path| rows::names(&computed, path)).collect();
    let mut schedule = Schedule {
        name: project.name.clone(),
        makespan: model.frame.quantity(model.line().work_between(0, computed.end)),
        unit: project.unit,
        start: model.frame.moment(rows::first_start(&computed)),
        finish: model.frame.moment(computed.end),
        feasible: infeasible.is_empty() && overloads.is_empty(),
        critical_path: critical_paths.first().cloned().unwrap_or_default(),
        critical_paths,
        tasks: rows::tasks(&computed, options, &cost::by_task(&computed, &lines)),
        deadlines: late::verdicts(&computed),
        infeasible,
        overloads,
        warnings: warnings::warnings(&computed),
        resources: rows::resources(&computed),
        cost: cost::report(&computed, &lines),
        earned_value: earned_value(&computed, options, &lines)?,
        optimiser: optimiser(&computed),
        monte_carlo: None,
        path_test: path_test(&computed),
    };
    if options.draws > 0 {
        let outcome = simulate(&computed, options, &lines);
        schedule.add(&computed, outcome);
    }
    Ok(schedule)
}

fn optimiser(computed: &Computed<'_>) -> Option<Optimiser> {
    let model = &computed.model;
    let found = computed.found.as_ref()?;
    Some(Optimiser {
        schedules: found.schedules,
        lower_bound: model.frame.quantity(found.lower_bound),
        proven: model.line().work_between(0, computed.end) <= found.lower_bound,
    })
}

impl Schedule {
    /// Puts what the futures say where it belongs.
    fn add(&mut self, computed: &Computed<'_>, outcome: Outcome) {
        let model = &computed.model;
        for row in &mut self.tasks {
            row.criticality = model.node_of[model.place(&row.id)].map(|node| outcome.criticality[node]);
        }
        for (verdict, met) in self.deadlines.iter_mut().zip(&outcome.met) {
            verdict.probability = Some(*met);
        }
        if outcome.alone > 0.0 {
            let what = format!(
                "in {:.0} % of futures some work is so late that its people have left for good; there it is taken to go on \
                 without them",
                (outcome.alone * 100.0).max(1.0)
            );
            self.warnings.push(Warning { task: None, what });
        }
        let mut contingency = (outcome.cost_at_confidence - self.cost.total).max(Decimal::ZERO);
        contingency.rescale(self.cost.total.scale());
        self.cost.contingency = Some(contingency);
        self.cost.total_with_contingency = Some(self.cost.total + contingency);
        self.monte_carlo = Some(outcome.monte_carlo);
    }
}

impl Computed<'_> {
    /// When a task starts and finishes; a summary starts with its first part, and is finished when all in it is and
    /// every link to its finish is kept.
    pub(crate) fn span(&self, task: usize) -> (i64, i64) {
        let finish = self.placement.times[self.model.last_of[task]].finish;
        let mut start = finish;
        let mut open = vec![task];
        while let Some(task) = open.pop() {
            open.extend(&self.model.parts[task]);
            start = self.model.node_of[task].map_or(start, |at| start.min(self.placement.times[at].start));
        }
        (start, finish)
    }
}

/// The passes and the levelling; again with more of the calendars when the project runs beyond what was laid out.
pub(crate) fn compute<'p>(
    project: &'p Project,
    options: &Options,
    stop: &dyn Fn() -> bool,
) -> Result<Computed<'p>, Vec<Problem>> {
    let mut horizon = HORIZON_FIRST;
    let mut computed = compute_within(project, options, horizon, None)?;
    let laid_out = |computed: &Computed<'_>| computed.model.lines.all.iter().any(|line| *line != Timeline::Always);
    while laid_out(&computed) && computed.end.saturating_mul(2) > horizon && horizon < HORIZON_MAX {
        horizon = computed.end.saturating_mul(4).min(HORIZON_MAX);
        computed = compute_within(project, options, horizon, None)?;
    }
    if options.schedules > 0 {
        let schedules = (options.schedules != Options::UNTIL_STOPPED).then_some(options.schedules);
        let effort = Effort { schedules, patience: None, seed: options.seed };
        computed = compute_within(project, options, horizon, Some(&Search { effort, stop }))?;
    }
    Ok(computed)
}

fn compute_within<'p>(
    project: &'p Project,
    options: &Options,
    horizon: i64,
    search: Option<&Search<'_>>,
) -> Result<Computed<'p>, Vec<Problem>> {
    let mut model = Model::new(project, options.basis, horizon)?;
    let early = forward(&model.network, &model.lines.all);
    let first_end = end_of(&early, model.from);
    let late = backward(&model.network, &model.lines.all, &early, first_end, Deadlines::Respected);
    let (placement, found) = level::level(&mut model, options.levelling, &early, &late, search);
    let worked = placement.worked(&model.network);
    let (network, moved) = if options.levelling == Levelling::Off {
        (worked, (0..early.len()).collect())
    } else {
        level::chained(&model, &worked, &placement)
    };
    let placement = reorder(placement, &moved);
    for node in model.node_of.iter_mut().flatten().chain(&mut model.last_of) {
        *node = moved[*node];
    }
    let mut pinned = network.clone();
    for (node, times) in pinned.nodes.iter_mut().zip(&placement.times) {
        if node.started.is_none() {
            node.earliest = node.earliest.max(times.start);
        } else if node.finished.is_none() {
            // What is left of started work may have had to wait for people as well.
            let line = &model.lines.all[node.line];
            node.earliest = node.earliest.max(line.start_at(line.work_before(times.finish) - node.duration));
        }
    }
    let lines = &model.lines.all;
    let end = end_of(&placement.times, model.from);
    let late = backward(&pinned, lines, &placement.times, end, Deadlines::Respected);
    let floats = floats(&pinned, lines, &placement.times, &late, end);
    let free_of_deadlines = backward(&pinned, lines, &placement.times, end, Deadlines::Ignored);
    let drags = drag(&network, lines, &placement.times, &free_of_deadlines, end, model.line());
    let paths = driving_paths(&network, lines, &placement.times, end, PATHS_MAX);
    Ok(Computed { model, network, pinned, placement, late, floats, drags, paths, end, found })
}

/// When everything is finished.
fn end_of(times: &[Times], from: i64) -> i64 {
    times.iter().map(|times| times.finish).max().unwrap_or(from)
}

fn reorder(placement: Placement, moved: &[usize]) -> Placement {
    let mut ordered = placement.clone();
    ordered.forced.iter_mut().for_each(|node| *node = moved[*node]);
    for (old, &new) in moved.iter().enumerate() {
        ordered.times[new] = placement.times[old];
        ordered.lines[new] = placement.lines[old];
        ordered.shares[new].clone_from(&placement.shares[old]);
    }
    ordered
}
