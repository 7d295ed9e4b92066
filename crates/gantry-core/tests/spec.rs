//! The specification of how plans live, one scenario a test.

#![allow(clippy::unwrap_used)] // a test may

mod spec {
    mod approvals;
    mod attempts;
    mod budgets;
    mod corners;
    mod editing;
    mod gates;
    mod judging;
    mod knowledge;
    mod adopting;
    mod again;
    mod maps_and_rounds;
    mod more_rounds;
    mod people;
    mod readiness;
    mod recovery;
    mod replanning;
    mod replay;
    mod routes;
    mod steering;
    mod time;
    mod tree;
    mod turns;
    mod undoing;
}
