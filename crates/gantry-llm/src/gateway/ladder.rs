//! From what models say to an answer that holds.

use gantry_core::time::Timestamp;
use serde_json::Value;

use crate::answer::{Answer, Finish, Repair, Reply};
use crate::error::{AskError, CallError, CallFault};
use crate::korean;
use crate::request::{Message, Request};
use crate::structured::{Checker, Reading, feedback};
use crate::target::{Protocol, Target};

use super::call::{Replied, Stop, Way};
use super::chain::is_of_team;
use super::ledger::{Ledger, method};
use super::{Asking, Gateway, price, split};

/// What is said to a model whose answer was cut.
const GO_ON: &str = "Your answer was cut off. Go on exactly where it stops: repeat nothing, explain nothing, \
                     and use no code fence.";

/// What an answer turns out to be.
enum Verdict {
    Holds { value: Option<Value>, repairs: Vec<Repair> },
    Cut(String),
    Faulty(Vec<String>),
    Refused,
}

impl Verdict {
    /// What is without faults holds.
    fn of(faults: Vec<String>) -> Self {
        if faults.is_empty() { Self::Holds { value: None, repairs: Vec::new() } } else { Self::Faulty(faults) }
    }
}

impl Gateway {
    /// Asks one model after the other.
    pub(super) async fn go_down(
        &self,
        chain: &[Target],
        (key, started_at): (&str, Timestamp),
        asking: &Asking<'_>,
        ledger: &mut Ledger,
    ) -> Result<Answer, AskError> {
        let check = match &asking.request.shape {
            Some(shape) => Some(Checker::new(shape).map_err(AskError::Configuration)?),
            None => None,
        };
        let asked = chain.first().map(Target::id).unwrap_or_default();
        let way = Way { asking, key, asked: &asked, started_at };
        let missing = self.chains.missing(&asking.request.role, asking.request.model.as_deref());
        let named = missing.as_ref().map_or_else(|| asked.clone(), |missing| missing.model.clone());
        let mut fallback = missing.map(|missing| format!("{}: {}", missing.model, missing.why));
        if fallback.is_some() {
            ledger.repairs.push(Repair::NextModel(asked.clone()));
        }
        let (mut invalid, method) = (None::<(String, Vec<String>, Option<String>)>, method(&asking.request).to_owned());
        for (place, target) in chain.iter().enumerate() {
            if place > 0 {
                let cause = ledger.failed.last().map_or_else(|| "no answer".to_owned(), ToString::to_string);
                asking.listener.again(&cause);
                ledger.repairs.push(Repair::NextModel(target.id()));
                fallback = Some(cause);
            }
            match self.ask_model(target, check.as_ref(), &way, ledger).await {
                Ok(answer) => return Ok(Answer { asked: named, fallback, ..answer }),
                Err(Stop::Over(error)) => return Err(error),
                Err(Stop::Next) => {
                    if let Some(error) = self.unknown(asking, ledger) {
                        return Err(error);
                    }
                    // That the offline model cannot do it is no news of the answers before.
                    let cannot = ledger.failed.last().filter(|_| target.protocol == Protocol::Offline);
                    invalid = invalid
                        .zip(cannot)
                        .map(|((model, faults, _), error)| (model, faults, Some(error.message.clone())));
                }
                Err(Stop::Invalid(faults)) => invalid = Some((target.id(), faults, None)),
            }
        }
        Err(match invalid {
            Some((model, faults, unable)) => AskError::Invalid { method, model, faults, unable },
            None => AskError::Calls { method, failed: ledger.failed.clone() },
        })
    }

    /// A model that the request names and that its provider does not know is a mistake, and nobody takes its place.
    fn unknown(&self, asking: &Asking<'_>, ledger: &Ledger) -> Option<AskError> {
        let named = asking.request.model.as_ref()?;
        let error = ledger.failed.last().filter(|error| error.fault == CallFault::UnknownModel)?;
        let near = self.chains.near(named);
        let hint = if near.is_empty() {
            "see which models there are with `gantry model list`".to_owned()
        } else {
            format!("did you mean {}?", near.join(" or "))
        };
        Some(AskError::Configuration(format!("{error}; {hint}")))
    }

