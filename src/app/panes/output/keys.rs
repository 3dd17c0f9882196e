//! What actions and answers do to the output pane.

use bytes::Bytes;
use chrono::{DateTime, Utc};

use super::{Hold, OutputState, Run, RunInfo, Search};
use crate::app::{Effect, Intent, Prompt, PromptKind, ReplyTo, Tone};
use crate::domain::StreamId;
use crate::keymap::Action;
use crate::protocol::Command;
use crate::text::safe_line;

/// Where to look for the next match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Here,
    Down,
    Up,
}

impl OutputState {
    /// Obeys an action; `page` is how many rows of text are on the screen.
    pub fn on_action(&mut self, action: Action, page: usize, now: DateTime<Utc>) -> Vec<Intent> {
        self.page = page.max(1);
        match action {
            Action::Wrap => self.wraps = !self.wraps,
            Action::Timestamps => self.shows_times = !self.shows_times,
            Action::NextTab => self.select_by(1),
            Action::PreviousTab => self.select_by(-1),
            Action::Back => self.back(),
            Action::Select => return self.toggle_selection(),
            Action::NextMatch => return self.go_to_match(Way::Down),
            Action::PreviousMatch => return self.go_to_match(Way::Up),
            Action::Filter => return self.ask_search(),
            _ => return self.on_run_action(action, now),
        }
        Vec::new()
    }

    /// Takes the answer to a question of this pane.
    pub fn answer(&mut self, kind: &PromptKind, text: &str) -> Vec<Intent> {
        match kind {
            PromptKind::SearchOutput => self.answer_search(text),
            PromptKind::SaveOutput => self.save(text),
            PromptKind::SendInput => self.send(text),
            _ => Vec::new(),
        }
    }

    /// Obeys an action that needs a run.
    fn on_run_action(&mut self, action: Action, now: DateTime<Utc>) -> Vec<Intent> {
        let Some(run) = self.current() else {
            return Vec::new();
        };
        match action {
            Action::CancelRun => cancel(run),
            Action::CloseRun => self.close(),
            Action::SendInput => self.ask_input(),
            Action::SaveOutput => self.ask_file(now),
            Action::Copy => self.copy_selection().unwrap_or_else(|| self.copy_line()),
            Action::CopyAll => vec![Intent::Copy(run.text())],
            _ => self.move_view(action),
        }
    }

    /// Gives up what was selected, else what was looked for.
    fn back(&mut self) {
        if !self.deselect() {
            self.search_for(None);
        }
    }

    fn move_view(&mut self, action: Action) -> Vec<Intent> {
        if self.move_selection(action) {
            return Vec::new();
        }
        let (shape, page) = (self.shape(), self.page.cast_signed());
        let Some(run) = self.current_mut() else {
            return Vec::new();
        };
        match action {
            Action::Up => run.scroll(-1, shape),
            Action::Down => run.scroll(1, shape),
            Action::PageUp => run.scroll(-page, shape),
            Action::PageDown => run.scroll(page, shape),
            Action::Top => run.go_to_top(),
            Action::Bottom => run.place = None,
            Action::Follow => run.toggle_following(shape),
            _ => (),
        }
        Vec::new()
    }

    pub(super) fn scroll_rows(&mut self, rows: isize) {
        let shape = self.shape();
        if let Some(run) = self.current_mut() {
            run.scroll(rows, shape);
        }
    }

    fn select_by(&mut self, step: isize) {
        let selected = self.selected;
        let streams = self.runs.iter().map(|run| Some(run.info().stream));
        let Some(at) = streams.clone().position(|stream| stream == selected) else {
            return;
        };
        let count = self.runs.len().cast_signed();
        let next = (at.cast_signed() + step).rem_euclid(count);
        self.selected = streams.clone().nth(next.unsigned_abs()).flatten();
    }

    /// Closes the selected run, if it is over, and selects its neighbour.
    fn close(&mut self) -> Vec<Intent> {
        let Some(run) = self.current() else {
            return Vec::new();
        };
        let (stream, exec) = (run.info().stream, run.info().exec.clone());
        let goes_on = run.is_running();
        if goes_on && !run.is_of_others() {
            return tell("This run goes on; cancel it first.");
        }
        // Another process holds it: only reading ends.
        let unread = goes_on.then(|| {
            self.dismissed.insert(exec);
            submit(Command::Cancel(stream), String::new())
        });
        let at = self.runs.iter().position(|run| run.info().stream == stream);
        self.runs.retain(|run| run.info().stream != stream);
        let neighbour = at.and_then(|at| self.runs.get(at).or(self.runs.last()));
        self.selected = neighbour.map(|run| run.info().stream);
        unread.into_iter().collect()
    }

    fn copy_line(&self) -> Vec<Intent> {
        let Some(run) = self.current() else {
            return Vec::new();
        };
        let searched = run.found.filter(|_| self.search.is_some());
        let number = searched.unwrap_or_else(|| run.top(self.shape()).line);
        match run.line(number) {
            Some(line) => vec![Intent::Copy(line.line.text.to_string())],
            None => tell("There is nothing to copy yet."),
        }
    }

    fn ask_search(&self) -> Vec<Intent> {
        let start = self.search.as_ref().map_or("", Search::needle);
        ask(
            PromptKind::SearchOutput,
            "Search".to_owned(),
            start.to_owned(),
        )
    }

    fn ask_input(&mut self) -> Vec<Intent> {
        let running = self.current().filter(|run| run.is_running());
        let Some(info) = running.map(Run::info) else {
            return tell("This run is over; it reads no more.");
        };
        if info.hold != Hold::Own {
            let words = format!(
                "Another process holds this run; `sandtop input {}` writes to it if it is detached.",
                info.exec
            );
            return tell(&words);
        }
        let (stream, label) = (info.stream, format!("Input for {}", info.title));
        self.asked = Some(stream);
        ask(PromptKind::SendInput, label, String::new())
    }

