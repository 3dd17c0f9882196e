//! What runs in a sandbox, busiest first.

use ratatui::text::Line;

use crate::app::overlays::inspect::{InspectState, Seen};
use crate::text::{human, pad, pad_left, safe_line};
use crate::ui::theme::{Role, Theme};

/// Makes a table of the processes.
pub(super) fn lines(view: &InspectState, theme: &Theme) -> Vec<Line<'static>> {
    super::answer(&view.processes, theme, |seen| {
        let head = cells(
            ["PID", "USER", "S", "CPU", "MEMORY", "TIME", "AGE"],
            "COMMAND",
        );
        let head = Line::styled(head, theme.style(Role::Muted));
        let rows = seen.iter().map(|seen| line(seen, theme));
        std::iter::once(head).chain(rows).collect()
    })
}

fn line(seen: &Seen, theme: &Theme) -> Line<'static> {
    let process = &seen.process;
    let text = cells(
        [
            &process.pid.to_string(),
            &safe_line(&process.user),
            &process.state.to_string(),
            &human::percent(seen.cpu_percent),
            &human::bytes(process.memory_bytes),
            &human::duration(process.cpu_time),
            &human::age(process.age.as_secs()),
        ],
        &safe_line(&process.command),
    );
    let role = match process.state {
        'Z' => Role::Warn,
        _ if seen.cpu_percent >= 50.0 => Role::Accent,
        _ => Role::Text,
    };
    Line::styled(text, theme.style(role))
}

fn cells([pid, user, state, cpu, memory, time, age]: [&str; 7], command: &str) -> String {
    format!(
        "{} {} {} {} {} {} {}  {command}",
        pad_left(pid, 6),
        pad(user, 7),
        pad(state, 1),
        pad_left(cpu, 6),
        pad_left(memory, 9),
        pad_left(time, 8),
        pad_left(age, 4),
    )
}
