//! Looks at local sandboxes: the files they changed, the images in use, and a sandbox to try the engine with.

use std::collections::BTreeMap;

use super::lifecycle::SandboxState;
use super::record::MountRecord;
use super::state_dir::StateDir;
use crate::domain::{
    Changes, HOST_IMAGE, Image, Limits, Network, Owner, Phase, SandboxId, SandboxName, SandboxPath,
    SandboxSpec,
};
use crate::engine::Result;
use crate::engine::guest::{Guests, random_word};

/// Tells what changed; only the work directory and `/tmp` can.
pub(super) async fn changes(
    state: &SandboxState,
    guests: &Guests,
    id: &SandboxId,
) -> Result<Changes> {
    let asked = &state.record.asked;
    let work_dir = asked.work_dir();
    let mut changes = Changes::default();
    match state.phase {
        Phase::Running | Phase::Paused => guests.add_changes(id, &work_dir, &mut changes).await?,
        phase => changes.gaps.push(format!(
            "{work_dir} and /tmp cannot be looked at while the sandbox is {phase}"
        )),
    }
    let host = asked.mounts.iter().map(MountRecord::target);
    let host = host.filter(|target| *target != work_dir);
    changes.gaps.extend(
        host.map(|target| format!("{target} is a folder of the host, which is not looked at")),
    );
    Ok(changes.tidied())
}

/// Lists the host and every folder that a sandbox was made from.
pub(super) fn images(state_dir: &StateDir) -> Vec<Image> {
    let used = state_dir
        .records()
        .into_iter()
        .map(|record| record.asked.image);
    let mut names: Vec<String> = used.chain([HOST_IMAGE.to_owned()]).collect();
    names.sort();
    names.dedup();
    let image = |name: String| Image {
        id: name.clone(),
        name,
        size_bytes: None,
        created_at: None,
    };
    names.into_iter().map(image).collect()
}

/// Describes a small sandbox under a name that nobody has.
pub(super) fn trial_spec() -> Option<SandboxSpec> {
    let word: String = random_word().chars().take(12).collect();
    Some(SandboxSpec {
        token: random_word(),
        name: SandboxName::parse(&format!("doctor-{word}")).ok()?,
        image: HOST_IMAGE.to_owned(),
        profile: String::new(),
        limits: Limits::default(),
        network: Network::None,
        env: Vec::new(),
        mounts: Vec::new(),
        packages: None,
        work_dir: SandboxPath::parse(b"/workspace").ok()?,
        user: "65534:65534".to_owned(),
        tmp_bytes: 1 << 20,
        labels: BTreeMap::new(),
        owner: Owner {
            host: String::new(),
            pid: std::process::id(),
            started: 0,
            user: None,
            kind: crate::domain::OwnerKind::Cli,
        },
    })
}
