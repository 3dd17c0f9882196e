//! What an overlay may look at besides its own state.

use chrono::{DateTime, Utc};
use ratatui::layout::Rect;

use crate::app::engine::EngineState;
use crate::app::panes::editor::EditorState;
use crate::app::panes::files::HostPlaces;
use crate::app::settings::Settings;
use crate::app::status::StatusState;

/// What an overlay sees of the rest.
#[derive(Clone, Copy)]
pub struct Cx<'a> {
    /// The time.
    pub now: DateTime<Utc>,
    /// The screen.
    pub screen: Rect,
    /// What does not change.
    pub settings: &'a Settings,
    /// The editor.
    pub editor: &'a EditorState,
    /// What is known of the engines.
    pub engine: &'a EngineState,
    /// Messages.
    pub status: &'a StatusState,
    /// Where paths of this machine start.
    pub host_places: &'a HostPlaces,
}

impl Cx<'_> {
    /// Returns by how many lines a page key moves.
    #[must_use]
    pub fn page(&self) -> usize {
        usize::from(self.screen.height / 2).max(1)
    }
}
