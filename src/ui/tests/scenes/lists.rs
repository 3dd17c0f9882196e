//! The list of sandboxes in all its states, and what is said of the engine and the host.

use super::*;
use crate::app::testing::{down, up};
use crate::domain::Sandbox;
use crate::keymap::Keymap;
use crate::protocol::{Event, Link};

#[test]
fn the_list() {
    check_sizes("list", several);
    check("list_empty", |width, height| App::with(width, height, &[]));
    check("list_filtered_out", |width, height| {
        let mut app = several(width, height);
        app.state.sandboxes.set_filter("nobody");
        app
    });
    check_sizes("list_zoomed", with_keys("z"));
    check("list_read_only", |width, height| {
        let mut app = several(width, height);
        let settings = std::sync::Arc::get_mut(&mut app.state.settings);
        let settings = settings.expect("nobody else has them");
        settings.read_only = true;
        settings.keymap = Keymap::built_in().expect("a keymap").without_mutations();
        app
    });
}

#[test]
fn before_and_without_an_engine() {
    check("connecting", App::new);
    check("lost", |width, height| {
        let mut app = several(width, height);
        app.link(down(20, 8));
        app.tick(31);
        app.state.status.dismiss();
        app
    });
    check("never_there", |width, height| {
        let mut app = App::new(width, height);
        app.link(down(0, 2));
        app.state.status.dismiss();
        app
    });
}

fn in_phase(name: &str, phase: Phase) -> Sandbox {
    Sandbox {
        phase,
        ..sandbox(name)
    }
}

#[test]
fn all_is_paused() {
    check("pause_all", with_keys("F"));
    check("all_paused", |width, height| {
        let mut app = App::new(width, height);
        app.link(up());
        app.list(vec![
            in_phase("ada", Phase::Paused),
            in_phase("bob", Phase::Paused),
        ]);
        app.tick(30);
        app.state.status.dismiss();
        app
    });
}

/// Sandboxes that take all that the host has, and guards that say so.
fn full(width: u16, height: u16) -> App {
    let mut app = App::new(width, height);
    let Link::Up(mut info) = up() else {
        return app;
    };
    info.memory_bytes = 1 << 30;
    info.cpus = 2;
    app.link(Link::Up(info));
    app.list(vec![sandbox("ada"), sandbox("bob")]);
    for second in 0..60 {
        app.sample("ada", sample(second, 99.0, 505));
        app.sample("bob", sample(second, 2.0, 40));
    }
    app.tick(60);
    app
}

#[test]
fn the_host_is_full_and_guards_speak() {
    check("full", full);
}

#[test]
fn something_takes_its_time() {
    check("pending", |width, height| {
        let mut app = several(width, height);
        app.keys("c enter");
        let request = app.requests().pop().map(|request| request.id);
        app.tick(34);
        if let Some(request) = request {
            app.engine(Event::Progress {
                request,
                note: "pulling python:3.12-slim".into(),
                done: 30 << 20,
                total: Some(120 << 20),
            });
        }
        app
    });
}
