//! `gantry replay`: decides a plan's whole life again from what was recorded, and compares.

use std::process::ExitCode;

use gantry_core::event::Event;
use gantry_core::id::Revision;
use gantry_core::plan::Plan;
use gantry_core::policy::Policy;
use gantry_engine::{ChangedPrompt, Clock, Difference, Replayed, SystemClock, WhatIf, changed_prompts};
use gantry_runners::Models;
use serde_json::json;

use crate::arguments::ThePlan;
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::file;
use crate::model::options::ModelOptions;
use crate::model::set_up::Configured;
use crate::session::{self, Record};
use crate::show::plain;
use crate::show::words::said;
use crate::talk::talk;
use crate::version;

/// Decide a plan's whole life again from what was recorded, and compare
///
/// Nothing is run and nothing is changed. Turns that nobody decided are counted: the part of a turn that a fork begins
/// with, or what someone else wrote into an imported journal. Without a question the result must be the same, or the
/// exit code is 5. A prompt that was changed since the plan used it is told, with the tasks that would be asked again.
///
/// With --policy or --revision it asks "what if": what was recorded is decided again under another policy, or with
/// another revision of the plan from the beginning on, and it says where the life would have taken another way.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry replay @last\n  gantry replay 7 --policy strict.yaml    (a file with a `policy` map, or a plan file)\n  gantry replay 7 --revision 1            (what if it had never been revised)\n  gantry replay 7 --revision better.yaml  (what if this had been the plan)"
)]
pub struct Args {
    #[command(flatten)]
    plan: ThePlan,
    /// What if this had been its policy: a file with a `policy` map, or a plan file
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,
    /// What if this had been the plan from the beginning on: the number of one of its revisions, or a plan file
    #[arg(long, value_name = "N|FILE")]
    revision: Option<String>,
    #[command(flatten)]
    models: ModelOptions,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let policy = args.policy.as_deref().map(load_policy).transpose()?;
    session::block_on(async {
        let desk = Desk::open(&args.record, &args.plan).await?;
        let revision = match args.revision.as_deref() {
            Some(wanted) => Some(load_revision(&desk, wanted).await?),
            None => None,
        };
        let what_if = match (&policy, &revision) {
            (None, None) => None,
            (Some(_), None) => Some("policy"),
            (None, Some(_)) => Some("revision"),
            (Some(_), Some(_)) => Some("revision and policy"),
        };
        let replayed = gantry_engine::replay(desk.store(), desk.id(), WhatIf { policy, revision }).await?;
        let models = Models::new(Configured(args.models.clone()));
        let prompts = changed_prompts(&desk.life().await?, &models, SystemClock::new().now());
        if args.record.json {
            print_json(desk.id().as_str(), what_if, &replayed, &prompts)?;
        } else {
            tell(desk.id().as_str(), what_if, &replayed)?;
            prompts.iter().for_each(tell_prompt);
        }
        let changed = replayed.difference.is_some() && what_if.is_none();
        Ok(ExitCode::from(if changed { exit::REFUSED } else { exit::DONE }))
    })
}

fn tell(plan: &str, what_if: Option<&str>, replayed: &Replayed) -> Result<(), Fault> {
    let turns = file::count(usize::try_from(replayed.turns).unwrap_or(usize::MAX), "turn");
    let entries = file::entries(replayed.entries);
    let Some(Difference { seq, recorded, decided }) = &replayed.difference else {
        let same = match (what_if, replayed.given) {
            (Some(other), _) => format!("the {other} changes nothing"),
            (None, 0) => "everything is the same".to_owned(),
            (None, _) => "what was decided is the same".to_owned(),
        };
        exit::print(&format!("{plan}: {turns} decided again, {entries} compared: {same}\n"))?;
        tell_given(replayed);
        return Ok(());
    };
    let words = |event: &Option<Box<Event>>| event.as_ref().map_or("nothing".to_owned(), |event| said(event).line());
    let mut lines = vec![
        format!("{plan}: another way at entry {seq}; what stands before is the same\n"),
        format!("  recorded: {}\n  decided:  {}\n", words(recorded), words(decided)),
    ];
    if let (Some(recorded), Some(decided)) = (recorded, decided)
        && said(recorded).line() == said(decided).line()
    {
        let json = |event: &Event| serde_json::to_string(event).unwrap_or_default();
        lines.push(format!("  recorded: {}\n  decided:  {}\n", json(recorded), json(decided)));
    }
    exit::print(&lines.concat())?;
    if let Some(other) = what_if {
        let with = if other == "policy" { "under this policy".to_owned() } else { format!("with this {other}") };
        talk!("{with} the plan would have gone another way from there; the record is unchanged");
    } else {
        talk!("this program decides otherwise than the one that wrote the journal");
    }
    Ok(())
}

/// What nobody decided says nothing about who wrote it.
fn tell_given(replayed: &Replayed) {
    if replayed.given > 0 {
        let turns = file::count(usize::try_from(replayed.given).unwrap_or(usize::MAX), "turn");
        talk!("{turns} of it cannot be decided again: nobody decided it, it was given as it stands");
    }
}

/// The record answers as it did; with the prompt as it is now, the plan would ask again.
fn tell_prompt(changed: &ChangedPrompt) {
    let tasks: Vec<String> = changed.asked_again.iter().map(|task| format!("`{task}`")).collect();
    let then = match tasks.as_slice() {
        [] => "no task would be asked again with it".to_owned(),
        tasks => format!("{} would be asked again with it", tasks.join(", ")),
    };
    talk!("the prompt `{}` is another one now than when the plan used it: {then}", plain(&changed.prompt));
}

fn print_json(plan: &str, what_if: Option<&str>, replayed: &Replayed, prompts: &[ChangedPrompt]) -> Result<(), Fault> {
    let difference = replayed.difference.as_ref().map(
        |difference| json!({"seq": difference.seq, "recorded": difference.recorded, "decided": difference.decided}),
    );
    let all = json!({
        "plan": plan, "what_if": what_if.is_some(), "same": difference.is_none(), "turns": replayed.turns,
        "entries": replayed.entries, "given": replayed.given, "difference": difference,
        "changed_prompts": prompts.iter().map(|changed| {
            json!({"prompt": changed.prompt, "asked_again": changed.asked_again})
        }).collect::<Vec<_>>(),
    });
    exit::print_json(&all)
}

/// Reads one of the plan's own revisions, or a plan file.
async fn load_revision(desk: &Desk, wanted: &str) -> Result<Plan, Fault> {
    match wanted.strip_prefix('r').unwrap_or(wanted).parse() {
        Ok(number) => version::at(desk.store(), desk.id(), Some(Revision(number))).await,
        Err(_) => file::load_sound(wanted),
    }
}

/// Reads the policy of a plan file, or of a file with nothing but a policy.
fn load_policy(path: &str) -> Result<Policy, Fault> {
    let loaded = file::load(path)?;
    if let Some(plan) = loaded.plan {
        return Ok(plan.policy);
    }
    // With the smallest plan around it, a policy alone is read and checked like any other.
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = gantry_format::load(path, format!("{text}\ntitle: what if\ntasks: [{{id: nothing}}]\n").as_bytes());
    if let Some(plan) = whole.plan
        && plan.policy != Policy::default()
    {
        return Ok(plan.policy);
    }
    file::tell(&loaded);
    Err(Fault::bad_input(format!("`{path}` has no policy that can be used"))
        .hint("write a map under `policy:`, such as `policy: {budget: {cost_usd: 5}}`, or name a plan file"))
}
