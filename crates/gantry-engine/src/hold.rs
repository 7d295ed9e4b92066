//! A plan in one's own hands: nobody else works on it, nothing of it runs, and what is said to it is recorded.

use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::{Room, Scarce};
use gantry_store::{Append, Card, Claim, Home, Turn};

use crate::card::{artifacts_of, card_of, texts_of_changes};
use crate::cause::Cause;
use crate::crash::crash_point;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::load::{Opened, open};

/// A plan that this process alone may work on, as long as this lives.
pub struct Held {
    engine: Engine,
    plan: PlanId,
    opened: Opened,
    _claim: Claim,
}

impl Engine {
    /// Takes a plan into one's own hands, unless someone works on it.
    pub async fn hold(&self, plan: &PlanId) -> Result<Held, EngineError> {
        let no = self.store().plan(plan.as_str()).await?.no;
        let claim = self.store().claim(no).await?.ok_or_else(|| EngineError::Driven { plan: plan.to_string() })?;
        // Read after the claim was taken: from here on nobody else moves it.
        let opened = open(&**self.store(), plan).await?;
        Ok(Held { engine: self.clone(), plan: plan.clone(), opened, _claim: claim })
    }
}

impl Held {
    /// The plan as it stands.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Records a note.
    pub async fn note(&mut self, by: &str, text: &str) -> Result<(), EngineError> {
        self.record(by, text, self.opened.home.clone()).await
    }

    /// Records where a plan that came from elsewhere works from now on, and the names of the secrets that it is given.
    pub async fn settle(&mut self, by: &str, home: Home) -> Result<(), EngineError> {
        let secrets = match home.secrets.as_slice() {
            [] => "no secrets".to_owned(),
            names => format!("the secrets {}", names.join(", ")),
        };
        let text = format!("it works in {} from now on, with {secrets}", home.workspace);
        self.record(by, &text, Some(home)).await
    }

    async fn record(&mut self, by: &str, text: &str, home: Option<Home>) -> Result<(), EngineError> {
        let input = Input::Note { task: None, by: by.to_owned(), text: text.to_owned() };
        let (life, length) = (self.opened.life.clone(), self.opened.life.length());
        let mut draft = life.draft(self.engine.shared.clock.now(), Room::NONE);
        draft.take(&input).map_err(EngineError::Refused)?;
        let verdict = draft.close();
        let card = card_of(&verdict.life, &self.opened.origin, self.opened.forked_from.as_ref());
        let entries = verdict.events;
        let (artifacts, texts) =
            (artifacts_of(&entries, std::iter::once(&input)), texts_of_changes(&entries, &verdict.life));
        let at = entries.last().map(|entry| entry.at).unwrap_or_default();
        let inputs = Cause::Decided { inputs: vec![input], room: Room::NONE, scarce: Scarce::new() }.to_json();
        let turn = Turn { first_seq: length + 1, inputs, entries, at };
        let append = Append::new(self.plan.clone(), length, turn, Card { home, ..card });
        let _ = self.engine.store().append(Append { artifacts, texts, ..append }).await?;
        crash_point("after_note");
        self.opened = open(&**self.engine.store(), &self.plan).await?;
        Ok(())
    }
}
