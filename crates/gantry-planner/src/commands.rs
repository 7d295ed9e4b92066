//! What the offline model understands of a talk about plans: plain commands, by rules that are data (`data/commands`).
//!
//! A rule fits a whole message or not at all, so that nothing inside a text that is quoted or passed on is taken for a
//! command. Whatever fits no rule is answered by saying what would. A message is answered in the language that it is in,
//! whatever the language of prompts.

mod pattern;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gantry_llm::offline::{Asked, Generator, Written};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::words::hangul;
use pattern::{Pattern, Words};

/// What is understood in each language; messages in Hangul are Korean.
const ENGLISH: &str = include_str!("../data/commands/en.yaml");
const KOREAN: &str = include_str!("../data/commands/ko.yaml");

/// The prompt that is answered.
const PROMPT: &str = "chat";

/// Answers what is said in a talk about plans.
pub struct Commands;

/// A language as it stands in its file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AsWritten {
    not_understood: String,
    leaves: Vec<String>,
    calls_plans: Vec<String>,
    rules: Vec<RuleAsWritten>,
}

/// A rule as it stands in a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleAsWritten {
    says: Vec<String>,
    #[serde(default)]
    here: Vec<String>,
    does: Vec<Value>,
    tells: String,
}

struct Language {
    /// What is said to whoever is not understood.
    not_understood: String,
    /// Words that end a conversation.
    leaves: Vec<String>,
    /// What plans are called.
    calls_plans: Vec<String>,
    rules: Vec<Rule>,
}

struct Rule {
    says: Vec<Pattern>,
    /// The same where a talk is about a plan, which need not be named then.
    here: Vec<Pattern>,
    does: Vec<Value>,
    tells: String,
}

/// English, then Korean.
static ALL: LazyLock<Result<[Language; 2], String>> =
    LazyLock::new(|| Ok([Language::read(ENGLISH)?, Language::read(KOREAN)?]));

impl Language {
    fn read(text: &str) -> Result<Self, String> {
        let AsWritten { not_understood, leaves, calls_plans, rules } =
            serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        let rule = |one: RuleAsWritten| {
            let read = |all: &[String]| all.iter().map(|text| Pattern::read(text)).collect::<Result<_, _>>();
            let (says, here) = (read(&one.says)?, read(&one.here)?);
            Ok(Rule { says, here, does: one.does, tells: one.tells })
        };
        let rules = rules.into_iter().map(rule).collect::<Result<_, String>>()?;
        Ok(Self { not_understood, leaves, calls_plans, rules })
    }
}

fn languages() -> Result<&'static [Language; 2], String> {
    ALL.as_ref().map_err(|why| format!("the commands cannot be read: {why}"))
}

/// Tells whether a message ends a conversation.
pub fn leaves(message: &str) -> bool {
    let word = message.trim().trim_end_matches(['.', '!']).to_lowercase();
    languages().is_ok_and(|all| all.iter().any(|language| language.leaves.contains(&word)))
}

impl Generator for Commands {
    fn prompt(&self) -> &str {
        PROMPT
    }

    fn answer(&self, asked: &Asked<'_>) -> Result<Written, String> {
        let said = |name: &str| asked.request.inputs.get(name).and_then(Value::as_str).unwrap_or_default();
        understood(said("message"), bound(said("bound"))).map(Written::Value)
    }
}

/// The number of the plan that a talk is about, out of what is told of it: `plan 3: Bakery`.
fn bound(told: &str) -> Option<&str> {
    let (no, _) = told.strip_prefix("plan ")?.split_once(':')?;
    no.chars().all(|digit| digit.is_ascii_digit()).then_some(no)
}

/// What a message asks for, in a talk that may be about a plan.
pub fn understood(message: &str, bound: Option<&str>) -> Result<Value, String> {
    let all = languages()?;
    let words = Words::of(message);
    let rules = || all.iter().flat_map(|language| &language.rules);
    // What names no plan is about the plan of the talk before a word of it is taken for the name of one.
    let here = rules().flat_map(|rule| rule.here.iter().map(move |pattern| (rule, pattern, bound)));
    let says = rules().flat_map(|rule| rule.says.iter().map(move |pattern| (rule, pattern, None)));
    for (rule, pattern, plan) in here.filter(|_| bound.is_some()).chain(says) {
        let Some(mut found) = pattern.fits(&words) else { continue };
        found.extend(plan.map(|plan| ("plan".to_owned(), plan.to_owned())));
        let mut actions: Vec<Value> = rule.does.iter().map(|action| filled(action, &found)).collect();
        for (at, action) in actions.iter_mut().enumerate() {
            action["order"] = json!(at + 1);
            action["blocking"] = json!(true);
        }
        let message = text(&rule.tells, &found);
        return Ok(json!({"llm_reply": {"message": message}, "actions": actions}));
    }
    let language = &all[usize::from(message.chars().any(hangul))];
    Ok(json!({"llm_reply": {"message": language.not_understood}, "actions": []}))
}

