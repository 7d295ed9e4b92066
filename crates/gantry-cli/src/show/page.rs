//! One plan on one screen.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use gantry_core::id::TaskId;
use gantry_core::life::{Life, PlanState, TaskState};
use gantry_core::plan::Money;
use gantry_core::time::Duration;

use super::elapsed::elapsed;
use super::forecast::Forecast;
use super::next::Next;
use super::standing::Standing;
use super::style::{self, paint};
use super::table::{self, Cell, cell, fit, pad, wrap};
use super::{first_line, plain, results, shortfalls, text_of, timeline, without_empty_reason};
use crate::file::count;

/// A plan with more tasks than this is shown as counts and the tasks that matter now.
const TASKS_MAX: usize = 40;
/// How many tasks of a large plan are shown.
const SHOWN_MAX: usize = 12;
/// However small the screen, so many lines are for tasks.
const TASKS_MIN: usize = 6;
/// How long paragraphs may be, tried one after the other until everything fits a screen.
const PARAGRAPH_LINES: [usize; 5] = [usize::MAX - 2, 8, 4, 2, 1];
/// A screen at least this wide has room for titles beside ids.
const TITLES_WIDTH_MIN: usize = 72;
/// How many things that happened to the plan as a whole are shown.
const NOTES_MAX: usize = 8;
/// How wide the bar is.
const BAR: usize = 20;

/// Draws where a plan stands, on a screen of this height if there is one.
pub fn draw(standing: &Standing, width: usize, height: Option<usize>) -> String {
    let header = header(standing, width);
    let steps = standing.steps();
    let next = if steps.is_empty() { String::new() } else { format!("\nnext:\n{}", commands(&steps)) };
    let paragraphs = paragraphs(standing, width);
    let page = |tasks: &str, about: &str| format!("{header}\n{tasks}{about}{next}");
    let Some(height) = height else { return page(&tasks(standing, width, TASKS_MAX), &paragraphs.concat()) };
    let lines = |text: &str| text.lines().count();
    // An empty line stands below the header, and whoever reads it types below the page.
    let rows = height.saturating_sub(lines(&header) + lines(&next) + 2);
    let wanted = standing.life.task_ids().len().min(TASKS_MIN);
    let cut = |most: usize| paragraphs.iter().map(|text| shortened(text, most, standing)).collect::<String>();
    let about = PARAGRAPH_LINES.iter().map(|most| cut(*most)).find(|about| lines(about) + wanted <= rows);
    let about = about.unwrap_or_else(|| cut(1));
    page(&tasks(standing, width, rows.saturating_sub(lines(&about)).clamp(wanted, TASKS_MAX)), &about)
}

/// Everything about the plan as a whole, under titles.
fn paragraphs(standing: &Standing, width: usize) -> Vec<String> {
    let life = &standing.life;
    let mut all =
        vec![paragraph("why it failed", life.causes(), width), paragraph("what happened", &notes(standing), width)];
    all.extend(shortfalls::all(life).iter().map(|shortfall| paragraph(&shortfall.title, &shortfall.lines, width)));
    if life.state() == PlanState::Completed {
        all.push(titled("results", &results::draw(life, width)));
    }
    all
}

/// The beginning of a paragraph, and how much more there is.
fn shortened(paragraph: &str, most: usize, standing: &Standing) -> String {
    let (title, lines) = (2, paragraph.lines().count());
    let more = lines.saturating_sub(title + most);
    if more <= 1 {
        return paragraph.to_owned();
    }
    let kept: String = paragraph.split_inclusive('\n').take(title + most).collect();
    format!("{kept}  … and {}; see all with `gantry status {} --json`\n", count(more, "more line"), standing.card.id)
}

/// What one must know about the plan as a whole, the newest last.
fn notes(standing: &Standing) -> Vec<String> {
    let mut notes = timeline::notes(&standing.timeline);
    notes.drain(..notes.len().saturating_sub(NOTES_MAX));
    notes.extend(standing.life.taking_back().and_then(|back| back.halted).map(str::to_owned));
    notes
}

