//! Files that are no TOML or do not fit the settings, with what is said of them.

use super::*;

#[test]
fn bad_files_are_explained() {
    let cases = [
        (
            "\n[sandbox]\nmemry_limit = \"1g\"",
            "config.toml:3: unknown key `sandbox.memry_limit`; did you mean `memory_limit`?",
        ),
        (
            "[sandbx]\nimage = \"x\"",
            "config.toml:1: unknown key `sandbx`; did you mean `sandbox`?",
        ),
        (
            "# a\nmemory_limit = \"1g\"",
            "config.toml:2: unknown key `memory_limit`; `memory_limit` belongs in `[sandbox]`",
        ),
        (
            "[code]\nlanguage = 1",
            "config.toml:2: unknown key `code.language`; use one of: timeout",
        ),
        (
            "[profiles.big]\ncpulimit = 1",
            "config.toml:2: unknown key `profiles.big.cpulimit`; did you mean `cpu_limit`?",
        ),
        (
            "\"a\\u001bb\" = 1",
            "config.toml:1: unknown key `\"a\\u{1b}b\"`; use one of: engine, docker, sandbox, manager, code, deps, output, adopt, guards, store, ui, log, keys, profiles, languages",
        ),
        (
            "sandbox.imge = 'x'",
            "config.toml:1: unknown key `sandbox.imge`; did you mean `image`?",
        ),
        (
            "sandbox = { user = '1', usr = '2' }",
            "config.toml:1: unknown key `sandbox.usr`; did you mean `user`?",
        ),
        (
            "[manager]\nidle_timeout = \"1h\"",
            "config.toml:2: `manager.idle_timeout`: expected a whole number, 0 or more, found string \"1h\"",
        ),
        (
            "[code]\n\ntimeout = -1",
            "config.toml:3: `code.timeout`: expected a whole number, 0 or more, found integer `-1`",
        ),
        (
            "[sandbox]\nnetwork_enabled = 'yes'",
            "config.toml:2: `sandbox.network_enabled`: expected true or false, found string \"yes\"",
        ),
        (
            "[sandbox]\nmemory_limit = 512",
            "config.toml:2: `sandbox.memory_limit`: expected a text in quotes, found integer `512`",
        ),
        (
            "[sandbox]\nenv = { PORT = 80 }",
            "config.toml:2: `sandbox.env.PORT`: expected a text in quotes, found integer `80`",
        ),
        (
            "[sandbox]\nmounts = 'x'",
            "config.toml:2: `sandbox.mounts`: expected a list in [ ], found string \"x\"",
        ),
        (
            "sandbox = 5",
            "config.toml:1: `sandbox`: expected a table, found integer `5`",
        ),
        (
            "[[sandbox]]",
            "config.toml:1: `sandbox`: expected a table, found a list",
        ),
        (
            "\ndocker = ['unix:///x']",
            "config.toml:2: `docker`: expected a table, found a list",
        ),
        (
            "[profiles]\nbig = ['alpine']",
            "config.toml:2: `profiles.big`: expected a table, found a list",
        ),
        (
            "profiles = []",
            "config.toml:1: `profiles`: expected a table, found a list",
        ),
        (
            "code.timeout = 1.5",
            "config.toml:1: `code.timeout`: expected a whole number, 0 or more, found floating point `1.5`",
        ),
        (
            "\n\n[sandbox]\ncpu_limit = '1'",
            "config.toml:4: `sandbox.cpu_limit`: expected a number, found string \"1\"",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(message(text, &[]), expected, "{text}");
    }
}

#[test]
fn files_that_are_no_toml_are_explained() {
    let cases = [
        (
            "engine =\n",
            "config.toml:1: string values must be quoted, expected literal string",
        ),
        (
            "a = 1\n[sandbox\n",
            "config.toml:2: unclosed table, expected `]`",
        ),
        (
            "\r\n\r\nengine docker\r\n",
            "config.toml:3: key with no value, expected `=`",
        ),
        ("engine = ''\nengine = ''", "config.toml:2: duplicate key"),
    ];
    for (text, expected) in cases {
        assert_eq!(message(text, &[]), expected, "{text}");
    }
}
