//! The list of recorded runs, and two of them side by side.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::lines::{row, show};
use crate::app::AppState;
use crate::app::comparing::{Comparison, Difference};
use crate::app::history::{HistoryPanel, headline, short};
use crate::app::layout::{history_area, list_area};
use crate::domain::{Run, StreamKind};
use crate::text::{human, pad, pad_left, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

const HEAD: &str = "  STARTED         STATUS     EXIT      TIME       PEAK  BY   WHAT";

/// Draws the list.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, panel: &HistoryPanel) {
    let of = panel.of.as_ref();
    let of = of.map_or("all sandboxes".to_owned(), |(_, name)| safe_line(name));
    let area = history_area(frame.area(), panel.runs.len());
    let inner = popup(frame, area, &format!("Runs of {of}"), theme);
    let mut rows = inner.rows();
    let last = rows.next_back().unwrap_or(inner);
    if let Some(place) = rows.next() {
        frame.render_widget(Line::styled(HEAD, theme.style(Role::Muted)), place);
    }
    let lines = usize::from(inner.height).saturating_sub(2).max(1);
    let first = panel.at.saturating_sub(lines - 1);
    let shown = panel.runs.iter().enumerate().skip(first).take(lines);
    for ((at, run), place) in shown.zip(rows) {
        draw_run(frame, place, (state, theme), (panel, run));
        if at == panel.at {
            let chosen = theme.style(Role::Selection);
            frame.buffer_mut().set_style(place, chosen);
        }
    }
    let foot = Line::styled(foot(panel), theme.style(Role::Muted));
    frame.render_widget(foot, last);
}

fn draw_run(
    frame: &mut Frame<'_>,
    place: Rect,
    (state, theme): (&AppState, &Theme),
    (panel, run): (&HistoryPanel, &Run),
) {
    let mark = if panel.marks.contains(&run.id) {
        "* "
    } else {
        "  "
    };
    let result = run.result.as_ref();
    let code = result.and_then(|result| result.end.exit_code());
    let code = code.map_or_else(String::new, |code| code.to_string());
    let rest = format!(
        " {} {} {}  {}  {}{}",
        pad_left(&code, 4),
        pad_left(&time(state, run), 9),
        pad_left(&peak(run), 10),
        pad(run.source.word(), 3),
        whose(panel, run),
        safe_line(headline(run)),
    );
    let line = Line::from(vec![
        Span::styled(mark, theme.style(Role::Marked)),
        Span::styled(
            format!("{}  ", run.started_at.format("%m-%d %H:%M:%S")),
            theme.style(Role::Muted),
        ),
        Span::styled(pad(run.status(), 10), theme.style(role(run))),
        Span::styled(rest, theme.style(Role::Text)),
    ]);
    frame.render_widget(line, place);
}

/// Names the sandbox where the list is of all.
fn whose(panel: &HistoryPanel, run: &Run) -> String {
    match panel.of {
        Some(_) => String::new(),
        None => format!("{}  ", pad(&safe_line(&run.name), 12)),
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

fn foot(panel: &HistoryPanel) -> String {
    if panel.runs.is_empty() {
        return "Nothing has run here yet, or it is too long ago.".to_owned();
    }
    format!(
        "{} of {}   Enter output, r again, e edit, X cancel, Space mark, c compare, a all",
        panel.at + 1,
        panel.runs.len()
    )
}

/// Draws two runs side by side.
pub(super) fn compare(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, both: &Comparison) {
    let lines = comparison(state, theme, both);
    let area = list_area(frame.area(), lines.len(), 100);
    let inner = popup(frame, area, "Two runs: Esc goes back", theme);
    show(frame, inner, theme, lines, 0);
}

fn comparison(state: &AppState, theme: &Theme, both: &Comparison) -> Vec<Line<'static>> {
    let two = |key: &str, value: &dyn Fn(&Run) -> String| {
        let [one, other] = both.runs.each_ref().map(value);
        let role = if one == other { Role::Text } else { Role::Warn };
        row(theme, key, format!("{} {other}", pad(&one, 38)), role)
    };
    let mut lines = vec![
        two("run", &|run| short(&run.id)),
        two("started", &|run| {
            run.started_at.format("%Y-%m-%d %H:%M:%S").to_string()
        }),
        two("status", &status),
        two("time", &|run| time(state, run)),
        two("peak memory", &peak),
        two("what", &|run| safe_line(headline(run))),
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
