//! The engine contract as a table: engine × clause → holds, weaker, or unsupported; each cell is a test of its own.
//!
//! The numbers are those of the clauses in `src/engine/mod.rs`. A cell that `holds` runs the clause. One that is `weaker`
//! says how, and runs what is promised instead. One that is `unsupported` names an attempt, which the engine must answer
//! with the failure of that kind. Another engine is another column: a `mod` in `contract!`, a constructor of [`Fixture`],
//! and a verdict in each row.

mod embedded;
mod ends;
mod execs;
mod files;
mod frozen;
mod isolation;
mod lives;
mod looks;
mod mounts;
mod outages;
mod package_sets;
mod packed;
mod sessions;
mod trees;
mod walls;

use sandtop::engine::EngineError;
use sandtop::protocol::FailureKind;

use crate::support::Fixture;

/// What an engine promises of a clause.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Holds,
    Weaker(&'static str),
    Unsupported(&'static str),
}

macro_rules! verdict {
    (holds) => {
        Verdict::Holds
    };
    ((weaker $how:literal $($promise:tt)*)) => {
        Verdict::Weaker($how)
    };
    ((unsupported $why:literal $($attempt:tt)*)) => {
        Verdict::Unsupported($why)
    };
}

/// One test: an engine and a clause.
macro_rules! cell {
    ($engine:ident [$($attribute:tt)*] $file:ident $clause:ident holds) => {
        cell! { $engine [$($attribute)*] $clause |fixture| super::$file::$clause(fixture).await }
    };
    ($engine:ident [$($attribute:tt)*] $file:ident $clause:ident (weaker $how:literal $other:ident::$promise:ident)) => {
        cell! { $engine [$($attribute)*] $clause |fixture| super::$other::$promise(fixture).await }
    };
    ($engine:ident [$($attribute:tt)*] $file:ident $clause:ident (unsupported $why:literal $other:ident::$attempt:ident)) => {
        cell! { $engine [$($attribute)*] $clause
            |fixture| super::assert_unsupported(&super::$other::$attempt(fixture).await)
        }
    };
    ($engine:ident [$($attribute:tt)*] $clause:ident |$fixture:ident| $test:expr) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        $($attribute)*
        async fn $clause() {
            let $fixture = &super::Fixture::$engine().await;
            $test;
        }
    };
}

