//! The template `execution-plan`: what is in it, what is left out, and what it answers without a model.

#![allow(clippy::unwrap_used)] // a test may

mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use gantry_core::plan::{Action, Input, Plan, Reference};
use gantry_llm::offline::Offline;
use gantry_llm::prompts::{Choice, Prompts};
use gantry_planner::facts::{Asked, Facts, WISHES};
use gantry_planner::kind::Size;
use gantry_planner::offline::offline;
use gantry_planner::template::{DEFAULT, Detail, Template, Wishes};
use gantry_report::report::Layout;
use jiff::civil::date;
use serde_json::{Map, Value, json};

fn template() -> Template {
    Template::built_in().into_iter().find(|template| template.name == DEFAULT).unwrap()
}

fn wishes(detail: Detail, size: Size, sections: Option<&[&str]>) -> Wishes {
    let values = WISHES.map(|name| (name.to_owned(), json!(name)));
    let sections = sections.map(|sections| sections.iter().map(|section| (*section).to_owned()).collect());
    Wishes { values: BTreeMap::from(values), detail, size, sections }
}

fn steps(plan: &Plan) -> Vec<&str> {
    plan.tasks.iter().filter(|task| task.action.is_some()).map(|task| task.id.as_str()).collect()
}

#[test]
fn the_template_that_comes_with_the_program_is_sound() {
    assert_eq!(template().faults(&WISHES), [""; 0]);
}

