//! The JSON that scripts rely on, field by field.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use crate::domain::{
    Details, EngineEvent, FileEntry, FileKind, ReapStatus, Sample, Sandbox, SandboxPath, Usage,
};

/// Writes a time.
pub(super) fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Shapes a sandbox; how it stands is left open while that is not known.
pub(super) fn sandbox(sandbox: &Sandbox, reap_status: Option<&ReapStatus>) -> Value {
    let idle = reap_status.and_then(ReapStatus::idle);
    let facts = reap_status.map(|reap_status| reap_status.facts);
    json!({
        "name": sandbox.name,
        "id": sandbox.reference.id.as_str(),
        "host": sandbox.reference.host,
        "engine": sandbox.engine,
        "image": sandbox.image,
        "phase": sandbox.phase,
        "created_at": time(sandbox.created_at),
        "started_at": sandbox.started_at.map(time),
        "idle_s": idle.map_or(0, |idle| idle.as_secs()),
        "reap_in_s": reap_status.and_then(ReapStatus::reap_in).map(|left| left.as_secs()),
        "busy": facts.map(|facts| facts.usage == Usage::Busy),
        "owned": sandbox.owner.is_some(),
        "pinned": facts.is_some_and(|facts| facts.pinned),
        "orphan": reap_status.is_some_and(ReapStatus::is_orphan),
        "last_end": reap_status.and_then(|reap_status| reap_status.last_end.as_ref()),
        "pids_refused_at": reap_status.and_then(|reap_status| reap_status.pids_refused_at).map(time),
        "death": reap_status.and_then(|reap_status| reap_status.death.as_ref()),
        "owner": sandbox.owner,
        "limits": sandbox.limits,
        "network": sandbox.network,
        "work_dir": sandbox.work_dir,
        "labels": sandbox.labels,
    })
}

/// Shapes everything about a sandbox.
pub(super) fn details(details: &Details, reap_status: Option<&ReapStatus>) -> Value {
    let mut value = sandbox(&details.sandbox, reap_status);
    if let Value::Object(fields) = &mut value {
        fields.insert("posture".into(), json!(details.posture));
        fields.insert("env".into(), json!(details.env_names));
        let known = reap_status.and_then(|reap_status| reap_status.death.as_ref());
        match known.or(details.death.as_ref()) {
            Some(death) => fields.insert("death".into(), json!(death)),
            None => fields.remove("death"),
        };
    }
    value
}

/// Shapes live stats.
pub(super) fn sample(name: &str, sample: &Sample) -> Value {
    json!({
        "name": name,
        "at": time(sample.at),
        "cpu_percent": (sample.cpu_percent * 100.0).round() / 100.0,
        "cpus_limit": sample.cpus_limit,
        "memory_bytes": sample.memory_bytes,
        "memory_limit_bytes": sample.memory_limit_bytes,
        "pids": sample.pids,
        "pids_refused": sample.pids_refused,
        "net_rx_bytes": sample.net_rx_bytes,
        "net_tx_bytes": sample.net_tx_bytes,
        "disk_bytes": sample.disk_bytes,
    })
}

/// Shapes something that happened.
pub(super) fn event(event: &EngineEvent) -> Value {
    let mut value = json!(event.what);
    if let Value::Object(fields) = &mut value {
        fields.insert("at".into(), json!(time(event.at)));
        fields.insert("name".into(), json!(event.name));
        fields.insert("host".into(), json!(event.sandbox.host));
        fields.insert("id".into(), json!(event.sandbox.id.as_str()));
    }
    value
}

/// Shapes a file.
pub(super) fn file(entry: &FileEntry, path: &SandboxPath) -> Value {
    let mut fields = Map::new();
    put_text(&mut fields, "name", &entry.name);
    put_text(&mut fields, "path", path.as_bytes());
    fields.insert("kind".into(), json!(entry.kind.word()));
    if let FileKind::Symlink { target } = &entry.kind {
        put_text(&mut fields, "target", target);
    }
    fields.insert("size".into(), json!(entry.size));
    fields.insert("mode".into(), json!(format!("{:04o}", entry.mode)));
    fields.insert("uid".into(), json!(entry.uid));
    fields.insert("gid".into(), json!(entry.gid));
    fields.insert("modified_at".into(), json!(time(entry.modified_at)));
    Value::Object(fields)
}

/// Adds bytes as text; if they are not valid UTF-8, also exactly, as `KEY_base64`.
pub(super) fn put_text(fields: &mut Map<String, Value>, key: &str, bytes: &[u8]) {
    fields.insert(key.into(), json!(String::from_utf8_lossy(bytes)));
    if std::str::from_utf8(bytes).is_err() {
        fields.insert(format!("{key}_base64"), json!(STANDARD.encode(bytes)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_also_given_exactly() {
        let mut fields = Map::new();
        put_text(&mut fields, "stdout", b"a\xffb");
        put_text(&mut fields, "stderr", "ü".as_bytes());
        assert_eq!(
            Value::Object(fields),
            json!({"stdout": "a\u{fffd}b", "stdout_base64": "Yf9i", "stderr": "ü"})
        );
    }
}
