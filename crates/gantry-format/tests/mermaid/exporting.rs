//! How a plan is drawn.

use gantry_core::id::TaskId;
use gantry_core::plan::{Action, Gate, Plan, Task};
use gantry_format::mermaid;

use crate::kit::drawn;

fn plan(json: serde_json::Value) -> Plan {
    serde_json::from_value(json).expect("a plan")
}

#[test]
fn each_action_has_its_shape() {
    let plan = plan(serde_json::json!({"tasks": [
        {"id": "a", "action": {"gate": {}}},
        {"id": "b", "action": {"decide": "which way?"}},
        {"id": "c", "action": {"ask": "how many?"}},
        {"id": "d", "action": {"manual": "sweep"}},
        {"id": "e", "action": {"map": {"over": []}}},
        {"id": "f", "action": {"plan": {"template": "x"}}},
        {"id": "g", "action": {"checkpoint": "here"}},
        {"id": "h", "action": {"wait": "2h"}},
        {"id": "i", "action": {"run": "make"}},
        {"id": "j", "title": "Nothing yet"},
        {"id": "k", "action": {"model": {"instruction": "think"}}},
        {"id": "l", "action": {"command": "tidy up"}},
        {"id": "m", "action": {"tool": "files.read"}},
        {"id": "n", "action": {"agent": "mend it"}},
        {"id": "o", "action": {"compute": {"n": "1 + 1"}}},
        {"id": "p", "action": {"undo_to": "g"}},
        {"id": "q", "action": {"adopt": "tasks.k.plan"}},
    ]}));
    insta::assert_snapshot!(mermaid::export(&plan), @r#"
    flowchart LR
      a{{"a"}}
      b{"b"}
      c(["c"])
      d(["d"])
      e[["e"]]
      f[["f"]]
      g[("g")]
      h(("h"))
      i["i"]
      j["Nothing yet"]
      k["k"]
      l["l"]
      m["m"]
      n["n"]
      o["o"]
      p["p"]
      q["q"]
      k --> q
    "#);
}

#[test]
fn dependencies_routes_and_ways_back_are_arrows() {
    let plan = plan(serde_json::json!({"tasks": [
        {"id": "build", "next": [{"on": "failure", "to": "repair"}]},
        {"id": "repair", "next": [{"on": "success", "to": "check"}]},
        {"id": "check", "depends_on": ["build"], "inputs": {"log": "tasks.build.log"}, "action": {"decide": "good?"}, "next": [
            {"on": "success", "to": "tell"},
            {"on": "no, (really) not", "to": "tell", "when": "tasks.build.size > 1"},
            {"on": "again", "to": "build", "max": 2},
        ]},
        {"id": "tell", "depends_on": ["check", "check"]},
        {"id": "sign-off", "depends_on": ["tell"], "action": {"gate": {"back_to": "build", "rounds_max": 4}}, "next": [
            {"on": "needs_changes", "to": "tell", "max": 3},
        ]},
    ]}));
    insta::assert_snapshot!(mermaid::export(&plan), @r#"
    flowchart LR
      build["build"]
      repair["repair"]
      check{"check"}
      tell["tell"]
      sign-off{{"sign-off"}}
      build -->|failure| repair
      repair -->|success| check
      build --> check
      check -->|any outcome| tell
      check -->|"no, (really) not when tasks.build.size #gt; 1"| tell
      check -. again (max 2) .-> build
      tell --> sign-off
      sign-off -. needs changes (max 3) .-> tell
      sign-off -. needs changes (max 4) .-> build
    "#);
}

#[test]
fn composites_are_nested_subgraphs() {
    let plan = plan(serde_json::json!({"tasks": [
        {"id": "outer", "title": "All of it"},
        {"id": "inner", "parent": "outer"},
        {"id": "leaf", "parent": "inner"},
        {"id": "last", "parent": "outer", "depends_on": ["inner"]},
        {"id": "after", "depends_on": ["outer"]},
    ]}));
    insta::assert_snapshot!(mermaid::export(&plan), @r#"
    flowchart LR
      subgraph outer["All of it"]
        subgraph inner["inner"]
          leaf["leaf"]
        end
        last["last"]
      end
      after["after"]
      inner --> last
      outer --> after
    "#);
}

#[test]
fn names_and_texts_that_mermaid_would_misread_are_changed() {
    let plan = plan(serde_json::json!({"tasks": [
        {"id": "end", "title": "The \"end\" (of [it]) | #1 & <b> `x` 100%% {y}"},
        {"id": "task_end", "title": "in direction LR"},
        {"id": "end-game"},
        {"id": "a--b", "depends_on": ["end"]},
        {"id": "a-"},
        {"id": "a_", "title": "two\nlines"},
    ]}));
    let text = mermaid::export(&plan);
    insta::assert_snapshot!(text, @r#"
    flowchart LR
      task_end_2["The #quot;end#quot; (of [it]) | #35;1 #amp; #lt;b#gt; #96;x#96; 100#37;#37; {y}"]
      task_end["in direction#32;LR"]
      task_end-game["end-game"]
      a__b["a--b"]
      a__2["a-"]
      a_["two<br/>lines"]
      task_end_2 --> a__b
    "#);
    insta::assert_snapshot!(drawn(&text), @r#"
    task_end_2 Rectangle "The \"end\" (of [it]) | #1 & <b> `x` 100%% {y}"
    task_end Rectangle "in direction LR"
    task_end-game Rectangle "end-game"
    a__b Rectangle "a--b"
    a__2 Rectangle "a-"
    a_ Rectangle "two<br/>lines"
    task_end_2 -> a__b Solid
    "#);
}

#[test]
fn a_plan_that_is_wrong_is_drawn_as_far_as_it_goes() {
    let plan = plan(serde_json::json!({"tasks": [
        {"id": "a", "parent": "b", "depends_on": ["nobody"]},
        {"id": "b", "parent": "a", "next": [{"on": "success", "to": "nowhere"}]},
        {"id": "c", "parent": "missing", "depends_on": ["c"]},
        {"id": "c"},
    ]}));
    let text = mermaid::export(&plan);
    insta::assert_snapshot!(text, @r#"
    flowchart LR
      c["c"]
      c_2["c"]
      subgraph a["a"]
        subgraph b["b"]
        end
      end
      %% a needs nobody, which does not exist
      %% b goes to nowhere, which does not exist
      c --> c
    "#);
    assert!(mermaid::parse(&text).is_ok());
}

#[test]
fn a_plan_without_tasks_is_an_empty_chart() {
    assert_eq!(mermaid::export(&Plan::default()), "flowchart LR\n");
}

#[test]
fn a_very_deep_plan_is_drawn_without_using_the_stack() {
    let mut plan = Plan::default();
    for level in 0..20_000_u32 {
        let mut task = Task::new(TaskId::slugged(&format!("t{level}")));
        task.parent = (level > 0).then(|| TaskId::slugged(&format!("t{}", level - 1)));
        task.action = Some(Action::Gate(Gate::default()));
        plan.tasks.push(task);
    }
    assert_eq!(mermaid::export(&plan).matches('\n').count(), 1 + 19_999 * 2 + 1);
}
