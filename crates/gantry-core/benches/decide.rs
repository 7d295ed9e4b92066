//! The cost of one transition (`decide` and `apply`), by plan size.
//!
//! `cargo bench -p gantry-core --bench decide` prints nanoseconds per transition for chains, fans and
//! random graphs from 100 to 100,000 tasks, and the ratio to the smallest: it must stay flat. The
//! ratio is what counts; the machine's speed is not. `--only 1000` measures one size, for profilers.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::time::Instant;

use gantry_core::effect::Effect;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::input::{Input, Success};
use gantry_core::life::{self, Life, PlanState, Room};
use gantry_core::plan::{Action, Plan, Run, Task};
use gantry_core::policy::{Policy, Usage};
use gantry_core::time::Timestamp;

/// The allocator of the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut args = std::env::args().skip_while(|arg| arg != "--only").skip(1);
    let only: Option<usize> = args.next().and_then(|size| size.parse().ok());
    let sizes = only.map_or_else(|| vec![100, 1_000, 10_000, 100_000], |size| vec![size]);
    println!("one transition = one answer decided and applied, with everything that follows from it\n");
    println!("{:<34} {:>9} {:>12} {:>12} {:>7}", "plan", "tasks", "transitions", "ns each", "ratio");
    for (name, draw) in
        [("chain", chain as fn(usize) -> Plan), ("fan 1 -> n -> 1", fan), ("5 edges a task, 8 at once", web)]
    {
        let mut smallest = None;
        for size in &sizes {
            let plan = draw(*size);
            let (transitions, nanos) = live(&plan);
            let each = nanos / transitions as f64;
            let base = *smallest.get_or_insert(each);
            println!("{name:<34} {size:>9} {transitions:>12} {each:>12.0} {:>7.2}", each / base);
        }
    }
}

/// Lives a whole plan, each attempt answered at once, and measures only deciding and applying.
///
/// Small plans are lived several times, so that every size is measured over as many transitions.
fn live(plan: &Plan) -> (u64, f64) {
    let mut transitions = 0;
    let mut nanos = 0.0;
    while transitions < 20_000 {
        let now = Timestamp::from_ms(0);
        let journal = life::create(plan.clone(), PlanId::mint("bench", 1), 1, now).expect("a sound plan");
        let mut life = life::replay(&journal).expect("a sound journal");
        let mut answers = Vec::new();
        life = turn(life, &Input::Start, &mut answers);
        let begin = Instant::now();
        let mut at = 0;
        while at < answers.len() {
            let input = answers[at].clone();
            life = turn(life, &input, &mut answers);
            at += 1;
        }
        nanos += begin.elapsed().as_nanos() as f64;
        transitions += at as u64;
        assert_eq!(life.state(), PlanState::Completed);
        black_box(&life);
    }
    (transitions, nanos)
}

fn turn(life: Life, input: &Input, answers: &mut Vec<Input>) -> Life {
    let mut draft = life.draft(Timestamp::from_ms(0), Room::PLENTY);
    draft.take(input).expect("nothing is refused");
    let verdict = draft.close();
    for effect in verdict.effects {
        if let Effect::StartAttempt(start) = effect {
            let end = Ok(Success::default());
            answers.push(Input::Ended { task: start.task, attempt: start.attempt, end, usage: Usage::default() });
        }
    }
    verdict.life
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
