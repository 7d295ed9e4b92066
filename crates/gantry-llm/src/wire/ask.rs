//! A request in the words of genai.
//!
//! What a provider refuses is left out: seeds at Anthropic and at `OpenAI`'s Responses, stop words at the latter, and
//! temperatures at Anthropic while it thinks. Summaries of thoughts are not asked for at Responses, for many accounts may
//! not have them.

use std::str::FromStr;

use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, ChatRole, ContentPart, JsonSpec,
    MessageContent, ReasoningEffort, Tool, ToolResponse,
};
use serde_json::{Map, Value, json};

use crate::request::{Message, Request};
use crate::target::{Protocol, Target};

use super::names::Names;
use super::schema::{Told, told};

/// Gemini takes seeds of 31 bits, and refuses requests with larger ones.
const GEMINI_SEED_BITS: u64 = 0x7fff_ffff;

/// Everything that a provider is told: what was said, and in words what its protocol has no place for.
pub fn said(target: &Target, request: &Request) -> Vec<Message> {
    let mut said = request.messages.clone();
    if let Told::InWords(words) = told(target, request) {
        // Behind the other standing text, which stays the same from request to request.
        let place = said.iter().take_while(|message| matches!(message, Message::System { .. })).count();
        said.insert(place, Message::system(words));
    }
    said
}

/// What is said after the answer of this id, if there is one, and the tools that may be called.
///
/// Tools and formats hold for one answer alone and are given every time. Standing text is a message like others: the
/// provider keeps it with the answer, and it is not said again.
pub fn talk(target: &Target, request: &Request, said: &[Message], after: Option<&str>, names: &Names) -> ChatRequest {
    let mut messages: Vec<ChatMessage> = Vec::new();
    let mut results: Vec<ToolResponse> = Vec::new();
    for message in said {
        if let Message::Tool { call, text } = message {
            results.push(ToolResponse::new(call, text));
            continue;
        }
        // Results that follow each other answer calls of one turn, and some providers want them in one message.
        flush(&mut messages, &mut results);
        messages.push(match message {
            Message::System { text } => ChatMessage::system(text),
            Message::User { text } | Message::Tool { text, .. } => ChatMessage::user(text),
            Message::Assistant { text, calls } => {
                let words = (!text.is_empty()).then(|| ContentPart::from_text(text));
                let calls = calls.iter().map(|call| {
                    ContentPart::ToolCall(genai::chat::ToolCall {
                        call_id: call.id.clone(),
                        fn_name: names.outside(&call.name).to_owned(),
                        fn_arguments: call.args.clone(),
                        thought_signatures: None,
                    })
                });
                ChatMessage::assistant(MessageContent::from_parts(words.into_iter().chain(calls).collect::<Vec<_>>()))
            }
        });
    }
    flush(&mut messages, &mut results);
    if target.protocol == Protocol::Anthropic {
        mark_for_its_cache(&mut messages, !request.tools.is_empty());
    }

    let mut talk = ChatRequest::new(messages);
    if target.tools && !request.tools.is_empty() {
        talk = talk.with_tools(tools(target, request, names));
    }
    if target.protocol == Protocol::OpenaiResponses {
        talk.store = Some(target.keep);
        talk.previous_response_id = after.map(str::to_owned);
    }
    talk
}

/// Says up to where the next request will be the same: after the standing text, and in a talk with tools, which goes on,
/// after everything. Other providers find out themselves.
fn mark_for_its_cache(messages: &mut [ChatMessage], goes_on: bool) {
    let standing = messages.iter().rposition(|message| message.role == ChatRole::System);
    let last = messages.len().checked_sub(1).filter(|_| goes_on);
    for at in [standing, last].into_iter().flatten() {
        messages[at].options = Some(CacheControl::Ephemeral.into());
    }
}

