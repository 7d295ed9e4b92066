//! How far a run is: a bar on a terminal, a line now and then elsewhere.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use gantry_many::bulk::Progress;
use gantry_many::results::{Row, Status};
use gantry_many::verify::{Finding, Verified};
use gantry_view::{count, plain};
use indicatif::{ProgressBar, ProgressStyle};

use crate::talk::talk;

/// How often something is said where there is no bar.
const EVERY: Duration = Duration::from_secs(5);
/// How many findings are named.
const FINDINGS_MAX: usize = 20;

/// Tells how far a run is.
pub struct Teller {
    quiet: bool,
    bar: Option<ProgressBar>,
    begun: Instant,
    said: Instant,
    topics: usize,
    before: usize,
    done: usize,
    failed: usize,
}

impl Teller {
    /// One that says nothing to programs.
    pub fn new(quiet: bool) -> Self {
        let now = Instant::now();
        Self { quiet, bar: None, begun: now, said: now, topics: 0, before: 0, done: 0, failed: 0 }
    }

    /// Hears how it goes on.
    pub fn hear(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Begun { topics, before } => self.begin(*topics, *before),
            Progress::Done(row) => self.one(row),
        }
    }

    fn begin(&mut self, topics: usize, before: usize) {
        (self.topics, self.before, self.begun) = (topics, before, Instant::now());
        if self.quiet {
            return;
        }
        if before > 0 {
            let verb = if before == 1 { "was" } else { "were" };
            talk!("{} {verb} done before", of(before, topics, "topic"));
        }
        if std::io::stderr().is_terminal() && before < topics {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {per_sec}  {eta} left  {msg}");
            let bar =
                ProgressBar::new(topics as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_position(before as u64);
            bar.reset_eta();
            self.bar = Some(bar);
        }
    }

    fn one(&mut self, row: &Row) {
        self.done += 1;
        let failed = row.status == Status::Failed;
        self.failed += usize::from(failed);
        if failed && !self.quiet {
            let line = format!("failed: {} ({})", plain(&row.topic), plain(&row.error));
            match &self.bar {
                Some(bar) => bar.suspend(|| talk!("{line}")),
                None => talk!("{line}"),
            }
        }
        if let Some(bar) = &self.bar {
            bar.inc(1);
            if self.failed > 0 {
                bar.set_message(format!("{} failed", self.failed));
            }
        } else if !self.quiet && (self.said.elapsed() >= EVERY || self.before + self.done == self.topics) {
            self.said = Instant::now();
            talk!("{}", self.line());
        }
    }

    /// How far it is, how fast, and how long it will take.
    #[expect(clippy::cast_precision_loss, reason = "a few thousand topics")]
    fn line(&self) -> String {
        let took = self.begun.elapsed().as_secs_f64().max(0.001);
        let rate = self.done as f64 / took;
        let left = self.topics - self.before - self.done;
        let mut line = format!("{} of {}, {rate:.1} a second", self.before + self.done, count(self.topics, "topic"));
        if left > 0 {
            let _ = write!(line, ", about {:.0} s left", left as f64 / rate.max(0.001));
        }
        if self.failed > 0 {
            let _ = write!(line, ", {} failed", self.failed);
        }
        line
    }

    /// Says how far it was when somebody stopped it.
    pub fn stopped(self) {
        let told = of(self.before + self.done, self.topics, "topic");
        self.close();
        talk!("stopped: {told} done; the same command goes on");
    }

    /// Clears the bar.
    pub fn close(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// So many of so many things.
pub fn of(some: usize, all: usize, noun: &str) -> String {
    format!("{some} of {}", count(all, noun))
}

/// What was found about the plans of a table, in words.
pub fn verified(found: &Verified) -> String {
    let verb = if found.sound == 1 { "is" } else { "are" };
    let mut text = format!("{} {verb} sound\n", of(found.sound, found.looked_at, "plan"));
    let parts: [(&str, &Vec<Finding>); 3] =
        [("missing", &found.missing), ("failed", &found.failed), ("without a plan", &found.without_plan)];
    for (what, findings) in parts {
        for finding in findings.iter().take(FINDINGS_MAX) {
            let which = if finding.plan_id.is_empty() { String::new() } else { format!(" {}", finding.plan_id) };
            let _ = writeln!(text, "{what}:{which} {} ({})", plain(&finding.topic), plain(&finding.why));
        }
        if findings.len() > FINDINGS_MAX {
            let _ = writeln!(text, "{what}: {} more", findings.len() - FINDINGS_MAX);
        }
    }
    text
}
