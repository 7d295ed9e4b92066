//! An answer that is too long for one go is asked for in parts.
//!
//! An object is asked for by some of its fields at a time, halves of halves; a list by some of its items at a time, until
//! no more come. Each part fits its part of the schema, and what they make together fits the whole of it and the rules,
//! or it is no answer. What was given already is shown with each further part.

use serde_json::{Map, Value, json};

use crate::answer::{Answer, Finish, Repair, Reply};
use crate::error::CallFault;
use crate::request::{Request, Shape};
use crate::structured::{Checker, Reading, feedback};
use crate::target::Target;

use super::Gateway;
use super::call::{Replied, Stop, Way};
use super::ladder::{not_good, short, with};
use super::ledger::Ledger;

/// How many items of a list a part has at most.
const ITEMS_MAX: usize = 8;
/// How many calls an answer in parts takes at most.
const PARTS_MAX: u32 = 40;
/// How often a part is shown its faults.
const FEEDBACKS_MAX: u32 = 1;

/// What says something about an object or a list as a whole, so that its parts cannot be told apart.
const ABOUT_THE_WHOLE: [&str; 18] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "const",
    "enum",
    "dependentRequired",
    "dependentSchemas",
    "propertyNames",
    "patternProperties",
    "minProperties",
    "maxProperties",
    "unevaluatedProperties",
    "contains",
    "prefixItems",
    "unevaluatedItems",
];

/// Where a schema can be parted.
#[derive(Debug, PartialEq)]
enum Seam {
    /// Between the fields of an object: the first ones, and the others.
    Fields(Vec<String>, Vec<String>),
    /// Between the items of a list, which is the value itself or stands in its only field.
    Items(Option<String>),
}

/// Tells whether an answer with this schema can be asked for in parts.
pub(super) fn can_be_split(schema: &Value) -> bool {
    seam(schema).is_some()
}

fn is_plain(schema: &Value, kind: &str) -> bool {
    schema["type"] == kind && ABOUT_THE_WHOLE.iter().all(|word| schema.get(word).is_none())
}

fn seam(schema: &Value) -> Option<Seam> {
    if is_plain(schema, "array") {
        return Some(Seam::Items(None));
    }
    let fields = schema["properties"].as_object().filter(|_| is_plain(schema, "object"))?;
    let names: Vec<String> = fields.keys().cloned().collect();
    match names.as_slice() {
        [] => None,
        [only] => is_plain(&fields[only], "array").then(|| Seam::Items(Some(only.clone()))),
        many => {
            let (first, others) = many.split_at(many.len() / 2);
            Some(Seam::Fields(first.to_vec(), others.to_vec()))
        }
    }
}

/// The schema of some fields.
fn of_fields(schema: &Value, names: &[String]) -> Value {
    let mut part = schema.clone();
    if let Some(fields) = part["properties"].as_object_mut() {
        fields.retain(|name, _| names.contains(name));
    }
    if let Some(required) = part.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name.as_str().is_some_and(|name| names.iter().any(|other| other == name)));
    }
    part
}

/// The schema of some items.
fn of_items(schema: &Value, field: Option<&str>, items_max: usize) -> Value {
    let mut part = schema.clone();
    let list = match field {
        Some(field) => &mut part["properties"][field],
        None => &mut part,
    };
    list["maxItems"] = json!(items_max);
    if let Some(list) = list.as_object_mut() {
        list.remove("minItems");
    }
    part
}

/// What came of asking for a part.
enum Part {
    Whole(Value),
    TooLong,
}

/// Asks one model for one answer in parts.
struct Splitting<'a> {
    gateway: &'a Gateway,
    target: &'a Target,
    name: &'a str,
    way: &'a Way<'a>,
    /// How many parts came.
    parts: u32,
    /// How many calls are left.
    calls_left: u32,
    last: Reply,
}