    /// Asks one model, lets it go on, asks in parts and shows it its faults, within bounds.
    async fn ask_model(
        &self,
        target: &Target,
        check: Option<&Checker>,
        way: &Way<'_>,
        ledger: &mut Ledger,
    ) -> Result<Answer, Stop> {
        let asking = way.asking;
        if let Some(message) = unfit(target, &asking.request) {
            ledger.failed.push(not_good(target, CallFault::Request, message));
            return Err(Stop::Next);
        }
        let mut question = asking.request.clone();
        let mut so_far: Option<(Reply, String)> = None;
        let (mut continues, mut feedbacks, mut translations) = (0, 0, 0);
        loop {
            let said = so_far.as_ref().map_or("", |(_, text)| text.as_str());
            let request = if said.is_empty() { question.clone() } else { with(&question, said, GO_ON) };
            let replied = self.call(target, &request, way, ledger).await;
            let Replied { reply, rung } = match (replied, so_far.take()) {
                // What cannot go on is what there is.
                (Err(Stop::Next), Some((reply, text))) if check.is_none() => return Ok(answer(reply, text, None)),
                (Err(Stop::Next), Some((_, text))) => {
                    return Box::pin(self.too_long(target, check, way, ledger, &text, continues)).await;
                }
                (Err(stop), _) => return Err(stop),
                (Ok(replied), before) => {
                    so_far = before;
                    replied
                }
            };
            let said = so_far.take().map(|(_, text)| text).unwrap_or_default();
            let (mut verdict, mut text) = (judge(&reply, &format!("{said}{}", reply.text), check, asking), None);
            if let (Verdict::Faulty(_), false) = (&verdict, said.is_empty()) {
                // Some begin anew instead of going on.
                let anew = judge(&reply, &reply.text, check, asking);
                if matches!(anew, Verdict::Holds { .. }) {
                    (verdict, text) = (anew, Some(reply.text.clone()));
                }
            }
            let text = text.unwrap_or_else(|| format!("{said}{}", reply.text));
            if matches!(verdict, Verdict::Faulty(_)) && reply.finish == Finish::Length && !said.is_empty() {
                // It did not go on, and was cut once more.
                self.go_on(rung, way, ledger).await?;
                return Box::pin(self.too_long(target, check, way, ledger, &said, continues)).await;
            }
            let faults = match verdict {
                Verdict::Holds { value, repairs } => {
                    let mixed = self.not_korean(target, &asking.request, value.as_ref(), &text, translations);
                    if !mixed.is_empty() {
                        self.go_on(rung, way, ledger).await?;
                        translations += 1;
                        asking.listener.again(&short(&mixed.join("; ")));
                        question = with(&asking.request, &text, &korean::stricter(&mixed));
                        ledger.repairs.push(Repair::FedBack(mixed));
                        continue;
                    }
                    if target.id() != way.asked {
                        // Another may be asked first the next time; then this is found all the same.
                        self.go_on(rung, way, ledger).await?;
                    }
                    ledger.repairs.extend(repairs);
                    return Ok(answer(reply, text, value));
                }
                Verdict::Refused => {
                    self.go_on(rung, way, ledger).await?;
                    return Err(refused(target, &text, ledger));
                }
                Verdict::Cut(cut) if continues < self.habits.continues_max && cut.len() > said.len() => {
                    self.go_on(rung, way, ledger).await?;
                    continues += 1;
                    ledger.repairs.push(Repair::Continued);
                    so_far = Some((reply, cut));
                    continue;
                }
                Verdict::Cut(cut) => {
                    self.go_on(rung, way, ledger).await?;
                    return match check {
                        // It is an answer, and its finish says that it ends in the middle.
                        None => Ok(answer(reply, cut, None)),
                        Some(_) => Box::pin(self.too_long(target, check, way, ledger, &cut, continues)).await,
                    };
                }
                Verdict::Faulty(faults) => faults,
            };
            ledger.failed.push(not_good(target, CallFault::Answer, short(&faults.join("; "))));
            self.go_on(rung, way, ledger).await?;
            if feedbacks == self.habits.feedbacks_max {
                return Err(Stop::Invalid(faults));
            }
            feedbacks += 1;
            asking.listener.again(&short(&faults.join("; ")));
            // Only the last answer and its faults are shown: older ones would cost tokens and say nothing new.
            question = with(&asking.request, &text, &feedback(&faults));
            ledger.repairs.push(Repair::FedBack(faults));
        }
    }

    /// What is not Korean about an answer that a team wants in Korean, as long as it may be asked for again.
    fn not_korean(
        &self,
        target: &Target,
        request: &Request,
        value: Option<&Value>,
        text: &str,
        translations: u32,
    ) -> Vec<String> {
        let wanted = request.prompt.as_ref().is_some_and(|prompt| prompt.locale == "ko") && is_of_team(&request.role);
        if !wanted || translations == self.team.korean_retries || target.protocol == Protocol::Offline {
            return Vec::new();
        }
        value.map_or_else(|| korean::faults(&Value::String(text.to_owned())), korean::faults)
    }

