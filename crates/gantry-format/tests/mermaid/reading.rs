//! What each part of the language means.

use crate::kit::drawn;

#[test]
fn a_chain_is_as_many_edges_as_it_has_links() {
    insta::assert_snapshot!(drawn("graph LR\nA --> B --> C; C --> D;"), @r#"
    A Plain ""
    B Plain ""
    C Plain ""
    D Plain ""
    A -> B Solid
    B -> C Solid
    C -> D Solid
    "#);
}

#[test]
fn an_ampersand_links_every_left_node_to_every_right_one() {
    insta::assert_snapshot!(drawn("flowchart\nA & B[two]--> C & D"), @r#"
    A Plain ""
    B Rectangle "two"
    C Plain ""
    D Plain ""
    A -> C Solid
    A -> D Solid
    B -> C Solid
    B -> D Solid
    "#);
}

#[test]
fn every_bracket_is_a_shape() {
    insta::assert_snapshot!(drawn(r"flowchart
        a[text]
        b(text)
        c([text])
        d[[text]]
        e[(text)]
        f((text))
        g>text]
        h{text}
        i{{text}}
        j[/text/]
        k[\text\]
        l[/text\]
        m[\text/]
        n(((text)))
        o(-text-)
        p
        "), @r#"
    a Rectangle "text"
    b Round "text"
    c Stadium "text"
    d Subroutine "text"
    e Cylinder "text"
    f Circle "text"
    g Odd "text"
    h Diamond "text"
    i Hexagon "text"
    j LeanRight "text"
    k LeanLeft "text"
    l Trapezoid "text"
    m InvertedTrapezoid "text"
    n DoubleCircle "text"
    o Ellipse "text"
    p Plain ""
    "#);
}

#[test]
fn data_in_braces_gives_shape_and_label() {
    insta::assert_snapshot!(drawn("flowchart
        A@{ shape: diam, label: \"Go, or not: {now}?\" }
        B@{ shape: cloud }
        C@{
          label: it's, well, plain
          shape: cyl
          icon: x
        }
        D@{ label: 'single' } --> A
        "), @r#"
    A Diamond "Go, or not: {now}?"
    B Named("cloud") ""
    C Cylinder "it's, well, plain"
    D Plain "single"
    D -> A Solid
    ignored data of a node in `@{ }`: "@{\n          label: it's, well, plain\n          shape: cyl\n          icon: x\n        }"
    "#);
}

#[test]
fn quotes_let_a_text_hold_anything_and_entities_are_decoded() {
    insta::assert_snapshot!(drawn("flowchart
        A[\"a (b) [c] {d} | ; end\"]
        B[\"say #quot;hi#quot; #35;1 &amp; #9829; #unknown; #\"]
        C(\"`The **cat**
          in the hat`\")
        D[two
          lines]
        "), @r#"
    A Rectangle "a (b) [c] {d} | ; end"
    B Rectangle "say \"hi\" #1 & ♥ #unknown; #"
    C Round "The **cat**\n          in the hat"
    D Rectangle "two\n          lines"
    "#);
}

#[test]
fn the_last_label_and_shape_of_a_node_count() {
    insta::assert_snapshot!(drawn("flowchart\nA --> B\nA[first]\nA(second)\nA --> C"), @r#"
    A Round "second"
    B Plain ""
    C Plain ""
    A -> B Solid
    A -> C Solid
    "#);
}

#[test]
fn every_link_form_is_read() {
    insta::assert_snapshot!(drawn("flowchart
        A --> B
        A --- B
        A -.-> B
        A -.- B
        A ==> B
        A === B
        A --o B
        A --x B
        A <--> B
        A o--o B
        A x--x B
        A ~~~ B
        A ----> B
        A -...-> B
        A ====> B
        A-->B
        A---B
        "), @r#"
    A Plain ""
    B Plain ""
    A -> B Solid
    A - B Solid
    A -> B Dotted
    A - B Dotted
    A -> B Thick
    A - B Thick
    A -> B Solid
    A -> B Solid
    A <-> B Solid
    A <-> B Solid
    A <-> B Solid
    A - B Invisible
    A -> B Solid
    A -> B Dotted
    A -> B Thick
    A -> B Solid
    A - B Solid
    "#);
}

#[test]
fn every_place_for_a_links_text_is_read() {
    insta::assert_snapshot!(drawn("flowchart
        A -- some text --> B
        A -->|some text| B
        A --> |some text| B
        A -- text --- B
        A == text ==> B
        A -. version 1.2 .-> B
        A --10--> B
        A -- \"a (b) --> c\" --> B
        A -->|\"a | b\"|B
        A <-- both --> B
        A -- one --> B -- two --> C
        A e1@-- named --> B
        e1@{ animate: true }
        "), @r#"
    A Plain ""
    B Plain ""
    C Plain ""
    A -> B Solid "some text"
    A -> B Solid "some text"
    A -> B Solid "some text"
    A - B Solid "text"
    A -> B Thick "text"
    A -> B Dotted "version 1.2"
    A -> B Solid "10"
    A -> B Solid "a (b) --> c"
    A -> B Solid "a | b"
    A <-> B Solid "both"
    A -> B Solid "one"
    B -> C Solid "two"
    A -> B Solid "named"
    ignored data of an edge in `@{ }`: "@{ animate: true }"
    "#);
}

#[test]
fn an_id_that_names_an_edge_and_a_node_is_a_node() {
    insta::assert_snapshot!(drawn("flowchart\nA e1@--> B\ne1@{ animate: true }\ne1 --> A"), @r#"
    A Plain ""
    B Plain ""
    e1 Plain ""
    A -> B Solid
    e1 -> A Solid
    ignored data of an edge in `@{ }`: "@{ animate: true }"
    "#);
}

#[test]
fn a_link_may_start_or_end_on_the_next_line() {
    insta::assert_snapshot!(drawn("flowchart
        A
          --> B
        B -->
          C
        x --> o
        x-->o
        "), @r#"
    A Plain ""
    B Plain ""
    C Plain ""
    x Plain ""
    o Plain ""
    A -> B Solid
    B -> C Solid
    x -> o Solid
    x -> o Solid
    "#);
}

#[test]
fn looks_are_kept_aside() {
    insta::assert_snapshot!(drawn("---
title: The \"plan\"
config:
  theme: dark
---
%%{init: {'theme': 'dark'}}%%
flowchart LR
  %% A --> Z
  accTitle: Title
  accDescr { several
    lines }
  A:::big --> B %% trailing
  direction TB
  classDef big fill:#f96;
  class A,B big
  style A fill:#f9f,stroke:#333
  linkStyle 0 stroke:red; C
  click A \"https://example.org\" \"two
  lines\" _blank
"), @r#"
    A Plain ""
    B Plain ""
    C Plain ""
    A -> B Solid
    ignored front matter: "config:\n  theme: dark\n"
    ignored `%%{ }%%` directive: "%%{init: {'theme': 'dark'}}%%"
    ignored accessibility text: "accTitle: Title"
    ignored accessibility text: "accDescr { several\n    lines }"
    ignored `:::` class: ":::big"
    ignored `direction` statement outside of a subgraph: "direction TB"
    ignored `classDef` statement: "classDef big fill:#f96"
    ignored `class` statement: "class A,B big"
    ignored `style` statement: "style A fill:#f9f,stroke:#333"
    ignored `linkStyle` statement: "linkStyle 0 stroke:red"
    ignored `click` statement: "click A \"https://example.org\" \"two\n  lines\" _blank"
    "#);
}

#[test]
fn the_front_matter_gives_the_title() {
    let chart = gantry_format::mermaid::parse("---\ntitle: \"Ship it\"\n---\nflowchart").expect("a chart");
    assert_eq!(chart.title.as_deref(), Some("Ship it"));
}

#[test]
fn ids_may_have_letters_of_any_script_dots_dashes_and_keyword_prefixes() {
    insta::assert_snapshot!(drawn("flowchart
        审批 --> sid-03A2-B
        endpoint --> styles
        a.b/c:d --> A&B
        classic --> subgraphs & graph1
        "), @r#"
    审批 Plain ""
    sid-03A2-B Plain ""
    endpoint Plain ""
    styles Plain ""
    a.b/c:d Plain ""
    A&B Plain ""
    classic Plain ""
    subgraphs Plain ""
    graph1 Plain ""
    审批 -> sid-03A2-B Solid
    endpoint -> styles Solid
    a.b/c:d -> A&B Solid
    classic -> subgraphs Solid
    classic -> graph1 Solid
    "#);
}

#[test]
fn odd_line_ends_and_a_byte_order_mark_do_no_harm() {
    insta::assert_snapshot!(drawn("\u{feff}graph TD;\r\n  A-->B;\r\n\r\n  B-->C\r\n"), @r#"
    A Plain ""
    B Plain ""
    C Plain ""
    A -> B Solid
    B -> C Solid
    "#);
}
