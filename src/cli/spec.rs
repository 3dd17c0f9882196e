//! From the flags of `create` to what they ask for.

use super::sandbox_args::CreateArgs;
use crate::config::NewSandbox;
use crate::protocol::Failure;

/// What a failure may be about; each is also a flag.
const FLAGS: [&str; 7] = ["memory", "cpus", "pids", "workdir", "env", "label", "mount"];

/// Reads the flags.
pub(super) fn new_sandbox(args: &CreateArgs) -> NewSandbox {
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

/// Calls what was wrong by its flag, as it stands on the command line.
pub(super) fn in_flags(mut failure: Failure) -> Failure {
    let subject = failure.message.split_once(": ").map(|(subject, _)| subject);
    if subject.is_some_and(|subject| FLAGS.contains(&subject)) {
        failure.message.insert_str(0, "--");
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::FailureKind;

    #[test]
    fn only_flags_are_called_flags() {
        let told = |message: &str| in_flags(Failure::new(FailureKind::Invalid, message)).message;
        assert_eq!(told("cpus: 0 is too few"), "--cpus: 0 is too few");
        assert_eq!(told("the engine: is away"), "the engine: is away");
    }
}