    fn ask_file(&mut self, now: DateTime<Utc>) -> Vec<Intent> {
        let Some(info) = self.current().map(Run::info) else {
            return Vec::new();
        };
        let what = self.current().and_then(Run::kept_part);
        let label = match what {
            None => "Save output to".to_owned(),
            Some(part) => format!("Save {part} to"),
        };
        let name = format!("{}-{}", info.sandbox_name, info.title);
        let start = format!("{}-{}.txt", file_name(&name), now.format("%Y%m%d-%H%M%S"));
        self.asked = Some(info.stream);
        ask(PromptKind::SaveOutput, label, start)
    }

    fn save(&mut self, path: &str) -> Vec<Intent> {
        let path = path.trim();
        if path.is_empty() {
            return tell("Nothing was saved: there is no file name.");
        }
        let Some(run) = self.take_asked() else {
            return tell("This run was closed.");
        };
        let mut intents = vec![Intent::Effect(Effect::SaveLocal {
            path: path.to_owned(),
            bytes: run.text().into(),
            replace: false,
        })];
        if let Some(part) = run.kept_part() {
            let words = format!(
                "Only {part} are saved; `sandtop output {}` has what was kept of all.",
                run.info().exec
            );
            intents.extend(tell(&words));
        }
        intents
    }

    fn send(&mut self, line: &str) -> Vec<Intent> {
        let running = self.take_asked().filter(|run| run.is_running());
        let Some(info) = running.map(Run::info) else {
            return tell("This run is over; it reads no more.");
        };
        let command = Command::Input {
            stream: info.stream,
            bytes: Bytes::from(format!("{line}\n")),
        };
        let label = format!("sending input to {}", info.title);
        vec![submit(command, label)]
    }

    fn take_asked(&mut self) -> Option<&Run> {
        let stream: StreamId = self.asked.take().or(self.selected)?;
        self.find(stream)
    }

    fn answer_search(&mut self, text: &str) -> Vec<Intent> {
        self.search_for(Search::new(text));
        if self.search.is_none() {
            return Vec::new();
        }
        self.go_to_match(Way::Here)
    }

    fn search_for(&mut self, search: Option<Search>) {
        self.search = search;
        self.runs.iter_mut().for_each(|run| run.found = None);
    }

    fn go_to_match(&mut self, way: Way) -> Vec<Intent> {
        let shape = self.shape();
        let (Some(search), Some(run)) = (&self.search, self.current()) else {
            return Vec::new();
        };
        let from = run.found.unwrap_or_else(|| run.top(shape).line);
        // Without a match yet, the top row is a candidate as well.
        let way = if run.found.is_none() && way == Way::Down {
            Way::Here
        } else {
            way
        };
        let Some(line) = find_match(run, search, from, way) else {
            return tell(&not_found(run, search));
        };
        if let Some(run) = self.current_mut() {
            run.found = Some(line);
            run.reveal(line, shape);
        }
        Vec::new()
    }
}

/// Says where a text was not found, and where there is more.
fn not_found(run: &Run, search: &Search) -> String {
    let needle = safe_line(search.needle());
    match run.kept_part() {
        None => format!("No line holds `{needle}`."),
        Some(part) => format!(
            "`{needle}` is not in {part}; `sandtop output {}` has what was kept of all.",
            run.info().exec
        ),
    }
}

/// Finds the next line that holds the text; after the last one comes the first one again.
fn find_match(run: &Run, search: &Search, from: u64, way: Way) -> Option<u64> {
    let (first, end) = (run.first(), run.end_line());
    let from = from.clamp(first, end);
    let holds = |number: &u64| {
        let line = run.line(*number);
        line.is_some_and(|line| search.is_in(&line.line.text))
    };
    match way {
        Way::Here => (from..end).chain(first..from).find(holds),
        Way::Down => (from + 1..end)
            .chain(first..(from + 1).min(end))
            .find(holds),
        Way::Up => (first..from).rev().chain((from..end).rev()).find(holds),
    }
}

fn cancel(run: &Run) -> Vec<Intent> {
    let info = run.info();
    if !run.is_running() {
        return tell("This run is over already.");
    }
    let (command, whose) = match info.hold {
        Hold::Own => (Command::Cancel(info.stream), ""),
        Hold::Other(_) => (cancel_recorded(info), " It is of another process."),
    };
    vec![Intent::Confirm {
        question: format!(
            "Stop {} in {}?{whose} All its processes are killed.",
            info.title, info.sandbox_name
        ),
        button: "Stop it".to_owned(),
        then: vec![submit(command, format!("stopping {}", info.title))],
    }]
}

fn cancel_recorded(info: &RunInfo) -> Command {
    Command::CancelRun {
        host: info.sandbox.host.clone(),
        run: info.exec.clone(),
    }
}

fn submit(command: Command, label: String) -> Intent {
    Intent::submit(command, label, ReplyTo::Quiet)
}

fn ask(kind: PromptKind, label: String, start: String) -> Vec<Intent> {
    vec![Intent::Ask(Prompt { kind, label, start })]
}

pub(super) fn tell(sentence: &str) -> Vec<Intent> {
    vec![Intent::Toast(Tone::Plain, sentence.to_owned())]
}

/// Makes a name that is safe in every file system.
fn file_name(name: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let safe: String = name
        .chars()
        .map(|c| if is_safe(c) { c } else { '_' })
        .collect();
    let trimmed = safe.trim_start_matches(['.', '-', '_']);
    trimmed.chars().take(80).collect()
}
