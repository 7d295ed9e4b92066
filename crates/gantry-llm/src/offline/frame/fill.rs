//! Fills one place once all alternatives are settled.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Frame, Refusal};
use crate::offline::demand::{Demand, Kind};
use crate::offline::place::Place;
use crate::offline::words::parts;
use crate::offline::{number, pattern, text};

/// How many items a list has where nothing says how many.
const ITEMS_USUAL: u64 = 3;

/// The longest list that is made, and the most properties.
const COUNT_MAX: u64 = 1_000;

/// How many other items are tried when items may not repeat.
const REPEATS_MAX: usize = 40;

impl<'a> Frame<'a> {
    pub(super) fn fill(&self, demand: Demand<'a>, place: &Place, turn: usize) -> Result<Value, Refusal> {
        let refuse = |why: &str| Refusal { path: place.path.clone(), why: why.to_owned() };
        if let Some(options) = &demand.options {
            return self
                .choose(options, &demand, place, turn)
                .ok_or_else(|| refuse("none of the allowed values fits the rest"));
        }
        if turn == 0
            && place.list.is_none()
            && let Some(given) = self.given(&demand, place)
        {
            return Ok(given);
        }
        let kinds = if demand.kinds_named { demand.kinds.clone() } else { meant(&demand) };
        let (nulls, mut kinds): (Vec<Kind>, Vec<Kind>) = kinds.into_iter().partition(|kind| *kind == Kind::Null);
        kinds.extend(nulls);
        let kind = kinds[turn % kinds.len()];
        let turn = turn / kinds.len();
        let draw = self.asked.draw(&place.kind);
        // A value that the schema names as forbidden is passed over.
        let allowed = |value: &Value| !demand.excluded.contains(&value);
        match kind {
            Kind::Object => self.object(demand, place, turn),
            Kind::Array => self.array(&demand, place, turn),
            Kind::Null => Ok(Value::Null),
            Kind::Truth if self.asked.words.not_yet(&place.name) => Ok(json!(!turn.is_multiple_of(2))),
            Kind::Truth => Ok(json!((draw.below(2) + place.index + turn).is_multiple_of(2))),
            Kind::Integer => {
                let found = (turn..turn + 20)
                    .filter_map(|turn| number::whole(&demand, &place.name, draw.again(place.index as u64), turn));
                found.into_iter().find(allowed).ok_or_else(|| refuse("no whole number is within the bounds"))
            }
            Kind::Number => {
                let found = (turn..turn + 20)
                    .filter_map(|turn| number::any(&demand, &place.name, draw.again(place.index as u64), turn));
                found.into_iter().find(allowed).ok_or_else(|| refuse("no number is within the bounds"))
            }
            Kind::Text => {
                let mut found =
                    (turn..turn + 5).map(|turn| text::write(self.asked, &demand, place, turn).map(Value::String));
                match found.find(|text| text.as_ref().map_or(true, allowed)) {
                    Some(Ok(text)) => Ok(text),
                    Some(Err(why)) => Err(refuse(&why)),
                    None => Err(refuse("every text that was tried is forbidden")),
                }
            }
        }
    }

    /// The most sensible of the listed values, or the next ones when they take turns.
    fn choose(&self, options: &[&Value], demand: &Demand<'_>, place: &Place, turn: usize) -> Option<Value> {
        let fits = |option: &&&Value| {
            let kind = demand.kinds.iter().any(|kind| kind.is(option))
                || (option.is_number() && demand.kinds.contains(&Kind::Integer));
            kind && !demand.excluded.contains(*option)
        };
        let (nulls, mut fitting): (Vec<&Value>, Vec<&Value>) =
            options.iter().filter(fits).copied().partition(|option| option.is_null());
        fitting.extend(nulls);
        let words: Vec<&str> = fitting.iter().filter_map(|option| option.as_str()).collect();
        // What the inputs say is better than what is usual.
        let said = self
            .input(place)
            .and_then(|input| fitting.iter().position(|option| *option == input))
            .filter(|_| place.list.is_none());
        let first = said.unwrap_or_else(|| if words.is_empty() { 0 } else { self.asked.words.sensible(&words) });
        let at = first + place.index + turn;
        fitting.get(at % fitting.len().max(1)).map(|option| (*option).clone())
    }

