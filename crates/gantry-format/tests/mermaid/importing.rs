//! What a chart becomes as a plan.

use crate::kit::imported;

#[test]
fn arrows_become_dependencies_and_nodes_tasks() {
    insta::assert_snapshot!(imported("flowchart\nA[Dig] & B[Pour] --> C[Build]\nC --> D"), @r#"
    A "Dig"
    B "Pour"
    C "Build" after A, B
    D "" after C
    "#);
}

#[test]
fn a_diamond_becomes_a_decision_with_the_texts_on_its_arrows_as_outcomes() {
    insta::assert_snapshot!(imported("flowchart
        A --> B{Warm enough?}
        B -- yes --> C
        B -- no --> D
        B -- no --> E
        "), @r#"
    A ""
    B "Warm enough?" decide [yes, no] after A; yes to C; no to D; no to E
    C ""
    D ""
    E ""
    "#);
}

#[test]
fn a_diamond_that_speaks_of_approval_becomes_a_gate() {
    insta::assert_snapshot!(imported("flowchart
        A --> B{Sign-off}
        B -->|yes| C
        B -->|no| D
        E{Legal review} -->|maybe| F
        P{Preview the design offer?}
        G([Ask Ana]) -->|approved| H
        G -->|needs changes| I
        "), @r#"
    A ""
    B "Sign-off" gate after A; success to C; failure to D
    C ""
    D ""
    E "Legal review" decide [maybe]; maybe to F
    F ""
    P "Preview the design offer?" decide []
    G "Ask Ana" gate; success to H; needs_changes to I
    H ""
    I ""
    note "-->|yes|": `yes` on a link out of `B` is read as `success`
    note "-->|no|": `no` on a link out of `B` is read as `failure`
    note "E": `Legal review` becomes a decision, because a gate cannot end with `maybe`
    note "G": `Ask Ana` becomes a gate, because of the texts on the links out of it
    note "-->|approved|": `approved` on a link out of `G` is read as `success`
    "#);
}

#[test]
fn endings_on_arrows_out_of_a_task_become_routes_and_other_texts_are_noted() {
    insta::assert_snapshot!(imported("flowchart
        A -- pass --> B
        A -- fail --> C
        A -- OTLP --> D
        E(Policy?) -- Yes --> F
        "), @r#"
    A ""; success to B; failure to C
    B ""
    C ""
    D "" after A
    E "Policy?" decide [Yes]; Yes to F
    F ""
    note "-- pass -->": `pass` on a link out of `A` is read as `success`
    note "-- fail -->": `fail` on a link out of `A` is read as `failure`
    note "-- OTLP -->": the text `OTLP` on a link out of `A` is left out: it names no ending of a task
    note "E": `Policy?` becomes a decision, because of the texts on the links out of it
    "#);
}

#[test]
fn a_task_that_a_route_leads_to_can_be_reached_either_way() {
    insta::assert_snapshot!(imported("flowchart
        A{go?} -- no --> C
        A -- yes --> B
        B --> C
        A --> D
        A -- no --> D
        "), @r#"
    A "go?" decide [no, yes]; no to C; yes to B; success to D; no to D
    C ""
    B ""; success to C
    D ""
    note "-->": `C` starts after `B` or after another way in, whichever is taken
    note "-->": `D` starts after `A` or after another way in, whichever is taken
    "#);
}

#[test]
fn an_arrow_that_closes_a_circle_becomes_a_way_back() {
    insta::assert_snapshot!(imported("flowchart
        C --> B
        A --> B --> C
        C --> C
        C -. again (max 5) .-> A
        "), @r#"
    C "" after B; success to B max 3; success to C max 3; success to A max 5
    B "" after A
    A ""
    note "-->": the link from `C` to `B` closes a circle: it becomes a way back, taken at most 3 times
    note "-->": the link from `C` to `C` closes a circle: it becomes a way back, taken at most 3 times
    note "-. again (max 5) .->": the text `again` on a link out of `C` is left out: it names no ending of a task
    "#);
    insta::assert_snapshot!(imported("flowchart
        A --> B --> R{Review}
        R -- no --> A
        R -- yes --> C
        "), @r#"
    A ""
    B "" after A
    R "Review" gate after B; needs_changes to A max 3; success to C
    C ""
    note "-- no -->": `no` on a link out of `R` is read as `needs_changes`
    note "-- no -->": the link from `R` to `A` closes a circle: it becomes a way back, taken at most 3 times
    note "-- yes -->": `yes` on a link out of `R` is read as `success`
    "#);
}

#[test]
fn subgraphs_become_composites() {
    insta::assert_snapshot!(imported("flowchart
        subgraph Two words
          a --> b
          subgraph in[Inside]
            c
          end
        end
        a --> in
        c --> d
        in --> d
        subgraph empty
        end
        b --> in
        c --> in
        "), @r#"
    two-words "Two words"
    a "" in two-words
    b "" in two-words after a
    in "Inside" in two-words after a, b
    c "" in in
    d "" after c, in
    empty ""
    note "subgraph empty": subgraph `empty` is empty, so it becomes a task of its own
    note "-->": the link from `c` to `in` is left out: one contains the other
    "#);
}

#[test]
fn circles_through_composites_are_opened_or_left_out() {
    insta::assert_snapshot!(imported("flowchart
        subgraph S
          a
        end
        x --> a
        S --> y
        y --> S
        "), @r#"
    S ""
    a "" in S after x
    x ""
    y "" after S; success to S max 3
    note "-->": the link from `y` to `S` closes a circle: it becomes a way back, taken at most 3 times
    "#);
    insta::assert_snapshot!(imported("flowchart
        subgraph S
          a --> c
        end
        S --> b
        b --> c
        "), @r#"
    S ""
    a "" in S
    c "" in S after a
    b "" after S
    note "-->": the link from `b` back to `c` is left out: `b` does not wait for it
    "#);
}

#[test]
fn ids_are_made_valid_and_unique() {
    insta::assert_snapshot!(imported("flowchart
        a.b --> a/b
        审批[提交申请] --> 结束[The end]
        结束 --> a-b
        "), @r#"
    a-b-2 "a.b"
    a-b-3 "a/b" after a-b-2
    task "提交申请"
    the-end "The end" after task
    a-b "" after the-end
    note "a.b": `a.b` is called `a-b-2` in the plan
    note "a/b": `a/b` is called `a-b-3` in the plan
    note "审批": `审批` is called `task` in the plan
    note "结束": `结束` is called `the-end` in the plan
    "#);
}

#[test]
fn markup_is_taken_out_of_titles() {
    insta::assert_snapshot!(imported("flowchart
        A[two<br/>lines] --> B[fa:fa-car <b>Car</b> & a < b]
        C(fa:fa-spinner)
        "), @r#"
    A "two lines"
    B "Car & a < b" after A
    C ""
    note "B": the formatting of the text of `B` is left out
    note "C": the formatting of the text of `C` is left out
    "#);
}

#[test]
fn links_that_say_less_than_an_arrow_are_noted() {
    insta::assert_snapshot!(imported("flowchart
        A --- B
        B <--> C
        A ~~~ C
        A --- B
        style A fill:red
        "), @r#"
    A ""
    B "" after A
    C "" after B
    note "---": the link from `A` to `B` has no arrow, and is read as one in this direction
    note "<-->": the link from `B` to `C` points both ways, and only this one is kept
    note "~~~": the invisible link from `A` to `C` is left out
    note "---": the link from `A` to `B` has no arrow, and is read as one in this direction
    note "---": the link from `A` to `B` is drawn twice
    note "style A fill:red": `style` statement is left out
    "#);
}

#[test]
fn the_title_is_that_of_the_front_matter() {
    let title = |text: &str| {
        let chart = gantry_format::mermaid::parse(text).expect("a chart");
        gantry_format::mermaid::import(&chart).plan.title
    };
    assert_eq!(title("flowchart\nA"), "Imported flowchart");
    assert_eq!(title("---\ntitle: Ship it\n---\nflowchart\nA"), "Ship it");
}
