//! Typing: what each key does to the current buffer.
//!
//! The text area's own shortcuts are not used, since several of them would act behind the keymap's back. Moves:
//! arrows, Home (first to the code, then to the margin), End, Page keys; with Ctrl or Alt by word or to the ends; with
//! Shift they select. Ctrl+A selects all, Ctrl+X cuts, Ctrl+V puts in what was copied or cut here. Ctrl or Alt with
//! Backspace or Delete take a word away. Tab indents.

use ratatui_textarea::CursorMove;

use super::EditorState;
use super::buffer::Buffer;
use super::columns::{TAB, after, before, char_at, column_of};
use super::indent::{blank_start, break_line, indent, unindent};
use super::text::{Position, Reach, slice};
use crate::app::{Intent, Tone};
use crate::keymap::{Key, KeyCode};

/// Where the cursor can go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Motion {
    Left,
    Right,
    WordLeft,
    WordRight,
    Up(usize),
    Down(usize),
    PageUp,
    PageDown,
    Home,
    End,
    Top,
    Bottom,
}

impl EditorState {
    /// Handles a key while typing; tells whether it was of use here.
    pub fn type_key(&mut self, key: Key) -> bool {
        self.run_once_known = false;
        self.current_mut().follow();
        if let Some(motion) = motion(key) {
            self.go(motion, reach(key));
            return true;
        }
        self.goal = None;
        let by_word = key.ctrl || key.alt;
        match key.code {
            KeyCode::Char(c) if key.ctrl && !key.alt => self.chord(c.to_ascii_lowercase()),
            KeyCode::Char(c) if !key.ctrl && !key.alt && !c.is_control() => {
                self.change("\n", |buffer| buffer.text.type_char(c))
            }
            KeyCode::Enter => self.change("\n", break_line),
            KeyCode::Tab => self.change("\n", indent),
            KeyCode::BackTab => self.change("", unindent),
            KeyCode::Backspace => self.change("", |buffer| erase_back(buffer, by_word)),
            KeyCode::Delete => self.change("", |buffer| erase_ahead(buffer, by_word)),
            _ => false,
        }
    }

    /// Moves the cursor; up and down keep to the column where they started.
    pub(super) fn go(&mut self, motion: Motion, reach: Reach) {
        let goal = self.goal.take();
        let buffer = self.current_mut();
        buffer.follow();
        let page = buffer.page();
        match motion {
            Motion::Left => go_left(buffer, reach),
            Motion::Right => go_right(buffer, reach),
            Motion::WordLeft => buffer.text.go_by_word(CursorMove::WordBack, reach),
            Motion::WordRight => buffer.text.go_by_word(CursorMove::WordForward, reach),
            Motion::Up(rows) => self.go_rows(-rows.cast_signed(), goal, reach),
            Motion::Down(rows) => self.go_rows(rows.cast_signed(), goal, reach),
            Motion::PageUp => self.go_rows(-page.cast_signed(), goal, reach),
            Motion::PageDown => self.go_rows(page.cast_signed(), goal, reach),
            Motion::Home => go_home(buffer, reach),
            Motion::End => buffer.text.go((buffer.text.cursor().0, usize::MAX), reach),
            Motion::Top => buffer.text.go((0, 0), reach),
            Motion::Bottom => buffer.text.go((usize::MAX, usize::MAX), reach),
        }
    }

    fn go_rows(&mut self, rows: isize, goal: Option<usize>, reach: Reach) {
        let text = &mut self.current_mut().text;
        let (row, at) = text.cursor();
        let goal = goal.unwrap_or_else(|| column_of(text.line(row), at));
        let last = text.lines().len().saturating_sub(1);
        let target = row.saturating_add_signed(rows).min(last);
        text.go((target, char_at(text.line(target), goal)), reach);
        self.goal = Some(goal);
    }

    fn chord(&mut self, c: char) -> bool {
        match c {
            'a' => self.select_all(),
            'x' => self.cut(),
            'v' => self.put_back(),
            // Many terminals send Ctrl+Backspace as Ctrl+H.
            'h' => self.change("", |buffer| erase_back(buffer, true)),
            _ => false,
        }
    }