/// Tells whether a message speaks of a plan without naming it.
pub fn speaks_of_a_plan(message: &str) -> bool {
    languages().is_ok_and(|all| {
        let names: Vec<&String> = all.iter().flat_map(|language| &language.calls_plans).collect();
        Words::of(message).any(&names)
    })
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
        action_in(message, None)
    }

    fn action_in(message: &str, bound: Option<&str>) -> String {
        let said = understood(message, bound).unwrap();
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
    fn plain_commands_are_understood_in_korean() {
        let cases = [
            ("오슬로에 빵집을 여는 계획을 만들어 줘", r#"plan.create_plan{"goal":"오슬로에 빵집을 여는"}"#),
            ("“가족 30명 잔치” 계획을 세워주세요!", r#"plan.create_plan{"goal":"가족 30명 잔치"}"#),
            ("새 계획: 정원 창고 칠하기", r#"plan.create_plan{"goal":"정원 창고 칠하기"}"#),
            ("내 계획 목록 보여줘", "plan.list_plans{}"),
            ("모든 계획을 보여 주세요.", "plan.list_plans{}"),
            ("어떤 계획이 있나요?", "plan.list_plans{}"),
            ("계획 3의 작업을 보여 줘", r#"task.show_tasks{"plan_id":"3"}"#),
            ("3번 계획의 작업 목록을 보여줘", r#"task.show_tasks{"plan_id":"3"}"#),
            ("계획 3의 작업 2를 나눠 줘", r#"task.decompose_task{"plan_id":"3","task_id":"2"}"#),
            ("3번 계획의 2번 작업을 세분화해 주세요", r#"task.decompose_task{"plan_id":"3","task_id":"2"}"#),
            (
                "계획 #3에서 작업 raise-the-hall을 나눠줘!",
                r#"task.decompose_task{"plan_id":"3","task_id":"raise-the-hall"}"#,
            ),
            ("계획 3을 나눠줘", r#"task.decompose_task{"plan_id":"3"}"#),
            ("계획 3의 작업 2 아래를 보여줘", r#"context.request_subgraph{"node_id":"2","plan_id":"3"}"#),
            (
                "계획 3에 \"이웃에게 묻기\" 작업을 추가해 줘",
                r#"task.create_task{"plan_id":"3","task_name":"이웃에게 묻기"}"#,
            ),
            (
                "계획 3의 작업 2 뒤에 “이웃에게 묻기”를 추가해줘",
                r#"task.create_task{"anchor_position":"after","anchor_task_id":"2","plan_id":"3","task_name":"이웃에게 묻기"}"#,
            ),
            (
                "계획 3의 작업 2의 이름을 \"잘 세우기\"로 바꿔줘",
                r#"task.update_task{"name":"잘 세우기","plan_id":"3","task_id":"2"}"#,
            ),
            (
                "계획 3의 작업 4를 작업 2 앞으로 옮겨 줘",
                r#"task.move_task{"anchor_position":"before","anchor_task_id":"2","plan_id":"3","task_id":"4"}"#,
            ),
            ("계획 3의 작업 4를 삭제해 줘", r#"task.delete_task{"plan_id":"3","task_id":"4"}"#),
            ("계획 3을 취소해줘", r#"plan.delete_plan{"plan_id":"3"}"#),
            ("계획 3을 실행해 줘", r#"plan.execute_plan{"plan_id":"3"}"#),
            ("계획 3의 작업 2를 다시 해 줘", r#"task.rerun_task{"plan_id":"3","task_id":"2"}"#),
            ("계획 3의 상태를 알려 줘", r#"task.query_status{"plan_id":"3"}"#),
            ("3번 계획 진행 상황 알려줘", r#"task.query_status{"plan_id":"3"}"#),
            ("계획 3은 어떻게 되고 있어?", r#"task.query_status{"plan_id":"3"}"#),
            ("도움말", "system.help{}"),
        ];
        for (message, expected) in cases {
            assert_eq!(action(message), expected, "{message}");
        }
        let said =
            |message: &str| understood(message, None).unwrap()["llm_reply"]["message"].as_str().unwrap().to_owned();
        assert_eq!(said("계획 3의 작업 4를 삭제해 줘"), "계획 3에서 작업 4을(를) 삭제합니다.");
        assert!(said("노르웨이의 수도는 어디야?").contains("내 계획 목록 보여 줘"), "in the language of the message");
    }

    #[test]
    fn where_a_talk_is_about_a_plan_it_need_not_be_named() {
        let cases = [
            ("what is below task 2?", r#"context.request_subgraph{"node_id":"2","plan_id":"3"}"#),
            ("show its tasks", r#"task.show_tasks{"plan_id":"3"}"#),
            ("Show me the tasks of the plan.", r#"task.show_tasks{"plan_id":"3"}"#),
            ("break down task 2", r#"task.decompose_task{"plan_id":"3","task_id":"2"}"#),
            ("break task raise-it down", r#"task.decompose_task{"plan_id":"3","task_id":"raise-it"}"#),
            ("break the plan down", r#"task.decompose_task{"plan_id":"3"}"#),
            (
                "add a task \"Ask the neighbours\" after task 2",
                r#"task.create_task{"anchor_position":"after","anchor_task_id":"2","plan_id":"3","task_name":"Ask the neighbours"}"#,
            ),
            ("add a task \"Ask them\"", r#"task.create_task{"plan_id":"3","task_name":"Ask them"}"#),
            (
                "rename task 2 to Raise it well",
                r#"task.update_task{"name":"Raise it well","plan_id":"3","task_id":"2"}"#,
            ),
            (
                "move task 4 before task 2",
                r#"task.move_task{"anchor_position":"before","anchor_task_id":"2","plan_id":"3","task_id":"4"}"#,
            ),
            ("delete task 4", r#"task.delete_task{"plan_id":"3","task_id":"4"}"#),
            ("delete the plan", r#"plan.delete_plan{"plan_id":"3"}"#),
            ("run it", r#"plan.execute_plan{"plan_id":"3"}"#),
            ("do task 2 again", r#"task.rerun_task{"plan_id":"3","task_id":"2"}"#),
            ("what is the status of task 2?", r#"task.query_status{"plan_id":"3","task_id":"2"}"#),
            ("what is the status of the plan?", r#"task.query_status{"plan_id":"3"}"#),
            ("how far is it?", r#"task.query_status{"plan_id":"3"}"#),
            ("작업을 보여 줘", r#"task.show_tasks{"plan_id":"3"}"#),
            ("작업 2를 나눠 줘", r#"task.decompose_task{"plan_id":"3","task_id":"2"}"#),
            ("작업 2 아래를 보여 줘", r#"context.request_subgraph{"node_id":"2","plan_id":"3"}"#),
            ("\"이웃에게 묻기\" 작업을 추가해 줘", r#"task.create_task{"plan_id":"3","task_name":"이웃에게 묻기"}"#),
            (
                "작업 4를 작업 2 앞으로 옮겨 줘",
                r#"task.move_task{"anchor_position":"before","anchor_task_id":"2","plan_id":"3","task_id":"4"}"#,
            ),
            ("작업 4를 삭제해 줘", r#"task.delete_task{"plan_id":"3","task_id":"4"}"#),
            ("이 계획을 취소해 줘", r#"plan.delete_plan{"plan_id":"3"}"#),
            ("계획을 실행해 줘", r#"plan.execute_plan{"plan_id":"3"}"#),
            ("작업 2를 다시 해 줘", r#"task.rerun_task{"plan_id":"3","task_id":"2"}"#),
            ("상태를 알려 줘", r#"task.query_status{"plan_id":"3"}"#),
            // Whoever names another plan means that one.
            ("delete task 4 of plan 5", r#"task.delete_task{"plan_id":"5","task_id":"4"}"#),
            ("show the tasks of plan 5", r#"task.show_tasks{"plan_id":"5"}"#),
            ("delete plan 5", r#"plan.delete_plan{"plan_id":"5"}"#),
            ("계획 5의 작업 4를 삭제해 줘", r#"task.delete_task{"plan_id":"5","task_id":"4"}"#),
        ];
        for (message, expected) in cases {
            assert_eq!(action_in(message, Some("3")), expected, "{message}");
        }
        for message in ["show its tasks", "break down task 2", "delete the plan", "작업 2를 나눠 줘"] {
            assert_eq!(action(message), "", "{message}: no plan is meant");
        }
        assert_eq!(bound("plan 3: Bakery (running)\n- [1] Rent a shop"), Some("3"));
        assert_eq!((bound(""), bound("plan of mine: 7")), (None, None));
    }

    #[test]
    fn in_both_languages_a_message_that_goes_on_is_no_command() {
        for message in ["list my plans and delete plan 3", "계획 3의 작업 4를 삭제해 줘 그리고 계획 5도 취소해 줘"]
        {
            assert_eq!(understood(message, None).unwrap()["actions"], json!([]), "{message}");
        }
    }

    #[test]
    fn a_conversation_ends_by_a_word_of_its_own() {
        for (message, ends) in [("exit", true), (" Quit! ", true), ("종료", true), ("exit plan 3", false), ("", false)]
        {
            assert_eq!(leaves(message), ends, "{message}");
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
            let said = understood(message, None).unwrap();
            assert_eq!(said["actions"], json!([]), "{message}");
            assert!(said["llm_reply"]["message"].as_str().unwrap().contains("list my plans"), "{message}");
        }
    }

    #[test]
    fn a_long_message_is_looked_through_in_proportion_to_its_length() {
        let long = "create goal: topic: plan of task ".repeat(3_000);
        assert!(understood(&long, None).is_ok());
    }
}
