//! Gates: automatic checks when they open, then people.

use std::collections::BTreeSet;

use super::draft::Draft;
use super::scope::Sight;
use super::state::{State, Waiting};
use super::{Life, Refusal};
use crate::effect::{Effect, Failure};
use crate::event::{Event, Outputs, Source};
use crate::id::{TaskId, TaskNo};
use crate::input::{Decision, GateDecision, Verdict as Judgement};
use crate::plan::{Action, Check, Gate, On, Stakeholder, deploys, is_same};
use crate::policy::FailureClass;

/// The outcome of a gate that sent work back.
pub(super) const NEEDS_CHANGES: &str = "needs_changes";

impl Draft {
    pub(super) fn open_gate(&mut self, no: TaskNo, gate: &Gate) {
        let findings = self.test_checks(no, gate);
        let failed = findings.iter().find(|finding| !finding.holds).cloned();
        let needed = gate.approvals_needed();
        let revision = self.life.revision;
        self.record(Event::GateOpened { task: self.id(no), needed, revision, findings });
        if let Some(finding) = failed {
            return self.give_up_as(no, Failure::new(FailureClass::Logic, finding.because), Some("rejected"));
        }
        if needed == 0 {
            return self.pass_gate(no, gate, &[]);
        }
        let to = gate.role.clone().unwrap_or_default();
        let text = format!("{needed} approval{} needed", if needed == 1 { " is" } else { "s are" });
        self.wish(Effect::Notify { to, task: Some(self.id(no)), text });
    }

    fn test_checks(&self, no: TaskNo, gate: &Gate) -> Vec<Judgement> {
        let sight = Sight::of(&self.life, Some(no));
        let test = |check: &Check| {
            let Check::Expr(expr) = check else { return None };
            let (holds, because) = match expr.test(&sight) {
                Ok(finding) => (finding.holds, finding.because),
                Err(error) => (false, error.to_string()),
            };
            Some(Judgement { check: expr.source().to_owned(), holds, because, another_way: false })
        };
        gate.checks.iter().filter_map(test).collect()
    }

    fn pass_gate(&mut self, no: TaskNo, gate: &Gate, approved_by: &[String]) {
        let outputs = Outputs::from([("approved_by".to_owned(), serde_json::json!(approved_by))]);
        // What people have approved is judged; without people the words are for the judge.
        let words = if approved_by.is_empty() {
            gate.checks
                .iter()
                .filter(|check| matches!(check, Check::Words(_)))
                .map(|check| check.text().to_owned())
                .collect()
        } else {
            Vec::new()
        };
        self.accept_with_words(no, outputs, Some("approved".to_owned()), Source::Made, words);
    }

    /// Takes several decisions at once: all are allowed, or none is taken.
    pub(super) fn review(&mut self, by: &str, role: Option<&str>, decisions: &[GateDecision]) -> Result<(), Refusal> {
        let mut seen: Vec<&TaskId> = Vec::new();
        for decision in decisions {
            if seen.contains(&&decision.gate) {
                return Err(Refusal::DecidedAlready { gate: decision.gate.to_string() });
            }
            seen.push(&decision.gate);
            self.life.may_decide(by, role, decision)?;
        }
        for decision in decisions {
            self.record(Event::GateDecided {
                task: decision.gate.clone(),
                by: by.to_owned(),
                role: role.map(str::to_owned),
                decision: decision.decision,
                rationale: decision.rationale.clone(),
                evidence: decision.evidence.clone(),
            });
        }
        for decision in decisions {
            self.follow_decision(by, decision, decisions)?;
        }
        Ok(())
    }

    /// Does what follows from one decision of a review, unless what followed from another one has settled it.
    fn follow_decision(&mut self, by: &str, decision: &GateDecision, all: &[GateDecision]) -> Result<(), Refusal> {
        let no = self.life.known(&decision.gate)?;
        let State::Waiting(Waiting::Gate { needed, approved_by, .. }) = &self.life.task(no).state else {
            return Ok(());
        };
        let Some(Action::Gate(gate)) = self.life.node(no).task.action.clone() else { return Ok(()) };
        if !self.life.is_under_way() {
            return Ok(());
        }
        match decision.decision {
            Decision::Approve => {
                if approved_by.len() >= *needed as usize {
                    let approved_by = approved_by.clone();
                    self.pass_gate(no, &gate, &approved_by);
                }
            }
            Decision::Reject => {
                let message = format!("{by} rejected it: {}", decision.rationale);
                self.give_up_as(no, Failure::new(FailureClass::Policy, message), Some("rejected"));
            }
            Decision::NeedsChanges => {
                if !self.take_forward(no, &On::Outcome(NEEDS_CHANGES.to_owned())) {
                    let (targets, max) = self.life.way_back(no, &gate);
                    let why = format!("{by} wants changes: {}", self.life.changes_wanted(&targets, decision, all));
                    self.begin_round(no, &targets, max, &why)
                        .map_err(|reason| Refusal::NoMoreRounds { gate: decision.gate.to_string(), reason })?;
                }
                self.record_completed(no, Outputs::new(), Some(NEEDS_CHANGES.to_owned()), Source::Made, Vec::new());
            }
        }
        Ok(())
    }
}

impl Life {
    /// Tells whether a task must not begin because nobody has approved a gate on the way to it.
    pub(super) fn lacks_gate(&self, no: TaskNo) -> bool {
        self.header.policy.require_gate_for_prod && deploys(&self.node(no).task) && !self.is_let_through(no)
    }

