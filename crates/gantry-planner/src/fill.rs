//! Fills in what the request said: in single texts of knowledge, and in whole files of templates.

use std::collections::HashSet;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde_json::Value;

use crate::knowledge::Knowledge;
use crate::outline::Given;

/// Steps that one text may take: enough for long answers, and an end to endless loops.
const FUEL: u64 = 20_000_000;

/// Fills in texts of knowledge.
pub(crate) struct Words {
    templates: Environment<'static>,
    values: minijinja::Value,
}

impl Words {
    pub(crate) fn new(knowledge: &Knowledge, given: &Given) -> Self {
        let values = minijinja::context! {
            what => &given.what, the_thing => &knowledge.the_thing, place => &given.place, client => &given.client,
            users => &given.users, quantity => &given.quantity, deadline => &given.deadline, budget => &given.budget,
        };
        Self { templates: environment(UndefinedBehavior::Lenient), values }
    }

    /// One text.
    pub(crate) fn fill(&self, text: &str) -> Result<String, String> {
        if !text.contains("{{") {
            return Ok(text.to_owned());
        }
        let filled = self.templates.render_str(text, &self.values);
        filled.map_err(|error| format!("`{text}` cannot be filled in: {error}")).map(|text| begun_large(&text))
    }

    /// Every text in a value.
    pub(crate) fn fill_all(&self, value: &mut Value) -> Result<(), String> {
        match value {
            Value::String(text) => *text = self.fill(text)?,
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.fill_all(item))?,
            Value::Object(fields) => fields.values_mut().try_for_each(|field| self.fill_all(field))?,
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    }
}

/// What is filled in may stand at the beginning of a sentence.
pub(crate) fn begun_large(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A file of a template, read once, to be filled in again and again.
pub(crate) struct File {
    name: String,
    templates: Environment<'static>,
    /// Every word of it, the names of the values that it reads among them.
    reads: HashSet<String>,
}

impl File {
    /// Reads a file; says where it cannot be read.
    pub(crate) fn new(name: &str, text: &str) -> Result<Self, String> {
        let mut templates = environment(UndefinedBehavior::Chainable);
        templates.set_fuel(Some(FUEL));
        if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
            templates.set_syntax(syntax);
        }
        templates.add_filter("thousands", |value: &minijinja::Value| thousands(&value.to_string()));
        templates.add_filter("cell", cell);
        let added = templates.add_template_owned(name.to_owned(), text.to_owned());
        added.map_err(|error| unfilled(name, &error))?;
        let reads = names(text);
        Ok(Self { name: name.to_owned(), templates, reads })
    }

    /// Tells whether it may read a value of this name.
    pub(crate) fn reads(&self, value: &str) -> bool {
        self.reads.contains(value)
    }

    /// The file with these values; says where it cannot be filled in.
    pub(crate) fn fill(&self, values: minijinja::Value) -> Result<String, String> {
        let template = self.templates.get_template(&self.name);
        template.and_then(|template| template.render(values)).map_err(|error| unfilled(&self.name, &error))
    }
}

/// Every word of a file, those that stand in comments left out: no name that it reads is missing.
fn names(text: &str) -> HashSet<String> {
    let code = text.split("{#").enumerate().map(|(at, part)| match part.split_once("#}") {
        Some((_, code)) if at > 0 => code,
        _ => part,
    });
    let words = code.flat_map(|part| part.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn unfilled(file: &str, error: &minijinja::Error) -> String {
    let line = error.line().map(|line| format!(", line {line}")).unwrap_or_default();
    format!("`{file}`{line} cannot be filled in: {error}")
}

fn environment(undefined: UndefinedBehavior) -> Environment<'static> {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(undefined);
    templates.set_auto_escape_callback(|_| AutoEscape::None);
    templates
}

/// A number with commas between its thousands, without cents; anything else as it is.
pub(crate) fn thousands(text: &str) -> String {
    let Ok(number) = text.parse::<f64>() else { return text.to_owned() };
    #[expect(clippy::cast_possible_truncation, reason = "an amount of money")]
    let digits = (number.abs().round() as i64).to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if number < 0.0 { format!("-{grouped}") } else { grouped }
}

/// A text that can stand in a cell of a Markdown table.
fn cell(value: &minijinja::Value) -> String {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => String::new(),
        _ => value.to_string().replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use minijinja::value::Serde;
    use serde_json::json;

    fn render(file: &str, text: &str, values: &Value) -> Result<String, String> {
        File::new(file, text)?.fill(minijinja::Value::from(Serde(values)))
    }

    #[test]
    fn amounts_are_written_with_commas_and_cells_stay_on_one_line() {
        let text =
            "{{ a | thousands }} {{ b | thousands }} {{ c | thousands }} {{ d | cell }}{{ nothing.at.all | cell }}";
        let values = json!({"a": 2_000_000.0, "b": "-1234.5", "c": "free", "d": "x|y\nz"});
        assert_eq!(render("t", text, &values).unwrap(), "2,000,000 -1,235 free x\\|y z");
    }

    #[test]
    fn a_file_may_read_whatever_it_names_outside_of_comments() {
        let file = File::new(
            "a",
            "{# known #} {{ outline.phases[:2] }}{% for a in given %}{{ {\"b\": {\"c\": own}} }}{% endfor %}",
        );
        let file = file.unwrap();
        assert!(["outline", "given", "own"].into_iter().all(|name| file.reads(name)) && !file.reads("known"));
    }

    #[test]
    fn a_text_that_cannot_be_filled_in_is_told_with_its_line() {
        let why = render("answers.yaml", "fine\n{{ 1 | nosuch }}", &json!({})).unwrap_err();
        assert!(why.starts_with("`answers.yaml`, line 2"), "{why}");
    }
}
