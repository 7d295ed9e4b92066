//! Finds out, before anything runs, how well this machine can confine processes.

use gantry_core::life::Life;
use gantry_core::plan::{Action, Task};
use gantry_runners::GuardProgram;
use gantry_runners::process::{Confinement, Happening, Order, Running, SandboxStatus, StandardInput};
use gantry_runners::work::SandboxMode;

use crate::exit::Fault;

/// Says once what is not confined; refuses when everything must be.
pub async fn announce(mode: SandboxMode, life: &Life) -> Result<Option<String>, Fault> {
    let runs = |task: &Task| matches!(task.action, Some(Action::Run(_) | Action::Command(_) | Action::Tool(_)));
    if !life.task_ids().iter().filter_map(|task| life.definition(task.as_str())).any(runs) {
        return Ok(None);
    }
    if mode == SandboxMode::Off {
        return Ok(Some("processes are not confined, as asked".to_owned()));
    }
    match probe(life).await {
        SandboxStatus::Full => Ok(None),
        status if mode == SandboxMode::Required => {
            Err(Fault::refused(format!("processes would be {status}, and full confinement is required"))
                .hint("use a kernel with Landlock, or leave out `--require-sandbox`"))
        }
        status => Ok(Some(format!("processes are {status}"))),
    }
}

/// Lets a program that does nothing run as confined as a task would.
async fn probe(life: &Life) -> SandboxStatus {
    let none = |why: String| SandboxStatus::None { why };
    let guard = match GuardProgram::this_program() {
        Ok(guard) => guard,
        Err(error) => return none(error.to_string()),
    };
    let confinement = Confinement {
        read: vec!["/".into()],
        network: !life.header().policy.network.allow.is_empty(),
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
