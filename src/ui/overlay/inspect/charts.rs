//! The last minutes of a sandbox against its limits.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use crate::app::AppState;
use crate::app::overlays::inspect::InspectState;
use crate::domain::Sample;
use crate::text::{human, pad_left};
use crate::ui::overlay::lines::fit;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::Chart;

/// Seconds that are shown.
const SPAN: i64 = 300;
/// Columns of the scale on the left.
const SCALE: u16 = 10;

/// One figure over time.
struct Figure {
    title: &'static str,
    values: Vec<(DateTime<Utc>, f64)>,
    limit: Option<f64>,
    write: fn(f64) -> String,
}

/// Draws processor use over memory use.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &AppState,
    theme: &Theme,
    view: &InspectState,
) {
    let known = state.sandboxes.find(&view.sandbox);
    let Some(row) = known.filter(|row| !row.samples.is_empty()) else {
        let words = "No stats yet: they come while the sandbox runs.";
        return frame.render_widget(Line::styled(words, theme.style(Role::Muted)), area);
    };
    let parts = [
        Constraint::Fill(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ];
    let [top, bottom, axis] = Layout::vertical(parts).areas(area);
    draw_figure(frame, top, theme, state.now, &cpu(&row.samples));
    draw_figure(frame, bottom, theme, state.now, &memory(&row.samples));
    draw_axis(frame, axis, theme);
}

fn cpu(samples: &VecDeque<Sample>) -> Figure {
    let latest = samples.back();
    Figure {
        title: "CPU",
        values: samples.iter().map(|s| (s.at, s.cpu_percent)).collect(),
        limit: latest.and_then(|s| s.cpus_limit).map(|cpus| cpus * 100.0),
        write: human::percent,
    }
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)] // A chart needs no exact bytes.
fn memory(samples: &VecDeque<Sample>) -> Figure {
    let latest = samples.back();
    let values = samples.iter().map(|s| (s.at, s.memory_bytes as f64));
    Figure {
        title: "Memory",
        values: values.collect(),
        limit: latest
            .and_then(|s| s.memory_limit_bytes)
            .map(|limit| limit as f64),
        write: |bytes| human::bytes(bytes as u64),
    }
}

impl Figure {
    fn peak(&self) -> f64 {
        self.values
            .iter()
            .map(|(_, value)| *value)
            .fold(0.0, f64::max)
    }

    #[allow(clippy::cast_precision_loss)] // There are a few hundred.
    fn average(&self) -> f64 {
        let sum: f64 = self.values.iter().map(|(_, value)| value).sum();
        sum / self.values.len().max(1) as f64
    }

    /// Returns what the top of the chart means: the limit, or the peak where that is higher or there is none.
    fn top(&self) -> f64 {
        let top = self.limit.unwrap_or(0.0).max(self.peak());
        if top > 0.0 { top } else { 1.0 }
    }

    /// Says how it stands, in one line.
    fn headline(&self) -> String {
        let write = self.write;
        let now = self.values.last().map_or(0.0, |(_, value)| *value);
        let limit = self.limit.map_or_else(
            || "no limit".to_owned(),
            |limit| format!("limit {}", write(limit)),
        );
        let (peak, average) = (write(self.peak()), write(self.average()));
        let title = self.title;
        format!(
            "{title} {}  {limit}  peak {peak}  average {average}",
            write(now)
        )
    }

    /// Puts the values into columns of time, as parts of the top; the highest of a column counts.
    fn columns(&self, width: usize, now: DateTime<Utc>) -> Vec<Option<f64>> {
        let (top, count) = (self.top(), i64::try_from(width.max(1)).unwrap_or(1));
        let each = (SPAN * 1000 / count).max(1);
        // Columns begin at round times, so that a value does not move between two of them.
        let last = now.timestamp_millis() / each;
        let mut columns = vec![None; width];
        for (at, value) in &self.values {
            let back = usize::try_from((last - at.timestamp_millis() / each).max(0));
            let place = back.ok().and_then(|back| width.checked_sub(back + 1));
            if let Some(column) = place.and_then(|place| columns.get_mut(place)) {
                let part = value / top;
                *column = Some(column.map_or(part, |known: f64| known.max(part)));
            }
        }
        columns
    }
}

fn draw_figure(
    frame: &mut Frame<'_>,
    area: Rect,
    theme: &Theme,
    now: DateTime<Utc>,
    figure: &Figure,
) {
    let [head, body] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
    let headline = Line::styled(figure.headline(), theme.style(Role::Accent));
    frame.render_widget(fit(headline, head.width), head);
    let sides = [Constraint::Length(SCALE), Constraint::Fill(1)];
    let [scale, plot] = Layout::horizontal(sides).areas(body);
    draw_scale(frame, scale, theme, figure);
    let values = figure.columns(usize::from(plot.width), now);
    let latest = figure.values.last().map_or(0.0, |(_, value)| *value);
    let is_near = figure.limit.is_some_and(|limit| latest > 0.9 * limit);
    frame.render_widget(
        Chart {
            values: &values,
            limit: figure.limit.map(|limit| limit / figure.top()),
            ascii: theme.ascii,
            bar: theme.style(if is_near { Role::Error } else { Role::Ok }),
            line: theme.style(Role::Warn),
        },
        plot,
    );
}

/// Writes what top and bottom mean.
fn draw_scale(frame: &mut Frame<'_>, area: Rect, theme: &Theme, figure: &Figure) {
    let bar = "│";
    let last = usize::from(area.height.saturating_sub(1));
    for (at, row) in area.rows().enumerate() {
        let words = match at {
            0 => (figure.write)(figure.top()),
            at if at == last => "0".to_owned(),
            _ => String::new(),
        };
        let words = format!("{}{bar}", pad_left(&words, usize::from(SCALE) - 1));
        frame.render_widget(Span::styled(words, theme.style(Role::Muted)), row);
    }
}

/// Writes what left and right mean.
fn draw_axis(frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
    let sides = [Constraint::Length(SCALE), Constraint::Fill(1)];
    let [_, axis] = Layout::horizontal(sides).areas(area);
    let muted = theme.style(Role::Muted);
    let ago = format!("{} min ago", SPAN / 60);
    frame.render_widget(Line::styled(ago, muted), axis);
    frame.render_widget(Line::styled("now", muted).right_aligned(), axis);
}
