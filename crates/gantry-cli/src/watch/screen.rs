//! What `gantry watch` draws: a list of plans, or one plan.

use gantry_core::id::PlanId;
use gantry_core::life::{PlanState, TaskState};
use gantry_core::time::{Duration, Timestamp};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Cell, Paragraph, Row, Table, TableState};

use crate::list::{Listed, progress_of, state_of};
use crate::show::elapsed::{ago, elapsed, now};
use crate::show::forecast::{Forecast, Look};
use crate::show::standing::Standing;
use crate::show::{first_line, page};

/// How many things to do next are shown.
const STEPS_MAX: usize = 5;
/// How long a forecast is shown while nothing happens.
const FORESEE_EVERY: Duration = Duration::from_secs(10);

/// The list of plans.
#[derive(Default)]
pub struct List {
    plans: Vec<Listed>,
    /// Which one is chosen.
    pub rows: TableState,
}

impl List {
    /// Takes in what was read; what was chosen stays chosen.
    pub fn take(&mut self, plans: Vec<Listed>) {
        let chosen = self.chosen();
        self.plans = plans;
        let place = self.plans.iter().position(|listed| Some(&listed.plan.id) == chosen.as_ref());
        self.rows.select(place.or((!self.plans.is_empty()).then_some(0)));
    }

    /// The plan that is chosen.
    pub fn chosen(&self) -> Option<PlanId> {
        self.rows.selected().and_then(|row| self.plans.get(row)).map(|listed| listed.plan.id.clone())
    }

    /// Draws the list.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let now = now();
        let rows = self.plans.iter().map(|listed| {
            let plan = &listed.plan;
            Row::new([
                Cell::new(plan.no.to_string()),
                Cell::new(state_of(listed)).style(of_plan(plan.card.state)),
                Cell::new(progress_of(plan)),
                Cell::new(ago(plan.updated_at, now)),
                Cell::new(first_line(&plan.card.title, 120)),
            ])
        });
        let widths = [
            Constraint::Length(5),
            Constraint::Length(12),
            Constraint::Length(9),
            Constraint::Length(10),
            Constraint::Fill(1),
        ];
        let table = Table::new(rows, widths)
            .header(Row::new(["NO", "STATE", "DONE", "CHANGED", "TITLE"]).style(faint()))
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
            .block(Block::bordered().title(" plans ").title_bottom(" arrows choose, Enter opens, q quits "));
        frame.render_stateful_widget(table, frame.area(), &mut self.rows);
    }
}

/// One plan.
pub struct One {
    /// Where it stands.
    pub standing: Standing,
    /// Which task is chosen.
    pub rows: TableState,
    /// When it was last foreseen when the plan will be done.
    foreseen: Timestamp,
}

impl One {
    /// A plan with its first task chosen.
    pub fn new(standing: Standing) -> Self {
        Self { foreseen: standing.now, standing, rows: TableState::new().with_selected(0) }
    }

    /// Takes in what was read; what was chosen stays chosen.
    pub fn take(&mut self, standing: Standing) {
        self.foreseen = standing.now;
        self.standing = standing;
    }

    /// Time has passed: a forecast moves when nothing happens.
    pub fn look_again(&mut self, now: Timestamp) {
        self.standing.now = now;
        if now - self.foreseen >= FORESEE_EVERY {
            self.standing.forecast = Forecast::of(&self.standing.life, &self.standing.timeline, now, Look::Close);
            self.foreseen = now;
        }
    }

    /// Draws the plan.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let standing = &self.standing;
        let steps = standing.steps();
        let below = u16::try_from(steps.len().min(STEPS_MAX)).unwrap_or(0);
        let below = if below == 0 { 0 } else { below + 1 };
        let above = if standing.forecast.is_some() { 4 } else { 3 };
        let areas = Layout::vertical([Constraint::Length(above), Constraint::Fill(1), Constraint::Length(below)]);
        let [head, middle, foot] = areas.areas(frame.area());
        let width = usize::from(head.width);
        let header = anstream::adapter::strip_str(&page::header(standing, width)).to_string();
        frame.render_widget(
            Paragraph::new(header.lines().map(|line| Line::from(line.to_owned())).collect::<Vec<_>>()),
            head,
        );
        let rows = standing.life.task_ids().into_iter().map(|task| {
            let state = standing.life.task_state(task.as_str()).unwrap_or(TaskState::Pending);
            let length = standing.length(&task).map(elapsed).unwrap_or_default();
            Row::new([
                Cell::new(state.name()).style(of_task(state)),
                Cell::new(task.to_string()),
                Cell::new(length),
                Cell::new(standing.about(&task)).style(faint()),
            ])
        });
        let widths = [Constraint::Length(10), Constraint::Fill(2), Constraint::Length(9), Constraint::Fill(3)];
        let table = Table::new(rows, widths)
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
            .block(Block::bordered().title(" tasks ").title_bottom(" arrows scroll, Esc goes back, q quits "));
        frame.render_stateful_widget(table, middle, &mut self.rows);
        let steps = steps.into_iter().take(STEPS_MAX).map(|step| Line::from(format!("  {}", step.command)));
        let lines: Vec<Line<'_>> = std::iter::once(Line::from("next:")).chain(steps).collect();
        frame.render_widget(Paragraph::new(lines), foot);
    }
}

