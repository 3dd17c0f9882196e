//! Which capabilities a container was given.

use bollard::models::HostConfig;

use crate::engine::posture::CAPABILITIES;

/// What Docker grants when nothing is dropped.
const DOCKER_DEFAULT: [&str; 14] = [
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "NET_BIND_SERVICE",
    "NET_RAW",
    "SYS_CHROOT",
    "MKNOD",
    "AUDIT_WRITE",
    "SETFCAP",
];

/// Works out the capabilities that a configuration grants.
pub(super) fn configured(config: &HostConfig) -> Vec<String> {
    let bare = |names: &Option<Vec<String>>| -> Vec<String> {
        let names = names.iter().flatten();
        names
            .map(|name| name.trim_start_matches("CAP_").to_uppercase())
            .collect()
    };
    if config.privileged == Some(true) {
        return CAPABILITIES.map(str::to_owned).to_vec();
    }
    let (added, dropped) = (bare(&config.cap_add), bare(&config.cap_drop));
    let all = |names: &[String]| names.iter().any(|name| name == "ALL");
    let mut caps: Vec<String> = if all(&added) {
        CAPABILITIES.map(str::to_owned).to_vec()
    } else {
        DOCKER_DEFAULT.map(str::to_owned).to_vec()
    };
    if all(&dropped) {
        caps.clear();
    }
    caps.retain(|cap| !dropped.contains(cap));
    caps.extend(added.into_iter().filter(|cap| cap != "ALL"));
    caps.sort();
    caps.dedup();
    caps
}
