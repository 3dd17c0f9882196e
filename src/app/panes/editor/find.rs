//! Finding and replacing, by plain text: an all-lowercase search finds capitals too, a replacement is always exact.

use super::EditorState;
use super::buffer::too_big;
use super::text::{Position, Text};
use crate::app::panes::output::Search;
use crate::app::{Intent, Prompt, PromptKind, Tone};

impl EditorState {
    pub(super) fn ask_find(&self) -> Vec<Intent> {
        let start = self.current().text.selected();
        let start = start.filter(|text| !text.contains('\n'));
        ask(
            PromptKind::FindInEditor,
            "Find",
            &start.unwrap_or_else(|| self.last_search.clone()),
        )
    }

    pub(super) fn ask_replace(&self) -> Vec<Intent> {
        match self.current().refusal("") {
            Some(why) => toast(Tone::Bad, why),
            None => ask(PromptKind::ReplaceInEditor, "Replace", &self.last_search),
        }
    }

    pub(super) fn find(&mut self, what: &str) -> Vec<Intent> {
        what.clone_into(&mut self.last_search);
        let text = &mut self.current_mut().text;
        text.search_for(Search::new(what));
        if what.is_empty() {
            return Vec::new();
        }
        let from = text.selection().map_or_else(|| text.cursor(), |(s, _)| s);
        let found = ahead(text, from, true);
        self.show_match(found)
    }

    pub(super) fn next_match(&mut self, step: SearchStep) -> Vec<Intent> {
        let last_search = self.last_search.clone();
        let text = &mut self.current_mut().text;
        if !text.is_searched() {
            text.search_for(Search::new(&last_search));
        }
        let from = text.selection().map_or_else(|| text.cursor(), |(s, _)| s);
        let found = match step {
            SearchStep::Ahead => ahead(text, from, false),
            SearchStep::Back => back(text, from),
        };
        self.show_match(found)
    }

    pub(super) fn replace(&mut self, what: &str, by: &str) -> Vec<Intent> {
        let lines = self.current().text.lines();
        let hits = |line: &String| line.matches(what).count();
        let (Some(first), Some(last)) = (
            lines.iter().position(|line| hits(line) > 0),
            lines.iter().rposition(|line| hits(line) > 0),
        ) else {
            return toast(Tone::Plain, format!("`{what}` is not in the buffer"));
        };
        if let Some(why) = self.replace_refusal(what, by) {
            return toast(Tone::Bad, why);
        }
        let count: usize = lines.iter().map(hits).sum();
        let changed = lines.iter().take(last + 1).skip(first);
        let changed: Vec<String> = changed.map(|line| line.replace(what, by)).collect();
        let text = &mut self.current_mut().text;
        text.replace_rows(first, last, &changed);
        let times = if count == 1 { "time" } else { "times" };
        toast(Tone::Good, format!("Replaced {count} {times}"))
    }

    /// Explains why replacing is not possible, before any of it is built: a long text for each `e` is too much.
    fn replace_refusal(&self, what: &str, by: &str) -> Option<String> {
        let buffer = self.current();
        let lines = buffer.text.lines();
        let grown = |line: &String| {
            line.len() + line.matches(what).count() * by.len().saturating_sub(what.len())
        };
        let bytes = lines.iter().map(grown).sum::<usize>() + lines.len();
        let longest = lines.iter().map(grown).max().unwrap_or(0);
        let limit = too_big(lines.len(), bytes, longest);
        let limit =
            limit.map(|limit| format!("Nothing was replaced: the editor takes at most {limit}"));
        buffer.refusal("").or(limit)
    }

    fn show_match(&mut self, found: Option<(Position, Position)>) -> Vec<Intent> {
        let buffer = self.current_mut();
        buffer.follow();
        match found {
            Some((start, end)) => buffer.text.select(start, end),
            None if self.last_search.is_empty() => return self.ask_find(),
            None => return toast(Tone::Plain, format!("`{}` is not found", self.last_search)),
        }
        Vec::new()
    }
}

/// Which match comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchStep {
    Ahead,
    Back,
}

/// Asks by what a text is replaced.
pub(super) fn ask_replacement(what: &str) -> Vec<Intent> {
    let what = what.to_owned();
    if what.is_empty() {
        return Vec::new();
    }
    let label = format!("Replace `{}` by", crate::text::safe_line(&what));
    ask(PromptKind::ReplaceBy { what }, &label, "")
}

fn ask(kind: PromptKind, label: &str, start: &str) -> Vec<Intent> {
    vec![Intent::Ask(Prompt {
        kind,
        label: label.to_owned(),
        start: start.to_owned(),
    })]
}

fn toast(tone: Tone, words: String) -> Vec<Intent> {
    vec![Intent::Toast(tone, words)]
}

/// Finds the first match after a place, or at it too, going on at the top.
fn ahead(text: &Text, from: Position, with_here: bool) -> Option<(Position, Position)> {
    let rows = text.lines().len();
    let is_ahead = |start: Position| start > from || (with_here && start == from);
    let here = matches_in(text, from.0).into_iter();
    here.clone()
        .find(|(start, _)| is_ahead(*start))
        .or_else(|| {
            (from.0 + 1..rows)
                .chain(0..from.0)
                .find_map(|row| matches_in(text, row).into_iter().next())
        })
        .or_else(|| here.clone().next())
}

/// Finds the last match before a place, going on at the bottom.
fn back(text: &Text, from: Position) -> Option<(Position, Position)> {
    let rows = text.lines().len();
    let here = matches_in(text, from.0).into_iter();
    here.clone()
        .rfind(|(start, _)| *start < from)
        .or_else(|| {
            (0..from.0)
                .rev()
                .chain((from.0 + 1..rows).rev())
                .find_map(|row| matches_in(text, row).into_iter().next_back())
        })
        .or_else(|| here.clone().next_back())
}

/// Returns the matches of a row as places.
fn matches_in(text: &Text, row: usize) -> Vec<(Position, Position)> {
    let line = text.line(row);
    let chars = |byte: usize| line.get(..byte).map_or(0, |head| head.chars().count());
    let matches = text.matches(line).into_iter();
    matches
        .map(|(start, end)| ((row, chars(start)), (row, chars(end))))
        .collect()
}
