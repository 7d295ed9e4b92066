//! Work for what a request demands and nothing of the usual work is about.
//!
//! What is known about a kind of project is the same for every project of that kind. What only this request says would be
//! listed as open and have nobody who sees to it: it becomes a task of the first phase, with an owner and a result.

use jiff::civil::Date;

use crate::brief::{self, DemandKind};
use crate::facts::Wanted;
use crate::kind::Size;
use crate::outline::{Outline, OutlineTask};
use crate::trace::{is_about, is_ban};

/// How many such tasks a plan gets; the rest stays listed as open.
const TASKS_MAX: usize = 8;
/// How many tasks a phase has at most, as in the schema of the step that lists them.
const PHASE_MAX: usize = 12;
/// How long the words of a demand may be in a title.
const TITLE_MAX: usize = 60;
/// And in a description.
const DETAIL_MAX: usize = 240;

/// Adds what has to be done for demands that no task is about.
pub(crate) fn add_work(outline: &mut Outline, demands: &[Wanted], size: Size, today: Date) {
    if size == Size::Household {
        return;
    }
    let told: Vec<String> = outline.tasks().map(told).collect();
    let open = demands.iter().filter(|demand| {
        let must = matches!(demand.kind, DemandKind::Must | DemandKind::MustNot);
        must && demand.measured_by.is_none()
            && !is_ban(&demand.text)
            && !is_bound(&demand.text, today)
            && !told.iter().any(|told| is_about(told, &demand.text))
    });
    let open: Vec<&Wanted> = open.take(TASKS_MAX).collect();
    let Some(phase) = outline.phases.first_mut() else { return };
    let room = PHASE_MAX.saturating_sub(phase.tasks.len());
    let Some(first) = phase.tasks.first().cloned() else { return };
    // Nothing of it is bigger than the smallest thing that is done there anyway.
    let smallest = phase.tasks.iter().map(|task| task.hours).min_by(|one, other| one[1].total_cmp(&other[1]));
    let hours = smallest.unwrap_or(first.hours);
    for demand in open.into_iter().take(room) {
        let words = demand.text.trim().trim_end_matches(['.', ';', ',', '!']);
        let (short, words) = (shortened(words, TITLE_MAX), shortened(words, DETAIL_MAX));
        phase.tasks.push(OutlineTask {
            id: format!("see-to-{}", demand.id.to_lowercase()),
            title: format!("See to it: {short}"),
            stages: Vec::new(),
            beside: String::new(),
            detail: format!(
                "The request says: “{words}”. Settle what that means for the work, who keeps an eye on it, and how it is shown \
                 in the end."
            ),
            hours,
            after: vec![first.id.clone()],
            output: format!("Answer to {}", demand.id),
            done_when: format!("It is written down how {} is met, who watches it and how it is checked.", demand.id),
            costs: Vec::new(),
            ..first.clone()
        });
    }
}

/// Money and days bound the work, and the schedule tells how it stands to them, also when somebody changed them later.
fn is_bound(text: &str, today: Date) -> bool {
    let read = brief::read(text, today);
    read.budget.is_some() || read.deadline.is_some() || read.horizon.is_some()
}

fn told(task: &OutlineTask) -> String {
    [&task.title, &task.detail, &task.output, &task.done_when].map(String::as_str).join(" ").to_lowercase()
}

/// A text cut between words.
fn shortened(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most).collect();
    let whole = cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole);
    format!("{} …", whole.trim_end_matches([',', ';', ':', '-', '–', '—']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_demand_is_cut_between_words() {
        assert_eq!(shortened("Short  and\nsweet", TITLE_MAX), "Short and sweet");
        let text = "The venue must be accessible for wheelchairs, and so must every way that leads to it";
        let long = shortened(text, TITLE_MAX);
        assert_eq!(long, "The venue must be accessible for wheelchairs, and so must …");
        assert!(shortened(&"가".repeat(200), TITLE_MAX).chars().count() <= TITLE_MAX + 2);
    }
}
