//! The offline model answers any schema with a value that fits it, about what was asked, the same every time.

mod schemas; // in reading order
mod kit;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use gantry_llm::offline::{self, Asked, Generator, Offline, Written};
use gantry_llm::{
    CallFault, Delta, Listener, Message, PromptUse, Protocol, Provider, Request, Shape, Target, Tokens, ToolSpec,
    Unheard,
};
use kit::{bakery, korean, shaped, value_of};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

#[test]
fn the_same_request_has_the_same_answer_and_another_has_another() {
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}, "summary": {"type": "string"}}, "required": ["title", "summary"]});
    let answer = |request: &Request| value_of(request, &schema);
    assert_eq!(answer(&bakery()), answer(&bakery()));
    let mut other = bakery();
    other.inputs.insert("objective".to_owned(), json!("Move the archive to the new building"));
    let (one, two) = (answer(&bakery()), answer(&other));
    assert_ne!(one["title"], two["title"]);
    assert_ne!(one["summary"], two["summary"]);
}

#[test]
fn another_sample_of_the_same_request_is_another_answer() {
    let schema = json!({"type": "object", "properties": {
        "risk": {"type": "string"}, "reason": {"type": "string"}, "step": {"type": "string"}, "days": {"type": "integer"}}, "required": ["risk", "reason", "step", "days"]});
    let samples: Vec<Value> = (0..4).map(|sample| value_of(&Request { sample, ..bakery() }, &schema)).collect();
    assert!(samples.iter().any(|value| *value != samples[0]), "{samples:?}");
}

#[test]
fn an_answer_speaks_of_what_was_asked() {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "summary": {"type": "string"},
            "location": {"type": "string"},
            "budget": {"type": "string"},
            "owner": {"type": "string"},
            "start": {"type": "string", "format": "date"},
            "end": {"type": "string", "format": "date"},
            "priority": {"enum": ["low", "medium", "high"]},
            "risks": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "probability": {"type": "number"}, "mitigation": {"type": "string"}}}},
            "steps": {"type": "array", "items": {"type": "string"}},
        },
    });
    insta::assert_json_snapshot!(value_of(&bakery(), &schema), @r#"
    {
      "title": "Open a small bakery by 2027-09-01",
      "summary": "“Open a small bakery” takes place in Busan. “Open a small bakery” has a budget of $12,000.",
      "location": "Busan",
      "budget": "$12,000",
      "owner": "project lead",
      "start": "2027-03-01",
      "end": "2027-09-01",
      "priority": "medium",
      "risks": [
        {
          "name": "Busan does not suit “Open a small bakery” after all",
          "probability": 0.7,
          "mitigation": "Settle in writing for “Open a small bakery”: kickoff 2027-03-01"
        },
        {
          "name": "On the side of students, something else is expected of “Open a small bakery”",
          "probability": 0.15,
          "mitigation": "Talk to students about “Open a small bakery” before money is spent"
        },
        {
          "name": "“Open a small bakery” is not ready by 2027-09-01",
          "probability": 0.45,
          "mitigation": "Keep a tenth of the $12,000 for “Open a small bakery” in reserve"
        }
      ],
      "steps": [
        "Review “Open a small bakery” against its goal before going on",
        "Write down what belongs to “Open a small bakery” and what does not",
        "Agree with students on what “Open a small bakery” must deliver"
      ]
    }
    "#);
}

#[test]
fn a_text_speaks_of_its_field() {
    let schema = json!({"type": "object", "properties": {
        "dueDiligence": {"type": "string"},
        "x1": {"type": "string", "title": "Opening hours"},
        "x2": {"type": "string", "description": "When the first loaf is sold. Not before the permit."},
    }});
    insta::assert_json_snapshot!(value_of(&bakery(), &schema), @r#"
    {
      "dueDiligence": "Due diligence of “Open a small bakery” within $12,000",
      "x1": "On “Open a small bakery”: Opening hours",
      "x2": "When the first loaf is sold: “Open a small bakery” by 2027-09-01"
    }
    "#);
}

#[test]
fn a_korean_request_has_a_korean_answer() {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "summary": {"type": "string"},
            "steps": {"type": "array", "items": {"type": "string"}},
            "risks": {"type": "array", "items": {"type": "string"}},
            "obscure": {"type": "string"},
        },
    });
    let value = value_of(&korean(), &schema);
    insta::assert_json_snapshot!(value, @r#"
    {
      "title": "작은 빵집 열기",
      "summary": "‘작은 빵집 열기’의 예산은 3,000만 원입니다. ‘작은 빵집 열기’에 걸리는 기간은 6개월 정도로 봅니다.",
      "steps": [
        "‘작은 빵집 열기’에 쓸 장소를 확인하기: 부산",
        "‘작은 빵집 열기’ 예산 3,000만 원 항목별로 나누기",
        "‘작은 빵집 열기’ 기간 6개월 안에서 단계를 나누기"
      ],
      "risks": [
        "‘작은 빵집 열기’에 필요한 허가나 결정이 늦어질 수 있음",
        "‘작은 빵집 열기’ 진행 중에 조건이 바뀔 수 있음: 기간 6개월",
        "‘작은 빵집 열기’에 예정된 6개월보다 시간이 더 걸릴 수 있음"
      ],
      "obscure": "‘작은 빵집 열기’ 관련 사항: 기간 6개월"
    }
    "#);
    let hangul = |text: &str| {
        let letters = text.chars().filter(|letter| letter.is_alphanumeric()).count();
        10 * text.chars().filter(|letter| ('가'..='힣').contains(letter)).count() >= 6 * letters
    };
    kit::texts(&value, &mut |text| assert!(hangul(text), "{text}"));
    assert!(Offline::new().answer(&korean()).unwrap().text.ends_with("모델 없이 오프라인으로 작성했습니다."));
}

