//! Settings from end to end: files, variables and flags in, values or messages out.

mod example;
mod files;
mod profiles;
mod sources;
mod values;

use super::*;
use crate::code::{Policy, Severity};
use crate::domain::{GuardAction, GuardRule};
use crate::protocol::FailureKind;

const MIB: u64 = 1024 * 1024;

/// Resolves a file's text and variables without touching any disk.
fn resolve(text: &str, variables: &[(&str, &str)]) -> Result<Config, Failure> {
    let layers = Layers {
        file: Some(("config.toml".into(), Document::parse("config.toml", text)?)),
        environment: EnvironmentLayer::read(&Environment::new(variables.iter().copied(), 7))?,
        engine: None,
        home: Some("/home/me".into()),
        cache_dir: "/home/me/.cache/sandtop".into(),
    };
    layers.resolve()
}

fn message(text: &str, variables: &[(&str, &str)]) -> String {
    let failure = resolve(text, variables).expect_err(text);
    assert_eq!(failure.kind, FailureKind::Invalid);
    failure.message
}

fn options(config: Option<PathBuf>, variables: &[(&str, &str)]) -> LoadOptions {
    LoadOptions {
        config,
        engine: None,
        environment: Environment::new(variables.iter().copied(), 7),
    }
}

fn default_profile() -> Profile {
    Profile {
        image: "python:3.12-slim".into(),
        work_dir: SandboxPath::parse(b"/workspace").expect("a path"),
        limits: Limits {
            memory_bytes: Some(512 * MIB),
            cpus: Some(1.0),
            pids: Some(256),
            timeout_s: Some(300),
        },
        network: Network::None,
        env: Vec::new(),
        mounts: Vec::new(),
        user: "65534:65534".into(),
        tmp_bytes: 64 * MIB,
        size_hints: true,
        checks: CheckSettings {
            policy: Policy::Warn,
            level: Severity::Danger,
        },
    }
}

fn guard(level: f64, seconds: u64) -> GuardRule {
    GuardRule {
        level,
        time: Duration::from_secs(seconds),
    }
}

fn defaults() -> Config {
    Config {
        engine: None,
        docker_host: None,
        sandbox: default_profile(),
        profiles: BTreeMap::new(),
        manager: ManagerSettings {
            max_sandboxes: 100,
            max_detached: 32,
            idle_timeout: Some(Duration::from_hours(1)),
            orphan_timeout: Duration::from_mins(5),
            idle_action: Grace::Remove,
            cleanup_interval: Duration::from_mins(5),
            copy_limit: Some(8 << 30),
        },
        languages: Languages::default(),
        code_timeout: Duration::from_secs(30),
        deps: DepsSettings {
            ttl: Duration::from_hours(24),
            cache_dir: "/home/me/.cache/sandtop".into(),
            size_limit: 4096 * MIB,
            network: None,
            index: IndexSettings::default(),
        },
        json_limit: 8 * MIB,
        adopt: AdoptRules {
            names: vec!["sandbox_*".into()],
            labels: vec!["com.linx.managed=true".into()],
            images: Vec::new(),
            reap: false,
        },
        guards: GuardRules {
            memory: guard(90.0, 10),
            cpu: guard(95.0, 300),
            pids: guard(90.0, 5),
            output: guard(1_048_576.0, 10),
            disk: guard(4_294_967_296.0, 5),
            bell: false,
            action: GuardAction::Mark,
        },
        retention: Retention::default(),
        ui: UiSettings {
            theme: ThemeChoice::Auto,
            ascii: AsciiChoice::Auto,
            mouse: true,
            remember: true,
            keys: BTreeMap::new(),
        },
        log_level: "info".into(),
        source: Some("config.toml".into()),
    }
}
