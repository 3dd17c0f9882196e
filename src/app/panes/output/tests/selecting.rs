//! Lines selected by keys and by the mouse.

use super::*;

fn copied(text: &str) -> Vec<Intent> {
    vec![Intent::Copy(text.to_owned())]
}

fn selected(state: &OutputState) -> Option<(u64, u64)> {
    let lines = state.current().and_then(Run::selected);
    lines.map(|lines| (*lines.start(), *lines.end()))
}

#[test]
fn a_selection_grows_by_moves_and_is_copied() {
    let mut state = with(&numbered(20));
    act(&mut state, &[Action::Select]);
    assert_eq!(
        (selected(&state), is_following(&state)),
        (Some((19, 19)), false)
    );
    act(&mut state, &[Action::Up, Action::Up]);
    assert_eq!(
        act(&mut state, &[Action::Copy]),
        copied("line 17\nline 18\nline 19")
    );
    assert_eq!(selected(&state), None);
}

#[test]
fn the_view_follows_the_end_of_the_selection() {
    let mut state = with(&numbered(20));
    act(
        &mut state,
        &[Action::Select, Action::PageUp, Action::PageUp],
    );
    assert_eq!((selected(&state), top(&state)), (Some((9, 19)), (9, 0)));
    act(&mut state, &[Action::Top]);
    assert_eq!((selected(&state), top(&state)), (Some((0, 19)), (0, 0)));
    act(&mut state, &[Action::Bottom, Action::Down]);
    assert_eq!((selected(&state), top(&state)), (Some((19, 19)), (15, 0)));
    act(&mut state, &[Action::Select]);
    assert_eq!(selected(&state), None);
}

#[test]
fn a_selection_begins_at_the_match_and_ends_before_the_search_does() {
    let mut state = with(&numbered(20));
    state.answer(&PromptKind::SearchOutput, "line 3");
    act(&mut state, &[Action::Select, Action::Down]);
    assert_eq!(selected(&state), Some((3, 4)));
    act(&mut state, &[Action::Back]);
    assert!(selected(&state).is_none() && state.search().is_some());
}

#[test]
fn lines_that_were_dropped_are_not_selected_any_more() {
    let mut state = with(&numbered(3));
    act(&mut state, &[Action::Select, Action::Top]);
    let more = numbered(MOST_LINES + 10);
    state.push(StreamId(1), &chunk(StreamKind::Stdout, &more), now());
    assert_eq!(selected(&state), Some((13, 13)));
    assert!(toasts(&act(&mut with(""), &[Action::Select])));
}

#[test]
fn the_mouse_selects_what_it_is_dragged_over() {
    let mut state = with(&numbered(20));
    state.press(1);
    assert_eq!(selected(&state), None);
    state.drag(3);
    assert_eq!(selected(&state), Some((16, 18)));
    assert_eq!(
        act(&mut state, &[Action::Copy]),
        copied("line 16\nline 17\nline 18")
    );
    state.press(0);
    state.drag(PAGE);
    assert_eq!(selected(&state), None, "the last row is not text");
}

#[test]
fn a_selection_in_the_dashboard_leaves_the_last_line_in_sight() {
    let mut app = crate::app::testing::App::with(160, 48, &["alpha"]);
    app.state.output.open(info(1));
    let text = chunk(StreamKind::Stdout, &numbered(100));
    app.state.output.push(StreamId(1), &text, now());
    app.keys("3 v k");
    let screen = app.screen();
    assert!(screen.contains("line 99"), "{screen}");
    assert!(screen.contains("SELECTED 2"), "{screen}");
}
