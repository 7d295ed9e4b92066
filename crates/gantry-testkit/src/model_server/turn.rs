//! What the server says to one request.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// One answer. It begins with what is said and is changed by the verbs that follow.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) says: Says,
    pub(super) headers: Vec<(String, String)>,
    /// How the words are cut into pieces when they are streamed.
    pub(super) pieces: Pieces,
    pub(super) latency: Duration,
    pub(super) drip: Duration,
    pub(super) gate: Option<Gate>,
    pub(super) ends: Ends,
}

#[derive(Clone, Debug)]
pub(super) enum Says {
    /// An answer of a model.
    Answer(Answer),
    /// A status and a body instead.
    Status(u16, String),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub text: String,
    pub thoughts: String,
    pub calls: Vec<(String, String)>,
    pub refusal: Option<String>,
    /// Why it stopped, in the words of chat completions; each protocol has words of its own.
    pub finish: Option<&'static str>,
    pub model: Option<String>,
    pub id: Option<String>,
    pub usage: UsageReport,
}

#[derive(Clone, Debug, Default)]
pub(super) enum UsageReport {
    #[default]
    Usual,
    Of(i64, i64),
    None,
    /// Words where numbers belong.
    Nonsense,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Pieces {
    Words,
    Whole,
}

/// How the stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Properly,
    /// The line is cut after so many frames.
    CutAfter(usize),
    /// The body just ends after so many frames, without any mark.
    StopAfter(usize),
    /// A frame in the middle is no JSON.
    Garbled,
    /// A frame in the middle says that something went wrong, though the status said that all is well.
    Trouble,
    /// Nothing comes any more after so many frames, and the line stays open.
    SilentAfter(usize),
}

/// Holds answers back until it is opened.
#[derive(Clone, Debug)]
pub struct Gate(pub(super) Arc<Semaphore>);

impl Gate {
    /// A gate that is closed.
    pub fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets everyone through who waits or comes later.
    pub fn open(&self) {
        self.0.close();
    }

    /// Lets so many through.
    pub fn let_in(&self, count: usize) {
        self.0.add_permits(count);
    }

    pub(super) async fn pass(&self) {
        // A closed semaphore is an open gate.
        if let Ok(permit) = self.0.acquire().await {
            permit.forget();
        }
    }
}

impl Turn {
    fn says(says: Says) -> Self {
        Self {
            says,
            headers: Vec::new(),
            pieces: Pieces::Words,
            latency: Duration::ZERO,
            drip: Duration::ZERO,
            gate: None,
            ends: Ends::Properly,
        }
    }

    fn answer(answer: Answer) -> Self {
        Self::says(Says::Answer(answer))
    }

    /// Says these words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::answer(Answer { text: text.into(), ..Answer::default() })
    }

    /// Says this value, and nothing else.
    pub fn json(value: &Value) -> Self {
        Self::text(value.to_string())
    }

    /// Calls these tools with these arguments.
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        Self::raw_calls(calls.into_iter().map(|(name, args)| (name, args.to_string())))
    }

    /// Calls these tools with arguments that need not be JSON.
    pub fn raw_calls<'a>(calls: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let calls = calls.into_iter().map(|(name, args)| (name.to_owned(), args)).collect();
        Self::answer(Answer { calls, ..Answer::default() })
    }

    /// Will not answer, and says so.
    pub fn refusal(words: impl Into<String>) -> Self {
        Self::answer(Answer { refusal: Some(words.into()), ..Answer::default() })
    }

    /// Answers with this status, and with a body such as providers send.
    pub fn status(status: u16) -> Self {
        let message = match status {
            429 => "Rate limit reached",
            401 => "Incorrect API key provided",
            404 => "The model does not exist",
            _ => "Something went wrong",
        };
        let body = json!({"error": {"message": message, "type": "error", "code": status}});
        Self::says(Says::Status(status, body.to_string()))
    }

    /// With this body, where it answers with a status.
    #[must_use]
    pub fn body(mut self, body: impl Into<String>) -> Self {
        if let Says::Status(_, old) = &mut self.says {
            *old = body.into();
        }
        self
    }

    /// With this header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Thinks this first.
    #[must_use]
    pub fn thinking(self, thoughts: &str) -> Self {
        self.changed(|answer| thoughts.clone_into(&mut answer.thoughts))
    }

    /// Says words beside the tools that it calls.
    #[must_use]
    pub fn saying(self, text: &str) -> Self {
        self.changed(|answer| text.clone_into(&mut answer.text))
    }

    /// Stops because there was no room for more.
    #[must_use]
    pub fn cut_off(self) -> Self {
        self.changed(|answer| answer.finish = Some("length"))
    }

    /// Stops because a filter said so.
    #[must_use]
    pub fn filtered(self) -> Self {
        self.changed(|answer| answer.finish = Some("content_filter"))
    }

    /// Says that this model answered, instead of the one that was asked.
    #[must_use]
    pub fn model(self, model: &str) -> Self {
        self.changed(|answer| answer.model = Some(model.to_owned()))
    }

    /// Calls the answer this.
    #[must_use]
    pub fn id(self, id: &str) -> Self {
        self.changed(|answer| answer.id = Some(id.to_owned()))
    }

    /// Reports so many tokens in and out; they may be wrong.
    #[must_use]
    pub fn usage(self, input: i64, output: i64) -> Self {
        self.changed(|answer| answer.usage = UsageReport::Of(input, output))
    }

    /// Reports nothing of what was used.
    #[must_use]
    pub fn no_usage(self) -> Self {
        self.changed(|answer| answer.usage = UsageReport::None)
    }

    /// Reports words where numbers belong.
    #[must_use]
    pub fn nonsense_usage(self) -> Self {
        self.changed(|answer| answer.usage = UsageReport::Nonsense)
    }

    fn changed(mut self, change: impl FnOnce(&mut Answer)) -> Self {
        if let Says::Answer(answer) = &mut self.says {
            change(answer);
        }
        self
    }

    /// Says everything in one piece.
    #[must_use]
    pub fn in_one_piece(mut self) -> Self {
        self.pieces = Pieces::Whole;
        self
    }

    /// Begins to answer only after this time.
    #[must_use]
    pub fn after(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// Waits this long before every piece.
    #[must_use]
    pub fn dripping(mut self, wait: Duration) -> Self {
        self.drip = wait;
        self
    }

    /// Begins to answer only when the gate lets it.
    #[must_use]
    pub fn behind(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Cuts the line after so many frames.
    #[must_use]
    pub fn cut_after(self, frames: usize) -> Self {
        self.ending(Ends::CutAfter(frames))
    }

    /// Ends the body after so many frames, as if it were all.
    #[must_use]
    pub fn stop_after(self, frames: usize) -> Self {
        self.ending(Ends::StopAfter(frames))
    }

    /// Says nothing any more after so many frames, and keeps the line open.
    #[must_use]
    pub fn silent_after(self, frames: usize) -> Self {
        self.ending(Ends::SilentAfter(frames))
    }

    /// Puts a frame into the middle that is no JSON.
    #[must_use]
    pub fn garbled(self) -> Self {
        self.ending(Ends::Garbled)
    }

    /// Breaks in the middle, and says so in the stream.
    #[must_use]
    pub fn broken(self) -> Self {
        self.ending(Ends::Trouble)
    }

    fn ending(mut self, ends: Ends) -> Self {
        self.ends = ends;
        self
    }
}
