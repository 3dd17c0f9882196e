//! The tabs in the borders of editor and output: which one is under a column.

use chrono::{DateTime, Utc};

use super::editor::{Buffer, EditorState};
use super::output::{OutputState, Run, tab_text};
use super::shells::ShellsState;
use crate::code::Language;
use crate::domain::StreamId;
use crate::text::{display_width, safe_line, truncate};

/// The longest name of a buffer in its tab.
pub const LONGEST_NAME: usize = 24;

/// Columns of a border that are not for tabs of the editor.
pub const BESIDE_BUFFERS: u16 = 14;

/// Columns of a border that are not for tabs of shells.
pub const BESIDE_SHELLS: u16 = 14;

/// Columns before the first tab of the editor, of the output and of shells.
const EDITOR: usize = " 2 Editor ".len();
const OUTPUT: usize = " 3 Output ".len();
const SHELL: usize = " 3 Shell ".len();

/// Columns of the output's border that are not for tabs.
pub const BESIDE_RUNS: usize = OUTPUT + 2;

/// Finds what stands at a column, where each has a width and a gap to the next.
fn find(widths: impl Iterator<Item = usize>, gap: usize, column: usize) -> Option<usize> {
    let mut from = 0;
    let mut ranges = widths.map(|width| {
        let range = from..from + width;
        from = range.end + gap;
        range
    });
    ranges.position(|range| range.contains(&column))
}

/// Finds the buffer whose tab is at a column of the border.
#[must_use]
pub fn buffer(editor: &EditorState, column: usize, width: u16) -> Option<usize> {
    let language = |buffer: &Buffer| {
        let name = buffer.language.as_ref().map_or("text", Language::name);
        let note = if buffer.read_only.is_some() {
            ", read-only"
        } else {
            ""
        };
        display_width(name) + note.len() + 2
    };
    let tab = |buffer: &Buffer| {
        let mark = if buffer.is_dirty() { 2 } else { 0 };
        display_width(&truncate(&buffer.name, LONGEST_NAME)) + mark + 2
    };
    let room = usize::from(width.saturating_sub(BESIDE_BUFFERS));
    let room = room.saturating_sub(language(editor.current()));
    let all: usize = editor.buffers().iter().map(tab).sum();
    // Where not all fit, only one is shown.
    let column = column.checked_sub(EDITOR).filter(|_| all <= room)?;
    find(editor.buffers().iter().map(tab), 0, column)
}

/// Finds the run whose tab is at a column of the border.
#[must_use]
pub fn run(
    output: &OutputState,
    column: usize,
    width: u16,
    now: DateTime<Utc>,
) -> Option<StreamId> {
    let columns = usize::from(width).saturating_sub(BESIDE_RUNS);
    let runs = output.runs();
    let first = output.first_tab(columns, now);
    let column = column.checked_sub(OUTPUT + usize::from(first > 0))?;
    let text = |run: &Run| display_width(&tab_text(run, "*", now));
    let at = find(runs.iter().skip(first).map(text), 0, column)?;
    runs.get(first + at).map(|run| run.info().stream)
}

/// Finds the shell whose tab is at a column of the border.
#[must_use]
pub fn shell(shells: &ShellsState, column: usize, width: u16) -> Option<usize> {
    let tabs = shells.tabs();
    let widths = tabs.map(|(open, _)| display_width(&safe_line(&open.shell.title)) + 4);
    let widths: Vec<usize> = widths.collect();
    let all = widths.iter().map(|width| width + 1).sum::<usize>();
    let room = usize::from(width.saturating_sub(BESIDE_SHELLS));
    // Where not all fit, only one is shown.
    let column = column.checked_sub(SHELL).filter(|_| all <= room + 1)?;
    find(widths.into_iter(), 1, column)
}
