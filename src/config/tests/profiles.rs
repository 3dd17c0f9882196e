//! Profiles, and the settings as they are shown.

use super::*;

#[test]
fn profiles_vary_the_sandbox() {
    let text = "[sandbox]\nimage = 'i'\nenv = { A = '1', B = '2' }\nmounts = ['/srv:/mnt/a']\n\
                [profiles.big]\nmemory_limit = '2g'\nenv = { B = '3', C = '4' }\nmounts = []\n[profiles.same]";
    let config = resolve(text, &[("CODE_EXECUTION_MEMORY_MB", "64")]).expect("valid");
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let (name, default) = config.profile(None).expect("there");
    assert_eq!(
        (name.as_str(), default.limits.memory_bytes),
        ("default", Some(64 * MIB))
    );
    assert_eq!(default.env, [pair("A", "1"), pair("B", "2")]);
    let (_, big) = config.profile(Some("big")).expect("there");
    assert_eq!(
        (big.image.as_str(), big.limits.memory_bytes),
        ("i", Some(2048 * MIB))
    );
    assert_eq!(big.env, [pair("A", "1"), pair("B", "3"), pair("C", "4")]);
    assert_eq!((big.mounts.len(), default.mounts.len()), (0, 1));
    assert_eq!(
        config.profile(Some("same")),
        Ok(("same".into(), &config.sandbox))
    );
    assert_eq!(
        config.profile(Some("default")),
        Ok(("default".into(), &config.sandbox))
    );
}

#[test]
fn unknown_profiles_are_explained() {
    let config = resolve("[profiles.big]\n[profiles.small]", &[]).expect("valid");
    let cases = [
        ("smal", "there is no profile `smal`; did you mean `small`?"),
        ("\u{1b}[2Jqwerty", "there is no profile `\\x1b[2Jqwerty`"),
    ];
    for (name, expected) in cases {
        let failure = config.profile(Some(name)).expect_err(name);
        assert_eq!(failure.message, expected);
        assert_eq!(
            failure.hint.as_deref(),
            Some("profiles there are: default, big, small")
        );
    }
}

#[test]
fn what_is_shown_means_the_same() {
    let text = "engine = 'demo'\n[docker]\nhost = 'unix:///x'\n[sandbox]\nmemory_limit = '7169k'\n\
                pids_limit = 0\ntimeout = 0\nnetwork_enabled = true\nenv = { LANG = 'C' }\n\
                mounts = ['/srv:/mnt/a:ro', '/opt:/mnt/b']\n[manager]\nidle_timeout = 0\n\
                [profiles.big]\ncpu_limit = 2.5\ntmp_size = '65537'\n";
    let config = resolve(text, &[]).expect("valid");
    assert_eq!(
        resolve(&config.to_toml(), &[]),
        Ok(config.clone()),
        "{}",
        config.to_toml()
    );
    assert_eq!(resolve(&defaults().to_toml(), &[]), Ok(defaults()));
}

#[test]
fn secrets_are_not_shown() {
    let names = [
        "API_KEY",
        "GithubToken",
        "my_secret",
        "DB_PASSWORD",
        "AWS_CREDENTIALS",
    ];
    let env = names.map(|name| format!("{name} = 'hush'")).join(", ");
    let text = format!("sandbox.env = {{ {env}, LANG = 'C' }}\n[profiles.p]");
    let shown = resolve(&text, &[]).expect("valid").to_toml();
    assert!(!shown.contains("hush"), "{shown}");
    assert!(
        shown.contains("API_KEY = \"********\"") && shown.contains("LANG = \"C\""),
        "{shown}"
    );
}
