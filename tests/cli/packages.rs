//! Packages: installed by real pip and npm from an index of the test's own, kept, used again, and removed.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::index::Index;
use crate::relay::{NOWHERE, Proxy, Tls};
use crate::support::{Place, Ran, python, until};

/// A place whose package managers know only this index.
fn place(index: &Index) -> Place {
    let place = Place::docker();
    // The test engine has no network of its own; whoever installs borrows the machine's.
    let place = place.configured("[deps]\nnetwork = 'host'\nsize_limit = '5m'\n");
    place
        .with("PIP_INDEX_URL", &index.pip_url())
        .with("NPM_CONFIG_REGISTRY", &index.npm_url())
}

fn ran(place: &Place, language: &str, code: &str, more: &[&str]) -> Ran {
    let image = python();
    let usual = ["run", "--json", "--image", &image, "--lang", language];
    place.feed(code.as_bytes(), &[&usual, more].concat())
}

#[track_caller]
fn run(place: &Place, language: &str, code: &str, more: &[&str]) -> Value {
    ran(place, language, code, more).ok().json()
}

/// The volumes of this test, by name.
fn volumes(place: &Place) -> Vec<String> {
    let label = format!("label=sandtop.scope={}", place.scope());
    let found = place.docker_says(&["volume", "ls", "-q", "--filter", &label]);
    found.lines().map(str::to_owned).collect()
}

fn sandboxes(place: &Place) -> Vec<String> {
    let label = format!("label=sandtop.scope={}", place.scope());
    let found = place.docker_says(&["ps", "-aq", "--filter", &label]);
    found.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn the_second_run_needs_no_index_and_no_run_has_a_network() {
    let mut index = Index::open();
    let place = place(&index);
    index.wheel("bees", "1.0", "COUNT = 7\n", 0);
    let code = format!(
        "import bees, os, socket\nprint(bees.COUNT, os.listdir('/sys/class/net'))\n\
         try:\n    socket.create_connection(('127.0.0.1', {}), 2)\n    print('reached')\n\
         except OSError as error:\n    print('refused')\n\
         try:\n    open(os.path.dirname(bees.__file__) + '/x', 'w')\nexcept OSError as error:\n    print(error.strerror)\n",
        index.port()
    );
    let expected = "7 ['lo']\nrefused\nRead-only file system\n";
    let first = run(&place, "python", &code, &[]);
    assert_eq!(first["stdout"], expected, "{first}");
    assert_eq!(
        (&first["deps_cache"], &first["deps"]),
        (&json!("miss"), &json!(["bees"]))
    );
    let steps = first["steps_ms"].as_object().unwrap();
    for step in ["check", "packages", "create", "write"] {
        assert!(steps.contains_key(step), "{step} in {steps:?}");
    }
    index.close();
    let second = run(&place, "python", &code, &[]);
    assert_eq!(
        (&second["deps_cache"], &second["stdout"]),
        (&json!("hit"), &json!(expected))
    );
    assert_eq!(
        sandboxes(&place),
        Vec::<String>::new(),
        "only packages stay"
    );
    let list = place.json_ok(&["cache", "ls"]);
    let one = &list[0];
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&one["packages"], &one["hits"], &one["language"]),
        (&json!(["bees"]), &json!(1), &json!("python"))
    );
    assert!(one["size_bytes"].as_u64().unwrap() > 0);
    assert_eq!(one["key"].as_str().map(str::len), Some(64));
    let text = place.run(&["cache", "ls"]).ok();
    assert!(text.text().contains("bees"), "{}", text.text());
    // Another set of packages is another key.
    let other = ran(&place, "python", &code, &["--deps", "bees==1.0"]).exits(125);
    assert_eq!(other.json()["error"]["kind"], "packages");
}

