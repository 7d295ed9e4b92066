//! Statements to be tested, and what speaks for and against them.

use axum::extract::State;
use gantry_core::event::Event;
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::plan::Hypothesis;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::steer::say;
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::Items;

/// Evidence for or against a hypothesis.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEvidence {
    /// supports, `strongly_supports`, neutral, refutes or `strongly_refutes`.
    pub direction: String,
    /// What it is.
    pub evidence: String,
}

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.get(
        "/api/v1/plans/{plan}/hypotheses",
        Role::Viewer,
        hypotheses,
        Does::new("hypotheses", "Statements to be tested, their evidence, and how sure one is")
            .gives::<Items>(200, "The statements."),
    )
    .post(
        "/api/v1/plans/{plan}/hypotheses/{name}/evidence",
        Role::Operator,
        evidence,
        Does::new("hypotheses", "Add evidence for or against a statement").takes::<NewEvidence>().heard(),
    )
}

/// All statements to be tested.
pub async fn hypotheses(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    Ok(Told(json!({"items": all(&app, &id).await?})))
}

/// All statements to be tested, each with its evidence and how sure one was after it.
pub async fn all(app: &App, id: &PlanId) -> Result<Vec<Value>, Problem> {
    let life = app.engine().open(id).await?.life;
    let entries = gantry_engine::entries(app.store(), id).await?;
    let mut statements: Vec<Hypothesis> = life.header().hypotheses.clone();
    for entry in &entries {
        if let Event::HypothesisAdded { hypothesis } = &entry.event
            && !statements.iter().any(|known| known.id == hypothesis.id)
        {
            statements.push(hypothesis.clone());
        }
    }
    let beliefs: std::collections::BTreeMap<&str, _> = life.beliefs().collect();
    let item = |Hypothesis { id, statement, confidence: prior, .. }: &Hypothesis| {
        let evidence = entries.iter().filter_map(|entry| match &entry.event {
            Event::EvidenceAdded { hypothesis, direction, evidence, by, confidence } if hypothesis == id => Some(
                json!({"at": entry.at, "seq": entry.seq, "direction": direction, "evidence": evidence, "by": by, "confidence": confidence}),
            ),
            _ => None,
        });
        let evidence: Vec<Value> = evidence.collect();
        json!({
            "id": id, "statement": statement, "prior": prior, "confidence": beliefs.get(id.as_str()), "evidence": evidence,
        })
    };
    Ok(statements.iter().map(item).collect())
}

/// Evidence for or against a statement.
pub async fn evidence(
    State(app): State<App>,
    who: Who,
    Named((plan, name)): Named<(String, String)>,
    Said(said): Said<NewEvidence>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let direction = serde_json::from_value(json!(said.direction)).map_err(|_| {
        Problem::unfit(
            "hypothesis::direction",
            "`direction` is supports, strongly_supports, neutral, refutes or strongly_refutes",
        )
    })?;
    let input = Input::Evidence { hypothesis: name, direction, evidence: said.evidence, by: who.name };
    say(&app, &id, input).await
}
