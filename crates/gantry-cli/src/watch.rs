//! `gantry watch`: plans on the whole screen, kept up to date.

mod screen;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use gantry_core::id::PlanId;
use gantry_store::{ListFilter, Store};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::arguments::PlanOrAll;
use crate::exit::{self, Fault};
use crate::list::{self, Inside};
use crate::run::screen::print_json;
use crate::session::{self, Record};
use crate::show;
use crate::show::elapsed::now;
use crate::show::json;
use crate::show::standing::Standing;
use screen::{List, One};

/// How often the record is looked at.
const POLL: Duration = Duration::from_millis(500);
/// How many plans are listed.
const PLANS_MAX: usize = 500;

/// Watch one plan, or all of them, on the whole screen
///
/// Arrows choose, Enter opens, Esc goes back, q quits. With --json each change is one line: what `status --json` has,
/// until the plan is over.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry watch\n  gantry watch @last\n  gantry watch 7 --json")]
pub struct Args {
    #[command(flatten)]
    plan: PlanOrAll,
    #[command(flatten)]
    record: Record,
}

/// What is on the screen.
enum View {
    List,
    One(Box<One>),
}

/// What to do after a key.
#[derive(PartialEq, Eq)]
enum Then {
    Stay,
    Quit,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    if args.record.json {
        return session::block_on(async {
            write_lines(&args.record.open()?, args.plan.one()).await.map(|()| ExitCode::from(exit::DONE))
        });
    }
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() || !show::can_move_cursor() {
        return Err(Fault::bad_input("a terminal that can move its cursor is needed to watch plans")
            .hint("without one, use `gantry status` or `gantry log --follow`"));
    }
    session::block_on(async {
        let store = args.record.open()?;
        let view = match args.plan.one() {
            Some(plan) => View::One(Box::new(One::new(session::standing(&store, plan).await?.foreseen()))),
            None => View::List,
        };
        let mut terminal =
            ratatui::try_init().map_err(|error| Fault::internal(format!("the terminal cannot be used: {error}")))?;
        let watched = Watch { store: &store, list: List::default(), view, only_one: args.plan.one().is_some() };
        let outcome = watched.go(&mut terminal).await;
        // A terminal that is gone cannot be put right.
        let _ = ratatui::try_restore();
        outcome.map(|()| ExitCode::from(exit::DONE))
    })
}

/// Writes one line for each plan in which something has happened; of one plan, until nothing more happens to it.
async fn write_lines(store: &dyn Store, plan: Option<&str>) -> Result<(), Fault> {
    let only = match plan {
        Some(plan) => Some(store.plan(plan).await?.id),
        None => None,
    };
    let mut told: BTreeMap<PlanId, u64> = BTreeMap::new();
    loop {
        let plans = match &only {
            Some(id) => vec![store.plan(id.as_str()).await?],
            None => {
                let (listed, _) = list::read(store, ListFilter::default(), Inside::Hidden, PLANS_MAX).await?;
                listed.into_iter().map(|listed| listed.plan).collect()
            }
        };
        for plan in plans {
            if told.insert(plan.id.clone(), plan.length) == Some(plan.length) {
                continue;
            }
            let standing = session::standing(store, plan.id.as_str()).await?.foreseen();
            print_json(&json::standing(&standing))?;
            if only.is_some() && standing.life.state().is_over() {
                return Ok(());
            }
        }
        tokio::time::sleep(POLL).await;
    }
}

struct Watch<'s> {
    store: &'s dyn Store,
    list: List,
    view: View,
    /// There is no list to go back to.
    only_one: bool,
}

impl Watch<'_> {
    async fn go(mut self, terminal: &mut DefaultTerminal) -> Result<(), Fault> {
        let broken = |error: std::io::Error| Fault::internal(format!("the terminal cannot be used: {error}"));
        loop {
            self.look().await?;
            terminal
                .draw(|frame| match &mut self.view {
                    View::List => self.list.draw(frame),
                    View::One(one) => one.draw(frame),
                })
                .map_err(broken)?;
            // Nothing else happens in this process, so it may wait here for keys.
            if event::poll(POLL).map_err(broken)?
                && let Event::Key(key) = event::read().map_err(broken)?
                && key.kind == KeyEventKind::Press
                && self.key(key).await? == Then::Quit
            {
                return Ok(());
            }
        }
    }

    /// Reads what has changed.
    async fn look(&mut self) -> Result<(), Fault> {
        match &mut self.view {
            View::List => {
                let (plans, _) = list::read(self.store, ListFilter::default(), Inside::Hidden, PLANS_MAX).await?;
                self.list.take(plans);
            }
            View::One(one) => {
                let id = one.standing.card.id.clone();
                let card = self.store.plan(id.as_str()).await?;
                if card.length != one.standing.card.length {
                    one.take(Standing::read(self.store, id.as_str()).await?.foreseen());
                }
                one.standing.driven = self.store.claimed_by_other(card.no).await?;
                one.look_again(now());
            }
        }
        Ok(())
    }

    async fn key(&mut self, key: KeyEvent) -> Result<Then, Fault> {
        let interrupt = key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c');
        match (&mut self.view, key.code) {
            (_, KeyCode::Char('q')) => return Ok(Then::Quit),
            _ if interrupt => return Ok(Then::Quit),
            (View::List, KeyCode::Esc) => return Ok(Then::Quit),
            (View::One(_), KeyCode::Esc | KeyCode::Left | KeyCode::Backspace) if self.only_one => {
                return Ok(Then::Quit);
            }
            (View::One(_), KeyCode::Esc | KeyCode::Left | KeyCode::Backspace) => self.view = View::List,
            (View::List, KeyCode::Up | KeyCode::Char('k')) => self.list.rows.select_previous(),
            (View::List, KeyCode::Down | KeyCode::Char('j')) => self.list.rows.select_next(),
            (View::One(one), KeyCode::Up | KeyCode::Char('k')) => one.rows.select_previous(),
            (View::One(one), KeyCode::Down | KeyCode::Char('j')) => one.rows.select_next(),
            (View::List, KeyCode::Enter | KeyCode::Right) => {
                if let Some(plan) = self.list.chosen() {
                    let standing = Standing::read(self.store, plan.as_str()).await?.foreseen();
                    self.view = View::One(Box::new(One::new(standing)));
                }
            }
            _ => {} // no meaning
        }
        Ok(Then::Stay)
    }
}
