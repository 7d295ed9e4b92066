//! What providers report of what was used.
//!
//! A report counts when all that it says are numbers; a part that is missing is zero, and a part is at most its whole.

use serde_json::Value;

use crate::answer::Tokens;
use crate::target::Protocol;

/// The report so far: some providers say in the beginning what was read, and in the end what was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    tokens: Option<Tokens>,
    nonsense: bool,
}

impl Used {
    /// What was used; none when nothing was reported, or nothing that can be read.
    pub fn tokens(&self) -> Option<Tokens> {
        let tokens = self.tokens.filter(|_| !self.nonsense)?;
        Some(Tokens {
            cached: tokens.cached.min(tokens.input),
            reasoning: tokens.reasoning.min(tokens.output),
            ..tokens
        })
    }

    /// Reads the report in a frame, if there is one.
    pub fn hear(&mut self, protocol: Protocol, frame: &Value) {
        let place = match protocol {
            Protocol::OpenaiChat => frame.get("usage"),
            Protocol::OpenaiResponses => frame.pointer("/response/usage"),
            Protocol::Anthropic => frame.pointer("/message/usage").or_else(|| frame.get("usage")),
            Protocol::Gemini => frame.get("usageMetadata"),
            Protocol::Offline => None,
        };
        let Some(report) = place.filter(|report| !report.is_null()) else { return };
        if self.read(protocol, report).is_none() {
            self.nonsense = true;
        }
    }

    fn read(&mut self, protocol: Protocol, report: &Value) -> Option<()> {
        let number = |place: &str| match report.pointer(place) {
            None | Some(Value::Null) => Some(None),
            Some(value) => value.as_u64().map(Some),
        };
        let mut tokens = self.tokens.unwrap_or_default();
        let (mut input, mut cached, mut output, mut reasoning) = (None, None, None, None);
        match protocol {
            Protocol::OpenaiChat => {
                input = number("/prompt_tokens")?;
                cached = number("/prompt_tokens_details/cached_tokens")?;
                output = number("/completion_tokens")?;
                reasoning = number("/completion_tokens_details/reasoning_tokens")?;
            }
            Protocol::OpenaiResponses => {
                input = number("/input_tokens")?;
                cached = number("/input_tokens_details/cached_tokens")?;
                output = number("/output_tokens")?;
                reasoning = number("/output_tokens_details/reasoning_tokens")?;
            }
            Protocol::Anthropic => {
                // What is read from the cache, or written into it, comes on top of what is read otherwise.
                cached = number("/cache_read_input_tokens")?;
                let stored = number("/cache_creation_input_tokens")?.unwrap_or(0);
                let fresh = number("/input_tokens")?;
                input = fresh.map(|fresh| fresh.saturating_add(stored).saturating_add(cached.unwrap_or(0)));
                output = number("/output_tokens")?;
                reasoning = number("/output_tokens_details/thinking_tokens")?;
            }
            Protocol::Gemini => {
                // Thoughts come on top of what is written otherwise.
                let tools = number("/toolUsePromptTokenCount")?.unwrap_or(0);
                input = number("/promptTokenCount")?.map(|read| read.saturating_add(tools));
                cached = number("/cachedContentTokenCount")?;
                reasoning = number("/thoughtsTokenCount")?;
                let written = number("/candidatesTokenCount")?;
                output = match (written, reasoning) {
                    (None, None) => None,
                    (written, thought) => Some(written.unwrap_or(0).saturating_add(thought.unwrap_or(0))),
                };
            }
            Protocol::Offline => {}
        }
        let said = [input, cached, output, reasoning];
        for (place, part) in
            [&mut tokens.input, &mut tokens.cached, &mut tokens.output, &mut tokens.reasoning].into_iter().zip(said)
        {
            *place = part.unwrap_or(*place);
        }
        if said.iter().any(Option::is_some) {
            self.tokens = Some(tokens);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn used(protocol: Protocol, frames: &[Value]) -> Option<Tokens> {
        let mut used = Used::default();
        for frame in frames {
            used.hear(protocol, frame);
        }
        used.tokens()
    }

    #[test]
    fn every_provider_counts_in_its_own_way_and_all_mean_the_same_here() {
        let tokens = Some(Tokens { input: 100, cached: 60, output: 50, reasoning: 20 });
        let details = |name: &str, count: u64| json!({name: count});
        let chat = json!({"usage": {"prompt_tokens": 100, "completion_tokens": 50,
            "prompt_tokens_details": details("cached_tokens", 60), "completion_tokens_details": details("reasoning_tokens", 20)}});
        assert_eq!(used(Protocol::OpenaiChat, &[json!({"usage": null}), chat]), tokens);
        let responses = json!({"response": {"usage": {"input_tokens": 100, "output_tokens": 50,
            "input_tokens_details": details("cached_tokens", 60), "output_tokens_details": details("reasoning_tokens", 20)}}});
        assert_eq!(used(Protocol::OpenaiResponses, &[responses]), tokens);
        let begun = json!({"message": {"usage": {"input_tokens": 30, "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 60, "output_tokens": 1}}});
        let ended = json!({"usage": {"output_tokens": 50, "output_tokens_details": details("thinking_tokens", 20)}});
        assert_eq!(used(Protocol::Anthropic, &[begun, ended]), tokens);
        let gemini = json!({"usageMetadata": {"promptTokenCount": 90, "toolUsePromptTokenCount": 10,
            "cachedContentTokenCount": 60, "candidatesTokenCount": 30, "thoughtsTokenCount": 20}});
        assert_eq!(used(Protocol::Gemini, &[gemini]), tokens);
    }

    #[test]
    fn a_part_is_at_most_its_whole_and_a_report_without_numbers_is_none() {
        let odd = json!({"usage": {"prompt_tokens": 5, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}});
        assert_eq!(used(Protocol::OpenaiChat, &[odd]), Some(Tokens { input: 5, cached: 5, output: 5, reasoning: 0 }));
        for nonsense in [json!({"prompt_tokens": "5"}), json!({"prompt_tokens": -5}), json!({})] {
            assert_eq!(used(Protocol::OpenaiChat, &[json!({"usage": nonsense})]), None);
        }
    }
}
