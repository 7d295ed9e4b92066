//! What each page about a plan shows.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gantry_core::id::TaskId;
use gantry_core::life::{State, TaskState, Waiting};
use gantry_core::plan::{Action, Money, Reference, Task, references};
use gantry_report::chart::{Frame, Heading, Sheet};
use gantry_report::picture::{Picture, compared};
use gantry_schedule::TaskKind;
use gantry_view::elapsed::elapsed;
use gantry_view::parts::folded;
use gantry_view::people;
use gantry_view::proposal::Proposal;
use gantry_view::standing::Standing;
use gantry_view::timeline::notes;
use gantry_view::under_way::planned_of;
use gantry_view::words::{Tone, Weight, said};
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::Query;
use crate::api::{
    all_hypotheses, all_revisions, audited, computed, known, life_at_entry, open_gates, scheduled, task_value,
};
use crate::app::App;
use crate::listen::encoded;
use crate::pages::gates::{gate_form, side_by_side, sign};
use crate::pages::graph::{BOX, Graph};
use crate::pages::layout::{empty, state};
use crate::pages::parts::{ask_form, day, moment, text, texts, value, values, when, when_told};
use crate::problem::Problem;

/// How many rows of a journal are shown at once.
const ROWS: usize = 200;

pub async fn overview(app: &App, standing: &Standing) -> Result<Markup, Problem> {
    let (life, card) = (&standing.life, &standing.card);
    let counts = life.counts();
    let recent: Vec<_> = gantry_engine::entries_after(app.store(), &card.id, card.length.saturating_sub(60)).await?;
    let asks = people::asks(app.store(), life).await?;
    let gates = open_gates(app, card, life).await?;
    let action = format!("/p/{}/do", card.id);
    let proposal = Proposal::of(life);
    // What one person does has no price here.
    let priced = proposal.as_ref().filter(|proposal| proposal.cost.is_some_and(|cost| cost > 0));
    let money = |amount: u64| {
        format!("{} {}", gantry_report::thousands(amount), proposal.as_ref().map_or("", |proposal| &proposal.currency))
    };
    Ok(html! {
        div #overview data-live {
            @if !life.header().objective.is_empty() { p { (life.header().objective) } }
            @for note in notes(&standing.timeline) { p.tone-waits { (note) } }
            @for cause in life.causes() { div.card.problem { "Why it failed: " (cause) } }
            @if let Some(proposal) = proposal.as_ref().filter(|proposal| !proposal.gaps.is_empty()) {
                div.card.problem {
                    b { "What does not fit" } ul { @for gap in &proposal.gaps { li { (gap) } } }
                    @if !proposal.options.is_empty() { b { "What would help" } ul { @for option in &proposal.options { li { (option) } } } }
                }
            }
            div.grid {
                @if let Some(forecast) = &standing.forecast {
                    div.card.figure { "Forecast" b { (day(forecast.finish)) } span.small.soft {
                        @if let Some(p80) = forecast.p80 { "8 of 10 by " (day(p80)) }
                        @if let Some(deadline) = forecast.deadline { @if forecast.p80.is_some() { ", " } "due " (day(deadline)) }
                        @if forecast.deadline.is_some_and(|deadline| deadline < forecast.finish) { " " span.tone-bad { "late" } }
                    } }
                }
                @if let Some((proposal, p50)) = priced.and_then(|proposal| Some((proposal, proposal.cost_p50?))) {
                    div.card.figure { "Cost, as planned" b { (money(p50)) } span.small.soft {
                        @if let Some(p80) = proposal.cost_p80 { "8 of 10 within " (money(p80)) }
                        @if let Some(budget) = proposal.budget { ", budget " (money(budget)) @if budget < p50 { " " span.tone-bad { "over" } } }
                    } }
                }
                div.card.figure { "Spent" b { "$" (card.card.used.cost_usd) } span.small.soft { @if let Some(max) = card.card.budget.cost_usd { "of $" (max) ", " } (card.card.used.model_calls) " model calls, " (card.card.used.tokens) " tokens" } }
                div.card.figure { "Tasks" b { (counts.values().sum::<u32>()) } div.row.counts { @for (name, count) in &counts { span.state data-state=(name) { (count) " " (name) } } } }
            }
            div.split { div {
            @if !gates.is_empty() || !asks.is_empty() { h2 { "Waits for people" } }
            @for gate in &gates { (gate_form(gate, &action)) }
            @for (task, asked) in &asks { (ask_form(&asked.to_json(card, life, task), &action)) }
            @let others: Vec<_> = life.waits().filter(|wait| wait.task.as_ref().is_none_or(|task| !gates.iter().any(|gate| text(gate, "gate") == task.as_str()) && !asks.iter().any(|(asked, _)| asked == task))).collect();
            @if !others.is_empty() { h2 { "Waits for" } }
            @for wait in others.iter().take(20) { p { @if let Some(task) = &wait.task { a href=(task_url(standing, task)) { (task) } ": " } (wait.what) } }
            @if gates.is_empty() && asks.is_empty() && others.is_empty() { h2 { "Waits for" } p.soft { "Nobody and nothing." } }
            } div {
            h2 { "Lately" }
            @let news: Vec<_> = recent.iter().rev().filter(|entry| said(&entry.event).weight == Weight::News).take(12).collect();
            @if news.is_empty() { p.soft { "Nothing has happened yet." } }
            ul.lately { @for entry in news { li { (when(entry.at)) " " span class=(tone(said(&entry.event).tone)) { (said(&entry.event).line()) } } } }
            } }
        }
        form.card.row method="post" action=(action) {
            label.beside for="note" { "Note" } input #note name="text" size="40" required; button name="do" value="note" { "Write it down" }
        }
    })
}

fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "tone-good",
        Tone::Waits => "tone-waits",
        Tone::Bad => "tone-bad",
    }
}

fn task_url(standing: &Standing, task: &TaskId) -> String {
    format!("/p/{}/tasks/{task}", standing.card.id)
}

fn short(title: &str, most: usize) -> String {
    if title.chars().count() <= most { title.to_owned() } else { title.chars().take(most - 1).chain(['…']).collect() }
}

fn picture(standing: &Standing, graph: &Graph) -> Markup {
    let (w, h) = BOX;
    let middle = |at: (u32, u32), right: bool| (at.0 + if right { w } else { 0 }, at.1 + h / 2);
    html! {
        svg.graph tabindex="0" role="group" aria-label="Graph of tasks; + and - zoom, arrows move" viewBox=(format!("0 0 {} {}", graph.size.0.max(1), graph.size.1.max(1))) {
            g {
                @for (from, to) in &graph.edges {
                    @let (a, b) = (middle(graph.nodes[*from].at, true), middle(graph.nodes[*to].at, false));
                    @let bend = (b.0.saturating_sub(a.0) / 2).max(20);
                    path.edge d=(format!("M{} {}C{} {} {} {} {} {}", a.0, a.1, a.0 + bend, a.1, b.0.saturating_sub(bend), b.1, b.0, b.1)) {}
                }
                @for node in &graph.nodes {
                    a href=(task_url(standing, &node.id)) aria-label=(format!("{}: {}", node.title, node.state)) {
                        g.node data-task=(node.id) data-state=(node.state) {
                            title { (node.title) }
                            rect.box x=(node.at.0) y=(node.at.1) width=(w) height=(h) rx="6" {}
                            rect.mark x=(node.at.0) y=(node.at.1) width="5" height=(h) rx="2" {}
                            text x=(node.at.0 + 14) y=(node.at.1 + 18) { (short(&node.title, 26)) }
                            text.soft x=(node.at.0 + 14) y=(node.at.1 + 34) { (short(&format!("{} · {}", node.id, node.action), 30)) }
                        }
                    }
                }
            }
        }
    }
}

pub fn graph(standing: &Standing) -> Markup {
    let graph = Graph::of(&standing.life);
    html! {
        p.small.soft { (graph.nodes.len()) " tasks; drag to move, wheel or " kbd { "+" } " " kbd { "-" } " to zoom, click a box for everything about it." }
        (picture(standing, &graph))
        // The states are brought up to date by themselves; the picture stays where it was moved to.
        div #states data-live hidden { @for node in &graph.nodes { i data-task=(node.id) data-state=(node.state) {} } }
        p.row.small { @for name in ["pending", "ready", "running", "waiting", "blocked", "completed", "failed", "skipped"] { (state(name)) } }
    }
}

/// How wide the chart is drawn: for a desk, and for a phone.
const CHART_WIDTHS: [(&str, u32); 2] = [("on-desk", 1_150), ("on-phone", 362)];

