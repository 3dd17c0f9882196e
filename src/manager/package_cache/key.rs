//! The key of a set of packages: everything that decides what is installed, as one hash.

use sha2::{Digest, Sha256};

use crate::code::{Language, Requirement};
use crate::config::IndexSettings;

/// Hashes everything that decides what is installed; the order of packages does not.
pub(super) fn cache_key(
    language: &Language,
    image_key: &str,
    index: &IndexSettings,
    packages: &[Requirement],
) -> String {
    let ca_file = index
        .ca_file
        .as_ref()
        .map(|file| file.display().to_string());
    let settings = [
        &index.index_url,
        &index.extra_index_url,
        &index.trusted_host,
        &index.npm_registry,
        &ca_file,
        &index.proxy,
    ];
    let mut packages: Vec<&str> = packages.iter().map(|one| one.text.as_str()).collect();
    packages.sort_unstable();
    let mut hash = Sha256::new();
    // Each word with its length, so that no two lists read the same.
    let mut add = |word: &str| hash.update(format!("{}:{word}\n", word.len()));
    add("sandtop packages 1");
    add(language.name());
    add(image_key);
    for setting in settings {
        add(setting.as_deref().unwrap_or_default());
    }
    packages.into_iter().for_each(&mut add);
    format!("{:x}", hash.finalize())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::code::Languages;

    #[test]
    fn everything_that_decides_is_in_the_key_and_the_order_is_not() {
        let languages = Languages::default();
        let language = |word: &str| languages.by_word(word).expect("a language");
        let set = |names: &[&str]| -> Vec<Requirement> {
            names.iter().map(|name| Requirement::any(name)).collect()
        };
        let plain = IndexSettings::default();
        let mirror = IndexSettings {
            index_url: Some("http://mirror".to_owned()),
            ..IndexSettings::default()
        };
        let extra = IndexSettings {
            extra_index_url: Some("http://mirror".to_owned()),
            ..IndexSettings::default()
        };
        let base = cache_key(&language("py"), "i", &plain, &set(&["a", "b"]));
        assert_eq!(
            base,
            cache_key(&language("py"), "i", &plain, &set(&["b", "a"]))
        );
        assert_eq!(base.len(), 64);
        let others = [
            cache_key(&language("js"), "i", &plain, &set(&["a", "b"])),
            cache_key(&language("py"), "j", &plain, &set(&["a", "b"])),
            cache_key(&language("py"), "i", &mirror, &set(&["a", "b"])),
            cache_key(&language("py"), "i", &extra, &set(&["a", "b"])),
            cache_key(&language("py"), "i", &plain, &set(&["a"])),
            cache_key(&language("py"), "i", &plain, &set(&["a==1", "b"])),
            cache_key(&language("py"), "i", &plain, &set(&["ab", ""])),
        ];
        let all: BTreeSet<&String> = others.iter().chain([&base]).collect();
        assert_eq!(all.len(), others.len() + 1);
    }
}
