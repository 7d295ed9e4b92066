//! Plans whose tasks are done by models, from the command line, with a real server on this machine.

use gantry_testkit::model_server::{Heard, ModelServer, Turn};
use serde_json::{Value, json};

use super::kit::Kit;

const KEY: &str = "sk-do-not-show-me-anywhere";

/// A kit whose models are at this server.
fn asking(server: &ModelServer) -> Kit {
    let kit = Kit::new();
    let address = server.base_url();
    kit.write(
        "gantry.toml",
        format!("[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{address}\"\nkey_env = \"HERE_KEY\"\ntools = false\nretries = 0\n\n[profiles.balanced]\ndefault = \"here:m\"\n"),
    );
    kit
}

fn run(kit: &Kit, line: &str) -> String {
    kit.with_variable("HERE_KEY", KEY, line)
}

/// What the server was asked last, as one text.
fn words(heard: &Heard) -> String {
    let messages = heard.body["messages"].as_array().unwrap();
    messages.iter().filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_model_does_a_task_and_what_it_used_is_counted() {
    let server = ModelServer::start();
    server.then(Turn::json(&json!({"cause": "a timeout", "seconds": 30})).usage(100, 20));
    let kit = asking(&server);
    kit.write("plan.yaml", "id: log\ntitle: Read a log\ntasks:\n  - {id: look, run: echo timeout after 30 s}\n  - id: explain\n    depends_on: [look]\n    inputs: {log: tasks.look.stdout}\n    model: {instruction: Say what is wrong.}\n    outputs: {cause: {type: text}, seconds: {type: integer}}\n    success_criteria: [\"seconds == 30\"]\n");
    let said = run(&kit, "run plan.yaml");
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert!(said.contains("cause = a timeout") && said.contains("seconds = 30"), "{said}");
    let status = kit.json("status log --json");
    assert_eq!((&status["used"]["model_calls"], &status["used"]["tokens"]), (&json!(1), &json!(120)), "{status}");
    assert!(words(&server.heard()[0]).contains("timeout after 30 s"));
    assert!(run(&kit, "replay log").ends_with("[exit 0]"), "it is decided again without asking anyone");
    assert_eq!(server.counts().requests, 1);
    assert!(!kit.record_holds(KEY.as_bytes()) && !said.contains(KEY));
}

#[test]
fn when_a_model_fails_the_offline_model_answers_unless_that_is_forbidden() {
    let server = ModelServer::start();
    server.always(Turn::status(500));
    let kit = asking(&server);
    kit.write(
        "plan.yaml",
        "id: one\ntitle: One\npolicy: {retry: {max: 0}}\ntasks: [{id: say, model: {instruction: Say something.}}]\n",
    );
    let said = run(&kit, "run plan.yaml");
    assert!(said.contains("answered by gantry-offline-task instead of here:m"), "{said}");
    assert!(said.ends_with("[exit 0]"), "{said}");
    kit.write("plan.yaml", "id: two\ntitle: Two\npolicy: {retry: {max: 0}, recovery: {transient: [abort]}}\ntasks: [{id: say, model: {instruction: Say something.}}]\n");
    let said = run(&kit, "run plan.yaml --strict");
    assert!(said.contains("500") && said.ends_with("[exit 3]"), "{said}");
}

#[test]
fn an_agent_works_with_tools_and_its_turns_are_in_the_log() {
    let server = ModelServer::start();
    server.otherwise(one_step_at_a_time);
    let kit = asking(&server);
    kit.write("plan.yaml", AGENT);
    let said = run(&kit, "run plan.yaml");
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert_eq!(kit.read("log"), b"once\n");
    let log = kit.gantry(&["log", "helper"]);
    assert!(log.contains("turn 1: shell") && log.contains("turn 2: finish"), "{log}");
}

const AGENT: &str = "id: helper\ntitle: Let an agent do it\npolicy: {agent_planning: true}\ntasks:\n  - id: work\n    agent: {goal: Append one line to the file log., tools: [shell]}\n";

/// Calls the shell first, and is finished once it has seen what came of it.
fn one_step_at_a_time(heard: &Heard) -> Turn {
    let step = |tool: &str, args: Value, answer: &str| {
        Turn::json(&json!({"thought": "next", "tool": tool, "args": args, "answer": answer}))
    };
    if words(heard).contains("exit_code: 0") {
        step("finish", json!({}), "It is there.")
    } else {
        step("shell", json!({"command": "echo once >> log"}), "")
    }
}

/// However often it is killed, no answer that was recorded is asked for again, and no command that was recorded runs again.
#[test]
fn an_agent_that_is_killed_anywhere_goes_on_without_repeating_what_was_answered() {
    for (point, asked) in [
        ("call_made:1", 3),
        ("call_ended:1", 2),
        ("call_begun:1", 3),
        ("call_begun:2", 2),
        ("call_ended:2", 2),
        ("call_made:3", 3),
        ("after_effect:1", 2),
    ] {
        let server = ModelServer::start();
        server.otherwise(one_step_at_a_time);
        let kit = asking(&server);
        kit.write("plan.yaml", AGENT);
        let variables = [("HERE_KEY", KEY), ("GANTRY_CRASH_AT", point)];
        assert!(kit.dies(&variables, "run plan.yaml"), "{point}");
        let mut said = run(&kit, "resume helper");
        if point == "call_begun:2" {
            // The command may have run when the process went away: that is for a person to say.
            assert!(said.contains("it may have happened") && said.ends_with("[exit 4]"), "{said}");
            assert!(run(&kit, "task resolve helper work retry").ends_with("[exit 0]"));
            said = run(&kit, "resume helper");
        }
        assert!(said.ends_with("[exit 0]"), "{point}: {said}");
        assert_eq!(kit.read("log"), b"once\n", "{point}");
        let requests = server.counts().requests;
        assert!(requests <= asked + usize::from(point == "call_begun:2") * 2, "{point}: asked {requests} times");
        assert!(run(&kit, "audit helper").ends_with("[exit 0]"), "{point}");
    }
}

/// From the first byte that is on disk, a reply is there: whatever the process was about to do with it.
#[test]
fn a_reply_that_has_come_is_never_asked_for_again_wherever_the_process_is_killed() {
    let text = "id: one\ntitle: One\ntasks: [{id: say, model: {instruction: Say something.}}]\n";
    let kept = text.replace("something.}", "something.}, artifacts: [notes]");
    for plan in [text, &kept] {
        // It is on record; the attempt has ended; the turn that takes its end is about to be written.
        for point in ["call_ended:1", "after_effect:1", "before_append:2"] {
            let server = ModelServer::start();
            server.then(Turn::text("This was paid for.").usage(100, 20)).then(Turn::text("This was paid for again."));
            let kit = asking(&server);
            kit.write("plan.yaml", plan);
            assert!(kit.dies(&[("HERE_KEY", KEY), ("GANTRY_CRASH_AT", point)], "run plan.yaml"), "{point}");
            let said = run(&kit, "resume one");
            assert!(said.contains("This was paid for.") && said.ends_with("[exit 0]"), "{point}: {said}");
            assert_eq!(server.counts().requests, 1, "{point}: {plan}");
            let used = &kit.json("status one --json")["used"];
            assert_eq!(
                (&used["model_calls"], &used["tokens"]),
                (&json!(1), &json!(120)),
                "{point}: it is counted once"
            );
            assert!(run(&kit, "audit one").ends_with("[exit 0]"), "{point}");
        }
    }
}

/// Calls tools by itself: the shell first, and `finish` once it has seen what came of it.
fn calls_by_itself(heard: &Heard) -> Turn {
    if heard.body["input"].to_string().contains("exit_code: 0") {
        Turn::calls([("finish", json!({"text": "It is there."}))]).id("resp_2")
    } else {
        Turn::calls([("shell", json!({"command": "echo once >> log"}))]).id("resp_1")
    }
}

#[test]
fn an_agent_that_is_killed_goes_on_after_the_answer_that_its_provider_keeps() {
    for point in ["call_ended:1", "call_ended:2"] {
        let server = ModelServer::start();
        server.otherwise(calls_by_itself);
        let kit = asking(&server);
        let config = String::from_utf8(kit.read("gantry.toml")).unwrap();
        kit.write(
            "gantry.toml",
            config.replace("openai-chat", "openai-responses").replace("tools = false", "keep = true"),
        );
        kit.write("plan.yaml", AGENT);
        assert!(kit.dies(&[("HERE_KEY", KEY), ("GANTRY_CRASH_AT", point)], "run plan.yaml"), "{point}");
        let said = run(&kit, "resume helper");
        assert!(said.ends_with("[exit 0]"), "{point}: {said}");
        assert_eq!(kit.read("log"), b"once\n", "{point}");
        let [first, second] = &server.bodies()[..] else { panic!("{point}: {:?}", server.bodies()) };
        assert_eq!((first.get("previous_response_id"), &first["store"]), (None, &json!(true)), "{point}");
        assert_eq!((&second["previous_response_id"], &second["store"]), (&json!("resp_1"), &json!(true)), "{point}");
        let sent: Vec<&Value> = second["input"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
        assert_eq!(sent, ["function_call_output"], "{point}: only what the shell gave is sent");
    }
}

#[test]
fn a_model_judges_what_words_demand_and_its_reason_goes_back_to_the_task() {
    let server = ModelServer::start();
    server.otherwise(|heard| {
        let said = words(heard);
        if said.contains("You judge whether checks hold") {
            let good = said.contains("3 seconds");
            Turn::json(&json!({"verdicts": [{"check": 1, "reason": if good { "it does" } else { "there is no number" }, "holds": good}]}))
        } else if said.contains("You are the critic") {
            Turn::json(&json!({"faults": [{"criterion": 1, "fault": "no number"}], "proposal": "fix", "instruction": "measure it"}))
        } else if said.contains("measure it") {
            Turn::text("It takes 3 seconds.")
        } else {
            Turn::text("It is slow.")
        }
    });
    let kit = asking(&server);
    kit.write("plan.yaml", "id: judged\ntitle: Judged\npolicy: {judge: model, recovery: {logic: [repair, escalate]}}\ntasks:\n  - id: say\n    model: {instruction: Say how slow it is.}\n    success_criteria: [there is a number in it]\n");
    let said = run(&kit, "run plan.yaml");
    assert!(said.contains("It takes 3 seconds.") && said.ends_with("[exit 0]"), "{said}");
    let used = kit.json("status judged --json")["used"]["model_calls"].clone();
    assert_eq!(used, json!(5), "two answers, two judgements and one critique");
}

#[test]
fn a_critic_who_says_that_this_way_leads_nowhere_has_the_other_way_taken() {
    let server = ModelServer::start();
    server.otherwise(|heard| {
        let said = words(heard);
        if said.contains("You judge whether checks hold") {
            let good = said.contains("3 seconds");
            Turn::json(&json!({"verdicts": [{"check": 1, "reason": if good { "it does" } else { "a guess" }, "holds": good}]}))
        } else if said.contains("You are the critic") {
            Turn::json(&json!({"faults": [{"criterion": 1, "fault": "a guess"}], "proposal": "alternate", "instruction": "run it"}))
        } else {
            Turn::text("It is slow.")
        }
    });
    let kit = asking(&server);
    kit.write("plan.yaml", "id: judged\ntitle: Judged\npolicy: {judge: model, recovery: {logic: [repair, escalate]}}\ntasks:\n  - id: say\n    model: {instruction: Say how slow it is.}\n    alternates: [{run: echo It takes 3 seconds.}]\n    success_criteria: [it was measured]\n");
    let said = run(&kit, "run plan.yaml");
    assert!(said.contains("It takes 3 seconds.") && said.ends_with("[exit 0]"), "{said}");
    let log = run(&kit, "log judged");
    assert!(log.contains("run it"), "what the critic proposed is on record: {log}");
}

const STORY: &str = "id: story\ntitle: A story\ntasks:\n  - {id: name, model: {instruction: Name somebody.}}\n  - {id: tell, depends_on: [name], model: {instruction: Tell a story.}}\n";

/// How many calls the record has that were begun and never answered.
fn unanswered(kit: &Kit) -> i64 {
    let conn = rusqlite::Connection::open(kit.record()).unwrap();
    let query = "SELECT count(*) FROM effect WHERE kind = 'model' AND answer IS NULL";
    conn.query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_process_that_is_killed_in_the_middle_of_an_answer_loses_nothing_that_was_paid_for() {
    let server = ModelServer::start();
    server.then(Turn::text("Ana.")).then(Turn::text("Once upon a time there was").silent_after(6));
    server.always(Turn::text("Once upon a time there was Ana."));
    let kit = asking(&server);
    kit.write("plan.yaml", STORY);
    assert_eq!(kit.code("list"), 0, "the record exists before two processes open it");
    let beside = kit.beside_with(&[("HERE_KEY", KEY)], "run plan.yaml");
    let kept = || kit.gantry(&["artifact", "list", "story"]).contains("answer (1 part");
    assert!((0..2_000).any(|_| kept()), "what came of the answer was never kept");
    beside.signal(rustix::process::Signal::KILL);
    assert_eq!(beside.ended(), None, "it was killed");
    assert_eq!((server.counts().requests, unanswered(&kit)), (2, 1), "that the second call was begun is on record");
    let part = kit.gantry(&["artifact", "get", "story/tell/answer.part-1", "--output", "-"]);
    assert!(part.starts_with("Once upon a time"), "{part}");
    let said = run(&kit, "resume story");
    assert!(said.contains("here:m is asked again") && said.ends_with("[exit 0]"), "{said}");
    assert_eq!(server.counts().requests, 3, "what was answered is not asked again");
    let used = kit.json("status story --json")["used"]["model_calls"].clone();
    assert_eq!(used, json!(2), "nobody knows what the call used that was cut off");
    assert!(kit.gantry(&["artifact", "list", "story"]).contains("answer ("), "what had come stays");
    assert!(run(&kit, "audit story").ends_with("[exit 0]"));
}

#[test]
fn an_answer_that_took_several_calls_is_not_begun_anew_after_a_kill() {
    let server = ModelServer::start();
    server.otherwise(|heard| match heard.body["messages"].as_array().map_or(0, Vec::len) {
        2 => Turn::text("Once upon ").cut_off(),
        _ => Turn::text("a time."),
    });
    let kit = asking(&server);
    kit.write("plan.yaml", "id: story\ntitle: A story\ntasks: [{id: tell, model: {instruction: Tell a story.}}]\n");
    // The first reply is on record, the second has come and is not.
    assert!(kit.dies(&[("HERE_KEY", KEY), ("GANTRY_CRASH_AT", "call_made:2")], "run plan.yaml"));
    assert_eq!(server.counts().requests, 2);
    let said = run(&kit, "resume story");
    assert!(said.contains("Once upon a time.") && said.ends_with("[exit 0]"), "{said}");
    assert_eq!(server.counts().requests, 3, "only the second call is made again");
    assert_eq!(kit.json("status story --json")["used"]["model_calls"], json!(2));
}

#[test]
fn a_reply_whose_faults_were_shown_is_not_paid_for_again_after_a_kill() {
    let server = ModelServer::start();
    server.otherwise(|heard| {
        let told = words(heard).contains("many");
        Turn::json(&if told { json!({"seconds": 30}) } else { json!({"seconds": "many"}) })
    });
    let kit = asking(&server);
    kit.write("plan.yaml", "id: log\ntitle: Read a log\ntasks:\n  - id: count\n    model: {instruction: When did it fail?}\n    outputs: {seconds: {type: integer}}\n");
    // The first reply is on record, the second has come and is not.
    assert!(kit.dies(&[("HERE_KEY", KEY), ("GANTRY_CRASH_AT", "call_made:2")], "run plan.yaml"));
    assert_eq!(server.counts().requests, 2);
    let said = run(&kit, "resume log");
    assert!(said.contains("seconds = 30") && said.ends_with("[exit 0]"), "{said}");
    assert_eq!(server.counts().requests, 3, "only the second call is made again");
    assert_eq!(kit.json("status log --json")["used"]["model_calls"], json!(2));
}

#[test]
fn a_task_that_the_offline_model_did_in_the_place_of_another_is_degraded_and_says_so_everywhere() {
    let server = ModelServer::start();
    server.always(Turn::status(500));
    let kit = asking(&server);
    kit.write("plan.yaml", STORY);
    let said = run(&kit, "run plan.yaml");
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert!(said.contains("degraded: name: gantry-offline-task answered instead of here:m"), "{said}");
    let log = kit.gantry(&["log", "story"]);
    assert!(log.contains("the plan is completed; degraded: name, tell"), "{log}");
    let status = kit.gantry(&["status", "story"]);
    assert!(status.contains("degraded: gantry-offline-task answered instead of here:m"), "{status}");
    let json = kit.json("status story --json");
    assert_eq!(json["degraded"], json!(["name", "tell"]));
    assert_eq!(json["task_list"][0]["degraded"], json!(true));
    assert!(json["task_list"][0]["about"].as_str().unwrap().contains("500"), "{json}");
    assert!(run(&kit, "replay story").ends_with("[exit 0]"));
}

#[test]
fn a_run_that_only_the_offline_model_serves_says_once_why_and_what_to_set() {
    let kit = Kit::new();
    kit.write("plan.yaml", STORY);
    let said = kit.gantry(&["run", "plan.yaml"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    let notes: Vec<&str> = said.lines().filter(|line| line.contains("only the offline model answers")).collect();
    assert_eq!(notes.len(), 1, "{said}");
    assert!(notes[0].contains("OPENAI_API_KEY"), "{}", notes[0]);
    assert_eq!(kit.json("status story --json")["degraded"], json!([]), "nobody else was asked");
    kit.write("plan.yaml", "id: no-models\ntitle: Without models\ntasks: [{id: say, run: echo hello}]\n");
    assert!(!kit.gantry(&["run", "plan.yaml"]).contains("offline"), "nobody needs to know");
}

#[test]
fn the_views_tell_what_a_real_plan_asked_made_and_cost() {
    let server = ModelServer::start();
    server.then(Turn::json(&json!({"cause": "a timeout"})).usage(100, 20));
    let kit = asking(&server);
    kit.write("plan.yaml", "id: log\ntitle: Read a log\ntasks:\n  - {id: look, run: echo timeout}\n  - id: explain\n    depends_on: [look]\n    model: {instruction: Say what is wrong.}\n    outputs: {cause: {type: text}}\n");
    assert!(run(&kit, "run plan.yaml").ends_with("[exit 0]"));
    let conn = rusqlite::Connection::open(kit.record()).unwrap();
    let all = |query: &str| -> Vec<String> {
        let mut statement = conn.prepare(query).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(
        all("SELECT concat_ws(' ', plan_id, stage, llm_model, status, total_tokens, duration_seconds >= 0,
                     prompt LIKE '%Say what is wrong.%', response LIKE '%a timeout%')
             FROM llm_interactions WHERE prompt ->> 'method' <> 'rung'"),
        ["log explain here:m completed 120 1 1 1"]
    );
    assert_eq!(
        all(
            "SELECT concat_ws(' ', plan_id, stage, content ->> 'cause', content_type) FROM plan_content WHERE stage = 'explain'"
        ),
        ["log explain a timeout application/json"]
    );
    assert_eq!(
        all(
            "SELECT concat_ws(' ', plan_id, stage, filename, version, file_size_bytes) FROM plan_files WHERE stage = 'look'"
        ),
        ["log look stdout 1 8"]
    );
    assert_eq!(
        all(
            "SELECT concat_ws(' ', plan_id, tokens, model_calls, tasks, tasks_completed, tasks_failed) FROM plan_metrics"
        ),
        ["log 120 1 2 2 0"]
    );
}

#[test]
fn a_check_in_words_waits_for_a_person_when_only_the_offline_model_is_there() {
    let kit = Kit::new();
    kit.write("plan.yaml", "id: judged\ntitle: Judged\npolicy: {judge: model}\ntasks:\n  - id: say\n    run: echo It is slow.\n    success_criteria: [there is a number in it, it was measured]\n");
    let said = kit.gantry(&["run", "plan.yaml", "--json"]);
    assert!(said.contains("the offline model does not judge") && said.ends_with("[exit 4]"), "{said}");
    let judged = kit.gantry(&["task", "judge", "judged", "say", "--holds", "1", "--holds", "2"]);
    assert!(judged.ends_with("[exit 0]"), "{judged}");
}

/// However an attempt of an agent is broken off through no fault of its own, the next one is where it was.
#[test]
fn an_agent_that_is_broken_off_by_others_goes_on_where_it_was_and_pays_for_nothing_twice() {
    for (trouble, policy, options, resolved) in [
        (Some(401), "", "", true),
        (Some(503), ", retry: {backoff: 1ms}", " --strict", false),
        (None, ", budget: {model_calls: 1}", "", true),
    ] {
        let server = ModelServer::start();
        let away = std::sync::atomic::AtomicBool::new(true);
        server.otherwise(move |heard| {
            let second = words(heard).contains("exit_code: 0");
            match trouble {
                Some(status) if second && away.swap(false, std::sync::atomic::Ordering::Relaxed) => {
                    Turn::status(status)
                }
                _ => one_step_at_a_time(heard),
            }
        });
        let kit = asking(&server);
        let plan = AGENT.replace("agent_planning: true", &format!("agent_planning: true{policy}"));
        kit.write("plan.yaml", &plan);
        // Behind a key that is refused, the offline model would go on in its own way.
        let strict = if trouble == Some(401) { " --strict" } else { options };
        let mut said = run(&kit, &format!("run plan.yaml{strict}"));
        if resolved {
            assert!(said.ends_with("[exit 4]"), "{trouble:?}: {said}");
            if policy.contains("budget") {
                kit.write("plan.yaml", plan.replace("model_calls: 1", "model_calls: 9"));
                assert!(run(&kit, "revise helper plan.yaml --rationale more").ends_with("[exit 0]"));
            }
            assert!(run(&kit, "task resolve helper work retry").ends_with("[exit 0]"));
            said = run(&kit, "resume helper");
        }
        assert!(said.ends_with("[exit 0]"), "{trouble:?}: {said}");
        assert_eq!(kit.read("log"), b"once\n", "{trouble:?}: the command ran once");
        let first = server.heard().iter().filter(|heard| !words(heard).contains("Steps so far")).count();
        assert_eq!(first, 1, "{trouble:?}: the first step was asked for once");
        let told = server.heard().iter().any(|heard| words(heard).contains("not good enough"));
        assert!(!told, "{trouble:?}: that a model was away says nothing about the work");
    }
}

#[test]
fn what_a_model_thinks_stands_before_its_answer_and_answers_of_an_agent_stand_apart() {
    let server = ModelServer::start();
    server.then(Turn::text("An old silent pond.").thinking("They want a haiku."));
    server.then(Turn::text("<think>They want another.</think>\n\nA frog jumps in."));
    let kit = asking(&server);
    kit.write("plan.yaml", "id: haiku\ntitle: A haiku\ntasks:\n  - {id: one, model: {instruction: Write a haiku.}}\n  - {id: two, depends_on: [one], model: {instruction: Go on.}, artifacts: [haiku]}\n");
    let said = run(&kit, "run plan.yaml");
    let lines: Vec<&str> = said.lines().filter(|line| line.contains(" | ")).map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "one | thinks: They want a haiku.",
            "one | An old silent pond.",
            "two | thinks: They want another.",
            "two | A frog jumps in."
        ],
        "{said}"
    );
    let kept = kit.gantry(&["artifact", "get", "haiku/two/haiku", "--output", "-"]);
    assert!(kept.starts_with("A frog jumps in."), "{kept}");
    let server = ModelServer::start();
    server.otherwise(one_step_at_a_time);
    let kit = asking(&server);
    kit.write("plan.yaml", AGENT);
    let said = run(&kit, "run plan.yaml");
    assert!(said.lines().all(|line| line.matches("\"thought\"").count() <= 1), "{said}");
}

#[test]
fn a_decision_whose_model_fails_waits_for_a_person_and_no_route_is_taken() {
    for options in ["", " --model offline"] {
        let server = ModelServer::start();
        server.always(Turn::status(400));
        let kit = asking(&server);
        kit.write("plan.yaml", "id: ship-it\ntitle: Ship it?\npolicy: {judge: model}\ntasks:\n  - {id: go, decide: {question: Do the tests pass?, options: [ship, hold]}, next: [{on: ship, to: deploy}]}\n  - {id: deploy, run: echo deployed > out}\n");
        let said = run(&kit, &format!("run plan.yaml{options}"));
        assert!(said.contains("the offline model does not judge") && said.ends_with("[exit 4]"), "{said}");
        assert!(said.contains("gantry ask answer ship-it go ship"), "it says how to decide: {said}");
        assert!(!kit.path("out").exists(), "{said}");
        assert!(run(&kit, "ask answer ship-it go hold").ends_with("[exit 0]"));
        assert!(run(&kit, "resume ship-it").ends_with("[exit 0]"));
        assert!(!kit.path("out").exists(), "it was decided otherwise");
    }
}

#[test]
fn a_judge_that_gives_no_verdict_is_told_counted_and_asked_again() {
    let server = ModelServer::start();
    server.always(Turn::text("It looks fine to me.").usage(100, 20));
    let kit = asking(&server);
    kit.write("plan.yaml", "id: judged\ntitle: Judged\npolicy: {judge: model, budget: {model_calls: 20}}\ntasks:\n  - id: say\n    run: echo It is slow.\n    success_criteria: [there is a number in it]\n");
    let said = run(&kit, "run plan.yaml");
    assert!(said.contains("say: no model could judge: here:m gave no answer to `judge` that holds"), "{said}");
    assert!(said.contains("gantry task judge judged say") && said.ends_with("[exit 4]"), "{said}");
    // Three answers did not hold, and the offline model was tried behind them.
    let used = |times: u64| {
        let (calls, answers) = (times * 4, times * 3);
        let status = kit.json("status judged --json");
        let used = &status["used"];
        assert_eq!((&used["model_calls"], &used["tokens"]), (&json!(calls), &json!(answers * 120)), "{status}");
        let about = status["task_list"][0]["about"].as_str().unwrap_or_default();
        assert!(about.contains("no model could judge"), "{status}");
        let (models, prompts) = (kit.json("model stats judged --json"), kit.json("prompt stats --json"));
        assert_eq!(
            (&models["all"]["calls"], &models["all"]["tokens"]["input"]),
            (&json!(calls), &json!(answers * 100))
        );
        let metrics = &prompts["prompts"][0]["variants"][0]["metrics"];
        assert_eq!((&metrics["tokens"], &metrics["successes"]), (&json!(answers * 120), &json!(0)), "{prompts}");
    };
    used(1);
    assert!(kit.gantry(&["log", "judged"]).contains("no model could judge: here:m gave no answer"));
    let calls = kit.gantry(&["task", "show", "judged", "say", "--calls"]);
    assert!(calls.contains("judge here:m, attempt 1: 4 calls, 360 tokens"), "{calls}");
    assert!(calls.contains("user: ") && calls.contains("failed: here:m: ") && calls.contains("no answer"), "{calls}");
    assert!(run(&kit, "resume judged").ends_with("[exit 4]"));
    assert_eq!(server.counts().requests, 6, "what did not hold is not taken out of the record");
    used(2);
    server.always(Turn::json(&json!({"verdicts": [{"check": 1, "reason": "it does", "holds": true}]})).usage(100, 20));
    let said = run(&kit, "resume judged");
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert_eq!(
        (server.counts().requests, kit.json("status judged --json")["used"]["model_calls"].clone()),
        (7, json!(9))
    );
    assert!(run(&kit, "replay judged").ends_with("[exit 0]"));
    assert!(run(&kit, "audit judged").ends_with("[exit 0]"));
}

#[test]
fn a_provider_that_wants_to_be_left_alone_for_long_is_asked_when_it_said() {
    let server = ModelServer::start();
    server.always(Turn::status(429).header("Retry-After", "120"));
    let kit = asking(&server);
    kit.write("plan.yaml", "id: one\ntitle: One\ntasks: [{id: say, model: {instruction: Say something.}}]\n");
    assert_eq!(kit.code("list"), 0, "the record exists before two processes open it");
    let _beside = kit.beside_with(&[("HERE_KEY", KEY)], "run plan.yaml --strict");
    let planned = || {
        let log = String::from_utf8(kit.output(&["log", "one", "--json"]).stdout).unwrap();
        let mut entries = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        entries.find(|entry| entry["event"] == "retry_planned")
    };
    let planned = (0..2_000).find_map(|_| planned()).expect("it is to be asked again");
    assert_eq!(server.counts().requests, 1);
    let at = |name: &str| -> gantry_core::time::Timestamp { serde_json::from_value(planned[name].clone()).unwrap() };
    assert_eq!((at("again_at") - at("at")).as_ms(), 120_000, "{planned}");
}

#[test]
fn a_task_that_names_a_model_without_a_key_is_not_done_by_another() {
    let kit = Kit::new();
    kit.write(
        "plan.yaml",
        "id: one\ntitle: One\ntasks: [{id: say, model: {instruction: Say something., model: gpt-4o}}]\n",
    );
    let said = kit.gantry(&["run", "plan.yaml"]);
    assert!(said.contains("openai:gpt-4o cannot be asked: key missing: OPENAI_API_KEY is not set"), "{said}");
    assert!(said.contains("gantry model doctor") && said.ends_with("[exit 4]"), "{said}");
    kit.write("plan.yaml", "id: two\ntitle: Two\ntasks: [{id: say, model: {instruction: Say something.}}]\n");
    let said = kit.gantry(&["run", "plan.yaml", "--model", "gpt-4o"]);
    assert!(said.contains("openai:gpt-4o cannot be asked") && said.ends_with("[exit 4]"), "{said}");
    kit.write("plan.yaml", "id: three\ntitle: Three\ntasks: [{id: say, model: {instruction: Say something.}}]\n");
    let said = kit.with_variable("GANTRY_MODEL_WRITER", "gpt-4o", "run plan.yaml");
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert!(said.contains("degraded: say: gantry-offline-task answered instead of openai:gpt-4o"), "{said}");
    assert_eq!(kit.json("status three --json")["degraded"], json!(["say"]));
}

#[test]
fn tasks_that_ask_the_same_make_one_call() {
    for (outputs, answer) in
        [("", Turn::text("A timeout.")), ("outputs: {cause: {type: text}}", Turn::json(&json!({"cause": "a timeout"})))]
    {
        for then in ["", "depends_on: [one]"] {
            let server = ModelServer::start();
            server.always(answer.clone().usage(100, 20));
            let kit = asking(&server);
            let task = |id: &str, more: &str| {
                format!("  - id: {id}\n    model: {{instruction: Say what is wrong.}}\n    {outputs}\n    {more}\n")
            };
            kit.write(
                "plan.yaml",
                format!("id: same\ntitle: The same twice\ntasks:\n{}{}", task("one", ""), task("two", then)),
            );
            let said = run(&kit, "run plan.yaml");
            assert!(said.ends_with("[exit 0]"), "{said}");
            assert_eq!(server.counts().requests, 1, "{outputs} {then}");
            let used = kit.json("status same --json")["used"].clone();
            assert_eq!((&used["model_calls"], &used["tokens"]), (&json!(1), &json!(120)), "{outputs} {then}");
        }
    }
}

/// A key may come back in an answer, in an error, or out of a file that an agent reads.
#[test]
fn no_key_is_in_any_record_stream_log_or_output_however_it_gets_there() {
    let server = ModelServer::start();
    server.then(Turn::text(format!("Your key is {KEY}.")));
    server
        .then(Turn::status(401).body(json!({"error": {"message": format!("the key {KEY} is not known")}}).to_string()));
    server.otherwise(|heard| {
        let said = words(heard);
        assert!(!said.contains(KEY), "{said}");
        let step = |tool: &str, args: Value, answer: &str| {
            Turn::json(&json!({"thought": "next", "tool": tool, "args": args, "answer": answer}))
        };
        if said.contains("[secret HERE_KEY]") {
            step("finish", json!({}), &format!("The file has {KEY} in it."))
        } else {
            step("shell", json!({"command": "cat notes.txt"}), "")
        }
    });
    let kit = asking(&server);
    kit.write("notes.txt", format!("HERE_KEY={KEY}\n"));
    kit.write("plan.yaml", "id: keys\ntitle: Keys\npolicy: {agent_planning: true}\ntasks:\n  - {id: say, model: {instruction: Say my key.}}\n  - {id: fail, depends_on: [say], model: {instruction: Say it again.}, optional: true}\n  - {id: read, depends_on: [fail], agent: {goal: Read notes.txt., tools: [shell]}}\n");
    let said = run(&kit, "run plan.yaml --json");
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert!(said.contains("[secret HERE_KEY]") && !said.contains(KEY), "{said}");
    for line in ["log keys", "status keys --json", "log keys --json", "artifact list keys", "task show keys read"] {
        let said = run(&kit, line);
        assert!(!said.contains(KEY), "{line}: {said}");
    }
    assert!(!kit.record_holds(KEY.as_bytes()));
    assert_eq!(server.counts().requests, 4);
}

#[test]
fn a_plan_stops_asking_at_its_budget_and_says_how_to_raise_it() {
    let task = |id: &str, after: &str| format!("  - {{id: {id}, {after}model: {{instruction: Say {id}.}}}}\n");
    for (budget, tasks, requests) in [
        ("model_calls: 2", [task("a", ""), task("b", "depends_on: [a], "), task("c", "depends_on: [b], ")], 2),
        ("tokens: 2500", [task("a", ""), task("b", "depends_on: [a], "), task("c", "depends_on: [b], ")], 2),
        // All at once: whoever comes first takes what there is.
        ("model_calls: 1", [task("a", ""), task("b", ""), task("c", "")], 1),
    ] {
        let server = ModelServer::start();
        server.always(Turn::text("As you wish.").usage(900, 100));
        let kit = asking(&server);
        kit.write(
            "plan.yaml",
            format!("id: poor\ntitle: Poor\npolicy: {{budget: {{{budget}}}}}\ntasks:\n{}", tasks.concat()),
        );
        let said = run(&kit, "run plan.yaml");
        assert!(said.ends_with("[exit 4]") && said.contains("budget"), "{budget}: {said}");
        assert_eq!(server.counts().requests, requests, "{budget}: {said}");
        let used = kit.json("status poor --json")["used"]["model_calls"].clone();
        assert_eq!(used, json!(requests), "{budget}: {said}");
    }
}

#[test]
fn what_a_model_writes_can_be_taken_out_as_an_artifact() {
    let server = ModelServer::start();
    server.then(Turn::text("# Notes"));
    let kit = asking(&server);
    kit.write(
        "plan.yaml",
        "id: notes\ntitle: Notes\ntasks: [{id: write, model: {instruction: Write it down.}, artifacts: [notes]}]\n",
    );
    assert!(run(&kit, "run plan.yaml").ends_with("[exit 0]"));
    let got = kit.gantry(&["artifact", "get", "notes/write/notes", "--output", "-"]);
    assert!(got.starts_with("# Notes"), "{got}");
}

#[test]
fn the_judge_of_a_plan_or_of_a_start_sees_what_its_tasks_gave() {
    let server = ModelServer::start();
    server.otherwise(|heard| {
        let seen = words(heard).contains("It takes 3 seconds.");
        let reason = if seen { "it says so" } else { "nothing is shown" };
        Turn::json(&json!({"verdicts": [{"check": 1, "reason": reason, "holds": seen}]}))
    });
    let kit = asking(&server);
    kit.write("plan.yaml", "id: seen\ntitle: Seen\npolicy: {judge: model}\ndone_when: [it was measured]\ntasks:\n  - {id: measure, run: echo It takes 3 seconds.}\n  - {id: tell, depends_on: [measure], preconditions: [there is a number], run: echo told}\n");
    let said = run(&kit, "run plan.yaml");
    assert!(said.ends_with("[exit 0]"), "{said}");
    assert_eq!(server.counts().requests, 2);
}

#[test]
fn calls_failures_and_fallbacks_are_counted_from_the_record() {
    let server = ModelServer::start();
    server.then(Turn::text("Ana.").usage(100, 20)).then(Turn::status(500));
    let kit = asking(&server);
    assert!(kit.gantry(&["model", "stats"]).contains("no call of a model is on record"));
    kit.write("plan.yaml", STORY);
    assert!(run(&kit, "run plan.yaml").ends_with("[exit 0]"));
    let stats = kit.json("model stats story --json");
    let all = &stats["all"];
    assert_eq!((&all["requests"], &all["fallbacks"], &all["failures"]), (&json!(2), &json!(1), &json!(0)), "{stats}");
    let methods = stats["methods"].as_array().unwrap();
    let offline = |one: &&Value| one["model"] == "gantry-offline-task";
    let (first, second) = (methods.iter().find(|one| !offline(one)).unwrap(), methods.iter().find(offline).unwrap());
    assert_eq!((&first["counters"]["fallbacks"], &first["counters"]["tokens"]["input"]), (&json!(0), &json!(100)));
    assert_eq!((&second["counters"]["fallbacks"], &second["counters"]["tokens"]["input"]), (&json!(1), &json!(0)));
    assert!(second["fallbacks"][0].as_str().unwrap().contains("500"), "{stats}");
    let drawn = kit.gantry(&["model", "stats"]);
    assert!(
        drawn.contains("1 fallback") && drawn.contains("gantry-offline-task answered instead of here:m"),
        "{drawn}"
    );
}

#[test]
fn what_was_said_about_models_holds_again_after_a_kill() {
    let server = ModelServer::start();
    server.always(Turn::text("Ana."));
    let kit = asking(&server);
    kit.write("plan.yaml", STORY);
    let variables = [("HERE_KEY", KEY), ("GANTRY_CRASH_AT", "call_ended:1")];
    assert!(kit.dies(&variables, "run plan.yaml --strict --model writer=here:other"));
    assert!(run(&kit, "resume --all").ends_with("[exit 0]"));
    let asked: Vec<String> = server.bodies().iter().map(|body| body["model"].to_string()).collect();
    assert_eq!(asked, ["\"other\"", "\"other\""]);
    // Strict as it was begun, and with another model, because that is said now.
    kit.write("plan.yaml", STORY.replace("id: story", "id: second"));
    assert!(kit.dies(&variables, "run plan.yaml --strict --model writer=here:other"));
    server.always(Turn::status(401));
    let said = run(&kit, "resume second --model writer=here:third");
    assert!(said.ends_with("[exit 4]") && !said.contains("gantry-offline"), "{said}");
    assert_eq!(server.bodies().last().unwrap()["model"], "third");
}

#[test]
fn cancelling_a_plan_stops_the_call_of_its_model() {
    let server = ModelServer::start();
    server.always(Turn::text("Once upon a time there was").silent_after(3));
    let kit = asking(&server);
    for plan in [STORY, AGENT] {
        let hung_up = server.counts().hung_up;
        let asked = server.counts().requests;
        kit.write("plan.yaml", plan);
        assert_eq!(kit.code("list"), 0, "the record exists before two processes open it");
        let beside = kit.beside_with(&[("HERE_KEY", KEY)], "run plan.yaml");
        assert!((0..2_000).any(|_| kit.code("list") == 0 && server.counts().requests > asked), "nobody was asked");
        let id = if plan == STORY { "story" } else { "helper" };
        assert!(kit.gantry(&["cancel", id]).ends_with("[exit 0]"));
        assert!(beside.ended().is_some(), "it ends by itself");
        assert_eq!(server.counts().hung_up, hung_up + 1, "the line is closed: {plan}");
    }
}

#[test]
fn a_life_is_decided_again_when_nobody_can_be_asked_any_more() {
    let server = ModelServer::start();
    server.otherwise(one_step_at_a_time);
    let kit = asking(&server);
    kit.write("plan.yaml", AGENT);
    assert!(run(&kit, "run plan.yaml").ends_with("[exit 0]"));
    drop(server);
    assert!(run(&kit, "replay helper").ends_with("[exit 0]"));
    assert!(run(&kit, "audit helper").ends_with("[exit 0]"));
    assert_eq!(kit.read("log"), b"once\n", "and nothing is done again");
}
