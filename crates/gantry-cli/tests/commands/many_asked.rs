//! Lists of topics that a server makes plans of: a small HTTP server that answers as it is told to, and `gantry bulk` itself.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::kit::Kit;

/// What the server does with the next request for a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// Makes a plan and says its number.
    Makes,
    /// Makes a plan and says nothing of it, nor shows it in its list.
    Hides,
    /// Answers with this code and makes nothing.
    Answers(u16),
    /// Makes a plan and cuts the line instead of answering.
    MakesAndCuts,
    /// Cuts the line in the middle of the answer, and makes nothing.
    Cuts,
    /// Never answers.
    Sleeps,
    /// Makes a plan as soon as so many were asked for at once.
    MakesTogether(usize),
}

/// How long something may take that has to happen.
const WITHIN: Duration = Duration::from_mins(1);

#[derive(Default)]
struct State {
    next: VecDeque<Does>,
    otherwise: Option<Does>,
    plans: Vec<String>,
    asked: Vec<Value>,
    heads: Vec<String>,
    open: Vec<TcpStream>,
    /// How many plans are being asked for now, and how many at most.
    at_once: usize,
    at_once_max: usize,
}

/// What happens in the house, and a bell that rings when something does.
type Shared = Arc<(Mutex<State>, Condvar)>;

/// A server on a port of its own, until the test ends.
struct House {
    shared: Shared,
    address: String,
}