impl Gateway {
    /// Asks for an answer in parts.
    pub(super) async fn ask_in_parts(
        &self,
        target: &Target,
        shape: &Shape,
        check: &Checker,
        way: &Way<'_>,
        ledger: &mut Ledger,
    ) -> Result<Answer, Stop> {
        let (calls_left, last) = (PARTS_MAX, Reply::default());
        let mut splitting = Splitting { gateway: self, target, name: &shape.name, way, parts: 0, calls_left, last };
        let before = json!({});
        let value = splitting.part_up(&shape.schema, &before, ledger).await?;
        ledger.repairs.push(Repair::Split(splitting.parts));
        let mut faults = check.faults(&value);
        if faults.is_empty() {
            faults = (way.asking.rules)(&value);
        }
        if !faults.is_empty() {
            ledger.failed.push(not_good(target, CallFault::Answer, short(&faults.join("; "))));
            return Err(Stop::Invalid(faults));
        }
        let reply = Reply { finish: Finish::Done, ..splitting.last };
        Ok(super::ladder::answer(reply, value.to_string(), Some(value)))
    }
}

impl Splitting<'_> {
    /// Asks for a value that is too long for one go.
    async fn part_up(&mut self, schema: &Value, before: &Value, ledger: &mut Ledger) -> Result<Value, Stop> {
        match seam(schema) {
            Some(Seam::Fields(first, others)) => {
                let mut all = Map::new();
                for names in [first, others] {
                    let part = of_fields(schema, &names);
                    let mut there = before.as_object().cloned().unwrap_or_default();
                    there.extend(all.clone());
                    let wish = format!("This part: only the fields {}.", quoted(&names));
                    let there = Value::Object(there);
                    let value = match self.ask(&part, &wish, &there, ledger).await? {
                        Part::Whole(value) => value,
                        Part::TooLong => Box::pin(self.part_up(&part, &there, ledger)).await?,
                    };
                    all.extend(value.as_object().cloned().unwrap_or_default());
                }
                Ok(Value::Object(all))
            }
            Some(Seam::Items(field)) => self.items(schema, field.as_deref(), before, ledger).await,
            None => Err(self.given_up("a part of the answer is too long, and cannot be asked for in parts", ledger)),
        }
    }

    /// Asks for a list, some items at a time, until no more come.
    async fn items(
        &mut self,
        schema: &Value,
        field: Option<&str>,
        before: &Value,
        ledger: &mut Ledger,
    ) -> Result<Value, Stop> {
        let bound = |list: &Value| list["maxItems"].as_u64().and_then(|max| usize::try_from(max).ok());
        let all_max = bound(field.map_or(schema, |field| &schema["properties"][field])).unwrap_or(usize::MAX);
        let whole = |items: &[Value]| match field {
            Some(field) => json!({field: items}),
            None => json!(items),
        };
        let (mut items, mut items_max): (Vec<Value>, usize) = (Vec::new(), ITEMS_MAX);
        while items.len() < all_max {
            let part = of_items(schema, field, items_max.min(all_max - items.len()));
            let list = field.map_or_else(|| "the list".to_owned(), |field| format!("the list `{field}`"));
            let wish = match items.len() {
                0 => format!("This part: the first items of {list}, at most {items_max}."),
                count => format!(
                    "This part: the items of {list} that follow the {count} there are, at most {items_max}; an empty \
                     list when there are no more."
                ),
            };
            let there = match (before, whole(&items)) {
                (Value::Object(before), Value::Object(own)) => {
                    Value::Object(before.clone().into_iter().chain(own).collect())
                }
                (_, own) => own,
            };
            let value = match self.ask(&part, &wish, &there, ledger).await? {
                Part::Whole(value) => value,
                Part::TooLong if items_max > 1 => {
                    items_max /= 2;
                    continue;
                }
                Part::TooLong => return Err(self.given_up("one item of the answer is too long", ledger)),
            };
            let came = field.map_or(&value, |field| &value[field]).as_array().cloned().unwrap_or_default();
            let known = overlap(&items, &came);
            if known > 0 {
                ledger.repairs.push(Repair::Overlap(u32::try_from(known).unwrap_or(u32::MAX)));
            }
            if known == came.len() {
                break;
            }
            items.extend(came.into_iter().skip(known));
        }
        Ok(whole(&items))
    }

    /// Asks for one part.
    async fn ask(&mut self, schema: &Value, wish: &str, there: &Value, ledger: &mut Ledger) -> Result<Part, Stop> {
        let (gateway, way) = (self.gateway, self.way);
        let shape = Shape { name: self.name.to_owned(), schema: schema.clone() };
        let check = Checker::new(&shape).map_err(|why| Stop::Invalid(vec![why]))?;
        let begun = there.as_object().map_or_else(|| there != &json!([]), |fields| !fields.is_empty());
        let there =
            if begun { format!(" This is there already, and is not given again: {there}") } else { String::new() };
        let wish = format!("The answer is too long for one go, so give it in parts. {wish}{there}");
        let question = Request { shape: Some(shape), ..with(&way.asking.request, "", &wish) };
        let (mut request, mut feedbacks) = (question.clone(), 0);
        loop {
            if self.calls_left == 0 {
                return Err(self.given_up(&format!("the answer needs more than {PARTS_MAX} parts"), ledger));
            }
            self.calls_left -= 1;
            let Replied { reply, rung } = gateway.call(self.target, &request, way, ledger).await?;
            gateway.go_on(rung, way, ledger).await?;
            let reading = check.read(&reply.text, &reply.finish, &|_| Vec::new());
            let text = reply.text.clone();
            self.last = reply;
            let faults = match reading {
                Reading::Holds { value, repairs } => {
                    self.parts += 1;
                    ledger.repairs.extend(repairs);
                    return Ok(Part::Whole(value));
                }
                Reading::Cut { .. } => return Ok(Part::TooLong),
                Reading::Faulty { faults } => faults,
            };
            ledger.failed.push(not_good(self.target, CallFault::Answer, short(&faults.join("; "))));
            if feedbacks == FEEDBACKS_MAX {
                return Err(Stop::Invalid(faults));
            }
            feedbacks += 1;
            request = with(&question, &text, &feedback(&faults));
            ledger.repairs.push(Repair::FedBack(faults));
        }
    }

    fn given_up(&self, why: &str, ledger: &mut Ledger) -> Stop {
        ledger.failed.push(not_good(self.target, CallFault::Answer, why.to_owned()));
        Stop::Invalid(vec![why.to_owned()])
    }
}

