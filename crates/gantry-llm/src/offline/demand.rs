//! What a schema demands of one place: every word that applies there, gathered out of references and `allOf`.
//!
//! Alternatives (`anyOf`, `oneOf`, `if`) stay open, for whoever fills the place to choose from.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

/// How many references lead from one to the next at one place.
const REFERENCES_MAX: usize = 64;

/// The kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Text,
    Integer,
    Number,
    Truth,
    Null,
}

impl Kind {
    pub const ALL: [Self; 7] =
        [Self::Object, Self::Array, Self::Text, Self::Integer, Self::Number, Self::Truth, Self::Null];

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::Text,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Truth,
            "null" => Self::Null,
            _ => return None,
        })
    }

    /// Tells whether a value is of this kind.
    pub fn is(self, value: &Value) -> bool {
        match self {
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::Text => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Truth => value.is_boolean(),
            Self::Null => value.is_null(),
        }
    }
}

/// A bound of numbers.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub limit: Value,
    /// The limit itself is not allowed.
    pub beyond: bool,
}

/// Properties that one schema knows, and what it says of others.
#[derive(Clone, Debug)]
pub(super) struct Others<'a> {
    pub known: Vec<&'a str>,
    pub patterns: Vec<&'a str>,
    pub schema: &'a Value,
}

/// The items of one schema.
#[derive(Clone, Debug)]
pub(super) struct Items<'a> {
    pub first: Vec<&'a Value>,
    pub rest: Option<&'a Value>,
}

/// Ways of which one (or more) is to be taken; each is a list of schemas that hold together.
pub(super) type Ways<'a> = Vec<Vec<&'a Value>>;

/// Everything that holds for one place.
#[derive(Clone, Debug)]
pub(super) struct Demand<'a> {
    /// The kinds that are allowed, in the order in which they are named.
    pub kinds: Vec<Kind>,
    /// Some schema named kinds.
    pub kinds_named: bool,
    pub options: Option<Vec<&'a Value>>,
    pub excluded: Vec<&'a Value>,
    pub least: Vec<Bound>,
    pub most: Vec<Bound>,
    pub multiples: Vec<f64>,
    pub chars_min: u64,
    pub chars_max: Option<u64>,
    pub patterns: Vec<&'a str>,
    pub formats: Vec<&'a str>,
    pub properties: Vec<(&'a str, Vec<&'a Value>)>,
    pub by_pattern: Vec<(&'a str, &'a Value)>,
    pub others: Vec<Others<'a>>,
    pub names: Vec<&'a Value>,
    pub required: BTreeSet<&'a str>,
    pub forbidden: BTreeSet<&'a str>,
    pub needs: Vec<(&'a str, Vec<&'a str>)>,
    pub implies: Vec<(&'a str, &'a Value)>,
    pub properties_min: u64,
    pub properties_max: Option<u64>,
    pub items: Vec<Items<'a>>,
    pub contains: Vec<(&'a Value, u64)>,
    pub items_min: u64,
    pub items_max: Option<u64>,
    pub unique: bool,
    pub ways: VecDeque<Ways<'a>>,
    pub title: Option<&'a str>,
    pub about: Option<&'a str>,
    seen: Vec<*const Value>,
}

