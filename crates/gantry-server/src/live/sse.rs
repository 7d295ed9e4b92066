//! Server-sent events: one plan, or all of them, from wherever a client left off.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use gantry_core::id::PlanId;
use gantry_store::ListFilter;
use serde::Deserialize;
use tokio::time::Instant;
use utoipa::IntoParams;

use super::channel::{After, Message, journal_message};
use super::cursor::Cursor;
use super::{Reader, pump};
use crate::app::App;
use crate::body::{Asked, Named};
use crate::problem::Problem;

/// How often something is written so that the connection stays.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How much earlier than what they were told last a reader is told again who fell behind: clocks are read at other moments.
const MARGIN: Duration = Duration::from_secs(2);
/// How many messages are written at once, and how many turns of the journal are read at once.
const AT_ONCE: usize = 256;

/// From where to go on.
#[derive(Debug, Default, Deserialize, IntoParams)]
pub struct Resume {
    /// The number of the last message that the client has; the header `Last-Event-ID` says the same. 0 is the beginning;
    /// without either, only what happens from now on.
    pub after: Option<String>,
}

/// Streams what happens to a plan.
pub async fn of_plan(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(resume): Asked<Resume>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let plan = app.id(&plan).await?;
    let reader = app.live.read(Some(&plan)).await?;
    let cursor = match said(&resume, &headers) {
        Some(text) => Cursor::parse(&text, app.live.epoch()).ok_or_else(|| unreadable(&text))?,
        None => reader.channel.last(),
    };
    Ok(answer(&[], Reading { app, plan: Some(plan), reader, cursor, told: None }))
}

/// Streams what happens to all plans: one message whenever one has changed, with how it stands.
pub async fn of_all(
    State(app): State<App>,
    Asked(resume): Asked<Resume>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let reader = app.live.read(None).await?;
    let mut cursor = reader.channel.last();
    let mut first = Vec::new();
    if let Some(text) = said(&resume, &headers) {
        let (known, since) = parse_all(&text, app.live.epoch()).ok_or_else(|| unreadable(&text))?;
        let here = known.filter(|known| matches!(reader.channel.after(known, 0), After::Here(_)));
        match here {
            Some(known) => cursor = known,
            // From another life of this process, or from too long ago: whatever has changed since, as it stands now.
            None => first = changed_since(&app, since, &cursor).await?,
        }
    }
    let reading = Reading { app, plan: None, reader, cursor, told: None };
    let frames = reading.frames(&first);
    Ok(answer(&frames, reading))
}

/// Reads `7-1700000000000-9f3a`: a number, when it was sent, and in which life of this process.
fn parse_all(text: &str, epoch: &str) -> Option<(Option<Cursor>, i64)> {
    let mut parts = text.trim().split('-');
    let (number, ms, life) = (parts.next()?.parse().ok()?, parts.next(), parts.next());
    match (ms, life, parts.next()) {
        (None, None, None) if number == 0 => Some((None, 0)),
        (Some(ms), Some(life), None) => Some(((life == epoch).then(|| Cursor::after(number)), ms.parse().ok()?)),
        _ => None,
    }
}

async fn changed_since(app: &App, since_ms: i64, at: &Cursor) -> Result<Vec<Message>, Problem> {
    let since = Some(gantry_core::time::Timestamp::from_ms(since_ms));
    let mut cards = gantry_store::all_plans(app.store(), &ListFilter { since, ..ListFilter::default() }).await?;
    cards.sort_by_key(|card| card.updated_at);
    let mut messages = Vec::new();
    for card in cards {
        let value = pump::progress(&card, app.is_driven(&card).await?);
        messages.push(Message::new(at.clone(), "plan", &value, app.live.epoch()));
    }
    Ok(messages)
}

fn said(resume: &Resume, headers: &HeaderMap) -> Option<String> {
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok()).map(str::to_owned);
    // A browser that comes back by itself says the newer of the two in the header.
    header.filter(|text| !text.is_empty()).or_else(|| resume.after.clone())
}

/// A number that is none.
pub(super) fn unreadable(text: &str) -> Problem {
    Problem::wrong("live::cursor", format!("`{}` is no number of a message", gantry_view::named(text)))
        .hint("send the `id` of the last message that you have, or 0 for everything")
}

/// Someone who reads, and how far they are.
pub(super) struct Reading {
    pub app: App,
    pub plan: Option<PlanId>,
    pub reader: Reader,
    pub cursor: Cursor,
    /// When they were told something last.
    pub told: Option<Instant>,
}

/// What comes next.
pub(super) enum Next {
    /// These messages.
    Messages(Vec<Message>),
    /// Nothing for a while.
    Silence,
    /// The server stops.
    Over,
}

