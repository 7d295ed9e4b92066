//! What must be right before anything can be computed. Every problem is told at once.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;

use super::causes::shared_causes;
use crate::problem::{Problem, ProblemKind};
use crate::project::{Length, Money, Project, Scale, Task, ThreePoint, Unit, When, Who};

/// Everything that is wrong with a project.
pub(super) fn check(project: &Project) -> Vec<Problem> {
    let mut checker = Checker {
        project,
        tasks: project.tasks.iter().map(|task| &*task.id).collect(),
        resources: project.resources.iter().map(|resource| &*resource.id).collect(),
        calendars: project.calendars.iter().map(|calendar| &*calendar.id).collect(),
        classes: project.classes.iter().map(|class| &*class.id).collect(),
        problems: Vec::new(),
    };
    checker.ids();
    checker.whole();
    checker.calendars();
    checker.resources();
    checker.tree();
    for task in &project.tasks {
        checker.task(task);
    }
    checker.chances();
    checker.problems
}

struct Checker<'p> {
    project: &'p Project,
    tasks: BTreeSet<&'p str>,
    resources: BTreeSet<&'p str>,
    calendars: BTreeSet<&'p str>,
    classes: BTreeSet<&'p str>,
    problems: Vec<Problem>,
}

impl<'p> Checker<'p> {
    fn ids(&mut self) {
        let project = self.project;
        let lists: [(&str, Vec<&str>); 7] = [
            ("task", project.tasks.iter().map(|task| &*task.id).collect()),
            ("resource", project.resources.iter().map(|resource| &*resource.id).collect()),
            ("calendar", project.calendars.iter().map(|calendar| &*calendar.id).collect()),
            ("risk", project.risks.iter().map(|risk| &*risk.id).collect()),
            ("correlation", project.correlations.iter().map(|correlation| &*correlation.id).collect()),
            ("class", project.classes.iter().map(|class| &*class.id).collect()),
            ("recurring", project.recurring.iter().map(|recurring| &*recurring.id).collect()),
        ];
        for (sort, ids) in lists {
            let mut seen = BTreeSet::new();
            for id in ids {
                if id.trim().is_empty() {
                    self.add(Problem::value(sort, format!("a {sort} has no id"), "give every one an id"));
                } else if !seen.insert(id) {
                    let what = format!("two have the id `{id}`");
                    self.add(Problem::new(format!("{sort}.{id}"), ProblemKind::Duplicate, what, "rename one of them"));
                }
            }
        }
    }

