//! What a driver has to do with plans inside its own, and with the one around it: who waits, and what is allowed.

use std::sync::Arc;

use gantry_core::id::TaskId;
use gantry_core::input::Input;
use gantry_core::life::{PlanState, State, Waiting, WaitsFor};
use gantry_runners::Place;

use crate::act::Flight;
use crate::driver::{Driver, STOP_WITHIN};
use crate::error::EngineError;
use crate::load::policies_above;
use crate::message::Message;
use crate::nested::{Way, wait_inside};

/// How many of the things that a plan inside a task waits for are written down.
const WAITS_NOTED_MAX: usize = 5;

impl Driver {
    /// What is waited for, when nothing goes on and nothing can without someone outside.
    pub(crate) fn stuck(&self) -> Option<Vec<WaitsFor>> {
        if self.flights.values().any(|aloft| aloft.waits.is_none()) {
            return None;
        }
        let life = self.life();
        // What is overdue happens before anything ends: someone is told, a box is closed.
        if life.next_wake().is_some_and(|at| at <= self.shared.clock.now()) {
            return None;
        }
        let stuck = match life.state() {
            PlanState::Blocked | PlanState::Paused => true,
            PlanState::Running => !self.flights.is_empty() && self.nothing_else_goes_on(),
            PlanState::Pending | PlanState::Completed | PlanState::Failed | PlanState::Abandoned => false,
        };
        stuck.then(|| life.waits().chain(self.waits_inside().cloned()).collect())
    }

    /// What plans inside this one wait for.
    pub(crate) fn waits_inside(&self) -> impl Iterator<Item = &WaitsFor> {
        self.flights.values().filter_map(|aloft| aloft.waits.as_ref()).flatten()
    }

    /// Apart from attempts under way, nothing can start and no time is waited for.
    fn nothing_else_goes_on(&self) -> bool {
        let (life, now) = (self.life(), self.shared.clock.now());
        let ticks = |task: &TaskId| {
            let state = life.task_life(task.as_str()).map(|task| &task.state);
            matches!(
                state,
                Some(State::Waiting(Waiting::Time { .. } | Waiting::Retry { .. } | Waiting::Answer { until: Some(_) }))
            )
        };
        life.next_wake().is_none_or(|at| at > now) && !life.task_ids().iter().any(ticks)
    }

    /// Says what this plan waits for to the attempt that drives it, whenever that changes.
    pub(crate) fn tell_above(&mut self) {
        let Some(above) = &self.above else { return };
        let waits = self.stuck();
        if waits != self.told_above {
            let said = waits.as_ref().map(|waits| match &above.flight {
                Flight::Attempt(task, _) => waits.iter().map(|wait| wait_inside(task, &self.plan, wait)).collect(),
                Flight::Undo(..) | Flight::Verify(..) | Flight::Judge(_) | Flight::Observe(_) => waits.clone(),
            });
            // A driver that is gone wants nothing any more.
            let _ = above.sender.send(Message::Resting { flight: above.flight.clone(), waits: said });
            self.told_above = waits;
        }
    }

    /// Knows from now on what a plan inside a task waits for, and has it written down.
    pub(crate) fn rests(&mut self, flight: Flight, waits: Option<Vec<WaitsFor>>) -> Option<Input> {
        let aloft = self.flights.get_mut(&flight)?;
        let news = waits.clone().filter(|_| aloft.waits != waits);
        aloft.waits = waits;
        let Flight::Attempt(task, attempt) = flight else { return None };
        let mut said: Vec<String> = news?.into_iter().map(|wait| wait.what).collect();
        let more = said.len().saturating_sub(WAITS_NOTED_MAX);
        said.truncate(WAITS_NOTED_MAX);
        said.extend((more > 0).then(|| format!("{more} more")));
        let note = format!("waits for {}", said.join("; "));
        Some(Input::Heartbeat { task, attempt, note, artifacts: Vec::new() })
    }

    /// Reads again what the plans around this one may do.
    pub(crate) async fn reread_rules(&mut self) -> Result<(), EngineError> {
        let above = self.patiently(|| policies_above(&*self.shared.store, &self.origin)).await?;
        self.place = Arc::new(Place { above, ..(*self.place).clone() });
        self.course.send_modify(|course| course.rules += 1);
        Ok(())
    }

    /// From now on what the plan's policy says now is allowed; what runs already was allowed when it started.
    pub(crate) fn take_rules(&mut self) {
        let policy = &self.life().header().policy;
        if *self.place.policy != *policy {
            self.place = Arc::new(Place { policy: Arc::new(policy.clone()), ..(*self.place).clone() });
            self.course.send_modify(|course| course.rules += 1);
        }
    }

    /// Has the plans inside this one do as it does.
    pub(crate) fn set_course(&self) {
        let paused = self.parking || self.life().state() == PlanState::Paused;
        let way = if self.leaving {
            Way::Rest
        } else if paused {
            Way::Park
        } else {
            Way::On
        };
        self.course.send_if_modified(|course| std::mem::replace(&mut course.way, way) != way);
    }

    /// Lets plans inside this one, which all wait, go to rest. One that just began something finishes it.
    pub(crate) async fn lay_to_rest(&mut self) {
        self.course.send_modify(|course| course.way = Way::Rest);
        tokio::select! {
            () = self.course.closed() => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// Goes away from what is still under way: plans inside this one are left as they are, everything else is killed.
    pub(crate) async fn let_go(&mut self) {
        self.course.send_modify(|course| course.way = Way::Leave);
        // Whoever takes longer is cut off in the middle.
        let _ = tokio::time::timeout(STOP_WITHIN, self.course.closed()).await;
        self.work.abort_all();
    }
}
