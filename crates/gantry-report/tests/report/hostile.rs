//! Text from models, files and people is text, wherever it stands.

use gantry_report::report::check::check_html;
use gantry_report::report::{html, markdown};
use serde_json::{Value, json};

use crate::case::Case;

const PAYLOADS: [&str; 13] = [
    "<script>window.hit=1</script>",
    "\"><img src=x onerror=window.hit=1>",
    "</style><script>window.hit=1</script>",
    "</title></head><body onload=window.hit=1>",
    "'-alert(1)-'",
    "{{7*7}}${7*7}",
    "[x](javascript:window.hit=1)",
    "<svg/onload=window.hit=1>",
    "&lt;script&gt; \u{202e}gnp.exe\u{0}\u{7}",
    "]]><!--<iframe src=//evil.example>",
    "**bold** <img src=x onerror=window.hit=1> [x](javascript:window.hit=1) ![y](https://evil.example/z.png)",
    "- one\n- <script>window.hit=1</script>\n\n<iframe src=//evil.example></iframe>",
    "`code` <a href=\"javascript:window.hit=1\" onclick=window.hit=1>x</a> \u{f0000}\u{f0001}",
];

/// Every text of a value becomes this one, but what the plan itself computes with.
fn poisoned(value: &Value, with: &str) -> Value {
    const COMPUTED: [&str; 6] = ["id", "owner", "start", "finish", "size", "currency"];
    match value {
        Value::String(text) => json!(format!("{text} {with}")),
        Value::Array(items) => items.iter().map(|item| poisoned(item, with)).collect(),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| {
                    let kept = COMPUTED.contains(&name.as_str()) || name.starts_with("finish_") || name == "deadline";
                    (name.clone(), if kept { value.clone() } else { poisoned(value, with) })
                })
                .collect(),
        ),
        other => other.clone(),
    }
}

#[test]
fn a_script_in_any_field_is_shown_and_does_nothing() {
    for payload in PAYLOADS {
        let mut case = Case::sound();
        for value in case.parts.values_mut() {
            *value = poisoned(value, payload);
        }
        for task in case.plan["tasks"].as_array_mut().unwrap() {
            for field in ["title", "description"] {
                task[field] = json!(payload);
            }
        }
        for task in &mut case.project.tasks {
            payload.clone_into(&mut task.title);
        }
        case.life = json!({"state": payload, "decisions": [{"at": payload, "what": payload}], "failures": [{"task": payload, "why": payload}]});
        let report = case.report();
        let page = html::write(&report);
        assert_eq!(check_html(&page, 1), [], "{payload}");
        assert!(!page.contains('\0'), "{payload:?}");
        let text = markdown::write(&report);
        assert!(
            !text.contains("<script") && !text.contains("<img") && !text.replace("\\]", "").contains("](javascript"),
            "{text}"
        );
    }
}

#[test]
fn the_page_forbids_everything_that_is_not_its_own() {
    let page = html::write(&Case::sound().report());
    let policy = page.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    let policy = policy.replace("&#39;", "'");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
}

#[test]
fn what_models_write_as_markdown_is_drawn_with_its_numbers_marked() {
    let words = "**One** oven first, for 60,000 EUR:\n\n- *slowly*\n- `well`";
    let page = html::write(&Case::sound().set("summary.approach", json!(words)).report());
    assert!(page.contains("<strong>One</strong> oven first, for <data title="), "{page}");
    assert!(
        page.contains("<em>slowly</em>") && page.contains("<code>well</code>") && !page.contains("**One"),
        "{page}"
    );
}

#[test]
fn the_big_list_of_naughty_strings_is_text() {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut files = beside.map(|above| above.join("shared/data/security/naughty/blns.json"));
    let Some(text) = files.find_map(|file| std::fs::read_to_string(file).ok()) else { return };
    let naughty: Vec<String> = serde_json::from_str(&text).unwrap();
    assert!(naughty.len() > 400);
    let mut case = Case::sound();
    case.parts.insert("goals".to_owned(), json!({"goal": "Bread.", "needs": naughty, "permits": naughty}));
    let rows: Vec<Value> = naughty.iter().map(|text| json!({"question": text, "assumed": text})).collect();
    let case = case.set("facts.assumed", Value::Array(rows));
    let report = case.report();
    let found = check_html(&html::write(&report), 1);
    assert_eq!(found, [], "nothing of it is markup");
    assert!(!markdown::write(&report).to_ascii_lowercase().contains("<script"));
}
