//! From what someone asks for to the plan that plans it: screened, read, and put into a template.

use gantry_core::plan::Plan;
use gantry_core::suggest::nearest;

use crate::facts::{Asked, Facts, Unplannable};
use crate::screen::{Verdict, screen};
use crate::template::{Detail, Template, Wishes};

/// How long a request may be.
pub const REQUEST_BYTES_MAX: u64 = 200_000;

/// Why a request was not made a plan, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// Whose fault it is.
    pub why: Why,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Whose fault it is that a request was not made a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It must not be planned.
    Refused,
    /// The request is wrong.
    Wrong,
    /// The template or this program is.
    Broken,
}

impl Unfit {
    fn new(why: Why, message: impl Into<String>) -> Self {
        Self { why, message: message.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// Says no to what must not be planned, and to what is no request.
pub fn check(asked: &Asked) -> Result<(), Unfit> {
    let screening = screen(&asked.words());
    if asked.overridden.is_some() && screening.may_be_overridden() {
        return Ok(());
    }
    match screening.verdict {
        Verdict::Allow | Verdict::AllowWithCare => Ok(()),
        Verdict::Refuse => Err(Unfit::new(Why::Refused, screening.reason).hint(screening.hint)),
        Verdict::Unusable => Err(Unfit::new(Why::Wrong, screening.reason).hint(screening.hint)),
    }
}

/// The plan that plans this request; no sections named means all of them.
pub fn plan(template: &Template, asked: &Asked, detail: Detail, sections: &[String]) -> Result<Plan, Unfit> {
    let wrong = |message: String| Unfit::new(Why::Wrong, message);
    let known = if sections.is_empty() { Vec::new() } else { template.sections().map_err(wrong)? };
    if let Some(odd) = sections.iter().find(|section| !known.contains(section)) {
        let unfit = Unfit::new(Why::Wrong, format!("the template `{}` has no section `{odd}`", template.name));
        return Err(unfit.hint(match nearest(odd, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("sections are {}", known.join(", ")),
        }));
    }
    let facts = Facts::of(asked).map_err(|why| match why {
        Unplannable::Screened(screening) => Unfit::new(Why::Refused, screening.reason).hint(screening.hint),
        Unplannable::Broken(why) => Unfit::new(Why::Broken, why),
    })?;
    let values = serde_json::to_value(asked).map_err(|error| Unfit::new(Why::Broken, error.to_string()))?;
    let wishes = Wishes {
        values: values.as_object().cloned().unwrap_or_default().into_iter().collect(),
        detail,
        size: facts.size,
        sections: (!sections.is_empty()).then(|| sections.to_vec()),
    };
    let mut plan = template.plan(&wishes).map_err(wrong)?;
    plan.title = facts.title;
    asked.request.clone_into(&mut plan.objective);
    Ok(plan)
}
