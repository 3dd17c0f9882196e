//! The engine contract: one function per clause, and a test of each clause for each engine.
//!
//! The numbers are those of the clauses in `src/engine/mod.rs`; `real` ones need more than a simulation can tell.

mod embedded;
mod ends;
mod execs;
mod files;
mod frozen;
mod isolation;
mod lives;
mod looks;
mod outages;
mod package_sets;
mod packed;
mod sessions;
mod trees;

use crate::support::Fixture;

macro_rules! contract {
    (
        all { $($both:ident::$clause:ident,)* }
        real { $($real:ident::$truth:ident,)* }
        docker_only { $($only:ident::$fact:ident,)* }
        local_only { $($own:ident::$fact_here:ident,)* }
    ) => {
        mod demo {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $clause() {
                    super::$both::$clause(&super::Fixture::demo()).await;
                }
            )*
        }

        mod docker {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $clause() {
                    if let Some(fixture) = super::Fixture::docker().await {
                        super::$both::$clause(&fixture).await;
                    }
                }
            )*
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $truth() {
                    if let Some(fixture) = super::Fixture::docker().await {
                        super::$real::$truth(&fixture).await;
                    }
                }
            )*
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $fact() {
                    if let Some(fixture) = super::Fixture::docker().await {
                        super::$only::$fact(&fixture).await;
                    }
                }
            )*
        }

        mod local {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $clause() {
                    if let Some(fixture) = super::Fixture::local().await {
                        super::$both::$clause(&fixture).await;
                    }
                }
            )*
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $truth() {
                    if let Some(fixture) = super::Fixture::local().await {
                        super::$real::$truth(&fixture).await;
                    }
                }
            )*
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $fact_here() {
                    if let Some(fixture) = super::Fixture::local().await {
                        super::$own::$fact_here(&fixture).await;
                    }
                }
            )*
        }
    };
}

contract! {
    all {
        lives::c01_what_is_created_is_listed,
        lives::c02_lists_hold_our_own_in_order,
        lives::c03_changes_of_phase_are_idempotent,
        lives::c03_restarting_works_from_any_phase,
        lives::c04_errors_have_their_kind,
        lives::c04_only_running_sandboxes_run_commands,
        lives::c20_removing_takes_everything,
        lives::c20_of_two_creates_with_one_name_one_fails,
        lives::c20_discarding_removes_one_request_only,
        lives::happenings_are_told_and_remembered,
        execs::c05_streams_stay_apart,
        execs::c05_each_stream_keeps_its_order,
        execs::c06_output_comes_while_the_process_waits,
        execs::c07_ends_are_told_apart,
        execs::c08_input_is_delivered_and_ends,
        execs::c08_without_input_cat_ends_at_once,
        execs::c12_endless_output_does_not_grow_memory,
        execs::directory_and_variables_are_the_asked_ones,
        execs::terminals_join_both_streams,
        ends::c09_cancelling_ends_every_process,
        ends::c09_cancelling_again_or_too_late_is_fine,
        ends::c10_a_time_limit_ends_every_process,
        ends::c10_output_without_end_is_ended_in_time,
        ends::c11_removing_under_an_exec_loses_it,
        ends::c11_stopping_under_an_exec_loses_it,
        lives::c13_samples_stay_within_limits_and_end,
        files::c14_what_is_written_is_read_again,
        files::c14_names_of_any_bytes_survive,
        files::c14_large_files_survive,
        files::c14_files_are_replaced_whole,
        files::c14_files_move_and_go,
        trees::c15_trees_come_out_as_they_went_in,
        trees::c15_one_file_is_a_tree,
        trees::c15_names_that_climb_are_refused,
        files::c16_wrong_paths_are_errors_of_the_right_kind,
        isolation::c17_memory_over_the_limit_is_told,
        isolation::c18_the_network_is_off,
        sessions::c19_sessions_keep_directory_and_variables,
        sessions::c19_sessions_survive_a_timeout,
        sessions::c19_sessions_are_listed_and_dropped,
        looks::c21_processes_are_told,
        looks::c21_only_running_sandboxes_have_processes,
        looks::c22_changes_are_told,
        looks::c22_changes_outlive_a_restart,
        looks::c23_images_in_use_are_listed,
        looks::c25_files_are_measured_without_using_the_sandbox,
        package_sets::c24_a_set_is_shown_to_many_and_complete_only_in_the_end,
        package_sets::c24_sets_are_the_scopes_own_and_outlive_their_readers,
        package_sets::c24_an_image_has_one_key_and_a_missing_one_none,
        frozen::c26_paused_sandboxes_can_be_looked_at,
    }
    real {
        ends::c07_a_command_that_kills_its_watcher_still_ends,
        ends::c09_no_child_escapes_a_cancel,
        ends::c09_terminals_are_cancelled_too,
        ends::c10_no_child_escapes_a_time_limit,
        ends::c10_terminals_have_time_limits_too,
        trees::c15_a_big_file_is_the_one_that_the_sandbox_sees,
        files::c14_only_the_work_directory_and_tmp_are_writable,
        isolation::c17_a_memory_bomb_leaves_the_sandbox_alive,
        isolation::c17_fork_bombs_stop_at_the_limit,
        isolation::c17_a_full_tmp_says_so,
        isolation::c18_nothing_of_the_host_is_reached,
        isolation::the_kernel_confirms_the_hardening,
        sessions::c19_odd_values_survive,
        sessions::c19_bad_names_are_refused,
        lives::c20_a_failed_create_leaves_nothing,
        looks::c21_work_is_told_from_waiting,
        looks::c22_long_lists_are_cut_and_say_so,
        frozen::c26_nothing_leads_out_of_a_paused_sandbox,
        frozen::c26_files_are_listed_alike_while_paused,
    }
    docker_only {
        isolation::default_sandboxes_have_no_gap_but_the_disk,
    }
    local_only {
        embedded::gaps_are_the_limits_that_the_kernel_does_not_enforce,
        embedded::memory_of_every_kind_is_limited,
        embedded::what_is_deep_or_locked_is_removed,
        embedded::a_killed_keeper_shows_as_stopped_and_starts_again,
        embedded::sandboxes_outlive_the_engine_that_made_them,
        embedded::a_folder_is_an_image,
        embedded::images_of_other_engines_give_a_hint,
        embedded::what_a_client_started_goes_with_it,
        packed::layers_lie_on_top_of_each_other,
        packed::images_are_unpacked_once_and_go_when_nobody_uses_them,
        packed::nothing_of_an_image_leads_out_of_it,
        packed::links_of_an_image_give_way_to_places_of_the_sandbox,
        packed::what_is_wrong_with_an_image_is_told,
        packed::an_image_is_chosen_by_processor_and_name,
        frozen::c26_who_still_looks_when_it_thaws_is_limited_like_the_others,
    }
}

/// Runs the clauses of the local engine again as somebody who is not root.
#[test]
fn the_local_engine_keeps_the_contract_for_an_ordinary_user() {
    crate::support::ordinary::run("contract::local::");
}

/// Runs those about limits once more as somebody to whom cgroups were handed over.
#[test]
fn limits_are_the_kernels_where_groups_were_handed_over() {
    crate::support::ordinary::run_with_groups(&[
        "contract::local::c13",
        "contract::local::c17",
        "contract::local::gaps",
        "contract::local::c20_removing",
        "contract::local::c03",
        "contract::local::c26",
        "contract::local::a_killed_keeper",
    ]);
}