impl House {
    fn that(next: &[Does]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = State { next: next.iter().copied().collect(), ..State::default() };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let house = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let house = Arc::clone(&house);
                std::thread::spawn(move || answer(&house, stream));
            }
        });
        Self { shared, address }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.shared.0.lock().unwrap()
    }

    /// How often a plan was asked for, by topic.
    fn times(&self) -> BTreeMap<String, usize> {
        let mut times = BTreeMap::new();
        for body in &self.state().asked {
            *times.entry(body["context"]["plan_title"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        times
    }
}

/// Reads one request and answers it; the line is closed after it.
fn answer((house, bell): &(Mutex<State>, Condvar), mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut state = house.lock().unwrap();
    state.heads.push(head.clone());
    let node = |id: u32, name: &str| json!({"id": id, "name": name, "instruction": "do it"});
    let tree = json!({"title": "A", "nodes": {"1": node(1, "root"), "2": node(2, "part")}, "adjacency": {"null": [1], "1": [2]}});
    let (code, told) = if head.starts_with("POST /chat/message") {
        let said: Value = serde_json::from_slice(&body).unwrap();
        let title = said["context"]["plan_title"].as_str().unwrap().to_owned();
        state.asked.push(said);
        let otherwise = state.otherwise.unwrap_or(Does::Makes);
        let does = state.next.pop_front().unwrap_or(otherwise);
        if let Does::MakesTogether(count) = does {
            state.at_once += 1;
            state.at_once_max = state.at_once_max.max(state.at_once);
            bell.notify_all();
            let (waited, late) = bell.wait_timeout_while(state, WITHIN, |state| state.at_once_max < count).unwrap();
            state = waited;
            assert!(!late.timed_out(), "{} are under way, and not {count}", state.at_once);
            state.at_once -= 1;
        }
        if matches!(does, Does::Makes | Does::MakesAndCuts | Does::MakesTogether(_)) {
            state.plans.push(title);
        }
        let no = state.plans.len();
        match does {
            Does::Makes | Does::MakesTogether(_) => (200, json!({"response": "ok", "metadata": {"plan_id": no}})),
            Does::Hides => (200, json!({"response": "Gladly!", "metadata": {}})),
            Does::Answers(code) => (code, json!({"detail": "so it is"})),
            Does::MakesAndCuts => return,
            Does::Cuts => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"metadata\"");
                return;
            }
            Does::Sleeps => return state.open.push(stream),
        }
    } else if head.starts_with("GET /plans/") {
        let summary = json!({"total_tasks": 2, "completed": 0, "failed": 0, "skipped": 0, "running": 0, "pending": 2});
        (200, if head.contains("/tree ") { tree } else { summary })
    } else {
        let plans = state.plans.iter().enumerate().map(|(at, title)| json!({"id": at + 1, "title": title}));
        (200, plans.collect())
    };
    drop(state);
    let text = told.to_string();
    let _ = write!(stream, "HTTP/1.1 {code} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len());
}

fn rows(kit: &Kit, table: &str) -> Vec<csv::StringRecord> {
    let mut reader = csv::Reader::from_reader(std::io::Cursor::new(kit.read(table)));
    reader.records().map(Result::unwrap).collect()
}

fn topics(count: usize) -> String {
    (1..=count).fold(String::new(), |text, at| format!("{text}Build boat number {at}\n"))
}

#[test]
fn too_many_requests_twice_and_a_cut_line_give_one_plan_each() {
    for (does, retries) in [
        (vec![Does::Answers(429), Does::Answers(429)], "2"),
        (vec![Does::Cuts], "1"),
        (vec![Does::MakesAndCuts], "0"),
        (vec![Does::Answers(503), Does::MakesAndCuts], "1"),
    ] {
        let (kit, house) = (Kit::new(), House::that(&does));
        kit.write("topics.txt", topics(1));
        let line = format!("bulk --input topics.txt --base-url {} --concurrency 1 --backoff 1ms", house.address);
        assert_eq!(kit.code(&line), 0, "{does:?}");
        let rows = rows(&kit, "bulk_plans.csv");
        assert_eq!((&rows[0][1], &rows[0][2], &rows[0][3]), ("1", "success", retries), "{does:?}");
        assert_eq!(house.state().plans.len(), 1, "{does:?}");
    }
}

#[test]
fn an_answer_without_a_plan_is_asked_for_once_more_and_then_kept_to_be_tried_again() {
    let (kit, house) = (Kit::new(), House::that(&[Does::Hides, Does::Hides]));
    kit.write("topics.txt", topics(1));
    let line = format!("bulk --input topics.txt --base-url {} --concurrency 1 --backoff 1ms", house.address);
    assert_eq!(kit.code(&line), 3);
    assert_eq!(house.times().values().copied().collect::<Vec<_>>(), [2], "exactly once more");
    assert!(String::from_utf8_lossy(&kit.read("failed_topics.jsonl")).contains("Build boat number 1"));
    let again = line.replace("topics.txt", "failed_topics.jsonl");
    assert_eq!(kit.code(&again), 0, "what came to nothing is a list of topics");
    assert_eq!(house.state().plans.len(), 1);
}

#[test]
fn killed_after_some_topics_the_next_run_takes_them_over_and_asks_nothing_twice() {
    let kit = Kit::new();
    let house = House::that(&[Does::Makes; 7]);
    house.state().otherwise = Some(Does::Sleeps);
    kit.write("topics.txt", topics(20));
    let line = format!("bulk --input topics.txt --base-url {} --concurrency 1 --run-id night", house.address);
    let mut under_way = kit.start(&line);
    while house.state().asked.len() < 8 {
        assert!(under_way.is_there(), "it ended by itself");
        std::thread::yield_now();
    }
    under_way.kill();
    let before = rows(&kit, "bulk_plans.csv");
    assert_eq!(before.len(), 7, "each row was on disk when its topic was done");
    house.state().otherwise = Some(Does::Makes);
    assert_eq!(kit.code(&format!("{line} --resume-from bulk_plans.csv --output second.csv")), 0);
    let after = rows(&kit, "second.csv");
    assert_eq!(after.len(), 20);
    assert_eq!(before[..], after[..7]);
    let times = house.times();
    let done: Vec<usize> = before.iter().map(|row| times[&row[0]]).collect();
    assert_eq!(done, [1; 7], "what was done is not asked again");
    assert_eq!(house.state().plans.len(), 20, "and no topic is two plans");
}

#[test]
fn stopped_from_the_keyboard_it_ends_at_once_and_the_same_command_goes_on() {
    let (kit, house) = (Kit::new(), House::that(&[Does::Makes; 2]));
    house.state().otherwise = Some(Does::Sleeps);
    kit.write("topics.txt", topics(4));
    let line = format!("bulk --input topics.txt --base-url {} --concurrency 1", house.address);
    let mut under_way = kit.start(&line);
    while house.state().asked.len() < 3 {
        assert!(under_way.is_there(), "it ended by itself");
        std::thread::yield_now();
    }
    under_way.signal(rustix::process::Signal::INT);
    assert_eq!(under_way.ended(), Some(4));
    house.state().otherwise = Some(Does::Makes);
    assert_eq!(kit.code(&line), 0);
    assert_eq!((rows(&kit, "bulk_plans.csv").len(), house.state().plans.len()), (4, 4));
}

#[test]
fn as_many_topics_are_under_way_as_was_said_or_eight_and_never_more() {
    for (flag, count) in [("--concurrency 3", 3), ("", 8)] {
        let (kit, house) = (Kit::new(), House::that(&[]));
        house.state().otherwise = Some(Does::MakesTogether(count));
        kit.write("topics.txt", topics(3 * count));
        assert_eq!(kit.code(&format!("bulk --input topics.txt --base-url {} {flag}", house.address)), 0, "{flag}");
        let state = house.state();
        assert_eq!((state.at_once_max, state.plans.len()), (count, 3 * count), "{flag}");
    }
}

#[test]
fn a_server_that_does_not_answer_in_time_is_asked_again_and_one_that_never_does_is_told() {
    let (kit, house) = (Kit::new(), House::that(&[Does::Sleeps]));
    kit.write("topics.txt", topics(1));
    let line = format!("bulk --input topics.txt --base-url {} --backoff 1ms --timeout", house.address);
    assert_eq!(kit.code(&format!("{line} 2s")), 0);
    assert_eq!(house.times().into_values().collect::<Vec<_>>(), [2]);
    assert_eq!(house.state().plans.len(), 1);
    let (kit, house) = (Kit::new(), House::that(&[]));
    house.state().otherwise = Some(Does::Sleeps);
    kit.write("topics.txt", topics(1));
    let line = format!("bulk --input topics.txt --base-url {} --backoff 1ms --timeout 200ms", house.address);
    assert_eq!(kit.code(&format!("{line} --max-retries 1")), 3);
    assert_eq!(&rows(&kit, "bulk_plans.csv")[0][4], "the server did not answer in time");
    assert_eq!(house.state().asked.len(), 2, "and once more, as was said");
}

#[test]
fn each_request_names_its_run_its_time_and_its_place_in_the_list() {
    let (kit, house) = (Kit::new(), House::that(&[]));
    kit.write("topics.txt", topics(3));
    assert_eq!(kit.code(&format!("bulk --input topics.txt --base-url {} --run-id r7", house.address)), 0);
    let rows = rows(&kit, "bulk_plans.csv");
    let state = house.state();
    for (at, row) in rows.iter().enumerate() {
        let asked = state.asked.iter().find(|body| body["context"]["plan_title"] == row[0]).unwrap();
        assert_eq!(
            (&asked["session_id"], &asked["context"]["metadata"]["bulk_run_id"]),
            (&json!(&row[5]), &json!("r7"))
        );
        let parts: Vec<&str> = row[5].split('_').collect();
        let [name, time, place] = parts[..] else { panic!("{}", &row[5]) };
        assert_eq!((name, place), ("bulk", format!("{at:05}").as_str()));
        assert!(time.len() == 15 && time.chars().all(|c| c.is_ascii_digit() || c == 'T'), "{time}");
    }
}

#[test]
fn the_line_of_the_documents_works_as_it_is_written() {
    let (kit, house) = (Kit::new(), House::that(&[]));
    kit.write("topics.txt", topics(9));
    kit.write("words.txt", "Topic {title}: {\"json\": {goal}}");
    let flags = "--concurrency 6 --dump-dir bulk_artifacts --prompt-template words.txt --api-key sesame --max-retries 1 --timeout 9s --outlines --verify";
    assert_eq!(kit.code(&format!("bulk --input topics.txt --base-url {} {flags}", house.address)), 0);
    let rows = rows(&kit, "bulk_plans.csv");
    assert_eq!(rows.len(), 9);
    for row in &rows {
        assert!(kit.path(&format!("bulk_artifacts/responses/{}.json", &row[5])).is_file(), "{row:?}");
        assert!(kit.path(&format!("bulk_artifacts/plans/plan_{}.json", &row[1])).is_file(), "{row:?}");
        assert!(kit.path(&format!("bulk_artifacts/plans/plan_{}.md", &row[1])).is_file(), "{row:?}");
    }
    let state = house.state();
    assert!(state.asked.iter().all(|body| body["message"].as_str().unwrap().contains("{\"json\": Build boat")));
    assert!(state.heads.iter().all(|head| head.to_ascii_lowercase().contains("authorization: bearer sesame")));
    let keys: std::collections::BTreeSet<&str> = state
        .heads
        .iter()
        .flat_map(|head| head.lines())
        .filter_map(|line| line.strip_prefix("idempotency-key: "))
        .collect();
    assert_eq!(keys.len(), 9, "each topic has a key of its own");
}
