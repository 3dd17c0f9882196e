//! The list of sandboxes: figures against limits, as meters, numbers and the last moments.

use chrono::{DateTime, Utc};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::theme::{Role, Theme};
use super::widgets::{meter, spark};
use crate::app::sandboxes::{Column, Row, SandboxesState, age_seconds};
use crate::domain::{Phase, Sample};
use crate::text::{human, pad, pad_left, safe_line};

/// The pane, without its border.
pub(super) struct SandboxesPane<'a> {
    pub(super) state: &'a SandboxesState,
    pub(super) theme: &'a Theme,
    pub(super) now: DateTime<Utc>,
    /// The engine does not answer; what is shown is old.
    pub(super) stale: bool,
}

/// Which columns fit, and how wide they are.
struct Columns {
    name: usize,
    meter: usize,
    spark: usize,
    pids: bool,
    image: usize,
}

impl Columns {
    fn for_width(width: usize) -> Self {
        let (meter, spark, pids) = match width {
            0..=67 => (0, 0, false),
            68..=89 => (6, 0, true),
            _ => (8, 8, true),
        };
        // Mark, phase, two figures, age and the gaps between them.
        let fixed = 2 + 10 + 2 * (meter + 1 + 8) + spark + if pids { 6 } else { 0 } + 5 + 5;
        let rest = width.saturating_sub(fixed);
        let image = if rest > 44 { (rest - 20).min(28) } else { 0 };
        Self {
            name: rest.saturating_sub(image).clamp(8, 32),
            meter,
            spark,
            pids,
            image,
        }
    }
}

impl SandboxesPane<'_> {
    /// Says how the list is filtered and sorted.
    pub(super) fn title(&self) -> Line<'static> {
        let arrow = if self.state.descending { "↓" } else { "↑" };
        let mut text = format!("by {}{arrow}", self.state.column.title().to_lowercase());
        if !self.state.filter.is_empty() {
            text = format!("{text} /{}", safe_line(&self.state.filter));
        }
        if !self.state.show_all {
            text.push_str(" (running only)");
        }
        Line::styled(text, self.theme.style(Role::Muted))
    }

    fn empty(&self, area: Rect, buffer: &mut Buffer) {
        let filtered = self.state.counts().1 > 0;
        let lines: &[&str] = if filtered {
            &[
                "No sandbox passes the filter.",
                "Esc clears it; a shows stopped ones too.",
            ]
        } else {
            &[
                "No sandboxes yet.",
                "",
                "Press c to create one: Enter takes the defaults.",
                "Press ? for all keys.",
            ]
        };
        for (line, row) in lines
            .iter()
            .zip(area.rows().skip(usize::from(area.height > 6)))
        {
            Line::styled(*line, self.theme.style(Role::Muted))
                .centered()
                .render(row, buffer);
        }
    }

    fn headings(&self, columns: &Columns) -> Line<'static> {
        let figure = columns.meter + 9;
        let mark = |column: Column| {
            let sorted = self.state.column == column;
            let arrow = if self.state.descending { "↓" } else { "↑" };
            format!("{}{}", column.title(), if sorted { arrow } else { "" })
        };
        let mut text = format!(
            "  {} {} {} {}",
            pad(&mark(Column::Name), columns.name),
            pad(&mark(Column::Phase), 10),
            pad(&mark(Column::Cpu), figure + columns.spark),
            pad(&mark(Column::Memory), figure),
        );
        if columns.pids {
            text.push_str(&pad_left(&mark(Column::Pids), 6));
        }
        text.push_str(&pad_left(&mark(Column::Age), 5));
        if columns.image > 0 {
            text.push_str("  IMAGE");
        }
        Line::styled(text, self.theme.style(Role::Muted))
    }

    fn row(&self, row: &Row, columns: &Columns) -> Line<'static> {
        let sandbox = &row.sandbox;
        let marked = self.state.is_marked(&sandbox.reference);
        let dim = self.stale || !sandbox.phase.is_live();
        let text = self.theme.style(if dim { Role::Muted } else { Role::Text });
        let name = self.theme.style(if marked {
            Role::Marked
        } else if dim {
            Role::Muted
        } else {
            Role::Accent
        });
        let mut spans = vec![
            Span::styled(if marked { "* " } else { "  " }, name),
            Span::styled(
                format!("{} ", pad(&safe_line(&sandbox.name), columns.name)),
                name,
            ),
            Span::styled(
                pad(&phase_words(sandbox.phase), 11),
                self.phase_style(sandbox.phase),
            ),
        ];
        spans.extend(self.figures(row, columns, text));
        spans.push(Span::styled(
            pad_left(&human::age(age_seconds(sandbox, self.now)), 5),
            text,
        ));
        if columns.image > 0 {
            spans.push(Span::styled(
                format!("  {}", pad(&safe_line(&sandbox.image), columns.image)),
                self.theme.style(Role::Muted),
            ));
        }
        Line::from(spans)
    }

    fn figures(&self, row: &Row, columns: &Columns, text: Style) -> Vec<Span<'static>> {
        let Some(sample) = row.latest() else {
            let width =
                2 * (columns.meter + 10) + columns.spark + if columns.pids { 6 } else { 0 } - 1;
            return vec![Span::styled(pad("", width), text)];
        };
        let (cpu, memory) = (cpu_ratio(sample), memory_ratio(sample));
        let mut spans = vec![
            Span::styled(
                meter(cpu, columns.meter, self.theme.ascii),
                self.load_style(cpu),
            ),
            Span::styled(pad_left(&human::percent(sample.cpu_percent), 8), text),
            Span::raw(" "),
        ];
        if columns.spark > 0 {
            let history = spark(
                row.samples.iter().map(cpu_ratio),
                columns.spark,
                self.theme.ascii,
            );
            spans.push(Span::styled(history, self.theme.style(Role::Muted)));
        }
        spans.push(Span::raw(" "));
        spans.push(Span::styled(
            meter(memory, columns.meter, self.theme.ascii),
            self.load_style(memory),
        ));
        spans.push(Span::styled(
            pad_left(&short_bytes(sample.memory_bytes), 8),
            text,
        ));
        if columns.pids {
            spans.push(Span::styled(pad_left(&sample.pids.to_string(), 6), text));
        }
        spans
    }

    fn load_style(&self, ratio: f64) -> Style {
        let role = match ratio {
            r if r > 0.9 => Role::Error,
            r if r > 0.6 => Role::Warn,
            _ => Role::Ok,
        };
        self.theme
            .style(if self.stale { Role::Muted } else { role })
    }

    fn phase_style(&self, phase: Phase) -> Style {
        let role = match phase {
            Phase::Running => Role::Ok,
            Phase::Paused | Phase::Creating | Phase::Removing => Role::Warn,
            Phase::Dead | Phase::Lost => Role::Error,
            Phase::Stopped => Role::Muted,
        };
        self.theme
            .style(if self.stale { Role::Muted } else { role })
    }
}

