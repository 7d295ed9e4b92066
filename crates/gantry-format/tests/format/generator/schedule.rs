//! Schedules of every shape, for plans made of random bytes.

use gantry_core::plan::{Plan, Scheduling, TaskScheduling};
use gantry_schedule::project::{
    Amount, Baseline, Calendar, CapacityChange, Correlation, Cost, CostKind, Days, Deadline, Due, Estimate, Hours,
    Length, Link, LinkKind, Money, Need, Recurring, ReferenceClass, Resource, Risk, Shape, ThreePoint, Unit, Week,
    When, Who,
};

use super::Dice;

const UNITS: [Unit; 8] =
    [Unit::Day, Unit::Second, Unit::Minute, Unit::Hour, Unit::Week, Unit::Month, Unit::Year, Unit::Period];

impl Dice<'_> {
    /// Makes a schedule that fits the plan.
    pub fn schedule(&mut self, plan: &Plan) -> Scheduling {
        let calendars: Vec<Calendar> = (0..self.throw(3)).map(|number| self.calendar(number)).collect();
        let resources: Vec<Resource> = (0..self.throw(3)).map(|number| self.resource(number, &calendars)).collect();
        let risks = (0..self.throw(3)).map(|number| self.chance(number, plan)).collect();
        let classes: Vec<ReferenceClass> = (0..self.throw(2))
            .map(|number| ReferenceClass { id: format!("class {number}"), ratios: vec![0.75, 1.5] })
            .collect();
        Scheduling {
            start: self.maybe(|_| "2026-03-02".parse().expect("a date")),
            unit: UNITS[self.throw(8)],
            calendar: calendars.last().filter(|_| self.yes()).map(|calendar| calendar.id.clone()),
            currency: self.maybe(|_| "EUR".to_owned()),
            exchange: [("USD", "0.92"), ("EUR", "1.25"), ("CHF", "1")]
                .map(|(name, worth)| (name.to_owned(), worth.parse().expect("a number")))
                .into(),
            deadline: self.maybe(Self::deadline),
            budget: self.maybe(Self::price),
            correlations: plan
                .tasks
                .first()
                .filter(|_| self.yes())
                .map(|task| Correlation {
                    id: "weather".to_owned(),
                    members: vec![task.id.as_str().to_owned()],
                    strength: 0.25,
                })
                .into_iter()
                .collect(),
            recurring: (0..self.throw(2))
                .map(|number| Recurring {
                    id: format!("rent {number}"),
                    amount: self.price(),
                    every: UNITS[4 + self.throw(3)],
                    from: self.maybe(Self::when),
                    to: self.maybe(Self::when),
                })
                .collect(),
            tasks: plan
                .tasks
                .iter()
                .enumerate()
                .filter_map(|(number, task)| {
                    self.maybe(|dice| {
                        let is_parent = plan.tasks.iter().any(|part| part.parent.as_ref() == Some(&task.id));
                        let before = task.depends_on.first().map(|id| id.as_str().to_owned());
                        let mut more = dice.scheduled(before, &calendars, &classes);
                        if is_parent {
                            more = TaskScheduling { estimate: None, needs: Vec::new(), ..more };
                        } else if let Some(resource) = resources.get(number % 2).filter(|_| dice.yes()) {
                            more.needs.push(Need { amount: Amount(500), ..Need::named(&resource.id) });
                        }
                        (task.id.clone(), more)
                    })
                })
                .collect(),
            calendars,
            resources,
            risks,
            classes,
        }
    }

    fn calendar(&mut self, number: usize) -> Calendar {
        let date = |text: &str| text.parse().expect("a date");
        let hours = vec![Hours { from: 8 * 60, to: 12 * 60 }, Hours { from: 22 * 60, to: 30 * 60 }];
        let mut week = Week::default();
        week.0[1].clone_from(&hours);
        week.0[self.throw(7)].clone_from(&hours);
        Calendar {
            id: format!("calendar.{number}"),
            zone: self.maybe(|_| "Europe/Vienna".to_owned()),
            week: self.maybe(|_| week),
            days_off: self.list(|_| Days { from: date("2026-12-24"), to: date("2027-01-01") }),
            exceptions: self.list(|_| (date("2026-12-28"), hours.clone())).into_iter().collect(),
        }
    }

    fn resource(&mut self, number: usize, calendars: &[Calendar]) -> Resource {
        Resource {
            id: format!("person {number}"),
            name: self.text(),
            roles: self.texts(),
            skills: self.texts(),
            capacity: Amount(500 * (1 + u32::try_from(self.throw(9)).expect("it is small"))),
            changes: self.list(|dice| CapacityChange { from: dice.when(), capacity: Amount(333) }),
            calendar: calendars.first().filter(|_| self.yes()).map(|calendar| calendar.id.clone()),
            absences: self.list(|_| "2026-04-01".parse().expect("a date")),
            rate: self.maybe(Self::price),
            per_use: self.maybe(Self::price),
        }
    }

    fn chance(&mut self, number: usize, plan: &Plan) -> Risk {
        Risk {
            id: format!("risk {number}"),
            title: self.text(),
            probability: [0.0, 0.125, 0.3, 1.0][self.throw(4)],
            impact: self.maybe(|dice| [1, 3, 5][dice.throw(3)]),
            effect: self.text(),
            mitigation: self.text(),
            owner: self.text(),
            tasks: plan.tasks.iter().take(self.throw(3)).map(|task| task.id.as_str().to_owned()).collect(),
            delay: self.maybe(Self::estimate),
            cost: self.maybe(|dice| ThreePoint::fixed(dice.price())),
        }
    }

    fn scheduled(
        &mut self,
        before: Option<String>,
        calendars: &[Calendar],
        classes: &[ReferenceClass],
    ) -> TaskScheduling {
        let kinds =
            [LinkKind::FinishToStart, LinkKind::FinishToFinish, LinkKind::FinishToStart, LinkKind::FinishToFinish];
        let link = |dice: &mut Self, task| Link { task, kind: kinds[dice.throw(4)], lag: dice.length() };
        TaskScheduling {
            after: before.filter(|_| self.yes()).map(|task| link(self, task)).into_iter().collect(),
            estimate: self.maybe(Self::estimate),
            class: classes.first().filter(|_| self.yes()).map(|class| class.id.clone()),
            calendar: calendars.first().filter(|_| self.yes()).map(|calendar| calendar.id.clone()),
            start_no_earlier: self.maybe(Self::when),
            deadline: self.maybe(Self::deadline),
            needs: self.list(|dice| Need {
                who: Who::Fitting { role: Some(dice.text()), skills: dice.texts(), count: 2 },
                amount: Amount::default(),
            }),
            costs: self.list(|dice| Cost {
                name: dice.text(),
                kind: [CostKind::Fixed, CostKind::Labour, CostKind::Material, CostKind::Recurring][dice.throw(4)],
                amount: ThreePoint::fixed(dice.price()),
                due: [Due::Start, Due::Finish, Due::Spread][dice.throw(3)],
            }),
            baseline: self.maybe(|dice| Baseline { start: dice.when(), finish: dice.when(), cost: dice.price() }),
            percent: self.maybe(|dice| u8::try_from(dice.throw(101)).expect("it is small")),
            spent: self.maybe(Self::price),
        }
    }

    fn length(&mut self) -> Length {
        let lengths = ["0", "2d", "1.5h", "3ed", "0es", "12", "1y2mo3w4d5h6m7s"];
        let length: Length = lengths[self.throw(lengths.len())].parse().expect("a length");
        if length.is_zero() { Length::ZERO } else { length }
    }

    fn estimate(&mut self) -> Estimate {
        let length = |text: &str| text.parse().expect("a length");
        match self.throw(4) {
            0 => Estimate::fixed(length("5d")),
            1 => Estimate::pert(length("0es"), length("2ed"), length("1ew")),
            2 => Estimate::pert(length("3d"), length("5d"), length("10d")).shaped(Shape::Lognormal),
            _ => Estimate::pert(length("0"), length("5"), length("10.5")).shaped(Shape::Triangular),
        }
    }

    fn when(&mut self) -> When {
        let times = ["2026-03-02", "2026-03-02T09:00", "2026-03-02T09:00:00Z", "72h", "3ed", "12"];
        times[self.throw(times.len())].parse().expect("a point in time")
    }

    fn deadline(&mut self) -> Deadline {
        Deadline { at: self.when(), hard: self.yes() }
    }

    fn price(&mut self) -> Money {
        ["0", "4200", "12.50", "1200.50 EUR", "7 CHF", "0.000000001 USD"][self.throw(6)].parse().expect("an amount")
    }
}
