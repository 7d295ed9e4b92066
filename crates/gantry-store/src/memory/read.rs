//! Everything that reads the record.

use gantry_core::id::PlanId;

use super::{Plan, Record};
use crate::{
    CANDIDATES_MAX, ChainReport, Hash, Hit, ListFilter, Loaded, PAGE_BYTES_MAX, PAGE_ITEMS_MAX, Page, PlanCard,
    Problem, Reference, Sealed, StoreError, StoredTurn, Turn, first_head, query_words, words,
};

/// How many characters around a find are shown.
const SNIPPET_CHARS_MAX: usize = 120;

/// A page of those items that fit, after a cursor that counts all of them.
pub(super) fn page<T: Clone>(items: &[T], cursor: u64, limit: u32, fits: impl Fn(&T) -> bool) -> Page<T> {
    let limit = limit.clamp(1, PAGE_ITEMS_MAX) as usize;
    let skipped = usize::try_from(cursor).unwrap_or(usize::MAX);
    let mut rest = items.iter().enumerate().skip(skipped).filter(|(_, item)| fits(item));
    let taken: Vec<(usize, &T)> = rest.by_ref().take(limit).collect();
    let last = taken.last().map(|(at, _)| *at as u64 + 1);
    let next = rest.next().and(last);
    Page { items: taken.into_iter().map(|(_, item)| item.clone()).collect(), next }
}

impl Record {
    pub(super) fn load(&self, id: &PlanId) -> Result<Option<Loaded>, StoreError> {
        let Some(plan) = self.plans.get(id) else { return Ok(None) };
        let since = plan.snapshot.as_ref().map_or(0, |snapshot| snapshot.length);
        let turns = plan.turns_after(id, since, usize::MAX, usize::MAX)?;
        Ok(Some(Loaded {
            plan_no: plan.no,
            snapshot: plan.snapshot.clone(),
            turns,
            length: plan.length,
            head: plan.head,
            damaged: Vec::new(),
        }))
    }

    pub(super) fn turns(&self, id: &PlanId, after_seq: u64, limit: u32) -> Result<Page<Turn>, StoreError> {
        let plan = self.plan(id)?;
        let items = plan.turns_after(id, after_seq, limit.clamp(1, PAGE_ITEMS_MAX) as usize, PAGE_BYTES_MAX)?;
        let next = items.last().map(Turn::last_seq).filter(|last| *last < plan.length);
        Ok(Page { items, next })
    }

    pub(super) fn verify(&self, id: &PlanId) -> Result<ChainReport, StoreError> {
        let plan = self.plan(id)?;
        let mut report =
            ChainReport { plan: id.clone(), length: 0, turns: 0, head: first_head(id), problems: Vec::new() };
        for (sealed, head) in &plan.turns {
            match stored(sealed, *head).check(report.length, report.head) {
                Ok(()) => {
                    report.length = sealed.last_seq();
                    report.turns += 1;
                    report.head = *head;
                }
                Err(what) => {
                    report.problems.push(Problem { seq: Some(report.length + 1), what });
                    break;
                }
            }
        }
        Ok(report)
    }

    pub(super) fn cards(&self) -> Vec<PlanCard> {
        let mut cards: Vec<PlanCard> = self.plans.iter().map(|(id, plan)| plan.listed(id)).collect();
        cards.sort_by_key(|card| std::cmp::Reverse(card.no));
        cards
    }