    fn input(&self, place: &Place) -> Option<&'a Value> {
        let name = parts(&place.name);
        let inputs = &self.asked.request.inputs;
        inputs.iter().find(|(input, _)| !name.is_empty() && parts(input) == name).map(|(_, value)| value)
    }

    /// The input of the same name, when it is what is demanded on the face of it.
    fn given(&self, demand: &Demand<'_>, place: &Place) -> Option<Value> {
        let plain = |value: &&Value| value.is_string() || value.is_number() || value.is_boolean();
        let value = self.input(place).filter(plain)?;
        let kind = demand.kinds_named && demand.kinds.iter().any(|kind| kind.is(value));
        let fits = match value {
            Value::String(given) => text::fits(demand, given),
            value => value.as_f64().is_none_or(|given| number::fits(demand, given)),
        };
        let fits = kind && fits && !demand.excluded.contains(&value);
        fits.then(|| value.clone())
    }

    fn object(&self, mut demand: Demand<'a>, place: &Place, turn: usize) -> Result<Value, Refusal> {
        let refuse = |why: String| Refusal { path: place.path.clone(), why };
        let full = self.full(place, turn);
        let given = |demand: &Demand<'a>, name: &str| {
            let optional =
                full && !demand.forbidden.contains(name) && !self.without.contains(&place.property(name).path);
            demand.required.contains(name) || (optional && demand.properties.iter().any(|(known, _)| *known == name))
        };
        // What a property implies may add properties and alternatives.
        let implied = std::mem::take(&mut demand.implies);
        let (now, later): (Vec<_>, Vec<_>) = implied.into_iter().partition(|(name, _)| given(&demand, name));
        demand.implies = later;
        if !now.is_empty() {
            for (_, schema) in now {
                demand.add(self.root, schema).map_err(refuse)?;
            }
            return self.settle(demand, place, turn);
        }
        let mut names: Vec<&str> =
            demand.properties.iter().map(|(name, _)| *name).filter(|name| given(&demand, name)).collect();
        names.extend(demand.required.iter().filter(|name| !demand.properties.iter().any(|(known, _)| known == *name)));
        let mut required: BTreeSet<&str> = demand.required.clone();
        let mut at = 0;
        while let Some(name) = names.get(at).copied() {
            for needed in demand.needs.iter().filter(|(needing, _)| *needing == name).flat_map(|(_, needed)| needed) {
                required.insert(needed);
                if !names.contains(needed) {
                    names.push(needed);
                }
            }
            at += 1;
        }
        let mut object = Map::new();
        let most = demand.properties_max.unwrap_or(u64::MAX);
        let mut spare = most.saturating_sub(required.len() as u64);
        for name in names {
            let must = required.contains(name);
            if !must && spare == 0 {
                continue;
            }
            match self.value_of(&demand, name, place) {
                Ok(value) => {
                    spare -= u64::from(!must);
                    object.insert(name.to_owned(), value);
                }
                Err(refusal) if must => return Err(refusal),
                Err(_) => {}
            }
        }
        self.add_others(&demand, place, full, &mut object)?;
        Ok(Value::Object(object))
    }

    fn value_of(&self, demand: &Demand<'a>, name: &str, place: &Place) -> Result<Value, Refusal> {
        self.value(&schemas_of(demand, name), &place.property(name))
    }

    /// Adds properties whose names nobody prescribes: as many as must be, and a few where the schema speaks of them.
    fn add_others(
        &self,
        demand: &Demand<'a>,
        place: &Place,
        full: bool,
        object: &mut Map<String, Value>,
    ) -> Result<(), Refusal> {
        let spoken_of = !demand.by_pattern.is_empty() || demand.others.iter().any(|others| others.schema.is_object());
        let nothing = demand.properties.is_empty() && demand.others.is_empty() && demand.by_pattern.is_empty();
        let few = if demand.properties.is_empty() && full { if spoken_of { 2 } else { u64::from(nothing) } } else { 0 };
        let most = demand.properties_max.unwrap_or(u64::MAX);
        let least = demand.properties_min;
        if least > COUNT_MAX {
            return Err(Refusal {
                path: place.path.clone(),
                why: format!("{least} properties are more than are made"),
            });
        }
        for try_ in 0..COUNT_MAX {
            let count = object.len() as u64;
            let must = count < least;
            if !must && (count >= few || count >= most || try_ > 20) {
                break;
            }
            let name = self.other_name(demand, place, usize::try_from(try_).unwrap_or_default());
            if object.contains_key(&name)
                || demand.forbidden.contains(name.as_str())
                || self.without.contains(&place.property(&name).path)
            {
                continue;
            }
            match self.value_of(demand, &name, place) {
                Ok(value) => drop(object.insert(name, value)),
                Err(refusal) if must && try_ > 50 => return Err(refusal),
                Err(_) => {}
            }
        }
        if (object.len() as u64) < least {
            return Err(Refusal {
                path: place.path.clone(),
                why: format!("fewer than {least} properties can be given"),
            });
        }
        Ok(())
    }

    /// A name for a property: by the rule for names, by a pattern, or after an input.
    fn other_name(&self, demand: &Demand<'a>, place: &Place, at: usize) -> String {
        // Properties that may be left out come first where there have to be more.
        if let Some((name, _)) = demand.properties.get(at) {
            return (*name).to_owned();
        }
        let at = at - demand.properties.len();
        let draw = self.asked.draw(&place.kind);
        if !demand.names.is_empty() {
            let mut named = Place { name: "name".to_owned(), ..place.item(at, 0) };
            named.depth = place.depth + 1;
            if let Ok(Value::String(name)) = self.value(&demand.names, &named) {
                return name;
            }
        }
        if let Some((pattern, _)) = demand.by_pattern.first() {
            let slug = text::slug(&self.asked.facts.what, 24);
            let natural = if at == 0 { slug } else { format!("{slug}-{}", at + 1) };
            if matches(pattern, &natural) {
                return natural;
            }
            if let Ok(name) = pattern::write(pattern, draw.again(at as u64), at / 4 + 1) {
                return name;
            }
        }
        let inputs: Vec<&String> = self.asked.request.inputs.keys().collect();
        inputs.get(at).map_or_else(
            || if at == 0 { "about".to_owned() } else { format!("about_{}", at + 1) },
            |name| (*name).clone(),
        )
    }

    fn array(&self, demand: &Demand<'a>, place: &Place, turn: usize) -> Result<Value, Refusal> {
        let refuse = |why: &str| Refusal { path: place.path.clone(), why: why.to_owned() };
        let first = demand.items.iter().map(|items| items.first.len() as u64).max().unwrap_or(0);
        let closed = demand
            .items
            .iter()
            .filter(|items| items.rest == Some(&Value::Bool(false)))
            .map(|items| items.first.len() as u64)
            .min();
        let most = demand.items_max.into_iter().chain(closed).min().unwrap_or(u64::MAX);
        let contained: u64 = demand.contains.iter().map(|(_, count)| *count).sum();
        let least = demand.items_min.max(contained);
        if least > most {
            return Err(refuse("a list of that length cannot be"));
        }
        if least > COUNT_MAX {
            return Err(refuse("the list is longer than is made"));
        }
        let usual = if self.full(place, turn) && !self.asked.words.points(&place.name) {
            first.max(ITEMS_USUAL - u64::from(place.depth > 2))
        } else {
            0
        };
        let wanted = usual.max(least).min(most);
        let mut items: Vec<Value> = Vec::new();
        for index in 0..wanted {
            let at = usize::try_from(index).unwrap_or(usize::MAX);
            let mut schemas: Vec<&Value> =
                demand.items.iter().filter_map(|items| items.first.get(at).copied().or(items.rest)).collect();
            let mut before = 0;
            for (schema, count) in &demand.contains {
                if (before..before + count).contains(&index) {
                    schemas.push(schema);
                }
                before += count;
            }
            match self.item(&schemas, place, at, demand.unique, &items) {
                Ok(item) => items.push(item),
                Err(_) if index >= least => break,
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(Value::Array(items))
    }

    fn item(
        &self,
        schemas: &[&'a Value],
        place: &Place,
        at: usize,
        unique: bool,
        items: &[Value],
    ) -> Result<Value, Refusal> {
        for shift in 0..REPEATS_MAX {
            let item = self.value(schemas, &place.item(at, shift))?;
            if !unique || !items.contains(&item) {
                return Ok(item);
            }
        }
        Err(Refusal { path: place.item(at, 0).path, why: "there are not enough different items".to_owned() })
    }
}

/// The kinds that a schema means when it names none.
fn meant(demand: &Demand<'_>) -> Vec<Kind> {
    let object = !demand.properties.is_empty()
        || !demand.required.is_empty()
        || !demand.by_pattern.is_empty()
        || !demand.others.is_empty()
        || !demand.implies.is_empty()
        || !demand.needs.is_empty()
        || demand.properties_min > 0;
    let list = !demand.items.is_empty() || !demand.contains.is_empty() || demand.items_min > 0 || demand.unique;
    let number = !demand.least.is_empty() || !demand.most.is_empty() || !demand.multiples.is_empty();
    let meant = [(Kind::Object, object), (Kind::Array, list), (Kind::Number, number), (Kind::Text, true)];
    let mut kinds: Vec<Kind> =
        meant.into_iter().filter(|(kind, meant)| *meant && demand.kinds.contains(kind)).map(|(kind, _)| kind).collect();
    let others: Vec<Kind> = demand.kinds.iter().filter(|kind| !kinds.contains(kind)).copied().collect();
    kinds.extend(others);
    kinds
}

/// Everything that holds for a property of this name.
fn schemas_of<'a>(demand: &Demand<'a>, name: &str) -> Vec<&'a Value> {
    let mut schemas: Vec<&Value> =
        demand.properties.iter().filter(|(known, _)| *known == name).flat_map(|(_, schemas)| schemas.clone()).collect();
    schemas.extend(demand.by_pattern.iter().filter(|(pattern, _)| matches(pattern, name)).map(|(_, schema)| *schema));
    let strange = demand.others.iter().filter(|others| {
        !others.known.contains(&name) && !others.patterns.iter().any(|pattern| matches(pattern, name))
    });
    schemas.extend(strange.map(|others| others.schema));
    schemas
}

fn matches(pattern: &str, name: &str) -> bool {
    jsonschema::options().build(&json!({"pattern": pattern})).is_ok_and(|check| check.is_valid(&json!(name)))
}
