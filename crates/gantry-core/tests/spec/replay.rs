//! The whole life is a fold; any point of it can begin another life.

use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::{BadJournal, fork, replay};
use gantry_core::policy::FailureClass::Transient;
use gantry_testkit::World;
use serde_json::json;

fn busy_world() -> World {
    let mut world = World::with_plan(
        r#"
        a
        b  after a  on failure -> a max=1
        g  gate  after b
        m  map  after g  map={"over":"tasks.a.list"}
        "#,
    );
    world.finish_with("a", json!({"list": [1, 2]}));
    world.fail("b", Transient, "later");
    world.advance(gantry_testkit::mins(1));
    world.finish("b");
    world.approve("g", "ana");
    world
}

#[test]
fn replaying_a_journal_gives_the_same_state_byte_for_byte() {
    let world = busy_world();
    let text: Vec<String> = world.journal().iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
    let read: Vec<_> = text.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let replayed = replay(&read).unwrap();
    assert_eq!(&replayed, world.life());
    assert_eq!(serde_json::to_string(&replayed).unwrap(), serde_json::to_string(world.life()).unwrap());
}

#[test]
fn a_state_can_be_kept_as_a_snapshot() {
    let world = busy_world();
    let text = serde_json::to_string(world.life()).unwrap();
    let read: gantry_core::life::Life = serde_json::from_str(&text).unwrap();
    assert_eq!(&read, world.life());
}

#[test]
fn a_fork_shares_the_past_and_goes_its_own_way() {
    let world = busy_world();
    let at =
        world.journal().iter().position(|entry| entry.event.task().is_some_and(|task| task.as_str() == "b")).unwrap();
    let id = PlanId::new("plan-other").unwrap();
    let journal = fork(world.journal(), at as u64, id.clone(), world.journal()[0].at).unwrap();
    assert_eq!(journal[..at], world.journal()[..at]);
    let life = replay(&journal).unwrap();
    assert_eq!(life.id(), &id);
    assert_eq!(life.task_state("a").unwrap().to_string(), "completed");
    assert!(life.decide(&Input::Recover, world.journal()[0].at).is_ok());
}

#[test]
fn a_journal_that_is_not_one_is_refused() {
    let world = busy_world();
    let journal = world.journal();
    let without = |index: usize| {
        journal.iter().enumerate().filter(|(i, _)| *i != index).map(|(_, e)| e.clone()).collect::<Vec<_>>()
    };
    assert_eq!(replay(&[]).unwrap_err(), BadJournal::Empty);
    assert_eq!(replay(&without(0)).unwrap_err(), BadJournal::NoBeginning);
    assert_eq!(replay(&without(3)).unwrap_err(), BadJournal::Gap { expected: 4, found: 5 });
    let mut newer = journal.to_vec();
    newer[2].v = 99;
    assert_eq!(
        replay(&newer).unwrap_err().to_string(),
        "entry 3 has version 99, but this program knows versions up to 1"
    );
    let id = PlanId::new("x").unwrap();
    assert_eq!(
        fork(journal, 9_999, id, journal[0].at).unwrap_err().to_string(),
        format!("there is no entry 9999; the journal has {}", journal.len())
    );
}

#[test]
fn the_same_seed_draws_the_same_waits_and_another_seed_draws_others() {
    let wait = |seed: u64| {
        let plan = gantry_testkit::draw_plan(r#"flaky retry={"max":3,"backoff":"1h","backoff_max":"1d"}"#);
        let now = gantry_core::time::Timestamp::from_ms(0);
        let journal = gantry_core::life::create(plan, PlanId::new("p").unwrap(), seed, now).unwrap();
        let mut life = replay(&journal).unwrap();
        let turn = |life: &mut gantry_core::life::Life, input: Input| {
            let verdict = life.decide(&input, now).unwrap();
            life.apply(&verdict.events);
        };
        turn(&mut life, Input::Start);
        let failure = gantry_core::effect::Failure::new(Transient, "x");
        turn(
            &mut life,
            Input::Ended {
                task: gantry_core::id::TaskId::new("flaky").unwrap(),
                attempt: gantry_core::id::AttemptNo(1),
                end: Err(failure),
                usage: Default::default(),
            },
        );
        life.next_wake().unwrap()
    };
    assert_eq!(wait(1), wait(1));
    assert_ne!(wait(1), wait(2));
}