macro_rules! contract {
    ($($file:ident::$clause:ident: $demo:tt $local:tt $docker:tt;)*) => {
        /// The engines, in the order of the columns.
        const ENGINES: [&str; 3] = ["demo", "local", "docker"];

        const TABLE: &[(&str, [Verdict; ENGINES.len()])] = &[
            $((stringify!($clause), [verdict!($demo), verdict!($local), verdict!($docker)]),)*
        ];

        mod demo {
            $(cell! { demo [] $file $clause $demo })*
        }

        mod local {
            $(cell! { local [] $file $clause $local })*
        }

        mod docker {
            $(cell! { docker [#[ignore = "needs Docker: tests/run"]] $file $clause $docker })*
        }
    };
}

/// What is true of one engine only, and no clause of the contract.
macro_rules! facts {
    ($module:ident $engine:ident $attribute:tt $($file:ident::$fact:ident;)*) => {
        mod $module {
            $(cell! { $engine $attribute $file $fact holds })*
        }
    };
}

// Clause: demo, local, docker.
contract! {
    lives::c01_what_is_created_is_listed: holds holds holds;
    lives::c02_lists_hold_our_own_in_order: holds holds holds;
    lives::c03_changes_of_phase_are_idempotent: holds holds holds;
    lives::c03_restarting_works_from_any_phase: holds holds holds;
    lives::c04_errors_have_their_kind: holds holds holds;
    lives::c04_only_running_sandboxes_run_commands: holds holds holds;
    execs::c05_streams_stay_apart: holds holds holds;
    execs::c05_each_stream_keeps_its_order: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    execs::c06_output_comes_while_the_process_waits: holds holds holds;
    execs::c07_ends_are_told_apart: (weaker "codes, but no signals" execs::c07_codes_are_told) holds holds;
    ends::c07_a_command_that_kills_its_watcher_still_ends: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    execs::c08_input_is_delivered_and_ends: holds holds holds;
    execs::c08_without_input_cat_ends_at_once: holds holds holds;
    ends::c09_cancelling_ends_every_process: (weaker "a command is one process" ends::c09_cancelling_ends_the_process) holds holds;
    ends::c09_cancelling_again_or_too_late_is_fine: holds holds holds;
    ends::c09_no_child_escapes_a_cancel: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    ends::c09_terminals_are_cancelled_too: holds holds holds;
    ends::c10_a_time_limit_ends_every_process: (weaker "a command is one process" ends::c10_a_time_limit_ends_the_process) holds holds;
    ends::c10_output_without_end_is_ended_in_time: holds holds holds;
    ends::c10_no_child_escapes_a_time_limit: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    ends::c10_a_stopped_watcher_makes_no_difference: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    ends::c10_terminals_have_time_limits_too: holds holds holds;
    ends::c11_removing_under_an_exec_loses_it: holds holds holds;
    ends::c11_stopping_under_an_exec_loses_it: holds holds holds;
    execs::c12_endless_output_does_not_grow_memory: holds holds holds;
    lives::c13_samples_stay_within_limits_and_end: (weaker "made up" lives::c13_made_up_samples_stay_within_limits_and_end) holds holds;
    files::c14_what_is_written_is_read_again: holds holds holds;
    files::c14_what_commands_write_is_read: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    files::c14_names_of_any_bytes_survive: holds holds holds;
    files::c14_large_files_survive: holds holds holds;
    files::c14_files_are_replaced_whole: holds holds holds;
    files::c14_files_move_and_go: holds holds holds;
    files::c14_only_the_work_directory_and_tmp_are_writable: (weaker "everything is writable, up to 64 MiB" files::c17_full_files_say_so) holds holds;
    trees::c15_trees_come_out_as_they_went_in: (unsupported "no trees" trees::try_a_tree) holds holds;
    trees::c15_one_file_is_a_tree: (unsupported "no trees" trees::try_a_tree) holds holds;
    trees::c15_names_that_climb_are_refused: (unsupported "no trees" trees::try_a_tree) holds holds;
    trees::c15_a_big_file_is_the_one_that_the_sandbox_sees: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    files::c16_wrong_paths_are_errors_of_the_right_kind: holds holds holds;
    files::c16_missing_folders_are_made_for_a_file: holds holds holds;
    trees::c16_missing_folders_are_made_for_a_tree: (unsupported "no trees" trees::try_a_tree) holds holds;
    trees::c16_errors_say_the_asked_name: (unsupported "no trees" trees::try_a_tree) holds holds;
    isolation::c17_memory_over_the_limit_is_told: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    isolation::c17_a_memory_bomb_leaves_the_sandbox_alive: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    isolation::c17_fork_bombs_stop_at_the_limit: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    isolation::c17_a_full_tmp_says_so: (weaker "full at 64 MiB in all" files::c17_full_files_say_so) holds holds;
    isolation::c18_the_network_is_off: (weaker "nothing is isolated, and the posture says so" isolation::c18_the_posture_says_that_nothing_is_isolated) holds holds;
    isolation::c18_nothing_of_the_host_is_reached: (weaker "nothing is isolated, and the posture says so" isolation::c18_the_posture_says_that_nothing_is_isolated) holds holds;
    isolation::c18_the_end_mark_is_seen_by_nobody: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    isolation::c18_the_guest_is_changed_by_nobody: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    walls::c18_no_attempt_from_inside_works: (unsupported "no real programs" execs::try_a_real_shell) holds holds;
    sessions::c19_sessions_keep_directory_and_variables: (unsupported "no sessions" sessions::try_a_session) holds holds;
    sessions::c19_sessions_survive_a_timeout: (unsupported "no sessions" sessions::try_a_session) holds holds;
    sessions::c19_sessions_are_listed_and_dropped: (unsupported "no sessions" sessions::try_a_session) holds holds;
    sessions::c19_odd_values_survive: (unsupported "no sessions" sessions::try_a_session) holds holds;
    sessions::c19_bad_names_are_refused: (unsupported "no sessions" sessions::try_a_session) holds holds;
    lives::c20_removing_takes_everything: holds holds holds;
    lives::c20_of_two_creates_with_one_name_one_fails: holds holds holds;
    lives::c20_discarding_removes_one_request_only: holds holds holds;
    lives::c20_a_failed_create_leaves_nothing: (weaker "only the image is looked at" lives::c20_a_create_without_an_image_leaves_nothing) holds holds;
    looks::c21_processes_are_told: holds holds holds;
    looks::c21_only_running_sandboxes_have_processes: holds holds holds;
    looks::c21_work_is_told_from_waiting: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    looks::c22_changes_are_told: (unsupported "cannot tell changes" looks::try_changes) holds holds;
    looks::c22_changes_outlive_a_restart: (unsupported "cannot tell changes" looks::try_changes) holds holds;
    looks::c22_long_lists_are_cut_and_say_so: (unsupported "cannot tell changes" looks::try_changes) holds holds;
    looks::c23_images_in_use_are_listed: holds holds holds;
    package_sets::c24_a_set_is_shown_to_many_and_complete_only_in_the_end: (unsupported "keeps no packages" package_sets::try_a_shelf) holds holds;
    package_sets::c24_sets_are_the_scopes_own_and_outlive_their_readers: (unsupported "keeps no packages" package_sets::try_a_shelf) holds holds;
    package_sets::c24_an_image_has_one_key_and_a_missing_one_none: (unsupported "keeps no packages" package_sets::try_a_shelf) holds holds;
    looks::c25_files_are_measured_without_using_the_sandbox: holds holds holds;
    looks::c27_looking_is_no_use: holds holds holds;
    frozen::c26_paused_sandboxes_can_be_looked_at: holds holds holds;
    frozen::c26_changes_of_paused_sandboxes_are_told: (unsupported "cannot tell changes" looks::try_changes) holds holds;
    frozen::c26_nothing_leads_out_of_a_paused_sandbox: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    frozen::c26_files_are_listed_alike_while_paused: (unsupported "no real shell" execs::try_a_real_shell) holds holds;
    lives::happenings_are_told_and_remembered: holds holds holds;
    execs::directory_and_variables_are_the_asked_ones: (weaker "no variables" execs::the_directory_is_the_asked_one) holds holds;
    execs::terminals_join_both_streams: (weaker "no keys but those of a shell" execs::terminals_join_both_streams_without_keys) holds holds;
    isolation::the_kernel_confirms_the_hardening: (weaker "nothing is isolated, and the posture says so" isolation::c18_the_posture_says_that_nothing_is_isolated) holds holds;
}

facts! {
    local_facts local []
    embedded::gaps_are_the_limits_that_the_kernel_does_not_enforce;
    embedded::memory_of_every_kind_is_limited;
    embedded::what_is_deep_or_locked_is_removed;
    embedded::a_killed_keeper_shows_as_stopped_and_starts_again;
    embedded::sandboxes_outlive_the_engine_that_made_them;
    embedded::a_folder_is_an_image;
    embedded::images_of_other_engines_give_a_hint;
    embedded::what_a_client_started_goes_with_it;
    embedded::nobody_escapes_by_ending_its_watcher;
    packed::layers_lie_on_top_of_each_other;
    packed::images_are_unpacked_once_and_go_when_nobody_uses_them;
    packed::nothing_of_an_image_leads_out_of_it;
    packed::links_of_an_image_give_way_to_places_of_the_sandbox;
    packed::what_is_wrong_with_an_image_is_told;
    packed::an_image_is_chosen_by_processor_and_name;
    frozen::c26_who_still_looks_when_it_thaws_is_limited_like_the_others;
    mounts::a_mount_that_became_a_link_is_not_followed;
}

facts! {
    docker_facts docker [#[ignore = "needs Docker: tests/run"]]
    isolation::default_sandboxes_have_no_gap_but_the_disk;
    walls::what_an_older_sandbox_leaves_open_is_named;
    mounts::a_mount_that_became_a_link_is_not_followed;
}

fn assert_unsupported(error: &EngineError) {
    assert_eq!(error.kind, FailureKind::Unsupported, "{error:?}");
}

#[test]
fn every_clause_is_in_the_table() {
    let module = include_str!("../../src/engine/mod.rs");
    let numbers = module.lines().filter_map(|line| {
        let (number, _) = line.strip_prefix("//! ")?.split_once(". ")?;
        number.parse::<u32>().ok()
    });
    let numbers: Vec<u32> = numbers.collect();
    assert_eq!(numbers, (1..=27).collect::<Vec<_>>());
    for number in numbers {
        let start = format!("c{number:02}_");
        let mut rows = TABLE.iter();
        assert!(
            rows.any(|(clause, _)| clause.starts_with(&start)),
            "{start}"
        );
    }
}

/// Prints the table: `cargo test --test it contract::the_table -- --nocapture`.
#[test]
fn the_table_counts() {
    for (column, engine) in ENGINES.iter().enumerate() {
        let mut counts = [0; 3];
        for (clause, verdicts) in TABLE {
            match verdicts[column] {
                Verdict::Holds => counts[0] += 1,
                Verdict::Weaker(how) => {
                    counts[1] += 1;
                    eprintln!("{engine:8} {clause:64} weaker: {how}");
                }
                Verdict::Unsupported(why) => {
                    counts[2] += 1;
                    eprintln!("{engine:8} {clause:64} unsupported: {why}");
                }
            }
        }
        eprintln!("{engine:8} {counts:?} hold, are weaker, are unsupported");
        let is_real = *engine != "demo";
        assert!(!is_real || counts[0] == TABLE.len(), "{engine} keeps all");
    }
}

/// Runs the clauses of the local engine again as somebody who is not root.
#[test]
#[ignore = "needs root: tests/run"]
fn the_local_engine_keeps_the_contract_for_an_ordinary_user() {
    crate::support::ordinary::run("contract::local");
}

/// Runs those about limits once more as somebody to whom cgroups were handed over.
#[test]
#[ignore = "needs root: tests/run"]
fn limits_are_the_kernels_where_groups_were_handed_over() {
    crate::support::ordinary::run_with_groups(&[
        "contract::local::c13",
        "contract::local::c17",
        "contract::local_facts::gaps",
        "contract::local::c20_removing",
        "contract::local::c03",
        "contract::local::c26",
        "contract::local_facts::c26",
        "contract::local_facts::a_killed_keeper",
    ]);
}
