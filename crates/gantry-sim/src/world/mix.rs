//! Which faults a run meets and how often, and a count of those that happened.

use std::collections::BTreeMap;

use crate::dice::Dice;

/// How likely each fault is, in thousandths of the moments at which it can happen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mix {
    /// The process dies at one of the points of a turn.
    pub crash: u32,
    /// The process dies between turns.
    pub kill: u32,
    /// The store refuses an append.
    pub refuse: u32,
    /// Someone else appended first.
    pub overtake: u32,
    /// An answer never comes.
    pub lose: u32,
    /// An answer comes twice.
    pub double: u32,
    /// An answer comes much later.
    pub delay: u32,
    /// A runner stops saying that it is alive.
    pub silence: u32,
    /// An attempt fails.
    pub fail: u32,
    /// An attempt uses more than was set aside for it.
    pub overspend: u32,
    /// A person does something that was asked for.
    pub people: u32,
    /// Someone steers the plan.
    pub steer: u32,
    /// An answer comes for an attempt that never was.
    pub bogus: u32,
    /// The clock jumps.
    pub jump: u32,
    /// Several things are taken in at once.
    pub together: u32,
    /// A turn has little room for attempts, or none.
    pub room: u32,
}

impl Mix {
    /// Draws a mix; a run in ten has no faults at all.
    pub fn draw(dice: &mut Dice) -> Self {
        let mut some = |most: u32| if dice.percent(60) { dice.small(1, most) } else { 0 };
        let mut mix = Self {
            crash: some(25),
            kill: some(30),
            refuse: some(30),
            overtake: some(20),
            lose: some(100),
            double: some(100),
            delay: some(150),
            silence: some(200),
            fail: some(250),
            overspend: some(60),
            steer: some(70),
            bogus: some(50),
            jump: some(15),
            together: some(500),
            room: some(300),
            people: 0,
        };
        mix.people = dice.small(40, 300);
        if dice.percent(10) {
            mix = Self { people: mix.people, ..Self::default() };
        }
        mix
    }
}

/// How often each fault happened.
pub type Faults = BTreeMap<&'static str, u64>;
