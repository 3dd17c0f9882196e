//! Inline script metadata (PEP 723): the packages that a script itself declares.

use crate::code::language::Installer;
use crate::code::packages::Requirement;

/// Returns the declared packages; `None` if the script declares nothing that can be read.
pub(super) fn dependencies(source: &str) -> Option<Vec<Requirement>> {
    let table: toml::Table = toml::from_str(&block(source)?).ok()?;
    let listed = table.get("dependencies")?.as_array()?;
    let texts = listed.iter().filter_map(toml::Value::as_str);
    let parsed = texts.filter_map(|text| Requirement::parse(Installer::Pip, text).ok());
    let mut all: Vec<Requirement> = parsed.collect();
    all.sort();
    all.dedup_by(|a, b| a.name == b.name);
    Some(all)
}

/// Returns the text between `# /// script` and `# ///` without the comment signs.
fn block(source: &str) -> Option<String> {
    let mut lines = source
        .lines()
        .skip_while(|line| line.trim_end() != "# /// script");
    lines.next()?;
    let mut text = String::new();
    for line in lines {
        let line = line.trim_end();
        if line == "# ///" {
            return Some(text);
        }
        let content = line
            .strip_prefix("# ")
            .or_else(|| (line == "#").then_some(""))?;
        text.push_str(content);
        text.push('\n');
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_read_and_a_broken_one_is_none() {
        let script = "#!/usr/bin/env python\n# /// script\n# requires-python = \">=3.11\"\n# dependencies = [\n#   \"requests<3\",\n#   \"rich\",\n# ]\n# ///\nimport x\n";
        let names: Vec<String> = dependencies(script)
            .unwrap_or_default()
            .into_iter()
            .map(|one| one.text)
            .collect();
        assert_eq!(names, ["requests<3", "rich"]);
        assert_eq!(dependencies("# /// script\n# dependencies = [\n"), None);
        assert_eq!(dependencies("x = '# /// script'\n"), None);
    }
}