    pub(super) fn find(&self, text: &str) -> Result<PlanCard, StoreError> {
        let cards = self.cards();
        if let Some(card) = cards.iter().find(|card| card.id.as_str() == text) {
            return Ok(card.clone());
        }
        let fitting: Vec<PlanCard> = match Reference::parse(text)? {
            Reference::Last => cards.into_iter().find(|card| card.card.parent.is_none()).into_iter().collect(),
            Reference::No(no) => cards.into_iter().filter(|card| card.no == no).collect(),
            Reference::Prefix(prefix) => {
                let prefixes = Reference::prefixes(&prefix);
                let fits =
                    |card: &PlanCard| prefixes.iter().any(|prefix| card.id.as_str().starts_with(prefix.as_str()));
                cards.into_iter().filter(fits).collect()
            }
        };
        match fitting.as_slice() {
            [] => {
                let newest = self.cards();
                Err(Reference::unknown(text, newest.iter().map(|card| card.id.as_str())))
            }
            [card] => Ok(card.clone()),
            several => {
                let candidates = several.iter().take(CANDIDATES_MAX).map(|card| card.id.to_string()).collect();
                Err(StoreError::Ambiguous { reference: text.to_owned(), candidates })
            }
        }
    }

    pub(super) fn list(&self, filter: &ListFilter) -> Page<PlanCard> {
        let limit = if filter.limit == 0 { PAGE_ITEMS_MAX } else { filter.limit.min(PAGE_ITEMS_MAX) } as usize;
        let after = |card: &PlanCard| filter.cursor.is_none_or(|cursor| card.no.0 < cursor);
        let mut rest = self.cards().into_iter().filter(|card| after(card) && filter.admits(card));
        let items: Vec<PlanCard> = rest.by_ref().take(limit).collect();
        let next = rest.next().and(items.last()).map(|card| card.no.0);
        Page { items, next }
    }

    pub(super) fn search(&self, query: &str, limit: u32) -> Vec<Hit> {
        let wanted = query_words(query);
        if wanted.is_empty() {
            return Vec::new();
        }
        let texts = self.plans.iter().flat_map(|(id, plan)| plan.texts.iter().map(move |text| (id, text)));
        let fits = |text: &str| {
            let known: Vec<String> = words(text).collect();
            wanted.iter().all(|word| known.iter().any(|known| known.starts_with(word.as_str())))
        };
        let found = texts.filter(|(_, (_, text))| fits(text)).take(limit.clamp(1, PAGE_ITEMS_MAX) as usize);
        let hit = |(plan, ((task, kind, name), text)): (&PlanId, (&(Option<_>, _, String), &String))| Hit {
            plan: plan.clone(),
            task: task.clone(),
            kind: *kind,
            name: name.clone(),
            snippet: text.chars().take(SNIPPET_CHARS_MAX).collect(),
        };
        found.map(hit).collect()
    }
}

impl Plan {
    /// Turns with entries after `seq`, verified, until there are enough of them.
    fn turns_after(&self, id: &PlanId, seq: u64, turns_max: usize, bytes_max: usize) -> Result<Vec<Turn>, StoreError> {
        let first = self.turns.partition_point(|(turn, _)| turn.last_seq() <= seq);
        let mut before = match first.checked_sub(1) {
            Some(at) => self.turns[at].1,
            None => first_head(id),
        };
        let mut opened = Vec::new();
        let mut bytes = 0;
        for (sealed, head) in &self.turns[first..] {
            if opened.len() == turns_max || bytes >= bytes_max {
                break;
            }
            let turn = stored(sealed, *head)
                .open(sealed.first_seq - 1, before)
                .map_err(|what| StoreError::corrupt(format!("plan `{id}`: {what}")))?;
            bytes += sealed.entries.len() + sealed.inputs.len();
            before = *head;
            opened.push(turn);
        }
        Ok(opened)
    }

    fn listed(&self, id: &PlanId) -> PlanCard {
        PlanCard {
            id: id.clone(),
            no: self.no,
            created_at: self.created_at,
            updated_at: self.updated_at,
            length: self.length,
            pinned: self.pinned,
            card: self.card.clone(),
        }
    }
}

fn stored(sealed: &Sealed, head: Hash) -> StoredTurn<'_> {
    StoredTurn {
        first_seq: sealed.first_seq,
        last_seq: sealed.last_seq(),
        at: sealed.at,
        inputs: &sealed.inputs,
        entries: &sealed.entries,
        head,
    }
}