    /// Tells whether people have approved a gate on the way to a task.
    fn is_let_through(&self, no: TaskNo) -> bool {
        let approved = |no: TaskNo| {
            let life = self.task(no);
            let by = life.outputs.get("approved_by").and_then(serde_json::Value::as_array);
            let by_people = self.node(no).is_gate() && by.is_some_and(|people| !people.is_empty());
            by_people && life.state == State::Completed && life.outcome.as_deref() == Some("approved")
        };
        let (mut seen, mut stack) = (BTreeSet::new(), vec![no]);
        while let Some(at) = stack.pop() {
            if at != no && approved(at) {
                return true;
            }
            if seen.insert(at) {
                let node = self.node(at);
                let led_here = node.routed_from.iter().filter(|from| self.task(**from).taken.contains(&at));
                stack.extend(node.waits.iter().chain(led_here).chain(&node.parent));
            }
        }
        false
    }

    /// Tells whether this person may take this decision now.
    fn may_decide(&self, by: &str, role: Option<&str>, decision: &GateDecision) -> Result<(), Refusal> {
        let gate_id = decision.gate.to_string();
        let no = self.no(decision.gate.as_str()).ok_or_else(|| Refusal::UnknownTask { task: gate_id.clone() })?;
        let Some(Action::Gate(gate)) = &self.node(no).task.action else {
            return Err(Refusal::NotAGate { task: gate_id });
        };
        if !self.is_under_way() {
            return Err(Refusal::WrongState { verb: "decided about", state: self.state() });
        }
        let State::Waiting(Waiting::Gate { approved_by, .. }) = &self.task(no).state else {
            return Err(if self.task(no).state.is_final() {
                Refusal::DecidedAlready { gate: gate_id }
            } else {
                Refusal::NotWaitingFor { task: gate_id, what: "a decision".to_owned() }
            });
        };
        if let Some(seen) = decision.revision.filter(|seen| *seen < self.revision) {
            return Err(Refusal::OldRevision { seen, current: self.revision });
        }
        // Only what is really missing is named.
        let needed_role = gate.role.clone().filter(|needed| !role.is_some_and(|role| is_same(role, needed)));
        let listed = gate.approvers.is_empty() || gate.approvers.iter().any(|name| is_same(name, by));
        if !listed || needed_role.is_some() {
            let approvers = if listed { Vec::new() } else { gate.approvers.clone() };
            return Err(Refusal::NotAllowed { gate: gate_id, by: by.to_owned(), role: needed_role, approvers });
        }
        self.may_be(by, role)?;
        if decision.decision == Decision::Approve && approved_by.iter().any(|name| is_same(name, by)) {
            return Err(Refusal::ApprovedAlready { gate: gate_id, by: by.to_owned() });
        }
        if decision.decision == Decision::Approve
            && let Some(missing) = gate.evidence.iter().find(|needed| !decision.evidence.contains(needed))
        {
            return Err(Refusal::Incomplete { task: gate_id, missing: format!("the evidence `{missing}`") });
        }
        Ok(())
    }

    /// Where the plan says who has a role, nobody else has it.
    pub(super) fn may_be(&self, by: &str, role: Option<&str>) -> Result<(), Refusal> {
        let Some(role) = role else { return Ok(()) };
        let has_role = |person: &&Stakeholder| person.role.as_deref().is_some_and(|of_person| is_same(of_person, role));
        let people: Vec<&str> =
            self.header.stakeholders.iter().filter(has_role).map(|person| person.name.as_str()).collect();
        if people.is_empty() || people.iter().any(|name| is_same(name, by)) {
            return Ok(());
        }
        let people = people.into_iter().map(str::to_owned).collect();
        Err(Refusal::NotInRole { by: by.to_owned(), role: role.to_owned(), people })
    }

    /// What one round is to change: what is said at this gate, and in the same review at others that go back to the same.
    fn changes_wanted(&self, targets: &[TaskNo], decision: &GateDecision, all: &[GateDecision]) -> String {
        let goes_there = |other: &&GateDecision| {
            let no = self.no(other.gate.as_str()).filter(|_| other.decision == Decision::NeedsChanges);
            let gate = no.and_then(|no| self.node(no).task.action.as_ref().map(|action| (no, action)));
            other.gate != decision.gate
                && matches!(gate, Some((no, Action::Gate(gate))) if self.way_back(no, gate).0 == targets)
        };
        let others = all.iter().filter(goes_there).map(|other| other.rationale.as_str());
        let mut all: Vec<&str> = std::iter::once(decision.rationale.as_str()).chain(others).collect();
        all.dedup();
        all.join("; ")
    }

    /// Where "needs changes" goes back to, and how often it may.
    fn way_back(&self, no: TaskNo, gate: &Gate) -> (Vec<TaskNo>, u32) {
        let task = &self.node(no).task;
        let max = self.header.policy.rounds_limit(gate.rounds_max);
        let route =
            task.next.iter().find(|route| route.on == On::Outcome(NEEDS_CHANGES.to_owned()) && route.max.is_some());
        if let Some(route) = route {
            return (self.no(route.to.as_str()).into_iter().collect(), self.header.policy.rounds_limit(route.max));
        }
        match gate.back_to.as_ref().and_then(|id| self.no(id.as_str())) {
            Some(back_to) => (vec![back_to], max),
            None => (self.node(no).waits.iter().chain(&self.node(no).routed_from).copied().collect(), max),
        }
    }
}
