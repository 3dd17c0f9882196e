//! From the flags of `create` to what they ask for.

use super::args::CreateArgs;
use crate::config::NewSandbox;

/// Reads the flags.
pub(super) fn asked(args: &CreateArgs) -> NewSandbox {
    NewSandbox {
        name: args.name.clone(),
        profile: args.profile.clone(),
        image: args.image.clone(),
        memory: args.memory.clone(),
        cpus: args.cpus,
        pids: args.pids,
        timeout: args.timeout,
        network: args.network.then_some(true),
        env: args.env.clone(),
        mounts: args.mounts.clone(),
        workdir: args.workdir.clone(),
        user: args.user.clone(),
        labels: args.labels.clone(),
    }
}
