//! Who is asked, one after the other.

use crate::config::LeftOut;
use crate::error::AskError;
use crate::request::Request;
use crate::target::{Protocol, Target};

use super::Gateway;

/// Knows who answers for which role.
pub trait Chains: Send + Sync {
    /// The models that are asked for a role, or for one model by name, in order; the error says what to do.
    fn chain(&self, role: &str, model: Option<&str>) -> Result<Vec<Target>, String>;

    /// Who is to answer first by what somebody said, and cannot be asked; then whoever answers does so in its place.
    fn missing(&self, _role: &str, _model: Option<&str>) -> Option<LeftOut> {
        None
    }

    /// The names of models that are likely meant by one that its provider does not know.
    fn near(&self, _model: &str) -> Vec<String> {
        Vec::new()
    }

    /// Tells whether falling back to the offline model is forbidden.
    fn strict(&self) -> bool {
        false
    }

    /// What holds for the roles of teams.
    fn team(&self) -> Team {
        Team::default()
    }
}

/// What holds for the roles of teams (`team.…`) alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Team {
    /// How many of their questions are under way at once; none means any number.
    pub workers_max: Option<u32>,
    /// How often an answer that should be Korean and is not is asked for again; then it is taken as it is.
    pub korean_retries: u32,
}

/// Tells whether a role is one of a team.
pub(super) fn is_of_team(role: &str) -> bool {
    role.starts_with("team.")
}

impl Gateway {
    /// The chain of a request. The offline model stands at its end, unless that is forbidden; as the first choice it
    /// is no fallback and may stay.
    pub(super) fn chain(&self, request: &Request, strict: bool) -> Result<Vec<Target>, AskError> {
        let strict = strict || self.chains.strict();
        let found = self.chains.chain(&request.role, request.model.as_deref()).map_err(AskError::Configuration)?;
        let offline = |target: &Target| target.protocol == Protocol::Offline;
        let mut chain: Vec<Target> = Vec::new();
        for (place, target) in found.into_iter().enumerate() {
            if place == 0 || !(offline(&target) && strict) {
                chain.push(target);
            }
        }
        let can_fall_back = self.providers.contains_key(&Protocol::Offline) && !strict;
        if can_fall_back && !chain.iter().any(offline) {
            chain.push(Target::offline());
        }
        Ok(chain)
    }

    /// Tells whether everyone who is asked for a role calls tools by itself. The offline model calls none, and is asked
    /// only when all others fail.
    pub fn calls_tools(&self, role: &str, model: Option<&str>) -> bool {
        let chain = self.chains.chain(role, model).unwrap_or_default();
        let mut asked = chain.iter().filter(|target| target.protocol != Protocol::Offline).peekable();
        asked.peek().is_some() && asked.all(|target| target.tools)
    }
}
