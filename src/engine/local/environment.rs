//! Variables of every process in a sandbox: ours, then those of the image, the sandbox and the command; an image has no say
//! over a few of ours.

use super::record::SandboxRecord;

const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Writes the whole environment of a command; a name given twice has its last value.
pub(super) fn of_exec(record: &SandboxRecord, given: &[String], terminal: bool) -> Vec<String> {
    let asked = &record.asked;
    let home = asked.work_dir().to_string();
    let mut all = vec![
        ("PATH", SEARCH_PATH.to_owned()),
        ("USER", "sandbox".to_owned()),
        ("HOSTNAME", asked.name.clone()),
        ("LANG", "C.UTF-8".to_owned()),
    ];
    let image = record.unpacked.iter().flat_map(|image| &image.env);
    all.extend(image.map(|(key, value)| (key.as_str(), value.clone())));
    all.push(("HOME", home));
    all.push(("PYTHONUNBUFFERED", "1".to_owned()));
    if terminal {
        all.push(("TERM", "xterm-256color".to_owned()));
    }
    let sandbox = asked
        .env
        .iter()
        .map(|(key, value)| (key.as_str(), value.clone()));
    let command = given.iter().filter_map(|pair| pair.split_once('='));
    all.extend(sandbox);
    all.extend(command.map(|(key, value)| (key, value.to_owned())));
    let mut variables: Vec<(&str, String)> = Vec::new();
    for (key, value) in all {
        variables.retain(|(known, _)| *known != key);
        variables.push((key, value));
    }
    variables
        .into_iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect()
}
