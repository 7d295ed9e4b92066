//! Finds out, before anything runs, how well this machine can confine processes.

use std::sync::Arc;

use gantry_core::plan::{Action, Plan, Task, Undo};
use gantry_core::policy::{FileScope, NetworkScope};
use gantry_engine::Options;
use gantry_runners::process::{Confinement, Happening, Order, Running, SandboxStatus, StandardInput};
use gantry_runners::work::SandboxMode;
use gantry_runners::{GuardProgram, Place, shell};

use crate::exit::Fault;

/// The place where a plan would work that is not recorded yet.
pub fn place(workspace: &str, plan: &Plan, options: &Options) -> Place {
    let (policy, sandbox) = (Arc::new(plan.policy.clone()), options.sandbox.clone());
    Place { policy, sandbox, ..Place::at(workspace) }
}

/// Says once what is not confined; refuses when everything must be.
pub async fn announce(place: &Place, plan: &Plan) -> Result<Option<String>, Fault> {
    let mode = place.sandbox.mode;
    let places = places(place, plan);
    if places.is_empty() {
        return Ok(None);
    }
    if mode == SandboxMode::Off {
        return Ok(Some("processes are not confined, as asked".to_owned()));
    }
    let mut worst = SandboxStatus::Full;
    for place in &places {
        let status = probe(place).await;
        if worst == SandboxStatus::Full || matches!(status, SandboxStatus::None { .. }) {
            worst = status;
        }
    }
    match worst {
        SandboxStatus::Full => Ok(None),
        status if mode == SandboxMode::Required => {
            Err(Fault::refused(format!("processes would be {status}, and full confinement is required"))
                .hint("use a kernel with Landlock and a policy that it can keep, or leave out `--require-sandbox`"))
        }
        status => Ok(Some(format!("processes are {status}"))),
    }
}

/// Tells whether the policy says something that confinement has to keep.
pub fn is_asked_for(place: &Place) -> bool {
    place.policies().any(|policy| policy.files != FileScope::default() || policy.network != NetworkScope::default())
}

/// Every place in which processes of this plan and of plans inside it would run, as far as they are confined differently.
fn places(place: &Place, plan: &Plan) -> Vec<Place> {
    let mut found: Vec<Place> = Vec::new();
    let mut add = |place: Place| {
        let alike =
            |other: &Place| shell::gaps(other) == shell::gaps(&place) && other.has_network() == place.has_network();
        if !found.iter().any(alike) {
            found.push(place);
        }
    };
    let mut actions: Vec<&Action> = plan.tasks.iter().flat_map(actions_of).collect();
    while let Some(action) = actions.pop() {
        match action {
            // What an agent calls, and what a plan that is still to be made will hold, may be a command.
            Action::Run(_) | Action::Command(_) | Action::Tool(_) | Action::Agent(_) | Action::Adopt(_) => {
                add(place.clone());
            }
            Action::Map(map) => actions.extend(map.each.iter().flat_map(|task| actions_of(task))),
            Action::Plan(nested) => {
                if let Some(plan) = &nested.plan {
                    let above = std::iter::once(&place.policy).chain(&place.above).cloned().collect();
                    let inside = Place { policy: Arc::new(plan.policy.clone()), above, ..place.clone() };
                    places(&inside, plan).into_iter().for_each(&mut add);
                }
            }
            Action::Manual(_)
            | Action::Gate(_)
            | Action::Ask(_)
            | Action::Decide(_)
            | Action::Wait(_)
            | Action::Compute(_)
            | Action::UndoTo(_)
            | Action::Model(_)
            | Action::Checkpoint(_) => {}
        }
    }
    found
}

/// Everything that may be done for a task: itself, other ways, finding out whether it was done, taking it back.
fn actions_of(task: &Task) -> impl Iterator<Item = &Action> {
    let undo = match &task.undo {
        Undo::Action(action) => Some(&**action),
        Undo::None | Undo::Never | Undo::Restore => None,
    };
    task.action.iter().chain(&task.alternates).chain(task.verify.as_deref()).chain(undo)
}

/// Lets a program that does nothing run as confined as a task would.
async fn probe(place: &Place) -> SandboxStatus {
    let none = |why: String| SandboxStatus::None { why };
    let guard = match GuardProgram::this_program() {
        Ok(guard) => guard,
        Err(error) => return none(error.to_string()),
    };
    let confinement = Confinement {
        read: vec!["/".into()],
        network: place.has_network(),
        gaps: shell::gaps(place),
        ..Confinement::default()
    };
    let order = Order {
        program: "true".to_owned(),
        args: Vec::new(),
        environment: std::env::vars().filter(|(name, _)| name == "PATH").collect(),
        folder: "/".into(),
        confinement: Some(confinement),
        grace_ms: 100,
        input: StandardInput::Closed,
    };
    match Running::start(&guard, order).await {
        Ok(mut running) => {
            let status = running.sandbox().clone();
            while let Happening::Output(..) = running.next().await {}
            status
        }
        Err(error) => none(error.to_string()),
    }
}
