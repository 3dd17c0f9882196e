//! Values that are nobody's business, masked wherever they are shown.

/// What stands in place of a secret.
pub const MASK: &str = "********";

/// Parts of names whose values are secret.
const SECRET_WORDS: [&str; 8] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "auth",
    "cookie",
];

/// Tells by its name whether a value is secret.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| lower.contains(word))
}

/// Returns a value as it may be shown under its name.
#[must_use]
pub fn masked_value<'a>(name: &str, value: &'a str) -> &'a str {
    if is_secret(name) { MASK } else { value }
}

/// Returns an address without the user and password that it may hold.
#[must_use]
pub fn masked_address(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match place.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{MASK}@{host}{path}"),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name_and_in_addresses() {
        assert_eq!(masked_value("OPENAI_API_KEY", "sk-1"), MASK);
        assert_eq!(masked_value("LANG", "C"), "C");
        assert_eq!(
            masked_address("https://me:pw@index.example/simple/"),
            "https://********@index.example/simple/"
        );
        assert_eq!(
            masked_address("http://127.0.0.1:1/a@b"),
            "http://127.0.0.1:1/a@b"
        );
    }
}