impl<'a> Demand<'a> {
    /// Gathers what several schemas demand together.
    pub fn of(root: &'a Value, schemas: &[&'a Value]) -> Result<Self, String> {
        let mut demand = Self {
            kinds: Kind::ALL.to_vec(),
            kinds_named: false,
            options: None,
            excluded: Vec::new(),
            least: Vec::new(),
            most: Vec::new(),
            multiples: Vec::new(),
            chars_min: 0,
            chars_max: None,
            patterns: Vec::new(),
            formats: Vec::new(),
            properties: Vec::new(),
            by_pattern: Vec::new(),
            others: Vec::new(),
            names: Vec::new(),
            required: BTreeSet::new(),
            forbidden: BTreeSet::new(),
            needs: Vec::new(),
            implies: Vec::new(),
            properties_min: 0,
            properties_max: None,
            items: Vec::new(),
            contains: Vec::new(),
            items_min: 0,
            items_max: None,
            unique: false,
            ways: VecDeque::new(),
            title: None,
            about: None,
            seen: Vec::new(),
        };
        for schema in schemas {
            demand.add(root, schema)?;
        }
        Ok(demand)
    }

    /// Adds what one more schema demands.
    pub fn add(&mut self, root: &'a Value, schema: &'a Value) -> Result<(), String> {
        let words = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Object(words) => words,
            _ => return Err("nothing is allowed here".to_owned()),
        };
        if self.seen.iter().any(|seen| std::ptr::eq(*seen, schema)) {
            return Ok(());
        }
        if self.seen.len() > REFERENCES_MAX {
            return Err("the schema leads from one reference to the next without end".to_owned());
        }
        self.seen.push(schema);
        for reference in ["$ref", "$dynamicRef"] {
            if let Some(target) = words.get(reference).and_then(Value::as_str) {
                let found = resolve(root, target).ok_or_else(|| format!("the reference `{target}` leads nowhere"))?;
                self.add(root, found)?;
            }
        }
        for schema in words.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.add(root, schema)?;
        }
        self.title = self.title.or_else(|| words.get("title")?.as_str());
        self.about = self.about.or_else(|| words.get("description")?.as_str());
        self.add_kinds(schema)?;
        self.add_numbers(schema);
        self.add_texts(schema);
        self.add_properties(schema);
        self.add_items(schema);
        self.add_ways(schema);
        Ok(())
    }

    fn add_kinds(&mut self, schema: &'a Value) -> Result<(), String> {
        let named: Option<Vec<Kind>> = match &schema["type"] {
            Value::String(name) => Some(Kind::named(name).into_iter().collect()),
            Value::Array(names) => Some(names.iter().filter_map(Value::as_str).filter_map(Kind::named).collect()),
            _ => None,
        };
        if let Some(named) = named {
            let both = |kind: Kind| {
                if self.kinds.contains(&kind) {
                    return Some(kind);
                }
                // Whole numbers are numbers.
                let whole = matches!(kind, Kind::Number | Kind::Integer)
                    && (self.kinds.contains(&Kind::Number) || self.kinds.contains(&Kind::Integer));
                whole.then_some(Kind::Integer)
            };
            self.kinds = named.into_iter().filter_map(both).collect();
            self.kinds_named = true;
        }
        let listed = schema
            .get("const")
            .map(|word| vec![word])
            .or_else(|| Some(schema.get("enum")?.as_array()?.iter().collect()));
        if let Some(listed) = listed {
            self.options = Some(match self.options.take() {
                Some(before) => before.into_iter().filter(|option| listed.contains(option)).collect(),
                None => listed,
            });
        }
        match schema.get("not") {
            Some(Value::Bool(true)) => return Err("nothing is allowed here".to_owned()),
            Some(Value::Object(not)) if not.len() == 1 => {
                self.excluded.extend(not.get("const"));
                self.excluded.extend(not.get("enum").and_then(Value::as_array).into_iter().flatten());
                if let Some([name]) = not.get("required").and_then(Value::as_array).map(Vec::as_slice) {
                    self.forbidden.extend(name.as_str());
                }
                for (word, bounds) in [("maximum", &mut self.least), ("minimum", &mut self.most)] {
                    let limit = not.get(word).filter(|limit| limit.is_number());
                    bounds.extend(limit.map(|limit| Bound { limit: limit.clone(), beyond: true }));
                }
                if let Some(kind) = not.get("type").and_then(Value::as_str).and_then(Kind::named) {
                    self.kinds
                        .retain(|allowed| *allowed != kind && !(kind == Kind::Number && *allowed == Kind::Integer));
                }
            }
            _ => {}
        }
        if self.kinds.is_empty() || self.options.as_ref().is_some_and(Vec::is_empty) {
            return Err("two demands of the schema exclude each other".to_owned());
        }
        Ok(())
    }

    fn add_numbers(&mut self, schema: &'a Value) {
        let beyond = |word: &str| schema[word] == Value::Bool(true);
        for (word, other, bounds) in
            [("minimum", "exclusiveMinimum", &mut self.least), ("maximum", "exclusiveMaximum", &mut self.most)]
        {
            if let Some(limit) = schema.get(word).filter(|limit| limit.is_number()) {
                bounds.push(Bound { limit: limit.clone(), beyond: beyond(other) });
            }
            if let Some(limit) = schema.get(other).filter(|limit| limit.is_number()) {
                bounds.push(Bound { limit: limit.clone(), beyond: true });
            }
        }
        self.multiples.extend(schema["multipleOf"].as_f64());
    }

    fn add_texts(&mut self, schema: &'a Value) {
        self.chars_min = self.chars_min.max(count(&schema["minLength"]).unwrap_or(0));
        self.chars_max = least(self.chars_max, count(&schema["maxLength"]));
        self.patterns.extend(schema["pattern"].as_str());
        self.formats.extend(schema["format"].as_str());
    }

    fn add_properties(&mut self, schema: &'a Value) {
        let known = schema.get("properties").and_then(Value::as_object);
        for (name, schema) in known.into_iter().flatten() {
            match self.properties.iter_mut().find(|(other, _)| other == name) {
                Some((_, schemas)) => schemas.push(schema),
                None => self.properties.push((name, vec![schema])),
            }
        }
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        self.by_pattern.extend(patterns.into_iter().flatten().map(|(pattern, schema)| (pattern.as_str(), schema)));
        let others = schema.get("additionalProperties").or_else(|| schema.get("unevaluatedProperties"));
        // What is evaluated elsewhere is not unevaluated, so a `false` there closes nothing that we know of.
        if let Some(others) = others.filter(|_| schema.get("additionalProperties").is_some()) {
            self.others.push(Others {
                known: known.into_iter().flatten().map(|(name, _)| name.as_str()).collect(),
                patterns: patterns.into_iter().flatten().map(|(pattern, _)| pattern.as_str()).collect(),
                schema: others,
            });
        }
        self.names.extend(schema.get("propertyNames"));
        self.required.extend(schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str));
        self.properties_min = self.properties_min.max(count(&schema["minProperties"]).unwrap_or(0));
        self.properties_max = least(self.properties_max, count(&schema["maxProperties"]));
        for word in ["dependentRequired", "dependencies"] {
            for (name, needs) in schema.get(word).and_then(Value::as_object).into_iter().flatten() {
                match needs {
                    Value::Array(needs) => self.needs.push((name, needs.iter().filter_map(Value::as_str).collect())),
                    implied => self.implies.push((name, implied)),
                }
            }
        }
        let implied = schema.get("dependentSchemas").and_then(Value::as_object);
        self.implies.extend(implied.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema)));
    }

    fn add_items(&mut self, schema: &'a Value) {
        // Before 2020 a list of `items` was what `prefixItems` is now.
        let (first, rest) = match schema.get("items") {
            Some(Value::Array(first)) => (Some(first), schema.get("additionalItems")),
            rest => (schema.get("prefixItems").and_then(Value::as_array), rest),
        };
        if first.is_some() || rest.is_some() {
            self.items.push(Items { first: first.into_iter().flatten().collect(), rest });
        }
        if let Some(contained) = schema.get("contains") {
            self.contains.push((contained, count(&schema["minContains"]).unwrap_or(1)));
        }
        self.items_min = self.items_min.max(count(&schema["minItems"]).unwrap_or(0));
        self.items_max = least(self.items_max, count(&schema["maxItems"]));
        self.unique |= schema["uniqueItems"] == Value::Bool(true);
    }

    fn add_ways(&mut self, schema: &'a Value) {
        for word in ["anyOf", "oneOf"] {
            if let Some(ways) = schema.get(word).and_then(Value::as_array) {
                self.ways.push_back(ways.iter().map(|way| vec![way]).collect());
            }
        }
        if let Some(condition) = schema.get("if") {
            let then = std::iter::once(condition).chain(schema.get("then")).collect();
            let otherwise = schema.get("else").into_iter().collect();
            self.ways.push_back(vec![then, otherwise]);
        }
    }
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| *number >= 0.0 && *number < 1e15)?;
        format!("{number:.0}").parse().ok()
    })
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// The schema that a reference within a schema leads to.
pub(super) fn resolve<'a>(root: &'a Value, target: &str) -> Option<&'a Value> {
    let (document, fragment) = target.split_once('#').unwrap_or((target, ""));
    let document = if document.is_empty() || root["$id"].as_str().is_some_and(|id| id.trim_end_matches('#') == document)
    {
        root
    } else {
        search(root, &|schema| schema["$id"].as_str() == Some(document), 0)?
    };
    if fragment.is_empty() {
        return Some(document);
    }
    if fragment.starts_with('/') {
        return document.pointer(&decoded(fragment)?);
    }
    let anchored =
        |schema: &Value| ["$anchor", "$dynamicAnchor"].iter().any(|word| schema[*word].as_str() == Some(fragment));
    search(document, &anchored, 0)
}

fn search<'a>(schema: &'a Value, wanted: &dyn Fn(&Value) -> bool, depth: usize) -> Option<&'a Value> {
    if depth > 32 {
        return None;
    }
    match schema {
        Value::Object(_) if wanted(schema) => Some(schema),
        Value::Object(words) => words.values().find_map(|inner| search(inner, wanted, depth + 1)),
        Value::Array(inner) => inner.iter().find_map(|inner| search(inner, wanted, depth + 1)),
        _ => None,
    }
}

/// Undoes the percent signs of an address.
fn decoded(fragment: &str) -> Option<String> {
    if !fragment.contains('%') {
        return Some(fragment.to_owned());
    }
    let mut bytes = Vec::new();
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}
