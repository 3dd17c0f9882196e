//! Two recorded runs are read, to be compared in the list of runs.

use crate::app::intent::ReplyTo;
use crate::app::overlays::Overlay;
use crate::app::overlays::compare::Comparing;
use crate::app::{AppState, Effect};
use crate::domain::Run;
use crate::protocol::{Command, Upto};

/// Reads what both runs printed so far.
pub(crate) fn begin(state: &mut AppState, pair: [Run; 2]) -> Vec<Effect> {
    let pair = pair.map(|run| (run, state.pending.stream()));
    let commands = pair.each_ref().map(|(run, stream)| {
        let command = Command::ReadRun {
            host: run.sandbox.host.clone(),
            run: run.id.clone(),
            stream: *stream,
            upto: Upto::Now,
        };
        (command, *stream)
    });
    if let Some(Overlay::History(panel)) = &mut state.view.overlay {
        panel.compare(Comparing::new(pair));
    }
    let effects = commands.into_iter().map(|(command, stream)| {
        let reply_to = ReplyTo::Stream(stream);
        state.submit(command, "reading what was printed", reply_to)
    });
    effects.collect()
}
