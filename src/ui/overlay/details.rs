//! Everything about a sandbox, with the isolation in force and its last minutes; and what was done.

use ratatui::Frame;
use ratatui::text::{Line, Span};

use crate::app::{AppState, Tone};
use crate::domain::{Access, Details, Posture};
use crate::text::{human, pad, safe_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::{popup, spark};

/// Draws everything about a sandbox.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    state: &AppState,
    theme: &Theme,
    details: Option<&Details>,
    scroll: usize,
) {
    let inner = popup(frame, 92, 40, "Inspect: arrows scroll, Esc closes", theme);
    let Some(details) = details else {
        return frame.render_widget(
            Line::styled("Asking the engine…", theme.style(Role::Muted)),
            inner,
        );
    };
    let mut lines = facts(details, theme);
    lines.extend(history(
        state,
        details,
        theme,
        usize::from(inner.width.saturating_sub(18)),
    ));
    lines.extend(isolation(&details.posture, theme));
    show(frame, inner, lines, scroll);
}

fn show(
    frame: &mut Frame<'_>,
    inner: ratatui::layout::Rect,
    lines: Vec<Line<'static>>,
    scroll: usize,
) {
    let most = lines.len().saturating_sub(usize::from(inner.height));
    for (line, row) in lines.into_iter().skip(scroll.min(most)).zip(inner.rows()) {
        frame.render_widget(line, row);
    }
}

fn row(theme: &Theme, key: &str, value: impl Into<String>, role: Role) -> Line<'static> {
    Line::from(vec![
        Span::styled(pad(key, 18), theme.style(Role::Muted)),
        Span::styled(safe_line(value.into()), theme.style(role)),
    ])
}

fn facts(details: &Details, theme: &Theme) -> Vec<Line<'static>> {
    let (sandbox, limits) = (&details.sandbox, &details.sandbox.limits);
    let limit = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let mut lines = vec![
        row(theme, "name", &sandbox.name, Role::Accent),
        row(theme, "id", sandbox.reference.id.as_str(), Role::Text),
        row(
            theme,
            "host",
            format!("{} ({})", sandbox.reference.host, sandbox.engine),
            Role::Text,
        ),
        row(theme, "image", &sandbox.image, Role::Text),
        row(theme, "phase", sandbox.phase.word(), Role::Text),
        row(
            theme,
            "created",
            sandbox
                .created_at
                .format("%Y-%m-%d %H:%M:%S UTC")
                .to_string(),
            Role::Text,
        ),
        row(
            theme,
            "owner",
            sandbox
                .owner
                .as_ref()
                .map_or_else(|| "unknown".to_owned(), ToString::to_string),
            Role::Text,
        ),
        row(
            theme,
            "memory limit",
            limit(limits.memory_bytes.map(human::bytes)),
            Role::Text,
        ),
        row(
            theme,
            "cpu limit",
            limit(limits.cpus.map(|cpus| cpus.to_string())),
            Role::Text,
        ),
        row(
            theme,
            "process limit",
            limit(limits.pids.map(|pids| pids.to_string())),
            Role::Text,
        ),
        row(theme, "work directory", &details.work_dir, Role::Text),
        row(theme, "variables", details.env_names.join(", "), Role::Text),
    ];
    if let Some(death) = &details.death {
        let code = death
            .exit_code
            .map_or_else(String::new, |code| format!(", code {code}"));
        lines.push(row(
            theme,
            "ended",
            format!("{}{code}", death.cause),
            Role::Warn,
        ));
        lines.extend(
            death
                .last_lines
                .iter()
                .map(|line| row(theme, "last words", line, Role::Warn)),
        );
    }
    lines
}

/// Shows the last minutes of its figures against its limits.
#[allow(clippy::cast_precision_loss)] // A row of bars needs no exact bytes.
fn history(state: &AppState, details: &Details, theme: &Theme, width: usize) -> Vec<Line<'static>> {
    let Some(known) = state
        .sandboxes
        .find(&details.sandbox.reference)
        .filter(|row| !row.samples.is_empty())
    else {
        return Vec::new();
    };
    let cores = details.sandbox.limits.cpus.unwrap_or(1.0).max(0.01);
    let memory = details
        .sandbox
        .limits
        .memory_bytes
        .unwrap_or(u64::MAX)
        .max(1);
    let cpu = spark(
        known
            .samples
            .iter()
            .map(|sample| sample.cpu_percent / (cores * 100.0)),
        width,
        theme.ascii,
    );
    let used = spark(
        known
            .samples
            .iter()
            .map(|sample| sample.memory_bytes as f64 / memory as f64),
        width,
        theme.ascii,
    );
    vec![
        row(theme, "cpu of limit", cpu, Role::Ok),
        row(theme, "memory of limit", used, Role::Ok),
    ]
}

fn isolation(posture: &Posture, theme: &Theme) -> Vec<Line<'static>> {
    let listed = |names: &[String]| {
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    };
    let flag = |key: &str, good: bool| {
        row(
            theme,
            key,
            if good { "yes" } else { "NO" },
            if good { Role::Ok } else { Role::Error },
        )
    };
    let mut lines = vec![
        row(
            theme,
            "interfaces",
            posture
                .interfaces
                .as_deref()
                .map_or_else(|| "unknown".to_owned(), listed),
            Role::Text,
        ),
        row(theme, "user", &posture.user, Role::Text),
        row(
            theme,
            "capabilities",
            listed(&posture.caps),
            if posture.caps.is_empty() {
                Role::Ok
            } else {
                Role::Error
            },
        ),
        flag("no new privileges", posture.no_new_privileges),
        flag("read-only root", posture.read_only_root),
        row(theme, "seccomp", &posture.seccomp, Role::Text),
        flag("checked inside", posture.verified),
    ];
    for mount in &posture.mounts {
        let access = if mount.access == Access::ReadOnly {
            "read-only"
        } else {
            "writable"
        };
        lines.push(row(
            theme,
            "mount",
            format!("{} ({}, {access})", mount.target, mount.kind),
            Role::Text,
        ));
    }
    lines.extend(
        posture
            .gaps
            .iter()
            .map(|gap| row(theme, "gap", gap, Role::Warn)),
    );
    lines
}

/// Draws what was done, newest first.
pub(super) fn log(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, scroll: usize) {
    let inner = popup(
        frame,
        92,
        30,
        "What was done, newest first: Esc closes",
        theme,
    );
    let mut lines: Vec<Line<'static>> = state
        .status
        .log()
        .map(|toast| {
            let role = if toast.tone == Tone::Bad {
                Role::Error
            } else {
                Role::Text
            };
            row(
                theme,
                &toast.at.format("%H:%M:%S").to_string(),
                &toast.text,
                role,
            )
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::styled("Nothing yet.", theme.style(Role::Muted)));
    }
    show(frame, inner, lines, scroll);
}
