//! The tests that every store passes.
//!
//! `gantry_store::conformance!(SqliteStore::temporary().unwrap())` expands to one test for each
//! sentence below. Each test gets a store of its own from the expression. Where a second process
//! matters, [`Beside`] gives another handle on the same record.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "these are tests")]

mod journal; // in reading order
mod plans;
mod things;
mod between;
pub mod kit;

pub use between::*;
pub use journal::*;
pub use plans::*;
pub use things::*;

pub use crate::Beside;

/// Expands to the tests that every store passes. The expression makes an empty store that implements
/// [`Beside`](crate::Beside). The crate that uses it needs tokio's `macros` and `rt-multi-thread`.
#[macro_export]
macro_rules! conformance {
    ($store:expr) => {
        $crate::conformance!(@each $store;
            an_append_of_length_zero_makes_a_plan_with_the_next_number
            an_append_with_another_length_is_a_conflict_and_changes_nothing
            of_many_appends_at_once_with_one_length_exactly_one_succeeds
            plans_that_are_appended_to_at_once_do_not_disturb_each_other
            a_loaded_plan_is_what_was_appended
            numbers_come_back_to_their_last_digit
            a_turn_with_wrong_numbers_or_no_entries_is_refused
            turns_come_in_pages_from_any_entry
            the_chain_of_a_plan_that_nobody_touched_is_sound
            a_whole_life_is_written_at_once_or_not_at_all
            loading_begins_at_the_newest_snapshot
            a_snapshot_in_the_middle_of_a_turn_is_refused
            a_plan_is_found_by_id_number_prefix_and_last
            the_last_plan_is_never_one_inside_another
            a_prefix_that_fits_several_plans_names_them
            only_names_that_are_near_are_suggested
            an_empty_reference_names_no_plan
            plans_are_listed_newest_first_and_filtered
            lists_come_in_pages
            a_card_keeps_no_more_lines_than_are_shown
            a_pinned_plan_is_not_forgotten
            a_forgotten_plan_is_gone_and_its_number_is_not_used_again
            texts_are_found_by_the_beginnings_of_their_words
            artifacts_are_found_by_the_words_that_they_begin_with
            hostile_queries_find_nothing_and_break_nothing
            artifacts_get_versions_for_each_name
            an_artifact_without_its_blob_is_refused_with_the_whole_append
            blobs_come_back_as_they_were
            a_blob_that_is_too_large_is_refused_with_both_sizes
            a_vacuum_removes_old_blobs_that_nothing_refers_to
            what_calls_and_lists_of_files_speak_of_is_kept
            what_notes_speak_of_is_kept
            effects_are_recorded_once_begun_and_once_answered
            the_answer_of_an_effect_stays
            effects_come_in_pages_and_for_one_task
            a_call_is_recalled_by_what_was_asked
            contents_whose_time_is_over_are_dropped_and_stay_on_record
            inputs_wait_in_order_until_they_are_answered
            a_vacuum_removes_old_inputs_that_were_answered
            an_input_is_answered_together_with_the_turn_that_took_it
            a_request_with_a_key_is_carried_out_once
            a_key_for_another_request_is_refused
            a_plan_is_driven_by_one_handle_at_a_time
            another_handle_sees_what_was_appended
            whoever_waits_is_told_of_inputs_and_of_what_others_wrote
            what_does_not_exist_is_not_found
        );
    };
    (@each $store:expr; $($name:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::conformance::$name($store).await;
            }
        )*
    };
}
