//! Tasks by the number of the event at which something happened to them.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::TaskNo;

/// Numbers only grow, so a new moment goes to the end; one that no longer counts is struck out where it stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    all: Arc<Vec<(u64, TaskNo)>>,
    struck: usize,
}

/// The number of no task: stands in place of a moment that is struck out.
const STRUCK: TaskNo = TaskNo(0);

impl Moments {
    /// Adds a moment: a new one, or one that was struck out and counts again.
    pub fn insert(&mut self, seq: u64, no: TaskNo) {
        let all = Arc::make_mut(&mut self.all);
        if all.last().is_none_or(|(last, _)| *last < seq) {
            return all.push((seq, no));
        }
        match all.binary_search_by_key(&seq, |(seq, _)| *seq) {
            Ok(at) => {
                self.struck -= usize::from(all[at].1 == STRUCK);
                all[at].1 = no;
            }
            Err(at) => all.insert(at, (seq, no)),
        }
    }

    /// Strikes a moment out. The last moment always counts, and so do at least half of all.
    pub fn strike(&mut self, seq: u64) {
        let Ok(at) = self.all.binary_search_by_key(&seq, |(seq, _)| *seq) else { return };
        let all = Arc::make_mut(&mut self.all);
        self.struck += usize::from(all[at].1 != STRUCK);
        all[at].1 = STRUCK;
        while all.pop_if(|(_, no)| *no == STRUCK).is_some() {
            self.struck -= 1;
        }
        if self.struck * 2 > all.len() {
            all.retain(|(_, no)| *no != STRUCK);
            self.struck = 0;
        }
    }

    /// The moments after this one, in their order.
    pub fn after(&self, seq: u64) -> impl Iterator<Item = (u64, TaskNo)> {
        let first = self.all.partition_point(|(at, _)| *at <= seq);
        self.all[first..].iter().copied().filter(|(_, no)| *no != STRUCK)
    }

    /// The task of the last moment.
    pub fn last(&self) -> Option<TaskNo> {
        self.all.last().map(|(_, no)| *no)
    }
}

impl PartialEq for Moments {
    fn eq(&self, other: &Self) -> bool {
        self.after(0).eq(other.after(0))
    }
}

impl Serialize for Moments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.after(0))
    }
}

impl<'de> Deserialize<'de> for Moments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all = std::collections::BTreeMap::<u64, TaskNo>::deserialize(deserializer)?;
        Ok(Self { all: Arc::new(all.into_iter().collect()), struck: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(moments: &Moments) -> Vec<u64> {
        moments.after(0).map(|(seq, _)| seq).collect()
    }

    #[test]
    fn what_is_struck_out_is_gone_and_the_last_one_counts() {
        let mut moments = Moments::default();
        for seq in 1..=6 {
            moments.insert(seq * 10, TaskNo(u32::try_from(seq).unwrap()));
        }
        moments.strike(30);
        moments.strike(35);
        assert_eq!(of(&moments), [10, 20, 40, 50, 60]);
        moments.strike(50);
        moments.strike(60);
        assert_eq!((of(&moments), moments.last()), (vec![10, 20, 40], Some(TaskNo(4))));
        assert_eq!(moments.after(10).map(|(seq, _)| seq).collect::<Vec<_>>(), [20, 40]);
        moments.strike(10);
        moments.strike(20);
        assert_eq!((of(&moments), moments.all.len()), (vec![40], 1));
        moments.strike(40);
        assert_eq!((of(&moments), moments.last()), (vec![], None));
    }

    #[test]
    fn what_was_struck_out_can_count_again() {
        let mut moments = Moments::default();
        for seq in 1..=4 {
            moments.insert(seq, TaskNo(1));
        }
        for seq in [2, 4, 3] {
            moments.strike(seq);
            moments.insert(seq, TaskNo(2));
        }
        assert_eq!((of(&moments), moments.struck), (vec![1, 2, 3, 4], 0));
    }

    #[test]
    fn moments_are_the_same_however_they_came_to_be() {
        let mut moments = Moments::default();
        for seq in 1..=5 {
            moments.insert(seq, TaskNo(7));
        }
        moments.strike(2);
        let text = serde_json::to_string(&moments).unwrap();
        assert_eq!(text, r#"{"1":7,"3":7,"4":7,"5":7}"#);
        assert_eq!(serde_json::from_str::<Moments>(&text).unwrap(), moments);
    }
}
