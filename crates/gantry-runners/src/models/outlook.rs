//! What a task would ask of models, before it is done.

use gantry_core::effect::Failure;
use gantry_core::plan::Action;
use gantry_core::policy::Usage;

use serde_json::Value;

use super::{Models, Question, Talk};
use crate::agent::{self, critique_of};
use crate::judge;
use crate::model;
use crate::secrets::Secrets;
use crate::work::Work;

/// What a task would ask of models.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// Who would be asked first, as `provider:model`.
    pub target: String,
    /// How many questions are asked at most. Repairs and repetitions come on top.
    pub questions_max: u32,
    /// What they may use, without what tools give and without inputs that are not known yet.
    pub usage: Usage,
    /// The price of the model is known.
    pub priced: bool,
}

impl Models {
    /// Says what some work would ask of models; nothing when it asks none. Nobody is asked.
    pub async fn foresee(&self, work: &Work) -> Result<Option<Outlook>, Failure> {
        let (question, questions_max) = match &work.action {
            Action::Model(asked) => (model::question(work, asked, self.talk()?)?, 1),
            Action::Decide(decide) => (model::decision(work, decide), 1),
            Action::Agent(asked) => agent::first_question(asked, work),
            _ => return Ok(None),
        };
        self.outlook(question, questions_max, work).await.map(Some)
    }

    /// Says what judging these checks of a result would ask of models; with what is asked of a critic when one fails.
    pub async fn foresee_judging(&self, work: &Work, checks: &[String]) -> Result<Vec<Outlook>, Failure> {
        if checks.is_empty() {
            return Ok(Vec::new());
        }
        let (judged, questions_max) = judge::first_question(checks);
        let judge = self.outlook(judged, questions_max, work).await?;
        let critic = self.outlook(critique_of(&work.brief.title, &checks[..1], &Value::Null, 0), 1, work).await?;
        Ok(vec![judge, critic])
    }

    async fn outlook(&self, question: Question<'_>, questions_max: u32, work: &Work) -> Result<Outlook, Failure> {
        let talk = self.talk()?;
        let question = with_examples(question, talk);
        let request = question.request(talk, work, &Secrets::none())?;
        let foreseen = self.gateway().await?.foresee(&request)?;
        let usage = (0..questions_max).fold(Usage::default(), |sum, _| sum.plus(foreseen.usage));
        Ok(Outlook { target: foreseen.target, questions_max, usage, priced: foreseen.priced })
    }
}

/// An input that is not known yet is as long as its example.
fn with_examples<'a>(mut question: Question<'a>, talk: &Talk) -> Question<'a> {
    let declared = talk.prompts.inputs(&question.prompt, &talk.locale).unwrap_or_default();
    for input in declared.iter().filter(|input| input.required) {
        if question.inputs.get(&input.name).is_none_or(serde_json::Value::is_null) {
            question.inputs.insert(input.name.clone(), input.example.clone());
        }
    }
    question
}
