//! What is known of a buffer's code before it runs: findings of the check, and packages.

use super::EditorState;
use crate::code::{Finding, Language, Severity};
use crate::domain::SandboxRef;
use crate::protocol::Analysis;

/// What was asked about, so that it is not asked again.
type AnalysisKey = (u64, Option<Language>, Option<SandboxRef>);

/// What is known of one buffer.
#[derive(Debug, Default)]
pub struct Known {
    asked: Option<AnalysisKey>,
    /// The last answer; it may be about a text that has changed a moment ago.
    pub analysis: Analysis,
}

impl Known {
    /// Returns the worst that was found in a row, counted from 0.
    #[must_use]
    pub fn severity(&self, row: usize) -> Option<Severity> {
        let here = self.analysis.findings.iter();
        let here = here.filter(|finding| finding.line == row + 1);
        here.map(|finding: &Finding| finding.severity).max()
    }

    /// Says which packages the code needs and whether they are there.
    #[must_use]
    pub fn packages(&self) -> Option<String> {
        let count = self.analysis.packages.len();
        let ending = if count == 1 { "" } else { "s" };
        let state = match self.analysis.kept {
            Some(true) => " available locally",
            Some(false) => " to install",
            None => "",
        };
        (count > 0).then(|| format!("{count} package{ending}{state}"))
    }
}

impl EditorState {
    /// Returns the current buffer's number, text and language if they have changed since they were looked at.
    pub fn to_analyse(&mut self, sandbox: Option<&SandboxRef>) -> Option<(u64, String, Language)> {
        let buffer = self.current_mut();
        let asked = (
            buffer.text.state(),
            buffer.language.clone(),
            sandbox.cloned(),
        );
        if buffer.known.asked.as_ref() == Some(&asked) {
            return None;
        }
        buffer.known.asked = Some(asked);
        match buffer.language.clone() {
            Some(language) if language.dialect().is_some() => {
                Some((buffer.id, buffer.text.joined(), language))
            }
            _ => {
                buffer.known.analysis = Analysis::default();
                None
            }
        }
    }

    /// Has everything looked at again: packages came or went.
    pub fn invalidate_analysis(&mut self) {
        for buffer in &mut self.buffers {
            buffer.known.asked = None;
        }
    }

    /// Takes what was found out about a buffer.
    pub fn on_analysis(&mut self, id: u64, analysis: Analysis) {
        let buffer = self.buffers.iter_mut().find(|buffer| buffer.id == id);
        if let Some(buffer) = buffer {
            buffer.known.analysis = analysis;
        }
    }
}
