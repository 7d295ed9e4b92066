//! What a plan may be, and how two versions of it differ.

mod plan {
    mod checking;
    mod differing;
    mod places;
    mod values;
}
