//! Finds out, before anything runs, how well this machine can confine processes.

use std::sync::Arc;

use gantry_core::plan::{Action, Plan, Task};
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
    if !runs_processes(&plan.tasks) {
        return Ok(None);
    }
    if mode == SandboxMode::Off {
        return Ok(Some("processes are not confined, as asked".to_owned()));
    }
    match probe(place).await {
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

fn runs_processes(tasks: &[Task]) -> bool {
    tasks.iter().any(|task| match &task.action {
        Some(Action::Run(_) | Action::Command(_) | Action::Tool(_)) => true,
        Some(Action::Plan(nested)) => nested.plan.as_ref().is_some_and(|plan| runs_processes(&plan.tasks)),
        _ => false,
    })
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
