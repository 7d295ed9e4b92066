//! When a plan will be done, as far as its estimates say. Computed whenever someone looks, and never stored: it moves
//! with the time.

use gantry_core::life::{Life, TaskState};
use gantry_core::plan::when;
use gantry_core::time::{Duration, Timestamp};
use gantry_schedule::{Moment, Options, Verdict, schedule};
use gantry_store::{PlanCard, Store};
use serde_json::{Value, json};

use crate::elapsed::{clock, elapsed};
use crate::timeline::Timeline;
use crate::under_way::project_at;
use gantry_engine::{EngineError, Opened};

/// How many tasks that will be late are named in words.
const LATE_NAMED_MAX: usize = 3;

/// When a plan will be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// When, if nothing goes wrong: everything takes as long as is expected, and no risk strikes.
    pub finish: Timestamp,
    /// Not later than this in half of all futures.
    pub p50: Option<Timestamp>,
    /// Not later than this in eight of ten futures.
    pub p80: Option<Timestamp>,
    /// By when it should be done.
    pub deadline: Option<Timestamp>,
    /// On which day that is, where the plan is.
    pub due: Option<jiff::civil::Date>,
    /// Tasks that are not done and will miss deadlines of their own, the latest first.
    pub late: Vec<Late>,
}

/// A task that will be done after its deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Late {
    task: String,
    deadline: Timestamp,
    by: Duration,
    hard: bool,
}

/// How closely one looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Often, and for the expected finish alone.
    Glance,
    /// Once, at many futures.
    Close,
}

impl Forecast {
    /// What the estimates of everything that is not done say; nothing when nothing of it has one, or when the plan
    /// cannot be scheduled (`gantry schedule` says why).
    pub fn of(life: &Life, timeline: &Timeline, now: Timestamp, look: Look) -> Option<Self> {
        if life.state().is_over() {
            return None;
        }
        let mut project = project_at(life, timeline, now);
        let open = |task: &gantry_schedule::project::Task| task.estimate.is_some() && task.progress.finished.is_none();
        if !project.tasks.iter().any(open) {
            return None;
        }
        // What waits to be accepted begins when it says.
        if timeline.plan.began.is_none() || project.data_date.is_some() {
            project.data_date = Some(when(now));
        }
        // As everywhere else, or this would tell another finish than `gantry schedule` and the report do.
        let usual = Options::usual(&project);
        let options = match look {
            Look::Glance => Options { draws: 0, ..usual },
            Look::Close => usual,
        };
        let schedule = schedule(&project, &options).ok()?;
        let whole = schedule.deadlines.iter().find(|verdict| verdict.task.is_none());
        let futures = schedule.monte_carlo.as_ref();
        Some(Self {
            finish: instant(schedule.finish)?,
            deadline: whole.and_then(|verdict| instant(verdict.at)),
            due: whole.and_then(|verdict| verdict.at.last_date()),
            late: late(&schedule.deadlines, life),
            p50: futures.and_then(|futures| instant(futures.finish.p50)),
            p80: futures.and_then(|futures| instant(futures.finish.p80)),
        })
    }

    /// The forecast of a plan of the record.
    pub async fn read(store: &dyn Store, plan: &PlanCard, now: Timestamp) -> Result<Option<Self>, EngineError> {
        if plan.card.state.is_over() {
            return Ok(None);
        }
        let Opened { life, timeline, .. } = gantry_engine::open(store, &plan.id).await?;
        Ok(Self::of(&life, &timeline, now, Look::Close))
    }

    /// The finish that is named wherever one is: in half of all futures it comes no later (P50), as plans and reports say
    /// it, too. Where no futures were drawn, it is when nothing goes wrong, and [`Self::proviso`] says so.
    pub fn expected(&self) -> Timestamp {
        self.p50.unwrap_or(self.finish)
    }