fn short_bytes(bytes: u64) -> String {
    human::bytes(bytes).replace("iB", "").replace(' ', "")
}

fn phase_words(phase: Phase) -> String {
    let glyph = match phase {
        Phase::Running => '▶',
        Phase::Paused => '‖',
        Phase::Creating => '+',
        Phase::Removing => '-',
        Phase::Stopped => '■',
        Phase::Dead | Phase::Lost => '✗',
    };
    format!("{glyph} {phase}")
}

/// Tells how much of the quota is used; without one, of one core.
fn cpu_ratio(sample: &Sample) -> f64 {
    sample.cpu_percent
        / (sample
            .cpus_limit
            .filter(|limit| *limit > 0.0)
            .unwrap_or(1.0)
            * 100.0)
}

#[allow(clippy::cast_precision_loss)] // A bar needs no exact bytes.
fn memory_ratio(sample: &Sample) -> f64 {
    sample
        .memory_limit_bytes
        .filter(|limit| *limit > 0)
        .map_or(0.0, |limit| sample.memory_bytes as f64 / limit as f64)
}

impl Widget for SandboxesPane<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if self.state.shown().len() == 0 {
            return self.empty(area, buffer);
        }
        let columns = Columns::for_width(usize::from(area.width));
        let mut rows = area.rows();
        if let Some(top) = rows.next() {
            self.headings(&columns).render(top, buffer);
        }
        let height = usize::from(area.height.saturating_sub(1));
        for ((at, row), line) in self.state.page(height).zip(rows) {
            self.row(row, &columns).render(line, buffer);
            if at == self.state.selected_index() {
                buffer.set_style(line, self.theme.style(Role::Selection));
            }
        }
    }
}
