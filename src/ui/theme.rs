//! Colours by role, so that panes never name a colour. The themes themselves are data: `assets/themes`.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use super::glyphs;
use crate::app::panes::editor::Code;

/// Declares the roles with their words in themes.
macro_rules! roles {
    ($($(#[$about:meta])* $name:ident $word:literal;)*) => {
        /// What a piece of the screen means.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Role {
            $($(#[$about])* $name,)*
        }

        impl Role {
            /// All roles.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns its word in themes.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

roles! {
    /// Ordinary text.
    Text "text";
    /// Less important.
    Muted "muted";
    /// Titles and names that stand out.
    Accent "accent";
    /// Going well.
    Ok "ok";
    /// Worth a look.
    Warn "warn";
    /// Gone wrong.
    Error "error";
    /// The selected row.
    Selection "selection";
    /// A marked row.
    Marked "marked";
    /// A match of a search.
    Match "match";
    /// Border of a pane.
    Border "border";
    /// Border of the pane that has the keys.
    BorderFocus "border-focus";
    /// A key in a hint.
    Key "key";
    /// The mode badge.
    Mode "mode";
}

/// The kinds of code that a theme tells apart, with their words.
const CODE: [(Code, &str); 6] = [
    (Code::Keyword, "code-keyword"),
    (Code::String, "code-string"),
    (Code::Comment, "code-comment"),
    (Code::Number, "code-number"),
    (Code::Function, "code-function"),
    (Code::Type, "code-type"),
];

const COLOURS: [(&str, Color); 16] = [
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("gray", Color::Gray),
    ("dark-gray", Color::DarkGray),
    ("light-red", Color::LightRed),
    ("light-green", Color::LightGreen),
    ("light-yellow", Color::LightYellow),
    ("light-blue", Color::LightBlue),
    ("light-magenta", Color::LightMagenta),
    ("light-cyan", Color::LightCyan),
    ("white", Color::White),
];

const MODIFIERS: [(&str, Modifier); 5] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
];

/// How roles look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    roles: Vec<Style>,
    code: Vec<Style>,
    colourful: bool,
    /// Use only ASCII characters.
    pub ascii: bool,
}

impl Theme {
    /// Sixteen colours for dark terminals.
    #[must_use]
    pub fn dark() -> Self {
        Self::read(include_str!("../../assets/themes/dark.toml"))
    }

    /// Sixteen colours for light terminals.
    #[must_use]
    pub fn light() -> Self {
        Self::read(include_str!("../../assets/themes/light.toml"))
    }

    /// Strong differences.
    #[must_use]
    pub fn contrast() -> Self {
        Self::read(include_str!("../../assets/themes/contrast.toml"))
    }

    /// No colours: bold, dim, underline and reverse only.
    #[must_use]
    pub fn mono() -> Self {
        Self::read(include_str!("../../assets/themes/mono.toml"))
    }

    /// Returns how a role looks.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.roles.get(role as usize).copied().unwrap_or_default()
    }

    /// Returns how a piece of code looks.
    #[must_use]
    pub fn code(&self, code: Code) -> Style {
        let at = CODE.iter().position(|(known, _)| *known == code);
        let style = at.and_then(|at| self.code.get(at));
        style.copied().unwrap_or_default()
    }

    /// Tells whether it has any colour.
    #[must_use]
    pub fn is_colourful(&self) -> bool {
        self.colourful
    }

    /// Takes away from a drawing what the theme does not allow, whoever brought it: output has colours of its own.
    pub(super) fn finish(&self, buffer: &mut Buffer) {
        if !self.colourful {
            for cell in &mut buffer.content {
                (cell.fg, cell.bg, cell.underline_color) =
                    (Color::Reset, Color::Reset, Color::Reset);
            }
        }
        if self.ascii {
            glyphs::to_ascii(buffer);
        }
    }

    /// Reads a theme; a word that is wrong looks like ordinary text, and tests see to it that none is.
    fn read(text: &str) -> Self {
        let words: BTreeMap<String, String> = toml::from_str(text).unwrap_or_default();
        let style = |word: &str| words.get(word).and_then(|text| style(text));
        let roles = Role::ALL.iter().map(|role| style(role.word()));
        let code = CODE.iter().map(|(_, word)| style(word));
        let roles: Vec<Style> = roles.map(Option::unwrap_or_default).collect();
        let code: Vec<Style> = code.map(Option::unwrap_or_default).collect();
        let has_colour = |style: &Style| style.fg.is_some() || style.bg.is_some();
        Self {
            colourful: roles.iter().chain(&code).any(has_colour),
            roles,
            code,
            ascii: false,
        }
    }
}

/// Reads how a role looks: a foreground, `on` and a background, modifiers.
fn style(text: &str) -> Option<Style> {
    let (mut style, mut behind) = (Style::new(), false);
    for word in text.split_whitespace() {
        let colour = COLOURS.iter().find(|(name, _)| *name == word);
        let modifier = MODIFIERS.iter().find(|(name, _)| *name == word);
        style = match (colour, modifier) {
            _ if word == "on" => style,
            (Some((_, colour)), _) if behind => style.bg(*colour),
            (Some((_, colour)), _) => style.fg(*colour),
            (None, Some((_, modifier))) => style.add_modifier(*modifier),
            (None, None) => return None,
        };
        behind = word == "on";
    }
    Some(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEMES: [(&str, &str); 4] = [
        ("dark", include_str!("../../assets/themes/dark.toml")),
        ("light", include_str!("../../assets/themes/light.toml")),
        (
            "contrast",
            include_str!("../../assets/themes/contrast.toml"),
        ),
        ("mono", include_str!("../../assets/themes/mono.toml")),
    ];

    #[test]
    fn every_theme_knows_every_role_and_nothing_else() {
        let mut known: Vec<&str> = Role::ALL.iter().map(|role| role.word()).collect();
        known.extend(CODE.iter().map(|(_, word)| word));
        known.sort_unstable();
        for (name, text) in THEMES {
            let words: BTreeMap<String, String> = toml::from_str(text).expect(name);
            let held: Vec<&String> = words.keys().collect();
            assert_eq!(held, known, "{name}");
            for (role, text) in &words {
                assert!(style(text).is_some(), "{name}: {role} = {text:?}");
            }
        }
    }

    #[test]
    fn roles_look_as_the_file_says() {
        let dark = Theme::dark();
        let expected = Style::new().fg(Color::Black).bg(Color::Yellow);
        assert_eq!(dark.style(Role::Match), expected);
        let marked = Style::new().fg(Color::Magenta).add_modifier(Modifier::BOLD);
        assert_eq!(dark.style(Role::Marked), marked);
        assert_eq!(dark.code(Code::String), Style::new().fg(Color::Green));
        assert_eq!(dark.code(Code::Plain), Style::new());
        assert_eq!(style("purple"), None);
    }

    #[test]
    fn what_matters_is_told_apart_in_every_theme() {
        for theme in [
            Theme::dark(),
            Theme::light(),
            Theme::contrast(),
            Theme::mono(),
        ] {
            let look = |role| theme.style(role);
            for role in [
                Role::Selection,
                Role::Error,
                Role::Warn,
                Role::Mode,
                Role::Match,
            ] {
                assert_ne!(look(role), look(Role::Text), "{role:?}");
            }
            assert_ne!(look(Role::Error), look(Role::Warn));
            assert_ne!(look(Role::Border), look(Role::BorderFocus));
        }
    }

    #[test]
    fn without_colours_none_is_left_on_the_screen() {
        let area = ratatui::layout::Rect::new(0, 0, 3, 1);
        let mut buffer = Buffer::empty(area);
        let loud = Style::new().fg(Color::Red).bg(Color::Blue);
        buffer.set_string(0, 0, "abc", loud.add_modifier(Modifier::BOLD));
        let mut kept = buffer.clone();
        Theme::mono().finish(&mut buffer);
        for cell in &buffer.content {
            assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
            assert_eq!(cell.modifier, Modifier::BOLD);
        }
        Theme::dark().finish(&mut kept);
        assert!(kept.content.iter().all(|cell| cell.fg == Color::Red));
    }
}
