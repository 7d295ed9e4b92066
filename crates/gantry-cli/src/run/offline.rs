//! Says before a plan starts why only the offline model answers, where that is so.

use std::collections::BTreeSet;

use gantry_core::life::{Life, TaskState};
use gantry_core::plan::Action;
use gantry_core::policy::ProseBy;

use crate::model::options::ModelOptions;
use crate::show::plain;

/// How many of those who are left out are named.
const NAMED_MAX: usize = 2;

/// Why nobody but the offline model answers for what a plan needs; nothing when somebody does, or it was chosen.
pub async fn announce(life: &Life, models: &ModelOptions) -> Option<String> {
    let roles = roles(life);
    if roles.is_empty() {
        return None;
    }
    // A configuration that is wrong is told by the task that needs it.
    let config = models.load().ok()?;
    let local = config.find_local().await;
    let config = config.with_local(local);
    let (mut offline, mut left_out) = (Vec::new(), Vec::new());
    for role in &roles {
        let chain = config.explain(role, None).ok().filter(gantry_llm::config::Chain::is_offline);
        if let Some(chain) = chain.filter(|chain| !chain.left_out.is_empty()) {
            offline.push(role.clone());
            for link in chain.left_out {
                let line = format!("{} ({})", link.model, link.why);
                if !left_out.contains(&line) {
                    left_out.push(line);
                }
            }
        }
    }
    if offline.is_empty() {
        return None;
    }
    let more = left_out.len().saturating_sub(NAMED_MAX);
    left_out.truncate(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(plain(&format!(
        "only the offline model answers for {}; left out: {}{more}; see what to set with `gantry model doctor`",
        offline.join(", "),
        left_out.join(", ")
    )))
}

/// The roles that what is not done yet asks for.
fn roles(life: &Life) -> BTreeSet<String> {
    let mut roles = BTreeSet::new();
    for id in life.task_ids() {
        let over = matches!(
            life.task_state(id.as_str()),
            Some(TaskState::Completed | TaskState::Skipped | TaskState::Abandoned | TaskState::Failed)
        );
        let action = life.definition(id.as_str()).and_then(|task| task.action.as_ref()).filter(|_| !over);
        let role = match action {
            Some(Action::Model(model)) => model.role.clone().or_else(|| Some("writer".to_owned())),
            Some(Action::Agent(agent)) => agent.role.clone().or_else(|| Some("agent".to_owned())),
            Some(Action::Decide(_)) => Some("judge".to_owned()),
            Some(Action::Command(command)) if command.calls().is_none() => match life.header().policy.prose {
                ProseBy::Person => None,
                ProseBy::Model => Some("writer".to_owned()),
                ProseBy::Agent => Some("agent".to_owned()),
            },
            _ => None,
        };
        roles.extend(role);
    }
    roles
}
