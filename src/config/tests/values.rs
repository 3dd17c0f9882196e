//! Values that are refused, with what is said of them.

use super::*;

/// What stands in the file, the key that is named, and what is said of it.
const BAD_VALUES: &str = r#"
engine = 'dokcer' => engine => `dokcer` is not an engine; did you mean `docker`?
engine = 'lxd' => engine => `lxd` is not an engine; use one of: docker, local, demo
docker.host = 'a b' => docker.host => `a b` is not an address; use one such as unix:///var/run/docker.sock
sandbox.image = '' => sandbox.image => `` is not an image; name one, such as python:3.12-slim
sandbox.memory_limit = '512x' => sandbox.memory_limit => `512x` is not a size; use a number with k, m or g, such as 512m
sandbox.memory_limit = '5m' => sandbox.memory_limit => `5m` is too little; use 6m or more
sandbox.memory_limit = '65t' => sandbox.memory_limit => `65t` is too much; use 64t or less
sandbox.cpu_limit = 0 => sandbox.cpu_limit => `0` is not a number of processors; use one above 0 and up to 512, such as 1.5
sandbox.cpu_limit = nan => sandbox.cpu_limit => `NaN` is not a number of processors; use one above 0 and up to 512, such as 1.5
sandbox.cpu_limit = inf => sandbox.cpu_limit => `inf` is not a number of processors; use one above 0 and up to 512, such as 1.5
sandbox.pids_limit = 7 => sandbox.pids_limit => `7` is too few; use 8 or more, or 0 for no limit
sandbox.pids_limit = 5000000 => sandbox.pids_limit => `5000000` is too many; use 4194304 or fewer
sandbox.timeout = 9223372036854775807 => sandbox.timeout => `9223372036854775807` is too long; use 31536000 or less, a year
sandbox.user = '1 2' => sandbox.user => `1 2` is not a user; use a number, a name or both with a group, such as 65534:65534
sandbox.tmp_size = '0' => sandbox.tmp_size => `0` is too little; use 64k or more
sandbox.env.1A = '' => sandbox.env.1A => a variable is named with letters, digits and `_`, not starting with a digit
sandbox.env.A = "\u0000" => sandbox.env.A => the value holds a NUL character, which no variable can hold
manager.max_sandboxes = 0 => manager.max_sandboxes => `0` is too few; use 1 or more
manager.cleanup_interval = 0 => manager.cleanup_interval => `0` is too short; use 1 or more seconds
guards.memory_percent = 101 => guards.memory_percent => `101` is too much; use 100 or less, or 0 for none
guards.cpu_seconds = 0 => guards.cpu_seconds => `0` is too short; use 1 or more seconds
guards.action = 'kill' => guards.action => `kill` is neither mark nor pause
code.timeout = 0 => code.timeout => `0` is too short; use 1 or more seconds
deps.ttl_hours = 87601 => deps.ttl_hours => `87601` is too long; use 87600 or less, ten years
deps.cache_dir = 'x' => deps.cache_dir => `x` is not an absolute path; start it with `/` or `~/`
output.json_limit = '2g' => output.json_limit => `2g` is too much; use 1g or less
log.level = 'infos' => log.level => `infos` is not a level; did you mean `info`?
ui.theme = 'drak' => ui.theme => `drak` is not a theme; did you mean `dark`?
ui.theme = 'pink' => ui.theme => `pink` is not a theme; use one of: auto, dark, light, contrast, mono
ui.ascii = 'yes' => ui.ascii => `yes` is no answer here; use one of: auto, always, never
ui.mouse = 'on' => ui.mouse => expected true or false, found string "on"
keys.flies.open = 'x' => keys.flies => there are no keys for this; did you mean `files`?
keys.files.opne = 'x' => keys.files.opne => there is no such action; did you mean `open`?
keys.files.open = 'xx' => keys.files.open => `xx` is no key; write one such as "c", "ctrl-r", "f9", "pageup" or "g g"
keys.files.open = 3 => keys.files.open => expected a key in quotes or a list of keys, found integer `3`
keys.files = { open = 'x', rename = 'x' } => keys.files.rename => `x` is given to `open` too
profiles.default.timeout = 1 => profiles.default => this profile is `[sandbox]` itself; set its keys there
profiles.'a b'.timeout = 1 => profiles."a b" => a profile is named with 1 to 63 letters, digits, `-`, `_` or `.`
profiles.big.memory_limit = '1' => profiles.big.memory_limit => `1` is too little; use 6m or more
"#;

#[test]
fn bad_values_are_explained() {
    for row in BAD_VALUES.trim().lines() {
        let cells: Vec<&str> = row.split(" => ").collect();
        let [text, key, expected] = *cells else {
            unreachable!("{row}")
        };
        let text = format!("# a comment\n\n{text}");
        let expected = format!("config.toml:3: `{key}`: {expected}");
        assert_eq!(message(&text, &[]), expected);
    }
}

