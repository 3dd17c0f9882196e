//! What stands in a column of a row.

use ratatui::style::Style;
use ratatui::text::Span;

use super::SandboxesPane;
use crate::app::panes::sandboxes::columns::{ALL, LIMIT, METER, SPARK};
use crate::app::panes::sandboxes::{Column, Row, age_seconds};
use crate::describe::status_word;
use crate::domain::{Phase, Sample};
use crate::text::{human, pad, pad_left, safe_line};
use crate::ui::theme::Role;
use crate::ui::widgets::{meter, spark};

/// Cells of a meter.
const BAR: usize = 6;

/// One figure of a sample against its limit.
struct Figure {
    number: String,
    limit: String,
    ratio: f64,
    of: fn(&Sample) -> f64,
}

impl SandboxesPane<'_> {
    /// Writes one cell in exactly `width` columns.
    pub(super) fn cell(&self, row: &Row, column: Column, width: usize) -> Vec<Span<'static>> {
        let sandbox = &row.sandbox;
        let text = match column {
            Column::Cpu => return self.figure(row, cpu, width),
            Column::Memory => return self.figure(row, memory, width),
            Column::Name => pad(&safe_line(&sandbox.name), width),
            Column::Phase => pad(&phase_words(sandbox.phase), width),
            Column::Pids => {
                let pids = row.latest().map(|sample| sample.pids.to_string());
                pad_left(&pids.unwrap_or_default(), width)
            }
            Column::Age => pad_left(&human::age(age_seconds(sandbox, self.now)), width),
            Column::Idle => pad_left(&self.idle(row), width),
            Column::Reap => pad_left(&self.reap_in(row), width),
            Column::Why => pad(&self.why(row), width),
            Column::Network => pad(&safe_line(&sandbox.network), width),
            Column::Image => pad(&safe_line(&sandbox.image), width),
            Column::Owner => {
                let owner = sandbox.owner.as_ref().map(ToString::to_string);
                pad(&safe_line(owner.unwrap_or_default()), width)
            }
            Column::Host => pad(&safe_line(sandbox.reference.host.as_str()), width),
        };
        vec![Span::styled(text, self.cell_style(row, column))]
    }

    fn cell_style(&self, row: &Row, column: Column) -> Style {
        let dim = self.stale || !row.sandbox.phase.is_live();
        let role = match column {
            Column::Name if self.state.is_marked(&row.sandbox.reference) => Role::Marked,
            Column::Phase if !self.stale => phase_role(row.sandbox.phase),
            _ if dim => Role::Muted,
            Column::Name => Role::Accent,
            Column::Network if row.sandbox.network != "none" => Role::Warn,
            Column::Image | Column::Owner | Column::Host => Role::Muted,
            _ => Role::Text,
        };
        self.theme.style(role)
    }

    fn reap_in(&self, row: &Row) -> String {
        let reference = &row.sandbox.reference;
        let reap_status = self.state.reap_status(reference);
        if reap_status.is_some_and(|reap_status| reap_status.facts.pinned) {
            return "pinned".to_owned();
        }
        let left = self.state.reap_in(reference, self.now);
        left.map_or_else(
            || "-".to_owned(),
            |left| human::age(u64::try_from(left.num_seconds()).unwrap_or(0)),
        )
    }

    /// Writes a glyph and a word for what is wrong or special.
    fn why(&self, row: &Row) -> String {
        let reap_status = self.state.reap_status(&row.sandbox.reference);
        if let Some(guarded) = self.guards.raised(&row.sandbox.reference).next() {
            return format!("! {}", guarded.word());
        }
        let Some(word) = reap_status.and_then(status_word) else {
            return String::new();
        };
        let glyph = match word {
            "oom" | "pids" | "timeout" | "error" | "image" | "vanished" => '!',
            "foreign" => '~',
            "orphan" => '?',
            _ => '·',
        };
        format!("{glyph} {word}")
    }

    fn idle(&self, row: &Row) -> String {
        if !row.sandbox.phase.is_live() {
            return "-".to_owned();
        }
        let since = self.state.idle_since(row);
        since.map_or_else(
            || "busy".to_owned(),
            |since| human::age(u64::try_from((self.now - since).num_seconds()).unwrap_or(0)),
        )
    }

    /// Writes a meter, a number, its limit and the last moments, as far as there is room.
    fn figure(&self, row: &Row, read: fn(&Sample) -> Figure, width: usize) -> Vec<Span<'static>> {
        let text = self.cell_style(row, Column::Cpu);
        let Some(figure) = row.latest().map(read) else {
            return vec![Span::styled(" ".repeat(width), text)];
        };
        let mut spans = Vec::new();
        let mut left = width;
        if width >= METER {
            let bar = meter(figure.ratio, BAR);
            spans.push(Span::styled(
                format!("{bar} "),
                self.load_style(figure.ratio),
            ));
            left -= BAR + 1;
        }
        let history = match width {
            ALL.. => 10,
            SPARK.. => 5,
            _ => 0,
        };
        if history > 0 {
            left -= history + 1;
        }
        let number = if width >= LIMIT {
            format!("{}/{}", figure.number, figure.limit)
        } else {
            figure.number
        };
        spans.push(Span::styled(pad_left(&number, left), text));
        if history > 0 {
            let values = row.samples.iter().map(figure.of);
            let past = spark(values, history);
            let past = format!(" {past}");
            spans.push(Span::styled(past, self.theme.style(Role::Muted)));
        }
        spans
    }

    fn load_style(&self, ratio: f64) -> Style {
        let role = match ratio {
            _ if self.stale => Role::Muted,
            r if r > 0.9 => Role::Error,
            r if r > 0.6 => Role::Warn,
            _ => Role::Ok,
        };
        self.theme.style(role)
    }
}

fn cpu(sample: &Sample) -> Figure {
    let limit = sample.cpus_limit.map(|cpus| human::percent(cpus * 100.0));
    Figure {
        number: human::percent(sample.cpu_percent),
        limit: limit.unwrap_or_else(|| "-".to_owned()),
        ratio: cpu_ratio(sample),
        of: cpu_ratio,
    }
}

fn memory(sample: &Sample) -> Figure {
    let limit = sample.memory_limit_bytes.map(short_bytes);
    Figure {
        number: short_bytes(sample.memory_bytes),
        limit: limit.unwrap_or_else(|| "-".to_owned()),
        ratio: memory_ratio(sample),
        of: memory_ratio,
    }
}

fn short_bytes(bytes: u64) -> String {
    human::bytes(bytes).replace("iB", "").replace(' ', "")
}

/// Tells how much of the quota is used; without one, of one core.
fn cpu_ratio(sample: &Sample) -> f64 {
    let limit = sample.cpus_limit.filter(|limit| *limit > 0.0);
    sample.cpu_percent / (limit.unwrap_or(1.0) * 100.0)
}

#[allow(clippy::cast_precision_loss)] // A bar needs no exact bytes.
fn memory_ratio(sample: &Sample) -> f64 {
    let limit = sample.memory_limit_bytes.filter(|limit| *limit > 0);
    limit.map_or(0.0, |limit| sample.memory_bytes as f64 / limit as f64)
}

fn phase_role(phase: Phase) -> Role {
    match phase {
        Phase::Running => Role::Ok,
        Phase::Paused | Phase::Creating | Phase::Removing => Role::Warn,
        Phase::Dead | Phase::Lost => Role::Error,
        Phase::Stopped => Role::Muted,
    }
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
