//! Clicks on lists and forms over the panes: one way for all of them.

use super::*;
use crate::app::msg::{SnippetNews, SnippetOp};
use crate::app::overlays::history::tests::runs;
use crate::app::overlays::packages::tests::stocked;
use crate::domain::{Belongs, Facts, ReapStatus, Reaped, Reason, Spared, Usage, Verdict};
use crate::protocol::Reply;

/// Opens the runs of the first sandbox.
fn with_runs(width: u16, height: u16, ids: &[&str]) -> App {
    let mut app = app(width, height);
    app.keys("h");
    app.answer(|command| {
        matches!(command, Command::Runs { .. }).then(|| Ok(Reply::Runs(runs(ids))))
    });
    app
}

fn chosen_run(app: &App) -> Option<&str> {
    match &app.state.view.overlay {
        Some(Overlay::History(panel)) => panel.runs.get(panel.at).map(|run| run.id.as_str()),
        _ => None,
    }
}

#[test]
fn a_run_is_chosen_and_one_more_click_shows_it() {
    let mut app = with_runs(80, 24, &["first", "second", "third"]);
    app.click("make second");
    assert_eq!(chosen_run(&app), Some("second"));
    // The heading and the foot are no runs.
    app.click("STATUS");
    app.click("marks two");
    assert_eq!(chosen_run(&app), Some("second"));
    app.click("make second");
    assert_eq!(
        (&app.state.view.overlay, app.state.view.focus),
        (&None, Pane::Output)
    );
}

#[test]
fn what_is_clicked_is_what_is_seen_also_far_down() {
    let ids: Vec<String> = (0..40).map(|n| format!("number-{n:02}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for (width, height) in [(60, 16), (80, 24), (160, 30)] {
        let mut app = with_runs(width, height, &ids);
        app.keys("G");
        app.click("number-35");
        assert_eq!(chosen_run(&app), Some("number-35"), "{}", app.screen());
        app.keys("g");
        app.click("number-05");
        assert_eq!(chosen_run(&app), Some("number-05"), "{}", app.screen());
    }
}

#[test]
fn a_snippet_is_chosen_and_one_more_click_opens_it() {
    let mut app = app(80, 24);
    app.keys("2 s");
    let names = vec!["count.py".to_owned(), "plot.js".to_owned()];
    app.tell(Msg::Snippet(SnippetNews::Listed(names)));
    app.effects.clear();
    let wanted = Effect::Snippet(SnippetOp::Open("plot.js".to_owned()));
    app.click("plot.js");
    assert!(!app.effects.contains(&wanted));
    app.click("plot.js");
    assert!(app.effects.contains(&wanted));
}

#[test]
fn packages_are_chosen_and_nothing_is_done_to_them() {
    let mut app = app(120, 30);
    app.keys("2 p");
    let all = vec![
        stocked("ab12", &["numpy"], false),
        stocked("cd34", &["pandas"], true),
    ];
    app.answer(|command| {
        matches!(command, Command::ListPackages(_)).then(|| Ok(Reply::PackageSets(all.clone())))
    });
    for _ in 0..3 {
        app.click("pandas");
    }
    let Some(Overlay::Packages(panel)) = &app.state.view.overlay else {
        unreachable!("the panel is open");
    };
    assert_eq!((panel.at, app.commands()), (1, Vec::new()));
}

#[test]
fn fields_of_a_run_are_chosen() {
    let mut app = app(80, 24);
    app.keys("2 o");
    app.click("arguments");
    app.typed("fast");
    app.click("timeout");
    app.typed("9");
    let Some(Overlay::Run(form)) = &app.state.view.overlay else {
        unreachable!("the form is open");
    };
    let typed: Vec<String> = form.fields.iter().map(|field| field.line.text()).collect();
    assert_eq!(typed, ["9", "fast", "", ""]);
}

#[test]
fn what_a_field_offers_is_picked() {
    let mut app = app(80, 24);
    app.keys("c");
    app.click("network");
    app.click("reaches what the engine");
    let Some(Overlay::Create(form)) = &app.state.view.overlay else {
        unreachable!("the form is open");
    };
    let field = form.fields.iter().find(|field| field.label == "network");
    assert_eq!(field.map(|field| field.line.text()), Some("yes".into()));
}

fn reap_status(name: &str, verdict: Verdict) -> Reaped {
    Reaped {
        sandbox: sandbox(name),
        reap_status: ReapStatus {
            sandbox: reference(name),
            facts: Facts {
                usage: Usage::Busy,
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

#[test]
fn ticks_of_the_reaper_are_turned() {
    let mut app = app(80, 24);
    app.keys("R");
    app.answer(|command| {
        let found = vec![
            reap_status("ada", Verdict::Remove(Reason::Idle)),
            reap_status("bob", Verdict::Remove(Reason::Idle)),
            reap_status("cyd", Verdict::Keep(Spared::Pinned)),
        ];
        matches!(command, Command::PreviewReap { .. }).then(|| Ok(Reply::Reaped(found, Vec::new())))
    });
    for row in ["] bob", "    cyd"] {
        app.click(row);
    }
    let Some(Overlay::Reap(preview)) = &app.state.view.overlay else {
        unreachable!("the preview is open");
    };
    let ticks: Vec<_> = preview.rows.iter().map(|row| row.ticked).collect();
    assert_eq!(ticks, [Some(true), Some(false), None]);
    assert_eq!(app.commands(), Vec::new());
}
