//! The templates that are part of this program.

use super::{BUILT_IN, DEFAULT, Template};

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../../../../templates/execution-plan/", $path)))),*]
    };
}

macro_rules! steps {
    ($($step:literal),* $(,)?) => {
        [$([
            (concat!("prompts/", $step, ".mul.md"), include_str!(concat!("../../../../templates/execution-plan/prompts/", $step, ".mul.md"))),
            (concat!("prompts/schemas/", $step, ".json"), include_str!(concat!("../../../../templates/execution-plan/prompts/schemas/", $step, ".json"))),
            (concat!("offline/", $step, ".yaml"), include_str!(concat!("../../../../templates/execution-plan/offline/", $step, ".yaml"))),
        ]),*]
    };
}

const FILES: [(&str, &str); 3] = files!["plan.yaml", "checklist.yaml", "report.yaml"];

const STEPS: [[(&str, &str); 3]; 23] = steps![
    "adherence",
    "assumptions",
    "audit",
    "data",
    "documents",
    "experts",
    "goals",
    "governance",
    "levers",
    "phases",
    "pitch",
    "premise",
    "premortem",
    "questions",
    "related",
    "review",
    "risks",
    "scenarios",
    "summary",
    "swot",
    "tasks",
    "team",
    "understand",
];

pub(super) fn templates() -> Vec<Template> {
    let files = FILES.iter().chain(STEPS.as_flattened());
    let files = files.map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    vec![Template { name: DEFAULT.to_owned(), from: BUILT_IN.to_owned(), files, unreadable: None }]
}
