//! What a server's chat is asked for one topic.

use serde_json::{Value, json};

use crate::topics::Topic;

const SYSTEM: &str = include_str!("message/system.txt");
const FIRST: &str = include_str!("message/first.txt");
const STRICT: &str = include_str!("message/strict.txt");

/// Where a plan says which run and which topic it is of.
pub const RUN: &str = "bulk_run_id";
/// See [`RUN`].
pub const KEY: &str = "bulk_key";

/// How a topic is put into words.
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
}

impl Default for Template {
    fn default() -> Self {
        Self { text: FIRST.to_owned() }
    }
}

impl Template {
    /// A text with `{title}`, `{goal}` and `{description}` in it. Every other brace is itself, so JSON may stand in it.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// The text for whoever answered without making a plan.
    pub fn strict() -> Self {
        Self { text: STRICT.to_owned() }
    }

    /// The text for a topic. What a topic says is not looked through again.
    pub fn render(&self, topic: &Topic) -> String {
        let values = [("{title}", &topic.title), ("{goal}", &topic.goal), ("{description}", &topic.description)];
        let (mut text, mut rest) = (String::new(), self.text.as_str());
        while let Some(at) = rest.find('{') {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            let known = values.iter().find(|(name, _)| rest.starts_with(name));
            let (shown, length) = known.map_or(("{", 1), |(name, value)| (value.as_str(), name.len()));
            text.push_str(shown);
            rest = &rest[length..];
        }
        text + rest
    }
}

/// How long the title of a plan may be. The message has all of it.
const TITLE_CHARS_MAX: usize = 300;

/// What the plan of a topic is to be called: its title, or where that is a whole request, as much of it as is no more than a
/// title.
pub fn title(topic: &Topic) -> &str {
    let title = topic.title.trim();
    let Some((end, _)) = title.char_indices().nth(TITLE_CHARS_MAX) else { return title };
    let cut = &title[..end];
    let words = cut.rsplit_once(char::is_whitespace).map_or(cut, |(words, _)| words);
    words.trim_end()
}

/// The body of the request, in the form that web clients send. Run and key stay with the plan, so that it is known again.
pub fn body(template: &Template, topic: &Topic, (run, key): (&str, &str), session: &str) -> Value {
    let mut metadata = topic.metadata.clone();
    for (name, value) in [("owner", &topic.owner), ("description", &topic.description)] {
        if !value.is_empty() {
            metadata.insert(name.to_owned(), json!(value));
        }
    }
    metadata.extend([(RUN.to_owned(), json!(run)), (KEY.to_owned(), json!(key))]);
    json!({
        "message": format!("{SYSTEM}\n{}", template.render(topic)), "mode": "assistant", "history": [],
        "session_id": session, "context": {"plan_title": title(topic), "metadata": metadata},
    })
}