/// How many items at the beginning of a part are the last ones that are there already; all of them when the part as a
/// whole is there already. Items that merely occur again are items.
fn overlap(there: &[Value], came: &[Value]) -> usize {
    if !came.is_empty() && there.windows(came.len()).any(|part| part == came) {
        return came.len();
    }
    (1..=came.len().min(there.len())).rev().find(|count| there.ends_with(&came[..*count])).unwrap_or(0)
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_part_between_their_fields_and_lists_between_their_items() {
        let list = json!({"type": "array", "items": {"type": "string"}, "minItems": 3});
        assert_eq!(seam(&list), Some(Seam::Items(None)));
        let object = |fields: Value| json!({"type": "object", "properties": fields, "required": ["a"]});
        let only = object(json!({"a": list.clone()}));
        assert_eq!(seam(&only), Some(Seam::Items(Some("a".to_owned()))));
        let two = object(json!({"a": {"type": "string"}, "b": list}));
        assert_eq!(seam(&two), Some(Seam::Fields(vec!["a".to_owned()], vec!["b".to_owned()])));
        assert_eq!(of_fields(&two, &["b".to_owned()])["required"], json!([]));
        let items = of_items(&only, Some("a"), 4);
        assert_eq!(items["properties"]["a"], json!({"type": "array", "items": {"type": "string"}, "maxItems": 4}));
    }

    #[test]
    fn a_part_overlaps_where_it_begins_with_the_end_of_what_is_there_or_is_there_as_a_whole() {
        let list = |text: &str| text.chars().map(|letter| json!(letter.to_string())).collect::<Vec<Value>>();
        for (there, came, count) in [
            ("", "ab", 0),
            ("ab", "", 0),
            ("ab", "cd", 0),
            ("abc", "cd", 1),
            ("abc", "bcd", 2),
            ("abc", "da", 0),
            ("abc", "dab", 0),
            ("abcd", "bc", 2),
            ("abab", "abc", 2),
        ] {
            assert_eq!(overlap(&list(there), &list(came)), count, "{there} then {came}");
        }
    }

    #[test]
    fn what_is_said_about_the_whole_keeps_it_whole() {
        for schema in [
            json!({"type": "string"}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            json!({"type": "object", "properties": {"a": {}, "b": {}}, "oneOf": []}),
            json!({"type": "array", "items": {}, "contains": {}}),
            json!({"$ref": "#/$defs/x", "$defs": {}}),
        ] {
            assert!(!can_be_split(&schema), "{schema}");
        }
    }
}
