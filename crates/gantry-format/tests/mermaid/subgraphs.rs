//! Who is inside of which subgraph.

use crate::kit::drawn;

#[test]
fn subgraphs_have_ids_titles_and_parents() {
    insta::assert_snapshot!(drawn("flowchart TB
        subgraph one
          a1 --> a2
          subgraph inner [Inner part]
            direction LR
            b1
          end
        end
        subgraph \"Two words\"
          c1
        end
        subgraph Three words
          d1 --> a1
        end
        subgraph four[\"(4)\"]; e1; end
        one --> four
        b1 --> one
        "), @r#"
    a1 Plain ""
    a2 Plain ""
    b1 Plain ""
    c1 Plain ""
    d1 Plain ""
    e1 Plain ""
    a1 -> a2 Solid
    d1 -> a1 Solid
    one -> four Solid
    b1 -> one Solid
    subgraph one "one": [a1, a2]
    subgraph inner "Inner part" in one: [b1]
    subgraph subGraph2 "Two words": [c1]
    subgraph subGraph3 "Three words": [d1]
    subgraph four "(4)": [e1]
    "#);
}

#[test]
fn the_first_subgraph_to_close_owns_a_node() {
    insta::assert_snapshot!(drawn("flowchart
        A --> B
        subgraph outer
          B
          subgraph inner
            B --> C
          end
        end
        subgraph later
          B --> D
        end
        "), @r#"
    A Plain ""
    B Plain ""
    C Plain ""
    D Plain ""
    A -> B Solid
    B -> C Solid
    B -> D Solid
    subgraph outer "outer": []
    subgraph inner "inner" in outer: [B, C]
    subgraph later "later": [D]
    "#);
}

#[test]
fn a_subgraph_named_inside_of_another_one_is_inside_of_it() {
    insta::assert_snapshot!(drawn("flowchart
        subgraph a
          x
        end
        subgraph b
          a[label] --> y
        end
        subgraph c
          c --> z
        end
        "), @r#"
    x Plain ""
    y Plain ""
    z Plain ""
    a -> y Solid
    c -> z Solid
    subgraph a "a" in b: [x]
    subgraph b "b": [y]
    subgraph c "c": [z]
    ignored shape or label of a subgraph's id: "a[label]"
    "#);
}
