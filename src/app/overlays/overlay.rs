//! The overlays as data: one at a time has the keys.

use super::columns::ColumnChooser;
use super::confirm::Confirm;
use super::create_form::CreateForm;
use super::history::HistoryPanel;
use super::inspect::InspectState;
use super::layer::Layer;
use super::packages::PackagesPanel;
use super::palette::Palette;
use super::prompt::PromptState;
use super::reap::ReapPreview;
use super::run_form::RunForm;
use super::snippets::SnippetPanel;
use super::viewer::Viewer;

/// Something that lies over the panes.
#[derive(Debug, Clone, PartialEq)]
pub enum Overlay {
    /// A text to be read.
    Viewer(Viewer),
    /// Any action by its name.
    Palette(Palette),
    /// A yes or no.
    Confirm(Confirm),
    /// A line of text.
    Prompt(PromptState),
    /// A new sandbox.
    Create(Box<CreateForm>),
    /// Everything about a sandbox.
    Inspect(Box<InspectState>),
    /// Which columns the list has.
    Columns(ColumnChooser),
    /// How code is to run.
    Run(Box<RunForm>),
    /// Programs that can be opened.
    Snippets(Box<SnippetPanel>),
    /// Installed packages.
    Packages(Box<PackagesPanel>),
    /// Recorded runs.
    History(Box<HistoryPanel>),
    /// What reaping would do.
    Reap(Box<ReapPreview>),
}

impl Overlay {
    /// Returns what it can do.
    #[must_use]
    pub fn layer(&self) -> &dyn Layer {
        match self {
            Self::Viewer(layer) => layer,
            Self::Palette(layer) => layer,
            Self::Confirm(layer) => layer,
            Self::Prompt(layer) => layer,
            Self::Create(layer) => layer.as_ref(),
            Self::Inspect(layer) => layer.as_ref(),
            Self::Columns(layer) => layer,
            Self::Run(layer) => layer.as_ref(),
            Self::Snippets(layer) => layer.as_ref(),
            Self::Packages(layer) => layer.as_ref(),
            Self::History(layer) => layer.as_ref(),
            Self::Reap(layer) => layer.as_ref(),
        }
    }

    /// Returns what it can do, to do it.
    pub fn layer_mut(&mut self) -> &mut dyn Layer {
        match self {
            Self::Viewer(layer) => layer,
            Self::Palette(layer) => layer,
            Self::Confirm(layer) => layer,
            Self::Prompt(layer) => layer,
            Self::Create(layer) => layer.as_mut(),
            Self::Inspect(layer) => layer.as_mut(),
            Self::Columns(layer) => layer,
            Self::Run(layer) => layer.as_mut(),
            Self::Snippets(layer) => layer.as_mut(),
            Self::Packages(layer) => layer.as_mut(),
            Self::History(layer) => layer.as_mut(),
            Self::Reap(layer) => layer.as_mut(),
        }
    }
}