#[test]
fn levels_of_detail_and_sizes_leave_out_different_steps() {
    let template = template();
    let mut table = String::new();
    for (detail, size) in [
        (Detail::Fast, Size::Household),
        (Detail::Full, Size::Household),
        (Detail::Fast, Size::Small),
        (Detail::Balanced, Size::Small),
        (Detail::Full, Size::Mega),
    ] {
        let plan = template.plan(&wishes(detail, size, None)).unwrap();
        writeln!(table, "{detail:?} {size}: {}", steps(&plan).join(" ")).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn chosen_sections_are_worked_out_and_others_are_not() {
    let plan = template().plan(&wishes(Detail::Fast, Size::Large, Some(&["governance"]))).unwrap();
    let steps = steps(&plan);
    assert!(steps.contains(&"governance") && steps.contains(&"tasks"), "{steps:?}");
    assert!(!steps.contains(&"levers") && !steps.contains(&"swot"), "{steps:?}");
}

/// Which tasks a task's inputs come from.
fn sources(plan: &Plan, id: &str) -> Vec<String> {
    let task = plan.task(id).unwrap();
    let mut inputs: Vec<Input> = task.inputs.values().cloned().collect();
    match &task.action {
        Some(Action::Tool(tool)) => inputs.extend(tool.args.values().cloned()),
        Some(Action::Map(map)) => {
            inputs.push(map.over.clone());
            inputs.extend(map.each.iter().flat_map(|each| each.inputs.values().cloned()));
        }
        _ => {}
    }
    let of = |input: Input| match input {
        Input::From(Reference::Task { task, .. }) => Some(task.to_string()),
        _ => None,
    };
    inputs.into_iter().filter_map(of).collect()
}

#[test]
fn no_chain_of_questions_is_longer_than_eight() {
    let plan = template().plan(&wishes(Detail::Full, Size::Mega, None)).unwrap();
    let asks = |id: &str| {
        matches!(&plan.task(id).unwrap().action, Some(Action::Model(_)))
            || plan.task(id).unwrap().action.as_ref().is_some_and(|action| matches!(action, Action::Map(_)))
    };
    let mut depth: BTreeMap<&str, usize> = BTreeMap::new();
    for task in plan.tasks.iter().filter(|task| task.action.is_some()) {
        let id = task.id.as_str();
        let named = task.depends_on.iter().map(ToString::to_string);
        let before = sources(&plan, id).into_iter().chain(named);
        let before =
            before.map(|before| depth.get(before.as_str()).copied().unwrap_or_default()).max().unwrap_or_default();
        depth.insert(id, before + usize::from(asks(id)));
    }
    let longest = depth.values().max().unwrap();
    assert!(*longest <= 8, "{depth:#?}");
}

/// How many are asked at once.
const WIDTH: usize = 8;
/// What the pipeline to beat asks, and how many tokens it is given, at its best: 171 and 2.6 million.
const QUESTIONS_MAX: usize = 60;
const TOKENS_MAX: usize = 600_000;

#[test]
fn whoever_asks_eight_at_once_waits_little_longer_than_for_the_longest_chain_of_questions() {
    ASKED.with_borrow_mut(Vec::clear);
    let (plan, made) = answers(&facts(REQUESTS[0]));
    let asked = ASKED.take();
    let tokens: usize = asked.iter().map(|letters| letters / 4).sum();
    assert!(asked.len() <= QUESTIONS_MAX, "{} questions", asked.len());
    assert!(tokens <= TOKENS_MAX, "{tokens} tokens");
    // Each question takes one round; what code does takes none. Of what may be asked, the first in the plan is asked first.
    let phases = made["phases"]["phases"].as_array().unwrap().len();
    let takes = |action: Option<&Action>| match action {
        Some(Action::Model(_)) => 1,
        Some(Action::Map(_)) => phases,
        _ => 0,
    };
    let mut waiting: Vec<(&str, usize, Vec<String>)> = Vec::new();
    for task in plan.tasks.iter().filter(|task| task.action.is_some() && task.id.as_str() != "work") {
        let named = task.depends_on.iter().map(ToString::to_string);
        let before = sources(&plan, task.id.as_str())
            .into_iter()
            .chain(named)
            .filter(|id| plan.task(id).unwrap().action.is_some());
        waiting.push((task.id.as_str(), takes(task.action.as_ref()), before.collect()));
    }
    let rounds = |width: usize| {
        let (mut waiting, mut done, mut rounds): (_, BTreeSet<String>, usize) = (waiting.clone(), BTreeSet::new(), 0);
        while !waiting.is_empty() {
            // What code does is done at once.
            while let Some(at) =
                waiting.iter().position(|(_, left, before)| *left == 0 && before.iter().all(|id| done.contains(id)))
            {
                done.insert(waiting.remove(at).0.to_owned());
            }
            let mut free = width;
            for (_, left, _) in waiting.iter_mut().filter(|(_, _, before)| before.iter().all(|id| done.contains(id))) {
                let now = free.min(*left);
                (free, *left) = (free - now, *left - now);
            }
            rounds += usize::from(free < width);
            assert!(free < width || waiting.is_empty(), "nothing can go on: {waiting:?}");
        }
        rounds
    };
    let (wide, narrow) = (rounds(WIDTH), rounds(usize::MAX));
    assert!(wide * 10 <= narrow * 12, "{wide} rounds, and {narrow} if everything were asked at once");
}

/// The answers of all steps, without a model and without the engine.
fn answers(facts: &Facts) -> (Plan, Map<String, Value>) {
    let template = template();
    let plan = template.plan(&wishes(Detail::Full, facts.size, None)).unwrap();
    let mut prompts = Prompts::built_in().unwrap();
    prompts.add(&template.prompts()).unwrap();
    let model = offline(&[template]);
    let mut made: Map<String, Value> = Map::new();
    made.insert("read".to_owned(), json!({"facts": facts}));
    for task in plan.tasks.iter().filter(|task| task.id.as_str() != "read") {
        let value = |input: &Input| match input {
            Input::Value(value) => value.clone(),
            Input::From(Reference::Task { task, path }) => path
                .iter()
                .fold(made.get(task.as_str()).cloned().unwrap_or_default(), |value, name| value[name].clone()),
            Input::From(_) => Value::Null,
        };
        let inputs = |given: &BTreeMap<String, Input>| -> BTreeMap<String, Value> {
            given.iter().map(|(name, input)| (name.clone(), value(input))).collect()
        };
        let done = match &task.action {
            Some(Action::Model(asked)) => {
                asks(&model, &prompts, asked.prompt.as_deref().unwrap(), &inputs(&task.inputs))
            }
            Some(Action::Map(map)) => {
                let each = map.each.as_ref().unwrap();
                let Some(Action::Model(asked)) = &each.action else { panic!("a map that asks nobody") };
                let items = value(&map.over).as_array().cloned().unwrap();
                let one = |item: Value| {
                    let mut inputs = inputs(&each.inputs);
                    inputs.insert(map.r#as.clone(), item);
                    asks(&model, &prompts, asked.prompt.as_deref().unwrap(), &inputs)
                };
                json!({"results": items.into_iter().map(one).collect::<Vec<_>>()})
            }
            Some(Action::Compute(_)) => {
                let scenarios = &made["scenarios"];
                let all = scenarios["scenarios"].as_array().unwrap();
                json!({"scenario": all.iter().find(|scenario| scenario["id"] == scenarios["chosen"]).unwrap()})
            }
            Some(Action::Tool(tool)) if tool.name == "plan.weave" => {
                let args = json!(inputs(&tool.args));
                let woven = gantry_planner::weave::weave(&args, &BTreeSet::new()).unwrap();
                let plan = gantry_planner::assemble::plan(&woven.outline, &facts.setting(), &BTreeSet::new()).unwrap();
                json!({"plan": plan, "repairs": woven.repairs})
            }
            Some(Action::Tool(tool)) if tool.name == "plan.forecast" => {
                let team = &made["team"]["team"];
                json!({"overview": gantry_planner::overview::overview(&made["weave"]["plan"], facts, &[("team", team)]).unwrap()})
            }
            Some(Action::Tool(tool)) if tool.name == "plan.report" => {
                let parts = inputs(&tool.args).into_iter().collect();
                let layout = Layout::read(self::template().file("report.yaml").unwrap()).unwrap();
                let report = gantry_planner::report::report(&layout, &parts).unwrap();
                json!({"markdown": report.markdown, "findings": report.findings, "verdict": report.verdict})
            }
            _ => continue,
        };
        made.insert(task.id.to_string(), done);
    }
    (plan, made)
}

thread_local! {
    /// How many letters each question of this test had.
    static ASKED: std::cell::RefCell<Vec<usize>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn asks(model: &Offline, prompts: &Prompts, prompt: &str, inputs: &BTreeMap<String, Value>) -> Value {
    let given = inputs
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let request =
        prompts.render(prompt, "en", Choice::Base, &given).unwrap_or_else(|fault| panic!("{fault}")).request();
    ASKED
        .with_borrow_mut(|asked| asked.push(request.messages.iter().map(|message| format!("{message:?}").len()).sum()));
    let reply = model.answer(&request).unwrap_or_else(|error| panic!("{prompt}: {}", error.message));
    serde_json::from_str(&reply.text).unwrap()
}

const REQUESTS: [&str; 6] = [
    "Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer",
    "I want a cup of coffee. I have instant coffee and a cup and water.",
    "Migrate our Java monolith to microservices within 9 months",
    "Evacuate the town before the eruption within 72 hours",
    "제주도로 신혼여행을 가고 싶어요",
    "Build a rail tunnel between Denmark and Sweden for 40 billion EUR in 15 years",
];

fn facts(text: &str) -> Facts {
    Facts::of(&Asked::new(text, date(2026, 11, 16))).unwrap()
}

/// The texts of an example that are no names.
fn texts(example: &Value, found: &mut Vec<String>) {
    match example {
        Value::String(text) if text.contains(' ') => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        _ => {}
    }
}

#[test]
fn whoever_copies_the_example_of_a_prompt_is_seen() {
    let template = template();
    let prompts: Vec<(&str, &str)> = template.files().filter(|(path, _)| path.ends_with(".mul.md")).collect();
    assert!(prompts.len() > 20, "{}", prompts.len());
    for (path, text) in prompts {
        let example = text.lines().find_map(|line| line.split_once("everything between ‹ and ›: "));
        let (_, example) = example.unwrap_or_else(|| panic!("{path} has no example"));
        let example: Value = serde_json::from_str(example).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut said = Vec::new();
        texts(&example, &mut said);
        let plain: Vec<&String> = said.iter().filter(|text| !text.starts_with('‹') || !text.ends_with('›')).collect();
        assert!(plain.is_empty(), "{path}: {plain:?}");
        assert!(!said.is_empty(), "{path}");
    }
}

#[test]
fn without_a_model_every_step_has_an_answer_that_fits_its_schema() {
    for text in REQUESTS {
        let (plan, made) = answers(&facts(text));
        for step in steps(&plan).into_iter().filter(|step| !["accept", "work"].contains(step)) {
            assert!(made.contains_key(step), "{text}: {step}");
        }
        assert_eq!(made["weave"]["repairs"], json!([]), "{text}");
        assert_eq!(made["report"]["findings"], json!([]), "{text}: numbers from nowhere");
        let page = made["report"]["markdown"].as_str().unwrap();
        assert!(!page.contains("{{") && !page.contains("[not computed]") && !page.contains("undefined"), "{text}");
    }
}

#[test]
fn what_one_person_does_fits_on_one_page() {
    let (plan, made) = answers(&facts("I want a cup of coffee. I have instant coffee and a cup and water."));
    let page = made["report"]["markdown"].as_str().unwrap();
    assert!(page.lines().count() <= 60, "{page}");
    assert!(!steps(&plan).contains(&"governance"));
    insta::assert_snapshot!(page);
}

/// One of so many real requests is tried in each run; with `GANTRY_ALL_REQUESTS=1` all are.
const ONE_OF: usize = 8;

#[test]
fn real_requests_are_worked_out_completely_and_each_in_its_own_way() {
    let Some(requests) = shared::requests("prompts") else { return };
    let one_of = if std::env::var_os("GANTRY_ALL_REQUESTS").is_some() { 1 } else { ONE_OF };
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    let (mut sound, mut fits) = (0, 0);
    for (id, text) in requests.iter().step_by(one_of) {
        let Ok(facts) = Facts::of(&Asked::new(text.as_str(), date(2026, 11, 16))) else { continue };
        let (plan, made) = answers(&facts);
        for step in steps(&plan).into_iter().filter(|step| !["accept", "work"].contains(step)) {
            assert!(made.get(step).is_some_and(|output| !is_empty(output)), "{id}: {step}");
        }
        assert_eq!(made["weave"]["repairs"], json!([]), "{id}");
        assert_eq!(made["report"]["findings"], json!([]), "{id}: numbers from nowhere");
        let overview = &made["forecast"]["overview"];
        let late = overview["deadline"].as_str().zip(overview["finish"].as_str()).is_some_and(|(due, end)| end > due);
        let over = overview["over_budget"].as_i64().is_some_and(|over| over > 0);
        assert_eq!(overview["gaps"].as_array().unwrap().is_empty(), overview["feasible"] == true, "{id}");
        assert!(!(late || over) || overview["feasible"] == false, "{id}: what does not fit is said");
        for chance in ["budget_chance", "deadline_chance"] {
            let chance = overview[chance].as_f64();
            assert!(overview["feasible"] == false || chance.is_none_or(|chance| chance >= 20.0), "{id}: a pretty lie");
        }
        assert_eq!(overview["health"].as_array().unwrap().len(), 14, "{id}");
        let broken: Vec<&Value> =
            overview["health"].as_array().unwrap().iter().filter(|check| check["passed"] == false).collect();
        assert!(broken.is_empty() || overview["feasible"] == false, "{id}: what fits passes all 14 checks: {broken:?}");
        sound += usize::from(broken.is_empty());
        fits += usize::from(overview["feasible"] == true);
        let page = made["report"]["markdown"].as_str().unwrap();
        for odd in ["{{", "[not computed]", "undefined", "lorem"] {
            assert!(!page.contains(odd), "{id}: {odd}");
        }
        if let Some(budget) = overview["budget"].as_i64() {
            let written = grouped(budget);
            assert!(page.contains(&written), "{id}: {written}");
        }
        assert_eq!(pages.insert(page.replace(&facts.title, ""), id.clone()), None, "{id} is like another");
    }
    eprintln!("{} plans, {fits} of them fit, {sound} pass all checks of the DCMA", pages.len());
}

/// There is nothing in it.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// `2,000,000`.
fn grouped(amount: i64) -> String {
    let digits = amount.to_string();
    let parts: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    parts.join(",")
}

/// What else is in outputs of the pipeline to beat, beside what its name says.
const FIELDS: [(&str, &str); 10] = [
    ("SWOTAnalysis", "recommendations strategic_objectives assumptions missing_information user_questions"),
    ("GovernancePhase1Audit", "corruption_list misallocation_list audit_procedures transparency_measures"),
    ("GovernancePhase6Extra", "validation_checks tough_questions summary"),
    ("DataCollection", "smart_objective assumptions sensitivity"),
    ("DraftDocumentsToFind", "essential_information fallback best_and_worst_case approvals"),
    ("CreatePitch", "metrics risks ethics long_term_vision"),
    ("PromptAdherence", "importance score"),
    ("PhysicalLocations", "requirements"),
    ("RelatedResources", "risks steps_to_contact"),
    ("ReviewTeam", "omissions issues"),
];

#[test]
fn every_output_of_the_pipeline_to_beat_has_its_place() {
    let listed = include_str!("../../../templates/execution-plan/coverage.yaml");
    let listed: Vec<Value> = serde_saphyr::from_str(listed).unwrap();
    assert_eq!(listed.len(), 61 + 13, "its tasks, and those of its newer version");
    let (plan, made) = answers(&facts(REQUESTS[0]));
    let facts = json!(self::facts(REQUESTS[0]));
    for (task, fields) in FIELDS {
        let output = listed.iter().find(|output| output["task"] == task).unwrap();
        for field in fields.split(' ') {
            assert!(output["fields"][field].is_string(), "{task}: `{field}` is found nowhere, and nothing says why");
        }
    }
    for output in &listed {
        let fields = output["fields"].as_object().into_iter().flat_map(Map::values);
        let told = |path: &&Value| !path.as_str().unwrap().starts_with("instead: ");
        for path in output["to"].as_array().unwrap().iter().chain(fields.filter(told)) {
            let path = path.as_str().unwrap();
            let (step, fields) = path.split_once('.').unwrap();
            let root = match step {
                "facts" => &facts,
                "overview" => &made["forecast"]["overview"],
                "tasks" => &made["tasks"]["results"][0],
                step => made.get(step).unwrap_or_else(|| panic!("{path}: there is no step `{step}`")),
            };
            let found = fields.split('.').try_fold(root.clone(), |value, name| match value {
                Value::Array(items) => items.first()?.get(name).cloned(),
                value => value.get(name).cloned(),
            });
            assert!(found.is_some(), "{path} is nowhere in {:?}", steps(&plan));
        }
    }
}