    /// Going on does not help: asks for the answer in parts, or else for a shorter one.
    async fn too_long(
        &self,
        target: &Target,
        check: Option<&Checker>,
        way: &Way<'_>,
        ledger: &mut Ledger,
        so_far: &str,
        continues: u32,
    ) -> Result<Answer, Stop> {
        let faults = vec![format!("the answer is too long: it was cut off {} times", continues + 1)];
        ledger.failed.push(not_good(target, CallFault::Answer, short(&faults.join("; "))));
        way.asking.listener.again(&faults[0]);
        if let (Some(shape), Some(check)) = (&way.asking.request.shape, check)
            && split::can_be_split(&shape.schema)
        {
            return self.ask_in_parts(target, shape, check, way, ledger).await;
        }
        let request = with(&way.asking.request, so_far, &feedback(&[format!("{}; give a shorter one", faults[0])]));
        ledger.repairs.push(Repair::FedBack(faults.clone()));
        let Replied { reply, rung } = self.call(target, &request, way, ledger).await?;
        let text = reply.text.clone();
        let verdict = judge(&reply, &text, check, way.asking);
        if !matches!(verdict, Verdict::Holds { .. }) || target.id() != way.asked {
            self.go_on(rung, way, ledger).await?;
        }
        let faults = match verdict {
            Verdict::Holds { value, repairs } => {
                ledger.repairs.extend(repairs);
                return Ok(answer(reply, text, value));
            }
            Verdict::Refused => return Err(refused(target, &text, ledger)),
            Verdict::Cut(_) => faults,
            Verdict::Faulty(faults) => faults,
        };
        ledger.failed.push(not_good(target, CallFault::Answer, short(&faults.join("; "))));
        Err(Stop::Invalid(faults))
    }
}

/// A model that would not answer is not argued with.
fn refused(target: &Target, text: &str, ledger: &mut Ledger) -> Stop {
    ledger.failed.push(not_good(target, CallFault::Answer, format!("it would not answer: {}", short(text))));
    Stop::Next
}

/// Why a model cannot be asked this at all.
fn unfit(target: &Target, request: &Request) -> Option<String> {
    let tools_needed = !request.tools.is_empty() && request.shape.is_none();
    if tools_needed && !target.tools && target.protocol != Protocol::Offline {
        return Some("it cannot call tools".into());
    }
    let said = price::asked(request);
    match target.context {
        Some(room) if said >= u64::from(room) => {
            Some(format!("what is asked is too long for it: about {said} tokens, and it takes {room} in all"))
        }
        _ => None,
    }
}

fn judge(reply: &Reply, text: &str, check: Option<&Checker>, asking: &Asking<'_>) -> Verdict {
    if reply.finish == Finish::Refused {
        return Verdict::Refused;
    }
    if !reply.calls.is_empty() {
        let faults: Vec<String> = reply
            .calls
            .iter()
            .filter(|call| !call.args.is_object())
            .map(|call| format!("the arguments of the tool `{}` are not one JSON object", call.name))
            .collect();
        return Verdict::of(faults);
    }
    let Some(check) = check else {
        let mut faults = (asking.rules)(&Value::String(text.to_owned()));
        if text.trim().is_empty() {
            faults.push("the answer is empty".into());
        } else if reply.finish == Finish::Length {
            return Verdict::Cut(text.to_owned());
        }
        return Verdict::of(faults);
    };
    match check.read(text, &reply.finish, asking.rules) {
        Reading::Holds { value, repairs } => Verdict::Holds { value: Some(value), repairs },
        Reading::Cut { so_far } => Verdict::Cut(so_far),
        Reading::Faulty { faults } => Verdict::Faulty(faults),
    }
}

/// The question with an answer to it and what is said to that.
pub(super) fn with(question: &Request, answered: &str, then: &str) -> Request {
    let mut request = question.clone();
    // Providers refuse messages without words.
    if !answered.trim().is_empty() {
        request.messages.push(Message::assistant(answered));
    }
    request.messages.push(Message::user(then));
    request
}

pub(super) fn answer(reply: Reply, text: String, value: Option<Value>) -> Answer {
    Answer {
        text,
        value,
        calls: reply.calls,
        finish: reply.finish,
        id: reply.id,
        model: reply.model,
        ..Answer::default()
    }
}

pub(super) fn not_good(target: &Target, fault: CallFault, message: String) -> CallError {
    CallError { fault, target: target.id(), message, retry_after: None }
}

/// Enough of a text to know it by.
pub(super) fn short(text: &str) -> String {
    const SHOWN_MAX: usize = 400;
    let mut shown: String = text.chars().take(SHOWN_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