fn titled(title: &str, body: &str) -> String {
    if body.is_empty() { String::new() } else { format!("\n{title}:\n{body}") }
}

/// Sentences under a title: in full, over several lines on a terminal, each in one for other programs.
fn paragraph(title: &str, sentences: &[String], width: usize) -> String {
    let columns = if std::io::stdout().is_terminal() { width.saturating_sub(2) } else { usize::MAX };
    let lines = sentences.iter().flat_map(|sentence| {
        let whole = without_empty_reason(sentence).lines().map(plain).collect::<Vec<_>>();
        whole.iter().flat_map(|line| wrap(line, columns)).collect::<Vec<_>>()
    });
    titled(title, &text_of(lines.map(|line| format!("  {line}")).collect()))
}

/// The commands to type, each with what it does.
pub fn commands(steps: &[Next]) -> String {
    let widest = steps.iter().map(|step| step.command.chars().count()).max().unwrap_or(0);
    let line = |step: &Next| {
        if step.does.is_empty() {
            return format!("  {}", paint(style::STRONG, &step.command));
        }
        let command = pad(&step.command, widest);
        format!("  {}  {}", paint(style::STRONG, command), paint(style::FAINT, format!("# {}", step.does)))
    };
    text_of(steps.iter().map(line).collect())
}

/// `#####-----`.
pub fn bar(done: u32, total: u32, columns: usize) -> String {
    let filled = (done as usize * columns).checked_div(total as usize).unwrap_or(columns).min(columns);
    format!("[{}{}]", "#".repeat(filled), "-".repeat(columns - filled))
}

/// `$1.20 of $5.00`, or nothing where nothing is spent or may be.
pub fn cost(life: &Life) -> Option<String> {
    let (spent, limit) = (life.spent().cost_usd, life.header().policy.budget.cost_usd);
    match limit.filter(|limit| *limit != Money::default()) {
        Some(limit) => Some(format!("${spent} of ${limit}")),
        None => (spent != Money::default()).then(|| format!("${spent}")),
    }
}

/// The first lines: what it is and how far it is.
pub fn header(standing: &Standing, width: usize) -> String {
    let (card, life) = (&standing.card, &standing.life);
    let state = paint(style::of_plan(life.state()), state_words(standing));
    let title = paint(style::STRONG, fit(&first_line(&card.card.title, 200), width));
    let about = format!("{}  no {}  revision {}  {state}", card.id, card.no, life.revision());
    let (done, total) = standing.progress();
    let mut parts = vec![format!("{} {done}/{total} done", bar(done, total, BAR))];
    // What is decided in one turn takes no time in the journal.
    let says_something = |length: &Duration| length.as_ms() > 0 || standing.timeline.plan.ended.is_none();
    let known = standing.elapsed().filter(|length| !standing.is_interrupted() || length.as_ms() > 0);
    parts.extend(known.filter(says_something).filter(|_| !standing.is_new_fork()).map(elapsed));
    parts.extend(cost(life));
    let forecast =
        standing.forecast.as_ref().map(|forecast| format!("{}\n", of_forecast(forecast))).unwrap_or_default();
    format!("{title}\n{about}\n{}\n{forecast}", parts.join("  "))
}

/// When it will be done; that it will be too late stands out.
fn of_forecast(forecast: &Forecast) -> String {
    let style = if forecast.is_late() { style::WAITS } else { style::PLAIN };
    paint(style, forecast.words())
}

