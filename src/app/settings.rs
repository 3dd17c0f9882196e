//! What does not change while the dashboard runs.

use crate::config::Config;
use crate::domain::{HostName, Owner};
use crate::keymap::Keymap;

/// What does not change while the dashboard runs.
pub struct Settings {
    /// Keys.
    pub keymap: Keymap,
    /// Configuration.
    pub config: Config,
    /// Who creates sandboxes.
    pub owner: Owner,
    /// The host that new sandboxes go to.
    pub host: HostName,
    /// Nothing may be changed.
    pub read_only: bool,
    /// Nothing here is real.
    pub demo: bool,
}
