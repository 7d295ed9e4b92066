//! The cost of one transition (`decide` and `apply`), by plan size.
//!
//! `cargo bench -p gantry-core --bench decide` prints nanoseconds per transition for chains, fans and
//! random graphs from 100 to 100,000 tasks, for as many tasks that wait for people, and for as many
//! that are ready and each use another capability; and the ratio to the smallest: it must stay flat.
//! The ratio is what counts; the machine's speed is not. Each size is measured in two ways:
//!
//! - `alone`: one plan after the other. A plan of 100 tasks then lives in the processor's nearest cache.
//! - `together`: as many plans as make 100,000 tasks, each in its turn, so that every size works on as much memory.
//!
//! Only turns are timed: plans are made before and dropped after. What is timed is the processor's time, sizes take
//! turns and the best of several rounds counts, because whatever else the machine does only ever makes it slower. For
//! profilers:
//! `--only 1000` measures one size, `--plan web` one kind of plan, `--way together` one way, `--rounds 1` once.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]
#![cfg_attr(not(unix), expect(clippy::disallowed_methods, reason = "a benchmark reads the clock"))]

use std::collections::VecDeque;
use std::hint::black_box;
use std::process::ExitCode;

use gantry_core::effect::Effect;
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::input::{Input, Success};
use gantry_core::life::{self, Life, PlanState, Room};
use gantry_core::plan::{Action, Manual, Plan, Run, Task};
use gantry_core::policy::{Policy, Usage};
use gantry_core::time::Timestamp;

/// The allocator of the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many tasks all plans have that are driven together, and how many transitions are measured at least.
const TASKS: usize = 100_000;

/// How many plans are driven at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Alone,
    Together,
}

/// Makes a plan of so many tasks.
type Draw = fn(usize) -> Plan;

/// The ratio up to which the cost of a transition counts as flat when all sizes work on as much memory; a walk through all
/// tasks would make it hundreds.
const FLAT_MAX: f64 = 2.0;

fn main() -> ExitCode {
    let mut flat = true;
    let option = |name: &str| std::env::args().skip_while(|arg| arg != name).nth(1);
    let sizes = match option("--only").and_then(|size| size.parse().ok()) {
        Some(size) => vec![size],
        None => vec![100, 1_000, 10_000, 100_000],
    };
    let rounds = option("--rounds").and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    println!("one transition = one answer decided and applied, with everything that follows from it\n");
    println!("{:<28} {:>9} {:>10} {:>7} {:>13} {:>7}", "plan", "tasks", "alone, ns", "ratio", "together, ns", "ratio");
    let plans: [(&str, Draw); 5] = [
        ("chain", chain),
        ("fan 1 -> n -> 1", fan),
        ("web, 5 edges a task", web),
        ("people, n waiting", people),
        ("n capabilities", capabilities),
    ];
    for (name, draw) in plans {
        if option("--plan").is_some_and(|plan| !name.starts_with(&plan)) {
            continue;
        }
        let mut best = vec![[f64::INFINITY; 2]; sizes.len()];
        for _ in 0..rounds {
            for (size, best) in sizes.iter().zip(&mut best) {
                let plan = draw(*size);
                for (way, best) in [Way::Alone, Way::Together].into_iter().zip(best) {
                    let called = if way == Way::Alone { "alone" } else { "together" };
                    if option("--way").is_none_or(|way| way == called) {
                        *best = best.min(measure(&plan, way));
                    }
                }
            }
        }
        for (size, [alone, together]) in sizes.iter().zip(&best) {
            let (ratio, fair_ratio) = (alone / best[0][0], together / best[0][1]);
            flat &= fair_ratio.is_nan() || fair_ratio <= FLAT_MAX;
            println!("{name:<28} {size:>9} {alone:>10.0} {ratio:>7.2} {together:>13.0} {fair_ratio:>7.2}");
        }
    }
    if flat {
        return ExitCode::SUCCESS;
    }
    eprintln!("the cost of a transition grows with the plan: a ratio is above {FLAT_MAX}");
    ExitCode::FAILURE
}

/// A plan that is being driven, and the attempts that it waits for.
struct Driven {
    /// Taken out for the length of a turn, which owns it.
    life: Option<Life>,
    attempts: VecDeque<(TaskId, AttemptNo)>,
    /// The tasks that people are to do.
    asked: VecDeque<TaskId>,
}