#[test]
fn bad_mounts_are_found_by_their_own_line() {
    let bad = "[sandbox]\nmounts = [\n  '/srv:/mnt/a',\n  '/proc:/mnt/b',\n]";
    assert_eq!(
        message(bad, &[]),
        "config.toml:4: `sandbox.mounts[1]`: mounting /proc would hand the host to the sandbox; \
         mount a folder of your own instead"
    );
    let twice = "[sandbox]\nmounts = ['/srv:/mnt/a', '/opt:/mnt/a:ro']";
    assert_eq!(
        message(twice, &[]),
        "config.toml:2: `sandbox.mounts[1]`: something is mounted on /mnt/a already"
    );
}

#[test]
fn work_directories_must_not_hide_the_sandbox() {
    for bad in [
        "/",
        "//",
        "/tmp",
        "/tmp/x",
        "/proc/self",
        "/dev",
        "/sys",
        "/usr/",
        "/etc",
        "/run/sandtop",
    ] {
        let text = format!("sandbox.work_dir = '{bad}'");
        assert!(
            message(&text, &[]).contains("is needed by the sandbox itself"),
            "{bad}"
        );
    }
    let relative =
        "config.toml:1: `sandbox.work_dir`: the path `x` is not absolute; start it with `/`";
    assert_eq!(message("sandbox.work_dir = 'x'", &[]), relative);
    for good in [
        "/work",
        "/home/me",
        "/usr/src/app",
        "/var/lib/x",
        "/tmpfiles",
    ] {
        let text = format!("sandbox.work_dir = '{good}'");
        assert!(resolve(&text, &[]).is_ok(), "{good}");
    }
}

#[test]
fn users_are_numbers_or_names() {
    for good in [
        "0",
        "65534",
        "1000:1000",
        "nobody",
        "www-data:www-data",
        "_x",
        "1:staff",
    ] {
        assert!(
            resolve(&format!("sandbox.user = '{good}'"), &[]).is_ok(),
            "{good}"
        );
    }
    for bad in [
        "",
        ":",
        "1:",
        ":1",
        "1:2:3",
        "-1",
        "+1",
        "4294967295",
        "1a",
        "-x",
        "a/b",
        "é",
    ] {
        assert!(
            resolve(&format!("sandbox.user = '{bad}'"), &[]).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn zero_lifts_limits() {
    let text = "[sandbox]\npids_limit = 0\ntimeout = 0\n[manager]\nidle_timeout = 0";
    let config = resolve(text, &[]).expect("valid");
    assert_eq!(config.sandbox.limits.pids, None);
    assert_eq!(config.sandbox.limits.timeout_s, None);
    assert_eq!(config.manager.idle_timeout, None);
}

#[test]
fn bad_variables_are_named() {
    let cases = [
        (
            "SANDTOP_ENGINE",
            "dcoker",
            "`dcoker` is not an engine; did you mean `docker`?",
        ),
        (
            "SANDTOP_LOG",
            "loud",
            "`loud` is not a level; use one of: off, error, warn, info, debug, trace",
        ),
        (
            "SANDTOP_IMAGE",
            "a b",
            "`a b` is not an image; name one, such as python:3.12-slim",
        ),
        (
            "SANDTOP_MAX_SANDBOXES",
            "0",
            "`0` is too few; use 1 or more",
        ),
        (
            "SANDTOP_MAX_SANDBOXES",
            "many",
            "`many` is not a whole number",
        ),
        (
            "DOCKER_HOST",
            "a\u{1b}b",
            "`a\\x1bb` is not an address; use one such as unix:///var/run/docker.sock",
        ),
        (
            "CODE_EXECUTION_TIMEOUT",
            "1.5",
            "`1.5` is not a whole number",
        ),
        (
            "CODE_EXECUTION_MEMORY_MB",
            "-1",
            "`-1` is not a whole number",
        ),
        (
            "CODE_EXECUTION_MEMORY_MB",
            "1",
            "`1m` is too little; use 6m or more",
        ),
        ("CODE_EXECUTION_CPU_CORES", "two", "`two` is not a number"),
        (
            "DEPENDENCY_CACHE_DIR",
            "here",
            "`here` is not an absolute path; start it with `/` or `~/`",
        ),
        (
            "DEPENDENCY_CACHE_TTL_HOURS",
            "x",
            "`x` is not a whole number",
        ),
    ];
    for (name, value, expected) in cases {
        assert_eq!(message("", &[(name, value)]), format!("{name}: {expected}"));
    }
}
