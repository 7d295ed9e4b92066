//! The arguments of a call, with words for those that are missing, misspelt or of the wrong sort.

use gantry_core::effect::Failure;
use gantry_core::plan::Action;
use serde_json::{Map, Value};

use crate::files::path;
use crate::policy::wrong;
use crate::work::Work;

/// The arguments of a call.
pub(crate) struct Args<'a> {
    of: &'a str,
    args: Map<String, Value>,
}

impl<'a> Args<'a> {
    /// The arguments of a tool that is called.
    pub(crate) fn of(work: &'a Work) -> Result<Self, Failure> {
        let Action::Tool(tool) = &work.action else { return Err(wrong("it can only be called as a tool")) };
        Ok(Self { of: &tool.name, args: work.args() })
    }

    /// The name of the tool.
    pub(crate) fn tool(&self) -> &'a str {
        self.of
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.args.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn wrong(&self, name: &str, why: &str) -> Failure {
        wrong(format!("`{name}` of `{}`: {why}", self.of))
    }

    /// Says no to arguments that nobody asked for, which are likely misspelt.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Failure> {
        match self.args.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(other) => {
                let hint = gantry_core::suggest::nearest(other, known.iter().copied());
                let hint =
                    hint.map_or(format!("it takes {}", known.join(", ")), |near| format!("did you mean `{near}`?"));
                Err(wrong(format!("`{}` has no argument `{other}`; {hint}", self.of)))
            }
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<String, Failure> {
        self.text_if_given(name)?.ok_or_else(|| wrong(format!("`{}` needs `{name}`", self.of)))
    }

    pub(crate) fn text_if_given(&self, name: &str) -> Result<Option<String>, Failure> {
        match self.get(name) {
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(name, "a text is needed")),
            None => Ok(None),
        }
    }

    /// A list of texts, or one alone; none when it is not given.
    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Failure> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let texts = match self.get(name) {
            None => return Ok(None),
            Some(Value::Array(items)) => items.iter().map(text).collect::<Option<Vec<_>>>(),
            Some(value) => text(value).map(|text| vec![text]),
        };
        texts.map(Some).ok_or_else(|| self.wrong(name, "a list of texts is needed"))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, Failure> {
        match self.get(name) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(name, "`true` or `false` is needed")),
        }
    }

    pub(crate) fn path(&self, name: &str) -> Result<String, Failure> {
        path::checked(&self.text(name)?).map_err(|(class, why)| Failure { class, ..self.wrong(name, &why) })
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<usize>, Failure> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        number.map(Some).ok_or_else(|| self.wrong(name, "a whole number is needed"))
    }
}