    /// What must be said beside the finish.
    fn proviso(&self) -> &'static str {
        match self.p50 {
            Some(p50) if self.p80 == Some(p50) => "",
            Some(_) => " (P50)",
            None => " if nothing goes wrong",
        }
    }

    /// How long after its deadline the plan will be done.
    pub fn late_by(&self) -> Option<Duration> {
        let finish = self.expected();
        self.deadline.filter(|deadline| *deadline < finish).map(|deadline| finish - deadline)
    }

    /// For programs. The keys are a promise.
    pub fn to_json(&self) -> Value {
        let late_by_ms = self.late_by().map(Duration::as_ms);
        let late_tasks: Vec<Value> = self
            .late
            .iter()
            .map(|late| json!({"task": late.task, "deadline": late.deadline, "late_by_ms": late.by.as_ms(), "hard": late.hard}))
            .collect();
        json!({"finish": self.finish, "p50": self.p50, "p80": self.p80, "late_by_ms": late_by_ms, "late_tasks": late_tasks})
    }

    /// Tells whether the plan, or one of its tasks, will be late.
    pub fn is_late(&self) -> bool {
        self.late_by().is_some() || !self.late.is_empty()
    }

    /// `about 2h 05m left, 20m 00s late`: for one line beside others.
    pub fn brief(&self, now: Timestamp) -> String {
        let late = self.late_by().map(|late| format!(", {} late", elapsed(late))).unwrap_or_default();
        let proviso = if self.p50.is_none() { self.proviso() } else { "" };
        format!("about {} left{proviso}{late}", elapsed(self.expected() - now))
    }

    /// `done about 2026-03-06T17:00:00Z (P50), 80% sure by 2026-03-09T10:00:00Z, 2h 05m after the deadline`.
    pub fn words(&self) -> String {
        let mut words = vec![format!("done about {}{}", clock(self.expected()), self.proviso())];
        words.extend(self.p80.filter(|p80| *p80 != self.expected()).map(|p80| format!("80% sure by {}", clock(p80))));
        words.extend(self.deadline.map(|deadline| match self.late_by() {
            Some(late) => format!("{} after the deadline", elapsed(late)),
            None => format!("{} before the deadline", elapsed(deadline - self.expected())),
        }));
        words.extend(self.late.iter().take(LATE_NAMED_MAX).map(|late| {
            let hard = if late.hard { "hard " } else { "" };
            format!("`{}` {} after its {hard}deadline", late.task, elapsed(late.by))
        }));
        let more = self.late.len().saturating_sub(LATE_NAMED_MAX);
        words.extend((more > 0).then(|| format!("{more} more tasks late")));
        words.join(", ")
    }
}

/// What is not done and will be late, the latest first.
fn late(verdicts: &[Verdict], life: &Life) -> Vec<Late> {
    let over = [TaskState::Completed, TaskState::Failed, TaskState::Skipped, TaskState::Abandoned];
    let is_open = |state: &TaskState| !over.contains(state);
    let mut late: Vec<Late> = verdicts
        .iter()
        .filter(|verdict| !verdict.met)
        .filter_map(|verdict| {
            let task = verdict.task.clone()?;
            let (deadline, finish) = (instant(verdict.at)?, instant(verdict.finish)?);
            life.task_state(&task).filter(is_open)?;
            Some(Late { task, deadline, by: finish - deadline, hard: verdict.hard })
        })
        .collect();
    late.sort_by_key(|late| std::cmp::Reverse(late.by));
    late
}

