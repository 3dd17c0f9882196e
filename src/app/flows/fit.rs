//! The panes learn how large they are.

use crate::app::geometry::layout;
use crate::app::intent::ReplyTo;
use crate::app::{AppState, Effect, Pane};
use crate::domain::TtySize;
use crate::protocol::Command;

/// Tells the panes their new sizes.
pub(crate) fn fit(state: &mut AppState) -> Vec<Effect> {
    if let Some(areas) = state.areas() {
        if let Some(inner) = areas.inner(Pane::Output) {
            state.output.resize(inner.width, layout::output_page(inner));
        }
        if let Some(inner) = areas.inner(Pane::Files) {
            let list = layout::files_areas(inner).list;
            state.files.set_page(usize::from(list.height));
        }
    }
    fit_shell(state)
}

/// Tells the shell on screen its size, if that has changed.
pub(crate) fn fit_shell(state: &mut AppState) -> Vec<Effect> {
    let size = shell_size(state);
    let visible = state
        .areas()
        .is_some_and(|areas| areas.of(Pane::Output).is_some());
    let Some(open) = state
        .shells
        .current_mut()
        .filter(|open| visible && !open.over)
    else {
        return Vec::new();
    };
    let stream = open.shell.stream;
    if !open.shell.resize(size) {
        return Vec::new();
    }
    vec![state.submit(Command::Resize { stream, size }, "", ReplyTo::Quiet)]
}

/// Returns the size that a shell has on screen.
pub(crate) fn shell_size(state: &AppState) -> TtySize {
    let inner = state.areas().and_then(|areas| areas.inner(Pane::Output));
    inner.map_or(
        TtySize {
            columns: 80,
            rows: 24,
        },
        |area| TtySize {
            columns: area.width.max(1),
            rows: area.height.max(1),
        },
    )
}
