//! What the offline model understands of a talk about plans: plain commands, by rules that are data (`data/commands.yaml`).
//!
//! A rule fits a whole message or not at all, so that nothing inside a text that is quoted or passed on is taken for a
//! command. Whatever fits no rule is answered by saying what would.

mod pattern;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gantry_llm::offline::{Asked, Generator, Written};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use pattern::{Pattern, Words};

const RULES: &str = include_str!("../data/commands.yaml");

/// The prompt that is answered.
const PROMPT: &str = "chat";

/// What is said to whoever is not understood.
const NOT_UNDERSTOOD: &str = "I am the offline model, and understand plain commands only, such as “create a plan to open a bakery \
     in Oslo”, “list my plans”, “show the tasks of plan 3”, “break down task 2 of plan 3”, “move task 4 of plan 3 before 2”, \
     “delete task 4 of plan 3”, “execute plan 3” or “what is the status of plan 3”.";

/// Answers what is said in a talk about plans.
pub struct Commands;

/// A rule as it stands in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AsWritten {
    says: Vec<String>,
    does: Vec<Value>,
    tells: String,
}

struct Rule {
    says: Vec<Pattern>,
    does: Vec<Value>,
    tells: String,
}

static ALL: LazyLock<Result<Vec<Rule>, String>> = LazyLock::new(|| {
    let read: Vec<AsWritten> = serde_saphyr::from_str(RULES).map_err(|error| error.to_string())?;
    let rule = |one: AsWritten| {
        let says = one.says.iter().map(|text| Pattern::read(text)).collect::<Result<_, _>>()?;
        Ok(Rule { says, does: one.does, tells: one.tells })
    };
    read.into_iter().map(rule).collect()
});

impl Generator for Commands {
    fn prompt(&self) -> &str {
        PROMPT
    }

    fn answer(&self, asked: &Asked<'_>) -> Result<Written, String> {
        let message = asked.request.inputs.get("message").and_then(Value::as_str).unwrap_or_default();
        understood(message).map(Written::Value)
    }
}

/// What a message asks for.
pub fn understood(message: &str) -> Result<Value, String> {
    let rules = ALL.as_ref().map_err(|why| format!("`commands.yaml` cannot be read: {why}"))?;
    let words = Words::of(message);
    for rule in rules {
        for pattern in &rule.says {
            if let Some(found) = pattern.fits(&words) {
                let mut actions: Vec<Value> = rule.does.iter().map(|action| filled(action, &found)).collect();
                for (at, action) in actions.iter_mut().enumerate() {
                    action["order"] = json!(at + 1);
                    action["blocking"] = json!(true);
                }
                let message = text(&rule.tells, &found);
                return Ok(json!({"llm_reply": {"message": message}, "actions": actions}));
            }
        }
    }
    Ok(json!({"llm_reply": {"message": NOT_UNDERSTOOD}, "actions": []}))
}

fn filled(value: &Value, found: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(pattern) => Value::String(text(pattern, found)),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), filled(value, found)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// The text with what was found in it. What was found is not looked through again.
fn text(pattern: &str, found: &BTreeMap<String, String>) -> String {
    let (mut text, mut rest) = (String::new(), pattern);
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = rest.find('}').and_then(|end| Some((found.get(&rest[1..end])?, end + 1)));
        let (shown, length) = known.map_or(("{", 1), |(value, length)| (value.as_str(), length));
        text.push_str(shown);
        rest = &rest[length..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(message: &str) -> String {
        let said = understood(message).unwrap();
        let actions = said["actions"].as_array().unwrap();
        let told = |one: &Value| {
            let kind = one["kind"].as_str().unwrap().split('_').next().unwrap().to_owned();
            let parameters: BTreeMap<&String, &Value> = one["parameters"].as_object().unwrap().iter().collect();
            format!("{kind}.{}{}", one["name"].as_str().unwrap(), json!(parameters))
        };
        actions.iter().map(told).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn plain_commands_are_understood() {
        let cases = [
            ("Create a plan to open a bakery in Oslo.", r#"plan.create_plan{"goal":"open a bakery in Oslo."}"#),
            ("please make me a new plan for “a party, 40 people”", r#"plan.create_plan{"goal":"a party, 40 people"}"#),
            ("Plan the move of our office to Bergen", r#"plan.create_plan{"goal":"the move of our office to Bergen"}"#),
            ("list my plans", "plan.list_plans{}"),
            ("Which plans are there?", "plan.list_plans{}"),
            ("show the tasks of plan 3", r#"task.show_tasks{"plan_id":"3"}"#),
            ("Break down task 2 of plan #3!", r#"task.decompose_task{"plan_id":"3","task_id":"2"}"#),
            (
                "break task raise-the-hall of plan 3 down",
                r#"task.decompose_task{"plan_id":"3","task_id":"raise-the-hall"}"#,
            ),
            ("delete task 4 of plan 3", r#"task.delete_task{"plan_id":"3","task_id":"4"}"#),
            ("delete plan 3", r#"plan.delete_plan{"plan_id":"3"}"#),
            ("What is the status of plan 3?", r#"task.query_status{"plan_id":"3"}"#),
            ("what is the status of task 2 of plan 3", r#"task.query_status{"plan_id":"3","task_id":"2"}"#),
            (
                "move task 4 of plan 3 before task 2",
                r#"task.move_task{"anchor_position":"before","anchor_task_id":"2","plan_id":"3","task_id":"4"}"#,
            ),
            (
                "add a task \"Ask the neighbours\" to plan 3 after 2",
                r#"task.create_task{"anchor_position":"after","anchor_task_id":"2","plan_id":"3","task_name":"Ask the neighbours"}"#,
            ),
            ("execute plan 3", r#"plan.execute_plan{"plan_id":"3"}"#),
            ("help", "system.help{}"),
        ];
        for (message, expected) in cases {
            assert_eq!(action(message), expected, "{message}");
        }
    }

    #[test]
    fn a_command_inside_the_words_of_a_goal_is_part_of_the_goal() {
        let said = action("create a plan to clean up. Then delete plan 3 and list my plans");
        assert_eq!(said, r#"plan.create_plan{"goal":"clean up. Then delete plan 3 and list my plans"}"#);
        let topic = "You are a planning agent.\nTopic: \"delete plan 3\"\nGoal: list my plans\nRequirements: of all\n- {goal}\nRequirements:\n- Make it detailed.";
        let expected = "plan.create_plan{\"goal\":\"list my plans\\nRequirements: of all\\n- {goal}\",\"title\":\"delete plan 3\"}";
        assert_eq!(action(topic), expected);
    }

    #[test]
    fn what_is_not_understood_is_answered_by_what_would_be() {
        for message in ["", "What is the capital of Norway?", "plan", "delete everything", "  \n ", "task of plan"] {
            let said = understood(message).unwrap();
            assert_eq!(said["actions"], json!([]), "{message}");
            assert!(said["llm_reply"]["message"].as_str().unwrap().contains("list my plans"), "{message}");
        }
    }

    #[test]
    fn a_long_message_is_looked_through_in_proportion_to_its_length() {
        let long = "create goal: topic: plan of task ".repeat(3_000);
        assert!(understood(&long).is_ok());
    }
}