pub async fn timeline(app: &App, standing: &Standing) -> Result<Markup, Problem> {
    let (project, schedule) = match computed(app, &standing.life).await {
        Ok(found) => found,
        Err(problem) => return Ok(empty("It has no timeline.", html! { p { (problem.detail) } })),
    };
    if schedule.tasks.is_empty() {
        return Ok(empty("Nothing in it has a date.", html! { p { "Give tasks an " code { "estimate" } "." } }));
    }
    // As it was to happen: the same work, and nothing of it done yet.
    let planned = match planned_of(&standing.life, &standing.timeline) {
        Some(before) => scheduled(before).await.ok().map(|(_, planned)| planned),
        None => None,
    };
    let draw = |width: u32| {
        let frame = Frame {
            id: format!("timeline-{width}"),
            heading: Heading::Hidden,
            sheet: Sheet::OfThePage,
            ..Frame::titled("When everything happens", width)
        };
        match &planned {
            Some(planned) => Some(compared(&schedule, &project, planned, &frame)),
            None => Picture::Gantt.draw(&schedule, &project, &frame),
        }
    };
    let critical: Vec<_> =
        schedule.tasks.iter().filter(|task| task.critical && task.kind != TaskKind::Summary).collect();
    let moved = planned.as_ref().map(|planned| planned.finish).filter(|before| *before != schedule.finish);
    Ok(html! {
        div #timeline data-live {
            div.grid {
                div.card.figure { "Done about" b { (moment(schedule.finish)) } @if let Some(before) = moved { span.small.soft { "planned " (moment(before)) } } }
                @if let Some(due) = schedule.deadlines.iter().find(|one| one.task.is_none()) {
                    div.card.figure { "Due" b { (moment(due.at)) } span class=(if due.met { "small tone-good" } else { "small tone-bad" }) { @if due.met { "met" } @else { "missed" } } }
                }
                @if let Some(futures) = &schedule.monte_carlo {
                    div.card.figure { "In 8 of 10 cases by" b { (moment(futures.finish.p80)) } span.small.soft { "in 5 of 10 by " (moment(futures.finish.p50)) } }
                }
            }
            @for (name, width) in CHART_WIDTHS { div class=(format!("wide chart {name}")) tabindex="0" role="region" aria-label="Timeline" { (PreEscaped(draw(width).unwrap_or_default())) } }
            @if !critical.is_empty() {
                h2 { "Critical path" }
                p.soft { "What delays one of these delays the end." }
                ol.path { @for task in critical.iter().take(60) {
                    li { a href=(format!("/p/{}/tasks/{}", standing.card.id, encoded(&task.id))) { (if task.title.is_empty() { &task.id } else { &task.title }) } " " span.small.soft { (moment(task.start)) " – " (moment(task.finish)) } }
                } }
                @if critical.len() > 60 { p.soft { "and " (critical.len() - 60) " more" } }
            }
        }
    })
}

fn depth(standing: &Standing, task: &TaskId) -> usize {
    let (mut depth, mut at) = (0, task.clone());
    while let Some(parent) = standing.life.definition(at.as_str()).and_then(|task| task.parent.clone()) {
        depth += 1;
        at = parent;
        if depth > 8 {
            break;
        }
    }
    depth
}

pub fn tasks(standing: &Standing) -> Markup {
    let life = &standing.life;
    html! {
        div #tasks data-live { div.wide { table.cards {
            thead { tr { th { "Task" } th { "State" } th { "How" } th { "Took" } th { "Cost" } th { "About" } } }
            tbody { @for id in life.task_ids() {
                @let known = life.task_life(id.as_str());
                @let definition = life.definition(id.as_str());
                tr {
                    td class=(format!("main depth-{}", depth(standing, &id).min(3))) { a href=(task_url(standing, &id)) { (definition.map_or(id.as_str(), |task| task.name())) } div.small.soft { (id) } }
                    td { (state(life.task_state(id.as_str()).map_or("pending", TaskState::name))) }
                    td.small { (definition.and_then(|task| task.action.as_ref()).map_or("", |action| action.key())) }
                    td.n { @if let Some(length) = standing.length(&id) { (elapsed(length)) } }
                    td.n { @if let Some(known) = known.filter(|known| known.spent.cost_usd != Money::default()) { "$" (known.spent.cost_usd) } }
                    td.small.all { (standing.about(&id)) }
                }
            } }
        } } }
    }
}

