//! How the dashboard looks on the terminal at hand: settings first, then what the terminal says of itself.

use crate::config::{AsciiChoice, Environment, ThemeChoice, UiSettings};
use crate::ui::theme::Theme;

/// Chooses colours and characters.
#[must_use]
pub fn theme(ui: &UiSettings, environment: &Environment) -> Theme {
    let mut theme = match ui.theme {
        ThemeChoice::Auto => fitting(environment),
        ThemeChoice::Dark => Theme::dark(),
        ThemeChoice::Light => Theme::light(),
        ThemeChoice::Contrast => Theme::contrast(),
        ThemeChoice::Mono => Theme::mono(),
    };
    theme.ascii = match ui.ascii {
        AsciiChoice::Auto => !shows_unicode(environment),
        AsciiChoice::Always => true,
        AsciiChoice::Never => false,
    };
    theme
}

fn variable<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.text(name).ok().flatten()
}

fn fitting(environment: &Environment) -> Theme {
    let is_plain = variable(environment, "NO_COLOR").is_some()
        || matches!(
            variable(environment, "TERM"),
            Some("dumb" | "vt100" | "vt220")
        );
    // Some terminals tell their colours as `15;0`: light on black.
    let behind = variable(environment, "COLORFGBG").and_then(|text| text.rsplit(';').next());
    match (is_plain, behind) {
        (true, _) => Theme::mono(),
        (false, Some("7" | "15")) => Theme::light(),
        (false, _) => Theme::dark(),
    }
}

/// Tells whether the locale has more than ASCII. Where none is set, only multiplexers take that for ASCII.
fn shows_unicode(environment: &Environment) -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = names.iter().find_map(|name| variable(environment, name));
    match locale {
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        }
        None => ["TMUX", "STY"]
            .iter()
            .all(|name| variable(environment, name).is_none()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn ui(theme: ThemeChoice, ascii: AsciiChoice) -> UiSettings {
        UiSettings {
            theme,
            ascii,
            mouse: true,
            remember: true,
            keys: BTreeMap::new(),
        }
    }

    fn chosen(choice: ThemeChoice, variables: &[(&str, &str)]) -> Theme {
        let environment = Environment::new(variables.iter().copied(), 7);
        theme(&ui(choice, AsciiChoice::Never), &environment)
    }

    #[test]
    fn colours_fit_the_terminal() {
        let auto = |variables: &[(&str, &str)]| chosen(ThemeChoice::Auto, variables);
        assert_eq!(auto(&[("TERM", "xterm")]), Theme::dark());
        assert_eq!(auto(&[("NO_COLOR", "1")]), Theme::mono());
        assert_eq!(auto(&[("NO_COLOR", "")]), Theme::dark());
        assert_eq!(auto(&[("TERM", "dumb")]), Theme::mono());
        assert_eq!(auto(&[("COLORFGBG", "0;15")]), Theme::light());
        assert_eq!(auto(&[("COLORFGBG", "15;default;0")]), Theme::dark());
    }

    #[test]
    fn what_was_asked_for_wins() {
        let no_color = [("NO_COLOR", "1"), ("TERM", "dumb")];
        assert_eq!(chosen(ThemeChoice::Light, &no_color), Theme::light());
        assert_eq!(chosen(ThemeChoice::Contrast, &[]), Theme::contrast());
        assert_eq!(chosen(ThemeChoice::Mono, &[]), Theme::mono());
    }

    #[test]
    fn a_locale_without_more_gets_ascii() {
        let ascii = |choice, variables: &[(&str, &str)]| {
            let environment = Environment::new(variables.iter().copied(), 7);
            theme(&ui(ThemeChoice::Dark, choice), &environment).ascii
        };
        let auto = |variables: &[(&str, &str)]| ascii(AsciiChoice::Auto, variables);
        assert!(!auto(&[("LANG", "de_DE.UTF-8")]));
        assert!(!auto(&[("LANG", "C"), ("LC_ALL", "C.utf8")]));
        assert!(auto(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "POSIX")]));
        assert!(auto(&[("LANG", "de_DE.ISO-8859-1")]));
        assert!(!auto(&[]));
        assert!(auto(&[("TMUX", "/tmp/tmux-0/default,1,0")]));
        assert!(ascii(AsciiChoice::Always, &[("LANG", "C.UTF-8")]));
        assert!(!ascii(AsciiChoice::Never, &[("LANG", "C")]));
    }
}