impl Reading {
    /// Waits for what comes next. Nothing is kept meanwhile but the cursor.
    pub async fn next(&mut self) -> Next {
        if let Some(told) = self.told {
            tokio::select! {
                () = tokio::time::sleep_until(told + self.app.live.pause()) => {}
                () = self.app.stopping.cancelled() => return Next::Over,
            }
        }
        let silence = tokio::time::sleep(HEARTBEAT);
        tokio::pin!(silence);
        let mut grown = self.reader.channel.grown();
        loop {
            grown.borrow_and_update();
            match self.there().await {
                Ok(messages) if messages.is_empty() => {}
                Ok(messages) => {
                    if let Some(last) = messages.last() {
                        self.cursor = last.at.clone();
                    }
                    self.told = Some(Instant::now());
                    return Next::Messages(messages);
                }
                // The record cannot be read just now: the client comes back with its cursor.
                Err(_) => return Next::Over,
            }
            tokio::select! {
                biased;
                () = self.app.stopping.cancelled() => return Next::Over,
                changed = grown.changed() => if changed.is_err() { return Next::Over },
                () = &mut silence => return Next::Silence,
            }
        }
    }

    async fn there(&mut self) -> Result<Vec<Message>, Problem> {
        match (self.reader.channel.after(&self.cursor, AT_ONCE), &self.plan) {
            (After::Here(messages), _) => Ok(messages),
            (After::Behind, Some(plan)) => {
                let limit = u32::try_from(AT_ONCE).unwrap_or(u32::MAX);
                let turns = self.app.store().turns(plan, self.cursor.seq, limit).await?.items;
                let entries = turns.iter().flat_map(|turn| &turn.entries);
                let news = entries.filter(|entry| entry.seq > self.cursor.seq);
                let epoch = self.app.live.epoch();
                let news: Vec<Message> = news.map(|entry| journal_message(plan, entry, epoch)).collect();
                if !news.is_empty() {
                    return Ok(news);
                }
                // Only what a task said meanwhile is not there any more: they go on with what there still is of that.
                self.cursor = self.cursor.clone().max(self.reader.channel.floor());
                match self.reader.channel.after(&self.cursor, AT_ONCE) {
                    After::Here(messages) => Ok(messages),
                    After::Behind => Ok(Vec::new()), // it went on just now; there is more at once
                }
            }
            // Plans that changed since they were told something, as they stand now, make up for what was missed.
            (After::Behind, None) => {
                let at = self.reader.channel.last();
                let told = self.told.map_or_else(|| self.app.started.elapsed(), |told| told.elapsed() + MARGIN);
                let since = App::now().as_ms() - i64::try_from(told.as_millis()).unwrap_or(i64::MAX);
                let news = changed_since(&self.app, since, &at).await?;
                if news.is_empty() {
                    self.cursor = at;
                }
                Ok(news)
            }
        }
    }

    /// Tells whether the plan is over and everything about it was told.
    pub async fn is_all_told(&self) -> bool {
        let Some(plan) = &self.plan else { return false };
        let card = self.app.plan(plan.as_str()).await;
        card.is_ok_and(|card| card.card.state.is_over() && self.cursor.seq >= card.length)
    }

    /// The number of a message as clients say it back.
    pub fn id(&self, message: &Message) -> String {
        let epoch = self.app.live.epoch();
        match self.plan {
            Some(_) => message.at.written(epoch),
            None => format!("{}-{}-{epoch}", message.at.seq, App::now().as_ms()),
        }
    }

    /// Messages as events of the stream.
    fn frames(&self, messages: &[Message]) -> Bytes {
        match (&self.plan, messages) {
            (Some(_), [one]) => one.frame.clone(),
            (Some(_), many) => {
                let mut frames = Vec::with_capacity(many.iter().map(|one| one.frame.len()).sum());
                for one in many {
                    frames.extend_from_slice(&one.frame);
                }
                Bytes::from(frames)
            }
            // Of all plans, the number of a message says when it was sent.
            (None, many) => {
                let mut frames = Vec::new();
                for one in many {
                    frames.extend(format!("id: {}\nevent: {}\ndata: ", self.id(one), one.kind).into_bytes());
                    frames.extend_from_slice(&one.data);
                    frames.extend_from_slice(b"\n\n");
                }
                Bytes::from(frames)
            }
        }
    }
}

fn answer(first: &[u8], reading: Reading) -> Response {
    let mut greeting = b"retry: 1000\n\n".to_vec();
    greeting.extend_from_slice(first);
    // The connection asks for more when it has room: a client that does not read is not read for.
    let frames = stream::unfold((Some(greeting), reading), |(greeting, mut reading)| async move {
        let frame = match greeting {
            Some(greeting) => Bytes::from(greeting),
            None => match reading.next().await {
                Next::Messages(messages) => reading.frames(&messages),
                Next::Silence => Bytes::from_static(b": still here\n\n"),
                Next::Over => return None,
            },
        };
        Some((Ok::<Bytes, Infallible>(frame), (None, reading)))
    });
    let mut response = Body::from_stream(frames).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
