//! The API: every route with what it says about itself.

mod plans; // in reading order
mod steer;
mod tasks;
mod decompose;
mod bulk;
mod edits;
pub mod chat;
mod people;
mod record;
mod figures;
pub mod estimate;
mod report;
mod around;
mod more;
pub mod accounts;
mod health;
mod seeds;

use axum::Router;
use axum::http::Method;
use axum::routing::get;
use utoipa::openapi::Required;

use crate::access::{Account, AuditLine, Role, Who};
use crate::app::App;
use crate::body::Told;
use crate::documented::{Described, Does};
use crate::live::{self, Resume};
use crate::metrics;
use crate::shapes::{
    AccountMade, Answer, Anything, Cancel, Checkpoint, Created, Decide, Done, DoneForm, Edit, Edited, Fork, Heard,
    Imagine, Items, JournalPage, Judge, Judgement, ListQuery, NewAccount, NewEvidence, NewPlan, NewRevision, Note,
    PlanDetail, PlanPage, Resolve, Review, Revised, SignIn, TakeWay, TaskDetail, TryModels, Undo, Why,
};

pub use accounts::make as make_account;
pub use around::spent;
pub use bulk::{NewBulk, begun};
pub use figures::{computed, scheduled};
pub use people::{decide, decision, every_ask, every_gate, open_gates, reply};
pub use plans::{asked_for, make, page, standing};
pub use record::{all_hypotheses, all_revisions, audited, fork_at, life as life_at_entry};
pub use steer::go_on;
pub use tasks::{evidence, known, value as task_value};

/// All routes.
pub fn routes() -> Router<App> {
    described()
        .router()
        .route("/api/v1/openapi.json", get(|| async { Told(described().document()) }))
        // A WebSocket is no operation that the document could describe; docs/server.md does.
        .route("/ws/plans/{plan}/progress", get(live::progress))
}

/// All documented routes.
pub fn described() -> Described {
    use Required::{False, True};
    let post = Method::POST;
    let all = Described::default();
    let all = seeds::described(of_plans(all));
    of_chat(of_edits(of_server(of_bulk(of_more(of_rest(all))))))
        .route(
            post.clone(),
            "/api/v1/plans/{plan}/reviews",
            Role::Approver,
            people::review,
            Does::new("gates", "Decide several gates: all of them, or none")
                .takes::<Review>(True)
                .gives::<Heard>(200, "It is on record."),
        )
        .route(
            post,
            "/api/v1/plans/{plan}/asks/{task}/answer",
            Role::Approver,
            people::answer,
            Does::new("asks", "Answer a question, or approve or refuse a call")
                .takes::<Answer>(True)
                .gives::<Heard>(200, "It is on record."),
        )
        .route(
            Method::DELETE,
            "/api/v1/sessions/current",
            Role::Viewer,
            accounts::sign_out,
            Does::new("accounts", "Sign out").takes::<Why>(False).gives_nothing(204, "Nobody is signed in any more."),
        )
}

