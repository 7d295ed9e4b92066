//! `gantry prompt show`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use gantry_llm::Message;
use gantry_llm::prompts::{About, Choice, PromptFault};
use serde_json::{Value, json};

use super::configured;
use crate::exit::{self, Fault};
use crate::show::{plain, text_of};

/// What a prompt takes and says, for programs.
pub fn shown(name: &str, locale: Option<&str>, variant: Option<&str>) -> Result<Value, Fault> {
    let (config, prompts) = configured()?;
    let locale = locale.unwrap_or(config.locale());
    let inputs = prompts.inputs(name, locale).map_err(fault)?;
    let examples: BTreeMap<String, Value> =
        inputs.iter().map(|input| (input.name.clone(), input.example.clone())).collect();
    let choice = variant.map_or(Choice::Base, Choice::Named);
    let rendered = prompts.render(name, locale, choice, &examples).map_err(fault)?;
    let about = prompts.about().into_iter().find(|about| about.name == name && about.locale == locale);
    let messages: Vec<Value> =
        rendered.messages.iter().map(said).map(|(by, text)| json!({"by": by, "text": text})).collect();
    let schema = rendered.shape.map(|shape| shape.schema);
    Ok(json!({"about": about, "inputs": inputs, "messages": messages, "schema": schema}))
}

/// Who says something, and what.
fn said(message: &Message) -> (&'static str, String) {
    match message {
        Message::System { text } => ("system", text.clone()),
        Message::User { text } => ("user", text.clone()),
        Message::Assistant { text, .. } => ("assistant", text.clone()),
        Message::Tool { text, .. } => ("tool", text.clone()),
    }
}

pub fn run(name: &str, locale: Option<&str>, variant: Option<&str>, json: bool) -> Result<ExitCode, Fault> {
    if json {
        exit::print_json(&shown(name, locale, variant)?)?;
        return Ok(ExitCode::from(exit::DONE));
    }
    let (config, prompts) = configured()?;
    let locale = locale.unwrap_or(config.locale());
    let inputs = prompts.inputs(name, locale).map_err(fault)?;
    let examples: BTreeMap<String, Value> =
        inputs.iter().map(|input| (input.name.clone(), input.example.clone())).collect();
    let choice = variant.map_or(Choice::Base, Choice::Named);
    let rendered = prompts.render(name, locale, choice, &examples).map_err(fault)?;
    let about = prompts.about().into_iter().find(|about| about.name == name && about.locale == locale);
    let mut lines = Vec::new();
    if let Some(about) = about {
        let About { name, locale, version, role, file, variants } = about;
        lines.push(format!("{name} ({locale}), version {version}, for the role {role}, from {file}"));
        lines.extend((!variants.is_empty()).then(|| format!("variants: {}", variants.join(", "))));
    }
    lines.push("\ninputs:".to_owned());
    for input in inputs {
        let required = if input.required { "" } else { ", may be left out" };
        lines.push(format!("  {}: {}{required}: {}", input.name, input.kind.words(), input.description));
    }
    lines.push("\nwith its examples it says:".to_owned());
    lines.extend(rendered.messages.iter().map(said).map(|(by, words)| format!("\n## {by}\n{}", words.trim_end())));
    lines.extend(rendered.shape.map(|shape| format!("\nand the answer fits:\n{:#}", shape.schema)));
    let text = lines.join("\n");
    let lines: Vec<String> = text.lines().map(plain).collect();
    exit::print(&text_of(lines))?;
    Ok(ExitCode::from(exit::DONE))
}

fn fault(fault: PromptFault) -> Fault {
    let bad = Fault::bad_input(fault.to_string());
    bad.hint("see which there are with `gantry prompt list`")
}
