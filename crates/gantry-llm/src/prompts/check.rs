//! What is checked when a prompt is loaded, so that nothing of it can fail later.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::suggest::nearest;
use serde_json::Value;

use super::fault::PromptFault;
use super::file::{InputType, Prompt, Who};
use super::shape;

/// A larger weight is a mistake.
const WEIGHT_MAX: u32 = 10_000;

/// Everything that is wrong with a prompt.
pub(super) fn check(prompt: &Prompt) -> Vec<PromptFault> {
    let mut faults = Vec::new();
    weights(prompt, &mut faults);
    names(prompt, &mut faults);
    output(prompt, &mut faults);
    if faults.is_empty() {
        rendering(prompt, &mut faults);
    }
    let mut said = BTreeSet::new();
    faults.retain(|fault| said.insert(fault.to_string()));
    faults
}

/// The text as it stands, and each variant.
fn ways(prompt: &Prompt) -> impl Iterator<Item = Option<&str>> {
    std::iter::once(None).chain(prompt.variants.keys().map(|name| Some(name.as_str())))
}

fn weights(prompt: &Prompt, faults: &mut Vec<PromptFault>) {
    let all = || std::iter::once(prompt.weight).chain(prompt.variants.values().map(|variant| variant.weight));
    if all().any(|weight| weight > WEIGHT_MAX) {
        faults.push(PromptFault::new(&prompt.file, format!("a weight is at most {WEIGHT_MAX}")));
    }
    if all().all(|weight| weight == 0) {
        faults.push(PromptFault::new(&prompt.file, "all weights are 0, so nothing would ever be chosen"));
    }
    for (name, variant) in &prompt.variants {
        if variant.system.is_none() && variant.user.is_none() {
            let fault = PromptFault::new(&prompt.file, format!("the variant `{name}` changes nothing"));
            faults.push(fault.hint("give it a `system` or a `user` text"));
        }
    }
}

/// All names in the text are inputs, all inputs are used, and the system part stays the same.
fn names(prompt: &Prompt, faults: &mut Vec<PromptFault>) {
    let mut seen = BTreeSet::new();
    for input in &prompt.inputs {
        if !seen.insert(input.name.as_str()) {
            let what = format!("the input `{}` is declared twice", input.name);
            faults.push(PromptFault::new(&prompt.file, what).at(input.line));
        }
    }
    let (mut used, mut unread): (BTreeSet<String>, bool) = (BTreeSet::new(), false);
    for part in ways(prompt).flat_map(|way| prompt.parts(way)) {
        let names = match part.template.names() {
            Ok(names) => names,
            Err(wrong) => {
                faults.push(prompt.fault_in(&part, wrong));
                unread = true;
                continue;
            }
        };
        for (name, line) in names {
            let line = part.line + line - 1;
            if !seen.contains(name.as_str()) {
                let fault = PromptFault::new(&prompt.file, format!("`{name}` is undefined")).at(line);
                faults.push(match nearest(&name, seen.iter().copied()) {
                    Some(near) => fault.hint(format!("did you mean `{near}`?")),
                    None => fault.hint(format!("declare it: add `- name: {name}` to the inputs")),
                });
            } else if part.who == Who::System && !prompt.system_varies {
                let what = format!("the system part depends on `{name}`, so that caches of providers never hit");
                let fault = PromptFault::new(&prompt.file, what).at(line);
                faults.push(fault.hint("move it to the user part, or add `system_varies: true`"));
            }
            used.insert(name);
        }
    }
    used.extend(prompt.output.iter().flat_map(shape::inputs_of).map(str::to_owned));
    // What cannot be read may use them all.
    for input in prompt.inputs.iter().filter(|input| !unread && !used.contains(&input.name)) {
        let what = format!("the input `{}` is never used", input.name);
        faults.push(PromptFault::new(&prompt.file, what).at(input.line));
    }
}

/// The schema of the answer is one, with the examples filled in.
fn output(prompt: &Prompt, faults: &mut Vec<PromptFault>) {
    let Some(output) = &prompt.output else { return };
    let mut fault = |what: String| faults.push(PromptFault::new(&prompt.file, what));
    for name in shape::inputs_of(output) {
        match prompt.inputs.iter().find(|input| input.name == name) {
            Some(input) if input.required && input.kind == InputType::List => {}
            Some(_) => return fault(format!("the schema needs `{name}`, which must be a required list")),
            None => return fault(format!("the schema needs the input `{name}`, which is not declared")),
        }
    }
    match shape::filled(output, &examples(prompt, Given::All)) {
        Err(what) => fault(what),
        Ok(schema) => {
            if let Err(error) = jsonschema::validator_for(&schema) {
                fault(format!("its output is not a JSON Schema: {error}"));
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Given {
    All,
    Required,
}

fn examples(prompt: &Prompt, given: Given) -> BTreeMap<String, Value> {
    let is_given = |required: bool| required || matches!(given, Given::All);
    let inputs = prompt.inputs.iter().filter(|input| is_given(input.required));
    inputs.map(|input| (input.name.clone(), input.example.clone())).collect()
}

/// Every way renders, with all inputs and with the required ones alone.
fn rendering(prompt: &Prompt, faults: &mut Vec<PromptFault>) {
    for way in ways(prompt) {
        for given in [Given::All, Given::Required] {
            if let Err(fault) = prompt.render(way, &examples(prompt, given)) {
                faults.push(match given {
                    Given::All => fault,
                    Given::Required => {
                        let hint = "an input that is not required may be missing: ask with {% if … %} first";
                        PromptFault { hint: Some(hint.to_owned()), ..fault }
                    }
                });
            }
        }
    }
}

/// A prompt is the same in every language but for its words.
pub(super) fn languages_agree(prompts: &BTreeMap<(String, String), Prompt>) -> Vec<PromptFault> {
    let mut faults = Vec::new();
    let mut first: Option<&Prompt> = None;
    for prompt in prompts.values() {
        let Some(other) = first.filter(|other| other.name == prompt.name) else {
            first = Some(prompt);
            continue;
        };
        let inputs = |prompt: &Prompt| -> BTreeSet<(String, &'static str, bool)> {
            prompt.inputs.iter().map(|input| (input.name.clone(), input.kind.words(), input.required)).collect()
        };
        let differences = [
            ("inputs", inputs(prompt) != inputs(other)),
            ("output", prompt.output != other.output),
            ("role", prompt.role != other.role),
            ("variants", !prompt.variants.keys().eq(other.variants.keys())),
        ];
        for (what, _) in differences.into_iter().filter(|(_, differ)| *differ) {
            let message = format!("its {what} differ from those of {}", other.file);
            let fault = PromptFault::new(&prompt.file, message);
            faults.push(fault.hint("a prompt is the same in every language but for its words: change both files"));
        }
    }
    faults
}