pub async fn task(app: &App, standing: &Standing, name: &str) -> Result<Markup, Problem> {
    let (life, plan) = (&standing.life, &standing.card.id);
    let id = known(life, name)?;
    let all = task_value(app, plan, life, &id).await?;
    let definition = life.definition(name);
    let action = format!("/p/{plan}/do");
    let now = life.task_state(name).unwrap_or(TaskState::Pending);
    let waiting = match life.task_life(name).map(|known| &known.state) {
        Some(State::Waiting(waiting)) => Some(waiting),
        _ => None,
    };
    let gates = open_gates(app, &standing.card, life).await?;
    let asks = people::asks(app.store(), life).await?;
    let calls = gantry_store::all_effects(app.store(), plan, Some(&id)).await?;
    let attempt = life.task_life(name).map_or(0, |known| known.attempt.0);
    Ok(html! {
        div #task data-live {
            h2 { (definition.map_or(name, |task| task.name())) " " (state(now.name())) }
            p.soft { (id) @if attempt > 0 { ", attempt " (attempt) } @if let Some(length) = standing.length(&id) { ", " (elapsed(length)) } @if let Some(spent) = life.task_life(name).map(|known| known.spent).filter(|spent| spent.model_calls > 0) { ", $" (spent.cost_usd) ", " (spent.model_calls) " model calls, " (spent.tokens) " tokens" } }
            @if !text(&all, "about").is_empty() { p { (text(&all, "about")) } }
            @if let Some(described) = definition.and_then(|task| task.description.as_deref()) { p { (described) } }
            @if let Some(why) = definition.and_then(|task| task.rationale.as_deref()) { p { b { "Why it is there: " } (why) } }
            @for gate in gates.iter().filter(|gate| text(gate, "gate") == id.as_str()) { (gate_form(gate, &action)) }
            @for (task, asked) in asks.iter().filter(|(task, _)| *task == id) { (ask_form(&asked.to_json(&standing.card, life, task), &action)) }
            @if let Some(waiting) = waiting { (help(&action, &id, waiting, definition.and_then(|task| task.action.as_ref()))) }
            div.two {
                div {
                    h2 { "Works on" } (values(&all["inputs"], "Nothing that comes from elsewhere."))
                    @let from = definition.map(sources).unwrap_or_default();
                    @if !from.is_empty() { p.small.soft { "Comes after " @for (at, task) in from.iter().enumerate() { @if at > 0 { ", " } a href=(task_url(standing, task)) { (task) } } } }
                }
                div { h2 { "Gave" } (values(&all["outputs"], "Nothing yet.")) }
            }
        }
        // What has ended has its output above, as a whole.
        @if matches!(now, TaskState::Pending | TaskState::Ready | TaskState::Running) {
            h2 { "Output as it comes" }
            pre.log data-output=(id) aria-label="Output of the task, as it comes" tabindex="0" {}
        }
        @if now == TaskState::Completed {
            form.card method="post" action=(action) {
                h3 { "Change what it gave; exactly what works on it is done again" }
                input type="hidden" name="task" value=(id);
                div.row {
                    input name="name" list="outputs" aria-label="Output" placeholder="output" required;
                    datalist #outputs { @for (key, _) in all["outputs"].as_object().into_iter().flatten() { option value=(key) {} } }
                    input name="value" aria-label="New value" placeholder="new value" size="40";
                    input name="why" aria-label="Why" placeholder="why";
                    button.main name="do" value="edit" { "Change it" }
                }
            }
        }
        @if matches!(now, TaskState::Completed | TaskState::Failed | TaskState::Skipped) {
            form.row method="post" action=(action) { input type="hidden" name="task" value=(id); button name="do" value="retry" { "Do it again" } }
        }
        div #more data-live {
            h2 { "Made" }
            (artifact_rows(standing, all["artifacts"].as_array().map(Vec::as_slice).unwrap_or_default()))
            @if !calls.is_empty() { h2 { "Calls to the outside" } }
            @for call in calls.iter().rev().take(20) {
                details.card id=(format!("call-{}-{}", call.attempt, call.ordinal)) {
                    summary { (call.kind) " " span.small.soft { "attempt " (call.attempt) ", " (when(call.started_at)) ", $" (call.usage.cost_usd) ", " (call.usage.tokens) " tokens" } }
                    h3 { "Asked" } (value(&call.request))
                    @if let Some(answer) = &call.answer { h3 { "Answered" } (value(answer)) }
                }
            }
            h2 { "History" }
            @if all["history"].as_array().is_none_or(Vec::is_empty) { p.soft { "Nothing yet." } }
            ul.lately { @for entry in all["history"].as_array().into_iter().flatten() { li { (when_told(entry, "at")) " " (text(entry, "said")) } } }
            details.card #definition { summary { "As it stands in the plan" } pre { (format!("{:#}", all["definition"])) } }
        }
    })
}