#[test]
fn the_language_is_that_of_the_prompt_and_otherwise_that_of_the_words() {
    let text = |request: Request| Offline::new().answer(&request).unwrap().text;
    let prompt =
        |locale: &str| Some(PromptUse { name: "plan".to_owned(), locale: locale.to_owned(), ..PromptUse::default() });
    assert!(text(Request { prompt: prompt("ko"), ..bakery() }).ends_with("작성했습니다."));
    assert!(text(Request { prompt: prompt("en"), ..korean() }).ends_with("without a model."));
    assert!(text(Request { prompt: prompt("fr"), ..bakery() }).ends_with("without a model."));
}

#[test]
fn a_request_without_a_schema_has_a_short_honest_text() {
    insta::assert_snapshot!(Offline::new().answer(&bakery()).unwrap().text, @"
    What is asked for: “Open a small bakery”.
    Place: Busan. Time: 2027-09-01. Money: $12,000. People: students.
    - budget: $12,000
    - deadline: 2027-09-01
    - kickoff: 2027-03-01
    - staff: 3
    Nothing beyond the inputs was used, so nothing here is news.

    Written offline, without a model.
    ");
}

#[test]
fn a_request_without_inputs_is_read_by_its_words() {
    let request = Request {
        messages: vec![
            Message::system("You plan."),
            Message::user("Plan a street party in Lisbon for 6 weeks from now. It may cost $3,000."),
        ],
        ..Request::default()
    };
    insta::assert_snapshot!(Offline::new().answer(&request).unwrap().text, @"
    This is about “Plan a street party for 6 weeks from now”.
    Place: Lisbon. Length: 6 weeks. Money: $3,000.
    A person should look at it before anything is done.

    Written offline, without a model.
    ");
}

#[test]
fn it_never_calls_a_tool_and_answers_instead() {
    let tools =
        vec![ToolSpec { name: "search".to_owned(), description: "Searches.".to_owned(), parameters: json!({}) }];
    let reply = Offline::new().answer(&Request { tools, ..bakery() }).unwrap();
    assert!(reply.calls.is_empty() && !reply.text.is_empty());
}

#[test]
fn a_step_of_an_agent_ends_the_work_rather_than_calling_a_tool_that_may_not_be_there() {
    let step = |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}, "text": {"type": "string"}}, "required": ["kind", "text"]});
    let schema = json!({"oneOf": [step("tool"), step("ask"), step("finish")]});
    assert_eq!(value_of(&bakery(), &schema)["kind"], "finish");
}

#[test]
fn what_a_list_would_point_at_is_not_made_up() {
    let schema = json!({"type": "object", "properties": {"after": {"type": "array", "items": {"type": "string"}}, "done": {"type": "boolean"}}});
    assert_eq!(value_of(&bakery(), &schema), json!({"after": [], "done": false}));
}

#[test]
fn it_costs_nothing_and_names_itself() {
    let named = |role: &str, prompt: Option<&str>| {
        let prompt = prompt.map(|name| PromptUse { name: name.to_owned(), ..PromptUse::default() });
        let reply = Offline::new().answer(&Request { role: role.to_owned(), prompt, ..bakery() }).unwrap();
        assert_eq!(reply.tokens, Some(Tokens::default()));
        reply.model
    };
    assert_eq!(named("planner", Some("decompose")), "gantry-offline-decompose");
    assert_eq!(named("planner", None), "gantry-offline-generic");
    assert_eq!(named("team.project", Some("x")), "vdos-stub-project");
    assert_eq!(named("team.daily", None), "vdos-stub-daily");
    assert_eq!(named("team.hourly", None), "vdos-stub-hourly");
    assert_eq!(named("team.daily_report", None), "vdos-stub-daily-report");
    assert_eq!(named("team.report", None), "vdos-stub-simulation");
    assert_eq!(named("team.other", None), "vdos-stub-generic");
    assert_eq!(offline::model(&Request::default()), "gantry-offline-generic");
}

