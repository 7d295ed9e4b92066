//! What is on record is told to whoever gave it, so that the next question can follow it also after a restart.

use crate::answer::{Answer, Repair, Reply};
use crate::request::Request;
use crate::target::Target;

use super::Gateway;

impl Gateway {
    /// Tells the giver of an answer that it gave it. One that is no longer in the chain is not told.
    pub(super) fn remind(&self, chain: &[Target], request: &Request, answer: &Answer) {
        let Some(giver) = giver(answer) else { return };
        let Some(target) = chain.iter().find(|target| target.id() == giver) else { return };
        let Some(provider) = self.providers.get(&target.protocol) else { return };
        let reply = Reply {
            text: answer.text.clone(),
            calls: answer.calls.clone(),
            finish: answer.finish.clone(),
            id: answer.id.clone(),
            model: answer.model.clone(),
            ..Reply::default()
        };
        provider.remind(target, request, &reply);
    }
}

/// Who gave an answer, as `provider:model`; none when it answers more than the question alone: a text that was cut, a
/// wish for a part, or faults that were shown.
fn giver(answer: &Answer) -> Option<&str> {
    let (mut giver, mut direct) = (answer.asked.as_str(), true);
    for repair in &answer.repairs {
        match repair {
            Repair::NextModel(next) => (giver, direct) = (next, true),
            Repair::Continued | Repair::Split(_) | Repair::Overlap(_) | Repair::FedBack(_) => direct = false,
            Repair::Fence | Repair::Prose | Repair::Notation(_) | Repair::Case(_) => {}
        }
    }
    direct.then_some(giver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_giver_of_an_answer_is_the_last_who_was_asked_unless_it_was_asked_more_than_the_question() {
        let fed = || Repair::FedBack(vec!["it is empty".to_owned()]);
        let next = || Repair::NextModel("b:2".to_owned());
        for (repairs, giver_of) in [
            (vec![], Some("a:1")),
            (vec![Repair::Fence, Repair::Prose], Some("a:1")),
            (vec![fed()], None),
            (vec![Repair::Continued], None),
            (vec![Repair::Split(3)], None),
            (vec![fed(), fed(), next(), Repair::Fence], Some("b:2")),
            (vec![next(), fed()], None),
        ] {
            let answer = Answer { asked: "a:1".to_owned(), repairs, ..Answer::default() };
            assert_eq!(giver(&answer), giver_of, "{:?}", answer.repairs);
        }
    }
}
