//! From what models say to an answer that holds.

use serde_json::Value;

use crate::answer::{Answer, Finish, Repair, Reply};
use crate::error::{AskError, CallError, CallFault};
use crate::request::{Message, Request};
use crate::structured::{Checker, Reading, feedback};
use crate::target::{Protocol, Target};

use super::call::Stop;
use super::ledger::Ledger;
use super::{Asking, Gateway};

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
        asking: &Asking<'_>,
        ledger: &mut Ledger,
    ) -> Result<Answer, AskError> {
        let check = match &asking.request.shape {
            Some(shape) => Some(Checker::new(shape).map_err(AskError::Configuration)?),
            None => None,
        };
        let asked = chain.first().map(Target::id).unwrap_or_default();
        let mut fallback = None;
        let mut invalid = None;
        for (place, target) in chain.iter().enumerate() {
            if place > 0 {
                let cause = ledger.failed.last().map_or_else(|| "no answer".to_owned(), ToString::to_string);
                asking.listener.again(&cause);
                ledger.repairs.push(Repair::NextModel(target.id()));
                fallback = Some(cause);
            }
            match self.ask_model(target, check.as_ref(), asking, ledger).await {
                Ok(answer) => return Ok(Answer { asked, fallback, ..answer }),
                Err(Stop::Over(error)) => return Err(error),
                Err(Stop::Next) => invalid = None,
                Err(Stop::Invalid(faults)) => invalid = Some(AskError::Invalid { model: target.id(), faults }),
            }
        }
        Err(invalid.unwrap_or_else(|| AskError::Calls(ledger.failed.clone())))
    }

    /// Asks one model, lets it go on and shows it its faults, within bounds.
    async fn ask_model(
        &self,
        target: &Target,
        check: Option<&Checker>,
        asking: &Asking<'_>,
        ledger: &mut Ledger,
    ) -> Result<Answer, Stop> {
        if let Some(message) = unfit(target, &asking.request) {
            ledger.failed.push(not_good(target, CallFault::Request, message));
            return Err(Stop::Next);
        }
        let mut question = asking.request.clone();
        let mut so_far = String::new();
        let (mut continues, mut feedbacks) = (0, 0);
        loop {
            let request = if so_far.is_empty() { question.clone() } else { with(&question, &so_far, GO_ON) };
            let reply = self.call(target, &request, asking, ledger).await?;
            let (mut verdict, mut text) = (judge(&reply, &format!("{so_far}{}", reply.text), check, asking), None);
            if let (Verdict::Faulty(_), false) = (&verdict, so_far.is_empty()) {
                // Some begin anew instead of going on.
                let anew = judge(&reply, &reply.text, check, asking);
                if matches!(anew, Verdict::Holds { .. }) {
                    (verdict, text) = (anew, Some(reply.text.clone()));
                }
            }
            let text = text.unwrap_or_else(|| format!("{so_far}{}", reply.text));
            let faults = match verdict {
                Verdict::Holds { value, repairs } => {
                    ledger.repairs.extend(repairs);
                    return Ok(answer(reply, text, value));
                }
                Verdict::Refused => {
                    let message = format!("it would not answer: {}", short(&text));
                    ledger.failed.push(not_good(target, CallFault::Answer, message));
                    return Err(Stop::Next);
                }
                Verdict::Cut(cut) if continues < self.habits.continues_max && cut.len() > so_far.len() => {
                    continues += 1;
                    ledger.repairs.push(Repair::Continued);
                    so_far = cut;
                    continue;
                }
                Verdict::Cut(_) => vec![format!("the answer is too long: it was cut off {} times", continues + 1)],
                Verdict::Faulty(faults) => faults,
            };
            ledger.failed.push(not_good(target, CallFault::Answer, short(&faults.join("; "))));
            if feedbacks == self.habits.feedbacks_max {
                return Err(Stop::Invalid(faults));
            }
            feedbacks += 1;
            asking.listener.again(&short(&faults.join("; ")));
            // Only the last answer and its faults are shown: older ones would cost tokens and say nothing new.
            question = with(&asking.request, &text, &feedback(&faults));
            so_far.clear();
            ledger.repairs.push(Repair::FedBack(faults));
        }
    }
}

/// Why a model cannot be asked this at all.
fn unfit(target: &Target, request: &Request) -> Option<String> {
    if request.previous.is_some() && target.protocol != Protocol::OpenaiResponses {
        return Some("it cannot follow an answer that another provider keeps".into());
    }
    let tools_needed = !request.tools.is_empty() && request.shape.is_none();
    if tools_needed && !target.tools && target.protocol != Protocol::Offline {
        return Some("it cannot call tools".into());
    }
    None
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
fn with(question: &Request, answered: &str, then: &str) -> Request {
    let mut request = question.clone();
    // Providers refuse messages without words.
    if !answered.trim().is_empty() {
        request.messages.push(Message::assistant(answered));
    }
    request.messages.push(Message::user(then));
    request
}

fn answer(reply: Reply, text: String, value: Option<Value>) -> Answer {
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

fn not_good(target: &Target, fault: CallFault, message: String) -> CallError {
    CallError { fault, target: target.id(), message, retry_after: None }
}

/// Enough of a text to know it by.
fn short(text: &str) -> String {
    const SHOWN_MAX: usize = 400;
    let mut shown: String = text.chars().take(SHOWN_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