fn instant(moment: Moment) -> Option<Timestamp> {
    match moment {
        Moment::Date(at, _) => Some(Timestamp::from_ms(at.as_millisecond())),
        Moment::Count(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use gantry_core::event::Entry;
    use gantry_core::id::{AttemptNo, TaskId};
    use gantry_core::input::Input;
    use gantry_core::input::Success;
    use gantry_core::life;
    use gantry_core::policy::Usage;

    use super::*;

    const PLAN: &str = "
id: house
title: House
deadline: 1970-01-01T10:00:00Z
tasks:
  - {id: walls, run: make walls, estimate: {low: 4h, likely: 4h, high: 4h}}
  - {id: roof, run: make roof, depends_on: [walls], estimate: {low: 1h, likely: 2h, high: 9h}}
  - {id: party, run: make party, depends_on: [roof]}
";

    fn at(hours: u64) -> Timestamp {
        Timestamp::from_ms(0) + Duration::from_hours(hours)
    }

    fn words(forecast: Option<Forecast>) -> String {
        forecast.map_or("nothing".to_owned(), |forecast| forecast.words())
    }

    /// A plan whose life is told hour by hour.
    struct Told {
        life: Life,
        entries: Vec<Entry>,
    }

    impl Told {
        fn new(text: &str) -> Self {
            let loaded = gantry_format::load("plan.yaml", text.as_bytes());
            let plan = loaded.plan.unwrap_or_else(|| panic!("{}", loaded.report.render(false)));
            let id = plan.id.clone().unwrap();
            let entries = life::create(plan, id, 1, at(0)).unwrap();
            Self { life: life::replay(&entries).unwrap(), entries }
        }

        fn tell(&mut self, hour: u64, input: Input) {
            let verdict = self.life.decide(&input, at(hour)).unwrap();
            self.entries.extend(verdict.events.iter().cloned());
            self.life = verdict.life;
        }

        fn done(&mut self, hour: u64, task: &str) {
            let (task, end) = (TaskId::new(task).unwrap(), Ok(Success::default()));
            self.tell(hour, Input::Ended { task, attempt: AttemptNo(1), end, usage: Usage::default() });
        }

        fn seen(&self, hour: u64) -> Option<Forecast> {
            Forecast::of(&self.life, &Timeline::of(&self.entries), at(hour), Look::Glance)
        }
    }

    #[test]
    fn a_plan_that_has_not_begun_is_foreseen_from_now_on() {
        assert_eq!(
            words(Told::new(PLAN).seen(3)),
            "done about 1970-01-01T10:00:00Z if nothing goes wrong, 0ms before the deadline"
        );
    }

    #[test]
    fn time_that_passes_moves_nothing_until_something_takes_longer_than_was_thought() {
        let mut told = Told::new(PLAN);
        told.tell(0, Input::Start);
        for hour in [0, 1, 4] {
            assert_eq!(told.seen(hour).unwrap().finish, at(7), "4 hours and the mean of 1, 2 and 9, which is 3");
        }
        assert_eq!(told.seen(6).unwrap().finish, at(9), "walls are about to end at hour 6");
    }

    #[test]
    fn a_task_that_is_done_early_or_late_moves_the_forecast() {
        for (hour, finish, says) in [(2, 5, "5h 00m before"), (9, 12, "2h 00m after")] {
            let mut told = Told::new(PLAN);
            told.tell(0, Input::Start);
            told.done(hour, "walls");
            let forecast = told.seen(hour).unwrap();
            assert_eq!(forecast.finish, at(finish));
            assert!(forecast.words().ends_with(&format!("{says} the deadline")), "{}", forecast.words());
            assert_eq!(forecast.brief(at(hour)).contains("late"), hour == 9, "{}", forecast.brief(at(hour)));
            assert_eq!(forecast.to_json()["late_by_ms"], json!((hour == 9).then_some(7_200_000)));
        }
    }

    #[test]
    fn nothing_is_foreseen_where_nothing_that_is_left_has_an_estimate() {
        let mut told = Told::new(PLAN);
        told.tell(0, Input::Start);
        told.done(2, "walls");
        assert!(told.seen(2).is_some());
        told.done(3, "roof");
        assert_eq!(told.seen(3), None);
        told.done(4, "party");
        assert_eq!(told.seen(4), None);
    }

    #[test]
    fn the_calendar_of_the_schedule_counts() {
        let section = "
schedule:
  calendar: office
  calendars: [{id: office, week: {mon-fri: ['09:00-17:00']}}]
  tasks:
    walls: {estimate: 8h}
    roof: {estimate: 8h}
";
        // The first day of 1970 was a Thursday.
        let mut told = Told::new(&format!("{PLAN}{section}"));
        told.tell(0, Input::Start);
        assert_eq!(
            words(told.seen(0)),
            "done about 1970-01-02T17:00:00Z if nothing goes wrong, 1d 07h after the deadline"
        );
        told.done(15, "walls");
        assert_eq!(
            words(told.seen(15)),
            "done about 1970-01-02T15:00:00Z if nothing goes wrong, 1d 05h after the deadline"
        );
    }

    #[test]
    fn tasks_that_will_miss_deadlines_of_their_own_are_named_until_they_are_done() {
        let section = "
schedule:
  tasks:
    walls: {deadline: 1970-01-01T03:00Z hard}
    roof: {deadline: 1970-01-01T05:00Z}
";
        let mut told = Told::new(&format!("{PLAN}{section}"));
        told.tell(0, Input::Start);
        let forecast = told.seen(0).unwrap();
        assert_eq!(
            forecast.words(),
            "done about 1970-01-01T07:00:00Z if nothing goes wrong, 3h 00m before the deadline, `roof` 2h 00m after its deadline, \
             `walls` 1h 00m after its hard deadline"
        );
        let late = json!({"task": "walls", "deadline": "1970-01-01T03:00:00Z", "late_by_ms": 3_600_000, "hard": true});
        assert_eq!(forecast.to_json()["late_tasks"][1], late);
        told.done(2, "walls");
        assert!(!told.seen(2).unwrap().is_late(), "{}", words(told.seen(2)));
    }

    #[test]
    fn many_futures_say_by_when_one_can_be_rather_sure() {
        let told = Told::new(PLAN);
        let close = Forecast::of(&told.life, &Timeline::default(), at(0), Look::Close).unwrap();
        assert!(close.p80.unwrap() > close.finish, "{close:?}");
        assert!(close.words().contains(", 80% sure by "), "{}", close.words());
    }

    #[test]
    fn a_risk_that_is_likely_moves_the_finish_that_is_named() {
        let section = "
schedule:
  risks: [{id: storm, title: A storm, probability: 0.9, tasks: [roof], delay: 20h}]
";
        let told = Told::new(&format!("{PLAN}{section}"));
        let close = Forecast::of(&told.life, &Timeline::default(), at(0), Look::Close).unwrap();
        assert_eq!(close.finish, at(7), "if nothing goes wrong");
        assert!(close.expected() > at(24), "{close:?}");
        let day = clock(close.expected());
        assert!(close.words().starts_with(&format!("done about {day} (P50), 80% sure by ")), "{}", close.words());
        assert!(close.is_late(), "held against the deadline is what is named");
        assert_eq!(close.to_json()["p50"], json!(close.expected()));
    }
}
