//! Overlays, and what they say when they have nothing to show.

use std::time::Duration;

use super::*;
use crate::app::msg::SnippetNews;
use crate::app::overlays::Overlay;
use crate::app::overlays::compare::{Comparison, Difference};
use crate::app::overlays::history::HistoryPanel;
use crate::app::overlays::history::tests::all as all_runs;
use crate::app::overlays::packages::tests::stocked;
use crate::app::testing::{reference, start};
use crate::app::{Msg, Tone};
use crate::code::{Finding, Requirement, Severity};
use crate::domain::{
    Belongs, CachedPackages, Death, Facts, ReapStatus, Reaped, Reason, Run, Spared, StreamKind,
    Usage, Verdict,
};
use crate::protocol::{Analysis, Command, Failure, FailureKind, Leftover, Reply};
use crate::ui::tests::{app as busy, details};

/// Presses keys and gives one kind of answer.
fn answered(
    keys: &'static str,
    reply: impl Fn(&Command) -> Option<Reply>,
) -> impl Fn(u16, u16) -> App {
    move |width, height| {
        let mut app = several(width, height);
        app.keys("g");
        app.keys(keys);
        app.answer(|command| reply(command).map(Ok));
        app.state.status.dismiss();
        app
    }
}

#[test]
fn what_lies_over_the_panes() {
    check_sizes("help", with_keys("?"));
    check("palette", with_keys(": s h e l l"));
    check("palette_empty", with_keys(": q q q"));
    check("confirm", with_keys("d"));
    check("filter", with_keys("/ a d a"));
    check_sizes("create", with_keys("c"));
    check("create_wrong", |width, height| {
        let mut app = several(width, height);
        app.keys("c tab tab tab");
        app.typed("much");
        app
    });
    check("columns", with_keys("C"));
    check("message", |width, height| {
        let mut app = several(width, height);
        app.keys("m");
        app
    });
}

#[test]
fn what_was_done_and_what_happened() {
    check("log_empty", with_keys("f8"));
    check("log", |width, height| {
        let mut app = several(width, height);
        app.keys("m m f8");
        let long = "starting ada: the engine could not start a process in the sandbox: the process limit of the sandbox is \
                    reached, and /a/path/without/any/place/at/which/it/could/be/split/between/words/however/long/it/is was not read";
        let now = app.state.now;
        app.state.status.say(Tone::Bad, long, now);
        app.state.status.dismiss();
        app
    });
    check("events_empty", with_keys("f7"));
    check("events", |width, height| {
        let mut app = busy(width, height);
        app.keys("f7");
        app
    });
}

#[test]
fn one_sandbox() {
    check_sizes("inspect", with_keys("i"));
    let tab = |steps: usize| {
        move |width, height| {
            let mut app = busy(width, height);
            app.keys("i");
            app.answer(answer);
            for _ in 0..steps {
                app.keys("]");
                app.answer(answer);
            }
            app.state.status.dismiss();
            app
        }
    };
    for (steps, name) in ["processes", "charts", "events", "changes"]
        .iter()
        .enumerate()
    {
        check(&format!("inspect_{name}"), tab(steps + 1));
    }
    check("inspect_waiting", |width, height| {
        let mut app = busy(width, height);
        app.keys("i");
        app
    });
    check("inspect_refused", |width, height| {
        let mut app = busy(width, height);
        app.keys("i ]");
        app.answer(|_| {
            let why = Failure::new(FailureKind::Conflict, "listing processes: it is paused");
            Some(Err(why.with_hint("resume it first")))
        });
        app.state.status.dismiss();
        app
    });
    check("inspect_dead", |width, height| {
        let mut app = busy(width, height);
        app.keys("i");
        app.answer(|command| {
            let Reply::Details(mut details) = details() else {
                return None;
            };
            details.sandbox.phase = Phase::Dead;
            details.death = Some(death());
            matches!(command, Command::Inspect(_)).then_some(Ok(Reply::Details(details)))
        });
        app.keys("G");
        app.state.status.dismiss();
        app
    });
}

fn death() -> Death {
    Death {
        cause: "oom".into(),
        exit_code: Some(137),
        at: Some(start()),
        last_lines: vec!["MemoryError".into(), "Killed".into()],
        by: Some("ada".into()),
        run: Some("x1".into()),
        peak_memory_bytes: Some(512 << 20),
        memory: vec![100 << 20, 300 << 20, 512 << 20],
    }
}

fn runs(runs: fn() -> Vec<Run>) -> impl Fn(&Command) -> Option<Reply> {
    move |command| matches!(command, Command::Runs { .. }).then(|| Reply::Runs(runs()))
}

