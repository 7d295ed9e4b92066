//! What can be wrong with a template, told before it is used.

use std::collections::BTreeMap;

use gantry_core::plan::{Action, Input, Task};
use gantry_llm::prompts::Prompts;
use serde_json::Value;

use super::leave_out::section;
use super::{Detail, Template, Wishes};
use crate::kind::Size;

impl Template {
    /// Everything that is wrong with it; `wishes` names what users can wish for.
    pub fn faults(&self, wishes: &[&str]) -> Vec<String> {
        let mut faults = Vec::new();
        let added = Prompts::built_in().and_then(|mut prompts| prompts.add(&self.prompts()).map(|()| prompts));
        let prompts = match added {
            Ok(prompts) => prompts,
            Err(wrong) => return wrong.iter().map(ToString::to_string).collect(),
        };
        let sections = match self.sections() {
            Ok(sections) => sections,
            Err(wrong) => return vec![wrong],
        };
        let values: BTreeMap<String, Value> = wishes.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
        // Each way to leave something out must leave a plan whose prompts get what they need.
        let alone = sections.iter().map(|section| Some(vec![section.clone()]));
        let choices: Vec<Option<Vec<String>>> = std::iter::once(None).chain(alone).collect();
        for detail in [Detail::Fast, Detail::Balanced, Detail::Full] {
            for size in Size::ALL {
                for chosen in &choices {
                    let wishes = Wishes { values: values.clone(), detail, size, sections: chosen.clone() };
                    match self.plan(&wishes) {
                        Ok(plan) => plan.tasks.iter().for_each(|task| inputs(task, &prompts, &mut faults)),
                        Err(wrong) => faults.push(wrong),
                    }
                }
            }
        }
        for task in self.graph().iter().flat_map(|plan| &plan.tasks) {
            metadata(task, &mut faults);
        }
        let mut told: Vec<String> = Vec::new();
        faults.retain(|fault| {
            !told.contains(fault) && {
                told.push(fault.clone());
                true
            }
        });
        faults
    }
}

/// A prompt gets every input that it requires, and no other.
fn inputs(task: &Task, prompts: &Prompts, faults: &mut Vec<String>) {
    match &task.action {
        Some(Action::Map(map)) => {
            if let Some(each) = &map.each {
                let mut each = each.clone();
                each.id = task.id.clone();
                each.inputs.insert(map.r#as.clone(), Input::Value(Value::Null));
                inputs(&each, prompts, faults);
            }
        }
        Some(Action::Model(model)) => {
            let Some(prompt) = &model.prompt else { return };
            let declared = match prompts.inputs(prompt, "en") {
                Ok(declared) => declared,
                Err(fault) => return faults.push(format!("task `{}`: {fault}", task.id)),
            };
            for input in declared.iter().filter(|input| input.required && !task.inputs.contains_key(&input.name)) {
                faults.push(format!(
                    "task `{}` can be without the input `{}`, which its prompt `{prompt}` requires",
                    task.id, input.name
                ));
            }
            for name in task.inputs.keys().filter(|name| !declared.iter().any(|input| input.name == **name)) {
                faults.push(format!(
                    "task `{}` gives `{name}` to the prompt `{prompt}`, which does not take it",
                    task.id
                ));
            }
        }
        _ => {}
    }
}

/// What `metadata` says about leaving a task out can be understood.
fn metadata(task: &Task, faults: &mut Vec<String>) {
    let told = |name: &str| task.metadata.get(name).map(|value| (name.to_owned(), value.clone()));
    if let Some((name, value)) =
        told("detail").filter(|(_, value)| serde_json::from_value::<Detail>(value.clone()).is_err())
    {
        faults.push(format!("task `{}`: `{name}` is fast, balanced or full, not {value}", task.id));
    }
    if let Some((name, value)) =
        told("from").filter(|(_, value)| serde_json::from_value::<Size>(value.clone()).is_err())
    {
        faults.push(format!("task `{}`: `{name}` is household, small, medium, large or mega, not {value}", task.id));
    }
    if told("section").is_some() && section(task).is_none() {
        faults.push(format!("task `{}`: `section` is a name", task.id));
    }
}