    fn whole(&mut self) {
        let project = self.project;
        if project.currency.len() != 3 || !project.currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            let what = format!("`{}` is not a currency", project.currency);
            self.add(Problem::value("project.currency", what, "write three capital letters such as `EUR`"));
        }
        self.calendar("project.calendar", project.calendar.as_deref());
        self.when("project.deadline", project.deadline.map(|deadline| deadline.at));
        self.when("project.data_date", project.data_date);
        self.money("project.budget", project.budget.as_ref());
        for recurring in &project.recurring {
            let at = format!("recurring.{}", recurring.id);
            self.money(&format!("{at}.amount"), Some(&recurring.amount));
            self.when(&format!("{at}.from"), recurring.from);
            if recurring.every < Unit::Hour {
                let what = "it is due more often than every hour";
                self.add(Problem::value(format!("{at}.every"), what, "write `hour`, `day`, `week`, `month` or `year`"));
            }
            self.when(&format!("{at}.to"), recurring.to);
        }
    }

    fn calendars(&mut self) {
        for calendar in &self.project.calendars {
            if let Some(zone) = &calendar.zone
                && TimeZone::get(zone).is_err()
            {
                let what = format!("there is no time zone `{zone}`");
                self.add(Problem::value(
                    format!("calendar.{}.zone", calendar.id),
                    what,
                    "write for example `Europe/Vienna`",
                ));
            }
        }
    }

    fn resources(&mut self) {
        for resource in &self.project.resources {
            let at = format!("resource.{}", resource.id);
            self.calendar(&format!("{at}.calendar"), resource.calendar.as_deref());
            self.money(&format!("{at}.rate"), resource.rate.as_ref());
            self.money(&format!("{at}.per_use"), resource.per_use.as_ref());
            for change in &resource.changes {
                self.when(&format!("{at}.changes"), Some(change.from));
            }
        }
    }

    /// Parents are there, contain each other in no circle, and have no work of their own.
    fn tree(&mut self) {
        let parents: BTreeMap<&str, Option<&str>> =
            self.project.tasks.iter().map(|task| (&*task.id, task.parent.as_deref())).collect();
        let summaries: BTreeSet<&str> = parents.values().flatten().copied().collect();
        for task in &self.project.tasks {
            let at = format!("task.{}", task.id);
            if let Some(parent) = &task.parent {
                self.known_task(&format!("{at}.parent"), parent);
            }
            let mut seen = BTreeSet::from([&*task.id]);
            let mut above = task.parent.as_deref();
            while let Some(parent) = above {
                if !seen.insert(parent) {
                    if parent == task.id {
                        let what = "it contains itself through its parents";
                        self.add(Problem::new(
                            format!("{at}.parent"),
                            ProblemKind::Cycle,
                            what,
                            "give it another parent",
                        ));
                    }
                    break;
                }
                above = parents.get(parent).copied().flatten();
            }
            for link in &task.after {
                if seen.contains(&*link.task) {
                    let what = format!("it waits for `{}`, which contains it", link.task);
                    self.add(Problem::new(format!("{at}.after"), ProblemKind::Cycle, what, "remove the link"));
                } else if summaries.contains(&*link.task) && !link.kind.leaves_finish() {
                    let what = format!("a summary such as `{}` starts with its first part", link.task);
                    self.add(Problem::value(format!("{at}.after"), what, "link from the part that starts first"));
                }
            }
            if summaries.contains(&*task.id) {
                let own = [("estimate", task.estimate.is_some()), ("needs", !task.needs.is_empty())];
                for (field, _) in own.iter().filter(|(_, given)| *given) {
                    let what = "a summary has no work of its own: its parts have";
                    self.add(Problem::value(format!("{at}.{field}"), what, "move it to a part"));
                }
            }
        }
    }

    fn task(&mut self, task: &'p Task) {
        let at = format!("task.{}", task.id);
        for link in &task.after {
            self.known_task(&format!("{at}.after"), &link.task);
        }
        if let Some(estimate) = &task.estimate {
            self.lengths(&format!("{at}.estimate"), estimate);
        }
        if let Some(class) = &task.class {
            self.known(&format!("{at}.class"), "class", class, self.classes.contains(&**class));
        }
        self.calendar(&format!("{at}.calendar"), task.calendar.as_deref());
        self.when(&format!("{at}.start_no_earlier"), task.start_no_earlier);
        self.when(&format!("{at}.deadline"), task.deadline.map(|deadline| deadline.at));
        for need in &task.needs {
            if let Who::Named { resource } = &need.who {
                self.known(&format!("{at}.needs"), "resource", resource, self.resources.contains(&**resource));
            }
        }
        for cost in &task.costs {
            self.moneys(&format!("{at}.costs"), &cost.amount);
        }
        self.progress(&at, task);
    }

    fn progress(&mut self, at: &str, task: &Task) {
        let progress = &task.progress;
        self.when(&format!("{at}.progress.started"), progress.started);
        self.when(&format!("{at}.progress.finished"), progress.finished);
        self.money(&format!("{at}.progress.cost"), progress.cost.as_ref());
        if progress.percent.is_some_and(|percent| percent > 100) {
            let what = format!("{} percent is more than all of it", progress.percent.unwrap_or_default());
            self.add(Problem::value(format!("{at}.progress.percent"), what, "write 0 to 100"));
        }
        if progress.remaining.is_some_and(|length| self.seconds(length) < 0) {
            let what = "less than nothing remains";
            self.add(Problem::value(format!("{at}.progress.remaining"), what, "write `0` or a length"));
        }
        if let Some(baseline) = &task.baseline {
            self.when(&format!("{at}.baseline.start"), Some(baseline.start));
            self.when(&format!("{at}.baseline.finish"), Some(baseline.finish));
            self.money(&format!("{at}.baseline.cost"), Some(&baseline.cost));
        }
    }

    fn chances(&mut self) {
        let project = self.project;
        let share = |value: f64| (0.0..=1.0).contains(&value);
        for risk in &project.risks {
            let at = format!("risk.{}", risk.id);
            if !share(risk.probability) {
                let what = format!("{} is not a probability", risk.probability);
                self.add(Problem::value(format!("{at}.probability"), what, "write 0 to 1"));
            }
            for task in &risk.tasks {
                self.known_task(&format!("{at}.tasks"), task);
            }
            if let Some(delay) = &risk.delay {
                self.lengths(&format!("{at}.delay"), delay);
            }
            if let Some(cost) = &risk.cost {
                self.moneys(&format!("{at}.cost"), cost);
            }
        }
        for correlation in &project.correlations {
            let at = format!("correlation.{}", correlation.id);
            if !share(correlation.strength) {
                let what = format!("{} is not a correlation", correlation.strength);
                self.add(Problem::value(format!("{at}.strength"), what, "write 0 to 1"));
            }
            for member in &correlation.members {
                let known = self.tasks.contains(&**member) || project.risks.iter().any(|risk| risk.id == *member);
                self.known(&format!("{at}.members"), "task or risk", member, known);
            }
        }
        let strengths = shared_causes(project).into_iter();
        let sums = strengths.map(|(member, causes)| (member, causes.iter().map(|cause| cause.1).sum::<f64>()));
        for (member, strength) in sums.filter(|(_, strength)| *strength > 1.0) {
            let what = format!("the correlations of `{member}` add up to {strength}");
            self.add(Problem::value("correlation", what, "make them add up to at most 1"));
        }
        for class in &project.classes {
            let sound = |ratio: &f64| ratio.is_finite() && *ratio > 0.0 && *ratio <= 1_000.0;
            if class.ratios.is_empty() || !class.ratios.iter().all(sound) {
                let what = "its ratios must be numbers above 0, at least one";
                self.add(Problem::value(
                    format!("class.{}.ratios", class.id),
                    what,
                    "write for example [0.9, 1.2, 1.6]",
                ));
            }
        }
    }

    fn lengths(&mut self, at: &str, estimate: &ThreePoint<Length>) {
        let seconds = estimate.map(|length| self.seconds(*length));
        if seconds.low < 0 || seconds.low > seconds.likely || seconds.likely > seconds.high {
            let what = format!("`{estimate}` must rise from low to high and not be negative");
            self.add(Problem::value(at, what, "put the three values in order"));
        }
        if estimate.low.is_elapsed() != estimate.likely.is_elapsed()
            || estimate.likely.is_elapsed() != estimate.high.is_elapsed()
        {
            self.add(Problem::value(at, "it mixes work and elapsed time", "use one of the two"));
        }
    }

    fn moneys(&mut self, at: &str, amount: &ThreePoint<Money>) {
        for money in [&amount.low, &amount.likely, &amount.high] {
            self.money(at, Some(money));
        }
        if amount.low.currency != amount.high.currency || amount.low.currency != amount.likely.currency {
            self.add(Problem::value(at, "its three amounts are in different currencies", "use one currency"));
        } else if amount.low.amount > amount.likely.amount || amount.likely.amount > amount.high.amount {
            self.add(Problem::value(
                at,
                format!("`{amount}` must rise from low to high"),
                "put the three amounts in order",
            ));
        }
    }

    fn money(&mut self, at: &str, money: Option<&Money>) {
        if let Some(currency) = money.and_then(|money| money.currency.as_ref())
            && *currency != self.project.currency
            && !self.project.exchange.contains_key(currency)
        {
            let known: Vec<&str> = self.project.exchange.keys().map(String::as_str).collect();
            let fix = format!("add `{currency}` to `exchange`: what one is worth in {}", self.project.currency);
            self.add(Problem { fix, ..Problem::unknown(at, "rate of exchange for", currency, &known) });
        }
    }

    fn when(&mut self, at: &str, when: Option<When>) {
        let dated = self.project.start.is_some();
        match when {
            Some(when) if !dated && !matches!(when, When::After(_)) => {
                let what = format!("`{when}` is a date, but the project has no start date");
                self.add(Problem::value(at, what, "set `start`, or write a number of units"));
            }
            _ => {}
        }
    }

    fn calendar(&mut self, at: &str, name: Option<&str>) {
        if let Some(name) = name {
            self.known(at, "calendar", name, self.calendars.contains(name));
        }
    }

    fn known_task(&mut self, at: &str, id: &str) {
        self.known(at, "task", id, self.tasks.contains(id));
    }

    /// Tells of a name that is not there, with the nearest one that is.
    fn known(&mut self, at: &str, sort: &str, name: &str, is_there: bool) {
        if !is_there {
            let names = match sort {
                "resource" => &self.resources,
                "calendar" => &self.calendars,
                "class" => &self.classes,
                _ => &self.tasks,
            };
            let names: Vec<&str> = names.iter().copied().collect();
            self.add(Problem::unknown(at, sort, name, &names));
        }
    }

    fn seconds(&self, length: Length) -> i64 {
        length.to_seconds(&Scale::elapsed(self.project.unit))
    }

    fn add(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}