fn of_more(all: Described) -> Described {
    use Required::{False, True};
    let (get, post) = (Method::GET, Method::POST);
    all.route(
        get.clone(),
        "/api/v1/prompts/{name}",
        Role::Viewer,
        more::prompt,
        Does::new("house", "What a prompt takes, and what it says with its examples filled in")
            .asked::<more::InWords>()
            .gives::<Anything>(200, "The prompt."),
    )
    .route(
        get.clone(),
        "/api/v1/usage/prompts",
        Role::Viewer,
        more::prompt_uses,
        Does::new("house", "How often prompts were used, what that took, and which variant is best")
            .asked::<more::OfPrompt>()
            .gives::<Anything>(200, "The counts."),
    )
    .route(
        get.clone(),
        "/api/v1/usage/models",
        Role::Viewer,
        more::model_uses,
        Does::new("house", "What was asked of models: calls, failures, fallbacks, tokens, money and time")
            .asked::<more::OfPlan>()
            .gives::<Anything>(200, "The sums."),
    )
    .route(
        post.clone(),
        "/api/v1/models/test",
        Role::Operator,
        more::try_models,
        Does::new("house", "Ask models for one word, to see whether they answer")
            .takes::<TryModels>(False)
            .gives::<Anything>(200, "Who answered."),
    )
    .route(
        get.clone(),
        "/api/v1/templates/{name}/check",
        Role::Viewer,
        more::check_template,
        Does::new("house", "Whether a template holds together").gives::<Anything>(200, "What is wrong with it."),
    )
    .route(
        get,
        "/api/v1/plans/{plan}/replan",
        Role::Viewer,
        more::ways,
        Does::new("figures", "What would bring a late or too dear plan back, each way with its price")
            .gives::<Anything>(200, "The ways."),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/replan",
        Role::Operator,
        more::take_way,
        Does::new("figures", "Take one of these ways, as a new revision")
            .takes::<TakeWay>(True)
            .gives::<Heard>(200, "It is on record."),
    )
    .route(
        post,
        "/api/v1/plans/cancel",
        Role::Operator,
        more::cancel_all,
        Does::new("steering", "Give up every plan that is under way: the kill switch")
            .takes::<Why>(False)
            .gives::<Items>(200, "The plans, and whether each is given up."),
    )
}

fn of_bulk(all: Described) -> Described {
    let (get, post) = (Method::GET, Method::POST);
    all.route(
        post.clone(),
        "/api/v1/bulk",
        Role::Operator,
        bulk::begin,
        Does::new("bulk", "Make a plan of each topic of a list")
            .about("A run is durable: it goes on when the server starts again, and one topic of it never becomes two plans.")
            .header("Idempotency-Key", "The same key again gives the run that it gave first.")
            .takes::<bulk::NewBulk>(Required::True)
            .gives::<Anything>(202, "It is under way; look at it at `url`."),
    )
    .route(
        get.clone(),
        "/api/v1/bulk",
        Role::Viewer,
        bulk::list,
        Does::new("bulk", "All runs over lists of topics, the newest first").gives::<Items>(200, "The runs."),
    )
    .route(
        get.clone(),
        "/api/v1/bulk/{run}",
        Role::Viewer,
        bulk::show,
        Does::new("bulk", "How far a run is, how fast it goes, and its rows")
            .asked::<bulk::Rows>()
            .gives::<Anything>(200, "The run; `next` is the `after` of more rows."),
    )
    .route(
        get,
        "/api/v1/bulk/{run}/table",
        Role::Viewer,
        bulk::table,
        Does::new("bulk", "The table of a run, as far as it is").gives_media(200, &["text/csv"], "The table."),
    )
    .route(
        post.clone(),
        "/api/v1/bulk/{run}/stop",
        Role::Operator,
        bulk::stop,
        Does::new("bulk", "Stop a run; what is done stays").gives::<Anything>(200, "The run."),
    )
    .route(
        post,
        "/api/v1/bulk/{run}/resume",
        Role::Operator,
        bulk::go_on,
        Does::new("bulk", "Go on with a run, and try again what came to nothing").gives::<Anything>(202, "The run."),
    )
}

fn of_edits(all: Described) -> Described {
    use Required::{False, True};
    let (get, post) = (Method::GET, Method::POST);
    let revised = "What changed, and the number of the revision.";
    all.route(
        post.clone(),
        "/api/v1/plans/{plan}/tasks",
        Role::Operator,
        edits::add,
        Does::new("tasks", "Add a task at a place, as a new revision")
            .takes::<edits::TaskToAdd>(True)
            .gives::<Anything>(201, revised),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/tasks/{task}/change",
        Role::Operator,
        edits::change,
        Does::new("tasks", "Describe a task otherwise, as a new revision")
            .takes::<edits::TaskChanged>(True)
            .gives::<Anything>(200, revised),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/tasks/{task}/move",
        Role::Operator,
        edits::shift,
        Does::new("tasks", "Move a task with everything below it, as a new revision")
            .takes::<edits::TaskMoved>(True)
            .gives::<Anything>(200, revised),
    )
    .route(
        Method::DELETE,
        "/api/v1/plans/{plan}/tasks/{task}",
        Role::Operator,
        edits::delete,
        Does::new("tasks", "Delete a task with everything below it, as a new revision")
            .takes::<edits::TaskDeleted>(False)
            .gives::<Anything>(200, revised),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/revisions/undo",
        Role::Operator,
        edits::undo,
        Does::new("revisions", "Take back what a revision changed, as a new revision")
            .takes::<edits::TakeBackEdit>(False)
            .gives::<Anything>(200, revised),
    )
    .route(
        get,
        "/api/v1/plans/{plan}/snapshots",
        Role::Viewer,
        edits::kept,
        Does::new("revisions", "The revisions that someone keeps in mind, with their notes")
            .gives::<Items>(200, "The snapshots, the newest last."),
    )
    .route(
        post,
        "/api/v1/plans/{plan}/snapshots",
        Role::Operator,
        edits::keep,
        Does::new("revisions", "Keep the tree as it is now in mind, with a note")
            .takes::<edits::NewSnapshot>(True)
            .gives::<Anything>(201, "Which revision it is."),
    )
}