/// The state, and what one must know about it.
fn state_words(standing: &Standing) -> String {
    if let Some(back) = standing.life.taking_back() {
        return match (back.halted, standing.driven) {
            (Some(_), _) => "blocked: something cannot be taken back".to_owned(),
            (None, true) => "taking back what was done".to_owned(),
            (None, false) => "ready to go on with taking back what was done".to_owned(),
        };
    }
    if let Some(from) = standing.card.card.forked_from.as_ref().filter(|_| standing.is_new_fork()) {
        return format!("not started yet: it continues `{}` after entry {}", from.plan, from.seq);
    }
    match (standing.life.state(), standing.driven) {
        (PlanState::Blocked, _) if standing.life.over_budget().is_some() => "stopped by its budget".to_owned(),
        (PlanState::Running, false) if standing.is_interrupted() => {
            "running, but nobody works on it: its process is gone".to_owned()
        }
        (PlanState::Running, false) if !standing.inside.is_empty() => {
            "waits for what a plan inside it waits for".to_owned()
        }
        (PlanState::Running, false) => "ready to go on".to_owned(),
        (PlanState::Paused, false) if standing.is_interrupted() => {
            "paused; what still ran when its process ended counts as lost".to_owned()
        }
        (PlanState::Blocked, _) => "blocked: it waits for someone".to_owned(),
        (state, _) => state.to_string(),
    }
}

/// How deep a task is in the tree.
fn depth(life: &Life, task: &TaskId) -> usize {
    let parent = |id: &TaskId| life.definition(id.as_str()).and_then(|task| task.parent.clone());
    std::iter::successors(parent(task), parent).count()
}

fn row(standing: &Standing, task: &TaskId, width: usize) -> Vec<Cell> {
    let life = &standing.life;
    let state = life.task_state(task.as_str()).unwrap_or(TaskState::Pending);
    let attempt = life.task_life(task.as_str()).map_or(0, |life| life.attempt.0);
    let name = format!("{}{task}", "  ".repeat(depth(life, task)));
    let title = life.definition(task.as_str()).map_or("", |task| task.name());
    let title = if title == task.as_str() || width < TITLES_WIDTH_MIN { "" } else { title };
    let tries = if attempt > 1 { format!("attempt {attempt}") } else { String::new() };
    let length = standing.length(task).map(elapsed).unwrap_or_default();
    let about = standing.about(task);
    vec![
        cell(style::of_task(state), state.name()),
        cell(style::PLAIN, name),
        cell(style::FAINT, fit(&first_line(title, 200), width / 3)),
        cell(style::FAINT, tries),
        cell(style::PLAIN, length),
        cell(style::FAINT, about),
    ]
}

/// The tasks in tree order; where there are more than lines, the counts and what matters now.
fn tasks(standing: &Standing, width: usize, lines_max: usize) -> String {
    let ids = standing.life.task_ids();
    if ids.len() <= lines_max {
        return rows(standing, &ids, width);
    }
    let mut counts: BTreeMap<TaskState, usize> = BTreeMap::new();
    let state = |task: &TaskId| standing.life.task_state(task.as_str()).unwrap_or(TaskState::Pending);
    for task in &ids {
        *counts.entry(state(task)).or_default() += 1;
    }
    let said = counts.iter().map(|(state, number)| format!("{number} {state}")).collect::<Vec<_>>();
    let matters = |task: &&TaskId| {
        use TaskState::{Abandoned, Blocked, Completed, Failed, Pending, Ready, Running, Skipped, Waiting};
        match state(task) {
            Running | Waiting | Blocked | Failed => true,
            Pending | Ready | Completed | Skipped | Abandoned => false,
        }
    };
    let shown: Vec<TaskId> = ids.iter().filter(matters).cloned().collect();
    // Above them stand the counts, below them how many more there are.
    let more = shown.len().saturating_sub(SHOWN_MAX.min(lines_max.saturating_sub(2)));
    let mut drawn = format!("  {}: {}\n", count(ids.len(), "task"), said.join(", "));
    drawn += &rows(standing, &shown[..shown.len() - more], width);
    if more > 0 {
        let hint = format!("  … and {more} more; see all with `gantry status {} --json`\n", standing.card.id);
        drawn.push_str(&hint);
    }
    drawn
}

fn rows(standing: &Standing, ids: &[TaskId], width: usize) -> String {
    let rows: Vec<Vec<Cell>> = ids.iter().map(|task| row(standing, task, width)).collect();
    table::draw("  ", &rows, width)
}
