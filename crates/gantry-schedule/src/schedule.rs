//! The whole computation: from a project to a schedule with everything that people ask of it.
//!
//! [`schedule`] is the one way in. It makes the project ready, runs both passes, levels, runs them again on the levelled
//! network, and then counts: floats, paths, deadlines, money, chance.

mod options; // in reading order
mod rows;
mod late;

use serde::Serialize;

pub use late::{Constraint, Fix, Infeasible, Verdict};
pub use options::{Basis, Options};
pub use rows::{Assigned, LoadStep, Overload, ResourceRow, TaskKind, TaskRow, Warning};

use crate::frame::{Moment, Quantity};
use crate::level::{self, Levelling, Placement};
use crate::model::Model;
use crate::network::{Deadlines, Float, Network, Times, backward, drag, driving_paths, floats, forward};
use crate::problem::Problem;
use crate::project::{Project, Unit};

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
}

/// What has been computed before it is written down.
pub(crate) struct Computed<'p> {
    pub model: Model<'p>,
    /// The network as it is worked on, with the order of people as ties and nothing pinned.
    pub network: Network,
    /// The same with every start pinned where levelling put it.
    pub pinned: Network,
    pub placement: Placement,
    pub late: Vec<Times>,
    pub floats: Vec<Float>,
    /// In seconds of work on the project's timeline.
    pub drags: Vec<i64>,
    pub paths: Vec<Vec<usize>>,
    pub end: i64,
}

/// Computes the schedule of a project. The error names everything that is wrong with the project itself; a project that
/// is right but cannot be kept has a schedule that says so.
pub fn schedule(project: &Project, options: &Options) -> Result<Schedule, Vec<Problem>> {
    let computed = compute(project, options)?;
    let infeasible = late::infeasible(&computed);
    let overloads = rows::overloads(&computed);
    let model = &computed.model;
    let critical_paths: Vec<Vec<String>> = computed.paths.iter().map(|path| rows::names(&computed, path)).collect();
    Ok(Schedule {
        name: project.name.clone(),
        makespan: model.frame.quantity(model.line().work_between(0, computed.end)),
        unit: project.unit,
        start: model.frame.moment(rows::first_start(&computed)),
        finish: model.frame.moment(computed.end),
        feasible: infeasible.is_empty() && overloads.is_empty(),
        critical_path: critical_paths.first().cloned().unwrap_or_default(),
        critical_paths,
        tasks: rows::tasks(&computed, options),
        deadlines: late::verdicts(&computed),
        infeasible,
        overloads,
        warnings: rows::warnings(&computed),
        resources: rows::resources(&computed),
    })
}

/// The passes and the levelling.
pub(crate) fn compute<'p>(project: &'p Project, options: &Options) -> Result<Computed<'p>, Vec<Problem>> {
    let mut model = Model::new(project, options.basis)?;
    let early = forward(&model.network, &model.lines.all);
    let first_end = end_of(&early, model.from);
    let late = backward(&model.network, &model.lines.all, &early, first_end, Deadlines::Respected);
    let placement = level::level(&mut model, options.levelling, &early, &late);
    let worked = placement.worked(&model.network);
    let (network, moved) = if options.levelling == Levelling::Off {
        (worked, (0..early.len()).collect())
    } else {
        level::chained(&model, &worked, &placement)
    };
    let placement = reorder(placement, &moved);
    for node in model.node_of.iter_mut().flatten() {
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
    Ok(Computed { network, pinned, placement, late, floats, drags, paths, end, model })
}

/// When everything is finished.
fn end_of(times: &[Times], from: i64) -> i64 {
    times.iter().map(|times| times.finish).max().unwrap_or(from)
}

fn reorder(placement: Placement, moved: &[usize]) -> Placement {
    let mut ordered = placement.clone();
    for (old, &new) in moved.iter().enumerate() {
        ordered.times[new] = placement.times[old];
        ordered.lines[new] = placement.lines[old];
        ordered.shares[new].clone_from(&placement.shares[old]);
    }
    ordered
}
