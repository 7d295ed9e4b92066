//! Changes of single tasks of a plan: one comes, changes, moves or goes, and what a revision changed is taken back.

use serde_json::json;

use crate::kit::Kit;

const HALL: &str = "id: hall\ntitle: Climbing hall\nobjective: Build a hall\ntasks:
  - {id: prepare, title: Prepare}
  - {id: survey, title: Survey the ground, parent: prepare}
  - {id: permits, title: Get the permits, parent: prepare, depends_on: [survey]}
  - {id: raise, title: Raise the hall, depends_on: [prepare]}
";

fn hall() -> Kit {
    let kit = Kit::new();
    kit.write("hall.yaml", HALL);
    kit.gantry(&["run", "hall.yaml"]);
    kit
}

/// The tasks of the plan in order, parts below their whole.
fn tree(kit: &Kit) -> String {
    let plan = kit.json("export hall -f json");
    let tasks = plan["tasks"].as_array().unwrap();
    let name = |task: &serde_json::Value| {
        let parent = task["parent"].as_str().map(|parent| format!("{parent}/")).unwrap_or_default();
        format!("{parent}{}", task["id"].as_str().unwrap())
    };
    tasks.iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_task_comes_moves_and_goes_as_revisions_and_each_can_be_taken_back() {
    let kit = hall();
    let first = "prepare prepare/survey prepare/permits raise";
    assert_eq!(tree(&kit), first);
    let made =
        kit.gantry(&["task", "add", "hall", "Ask the neighbours", "--before", "permits", "--depends-on", "survey"]);
    assert!(made.contains("added task `ask-the-neighbours` inside `prepare`: revision 2"), "{made}");
    let second = "prepare prepare/survey prepare/ask-the-neighbours prepare/permits raise";
    assert_eq!(tree(&kit), second);
    kit.gantry(&["task", "move", "hall", "ask-the-neighbours", "--top"]);
    assert_eq!(tree(&kit), "prepare prepare/survey prepare/permits raise ask-the-neighbours");
    kit.gantry(&["task", "undo-edit", "hall"]);
    assert_eq!(tree(&kit), second);
    let gone = kit.gantry(&["task", "delete", "hall", "raise", "--why", "someone else does it"]);
    assert!(gone.contains("deleted task `raise`"), "{gone}");
    let revisions = kit.json("status hall --json")["revision"].clone();
    assert_eq!(revisions, json!(5));
    kit.gantry(&["task", "undo-edit", "hall", "--back-to", "1"]);
    assert_eq!(tree(&kit), first);
    assert_eq!(kit.json("status hall --json")["revision"], json!(6), "going back is a revision, too");
    assert!(kit.gantry(&["audit", "hall"]).ends_with("[exit 0]"));
}

#[test]
fn what_is_taken_out_of_the_middle_comes_back_where_it_was() {
    let kit = hall();
    kit.gantry(&["task", "delete", "hall", "permits"]);
    kit.gantry(&["task", "add", "hall", "Paint it"]);
    let back = kit.gantry(&["task", "undo-edit", "hall", "--revision", "2"]);
    assert!(back.contains("took back revision 2"), "{back}");
    assert_eq!(tree(&kit), "prepare prepare/survey prepare/permits raise paint-it");
}

#[test]
fn what_would_not_hold_together_is_refused_with_what_is_wrong() {
    let kit = hall();
    let cases: [(&[&str], &str); 9] = [
        (&["add", "hall", "More", "--depends-on", "nobody"], "there is no task `nobody`"),
        (&["add", "hall", "More", "--last-in", "prepare", "--depends-on", "prepare"], "which contains it"),
        (&["change", "hall", "survey", "--depends-on", "survey"], "itself"),
        (&["change", "hall", "survey", "--depends-on", "permits"], "wait for each other"),
        (&["move", "hall", "prepare", "--last-in", "survey"], "inside itself"),
        (&["move", "hall", "raise", "--last-in", "prepare"], "contains it"),
        (&["move", "hall", "raise"], "nothing says where"),
        (&["move", "hall", "raise", "--position", "7"], "no position 7"),
        (&["delete", "hall", "survey"], "`permits` waits for `survey`"),
    ];
    for (words, expected) in cases {
        let mut line = vec!["task"];
        line.extend(words);
        let said = kit.gantry(&line);
        assert!(said.contains("error:") && said.contains(expected), "{words:?}: {said}");
    }
    assert_eq!(kit.json("status hall --json")["revision"], json!(1), "nothing has changed");
    let detached = kit.json("task --json delete hall survey --detach");
    assert_eq!(detached["detached"], json!([{"task": "permits", "depended_on": "survey"}]), "{detached:#}");
}

#[test]
fn a_snapshot_keeps_a_revision_in_mind_with_a_note() {
    let kit = hall();
    kit.gantry(&["task", "snapshot", "hall", "as the board saw it"]);
    kit.gantry(&["task", "change", "hall", "raise", "--name", "Raise it twice"]);
    kit.gantry(&["task", "snapshot", "hall", "with: a colon"]);
    let kept = kit.json("task --json snapshot hall");
    let short: Vec<_> =
        kept["snapshots"].as_array().unwrap().iter().map(|one| (&one["revision"], &one["note"])).collect();
    assert_eq!(short, [(&json!(1), &json!("as the board saw it")), (&json!(2), &json!("with: a colon"))]);
    assert!(kit.gantry(&["task", "snapshot", "hall", "  "]).contains("a snapshot needs a note"));
}
