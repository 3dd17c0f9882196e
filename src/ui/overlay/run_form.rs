//! The form before a run.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::text::Line;

use super::create::draw_field;
use super::lines::fit;
use crate::app::AppState;
use crate::app::overlays::run_form::RunForm;
use crate::code::Severity;
use crate::text::safe_line;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the form.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, form: &RunForm) {
    let list_box = form.place(frame.area());
    let title = "Run: Enter runs, Tab goes to the next field, Esc cancels";
    popup(frame, list_box.area, title, theme);
    for (at, row) in list_box.rows() {
        if let Some(field) = form.fields.get(at) {
            draw_field(frame, theme, field, row, at == form.at);
        }
    }
    let [_, packages, findings, problem] =
        Layout::vertical([Constraint::Length(1); 4]).areas(list_box.foot);
    let muted = theme.style(Role::Muted);
    let words = Line::styled(packages_line(state), muted);
    frame.render_widget(fit(words, packages.width), packages);
    let (words, role) = findings_line(state);
    let words = Line::styled(words, theme.style(role));
    frame.render_widget(fit(words, findings.width), findings);
    if let Some(text) = &form.problem {
        let words = Line::styled(safe_line(text), theme.style(Role::Error));
        frame.render_widget(fit(words, problem.width), problem);
    }
}

fn packages_line(state: &AppState) -> String {
    let known = &state.editor.current().known;
    let names: Vec<&str> = known
        .analysis
        .packages
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    match known.packages() {
        Some(words) => safe_line(format!("The code imports {words}: {}", names.join(", "))),
        None => "The code imports no packages.".to_owned(),
    }
}

fn findings_line(state: &AppState) -> (String, Role) {
    let findings = &state.editor.current().known.analysis.findings;
    let worst = findings.iter().max_by_key(|finding| finding.severity);
    match worst {
        Some(worst) if worst.severity > Severity::Info => {
            let role = match worst.severity {
                Severity::Danger => Role::Error,
                _ => Role::Warn,
            };
            let words = format!(
                "The check found {}: line {} {}",
                findings.len(),
                worst.line,
                worst.message
            );
            (safe_line(words), role)
        }
        _ => ("The check found nothing.".to_owned(), Role::Muted),
    }
}
