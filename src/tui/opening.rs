//! The time before an engine was chosen: the first picture is there, and leaving is possible.

use crossterm::event::Event as Input;
use tokio::sync::mpsc;

use super::{Loop, broken, input, next};
use crate::app::{Msg, Settings, update};
use crate::keymap::{Action, Resolution};
use crate::manager::ManagerHandle;
use crate::protocol::{Event, Failure};
use crate::signals::EndReason;

/// Most input that waits for the engine.
const MOST_EARLY: usize = 256;

/// What the dashboard gets once an engine was chosen.
pub struct Connected {
    /// Sends requests.
    pub handle: ManagerHandle,
    /// Brings answers and news.
    pub events: mpsc::Receiver<Event>,
    /// The settings, as they are with this engine.
    pub settings: Settings,
}

impl Loop {
    /// Shows the first picture and waits for the engine; an exit code if the person leaves before.
    pub(super) async fn open(
        &mut self,
        mut end: impl Future<Output = EndReason> + Unpin,
        connect: impl Future<Output = Result<Connected, Failure>>,
    ) -> Result<Result<Connected, u8>, Failure> {
        self.draw().map_err(broken)?;
        tokio::pin!(connect);
        loop {
            tokio::select! {
                biased;
                asked = &mut end => return Ok(Err(asked.exit_code())),
                event = next(&mut self.input) => match event {
                    Some(Ok(event)) => {
                        if self.leaves(event) {
                            return Ok(Err(0));
                        }
                        self.draw().map_err(broken)?;
                    }
                    Some(Err(_)) | None => return Ok(Err(EndReason::HangUp.exit_code())),
                },
                connected = &mut connect => return connected.map(Ok),
            }
        }
    }

    /// Takes a new size; tells whether a key asks to leave. All other input waits for the engine.
    fn leaves(&mut self, event: Input) -> bool {
        match input::message(event) {
            Some(Msg::Key(key)) => {
                let context = self.state.context();
                let keymap = &self.state.settings.keymap;
                let pressed = keymap.resolve(context, &[], key);
                let leaving = [Action::Quit, Action::Leave, Action::Interrupt];
                self.wait_with(Msg::Key(key));
                matches!(pressed, Resolution::Run(action) if leaving.contains(&action))
            }
            Some(resize @ Msg::Resize { .. }) => {
                update(&mut self.state, resize);
                false
            }
            Some(other) => {
                self.wait_with(other);
                false
            }
            None => false,
        }
    }

    fn wait_with(&mut self, message: Msg) {
        if self.early.len() < MOST_EARLY {
            self.early.push(message);
        }
    }

    /// Does what was typed and clicked before there was an engine.
    pub(super) fn catch_up(&mut self) {
        for message in std::mem::take(&mut self.early) {
            self.tell(message);
        }
    }
}
