//! Plans of every shape, made of random bytes.
//!
//! The bytes are thrown like dice. When they run out every throw is zero, which always means "leave
//! it out", so a failing case shrinks to a small plan.

mod schedule; // what a schedule is made of

use std::collections::BTreeMap;

use gantry_core::expr::Expr;
use gantry_core::id::{PlanId, TaskId};
use gantry_core::plan::{
    Action, Adopt, Agent, ArtifactDecl, Ask, Branch, Capability, Check, Checkpoint, Choice, Command, Compute,
    Confidence, Decide, Escalation, Estimate, FailureMode, Gate, Hypothesis, Idempotency, InitialStatus, Input, Kind,
    Manual, Map, Model, Money, Nested, On, Output, Plan, PlanArtifact, Reference, ResourceUse, Retention, Risk, Route,
    Run, Scheduling, Scope, Stakeholder, Strategy, Task, Tool, Undo, UndoTo, Wait,
};
use gantry_core::policy::{
    Budget, CommandScope, FileScope, Judge, NetworkScope, Policy, ProseBy, Recovery, Remedy, Retry, ToolScope,
};
use gantry_core::time::{Duration, Timestamp};
use serde_json::Value;

/// Texts that some reader of YAML or JSON takes for something else, or cannot take at all.
const TEXTS: [&str; 72] = [
    "",
    "no",
    "Yes",
    "on",
    "OFF",
    "y",
    "~",
    "null",
    "true",
    "010",
    "0x1F",
    "0o7",
    "1e3",
    "-1",
    "+1",
    ".5",
    "1.",
    "1_000",
    "1:30",
    "2025-10-30",
    "2025-10-30T00:00:00Z",
    ".inf",
    ".NaN",
    "plain words",
    " lead",
    "trail ",
    "\tx",
    "x\t",
    "a: b",
    "a:",
    ":a",
    "a #b",
    "#a",
    "- a",
    "-",
    "? a",
    "?",
    "*a",
    "&a",
    "!a",
    "%a",
    "@a",
    "`a`",
    "|",
    ">",
    "|-",
    "[a]",
    "{a}",
    "a, b",
    "'",
    "\"",
    "\\",
    "\\n",
    "say \"no\"",
    "it's",
    "two\nlines",
    "ends\n",
    "ends\n\n",
    "\nstarts",
    "\n",
    "a\n b\n",
    " a\nb",
    "a \nb",
    "a\r\nb",
    "a\rb",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\u{1b}[0m",
    "---\na",
    "...",
    "été 日本 \u{1f600}",
];

pub struct Dice<'b> {
    bytes: std::slice::Iter<'b, u8>,
    /// How much deeper actions may contain tasks and plans.
    depth: usize,
}

/// Makes a plan of bytes.
pub fn plan(bytes: &[u8]) -> Plan {
    Dice { bytes: bytes.iter(), depth: 2 }.plan()
}

