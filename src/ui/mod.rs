//! Pure drawing: `&AppState` to cells. The map of the screen is in `app::layout`.

mod banner;
mod capacity;
pub mod editor;
pub mod files;
mod footer;
mod frame;
mod glyphs;
mod header;
pub mod output;
mod overlay;
mod sandboxes;
pub mod shell;
#[cfg(test)]
mod tests;
pub mod theme;
mod widgets;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};

use crate::app::geometry::layout::LEAST;
use crate::app::panes::shells::Open;
use crate::app::panes::tabs::{BESIDE_BUFFERS, BESIDE_RUNS, BESIDE_SHELLS};
use crate::app::{AppState, Mode, Pane};
use crate::text::display_width;
use editor::EditorPane;
use files::FilesPane;
use output::OutputPane;
use sandboxes::SandboxesPane;
use shell::ShellView;
use theme::{Role, Theme};

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme) {
    draw_all(frame, state, theme);
    theme.finish(frame.buffer_mut());
}

fn draw_all(frame: &mut Frame<'_>, state: &AppState, theme: &Theme) {
    let Some(areas) = state.areas() else {
        return too_small(frame, theme);
    };
    header::draw(frame, areas.header, state, theme);
    banner::draw(frame, areas.banner, state, theme);
    for (pane, area) in &areas.panes {
        draw_pane(frame, *pane, *area, state, theme);
    }
    footer::draw(frame, areas.footer, state, theme);
    if state.view.overlay.is_some() {
        overlay::draw(frame, state, theme);
    }
}

fn too_small(frame: &mut Frame<'_>, theme: &Theme) {
    let area = frame.area();
    let text = format!(
        "sandtop needs {}x{} cells; this terminal has {}x{}.",
        LEAST.0, LEAST.1, area.width, area.height
    );
    let rows = u16::try_from(text.len()).unwrap_or(0) / area.width.max(1) + 1;
    let middle = Rect {
        y: area.height.saturating_sub(rows) / 2,
        height: area.height.min(rows + 1),
        ..area
    };
    let words = Line::styled(text, theme.style(Role::Text)).centered();
    let words = Paragraph::new(words).wrap(Wrap { trim: true });
    frame.render_widget(words, middle.intersection(area));
}

fn draw_pane(frame: &mut Frame<'_>, pane: Pane, area: Rect, state: &AppState, theme: &Theme) {
    let focused = state.view.focus == pane && state.view.overlay.is_none();
    match pane {
        Pane::Sandboxes => draw_sandboxes(frame, area, state, theme, focused),
        Pane::Editor => draw_editor(frame, area, state, theme, focused),
        Pane::Output => draw_output(frame, area, state, theme, focused),
        Pane::Files => draw_files(frame, area, state, theme, focused),
    }
}

fn draw_sandboxes(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &AppState,
    theme: &Theme,
    focused: bool,
) {
    let pane = SandboxesPane {
        state: &state.sandboxes,
        theme,
        now: state.now,
        stale: state.engine.down().is_some(),
        guards: &state.guards,
    };
    let inner = frame::draw(frame, area, "1 Sandboxes", pane.title(), theme, focused);
    capacity::draw(frame, area, state, theme);
    frame.render_widget(pane, inner);
}

fn draw_editor(frame: &mut Frame<'_>, area: Rect, state: &AppState, theme: &Theme, focused: bool) {
    let editing = focused && state.view.mode == Mode::Edit;
    let pane = EditorPane {
        state: &state.editor,
        theme,
        focused,
        editing,
    };
    let title = pane.title(area.width.saturating_sub(BESIDE_BUFFERS));
    let inner = frame::draw(frame, area, "2 Editor", title, theme, focused);
    let cursor = if editing { pane.cursor(inner) } else { None };
    frame.render_widget(pane, inner);
    if let Some(position) = cursor {
        frame.set_cursor_position(position);
    }
}

fn draw_output(frame: &mut Frame<'_>, area: Rect, state: &AppState, theme: &Theme, focused: bool) {
    if let Some(open) = state.shells.current() {
        let view = ShellView {
            shell: &open.shell,
            theme,
            focused: focused && state.view.mode == Mode::Term,
        };
        let tabs = shell_tabs(state, usize::from(area.width.saturating_sub(BESIDE_SHELLS)));
        let inner = frame::draw(frame, area, "3 Shell", Line::raw(tabs), theme, focused);
        let cursor = if focused && state.view.mode == Mode::Term {
            view.cursor(inner)
        } else {
            None
        };
        frame.render_widget(view, inner);
        if let Some(position) = cursor {
            frame.set_cursor_position(position);
        }
        return;
    }
    let pane = OutputPane {
        state: &state.output,
        theme,
        focused,
        now: state.now,
    };
    let title = pane.title_in(usize::from(area.width).saturating_sub(BESIDE_RUNS));
    let inner = frame::draw(frame, area, "3 Output", title, theme, focused);
    frame.render_widget(pane, inner);
}

/// Writes the tabs of the shells; without room for all, the one on screen and its number.
fn shell_tabs(state: &AppState, room: usize) -> String {
    let name = |open: &Open| format!("$ {}", open.shell.title);
    let tabs = state.shells.tabs();
    let all: Vec<String> = tabs
        .map(|(open, shown)| frame::tab(&name(open), shown))
        .collect();
    let all = all.join(" ");
    if display_width(&all) <= room {
        return all;
    }
    let (at, count) = (
        state.shells.tabs().position(|(_, shown)| shown),
        state.shells.tabs().count(),
    );
    let shown = state.shells.current().map(name).unwrap_or_default();
    format!(
        "{}/{count} {}",
        at.unwrap_or(0) + 1,
        frame::tab(&shown, true)
    )
}

fn draw_files(frame: &mut Frame<'_>, area: Rect, state: &AppState, theme: &Theme, focused: bool) {
    let pane = FilesPane {
        state: &state.files,
        theme,
        focused,
        now: state.now,
    };
    let inner = frame::draw(frame, area, "4 Files", pane.title(), theme, focused);
    frame.render_widget(pane, inner);
}
