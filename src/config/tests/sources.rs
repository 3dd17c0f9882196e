//! Which source wins, and what is said of files that cannot be read.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// A variable, a value, and the change it makes.
type Change = (&'static str, &'static str, fn(&mut Config));

const CHANGES: [Change; 16] = [
    ("SANDTOP_ENGINE", "demo", |c| {
        c.engine = Some(EngineKind::Demo);
    }),
    ("SANDTOP_LOG", "DEBUG", |c| c.log_level = "debug".into()),
    ("SANDTOP_IMAGE", "alpine", |c| {
        c.sandbox.image = "alpine".into();
    }),
    ("SANDTOP_MAX_SANDBOXES", "3", |c| {
        c.manager.max_sandboxes = 3;
    }),
    ("DOCKER_HOST", "tcp://h:1", |c| {
        c.docker_host = Some("tcp://h:1".into());
    }),
    ("CODE_EXECUTION_TIMEOUT", " 5 ", |c| {
        c.code_timeout = Duration::from_secs(5);
    }),
    ("CODE_EXECUTION_MEMORY_MB", "64", |c| {
        c.sandbox.limits.memory_bytes = Some(64 * MIB);
    }),
    ("CODE_EXECUTION_CPU_CORES", "0.5", |c| {
        c.sandbox.limits.cpus = Some(0.5);
    }),
    ("DEPENDENCY_CACHE_DIR", "~/d", |c| {
        c.deps.cache_dir = "/home/me/d".into();
    }),
    ("DEPENDENCY_CACHE_TTL_HOURS", "2", |c| {
        c.deps.ttl = Duration::from_hours(2);
    }),
    ("PIP_INDEX_URL", "http://i/simple", |c| {
        c.deps.index.index_url = Some("http://i/simple".into());
    }),
    ("PIP_EXTRA_INDEX_URL", "http://e", |c| {
        c.deps.index.extra_index_url = Some("http://e".into());
    }),
    ("PIP_TRUSTED_HOST", "i", |c| {
        c.deps.index.trusted_host = Some("i".into());
    }),
    ("PIP_CERT", "/ca.pem", |c| {
        c.deps.index.ca_file = Some("/ca.pem".into());
    }),
    ("NPM_CONFIG_REGISTRY", "http://n", |c| {
        c.deps.index.npm_registry = Some("http://n".into());
    }),
    ("HTTPS_PROXY", "http://p", |c| {
        c.deps.index.proxy = Some("http://p".into());
    }),
];

#[test]
fn every_variable_wins_over_the_file() {
    let other = "engine = 'docker'\ndocker.host = 'unix:///x'\nsandbox.image = 'i'\n\
                 sandbox.memory_limit = '7m'\nsandbox.cpu_limit = 2\nmanager.max_sandboxes = 9\n\
                 code.timeout = 9\ndeps.ttl_hours = 9\ndeps.cache_dir = '/c'\nlog.level = 'warn'";
    for (name, value, change) in CHANGES {
        for text in ["", other] {
            let mut expected = resolve(text, &[]).expect("valid");
            assert_eq!(resolve(text, &[(name, "")]), Ok(expected.clone()), "{name}");
            change(&mut expected);
            assert_eq!(resolve(text, &[(name, value)]), Ok(expected), "{name}");
        }
    }
}

#[test]
fn flags_win_over_all() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("c.toml");
    fs::write(&file, "engine = 'docker'").expect("written");
    let mut options = options(Some(file.clone()), &[("SANDTOP_ENGINE", "docker")]);
    options.engine = Some(EngineKind::Demo);
    let config = Config::load(&options).expect("valid");
    assert_eq!(
        (config.engine, config.source),
        (Some(EngineKind::Demo), Some(file))
    );
}

#[test]
fn the_file_is_the_flags_then_the_variables_then_the_standard_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let home = dir.path().to_str().expect("text");
    let standard = dir.path().join(".config/sandtop/config.toml");
    let none = Config::load(&options(None, &[("HOME", home)])).expect("valid");
    assert_eq!((none.source, none.log_level.as_str()), (None, "info"));
    fs::create_dir_all(standard.parent().expect("a folder")).expect("made");
    let write = |path: &PathBuf, level| fs::write(path, format!("log.level = '{level}'"));
    let [by_variable, by_flag] = ["v.toml", "f.toml"].map(|name| dir.path().join(name));
    write(&standard, "error").expect("written");
    write(&by_variable, "warn").expect("written");
    write(&by_flag, "trace").expect("written");
    let variables = [
        ("HOME", home),
        ("SANDTOP_CONFIG", by_variable.to_str().expect("text")),
    ];
    let level = |options| Config::load(&options).map(|config| config.log_level);
    assert_eq!(level(options(None, &variables[..1])), Ok("error".into()));
    assert_eq!(level(options(None, &variables)), Ok("warn".into()));
    assert_eq!(
        level(options(Some(by_flag), &variables)),
        Ok("trace".into())
    );
    assert_eq!(level(options(None, &[])), Ok("info".into()));
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).expect("written");
        path
    };
    let cases = [
        (
            dir.path().join("no.toml"),
            " cannot be read: there is no such file; --config names it",
        ),
        (
            dir.path().to_owned(),
            " cannot be read: it is a folder, not a file",
        ),
        (
            file("latin", b"# a\n# b\n# \xe9"),
            ":3: the file is not UTF-8 text",
        ),
        (
            PathBuf::from("/dev/zero"),
            " cannot be read: it is larger than 1 MiB",
        ),
    ];
    for (path, expected) in cases {
        let failure = Config::load(&options(Some(path.clone()), &[])).expect_err(expected);
        assert_eq!(failure.message, format!("{}{expected}", path.display()));
        assert_eq!(failure.kind, FailureKind::Invalid);
    }
    let missing = [("SANDTOP_CONFIG", "/no/such\u{1b}.toml")];
    let failure = Config::load(&options(None, &missing)).expect_err("missing");
    let expected =
        "/no/such\\x1b.toml cannot be read: there is no such file; SANDTOP_CONFIG names it";
    assert_eq!(failure.message, expected);
}

#[test]
fn files_without_permission_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("secret.toml");
    fs::write(&path, "").expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("set");
    if fs::read(&path).is_ok() {
        return; // The superuser reads everything.
    }
    let failure = Config::load(&options(Some(path.clone()), &[])).expect_err("locked");
    assert_eq!(
        failure.message,
        format!("{} cannot be read: permission denied", path.display())
    );
}