impl Dice<'_> {
    pub fn throw(&mut self, sides: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % sides
    }

    /// One in three, so that plans stay small.
    pub fn yes(&mut self) -> bool {
        self.throw(3) == 1
    }

    pub fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.yes().then(|| make(self))
    }

    fn some<T: Default>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        self.maybe(make).unwrap_or_default()
    }

    pub fn list<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let length = if self.yes() { self.throw(4) } else { 0 };
        (0..length).map(|_| make(self)).collect()
    }

    fn map<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> BTreeMap<String, T> {
        self.list(|dice| (dice.text(), make(dice))).into_iter().collect()
    }

    pub fn text(&mut self) -> String {
        match self.throw(TEXTS.len() + 24) {
            known if known < TEXTS.len() => TEXTS[known].to_owned(),
            _ => (0..self.throw(12)).map(|_| self.letter()).collect(),
        }
    }

    /// A text that says something: names of people, commands and the like may not be empty.
    fn word(&mut self) -> String {
        Some(self.text()).filter(|text| !text.trim().is_empty()).unwrap_or_else(|| "word".to_owned())
    }

    fn folder(&mut self) -> String {
        format!("in/{}", self.word().replace("..", "."))
    }

    fn letter(&mut self) -> char {
        let code = u32::try_from(self.throw(256) << self.throw(10)).unwrap_or(0);
        char::from_u32(code).filter(|letter| *letter != '\0').unwrap_or('x')
    }

    pub fn texts(&mut self) -> Vec<String> {
        self.list(Self::text)
    }

    fn number(&mut self) -> u32 {
        u32::try_from(self.throw(256) << self.throw(20)).unwrap_or(0)
    }

    fn duration(&mut self) -> Duration {
        Duration::from_ms(1 + u64::from(self.number()))
    }

    fn timestamp(&mut self) -> Timestamp {
        Timestamp::from_ms(i64::from(self.number()) * 60_000)
    }

    fn money(&mut self) -> Money {
        Money(u64::from(self.number()) * [1, 10_000, 1_000_000][self.throw(3)])
    }

    fn confidence(&mut self) -> Confidence {
        Confidence::from_permille(u16::try_from(self.number() % 1_001).unwrap_or(0))
    }

    fn json(&mut self, depth: usize) -> Value {
        match self.throw(if depth == 0 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => Value::Bool(self.yes()),
            2 => self.number().into(),
            3 => (-i64::from(self.number())).into(),
            4 => (f64::from(self.number()) / 7.0).into(),
            5 => self.text().into(),
            6 => (0..self.throw(4)).map(|_| self.json(depth - 1)).collect(),
            _ => Value::Object((0..self.throw(4)).map(|_| (self.text(), self.json(depth - 1))).collect()),
        }
    }

    fn input(&mut self) -> Input {
        match self.throw(3) {
            0 => Input::Value(self.json(2)),
            1 => Input::Value("memory.looks.like.one".into()),
            _ => Input::From(Reference::Memory { key: "http3.terms".to_owned() }),
        }
    }

    fn check(&mut self) -> Check {
        match self.throw(4) {
            0 => Check::read(&self.word()),
            1 => Check::read("inputs.level >= 2 && env.CI == \"1\""),
            2 => Check::Words("inputs.level >= 2".to_owned()),
            _ => Check::Expr(self.expr()),
        }
    }

    fn expr(&mut self) -> Expr {
        let sources = ["true", "inputs.level > 3", "memory.has_space >= 50MB", "1 == 1"];
        Expr::parse(sources[self.throw(sources.len())]).expect("the expression is one")
    }

    fn retry(&mut self) -> Retry {
        let (backoff, backoff_max) = (Duration::from_ms(u64::from(self.number())), self.duration());
        Retry { max: self.number() % 1_001, backoff, backoff_max }
    }

    fn budget(&mut self) -> Budget {
        Budget {
            time: self.maybe(Self::duration),
            cost_usd: self.maybe(Self::money),
            model_calls: self.maybe(|dice| dice.number().into()),
            tokens: self.maybe(|dice| dice.number().into()),
            nodes: self.maybe(|dice| dice.number().into()),
            depth: self.maybe(Self::number),
            branches: self.maybe(Self::number),
        }
    }

    fn policy(&mut self) -> Policy {
        let remedies = [
            Remedy::Retry,
            Remedy::Repair,
            Remedy::Alternate,
            Remedy::Fallback,
            Remedy::Undo,
            Remedy::Escalate,
            Remedy::Abort,
        ];
        Policy {
            budget: self.some(Self::budget),
            files: FileScope { read: self.texts(), write: self.texts() },
            network: NetworkScope { allow: self.texts() },
            commands: CommandScope { allow: self.texts(), deny: self.texts() },
            tools: ToolScope { allow: self.texts(), deny: self.texts(), approve: self.texts() },
            parallel: self.maybe(|dice| 1 + dice.number()),
            capabilities: self.map(|dice| 1 + dice.number()),
            retry: self.maybe(Self::retry),
            recovery: self.some(|dice| Recovery {
                transient: dice.list(|dice| remedies[dice.throw(7)]),
                logic: dice.list(|dice| remedies[dice.throw(7)]),
                repairs_max: dice.number(),
                ..Recovery::default()
            }),
            judge: [Judge::Nobody, Judge::Person, Judge::Model][self.throw(3)],
            prose: [ProseBy::Person, ProseBy::Model, ProseBy::Agent][self.throw(3)],
            rounds_max: self.maybe(Self::number),
            map_max: self.maybe(Self::number),
            fail_fast: self.yes(),
            strict: self.yes(),
            agent_planning: self.yes(),
            require_gate_for_prod: false,
            checkpoint_each_task: self.yes(),
            escalate_after: self.maybe(Self::duration),
            data: self.texts(),
        }
    }

    fn plan(&mut self) -> Plan {
        let names =
            |prefix: &str, count: usize| (0..count).map(|number| format!("{prefix}{number}")).collect::<Vec<_>>();
        let mut plan = Plan {
            id: self.maybe(|_| PlanId::slugged("plan-release-7f3k")),
            title: self.text(),
            objective: self.text(),
            scope: Scope { included: self.texts(), excluded: self.texts() },
            constraints: self.texts(),
            deadline: self.maybe(Self::timestamp),
            done_when: self.list(Self::check),
            stakeholders: Vec::new(),
            owner: self.maybe(Self::text),
            policy: self.some(Self::policy),
            hypotheses: Vec::new(),
            memory: self.texts(),
            artifacts: Vec::new(),
            capabilities: Vec::new(),
            labels: self.texts(),
            locale: self.maybe(Self::text),
            created_at: self.maybe(Self::timestamp),
            version: self.maybe(Self::number),
            schedule: Scheduling::default(),
            metadata: self.map(|dice| dice.json(3)),
            tasks: Vec::new(),
        };
        for name in names("person ", self.throw(3)) {
            plan.stakeholders.push(Stakeholder { name, role: None, contact: self.maybe(Self::text) });
        }
        for name in names("tool-", self.throw(3)) {
            plan.capabilities.push(Capability {
                name,
                description: self.maybe(Self::text),
                arguments: self.maybe(|_| serde_json::json!({"type": "object"})),
                result: None,
                preconditions: self.list(Self::check),
                risks: Vec::new(),
                mutates: self.throw(2) == 0,
            });
        }
        for id in names("H", self.throw(3)) {
            plan.hypotheses.push(Hypothesis { id, statement: self.maybe(Self::text), confidence: self.confidence() });
        }
        for number in 0..self.throw(7) {
            let task = self.task(number, &plan);
            plan.tasks.push(task);
        }
        plan.sort_tree();
        if let Some(task) = plan.tasks.first().filter(|_| self.yes()) {
            plan.artifacts.push(PlanArtifact { name: self.word(), from: task.id.clone() });
        }
        if self.yes() {
            plan.schedule = self.schedule(&plan);
        }
        plan
    }

    /// Makes a task that contains, waits for and goes back to earlier ones only, so that the plan
    /// is one that may begin.
    fn task(&mut self, number: usize, plan: &Plan) -> Task {
        let ids = ["build", "check-db", "_x", "7", "no", "implement-A", "null"];
        let mut task = self.contract(TaskId::new(ids[number]).expect("an id"));
        if let Some(parent) = plan.tasks.last().filter(|_| self.yes()) {
            task.parent = Some(parent.id.clone());
        } else if let Some(before) = plan.tasks.last().filter(|before| before.parent.is_none() && self.yes()) {
            task.depends_on.push(before.id.clone());
        }
        if let (Some(back), true) = (task.depends_on.first(), self.yes()) {
            let on = [On::Failure, On::Success, On::Always][self.throw(3)].clone();
            task.next.push(Route { on, to: back.clone(), max: Some(1 + self.number()), when: self.maybe(Self::expr) });
        }
        task
    }

    /// Makes everything of a task but its place in the plan.
    fn contract(&mut self, id: TaskId) -> Task {
        let likely = self.duration();
        let mut task = Task {
            title: self.text(),
            description: self.maybe(Self::text),
            purpose: self.maybe(Self::text),
            kind: self.maybe(|dice| Kind::new(["research", "implement", "a b", "010"][dice.throw(4)])),
            action: self.maybe(Self::action),
            optional: self.yes(),
            status: [InitialStatus::Pending, InitialStatus::Completed, InitialStatus::Skipped][self.throw(3)],
            inputs: self.map(Self::input),
            assumptions: self.texts(),
            risks: self.list(|dice| Risk {
                name: dice.text(),
                likelihood: dice.maybe(Self::confidence),
                impact: dice.maybe(Self::text),
                mitigation: dice.maybe(Self::text),
            }),
            preconditions: self.list(Self::check),
            postconditions: self.list(Self::check),
            effects: self.texts(),
            success_criteria: self.list(Self::check),
            failure_modes: self.list(|dice| FailureMode {
                name: dice.word(),
                detect: dice.maybe(Self::check),
                recover: dice.maybe(Self::word),
            }),
            outputs: self.map(|dice| Output {
                from: dice.text(),
                r#type: dice.maybe(Self::text),
                description: dice.maybe(Self::text),
            }),
            artifacts: self.list(|dice| ArtifactDecl {
                name: dice.word(),
                r#type: dice.maybe(Self::text),
                retention: match dice.throw(4) {
                    0 => Retention::Plan,
                    1 => Retention::Task,
                    2 => Retention::Forever,
                    _ => Retention::For(dice.duration()),
                },
            }),
            capabilities: self.texts(),
            environment: self.map(Self::text),
            budget: Budget { depth: self.maybe(Self::number), branches: self.maybe(Self::number), ..Budget::default() },
            retry: self.maybe(Self::retry),
            timeout: self.maybe(Self::duration),
            heartbeat: self.maybe(Self::duration),
            timebox: self.maybe(Self::duration),
            deadline: self.maybe(Self::timestamp),
            escalation: self.maybe(|dice| Escalation {
                after: dice.duration(),
                to: dice.texts(),
                levels: 1 + dice.number(),
            }),
            estimate: self.maybe(|_| Estimate { low: Duration::from_ms(0), likely, high: likely.times(2) }),
            resources: self.list(|dice| ResourceUse {
                name: dice.word(),
                amount: dice.maybe(Self::number),
                cost_per_hour: dice.maybe(Self::money),
            }),
            owner: self.maybe(Self::text),
            priority: self.maybe(|dice| -i32::try_from(dice.number()).unwrap_or(1)),
            labels: self.texts(),
            undo: match self.throw(5) {
                0 | 1 => Undo::None,
                2 => Undo::Restore,
                3 => Undo::Never,
                _ => Undo::Action(Box::new(self.work())),
            },
            verify: self.maybe(|dice| Box::new(dice.work())),
            idempotency: self.maybe(|dice| [Idempotency::Safe, Idempotency::Keyed, Idempotency::Unsafe][dice.throw(3)]),
            alternates: self.list(Self::work),
            fallback: self.maybe(|dice| dice.map(|dice| dice.json(1))),
            rationale: self.maybe(Self::text),
            metadata: self.map(|dice| dice.json(2)),
            ..Task::new(id)
        };
        // Only what a capability does can be restored.
        let restorable = match &task.action {
            Some(Action::Run(_) | Action::Tool(_) | Action::Agent(_)) => true,
            Some(Action::Command(command)) => command.calls().is_some(),
            _ => false,
        };
        if task.undo == Undo::Restore && !restorable {
            task.undo = Undo::Never;
        }
        task
    }

    /// Something that a runner does.
    fn work(&mut self) -> Action {
        match self.throw(5) {
            0 => Action::Command(Command::new(&self.word())),
            1 => {
                Action::Run(Run { command: self.word(), shell: self.maybe(Self::text), cwd: self.maybe(Self::folder) })
            }
            2 => Action::Model(Model {
                prompt: self.maybe(Self::text),
                instruction: self.maybe(Self::text),
                role: self.maybe(Self::text),
                model: self.maybe(Self::text),
                schema: self.maybe(|dice| Value::String(dice.text())),
                settings: self.map(|dice| dice.json(1)),
            }),
            3 => Action::Tool(Tool { name: self.word(), args: self.map(|dice| Input::Value(dice.json(1))) }),
            _ => Action::Agent(Agent {
                goal: self.word(),
                strategy: [Strategy::React, Strategy::Tot, Strategy::Reflexion][self.throw(3)],
                tools: self.texts(),
                max_turns: self.maybe(|dice| 1 + dice.number()),
                role: self.maybe(Self::text),
                ..Agent::default()
            }),
        }
    }

    fn action(&mut self) -> Action {
        match self.throw(if self.depth == 0 { 13 } else { 16 }) {
            0..=4 => self.work(),
            5 => Action::Decide(Decide {
                question: self.word(),
                options: self.list(|dice| Branch { outcome: dice.word(), when: dice.maybe(Self::expr) }),
                otherwise: self.maybe(Self::word),
            }),
            6 => Action::Gate(Gate {
                checks: self.list(Self::check),
                approvals: self.maybe(|dice| 1 + dice.number()),
                evidence: self.texts(),
                r#type: self.maybe(Self::text),
                escalate_after: self.maybe(Self::duration),
                rounds_max: self.maybe(Self::number),
                ..Gate::default()
            }),
            7 => Action::Ask(Ask {
                question: self.word(),
                options: self.list(|dice| Choice {
                    name: dice.word(),
                    pros: dice.texts(),
                    cons: dice.texts(),
                    cost_usd: dice.maybe(Self::money),
                }),
                default: None,
                answer_within: self.maybe(Self::duration),
            }),
            8 => Action::Manual(Manual {
                instruction: self.text(),
                evidence: self.texts(),
                role: self.maybe(Self::text),
            }),
            9 => {
                let first = ("first".to_owned(), self.expr());
                Action::Compute(Compute(self.map(Self::expr).into_iter().chain([first]).collect()))
            }
            10 => Action::Checkpoint(Checkpoint { name: self.text(), note: self.maybe(Self::text) }),
            11 => Action::Wait(if self.yes() { Wait::Until(self.timestamp()) } else { Wait::For(self.duration()) }),
            12 => Action::UndoTo(UndoTo(self.word())),
            13 => self.deeper(|dice| {
                Action::Map(Map {
                    over: Input::Value(Value::Array(vec![dice.json(1)])),
                    r#as: ["item", "x", "no"][dice.throw(3)].to_owned(),
                    max: dice.maybe(Self::number),
                    each: dice.maybe(|dice| Box::new(dice.contract(TaskId::slugged("each")))),
                })
            }),
            14 => Action::Adopt(Adopt(Input::Value(self.json(2)))),
            _ => self.deeper(|dice| {
                Action::Plan(if dice.yes() {
                    let (template, with) = (Some(dice.word()), dice.map(|dice| Input::Value(dice.json(1))));
                    Nested { template, with, plan: None }
                } else {
                    Nested { plan: Some(Box::new(dice.plan())), ..Nested::default() }
                })
            }),
        }
    }

    fn deeper<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        self.depth -= 1;
        let made = make(self);
        self.depth += 1;
        made
    }
}