#[test]
fn runs_of_the_past() {
    check("history", answered("h", runs(all_runs)));
    check("history_empty", answered("h", runs(Vec::new)));
    check("history_of_all", |width, height| {
        let mut app = answered("h", runs(all_runs))(width, height);
        app.keys("a");
        app.answer(|command| runs(all_runs)(command).map(Ok));
        app.keys("space j space");
        app.state.status.dismiss();
        app
    });
    let compared = |difference: Difference| {
        move |width, height| {
            let mut app = several(width, height);
            let [first, second] = [1, 2].map(|at| all_runs().swap_remove(at));
            let mut panel = HistoryPanel::new(None, Vec::new());
            panel.comparison = Some(Comparison {
                runs: [first, second],
                difference: difference.clone(),
            });
            app.state.view.overlay = Some(Overlay::History(Box::new(panel)));
            app
        }
    };
    let differing = Difference::At {
        stream: StreamKind::Stdout,
        line: 12,
        texts: [Some("total 3".into()), None],
    };
    check("comparison", compared(differing));
    check("comparison_same", compared(Difference::None));
}

fn stock(all: fn() -> Vec<CachedPackages>) -> impl Fn(&Command) -> Option<Reply> {
    move |command| matches!(command, Command::ListPackages(_)).then(|| Reply::PackageSets(all()))
}

#[test]
fn packages() {
    let some = || {
        vec![
            stocked("ab12", &["numpy", "rich"], false),
            stocked("cd34", &["pandas"], true),
        ]
    };
    check("packages", answered("2 p", stock(some)));
    check("packages_empty", answered("2 p", stock(Vec::new)));
}

#[test]
fn snippets() {
    check("snippets", |width, height| {
        let mut app = several(width, height);
        app.keys("2 s");
        let names = vec!["count.py".to_owned(), "plot.js".to_owned()];
        app.tell(Msg::Snippet(SnippetNews::Listed(names)));
        app
    });
    check("snippet_name", with_keys("2 S"));
}

fn analysis() -> Analysis {
    let finding = |line, severity, rule, message: &str| Finding {
        rule,
        severity,
        line,
        column: 1,
        message: message.into(),
    };
    let danger = "this deletes everything below /";
    Analysis {
        findings: vec![
            finding(3, Severity::Danger, "delete-root", danger),
            finding(7, Severity::Info, "network", "this opens a connection"),
        ],
        packages: ["numpy", "rich"].map(Requirement::any).into(),
        kept: Some(false),
    }
}

/// Presses keys when something is known of the code.
fn known(keys: &'static str) -> impl Fn(u16, u16) -> App {
    move |width, height| {
        let mut app = several(width, height);
        app.keys("2 i");
        app.typed("import numpy, rich");
        app.keys("esc");
        app.tick(40);
        app.answer(|command| {
            let asked = matches!(command, Command::Analyse { .. });
            asked.then(|| Ok(Reply::Analysis(Box::new(analysis()))))
        });
        app.keys(keys);
        app.state.status.dismiss();
        app
    }
}

#[test]
fn before_a_run() {
    check("run_options", with_keys("2 o"));
    check("run_options_known", known("o"));
    check("run_options_wrong", |width, height| {
        let mut app = several(width, height);
        app.keys("2 o");
        app.typed("soon");
        app
    });
    check("findings", known("!"));
    check("findings_none", with_keys("2 !"));
}

fn reap_status(name: &str, verdict: Verdict, idle: u64) -> Reaped {
    Reaped {
        sandbox: sandbox(name),
        reap_status: ReapStatus {
            sandbox: reference(name),
            facts: Facts {
                usage: Usage::Idle(Duration::from_secs(idle)),
                belongs: Belongs::Us,
                pinned: false,
                paused: false,
                changing: false,
            },
            verdict,
            last_end: None,
            pids_refused_at: None,
            death: None,
        },
        done: None,
    }
}

fn survey(
    found: fn() -> Vec<Reaped>,
    left: fn() -> Vec<Leftover>,
) -> impl Fn(&Command) -> Option<Reply> {
    move |command| {
        matches!(command, Command::PreviewReap { .. }).then(|| Reply::Reaped(found(), left()))
    }
}

#[test]
fn reaping() {
    let found = || {
        vec![
            reap_status("ada", Verdict::Remove(Reason::Idle), 7_200),
            reap_status("bob", Verdict::Keep(Spared::Pinned), 60),
        ]
    };
    let left = || {
        vec![Leftover {
            kind: "volume".into(),
            name: "left".into(),
        }]
    };
    check("reap", answered("R", survey(found, Vec::new)));
    check("reap_leftovers", answered("R", survey(found, left)));
    check("reap_empty", answered("R", survey(Vec::new, Vec::new)));
}