#[test]
fn empty_and_odd_inputs_are_answered_too() {
    let schema =
        json!({"type": "object", "properties": {"title": {"type": "string", "minLength": 1}}, "required": ["title"]});
    let odd = [
        json!(null),
        json!(""),
        json!("  \n"),
        json!({"a": {"b": [1, null]}}),
        json!([[]]),
        json!("\u{0}\u{7}{what}{"),
        json!("가".repeat(50_000)),
    ];
    for input in odd {
        let request = Request { inputs: [("objective".to_owned(), input)].into(), ..Request::default() };
        value_of(&request, &schema);
        assert!(Offline::new().answer(&request).unwrap().text.len() < 4_000);
    }
    value_of(&Request::default(), &schema);
}

/// Answers one prompt in a way of its own.
struct Scripted(Result<Written, String>);

impl Generator for Scripted {
    fn prompt(&self) -> &'static str {
        "decompose"
    }
    fn answer(&self, asked: &Asked<'_>) -> Result<Written, String> {
        assert!(!asked.what().is_empty());
        self.0.clone()
    }
}

fn decompose(shape: Option<Value>) -> Request {
    let prompt = Some(PromptUse { name: "decompose".to_owned(), ..PromptUse::default() });
    let shape = shape.map(|schema| Shape { name: "parts".to_owned(), schema });
    Request { prompt, shape, ..bakery() }
}

#[test]
fn a_generator_answers_its_own_prompt_and_no_other() {
    let model = Offline::new().with(Arc::new(Scripted(Ok(Written::Value(json!(["oven"]))))));
    let schema = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(model.answer(&decompose(Some(schema.clone()))).unwrap().text, r#"["oven"]"#);
    assert_ne!(model.answer(&shaped(&bakery(), &schema)).unwrap().text, r#"["oven"]"#);
}

#[test]
fn what_a_generator_writes_is_checked_and_marked() {
    let answer = |written: Result<Written, String>, shape: Option<Value>| {
        Offline::new().with(Arc::new(Scripted(written))).answer(&decompose(shape))
    };
    let marked = answer(Ok(Written::Text("Buy an oven.".to_owned())), None).unwrap().text;
    assert_eq!(marked, "Buy an oven.\n\nWritten offline, without a model.");
    let schema = json!({"type": "array", "items": {"type": "string"}});
    for written in [Ok(Written::Value(json!([3]))), Ok(Written::Text("oven".to_owned())), Err("no oven".to_owned())] {
        let error = answer(written, Some(schema.clone())).unwrap_err();
        assert_eq!(error.fault, CallFault::Answer, "{error}");
    }
}

/// Remembers what it heard.
#[derive(Default)]
struct Heard(Mutex<Vec<Delta>>);

impl Listener for Heard {
    fn hear(&self, delta: Delta) {
        self.0.lock().unwrap().push(delta);
    }
}

fn target() -> Target {
    Target {
        provider: "offline".to_owned(),
        protocol: Protocol::Offline,
        base_url: String::new(),
        key: None,
        model: "offline".to_owned(),
        price: None,
        limits: gantry_llm::Limits { timeout: Duration::from_secs(1), ..gantry_llm::Limits::default() },
        context: None,
        schemas: true,
        tools: false,
        keep: false,
    }
}

#[tokio::test]
async fn it_is_a_provider_like_any_other() {
    let heard = Heard::default();
    let stop = CancellationToken::new();
    let reply = Offline::new().call(&target(), &bakery(), &heard, &stop).await.unwrap();
    assert_eq!(*heard.0.lock().unwrap(), [Delta::Text(reply.text)]);
    stop.cancel();
    let error = Offline::new().call(&target(), &bakery(), &Unheard, &stop).await.unwrap_err();
    assert_eq!((error.fault, error.target.as_str()), (CallFault::Cancelled, "offline:offline"));
}

#[test]
fn the_offline_model_judges_nothing_unless_whoever_owns_the_prompt_says_how() {
    struct Strict;
    impl Generator for Strict {
        fn prompt(&self) -> &'static str {
            "judge"
        }
        fn answer(&self, _: &Asked<'_>) -> Result<Written, String> {
            Ok(Written::Value(json!({"holds": false})))
        }
    }
    let schema = json!({"type": "object", "properties": {"holds": {"type": "boolean"}}, "required": ["holds"]});
    let asked = |prompt: &str| {
        let prompt = Some(PromptUse { name: prompt.to_owned(), ..PromptUse::default() });
        Request { prompt, ..shaped(&bakery(), &schema) }
    };
    for prompt in ["judge", "decide", "critic", "agent-score", "agent-reflect"] {
        let error = Offline::new().answer(&asked(prompt)).unwrap_err();
        assert_eq!(error.fault, CallFault::Unable, "{prompt}");
        assert!(error.message.contains("does not judge") && error.message.contains("gantry model doctor"), "{error}");
    }
    assert!(Offline::new().answer(&asked("task")).is_ok());
    let owned = Offline::new().with(Arc::new(Strict)).answer(&asked("judge")).unwrap();
    assert_eq!(owned.text, r#"{"holds":false}"#);
}