fn faint() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

fn of_plan(state: PlanState) -> Style {
    Style::new().fg(match state {
        PlanState::Pending => Color::DarkGray,
        PlanState::Running => Color::Cyan,
        PlanState::Paused | PlanState::Blocked => Color::Yellow,
        PlanState::Completed => Color::Green,
        PlanState::Failed | PlanState::Abandoned => Color::Red,
    })
}

fn of_task(state: TaskState) -> Style {
    match state {
        TaskState::Pending | TaskState::Skipped => faint(),
        TaskState::Ready => Style::new(),
        TaskState::Running => Style::new().fg(Color::Cyan),
        TaskState::Waiting | TaskState::Blocked => Style::new().fg(Color::Yellow),
        TaskState::Completed => Style::new().fg(Color::Green),
        TaskState::Failed | TaskState::Abandoned => Style::new().fg(Color::Red),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::timeline::Timeline;
    use gantry_core::life;
    use gantry_store::{Card, PlanCard, PlanNo};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn card(id: &PlanId) -> PlanCard {
        let at = Timestamp::from_ms(0);
        PlanCard {
            id: id.clone(),
            no: PlanNo(7),
            created_at: at,
            updated_at: at,
            length: 1,
            pinned: false,
            card: Card::new("Ship it"),
        }
    }

    fn standing() -> Standing {
        of(
            "id: ship\ntitle: Ship it\ntasks:\n  - id: build\n    run: make\n  - id: sign-off\n    gate: {approvals: 1}\n    depends_on: [build]\n",
        )
    }

    fn of(text: &str) -> Standing {
        let plan = gantry_format::load("plan.yaml", text.as_bytes()).plan.unwrap();
        let id = plan.id.clone().unwrap();
        let entries = life::create(plan, id.clone(), 1, Timestamp::from_ms(0)).unwrap();
        let life = life::replay(&entries).unwrap();
        Standing {
            card: card(&id),
            life,
            inside: Vec::new(),
            timeline: Timeline::default(),
            driven: false,
            now: Timestamp::from_ms(0),
            forecast: None,
        }
    }

    #[test]
    fn one_plan_is_drawn_with_its_tasks_and_what_to_type() {
        let mut terminal = Terminal::new(TestBackend::new(72, 12)).unwrap();
        let mut one = One::new(standing());
        terminal.draw(|frame| one.draw(frame)).unwrap();
        insta::assert_snapshot!(terminal.backend());
    }

    #[test]
    fn when_it_will_be_done_is_drawn_and_moves_while_nothing_happens() {
        let text =
            "id: ship\ntitle: Ship it\ntasks:\n  - {id: build, run: make, estimate: {low: 1h, likely: 1h, high: 1h}}\n";
        let mut one = One::new(of(text).foreseen());
        let drawn = |one: &mut One| {
            let mut terminal = Terminal::new(TestBackend::new(72, 12)).unwrap();
            terminal.draw(|frame| one.draw(frame)).unwrap();
            terminal.backend().to_string()
        };
        assert!(drawn(&mut one).contains("done about 1970-01-01T01:00:00Z"), "{}", drawn(&mut one));
        one.look_again(Timestamp::from_ms(60_000));
        assert!(drawn(&mut one).contains("done about 1970-01-01T01:01:00Z"), "{}", drawn(&mut one));
    }

    #[test]
    fn what_was_chosen_stays_chosen_when_a_new_plan_comes() {
        let listed = |id: &str| Listed { plan: card(&PlanId::slugged(id)), driven: false, interrupted: false };
        let mut list = List::default();
        list.take(vec![listed("b"), listed("a")]);
        list.rows.select(Some(1));
        list.take(vec![listed("c"), listed("b"), listed("a")]);
        assert_eq!(list.chosen().unwrap().as_str(), "a");
    }
}