fn flush(messages: &mut Vec<ChatMessage>, results: &mut Vec<ToolResponse>) {
    if !results.is_empty() {
        messages.push(ChatMessage::from(std::mem::take(results)));
    }
}

fn tools(target: &Target, request: &Request, names: &Names) -> Vec<Tool> {
    // Not strict, or optional arguments would become required; only OpenAI has to be told so.
    let strict = matches!(target.protocol, Protocol::OpenaiChat | Protocol::OpenaiResponses).then_some(false);
    let tool = |spec: &crate::request::ToolSpec| {
        let mut tool = Tool::new(names.outside(&spec.name))
            .with_description(&spec.description)
            .with_schema(spec.parameters.clone());
        tool.strict = strict;
        tool
    };
    request.tools.iter().map(tool).collect()
}

/// As many tokens as genai lets models of Anthropic think for at an effort.
fn thoughts_max(effort: &ReasoningEffort) -> u32 {
    match effort {
        ReasoningEffort::Zero => 0,
        ReasoningEffort::Minimal | ReasoningEffort::Low => 1_024,
        ReasoningEffort::Medium => 8_000,
        ReasoningEffort::High | ReasoningEffort::XHigh | ReasoningEffort::Max => 24_000,
        ReasoningEffort::Budget(tokens) => *tokens,
    }
}

/// Tells whether a model can be asked to think this hard.
pub fn is_effort(effort: &str) -> bool {
    ReasoningEffort::from_str(effort).is_ok()
}

/// How it is to be answered.
pub fn options(target: &Target, request: &Request) -> Result<ChatOptions, String> {
    let settings = &request.settings;
    let mut options = ChatOptions::default().with_capture_usage(true).with_capture_tool_calls(true);
    options.temperature = settings.temperature;
    options.top_p = settings.top_p;
    options.max_tokens = settings.tokens_max;
    options.stream_read_timeout = Some(target.limits.silence);
    if let Some(effort) = &settings.effort {
        let effort = ReasoningEffort::from_str(effort)
            .map_err(|_| format!("`{effort}` is no effort; one of minimal, low, medium, high is"))?;
        if target.protocol == Protocol::Anthropic {
            (options.temperature, options.top_p) = (None, None);
            // Thoughts count as part of the answer there, and must leave room for it.
            options.max_tokens = options.max_tokens.map(|max| max.saturating_add(thoughts_max(&effort)));
        }
        options.reasoning_effort = Some(effort);
        // Asks for thoughts, which only models that think take.
        options.capture_reasoning_content = Some(matches!(target.protocol, Protocol::Anthropic | Protocol::Gemini));
    }
    if target.protocol != Protocol::OpenaiResponses {
        options.stop_sequences.clone_from(&settings.stop);
    }
    options.seed = match target.protocol {
        Protocol::OpenaiChat => settings.seed,
        Protocol::Gemini => settings.seed.map(|seed| seed & GEMINI_SEED_BITS),
        Protocol::OpenaiResponses | Protocol::Anthropic | Protocol::Offline => None,
    };

    // What is in the extra body replaces what genai has put there.
    let mut extra = Map::new();
    if target.protocol != Protocol::Gemini {
        extra.insert("model".into(), json!(target.model));
    }
    if let Told::ByFormat(format) = told(target, request) {
        match target.protocol {
            Protocol::OpenaiChat => {
                extra.insert("response_format".into(), format);
            }
            Protocol::OpenaiResponses => {
                extra.insert("text".into(), json!({"format": format}));
            }
            // These two share their place with the effort, so genai puts them together; it adds nothing to a
            // schema that is closed already, and nothing at all at Gemini.
            Protocol::Anthropic | Protocol::Gemini => {
                options.response_format = Some(ChatResponseFormat::JsonSpec(JsonSpec::new("answer", format)));
            }
            Protocol::Offline => {}
        }
    }
    options.extra_body = (!extra.is_empty()).then_some(Value::Object(extra));
    Ok(options)
}