/// Lives whole plans, each attempt answered in its turn; returns the nanoseconds of one transition.
fn measure(plan: &Plan, way: Way) -> f64 {
    let copies = TASKS.div_ceil(plan.tasks.len());
    let (batches, at_once) = if way == Way::Alone { (copies, 1) } else { (1, copies) };
    let (mut transitions, mut nanos) = (0_u64, 0.0);
    for _ in 0..batches {
        let mut plans: Vec<Driven> = (0..at_once).map(|_| begin(plan)).collect();
        let start = processor_ns();
        loop {
            let before = transitions;
            for driven in &mut plans {
                transitions += u64::from(driven.turn());
            }
            if transitions == before {
                break;
            }
        }
        nanos += (processor_ns() - start) as f64;
        assert!(plans.iter().all(|driven| driven.life.as_ref().map(Life::state) == Some(PlanState::Completed)));
        black_box(&plans);
    }
    nanos / transitions as f64
}

/// How long the processor has worked for this thread.
#[cfg(unix)]
fn processor_ns() -> i64 {
    use nix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("a clock of the thread");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}

/// The time that passes, where the processor's is not to be had.
#[cfg(not(unix))]
fn processor_ns() -> i64 {
    use std::time::SystemTime;
    let passed = SystemTime::UNIX_EPOCH.elapsed().expect("a clock after 1970");
    i64::try_from(passed.as_nanos()).expect("a clock before 2262")
}

fn begin(plan: &Plan) -> Driven {
    let journal = life::create(plan.clone(), PlanId::mint("bench", 1), 1, Timestamp::from_ms(0)).expect("a sound plan");
    let life = life::replay(&journal).expect("a sound journal");
    let mut driven =
        Driven { life: Some(life), attempts: VecDeque::with_capacity(plan.tasks.len()), asked: VecDeque::new() };
    driven.take(&Input::Start);
    driven
}

impl Driven {
    /// Answers the attempt that has waited longest, or has a person do the first task, if there is one.
    #[inline(never)]
    fn turn(&mut self) -> bool {
        if let Some((task, attempt)) = self.attempts.pop_front() {
            self.take(&Input::Ended { task, attempt, end: Ok(Success::default()), usage: Usage::default() });
        } else if let Some(task) = self.asked.pop_front() {
            self.take(&Input::Report { task, by: "ana".to_owned(), end: Ok(Success::default()) });
        } else {
            return false;
        }
        true
    }

    fn take(&mut self, input: &Input) {
        let life = self.life.take().expect("it is between turns");
        let mut draft = life.draft(Timestamp::from_ms(0), Room::PLENTY);
        draft.take(input).expect("nothing is refused");
        let verdict = draft.close();
        for effect in verdict.effects {
            match effect {
                Effect::StartAttempt(start) => self.attempts.push_back((start.task, start.attempt)),
                Effect::Notify { task: Some(task), .. } => self.asked.push_back(task),
                _ => {}
            }
        }
        self.life = Some(verdict.life);
    }
}

fn task(number: usize, needs: impl IntoIterator<Item = usize>) -> Task {
    let id = |number| TaskId::new(&format!("t{number}")).expect("an id");
    Task {
        action: Some(Action::Run(Run { command: "true".to_owned(), ..Run::default() })),
        depends_on: needs.into_iter().map(id).collect(),
        ..Task::new(id(number))
    }
}

fn chain(size: usize) -> Plan {
    Plan { tasks: (0..size).map(|n| task(n, n.checked_sub(1))).collect(), ..Plan::default() }
}

fn fan(size: usize) -> Plan {
    let mut tasks = vec![task(0, [])];
    tasks.extend((1..size - 1).map(|n| task(n, [0])));
    tasks.push(task(size - 1, 1..size - 1));
    Plan { policy: Policy { parallel: Some(u32::MAX), ..Policy::default() }, tasks, ..Plan::default() }
}

/// All tasks are for people, and wait for them at once.
fn people(size: usize) -> Plan {
    let manual = |n| Task { action: Some(Action::Manual(Manual::default())), ..task(n, []) };
    Plan { tasks: (0..size).map(manual).collect(), ..Plan::default() }
}

/// All tasks are ready, and no two use the same capabilities.
fn capabilities(size: usize) -> Plan {
    let own = |n| Task { capabilities: vec![format!("c{n}")], ..task(n, []) };
    Plan { tasks: (0..size).map(own).collect(), ..Plan::default() }
}

/// Each task waits for up to five of the two hundred before it, by a fixed rule.
fn web(size: usize) -> Plan {
    let tasks = (0..size).map(|n| {
        let mut needs: Vec<usize> =
            (1..=5).map(|k| (n * 7 + k * 31) % 199 + 1).filter_map(|back| n.checked_sub(back)).collect();
        needs.sort_unstable();
        needs.dedup();
        task(n, needs)
    });
    Plan { tasks: tasks.collect(), ..Plan::default() }
}