fn of_chat(all: Described) -> Described {
    all.route(
        Method::POST,
        "/chat/message",
        Role::Operator,
        chat::message,
        Does::new(
            "chat",
            "Say something about plans: a model proposes actions, and they are carried out before it is answered",
        )
        .about(
            "Where nothing of it could be done the answer is a problem, with what became of each action in `errors`.",
        )
        .header("Idempotency-Key", "The same key with the same message again gives the answer that it gave first.")
        .takes::<chat::ChatMessage>(Required::True)
        .gives::<chat::ChatAnswer>(200, "What was done.")
        .gives::<chat::ChatAnswer>(207, "Some of it was done, and some was not."),
    )
    .route(
        Method::GET,
        "/chat/sessions",
        Role::Viewer,
        chat::sessions,
        Does::new("chat", "Your talks, the newest first").gives::<Items>(200, "The talks."),
    )
    .route(
        Method::GET,
        "/chat/sessions/{name}",
        Role::Viewer,
        chat::session,
        Does::new("chat", "What was said in a talk of yours, and what was answered")
            .gives::<Items>(200, "The oldest first."),
    )
}

fn of_server(all: Described) -> Described {
    let get = Method::GET;
    all.open(
        get.clone(),
        "/healthz",
        health::healthz,
        Does::new("server", "That it answers").gives::<Anything>(200, "It answers."),
    )
    .open(
        get.clone(),
        "/readyz",
        health::readyz,
        Does::new("server", "Whether it can do its work: the record is read and written")
            .gives::<Anything>(200, "It can."),
    )
    .route(
        get.clone(),
        "/metrics",
        Role::Viewer,
        metrics::metrics,
        Does::new("server", "Figures for Prometheus").gives_media(200, &["text/plain"], "The figures."),
    )
    .route(
        get,
        "/api/v1/memory",
        Role::Viewer,
        around::memory,
        Does::new("record", "What plans remember under these keys, as it was last observed")
            .asked::<around::Keys>()
            .gives::<Items>(200, "One item for each key."),
    )
    .open(
        Method::POST,
        "/api/v1/sessions",
        accounts::sign_in,
        Does::new("accounts", "Sign in with a name and a password, or with a token")
            .takes::<SignIn>(Required::True)
            .gives_nothing(204, "The cookie of the session is set."),
    )
}

