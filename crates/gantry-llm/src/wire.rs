//! Speaks to providers over the network.
//!
//! The library genai makes the bodies of requests and takes streams apart; everything that it decides by itself is
//! decided here instead: the address and the headers (`address`), the model's name and the schema (`ask`, `schema`). What
//! it leaves out of a stream is read from its raw frames (`tap`, `used`): the model that answered, the ids, refusals, why
//! an answer is incomplete, frames that are no JSON, and reports of what was used that are no numbers, which it takes for
//! zero. Its types stay inside this module.
//!
//! What a provider keeps is not told again (`kept`): with Responses and `keep` a question names the answer that it follows.
//!
//! Every answer is streamed, also when nobody listens: so silence is noticed, and a cut line is not taken for an end.
//!
//! Invariant: the key of a target goes into one header and nowhere else; messages are scrubbed of it (`fault`).

mod address; // in reading order
mod names;
mod schema;
mod ask;
mod kept;
mod used;
mod tap;
mod thoughts;
mod read;
mod fault;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use genai::chat::{ChatFrameSink, ChatStreamEvent};
use tokio_util::sync::CancellationToken;

use crate::answer::Reply;
use crate::error::{CallError, CallFault};
use crate::provider::{Listener, Provider};
use crate::request::{Message, Request};
use crate::target::Target;

pub use ask::is_effort;
pub use fault::retry_after;
use fault::{Faults, Missed};
use kept::{Kept, KeptAnswer};
use names::Names;
use read::Reader;
use tap::Tap;

/// How long a connection may take to come about.
const CONNECT_MAX: Duration = Duration::from_secs(20);

/// Says for all of this program how connections are encrypted. Saying it twice does nothing.
pub fn install_tls() {
    // Whoever came first has installed the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The network: answers for every protocol but the offline one.
pub struct Wire {
    client: genai::Client,
    kept: Kept,
}

impl Wire {
    /// Makes the one HTTP client that all calls share.
    pub fn new() -> Result<Self, String> {
        install_tls();
        let http = reqwest::Client::builder()
            .user_agent(concat!("gantry/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_MAX)
            // A key must not follow a redirect to somewhere else.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| format!("no HTTP client can be made: {error}"))?;
        let client = genai::Client::builder()
            .with_reqwest(http)
            .build()
            .map_err(|error| format!("no HTTP client can be made: {error}"))?;
        Ok(Self { client, kept: Kept::default() })
    }

    /// Asks; and tells everything once more if the provider no longer knows the answer that was to be followed.
    async fn converse(
        &self,
        target: &Target,
        request: &Request,
        listener: &dyn Listener,
        faults: &Faults<'_>,
    ) -> Result<Reply, CallError> {
        let said = ask::said(target, request);
        let before = self.kept.longest(target, &said);
        let mut end = self.send(target, request, (&said, before.as_ref()), listener, faults).await;
        if let (Err(Missed { forgotten: true, .. }), Some(before)) = (&end, &before) {
            self.kept.forget(before);
            end = self.send(target, request, (&said, None), listener, faults).await;
        }
        let reply = end.map_err(|missed| missed.error)?;
        self.kept.remember(target, &said, &reply);
        Ok(reply)
    }

    /// Sends what is said after the answer that is kept, and reads what comes.
    async fn send(
        &self,
        target: &Target,
        request: &Request,
        (said, before): (&[Message], Option<&KeptAnswer>),
        listener: &dyn Listener,
        faults: &Faults<'_>,
    ) -> Result<Reply, Missed> {
        let names = Names::of(request);
        let tap = Arc::new(Tap::new(target.protocol));
        let sink: Arc<dyn ChatFrameSink> = tap.clone();
        let wrong = |message: String| faults.plain(CallFault::Request, &message);
        let address = address::of(target).map_err(|(fault, message)| faults.plain(fault, &message))?;
        let options = ask::options(target, request).map_err(wrong)?.with_raw_frame_sink_arc(sink);
        let after = before.map(|answer| answer.id.as_str());
        let rest = &said[before.map_or(0, |answer| answer.length)..];
        let talk = ask::talk(target, request, rest, after, &names);

        let answer = self.client.exec_chat_stream(address, talk, Some(&options)).await;
        let mut stream = answer.map_err(|error| faults.missed(&error, &tap, after))?.stream;
        let mut reader = Reader::new(listener, &names);
        let end = loop {
            let event = stream.next().await;
            if let Some(piece) = tap.garbled() {
                let message = format!("it sent a piece that is no JSON: {piece}");
                return Err(faults.plain(CallFault::Server, &message).into());
            }
            match event {
                Some(Ok(ChatStreamEvent::Chunk(chunk))) => reader.text(chunk.content),
                Some(Ok(ChatStreamEvent::ReasoningChunk(chunk))) => reader.thought(chunk.content),
                Some(Ok(ChatStreamEvent::ToolCallChunk(chunk))) => reader.call(chunk.tool_call),
                Some(Ok(ChatStreamEvent::End(end))) => break Some(end),
                Some(Ok(
                    ChatStreamEvent::Start | ChatStreamEvent::Heartbeat | ChatStreamEvent::ThoughtSignatureChunk(_),
                )) => {}
                // What comes after the end of an answer, if only trouble, takes nothing from it.
                Some(Err(_)) if tap.ended() => break None,
                Some(Err(error)) => return Err(faults.missed(&error, &tap, after)),
                None => break None,
            }
            if reader.is_too_long() {
                let message = format!("it sent more than {} MB and was cut off", read::BYTES_MAX >> 20);
                return Err(faults.plain(CallFault::Answer, &message).into());
            }
        };
        // genai makes up an end for some providers when the line is cut; only the provider's own end counts.
        if !tap.ended() {
            return Err(faults.plain(CallFault::Connection, "the line was cut in the middle of the answer").into());
        }
        Ok(reader.reply(end, &tap, target))
    }
}

#[async_trait]
impl Provider for Wire {
    async fn call(
        &self,
        target: &Target,
        request: &Request,
        listener: &dyn Listener,
        stop: &CancellationToken,
    ) -> Result<Reply, CallError> {
        let faults = Faults::of_target(target);
        let limit = target.limits.timeout;
        tokio::select! {
            biased;
            // Dropping the other branch closes the connection.
            () = stop.cancelled() => Err(faults.plain(CallFault::Cancelled, "stopped")),
            end = tokio::time::timeout(limit, self.converse(target, request, listener, &faults)) => {
                end.unwrap_or_else(|_| {
                    Err(faults.plain(CallFault::Timeout, &format!("no whole answer within {} s", limit.as_secs_f32())))
                })
            }
        }
    }

    fn remind(&self, target: &Target, request: &Request, reply: &Reply) {
        self.kept.remember(target, &ask::said(target, request), reply);
    }
}
