//! `gantry chat` on a terminal.

use gantry_testkit::model_server::{Gate, ModelServer, Turn};
use serde_json::json;

use crate::kit::{CTRL_C, Scene, Terminal};

/// What Ctrl-D sends, and the arrow that points up.
const CTRL_D: &str = "\u{4}";
const UP: &str = "\u{1b}[A";
const LEFT: &str = "\u{1b}[D";
const ENTER: &str = "\r";

fn talking(scene: &Scene) -> Terminal {
    scene.start("xterm-256color", &["chat", "--offline"])
}

#[test]
fn a_talk_goes_from_the_first_words_to_how_to_go_on_with_it() {
    let scene = Scene::new();
    let mut chat = talking(&scene);
    let screen = chat.until_all(&["> ", "ends the talk"]);
    insta::assert_snapshot!(screen, @"
    Say what you want, such as `create a plan to open a bakery in Oslo` or `list my plans`.
    `help` lists what can be done; Ctrl-D or `exit` ends the talk.
    >
    ");
    chat.types("create a plan to paint the garden shed");
    chat.until("> create a plan to paint the garden shed");
    chat.types(ENTER);
    chat.until_all(&["Plan 3 “", "is made; it has", "plan 3 > "]);
    // The plan of the talk is meant where none is named.
    chat.types("what is the status of plan 3?\r");
    chat.until("tasks are completed");
    chat.types("\r   \r");
    chat.types("show the tasks of plan 77\r");
    chat.until_all(&["error: ", "plan `77`", "hint: "]);
    // The talk goes on.
    chat.types("list my plans\r");
    chat.until("Here are the plans.");
    chat.types(CTRL_D);
    let (screen, raw, code) = chat.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("go on with `gantry chat --session chat-"), "{screen}");
    let mode = |on: &str| raw.rfind(&format!("\u{1b}[?2004{on}"));
    assert!(mode("l") > mode("h"), "the terminal is as it was");
}

#[test]
fn a_line_is_edited_and_what_was_said_comes_back_also_in_the_next_talk() {
    let scene = Scene::new();
    let mut chat = talking(&scene);
    chat.until("> ");
    chat.types("lst my plans");
    chat.types(&LEFT.repeat(11));
    chat.types("i");
    chat.until("> list my plans");
    chat.types(ENTER);
    chat.until("There are no plans yet.");
    chat.types("nonsense");
    chat.until("> nonsense");
    chat.types(CTRL_C);
    chat.until("Ctrl-C once more, Ctrl-D or `exit` ends the talk\n>");
    chat.types(UP);
    chat.types(" all");
    chat.until("> list my plans all");
    chat.types(CTRL_C);
    chat.types("exit\r");
    assert_eq!(chat.ends().2, 0);
    let mut next = talking(&scene);
    next.until("> ");
    next.types(UP);
    next.until("> list my plans");
    next.types(CTRL_C);
    next.until("Ctrl-C once more, Ctrl-D or `exit` ends the talk\n>");
    next.types(CTRL_C);
    let (screen, _, code) = next.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains("go on with"), "nothing was said:\n{screen}");
}

#[test]
fn long_lines_and_pasted_ones_stand_on_the_screen_as_they_are() {
    let scene = Scene::new();
    let mut chat = talking(&scene);
    chat.until("> ");
    let long = "word ".repeat(30) + "end";
    chat.types(&long);
    chat.until("end");
    chat.types("\u{15}"); // Ctrl-U
    chat.types("계획 목록");
    let screen = chat.until("> 계획 목록");
    assert!(!screen.contains("word"), "the rows of the long line are gone:\n{screen}");
    chat.types(ENTER);
    chat.until("계획 목록입니다.");
    chat.types("\u{1b}[200~Topic: \"Shed\"\r\nGoal: Paint the garden shed\u{1b}[201~");
    chat.until("> Topic: \"Shed\"↵Goal: Paint the garden shed");
    chat.types(ENTER);
    chat.until("Plan 4 “Shed” is made");
    chat.types("종료\r");
    assert_eq!(chat.ends().2, 0);
}

#[test]
fn long_answers_are_broken_between_words() {
    let scene = Scene::new();
    let mut chat = talking(&scene);
    chat.until("> ");
    chat.types("tell me a story\r");
    let screen = chat.until("status of plan 3”.");
    let rows: Vec<&str> = screen.lines().filter(|row| row.contains('“')).collect();
    assert!(rows.len() > 2, "{screen}");
    assert!(rows.iter().all(|row| !row.starts_with(' ')), "words are whole:\n{screen}");
}

#[test]
fn whoever_waits_too_long_stops_waiting_and_goes_on() {
    let scene = Scene::new();
    let models = ModelServer::start();
    let gate = Gate::closed();
    let never = gate.clone();
    models.otherwise(move |heard| match &heard.body["messages"] {
        serde_json::Value::Array(_) => {
            let said = heard.body.to_string();
            let turn = Turn::json(&json!({"llm_reply": {"message": "Good morning."}, "actions": []}));
            if said.contains("think for ever") && !said.contains("good morning to you") {
                turn.behind(&never)
            } else {
                turn
            }
        }
        _ => Turn::status(404),
    });
    scene.write(
        "gantry.toml",
        &format!(
            "local_servers = false\n[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\ntools = false\nretries = 0\n\n[profiles.balanced]\ndefault = \"here:m\"\n",
            models.base_url()
        ),
    );
    let mut chat = scene.start("xterm-256color", &["chat"]);
    chat.until("> ");
    chat.types("think for ever\r");
    chat.until("thinking for");
    chat.types(CTRL_C);
    chat.until("stopped waiting");
    chat.types("good morning to you\r");
    chat.until("Good morning.");
    chat.types(CTRL_D);
    assert_eq!(chat.ends().2, 0);
    gate.open();
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_is_talked_to_in_plain_lines() {
    let scene = Scene::new();
    let mut chat = scene.start("dumb", &["chat", "--offline"]);
    chat.until("> ");
    chat.types("list my plans\n");
    chat.until("There are no plans yet.");
    chat.types(CTRL_C);
    let (screen, raw, code) = chat.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(!raw.contains('\u{1b}') && screen.contains("go on with `gantry chat --session"), "{raw:?}");
}