    fn select_all(&mut self) -> bool {
        let end = (usize::MAX, usize::MAX);
        self.current_mut().text.select((0, 0), end);
        true
    }

    fn cut(&mut self) -> bool {
        let Some(selected) = self.current().text.selected() else {
            return true;
        };
        self.clip.clone_from(&selected);
        self.intents.push(Intent::Copy(selected));
        self.change("", |buffer| erase_back(buffer, false))
    }

    fn put_back(&mut self) -> bool {
        let clip = self.clip.clone();
        let intents = self.paste(&clip);
        self.intents.extend(intents);
        true
    }

    /// Changes the current buffer if there is room for `more`; a refusal is of use too, since it says why.
    fn change(&mut self, more: &str, change: impl FnOnce(&mut Buffer)) -> bool {
        match self.current().refusal(more) {
            Some(why) => self.intents.push(Intent::Toast(Tone::Bad, why)),
            None => change(self.current_mut()),
        }
        true
    }
}

fn reach(key: Key) -> Reach {
    if key.shift {
        Reach::Select
    } else {
        Reach::Move
    }
}

fn motion(key: Key) -> Option<Motion> {
    let far = key.ctrl || key.alt;
    Some(match key.code {
        KeyCode::Left if far => Motion::WordLeft,
        KeyCode::Left => Motion::Left,
        KeyCode::Right if far => Motion::WordRight,
        KeyCode::Right => Motion::Right,
        KeyCode::Up => Motion::Up(1),
        KeyCode::Down => Motion::Down(1),
        KeyCode::PageUp => Motion::PageUp,
        KeyCode::PageDown => Motion::PageDown,
        KeyCode::Home if far => Motion::Top,
        KeyCode::Home => Motion::Home,
        KeyCode::End if far => Motion::Bottom,
        KeyCode::End => Motion::End,
        _ => return None,
    })
}

fn go_left(buffer: &mut Buffer, reach: Reach) {
    let text = &mut buffer.text;
    let (row, at) = text.cursor();
    let place = match (text.selection(), reach) {
        (Some((start, _)), Reach::Move) => start,
        _ => match (before(text.line(row), at), row.checked_sub(1)) {
            (Some(at), _) => (row, at),
            (None, Some(above)) => (above, usize::MAX),
            (None, None) => (row, at),
        },
    };
    text.go(place, reach);
}

fn go_right(buffer: &mut Buffer, reach: Reach) {
    let text = &mut buffer.text;
    let place = match (text.selection(), reach) {
        (Some((_, end)), Reach::Move) => end,
        _ => place_ahead(buffer),
    };
    buffer.text.go(place, reach);
}

/// Returns the place after the character at the cursor.
fn place_ahead(buffer: &Buffer) -> Position {
    let (row, at) = buffer.text.cursor();
    match after(buffer.text.line(row), at) {
        Some(at) => (row, at),
        None if row + 1 < buffer.text.lines().len() => (row + 1, 0),
        None => (row, at),
    }
}

fn go_home(buffer: &mut Buffer, reach: Reach) {
    let (row, at) = buffer.text.cursor();
    let code = blank_start(buffer.text.line(row)).chars().count();
    let at = if at == code { 0 } else { code };
    buffer.text.go((row, at), reach);
}

fn erase_back(buffer: &mut Buffer, by_word: bool) {
    let text = &mut buffer.text;
    if text.erase_selection() {
        return;
    }
    let (row, at) = text.cursor();
    let head = slice(text.line(row), 0, at);
    if by_word {
        text.erase_word_back();
    } else if at > 1 && head.bytes().all(|b| b == b' ') {
        text.erase((row, (at - 1) / TAB * TAB), (row, at));
    } else {
        text.erase_back();
    }
}

fn erase_ahead(buffer: &mut Buffer, by_word: bool) {
    if buffer.text.erase_selection() {
        return;
    }
    let here = buffer.text.cursor();
    if by_word {
        buffer.text.go_by_word(CursorMove::WordForward, Reach::Move);
    }
    let there = if by_word {
        buffer.text.cursor()
    } else {
        place_ahead(buffer)
    };
    buffer.text.erase(here, there);
}