/// The tasks that a task works on or waits for, each once.
fn sources(task: &Task) -> BTreeSet<TaskId> {
    let read = references(task).into_iter().filter_map(|(_, reference)| match reference {
        Reference::Task { task, .. } => Some(task.clone()),
        Reference::Artifact { .. } | Reference::Memory { .. } => None,
    });
    read.chain(task.depends_on.iter().cloned()).collect()
}

/// What a person can do for a task that waits.
fn help(action: &str, id: &TaskId, waiting: &Waiting, how: Option<&Action>) -> Markup {
    match waiting {
        Waiting::Work => html! {
            form.card method="post" action=(action) enctype="multipart/form-data" {
                input type="hidden" name="task" value=(id);
                @if let Some(Action::Manual(manual)) = how { p { (manual.instruction) } }
                div.fields {
                    div { label for="result" { "Result" } input.full #result name="name" placeholder="what it is called"; }
                    div { label for="result-value" { "Its value" } input.full #result-value name="value"; }
                    div { label for="evidence" { "Evidence" } input.full #evidence name="evidence" type="file" multiple; }
                }
                div.row { button.main name="do" value="done" { "It is done" } }
            }
            form.card.row method="post" action=(action) {
                input type="hidden" name="task" value=(id);
                label.beside for="why-not" { "Why not" } input #why-not name="why" size="40" required; button.bad name="do" value="fail" { "It could not be done" }
            }
        },
        Waiting::Help { failure } if !failure.is_needs_approval() => html! {
            form.card method="post" action=(action) {
                input type="hidden" name="task" value=(id); input type="hidden" name="do" value="resolve";
                p { "It asks for help: " (failure.message) }
                input name="why" aria-label="What the next attempt is told, or why" placeholder="guidance, or why" size="40";
                div.row {
                    button.main name="how" value="retry" { "Try again" } button name="how" value="complete" { "Count as done" }
                    button name="how" value="skip" { "Leave out" } button.bad name="how" value="fail" { "Let it fail" }
                }
            }
        },
        _ => html! {},
    }
}

pub async fn gates(app: &App, standing: &Standing) -> Result<Markup, Problem> {
    let (life, card) = (&standing.life, &standing.card);
    let (open, action) = (open_gates(app, card, life).await?, format!("/p/{}/do", card.id));
    let entries = gantry_engine::entries(app.store(), &card.id).await?;
    let decided: Vec<_> =
        entries.iter().filter(|entry| matches!(entry.event, gantry_core::event::Event::GateDecided { .. })).collect();
    let asks = people::asks(app.store(), life).await?;
    Ok(html! {
        div #gates data-live {
            @if open.is_empty() && asks.is_empty() { (empty("Nothing waits for a decision.", html! {})) }
            @for gate in &open { (gate_form(gate, &action)) }
            @if open.len() > 1 {
                form.card method="post" action=(action) {
                    h3 { "Several at once: all of them, or none" }
                    @for gate in &open { p { label.beside { input type="checkbox" name="gate" value=(text(gate, "gate")); " " (text(gate, "title")) } } }
                    div.row { input name="why" aria-label="Why" placeholder="why"; button.main name="do" value="approve" { "Approve these" } button.bad name="do" value="reject" { "Reject these" } }
                }
            }
            @for (task, asked) in &asks { (ask_form(&asked.to_json(card, life, task), &action)) }
            @if !decided.is_empty() { h2 { "Decided" } }
            @for entry in decided.iter().rev() { p { (when(entry.at)) " " (said(&entry.event).line()) } }
        }
    })
}

fn artifact_rows(standing: &Standing, rows: &[Value]) -> Markup {
    if rows.is_empty() {
        return html! { p.soft { "Nothing yet." } };
    }
    html! { div.wide { table.cards { thead { tr { th { "Name" } th { "Task" } th { "Size" } th { "Made" } th { } } } tbody { @for row in rows {
        @let url = format!("/api/v1/plans/{}/artifacts/{}/{}", standing.card.id, encoded(text(row, "task")), encoded(text(row, "name")).replace('/', "%2F"));
        tr {
            td.main { (text(row, "name")) @if !row["version"].is_null() { span.small.soft { " version " (row["version"]) } } }
            td { a href=(format!("/p/{}/tasks/{}", standing.card.id, encoded(text(row, "task")))) { (text(row, "task")) } } td.n { (gantry_view::bytes(row["bytes"].as_u64().unwrap_or(0))) } td.small.soft { (when_told(row, "at")) " by " (text(row, "made_by")) }
            td.links { @if !row["version"].is_null() { a href=(format!("{url}?version={}&inline=true", row["version"])) { "Look" } a href=(format!("{url}?version={}", row["version"])) { "Download" } } }
        }
    } } } } }
}

pub async fn artifacts(app: &App, standing: &Standing) -> Result<Markup, Problem> {
    let rows = gantry_store::all_artifacts(app.store(), &standing.card.id).await?;
    let shown: Vec<Value> = folded(&rows).iter().rev().map(gantry_view::parts::Shown::to_json).collect();
    Ok(html! { div #artifacts data-live { (artifact_rows(standing, &shown)) } })
}

pub async fn revisions(app: &App, standing: &Standing, query: &Query) -> Result<Markup, Problem> {
    let all = all_revisions(app, &standing.card.id).await?;
    let count = u32::try_from(all.len()).unwrap_or(1).max(1);
    let to = query.to.unwrap_or(count).clamp(1, count);
    let from = query.from.unwrap_or(to.saturating_sub(1)).clamp(1, count);
    let at =
        |no: u32| gantry_view::revision::life_at(app.store(), &standing.card.id, Some(gantry_core::id::Revision(no)));
    let (before, after) = (at(from).await?.plan(), at(to).await?.plan());
    let diff = gantry_core::plan::diff(&before, &after).to_string();
    Ok(html! {
        div #revisions data-live {
            @for one in all.iter().rev() {
                section.card {
                    b { "Revision " (one["revision"]) } " " span.small.soft { (when_told(one, "at")) @if let Some(by) = one["by"].as_str() { " by " (by) } }
                    @if !text(one, "rationale").is_empty() { p { (text(one, "rationale")) } }
                    @for line in texts(one, "lines").iter().take(30) { div class=(format!("small {}", sign(line))) { (line) } }
                }
            }
        }
        @if count > 1 {
            h2 { "Side by side" }
            form.row { label.beside for="from" { "from" } input #from name="from" type="number" min="1" max=(count) value=(from); label.beside for="to" { "to" } input #to name="to" type="number" min="1" max=(count) value=(to); button { "Compare" } }
            pre { @for line in diff.lines() { span class=(sign(line)) { (gantry_view::plain(line)) "\n" } } }
            (side_by_side(&gantry_format::to_yaml(&before), &gantry_format::to_yaml(&after), &format!("Revision {from}"), &format!("Revision {to}")))
        }
    })
}

pub async fn hypotheses(app: &App, standing: &Standing) -> Result<Markup, Problem> {
    let all = all_hypotheses(app, &standing.card.id).await?;
    if all.is_empty() {
        return Ok(empty(
            "This plan tests no hypothesis.",
            html! { p { "Add some under " code { "hypotheses" } " in the plan." } },
        ));
    }
    Ok(html! { div #hypotheses data-live { @for one in &all {
        @let evidence = one["evidence"].as_array().cloned().unwrap_or_default();
        section.card {
            b { (text(one, "id")) } " " (text(one, "statement"))
            p.row { "Confidence" progress max="1" value=(one["confidence"]) aria-label="Confidence" {} b { (one["confidence"]) } }
            @if evidence.len() > 1 { svg width="240" height="44" role="img" aria-label="Confidence over time" { path.spark d=(spark(&evidence)) {} } }
            @for found in &evidence { p.small { span.soft { (when_told(found, "at")) " " (text(found, "by")) } " " b { (text(found, "direction").replace('_', " ")) } ": " (text(found, "evidence")) " → " (found["confidence"]) } }
        }
    } } })
}

fn spark(evidence: &[Value]) -> String {
    let step = 236.0 / f64::from(u32::try_from(evidence.len()).unwrap_or(u32::MAX).saturating_sub(1).max(1));
    let mut x = 2.0;
    let mut path = String::new();
    for (at, one) in evidence.iter().enumerate() {
        let confidence = one["confidence"].as_f64().unwrap_or(0.5).clamp(0.0, 1.0);
        let _ = write!(path, "{}{:.1} {:.1}", if at == 0 { "M" } else { "L" }, x, 42.0 - 40.0 * confidence);
        x += step;
    }
    path
}

pub async fn journal(app: &App, standing: &Standing, query: &Query) -> Result<Markup, Problem> {
    let (plan, length) = (&standing.card.id, standing.card.length);
    let newest = length.saturating_sub(ROWS as u64);
    let after = query.after.unwrap_or(if query.task.is_some() { 0 } else { newest });
    let entries = gantry_engine::entries_after(app.store(), plan, after).await?;
    let about = |entry: &&gantry_core::event::Entry| {
        query
            .task
            .as_deref()
            .is_none_or(|task| task.is_empty() || entry.event.task().is_some_and(|known| known.as_str() == task))
    };
    let rows: Vec<_> = entries.iter().filter(about).take(ROWS).collect();
    let at = query.at.filter(|at| *at >= 1 && *at <= length);
    let then = life_at_entry(app, plan, at).await?;
    let checked = match &query.verify {
        Some(_) => Some(audited(app, plan).await?),
        None => None,
    };
    Ok(html! {
        section.card {
            h2 { "The plan as it was" }
            form {
                label for="at" { "After entry " output #replay-at { (at.unwrap_or(length)) } " of " (length) }
                input #at type="range" name="at" min="1" max=(length) value=(at.unwrap_or(length)) data-replay=(plan) list="none";
                button { "Show" }
            }
            div.replayed { (picture(standing, &Graph::of(&then))) }
            form.row method="post" action=(format!("/p/{plan}/do")) { label.beside for="fork-at" { "Another life after entry" } input #fork-at name="at" type="number" min="1" max=(length) value=(at.unwrap_or(length)); button name="do" value="fork" { "Fork" } }
        }
        div.row.filter {
            form.row { input name="task" placeholder="task" aria-label="Only about this task" value=(query.task.clone().unwrap_or_default()); button { "Filter" } }
            form { button name="verify" value="1" { "Verify the hash chain" } }
            a.button href=(format!("/api/v1/plans/{plan}/journal?limit=1000")) { "As JSON" }
        }
        @if let Some(checked) = &checked {
            @if checked["sound"] == Value::Bool(true) { div.card { span.tone-good { "Sound: " } (checked["length"]) " entries are what was written. Head " code { (text(checked, "head")) } } }
            @else { div.card.problem role="alert" { "Not what was written: " (checked["problems"].to_string()) } }
        }
        div #journal data-live {
            @if after > 0 { p { a href=(format!("/p/{plan}/journal?after={}", after.saturating_sub(ROWS as u64))) { "Earlier" } } }
            table { tbody { @for entry in &rows { @let words = said(&entry.event);
                tr { td.n.small.soft { (entry.seq) } td.small.soft { (when(entry.at)) } td class=(tone(words.tone)) { (words.line()) } }
            } } }
            @if let Some(last) = rows.last().map(|entry| entry.seq).filter(|last| *last < length) { p { a href=(format!("/p/{plan}/journal?after={last}")) { "Later" } } }
        }
    })
}

/// The report in a frame of its own, and everything that can be taken along.
pub fn report(standing: &Standing) -> Markup {
    let plan = &standing.card.id;
    let forms = [
        ("yaml", "Plan file"),
        ("json", "Everything, JSON"),
        ("mermaid", "Flowchart"),
        ("csv", "Table"),
        ("ical", "Calendar"),
        ("msproject", "Microsoft Project"),
    ];
    let page = format!("/api/v1/plans/{plan}/report");
    html! {
        p.row {
            a.button.main href=(page) target="_blank" rel="noopener" { "Open the report" }
            a.button href=(format!("{page}?download=true")) { "Save the page" }
            a.button href=(format!("{page}?format=markdown&download=true")) { "Markdown" }
            @for (form, name) in forms { a.button href=(format!("/api/v1/plans/{plan}/export?format={form}")) { (name) } }
        }
        iframe.report src=(page) title=(format!("Report: {}", standing.card.card.title)) loading="lazy" {}
    }
}