fn of_plans(all: Described) -> Described {
    use Required::{False, True};
    let (get, post) = (Method::GET, Method::POST);
    let heard = "It is on record.";
    let mut all = all
        .route(
            get.clone(),
            "/api/v1/plans",
            Role::Viewer,
            plans::list,
            Does::new("plans", "List plans, the newest first").asked::<ListQuery>().gives::<PlanPage>(200, "A page of plans."),
        )
        .route(
            post.clone(),
            "/api/v1/plans",
            Role::Operator,
            plans::create,
            Does::new("plans", "Create a plan from a file, from JSON, or from an objective in words")
                .about("A body that is no JSON is read as a plan file, such as `Content-Type: application/yaml`. It begins at once unless `start` is false.")
                .header("Idempotency-Key", "The same key with the same plan again gives the plan that it gave first.")
                .takes::<NewPlan>(True)
                .gives::<Created>(201, "It is created and waits for `start`.")
                .gives::<Created>(202, "It is created and has begun; watch it at `events`."),
        )
        .route(
            post.clone(),
            "/api/v1/plans/validate",
            Role::Viewer,
            plans::validate,
            Does::new("plans", "Say everything that is wrong with a plan, and create nothing").takes::<NewPlan>(True).gives::<Anything>(200, "What was found, with file, line and column."),
        )
        .route(
            post.clone(),
            "/api/v1/plans/estimate",
            Role::Viewer,
            estimate::estimate,
            Does::new("plans", "Say what a plan would ask of models at most, what that costs and how long it takes, and create nothing").takes::<NewPlan>(True).gives::<Anything>(200, "The figures."),
        )
        .route(
            get.clone(),
            "/api/v1/plans/{plan}",
            Role::Viewer,
            plans::detail,
            Does::new("plans", "Where a plan stands").gives::<PlanDetail>(200, "The plan. Its ETag changes with everything that happens to it."),
        )
        .route(
            Method::DELETE,
            "/api/v1/plans/{plan}",
            Role::Admin,
            plans::forget,
            Does::new("plans", "Remove a plan that is over, with everything that belongs to it").gives_nothing(204, "It is gone."),
        )
        .route(
            post.clone(),
            "/api/v1/plans/{plan}/cancel",
            Role::Operator,
            steer::cancel,
            Does::new("steering", "Give up a plan: stop everything at once").takes::<Cancel>(False).gives::<Heard>(200, heard),
        )
        .route(
            post.clone(),
            "/api/v1/plans/{plan}/undo",
            Role::Operator,
            steer::undo,
            Does::new("steering", "Take back what was done, the last thing first").takes::<Undo>(False).gives::<Heard>(202, heard),
        )
        .route(
            post.clone(),
            "/api/v1/plans/{plan}/checkpoints",
            Role::Operator,
            steer::checkpoint,
            Does::new("steering", "Mark a point to come back to").takes::<Checkpoint>(True).gives::<Heard>(200, heard),
        )
        .route(
            post.clone(),
            "/api/v1/plans/{plan}/notes",
            Role::Operator,
            steer::note,
            Does::new("steering", "Write something down about a plan").takes::<Note>(True).gives::<Heard>(200, heard),
        )
        .route(
            post.clone(),
            "/api/v1/plans/{plan}/revisions",
            Role::Operator,
            record::revise,
            Does::new("revisions", "Change a plan while it runs, as a new revision")
                .header("If-Match", "The revision that it was made from, such as `\"r2\"`.")
                .takes::<NewRevision>(True)
                .gives::<Revised>(200, "What changed."),
        )
        .route(
            post.clone(),
            "/api/v1/plans/{plan}/fork",
            Role::Operator,
            record::fork,
            Does::new("steering", "Begin another life of a plan from any point of its journal").takes::<Fork>(False).gives::<Created>(201, "The new plan."),
        )
        .route(
            post.clone(),
            "/api/v1/plans/{plan}/replay",
            Role::Viewer,
            record::replay,
            Does::new("record", "Decide everything again from what was recorded, and compare; perhaps under another policy or with another revision").takes::<Imagine>(False).gives::<Anything>(200, "Whether it is the same."),
        );
    all = all.route(
        post.clone(),
        "/api/v1/plans/{plan}/start",
        Role::Operator,
        steer::start,
        Does::new("steering", "Begin, or go on with, a plan")
            .takes::<Why>(False)
            .gives::<Heard>(202, "It is under way."),
    );
    all = all.route(
        post.clone(),
        "/api/v1/plans/{plan}/resume",
        Role::Operator,
        steer::start,
        Does::new("steering", "Go on with a plan from wherever it stands")
            .takes::<Why>(False)
            .gives::<Heard>(202, "It is under way."),
    );
    all = all.route(
        post.clone(),
        "/api/v1/plans/{plan}/pause",
        Role::Operator,
        steer::pause,
        Does::new("steering", "Start nothing new; what runs is let finish")
            .takes::<Why>(False)
            .gives::<Heard>(200, heard),
    );
    all = all.route(
        post.clone(),
        "/api/v1/plans/{plan}/pin",
        Role::Operator,
        steer::pin,
        Does::new("steering", "Keep a plan from being forgotten").gives_nothing(204, "It is pinned."),
    );
    all.route(
        Method::DELETE,
        "/api/v1/plans/{plan}/pin",
        Role::Operator,
        steer::unpin,
        Does::new("steering", "Let a plan be forgotten").gives_nothing(204, "It is not pinned."),
    )
}

