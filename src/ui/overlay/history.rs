//! The list of recorded runs, and two of them side by side.

use ratatui::Frame;
use ratatui::text::{Line, Span};

use super::lines::{KEY, choose, row, show};
use crate::app::AppState;
use crate::app::geometry::layout::list_area;
use crate::app::overlays::compare::{Comparison, Difference};
use crate::app::overlays::history::{HistoryPanel, short};
use crate::domain::{Run, StreamKind};
use crate::text::{human, pad, pad_left, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

const HEAD: &str = "  STARTED         STATUS     EXIT      TIME       PEAK  BY   WHAT";
const SHORT_HEAD: &str = "   AGE  STATUS     EXIT      TIME  WHAT";
/// Cells of two runs side by side.
const COMPARED: u16 = 100;
/// From this width on, all columns of a run leave room for what it was.
const ROOMY: u16 = 90;

/// Draws the list.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, panel: &HistoryPanel) {
    if let Some(both) = &panel.comparison {
        return compare(frame, state, theme, both);
    }
    let of = panel.of.as_ref();
    let of = of.map_or("all sandboxes".to_owned(), |(_, name)| safe_line(name));
    let list_box = panel.place(frame.area());
    popup(frame, list_box.area, &format!("Runs of {of}"), theme);
    let muted = theme.style(Role::Muted);
    let table = Table {
        state,
        theme,
        panel,
        is_roomy: list_box.body.width >= ROOMY,
    };
    let head = if table.is_roomy { HEAD } else { SHORT_HEAD };
    frame.render_widget(Line::styled(head, muted), list_box.head);
    choose(frame, &list_box, theme, |at| {
        Some(table.line(panel.runs.get(at)?))
    });
    frame.render_widget(Line::styled(foot(panel), muted), list_box.note());
}

/// The runs, one in a line.
struct Table<'a> {
    state: &'a AppState,
    theme: &'a Theme,
    panel: &'a HistoryPanel,
    is_roomy: bool,
}

impl Table<'_> {
    fn line(&self, run: &Run) -> Line<'static> {
        let is_marked = self.panel.marks.contains(&run.id);
        let mark = if is_marked { "* " } else { "  " };
        let result = run.result.as_ref();
        let code = result.and_then(|result| result.end.exit_code());
        let code = code.map_or_else(String::new, |code| code.to_string());
        let rest = format!(
            " {} {}{}  {}{}",
            pad_left(&code, 4),
            pad_left(&time(self.state, run), 9),
            self.more(run),
            self.whose(run),
            safe_line(run.headline()),
        );
        let style = |role| self.theme.style(role);
        Line::from(vec![
            Span::styled(mark, style(Role::Marked)),
            Span::styled(self.begin(run), style(Role::Muted)),
            Span::styled(pad(run.status(), 10), style(role(run))),
            Span::styled(rest, style(Role::Text)),
        ])
    }

    fn begin(&self, run: &Run) -> String {
        if self.is_roomy {
            return format!("{}  ", run.started_at.format("%m-%d %H:%M:%S"));
        }
        let age = (self.state.now - run.started_at).num_seconds();
        let age = human::age(u64::try_from(age).unwrap_or(0));
        format!("{}  ", pad_left(&age, 4))
    }

    /// Tells what only a wide list has room for.
    fn more(&self, run: &Run) -> String {
        if !self.is_roomy {
            return String::new();
        }
        let (peak, source) = (peak(run), run.source.word());
        format!(" {}  {}", pad_left(&peak, 10), pad(source, 3))
    }

    /// Names the sandbox where the list is of all.
    fn whose(&self, run: &Run) -> String {
        match self.panel.of {
            Some(_) => String::new(),
            None => format!("{}  ", pad(&safe_line(&run.name), 12)),
        }
    }
}

fn role(run: &Run) -> Role {
    match run.status() {
        "running" => Role::Accent,
        "ok" => Role::Ok,
        "cancelled" | "lost" => Role::Warn,
        _ => Role::Error,
    }
}

fn time(state: &AppState, run: &Run) -> String {
    let so_far = || (state.now - run.started_at).to_std().unwrap_or_default();
    let took = run.result.as_ref().map(|result| result.took);
    human::duration(took.unwrap_or_else(so_far))
}

fn peak(run: &Run) -> String {
    let peak = run.result.as_ref().and_then(|r| r.peak_memory_bytes);
    peak.map_or_else(|| "-".to_owned(), human::bytes)
}

fn foot(panel: &HistoryPanel) -> &'static str {
    if panel.runs.is_empty() {
        "Nothing has run here yet, or it is too long ago."
    } else if panel.of.is_none() {
        "Space marks two, c compares them, a lists those of one."
    } else {
        "Space marks two, c compares them, a lists those of all."
    }
}

/// Draws two runs side by side.
fn compare(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, both: &Comparison) {
    let inner = usize::from(frame.area().width.min(COMPARED)).saturating_sub(3);
    let side = inner.saturating_sub(KEY) / 2;
    let lines = comparison(state, theme, both, side);
    let area = list_area(frame.area(), lines.len(), COMPARED);
    let inner = popup(frame, area, "Two runs: Esc goes back", theme);
    show(frame, inner, theme, lines, 0);
}

fn comparison(
    state: &AppState,
    theme: &Theme,
    both: &Comparison,
    side: usize,
) -> Vec<Line<'static>> {
    let two = |key: &str, value: &dyn Fn(&Run) -> String| {
        let [one, other] = both.runs.each_ref().map(value);
        let role = if one == other { Role::Text } else { Role::Warn };
        row(theme, key, format!("{} {other}", pad(&one, side)), role)
    };
    let mut lines = vec![
        two("run", &|run| short(&run.id)),
        two("started", &|run| {
            run.started_at.format("%Y-%m-%d %H:%M:%S").to_string()
        }),
        two("status", &status),
        two("time", &|run| time(state, run)),
        two("peak memory", &peak),
        two("what", &|run| safe_line(run.headline())),
        Line::default(),
    ];
    lines.extend(differing(theme, &both.difference));
    lines
}

fn status(run: &Run) -> String {
    let code = run.result.as_ref().and_then(|r| r.end.exit_code());
    code.map_or_else(
        || run.status().to_owned(),
        |code| format!("{} ({code})", run.status()),
    )
}

fn differing(theme: &Theme, difference: &Difference) -> Vec<Line<'static>> {
    let say = |words: &'static str| vec![Line::styled(words, theme.style(Role::Ok))];
    let (stream, line, texts) = match difference {
        Difference::None => return say("They printed the same."),
        Difference::NoneSeen => {
            return say("They printed the same, as far as it was kept and read.");
        }
        Difference::At {
            stream,
            line,
            texts,
        } => (stream, line, texts),
    };
    let stream = match stream {
        StreamKind::Stdout => "output",
        StreamKind::Stderr => "error output",
    };
    let words = format!("They differ first in line {line} of the {stream}:");
    let mut lines = vec![Line::styled(words, theme.style(Role::Text))];
    for (sign, text) in ["- ", "+ "].into_iter().zip(texts) {
        let words = text
            .as_deref()
            .map_or_else(|| "(ended)".to_owned(), printed);
        lines.push(Line::styled(
            format!("{sign}{words}"),
            theme.style(Role::Warn),
        ));
    }
    lines
}

/// Makes a line safe; one that has no end says so.
fn printed(text: &str) -> String {
    match text.strip_suffix('\n') {
        Some(whole) => safe_line(whole),
        None => format!("{} (no line end)", safe_line(text)),
    }
}
