//! The templates that are part of this program.

use super::{BUILT_IN, DEFAULT, OUTLINE, Template};

macro_rules! files {
    ($template:literal: $($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../../../../templates/", $template, "/", $path)))),*]
    };
}

macro_rules! steps {
    ($template:literal: $($step:literal),* $(,)?) => {
        [$([
            (concat!("prompts/", $step, ".mul.md"), include_str!(concat!("../../../../templates/", $template, "/prompts/", $step, ".mul.md"))),
            (concat!("prompts/schemas/", $step, ".json"), include_str!(concat!("../../../../templates/", $template, "/prompts/schemas/", $step, ".json"))),
            (concat!("offline/", $step, ".yaml"), include_str!(concat!("../../../../templates/", $template, "/offline/", $step, ".yaml"))),
        ]),*]
    };
}

const FILES: [(&str, &str); 3] = files!["execution-plan": "plan.yaml", "checklist.yaml", "report.yaml"];

const STEPS: [[(&str, &str); 3]; 23] = steps!["execution-plan":
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

const OUTLINE_FILES: [(&str, &str); 1] = files!["outline": "plan.yaml"];
const OUTLINE_STEPS: [[(&str, &str); 3]; 2] = steps!["outline": "decompose", "search"];

pub(super) fn templates() -> Vec<Template> {
    vec![template(DEFAULT, &FILES, &STEPS), template(OUTLINE, &OUTLINE_FILES, &OUTLINE_STEPS)]
}

fn template(name: &str, files: &[(&str, &str)], steps: &[[(&str, &str); 3]]) -> Template {
    let files = files.iter().chain(steps.as_flattened());
    let files = files.map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    Template { name: name.to_owned(), from: BUILT_IN.to_owned(), files, unreadable: None }
}