fn of_rest(all: Described) -> Described {
    use Required::{False, True};
    let (get, post) = (Method::GET, Method::POST);
    let heard = "It is on record.";
    all.route(
        get.clone(),
        "/api/v1/plans/{plan}/definition",
        Role::Viewer,
        record::definition,
        Does::new("revisions", "The plan itself, as a plan file")
            .asked::<record::OfRevision>()
            .gives_media(200, &["application/yaml", "application/json", "text/vnd.mermaid"], "The plan; its ETag is its revision."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/revisions",
        Role::Viewer,
        record::revisions,
        Does::new("revisions", "All revisions, and why each was made").gives::<Items>(200, "The revisions."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/diff",
        Role::Viewer,
        record::diff,
        Does::new("revisions", "What changed between two revisions").asked::<record::Between>().gives::<Anything>(200, "What changed."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/journal",
        Role::Viewer,
        record::journal,
        Does::new("record", "What happened to a plan").asked::<record::JournalQuery>().gives::<JournalPage>(200, "Entries, in order."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/events",
        Role::Viewer,
        live::of_plan,
        Does::new("live", "Watch a plan: server-sent events that can be resumed")
            .about("Events are `journal` (on record, numbered for ever), `output`, `notice`, `progress` and `trouble`. Come back with `Last-Event-ID` or `after` and nothing is missed or told twice.")
            .asked::<Resume>()
            .header("Last-Event-ID", "The number of the last message that the client has.")
            .gives_media(200, &["text/event-stream"], "Events, until the client goes away."),
    )
    .route(
        get.clone(),
        "/api/v1/events",
        Role::Viewer,
        live::of_all,
        Does::new("live", "Watch all plans: one event whenever a plan has changed, with how it stands")
            .asked::<Resume>()
            .header("Last-Event-ID", "The number of the last message that the client has.")
            .gives_media(200, &["text/event-stream"], "Events, until the client goes away."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/state",
        Role::Viewer,
        record::state_at,
        Does::new("record", "How all tasks stood after an entry of the journal").asked::<record::At>().gives::<Anything>(200, "The states, by task."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/audit",
        Role::Viewer,
        record::audit,
        Does::new("record", "Whether the record is what was written, and who decided what").asked::<record::Kept>().gives::<Anything>(200, "The findings."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/tasks",
        Role::Viewer,
        tasks::list,
        Does::new("tasks", "The tasks of a plan").gives::<Items>(200, "The tasks, parts below their whole."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/tasks/{task}",
        Role::Viewer,
        tasks::detail,
        Does::new("tasks", "Everything that is known about a task").gives::<TaskDetail>(200, "The task. Its ETag changes with its outputs."),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/decompose",
        Role::Operator,
        decompose::plan,
        Does::new("tasks", "Break a plan down into smaller tasks, as a new revision").takes::<decompose::BreakDown>(False).gives::<Anything>(200, "What was made, and what was left out."),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/tasks/{task}/decompose",
        Role::Operator,
        decompose::task,
        Does::new("tasks", "Break a task down into smaller tasks, as a new revision").takes::<decompose::BreakDown>(False).gives::<Anything>(200, "What was made, and what was left out."),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/tasks/{task}/retry",
        Role::Operator,
        tasks::retry,
        Does::new("tasks", "Do a task again that has ended, and whatever that changes behind it").takes::<Why>(False).gives::<Heard>(200, heard),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/tasks/{task}/edit",
        Role::Operator,
        tasks::edit,
        Does::new("tasks", "Change what a finished task gave; exactly what works on it is done again")
            .header("If-Match", "The ETag of the task that was looked at.")
            .takes::<Edit>(True)
            .gives::<Edited>(200, "What is done again."),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/tasks/{task}/done",
        Role::Operator,
        tasks::done,
        Does::new("tasks", "Say that a task for people is done, and hand in what came of it")
            .about("As JSON, or as a form with files: each file in `evidence` is kept under its name.")
            .takes_or_form::<Done, DoneForm>(False).gives::<Heard>(200, heard),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/tasks/{task}/fail",
        Role::Operator,
        tasks::fail,
        Does::new("tasks", "Say that a task for people could not be done").takes::<Why>(True).gives::<Heard>(200, heard),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/tasks/{task}/resolve",
        Role::Operator,
        tasks::resolve,
        Does::new("tasks", "Say what to do about a task that asks for help").takes::<Resolve>(True).gives::<Heard>(200, heard),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/tasks/{task}/judge",
        Role::Approver,
        tasks::judge,
        Does::new("tasks", "Judge checks in words").takes::<Judge>(True).gives::<Heard>(200, heard),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/tasks/{task}/notes",
        Role::Operator,
        tasks::note,
        Does::new("tasks", "Write something down about a task").takes::<Note>(True).gives::<Heard>(200, heard),
    )
    .route(
        get.clone(),
        "/api/v1/gates",
        Role::Viewer,
        people::all_gates,
        Does::new("gates", "Every gate that waits for a decision, of all plans").gives::<Items>(200, "The gates."),
    )
    .route(
        get.clone(),
        "/api/v1/asks",
        Role::Viewer,
        people::all_asks,
        Does::new("asks", "Every question that waits for an answer, of all plans").gives::<Items>(200, "The questions."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/gates",
        Role::Viewer,
        people::gates,
        Does::new("gates", "The gates of a plan that wait for a decision").gives::<Items>(200, "The gates."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/gates/{gate}",
        Role::Viewer,
        people::gate,
        Does::new("gates", "A gate: what it checks, who may decide, who decided what").gives::<Anything>(200, "The gate."),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/gates/{gate}/approve",
        Role::Approver,
        people::approve,
        Does::new("gates", "Let what stands behind a gate go on").takes::<Decide>(False).gives::<Heard>(200, heard),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/gates/{gate}/reject",
        Role::Approver,
        people::reject,
        Does::new("gates", "Say no: what stands behind a gate does not happen").takes::<Decide>(True).gives::<Heard>(200, heard),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/gates/{gate}/needs-changes",
        Role::Approver,
        people::needs_changes,
        Does::new("gates", "Send the work before a gate back to be done once more").takes::<Decide>(True).gives::<Heard>(200, heard),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/asks",
        Role::Viewer,
        people::asks,
        Does::new("asks", "The questions of a plan that wait for an answer").gives::<Items>(200, "The questions."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/artifacts",
        Role::Viewer,
        record::artifacts,
        Does::new("artifacts", "What tasks made and is kept").gives::<Items>(200, "The artifacts, all versions."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/artifacts/{task}/{name}",
        Role::Viewer,
        record::artifact,
        Does::new("artifacts", "An artifact, byte for byte").asked::<record::OfVersion>().gives_media(200, &["application/octet-stream"], "Its content. Its ETag is its hash."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/schedule",
        Role::Viewer,
        figures::schedule,
        Does::new("figures", "Dates, critical path, people, cost and chance; how sound they are; what would be different").asked::<figures::Look>().gives::<Anything>(200, "The schedule."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/score",
        Role::Viewer,
        figures::score,
        Does::new("figures", "How good a plan is, in figures that nobody has to judge").gives::<Anything>(200, "The score, its dimensions and every count that they were made of."),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/judge",
        Role::Operator,
        figures::judge,
        Does::new("figures", "Have a model judge a plan by thirty criteria")
            .about("The asking is a plan of its own, so it is on record and paid for once: the same plan has the same judgement. Where no model judges, that is a problem (502).")
            .gives::<Judgement>(200, "The judgement."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/graph",
        Role::Viewer,
        figures::graph,
        Does::new("figures", "The tasks as a layered graph, with places to draw them at").asked::<record::At>().gives::<Anything>(200, "Boxes and lines."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/export",
        Role::Viewer,
        figures::export,
        Does::new("figures", "A plan in another form: yaml, json, mermaid, csv, ical or msproject")
            .asked::<figures::Form>()
            .gives_media(200, &["application/yaml", "application/json", "text/vnd.mermaid", "text/csv", "text/calendar", "application/xml"], "The file."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/report",
        Role::Viewer,
        report::report,
        Does::new("figures", "The report about a plan, finished or not, as one page or as text")
            .asked::<report::Reader>()
            .gives_media(200, &["text/html", "text/markdown", "application/json"], "The report."),
    )
    .route(
        get.clone(),
        "/api/v1/plans/{plan}/hypotheses",
        Role::Viewer,
        record::hypotheses,
        Does::new("hypotheses", "Statements to be tested, their evidence, and how sure one is").gives::<Items>(200, "The statements."),
    )
    .route(
        post.clone(),
        "/api/v1/plans/{plan}/hypotheses/{name}/evidence",
        Role::Operator,
        record::evidence,
        Does::new("hypotheses", "Add evidence for or against a statement").takes::<NewEvidence>(True).gives::<Heard>(200, heard),
    )
    .route(
        get.clone(),
        "/api/v1/templates",
        Role::Viewer,
        around::templates,
        Does::new("house", "The templates that plans are made by").gives::<Items>(200, "The templates."),
    )
    .route(
        get.clone(),
        "/api/v1/templates/{name}",
        Role::Viewer,
        around::template,
        Does::new("house", "A template: its sections and its files").gives::<Anything>(200, "The template."),
    )
    .route(get.clone(), "/api/v1/prompts", Role::Viewer, around::prompts, Does::new("house", "All prompts").gives::<Anything>(200, "The prompts."))
    .route(
        get.clone(),
        "/api/v1/models",
        Role::Viewer,
        around::models,
        Does::new("house", "Which models answer for which role, and at what price").gives::<Anything>(200, "The models."),
    )
    .route(
        get.clone(),
        "/api/v1/cost",
        Role::Viewer,
        around::cost,
        Does::new("house", "What was spent, by day, by model and by plan").gives::<Anything>(200, "The sums."),
    )
    .route(
        get.clone(),
        "/api/v1/search",
        Role::Viewer,
        around::search,
        Does::new("record", "Find plans, tasks and artifacts by their words").asked::<around::Words>().gives::<Items>(200, "What was found."),
    )
    .route(
        get.clone(),
        "/api/v1/doctor",
        Role::Admin,
        around::doctor,
        Does::new("house", "Whether this machine has what plans need").gives::<Anything>(200, "The findings."),
    )
    .route(
        get.clone(),
        "/api/v1/schema",
        Role::Viewer,
        around::schema,
        Does::new("house", "The JSON Schema of plan files").gives::<Anything>(200, "The schema."),
    )
    .route(get.clone(), "/api/v1/me", Role::Viewer, accounts::me, Does::new("accounts", "Who you are").gives::<Who>(200, "You."))
    .route(
        post.clone(),
        "/api/v1/accounts",
        Role::Admin,
        accounts::add,
        Does::new("accounts", "Make an account: with a password, or with a token that is shown once").takes::<NewAccount>(True).gives::<AccountMade>(201, "It is made."),
    )
    .route(
        get.clone(),
        "/api/v1/accounts",
        Role::Admin,
        accounts::list,
        Does::new("accounts", "All accounts").gives_list::<Account>(200, "The accounts."),
    )
    .route(
        Method::DELETE,
        "/api/v1/accounts/{name}",
        Role::Admin,
        accounts::remove,
        Does::new("accounts", "Remove an account; whoever is signed in with it is not any more").gives_nothing(204, "It is gone."),
    )
    .route(
        get,
        "/api/v1/audit",
        Role::Admin,
        accounts::audit,
        Does::new("accounts", "The last requests that may have changed something, the newest first").gives_list::<AuditLine>(200, "The requests."),
    )
}
