//! The list: order, filter and columns, by keys.

use std::time::Duration;

use chrono::TimeDelta;

use super::*;
use crate::app::testing::{App, reference, sample, sandbox, start};
use crate::domain::EngineEventKind;

fn names(app: &App) -> Vec<String> {
    let rows = app.state.sandboxes.shown();
    rows.map(|row| row.sandbox.name.clone()).collect()
}

fn three() -> App {
    let mut app = App::with(160, 48, &[]);
    let mut all = ["a", "b", "c"].map(sandbox);
    let [a, b, c] = &mut all;
    a.image = "node:24".into();
    b.phase = Phase::Stopped;
    c.network = "bridge".into();
    c.labels.insert("team".into(), "blue".into());
    app.list(all.to_vec());
    app.sample("a", sample(0, 10.0, 300));
    app.sample("c", sample(0, 90.0, 100));
    app
}

#[test]
fn the_filter_has_words_for_what_people_look_for() {
    let table = [
        ("", "abc"),
        ("!a", "bc"),
        ("phase:run", "ac"),
        ("!phase:run", "b"),
        ("image:node", "a"),
        ("label:team=blue", "c"),
        ("!label:blue phase:running", "a"),
        ("label:nothing", ""),
        ("(", ""),
        ("!", ""),
    ];
    for (filter, expected) in table {
        let mut app = three();
        app.keys("/");
        filter.chars().for_each(|c| app.typed(&c.to_string()));
        app.keys("enter");
        assert_eq!(names(&app).concat(), expected, "{filter}");
    }
}

#[test]
fn every_column_sorts() {
    let mut app = three();
    let mut seen = Vec::new();
    for _ in Column::ALL {
        app.keys("o");
        assert_eq!(names(&app).len(), 3);
        seen.push(app.state.sandboxes.column);
        if app.state.sandboxes.column == Column::Cpu {
            assert_eq!(names(&app), ["c", "a", "b"], "the busiest first");
        }
        if app.state.sandboxes.column == Column::Memory {
            assert_eq!(names(&app), ["a", "c", "b"]);
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, Column::ALL);
}

#[test]
fn the_longest_idle_come_first_and_busy_ones_last() {
    let mut app = three();
    let exec = |name: &str, seconds| EngineEvent {
        at: start() + TimeDelta::seconds(seconds),
        sandbox: reference(name),
        name: name.into(),
        what: EngineEventKind::exec("x".into(), None),
    };
    app.engine(crate::protocol::Event::Engine(exec("a", 5)));
    while app.state.sandboxes.column != Column::Idle {
        app.keys("o");
    }
    assert_eq!(names(&app).last().map(String::as_str), Some("a"));
    app.tick(10);
    assert!(app.screen().contains("busy"), "{}", app.screen());
}

#[test]
fn columns_are_chosen_by_keys_and_the_name_stays() {
    let mut app = three();
    assert!(app.screen().contains("IDLE"));
    app.keys("C");
    assert!(app.screen().contains("[  x   ] idle"), "{}", app.screen());
    app.keys("space j j j j j j space enter");
    let hidden = app.state.sandboxes.hidden();
    assert_eq!(
        hidden.iter().collect::<Vec<_>>(),
        Vec::<&Column>::new(),
        "enter turns it back"
    );
    app.keys("space esc");
    assert_eq!(
        app.state.sandboxes.hidden().iter().collect::<Vec<_>>(),
        [&Column::Idle]
    );
    assert!(!app.screen().contains("IDLE"));
}

#[test]
fn the_selection_stays_on_its_sandbox() {
    let mut app = three();
    app.keys("G");
    let selected = |app: &App| {
        let row = app.state.sandboxes.selected();
        row.map(|row| row.sandbox.name.clone())
    };
    let before = selected(&app);
    app.keys("o o o");
    assert_eq!(selected(&app), before);
    app.list(vec![sandbox("0"), sandbox("a"), sandbox("b"), sandbox("c")]);
    assert_eq!(selected(&app), before);
}

#[test]
fn times_and_reasons_are_sorted_by_what_is_shown() {
    use crate::domain::{Belongs, Facts, LastEnd, ReapStatus, Reason, Spared, Usage, Verdict};
    let mut app = three();
    let stands = |name: &str, left: Option<u64>, why: Option<&str>| ReapStatus {
        sandbox: reference(name),
        facts: Facts {
            usage: Usage::Idle(Duration::ZERO),
            belongs: Belongs::Us,
            pinned: left.is_none(),
            paused: false,
            changing: false,
        },
        verdict: left.map_or(Verdict::Keep(Spared::Pinned), |left| {
            Verdict::Later(Reason::Idle, Duration::from_secs(left))
        }),
        last_end: why.map(|cause| LastEnd {
            cause: cause.to_owned(),
            run: "r".to_owned(),
            at: start(),
            exit_code: None,
        }),
        pids_refused_at: None,
        death: None,
    };
    let all = |c_left| {
        let reap_statuses = vec![
            stands("a", None, Some("timeout")),
            stands("b", Some(50), None),
            stands("c", Some(c_left), Some("oom")),
        ];
        let host = crate::app::testing::host();
        crate::protocol::Event::ReapStatuses {
            host,
            reap_statuses,
        }
    };
    app.engine(all(9));
    while app.state.sandboxes.column != Column::Reap {
        app.keys("o");
    }
    assert_eq!(names(&app), ["c", "b", "a"]);
    app.engine(all(90));
    assert_eq!(names(&app), ["b", "c", "a"], "the order follows the times");
    app.keys("O");
    assert_eq!(names(&app), ["a", "c", "b"]);
    while app.state.sandboxes.column != Column::Why {
        app.keys("o");
    }
    assert_eq!(names(&app), ["c", "a", "b"]);
}
