//! Moving the border between two panes.

use super::fit::fit;
use crate::app::geometry::layout::{self, Pane};
use crate::app::{AppState, Effect};
use crate::keymap::Action;

/// What a key moves a border by, in percent.
const STEP: u16 = 4;

/// Moves the border of the pane in use that lies in a direction; a pane with the whole screen has none.
pub(crate) fn move_border(state: &mut AppState, action: Action) -> Vec<Effect> {
    let Some(areas) = state.areas() else {
        return Vec::new();
    };
    let is_left = matches!(state.view.focus, Pane::Sandboxes | Pane::Editor);
    let forward = matches!(action, Action::SplitRight | Action::SplitDown);
    let is_column = matches!(action, Action::SplitLeft | Action::SplitRight);
    let split = &mut state.view.split;
    let side = match (areas.panes.len(), is_column, is_left) {
        (4, true, _) => &mut split.columns,
        (4, false, true) => &mut split.left,
        (4, false, false) => &mut split.right,
        (2, false, _) => {
            split.list = layout::step_list(&areas, forward);
            return fit(state);
        }
        _ => return Vec::new(),
    };
    *side = if forward {
        *side + STEP
    } else {
        side.saturating_sub(STEP)
    };
    *split = split.in_range();
    fit(state)
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Greater, Less};

    use crate::app::geometry::layout::Pane;
    use crate::app::testing::App;

    fn size(app: &App, pane: Pane) -> (u16, u16) {
        let area = app.state.areas().and_then(|areas| areas.of(pane));
        area.map_or((0, 0), |area| (area.width, area.height))
    }

    #[test]
    fn borders_go_where_the_arrows_point() {
        let mut app = App::with(200, 60, &["py"]);
        let before = Pane::ALL.map(|pane| size(&app, pane));
        app.keys("alt-right alt-down 3 alt-up");
        let after = Pane::ALL.map(|pane| size(&app, pane));
        let [list, editor, output, files] = [0, 1, 2, 3].map(|at| {
            let pair = before.get(at).zip(after.get(at));
            let ((w, h), (wide, high)) = pair.expect("a pane");
            (wide.cmp(w), high.cmp(h))
        });
        assert_eq!(
            [list, editor, output, files],
            [
                (Greater, Greater),
                (Greater, Less),
                (Less, Less),
                (Less, Greater)
            ]
        );
        app.keys("alt-left alt-down 1 alt-up");
        assert_eq!(Pane::ALL.map(|pane| size(&app, pane)), before);
    }

    #[test]
    fn no_pane_is_pushed_off_the_screen() {
        for (width, height) in [(60, 16), (80, 24), (120, 30), (200, 60)] {
            for keys in ["alt-left", "alt-right", "alt-up", "alt-down"] {
                for pane in ["1", "2", "3", "4"] {
                    let mut app = App::with(width, height, &["py"]);
                    app.keys(pane);
                    for _ in 0..100 {
                        app.keys(keys);
                    }
                    let areas = app.state.areas().expect("areas");
                    for (pane, area) in &areas.panes {
                        assert!(area.height >= 4 && area.width >= 20, "{pane:?} {area:?}");
                    }
                    drop(app.screen());
                }
            }
        }
    }

    #[test]
    fn one_key_back_is_felt_at_once_also_from_the_end() {
        for (width, height) in [(80, 24), (200, 60)] {
            let mut app = App::with(width, height, &["py"]);
            for _ in 0..100 {
                app.keys("alt-down");
            }
            let end = size(&app, Pane::Sandboxes);
            app.keys("alt-up");
            assert!(size(&app, Pane::Sandboxes).1 < end.1);
        }
    }

    #[test]
    fn a_pane_with_the_whole_screen_has_no_border() {
        let mut app = App::with(200, 60, &["py"]);
        app.keys("z");
        let before = app.state.view.split;
        app.keys("alt-left alt-up");
        assert_eq!(app.state.view.split, before);
    }
}
