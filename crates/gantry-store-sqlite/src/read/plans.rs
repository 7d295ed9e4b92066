//! Finding plans: by name, in lists, by words.

use gantry_core::id::{PlanId, TaskId};
use gantry_store::{
    CANDIDATES_MAX, COMPARED_MAX, Hit, ListFilter, PAGE_ITEMS_MAX, Page, PlanCard, Reference, StoreError, TextKind,
    query_words,
};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::row::{self, PLAN_COLUMNS, PlanRow, int};

/// How many words around a find are shown.
const SNIPPET_WORDS: u32 = 16;

/// Finds the one plan that someone means.
pub(crate) fn find(conn: &Connection, text: &str) -> Result<PlanCard, StoreError> {
    if let Ok(id) = PlanId::new(text)
        && let Some(plan) = row::plan_by_id(conn, &id)?
    {
        return Ok(plan.card);
    }
    let mut fitting = match Reference::parse(text)? {
        Reference::Last => {
            let filter = "json_extract(card, '$.parent') IS NULL ORDER BY no DESC LIMIT 1";
            cards(conn, filter, Vec::new())?
        }
        Reference::No(no) => cards(conn, "no = ?1", vec![Value::Integer(int(no.0))])?,
        Reference::Prefix(prefix) => {
            let ranges = Reference::prefixes(&prefix).into_iter();
            // A range of ids, not LIKE: it uses the index, and nothing in a prefix is special.
            let bounds = ranges.flat_map(|prefix| [Value::Text(format!("{prefix}\u{10ffff}")), Value::Text(prefix)]);
            let filter = "(id < ?1 AND id >= ?2) OR (id < ?3 AND id >= ?4) ORDER BY no DESC LIMIT 11";
            cards(conn, filter, bounds.collect())?
        }
    };
    match fitting.len() {
        0 => {
            let newest = super::rows(
                conn,
                "SELECT id FROM plan ORDER BY no DESC LIMIT ?1",
                [int(COMPARED_MAX as u64)],
                "reading plans",
                |row| Ok(Ok(row.get::<_, String>(0)?)),
            )?;
            Err(Reference::unknown(text, newest.iter().map(String::as_str)))
        }
        1 => Ok(fitting.remove(0)),
        _ => Err(StoreError::Ambiguous { reference: text.to_owned(), candidates: names(fitting) }),
    }
}

fn names(cards: Vec<PlanCard>) -> Vec<String> {
    cards.into_iter().take(CANDIDATES_MAX).map(|card| card.id.to_string()).collect()
}

fn cards(conn: &Connection, filter: &str, params: Vec<Value>) -> Result<Vec<PlanCard>, StoreError> {
    let query = format!("SELECT {PLAN_COLUMNS} FROM plan WHERE {filter}");
    super::rows(conn, &query, params_from_iter(params), "reading plans", |row| {
        Ok(PlanRow::read(row)?.map(|plan| plan.card))
    })
}

/// Lists plans, the newest first.
pub(crate) fn list(conn: &Connection, filter: &ListFilter) -> Result<Page<PlanCard>, StoreError> {
    let limit = if filter.limit == 0 { PAGE_ITEMS_MAX } else { filter.limit };
    let mut conditions = vec!["TRUE".to_owned()];
    let mut params = Vec::new();
    let mut require = |condition: &str, values: Vec<Value>| {
        let from = params.len() + 1;
        let marks: Vec<String> = (from..from + values.len()).map(|at| format!("?{at}")).collect();
        conditions.push(condition.replace("{}", &marks.join(", ")));
        params.extend(values);
    };
    if !filter.states.is_empty() {
        let states = filter.states.iter().map(|state| Value::Text(state.to_string()));
        require("state IN ({})", states.collect());
    }
    if let Some(label) = &filter.label {
        let has = "EXISTS (SELECT 1 FROM json_each(card, '$.labels') WHERE value = {})";
        require(has, vec![Value::Text(label.clone())]);
    }
    if let Some(owner) = &filter.owner {
        require("card ->> '$.owner' = {}", vec![Value::Text(owner.clone())]);
    }
    if let Some(text) = &filter.text {
        require("instr(searchable, {}) > 0", vec![Value::Text(text.to_lowercase())]);
    }
    if let Some(since) = filter.since {
        require("updated_at >= {}", vec![Value::Integer(since.as_ms())]);
    }
    if let Some(cursor) = filter.cursor {
        require("no < {}", vec![Value::Integer(int(cursor))]);
    }
    let order = format!("{} ORDER BY no DESC LIMIT {}", conditions.join(" AND "), super::rows_asked(limit));
    let found = cards(conn, &order, params)?;
    Ok(super::page(found.into_iter().map(|card| (card.no.0, card)).collect(), limit))
}

/// Finds texts with all words of a query, the best first.
pub(crate) fn search(conn: &Connection, query: &str, limit: u32) -> Result<Vec<Hit>, StoreError> {
    let words = query_words(query);
    if words.is_empty() {
        return Ok(Vec::new());
    }
    // A word is letters and digits only, so quoting it leaves nothing that means something to the index.
    let expression: Vec<String> = words.iter().map(|word| format!("\"{word}\"*")).collect();
    let statement = format!(
        "SELECT plan.id, text.task, text.kind, text.name, snippet(text_index, 0, '', '', '…', {SNIPPET_WORDS})
         FROM text_index JOIN text ON text.id = text_index.rowid JOIN plan ON plan.no = text.plan_no
         WHERE text_index MATCH ?1 ORDER BY text_index.rank, plan.no DESC LIMIT ?2"
    );
    let limit = i64::from(limit.clamp(1, PAGE_ITEMS_MAX));
    super::rows(conn, &statement, rusqlite::params![expression.join(" "), limit], "searching", |row| {
        let task = row.get_ref(1)?.as_str()?;
        Ok(Ok(Hit {
            plan: row::parsed(row, 0, PlanId::new)?,
            task: if task.is_empty() { None } else { Some(row::parsed(row, 1, TaskId::new)?) },
            kind: row::parsed(row, 2, |kind| TextKind::parse(kind).ok_or("no such kind of text"))?,
            name: row.get(3)?,
            snippet: row.get(4)?,
        }))
    })
}
