//! Hostile settings: any text is taken or refused with a sentence.

use super::document::Document;
use super::*;
use crate::fuzz::Target;

#[test]
fn config() {
    let example = include_bytes!("../../config.example.toml");
    let target = Target {
        name: "config",
        seeds: &[
            example,
            b"[sandbox]\nimage = \"a\"\nmemory_limit = \"512m\"\ncpu_limit = 1.5\nmounts = [\"/a:/b:ro\"]\n",
            b"[profiles.x]\nenv = { A = \"b\" }\nuser = \"0:0\"\n[manager]\nidle_timeout = 0\n",
            b"[languages.z]\nextension = \"z\"\nrun = [\"z\", \"{file}\"]\n[adopt]\nnames = [\"a*\"]\n",
            b"[keys.sandboxes]\nkill = [\"ctrl-x\"]\n[ui]\ntheme = \"mono\"\n",
        ],
        words: &[b"[", b"]", b"\n", b" = ", b"\"", b"[sandbox]\n", b"[keys]\n", b"''", b"0x", b"{}"],
        cost: 20,
    };
    target.run(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let said = Document::parse("x.toml", &text).and_then(resolve);
        said.map(|config| config.to_toml().len() / 256)
            .map_err(|failure| crate::fuzz::kind_of(&failure.message))
    });
}

fn resolve(document: Document) -> Result<Config, Failure> {
    let environment = Environment::default();
    let layers = Layers {
        file: Some(("x.toml".into(), document)),
        environment: EnvironmentLayer::read(&environment)?,
        engine: None,
        home: None,
        cache_dir: Paths::new(&environment).cache_dir,
    };
    layers.resolve()
}
