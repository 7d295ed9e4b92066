//! Makes a value for any schema: specific to what is asked, and checked before it is given.
//!
//! A first value is made by what each place demands. What the schema still has against it says where another choice is
//! due, and the value is made again, a bounded number of times.
//!
//! Invariant: a value fits the whole schema, or there is a refusal that names the place and the reason.

mod fill; // in reading order
mod cost;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Fault;
use serde_json::Value;

use super::Asked;
use super::demand::Demand;
use super::place::Place;
use crate::request::Shape;
use crate::structured::Checker;

/// How many times a value is made before it is given up.
const ROUNDS_MAX: usize = 48;

/// How many values one answer holds at most, tries included.
const VALUES_MAX: usize = 20_000;

/// How deep an answer nests.
const DEPTH_MAX: usize = 40;

/// How deep properties that may be left out are given.
const FULL_DEPTH_MAX: usize = 5;

/// How many values are made with everything that may be left out.
const FULL_VALUES_MAX: usize = 800;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The JSON pointer of the place.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// Makes a value for a schema.
pub(super) fn make(asked: &Asked<'_>, shape: &Shape) -> Result<Value, Refusal> {
    let at_top = |why: String| Refusal { path: String::new(), why };
    let checker = Checker::new(shape).map_err(at_top)?;
    let mut frame = Frame {
        asked,
        root: &shape.schema,
        turns: BTreeMap::new(),
        without: BTreeSet::new(),
        lean: false,
        values: Cell::new(0),
        costs: RefCell::default(),
    };
    let mut hits: BTreeMap<String, usize> = BTreeMap::new();
    let mut refusal = at_top("no value was found".to_owned());
    for round in 0..ROUNDS_MAX {
        // The second half of the tries gives only what must be given.
        frame.lean |= round == ROUNDS_MAX / 2;
        frame.values.set(0);
        let value = match frame.value(&[frame.root], &Place::default()) {
            Ok(value) => value,
            Err(why) if frame.lean => return Err(why),
            Err(why) => {
                refusal = why;
                frame.lean = true;
                continue;
            }
        };
        let faults: Vec<Lesson> =
            checker.validator().iter_errors(&value).take(16).flat_map(|error| lessons(&error, 0)).collect();
        if faults.is_empty() {
            return Ok(value);
        }
        let why = checker.faults(&value).into_iter().next().unwrap_or_default();
        // The place is told by the refusal itself.
        let why = why.split_once(": ").map_or(why.clone(), |(_, why)| why.trim_end_matches('.').to_owned());
        refusal = Refusal { path: faults[0].0.clone(), why };
        for (path, unexpected) in faults {
            frame.learn(&path, &unexpected, &mut hits);
        }
    }
    Err(refusal)
}

/// Where another choice is due, and which properties must not be there.
type Lesson = (String, Vec<String>);

/// What one fault teaches: of several alternatives, the nearest one tells.
fn lessons(error: &ValidationError<'_>, depth: usize) -> Vec<Lesson> {
    let path = error.instance_path().as_str().to_owned();
    match error.kind() {
        Fault::AdditionalProperties { unexpected } | Fault::UnevaluatedProperties { unexpected } => {
            vec![(path, unexpected.clone())]
        }
        Fault::AnyOf { context } | Fault::OneOfNotValid { context } if depth < 4 => {
            let nearest = context.iter().filter(|errors| !errors.is_empty()).min_by_key(|errors| errors.len());
            let inner = nearest.into_iter().flatten().take(8).flat_map(|error| lessons(error, depth + 1));
            let deeper: Vec<Lesson> =
                inner.filter(|(inner, names)| inner.len() > path.len() || !names.is_empty()).collect();
            if deeper.is_empty() { vec![(path, Vec::new())] } else { deeper }
        }
        _ => vec![(path, Vec::new())],
    }
}

pub(super) struct Frame<'a> {
    asked: &'a Asked<'a>,
    root: &'a Value,
    /// How many choices were passed over, by place.
    turns: BTreeMap<String, usize>,
    /// Properties that are left out though they could be given.
    without: BTreeSet<String>,
    /// Only what must be given is given.
    lean: bool,
    values: Cell<usize>,
    costs: RefCell<BTreeMap<usize, u64>>,
}

impl<'a> Frame<'a> {
    /// Takes another choice where the last one was wrong, and further up when that was tried often.
    fn learn(&mut self, path: &str, unexpected: &[String], hits: &mut BTreeMap<String, usize>) {
        for name in unexpected {
            self.without.insert(Place { path: path.to_owned(), ..Place::default() }.property(name).path);
        }
        if !unexpected.is_empty() && hits.get(path).is_none() {
            hits.insert(path.to_owned(), 0);
            return;
        }
        let hit = hits.entry(path.to_owned()).or_default();
        *hit += 1;
        let mut place = path;
        for _ in 0..*hit / 5 {
            place = place.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
        if *hit > 2 {
            self.without.insert(path.to_owned());
        }
        *self.turns.entry(place.to_owned()).or_default() += 1;
    }

    /// Makes a value that meets several schemas at once.
    fn value(&self, schemas: &[&'a Value], place: &Place) -> Result<Value, Refusal> {
        let refuse = |why: String| Refusal { path: place.path.clone(), why };
        if self.values.get() > VALUES_MAX || place.depth > DEPTH_MAX {
            return Err(refuse("the schema demands more values, or deeper ones, than are made".to_owned()));
        }
        self.values.set(self.values.get() + 1);
        let demand = Demand::of(self.root, schemas).map_err(refuse)?;
        let turn = self.turns.get(&place.path).copied().unwrap_or(0) + place.shift;
        self.settle(demand, place, turn)
    }

    /// Chooses between alternatives until none are open, trying the others where one leads nowhere.
    fn settle(&self, mut demand: Demand<'a>, place: &Place, turn: usize) -> Result<Value, Refusal> {
        let refuse = |why: String| Refusal { path: place.path.clone(), why };
        self.values.set(self.values.get() + 1);
        if self.values.get() > VALUES_MAX {
            return Err(refuse("the schema has more alternatives than are tried".to_owned()));
        }
        let Some(ways) = demand.ways.pop_front() else {
            return self.fill(demand, place, turn);
        };
        let order = self.order(&ways, place);
        let count = order.len().max(1);
        let mut last = refuse("the schema has no alternative here".to_owned());
        for step in 0..order.len() {
            let way = order[(turn + step) % count];
            let mut next = demand.clone();
            let added = ways[way].iter().try_for_each(|schema| next.add(self.root, schema));
            match added.map_err(refuse).and_then(|()| self.settle(next, place, turn / count)) {
                Ok(value) => return Ok(value),
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    /// Tells whether what may be left out is given at this place.
    fn full(&self, place: &Place, turn: usize) -> bool {
        !self.lean && turn.is_multiple_of(2) && place.depth < FULL_DEPTH_MAX && self.values.get() < FULL_VALUES_MAX
    }
}
