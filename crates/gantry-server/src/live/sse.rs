//! Server-sent events: one plan, or all of them, from wherever a client left off.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use gantry_core::id::PlanId;
use gantry_core::time::Timestamp;
use gantry_store::ListFilter;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::Instant;
use utoipa::IntoParams;

use super::channel::{After, Message, journal_message};
use super::cursor::Cursor;
use super::{Reader, pump};
use crate::app::App;
use crate::body::{Asked, Named};
use crate::listen::Pass;
use crate::problem::Problem;

/// How often something is written so that the connection stays.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How much earlier than what they were told last a reader is told again: what happens at the same time to several plans is
/// not always told in the order of their clocks.
const MARGIN_MS: i64 = 2_000;
/// Stands for the channel in numbers that no channel knows.
const NO_CHANNEL: &str = "past";
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
    pass: Pass,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let plan = app.id(&plan).await?;
    let reader = app.live.read(Some(&plan)).await?;
    let cursor = begin(&reader, said(&resume, &headers).as_deref())?;
    Ok(answer(&[], Reading::new(app, Some(plan), reader, cursor, pass)))
}

/// From where on a plan is read.
pub(super) fn begin(reader: &Reader, said: Option<&str>) -> Result<Cursor, Problem> {
    match said {
        Some(text) => Cursor::parse(text, reader.channel.epoch()).ok_or_else(|| unreadable(text)),
        None => Ok(reader.channel.last()),
    }
}

/// Streams what happens to all plans: one message whenever one has changed, with how it stands.
pub async fn of_all(
    State(app): State<App>,
    Asked(resume): Asked<Resume>,
    pass: Pass,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let reader = app.live.read(None).await?;
    let mut cursor = reader.channel.last();
    let mut first = Vec::new();
    if let Some(text) = said(&resume, &headers) {
        let (known, since) = parse_all(&text, reader.channel.epoch()).ok_or_else(|| unreadable(&text))?;
        let here = known.filter(|known| matches!(reader.channel.after(known, 0), After::Here(_)));
        match here {
            Some(known) => cursor = known,
            // From another life of this process, or from too long ago: whatever has changed since, as it stands now.
            None => first = changed_since(&app, since, &cursor, reader.channel.epoch()).await?,
        }
    }
    let reading = Reading::new(app, None, reader, cursor, pass);
    Ok(answer(&frames(&first), reading))
}

/// Reads `7-1700000000000-9f3a`: a number, when the plan had changed that it told of, and in which channel.
fn parse_all(text: &str, epoch: &str) -> Option<(Option<Cursor>, i64)> {
    let mut parts = text.trim().split('-');
    let (number, ms, life) = (parts.next()?.parse().ok()?, parts.next(), parts.next());
    match (ms, life, parts.next()) {
        (None, None, None) if number == 0 => Some((None, 0)),
        (Some(ms), Some(life), None) => Some(((life == epoch).then(|| Cursor::after(number)), ms.parse().ok()?)),
        _ => None,
    }
}

/// Plans that have changed since, as they stand now, the one that changed last at the end.
async fn changed_since(app: &App, since_ms: i64, at: &Cursor, epoch: &str) -> Result<Vec<Message>, Problem> {
    let since = Some(Timestamp::from_ms(since_ms.saturating_sub(MARGIN_MS)));
    let mut cards = gantry_store::all_plans(app.store(), &ListFilter { since, ..ListFilter::default() }).await?;
    cards.sort_by_key(|card| card.updated_at);
    let (mut messages, count) = (Vec::new(), cards.len());
    for (done, card) in cards.iter().enumerate() {
        let value = pump::progress(card, app.is_driven(card).await?);
        // Who has the last of them has them all; who breaks off before is told the rest by the clock.
        let epoch = if done + 1 == count { epoch } else { NO_CHANNEL };
        messages.push(Message::of_all(at.clone(), &value, card.updated_at.as_ms(), epoch));
    }
    Ok(messages)
}

fn said(resume: &Resume, headers: &HeaderMap) -> Option<String> {
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok()).map(str::to_owned);
    // A browser that comes back by itself says the newer of the two in the header.
    header.filter(|text| !text.is_empty()).or_else(|| resume.after.clone())
}

/// A number that is none.
fn unreadable(text: &str) -> Problem {
    Problem::wrong("live::cursor", format!("`{}` is no number of a message", gantry_view::named(text)))
        .hint("send the `id` of the last message that you have, or 0 for everything")
}

/// Someone who reads, and how far they are.
pub(super) struct Reading {
    pub app: App,
    plan: Option<PlanId>,
    reader: Reader,
    cursor: Cursor,
    /// When they were told something last.
    told: Option<Instant>,
    /// Of all plans: what has changed since then they may not have been told.
    since_ms: i64,
    /// What they were let in with.
    pass: Pass,
    /// When it was looked at last whether they may still be here, and what tells to look again.
    checked: Instant,
    accounts: watch::Receiver<u64>,
}

/// What comes next.
pub(super) enum Next {
    /// These messages.
    Messages(Vec<Message>),
    /// Nothing for a while.
    Silence,
    /// The server stops, or they may not read any more.
    Over,
}

impl Reading {
    /// Begins after a cursor.
    pub fn new(app: App, plan: Option<PlanId>, reader: Reader, cursor: Cursor, pass: Pass) -> Self {
        let (since_ms, checked, accounts) = (App::now().as_ms(), Instant::now(), app.access.changes());
        Self { app, plan, reader, cursor, told: None, since_ms, pass, checked, accounts }
    }

    /// Tells whether they may still be here: looked at when accounts change, and every now and then.
    async fn is_let_in(&mut self) -> bool {
        self.checked = Instant::now();
        self.accounts.borrow_and_update();
        self.pass.still_lets_in(&self.app).await
    }

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
        let is_to_look = self.checked.elapsed() >= HEARTBEAT || self.accounts.has_changed().unwrap_or_default();
        if is_to_look && !self.is_let_in().await {
            return Next::Over;
        }
        loop {
            grown.borrow_and_update();
            match self.there().await {
                Ok(messages) if messages.is_empty() => {}
                Ok(messages) => {
                    if let Some(last) = messages.last() {
                        self.cursor = last.at.clone();
                        self.since_ms = last.since_ms;
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
                // Nobody hears more than they may: who is let in comes before what there is to tell.
                _ = self.accounts.changed() => if !self.is_let_in().await { return Next::Over },
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
                let epoch = self.reader.channel.epoch();
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
                let news = changed_since(&self.app, self.since_ms, &at, self.reader.channel.epoch()).await?;
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
}

/// Messages as events of the stream.
fn frames(messages: &[Message]) -> Bytes {
    if let [one] = messages {
        return one.frame.clone();
    }
    let mut frames = Vec::with_capacity(messages.iter().map(|one| one.frame.len()).sum());
    for one in messages {
        frames.extend_from_slice(&one.frame);
    }
    Bytes::from(frames)
}

fn answer(first: &[u8], reading: Reading) -> Response {
    let mut greeting = b"retry: 1000\n\n".to_vec();
    greeting.extend_from_slice(first);
    // The connection asks for more when it has room: a client that does not read is not read for.
    let frames = stream::unfold((Some(greeting), reading), |(greeting, mut reading)| async move {
        let frame = match greeting {
            Some(greeting) => Bytes::from(greeting),
            None => match reading.next().await {
                Next::Messages(messages) => frames(&messages),
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