/// Debian's npm brings `semver` for `require`, at a place where `import` does not look.
#[test]
#[ignore = "needs Docker: tests/run"]
fn what_an_image_has_for_require_does_not_count_for_import() {
    let mut index = Index::open();
    let place = place(&index);
    let own = "module.exports = { valid: () => 'from the index' };\n";
    index.npm("semver", own);
    let old = "console.log(require('semver').valid('1.2.3'))";
    let first = run(&place, "javascript", old, &[]);
    assert_eq!(first["stdout"], "1.2.3\n", "{first}");
    assert_eq!(first["deps"], json!(["semver"]));
    assert_eq!(
        place.json_ok(&["cache", "ls"]),
        json!([]),
        "nothing was installed"
    );
    assert_eq!(volumes(&place), Vec::<String>::new());
    let new = "import semver from 'semver';\nconsole.log(semver.valid())";
    let value = run(&place, "javascript", new, &[]);
    assert_eq!(value["stdout"], "from the index\n", "{value}");
    index.close();
    for code in [new, old] {
        let again = run(&place, "javascript", code, &[]);
        assert_eq!(again["exit_code"], 0, "{again}");
    }
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn programs_of_node_find_their_packages_whatever_way_they_load_them() {
    let mut index = Index::open();
    let place = place(&index);
    index.npm("sandtop-ants", "module.exports = { legs: 6 };\n");
    let old = "const ants = require('sandtop-ants');\nconsole.log(ants.legs)";
    let new = "import ants from 'sandtop-ants';\nconsole.log(ants.legs)";
    let first = run(&place, "javascript", old, &[]);
    assert_eq!(
        (&first["deps_cache"], &first["stdout"]),
        (&json!("miss"), &json!("6\n"))
    );
    index.close();
    for code in [old, new] {
        let again = run(&place, "javascript", code, &[]);
        assert_eq!(
            (&again["deps_cache"], &again["stdout"]),
            (&json!("hit"), &json!("6\n")),
            "{code}"
        );
    }
    // In a sandbox that was made before anybody knew of packages.
    let name = place.sandbox_of(&python(), &[]);
    for code in [new, old, new] {
        let there = place.feed(code.as_bytes(), &["run", "-l", "js", "--sandbox", &name]);
        assert_eq!(there.ok().text(), "6\n", "{code}");
    }
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_sandbox_that_is_there_gets_a_copy_and_its_own_modules_win() {
    let mut index = Index::open();
    let place = place(&index);
    index.wheel("bees", "1.0", "COUNT = 7\n", 0);
    let name = place.sandbox_of(&python(), &[]);
    place
        .feed(b"X = 5\n", &["files", "put", &name, "helper.py"])
        .ok();
    let code = b"import bees, helper\nprint(bees.COUNT, helper.X)";
    let args = ["run", "--json", "-l", "py", "--sandbox", &name];
    let first = place.feed(code, &args).ok().json();
    assert_eq!(
        (&first["stdout"], &first["deps"]),
        (&json!("7 5\n"), &json!(["bees"]))
    );
    assert_eq!(index.asked_for("/helper/"), 0, "it was not looked for");
    index.close();
    let second = place.feed(code, &args).ok().json();
    assert_eq!(
        (&second["stdout"], &second["deps_cache"]),
        (&json!("7 5\n"), &json!("hit"))
    );
    // Somebody cleaned up in the sandbox: the copy is made anew.
    let delete = ["files", "rm", "-r", &name, "/workspace/.sandtop-packages"];
    place.run(&delete).ok();
    assert_eq!(place.feed(code, &args).ok().json()["stdout"], "7 5\n");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn of_many_first_runs_one_installs() {
    let index = Index::open();
    let place = place(&index);
    index.wheel("bees", "1.0", "COUNT = 7\n", 0);
    fs::write(place.path("a.py"), "import bees\nprint(bees.COUNT)").unwrap();
    let image = python();
    let args = ["--json", "run", "a.py", "--image", &image];
    let runs: Vec<_> = (0..5).map(|_| place.start(&args)).collect();
    let mut uses: Vec<String> = Vec::new();
    for run in runs {
        let value = run.wait().ok().json();
        assert_eq!(value["stdout"], "7\n");
        uses.push(value["deps_cache"].as_str().unwrap().to_owned());
    }
    uses.sort();
    assert_eq!(uses, ["hit", "hit", "hit", "hit", "miss"]);
    assert_eq!(index.asked_for(".whl"), 1, "one download");
    assert_eq!(volumes(&place).len(), 2, "one set with its mark");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn what_cannot_be_installed_says_why_and_leaves_nothing() {
    let index = Index::open();
    let place = place(&index);
    index.broken("wasps", "no wasps today");
    let table = [
        ("python", "import wasps", "no wasps today"),
        (
            "python",
            "import hornets",
            "No matching distribution found for hornets",
        ),
        ("javascript", "require('sandtop-hornets')", "404"),
    ];
    for (language, code, words) in table {
        let failed = ran(&place, language, code, &[]).exits(125).json();
        let message = failed["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(failed["error"]["kind"], "packages");
        assert!(message.contains(words), "{words} in {message}");
        assert_eq!(place.belongings(), Vec::<String>::new(), "{code}");
    }
    // For people, in lines; and nothing at all is installed if so asked.
    let image = python();
    place
        .feed(b"import wasps", &["run", "-l", "py", "--image", &image])
        .exits(125)
        .says("\n  no wasps today\n".trim())
        .says("hint: `--deps none`");
    let without = ran(&place, "python", "import wasps", &["--deps", "none"]).exits(1);
    assert!(
        without.json()["stderr"]
            .as_str()
            .unwrap()
            .contains("No module named")
    );
    let option = ["--deps", "--index-url=http://x"];
    ran(&place, "python", "print(1)", &[&option[..], &[]].concat()).exits(2);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn what_the_image_has_is_not_installed() {
    let mut index = Index::open();
    let place = place(&index);
    index.close();
    let code = "import setuptools\nprint(setuptools.__file__.startswith('/usr/lib'))";
    let value = run(&place, "python", code, &[]);
    assert_eq!(
        (&value["stdout"], &value["deps_cache"]),
        (&json!("True\n"), &json!("miss"))
    );
    assert_eq!(run(&place, "python", code, &[])["deps_cache"], "hit");
    ran(&place, "python", code, &["--deps", "setuptools==1.0"]).exits(125);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn packages_that_are_gone_are_installed_again() {
    let index = Index::open();
    let place = place(&index);
    index.wheel("bees", "1.0", "COUNT = 7\n", 0);
    let again = |what: &str, expected: &str| {
        let value = run(&place, "python", "import bees\nprint(bees.COUNT)", &[]);
        assert_eq!(
            (&value["stdout"], &value["deps_cache"]),
            (&json!("7\n"), &json!(expected)),
            "{what}"
        );
    };
    again("first", "miss");
    let is_mark = |name: &&String| name.ends_with("-complete");
    let set = volumes(&place)
        .into_iter()
        .find(|name| !is_mark(&name))
        .unwrap();
    place.docker_says(&["volume", "rm", &set]);
    again("without its volume", "miss");
    let marks: Vec<String> = volumes(&place)
        .into_iter()
        .filter(|name| is_mark(&name))
        .collect();
    for mark in marks {
        place.docker_says(&["volume", "rm", &mark]);
    }
    again("without its mark", "miss");
    assert_eq!(volumes(&place).len(), 2, "nothing else is left");
    again("as it is", "hit");
    // Other than work directories of killed sandboxes, the reaper spares it.
    let reaped = place.json_ok(&["reap", "--idle", "0"]);
    assert_eq!(reaped, json!([]));
    again("after reaping", "hit");
    // The notes are no truth: without them the packages are still there.
    fs::remove_dir_all(place.path("cache")).unwrap();
    again("without notes", "hit");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn the_old_and_the_least_used_packages_go() {
    let index = Index::open();
    let place = place(&index);
    for name in ["bees", "wasps", "ants"] {
        index.wheel(name, "1.0", "", 2_000_000);
    }
    let kept = |place: &Place| -> Vec<String> {
        let list = place.json_ok(&["cache", "ls"]);
        let all = list.as_array().unwrap().iter();
        all.map(|one| one["packages"][0].as_str().unwrap().to_owned())
            .collect()
    };
    run(&place, "python", "import bees", &[]);
    run(&place, "python", "import wasps", &[]);
    run(&place, "python", "import bees", &[]);
    assert_eq!(kept(&place), ["bees", "wasps"], "the last used is first");
    run(&place, "python", "import ants", &[]);
    assert_eq!(kept(&place), ["ants", "bees"], "three are more than 5 MiB");
    let list = place.json_ok(&["cache", "ls"]);
    let key = list[1]["key"].as_str().unwrap();
    place.run(&["cache", "rm", "ffffffff"]).exits(4);
    place.run(&["--read-only", "cache", "rm", key]).exits(5);
    let removed = place.json_ok(&["cache", "rm", &key[..8]]);
    assert_eq!(
        (&removed[0]["packages"], &removed[0]["done"]),
        (&json!(["bees"]), &json!(true))
    );
    assert_eq!(place.json_ok(&["cache", "prune"]), json!([]));
    let place = place.with("DEPENDENCY_CACHE_TTL_HOURS", "0");
    let value = run(&place, "python", "import ants", &[]);
    assert_eq!(value["deps_cache"], "miss", "too old to be used");
    assert_eq!(kept(&place), ["ants"], "the new ones have replaced the old");
    let pruned = place.json_ok(&["cache", "prune"]);
    assert_eq!(pruned[0]["reason"], "expired");
    assert_eq!(place.belongings(), Vec::<String>::new());
    place
        .run(&["cache", "ls"])
        .ok()
        .says("No packages are kept");
}

/// Both package managers, each with a program that needs one package.
const BOTH: [(&str, &str, &str); 2] = [
    ("python", "import bees\nprint(bees.COUNT)", "7\n"),
    (
        "javascript",
        "console.log(require('sandtop-ants').legs)",
        "6\n",
    ),
];

/// A place whose settings say this of indexes.
fn place_with(settings: &str) -> Place {
    let settings = format!("[deps]\nnetwork = 'host'\n{settings}");
    Place::docker().configured(&settings)
}

#[track_caller]
fn installs(place: &Place, (language, code, expected): (&str, &str, &str)) {
    let value = run(place, language, code, &[]);
    assert_eq!(
        (&value["deps_cache"], &value["stdout"]),
        (&json!("miss"), &json!(expected)),
        "{language}"
    );
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn an_index_over_tls_is_believed_by_its_certificate_or_by_name() {
    let index = Index::open();
    let tls = Tls::before(index.address());
    let base = format!("https://{}/", tls.address);
    index.wheel("bees", "1.0", "COUNT = 7\n", 0);
    index.npm_at(&base, "sandtop-ants", "module.exports = { legs: 6 };\n");
    let addresses = format!("index_url = '{base}simple/'\nnpm_registry = '{base}'\n");
    let place = place_with(&addresses);
    for (language, code, _) in BOTH {
        let failed = ran(&place, language, code, &[]).exits(125).json();
        let message = failed["error"]["message"].as_str().unwrap().to_lowercase();
        assert!(message.contains("certificate"), "{language}: {message}");
    }
    let ca_file = tls.ca_file();
    let believing = format!("{addresses}ca_file = '{}'\n", ca_file.display());
    let place = place_with(&believing);
    for one in BOTH {
        installs(&place, one);
    }
    let place = place_with(&format!("{addresses}trusted_host = '127.0.0.1'\n"));
    installs(&place, BOTH[0]);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn package_managers_go_through_the_proxy() {
    let index = Index::open();
    let tls = Tls::before(index.address());
    let proxy = Proxy::to(index.address(), tls.address);
    index.wheel("bees", "1.0", "COUNT = 7\n", 0);
    // Over plain HTTP pip believes no name that it was not told.
    let trust = format!("trusted_host = '{NOWHERE}'\n");
    let ways = [
        ("http", "GET http:", trust.as_str()),
        ("https", "CONNECT ", ""),
    ];
    for (scheme, request, trust) in ways {
        let base = format!("{scheme}://{NOWHERE}/");
        index.npm_at(&base, "sandtop-ants", "module.exports = { legs: 6 };\n");
        let settings = format!(
            "index_url = '{base}simple/'\nnpm_registry = '{base}'\nproxy = '{}'\nca_file = '{}'\n{trust}",
            proxy.url(),
            tls.ca_file().display(),
        );
        let place = place_with(&settings);
        for one in BOTH {
            let before = proxy.asked_for(request);
            installs(&place, one);
            assert!(proxy.asked_for(request) > before, "{scheme} {}", one.0);
        }
    }
    assert_eq!(index.asked_for(".whl"), 2, "once plain, once over TLS");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn packages_in_use_are_not_removed() {
    let index = Index::open();
    let place = place(&index);
    index.wheel("bees", "1.0", "COUNT = 7\n", 0);
    let code = "import bees, time\nprint('on', flush=True)\ntime.sleep(100)";
    fs::write(place.path("a.py"), code).unwrap();
    let mut running = place.start(&["run", "a.py", "--image", &python()]);
    running.until_stdout("on");
    let (exit, refused) = place.json(&["cache", "rm", "--all"]);
    assert_eq!((exit, &refused[0]["done"]), (1, &json!(false)), "{refused}");
    running.signal(Signal::INT);
    running.wait().exits(130);
    let removed = place.json_ok(&["cache", "rm", "--all"]);
    assert_eq!(removed[0]["done"], true);
    assert_eq!(place.belongings(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn an_interrupted_installation_leaves_nothing_and_a_killed_one_is_found() {
    let index = Index::open();
    let place = place(&index);
    index.wheel("bees", "1.0", "COUNT = 7\n", 0);
    fs::write(place.path("a.py"), "import bees\nprint(bees.COUNT)").unwrap();
    let image = python();
    let args = ["run", "a.py", "--image", &image];
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        index.stick(true);
        let asked = index.asked_for("/bees/");
        let running = place.start(&args);
        until("pip asks", || index.asked_for("/bees/") > asked);
        running.signal(signal);
        running.wait().exits(code);
        assert_eq!(place.belongings(), Vec::<String>::new(), "{code}");
    }
    let asked = index.asked_for("/bees/");
    let running = place.start(&args);
    until("pip asks", || index.asked_for("/bees/") > asked);
    running.signal(Signal::KILL);
    running.wait().exits(137);
    assert_eq!(sandboxes(&place).len(), 1, "an orphan");
    let list = place.json_ok(&["ls"]);
    assert!(list[0]["name"].as_str().unwrap().starts_with("packages-"));
    index.stick(false);
    assert_eq!(place.run(&args).ok().text(), "7\n");
    assert_eq!(sandboxes(&place), Vec::<String>::new());
    assert_eq!(volumes(&place).len(), 2, "one set with its mark");
}

#[test]
fn engines_that_keep_no_packages_say_so() {
    let place = Place::demo();
    let args = [
        "run",
        "-l",
        "py",
        "--sandbox",
        "demo-python",
        "--deps",
        "rich",
    ];
    place
        .feed(b"print(1)", &args)
        .exits(125)
        .says("cannot be installed on the demo engine");
    // What is only detected stops nothing: the simulated interpreter is reached.
    place
        .feed(b"import rich\nprint(1)", &args[..5])
        .exits(1)
        .says("only simulates");
}

/// A place with the engine of this machine, whose Python must be able to install packages.
fn local_place(index: &Index) -> Place {
    Place::local().with("PIP_INDEX_URL", &index.pip_url())
}

/// Makes packages of the local engine as old as that.
fn age(place: &Place, hours: i64) {
    let package_sets = place.path(&format!(
        "state/sandtop/local/scope-{}/shelves",
        place.scope()
    ));
    let set = fs::read_dir(package_sets).unwrap().next().unwrap().unwrap();
    let file = set.path().join("about.json");
    let mut about: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let made_at = chrono::Utc::now() - chrono::TimeDelta::hours(hours);
    about["made_at"] = json!(made_at.to_rfc3339());
    fs::write(file, about.to_string()).unwrap();
}

#[test]
#[ignore = "needs pip in /usr/bin/python3: tests/run"]
fn packages_older_than_a_day_are_installed_anew_or_pruned() {
    let index = Index::open();
    let place = local_place(&index);
    index.wheel("bees", "1.0", "COUNT = 7\n", 0);
    let run = |expected: &str| {
        let args = ["run", "--json", "-l", "py"];
        let value = place.feed(b"import bees", &args).ok().json();
        assert_eq!(value["deps_cache"], expected, "{value}");
    };
    let kept = || place.json_ok(&["cache", "ls"]).as_array().unwrap().clone();
    run("miss");
    age(&place, 23);
    run("hit");
    age(&place, 25);
    assert_eq!(kept()[0]["expired"], true);
    run("miss");
    assert_eq!(kept().len(), 1, "the new ones have replaced the old");
    run("hit");
    assert_eq!(place.json_ok(&["cache", "prune"]), json!([]));
    age(&place, 25);
    let pruned = place.json_ok(&["cache", "prune"]);
    assert_eq!(pruned[0]["reason"], "expired", "{pruned}");
    assert_eq!(kept(), Vec::<Value>::new());
}

#[test]
#[ignore = "needs pip in /usr/bin/python3: tests/run"]
fn the_local_engine_keeps_packages_too() {
    let mut index = Index::open();
    let place = local_place(&index);
    index.wheel("bees", "1.0", "COUNT = 7\n", 0);
    let code = "import bees, os\nprint(bees.COUNT, os.listdir('/sys/class/net') if os.path.exists('/sys/class/net') else [])\n\
                try:\n    open(os.path.dirname(bees.__file__) + '/x', 'w')\nexcept OSError as error:\n    print(error.strerror)\n";
    let run = || place.feed(code.as_bytes(), &["run", "--json", "-l", "py"]);
    let first = run().ok().json();
    assert_eq!(first["deps_cache"], "miss", "{first}");
    let expected = first["stdout"].as_str().unwrap();
    assert!(expected.ends_with("Read-only file system\n"), "{first}");
    index.close();
    let second = run().ok().json();
    assert_eq!(
        (&second["deps_cache"], &second["stdout"]),
        (&json!("hit"), &json!(expected))
    );
    let value = place.feed(b"import hornets", &["run", "--json", "-l", "py"]);
    assert_eq!(value.exits(125).json()["error"]["kind"], "packages");
    assert_eq!(place.json_ok(&["ls", "--all"]), json!([]));
    assert_eq!(
        place.json_ok(&["cache", "ls"]).as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(place.json_ok(&["cache", "rm", "--all"])[0]["done"], true);
    assert_eq!(place.json_ok(&["cache", "ls"]), json!([]));
}
