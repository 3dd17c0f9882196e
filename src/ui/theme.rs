//! Colours by role, so that panes never name a colour.

use ratatui::style::{Color, Modifier, Style};

use crate::app::editor::Code;

/// What a piece of the screen means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Ordinary text.
    Text,
    /// Less important.
    Muted,
    /// Titles and names that stand out.
    Accent,
    /// Going well.
    Ok,
    /// Worth a look.
    Warn,
    /// Gone wrong.
    Error,
    /// The selected row.
    Selection,
    /// A marked row.
    Marked,
    /// A match of a search.
    Match,
    /// Border of a pane.
    Border,
    /// Border of the pane that has the keys.
    BorderFocus,
    /// A key in a hint.
    Key,
    /// The mode badge.
    Mode,
}

/// How roles look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    colourful: bool,
    light: bool,
    /// Use only ASCII characters.
    pub ascii: bool,
}

impl Theme {
    /// Sixteen colours for dark terminals.
    #[must_use]
    pub fn dark() -> Self {
        Self {
            colourful: true,
            light: false,
            ascii: false,
        }
    }

    /// Sixteen colours for light terminals.
    #[must_use]
    pub fn light() -> Self {
        Self {
            colourful: true,
            light: true,
            ascii: false,
        }
    }

    /// No colours: bold, dim, underline and reverse only.
    #[must_use]
    pub fn mono() -> Self {
        Self {
            colourful: false,
            light: false,
            ascii: false,
        }
    }

    /// Returns how a role looks.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        if self.colourful {
            self.coloured(role)
        } else {
            Self::plain(role)
        }
    }

    /// Returns how a piece of code looks.
    #[must_use]
    pub fn code(&self, code: Code) -> Style {
        let style = Style::new();
        match code {
            Code::Plain => style,
            Code::Keyword if !self.colourful => style.add_modifier(Modifier::BOLD),
            Code::Comment if !self.colourful => style.add_modifier(Modifier::DIM),
            _ if !self.colourful => style,
            Code::Keyword => style.fg(Color::Magenta),
            Code::String => style.fg(Color::Green),
            Code::Comment => style.fg(Color::DarkGray),
            Code::Number => style.fg(if self.light {
                Color::Red
            } else {
                Color::Yellow
            }),
            Code::Function => style.fg(Color::Blue),
            Code::Type => style.fg(if self.light { Color::Blue } else { Color::Cyan }),
        }
    }

    fn coloured(&self, role: Role) -> Style {
        let style = Style::new();
        match role {
            Role::Text => style,
            Role::Muted | Role::Border => style.fg(Color::DarkGray),
            Role::Accent | Role::BorderFocus => {
                style.fg(if self.light { Color::Blue } else { Color::Cyan })
            }
            Role::Ok => style.fg(Color::Green),
            Role::Warn => style.fg(Color::Yellow),
            Role::Error => style.fg(Color::Red),
            Role::Selection => style.add_modifier(Modifier::REVERSED),
            Role::Marked => style.fg(Color::Magenta).add_modifier(Modifier::BOLD),
            Role::Match => style.fg(Color::Black).bg(Color::Yellow),
            Role::Key => style
                .fg(if self.light { Color::Blue } else { Color::Cyan })
                .add_modifier(Modifier::BOLD),
            Role::Mode => {
                style
                    .fg(Color::Black)
                    .bg(if self.light { Color::Blue } else { Color::Cyan })
            }
        }
    }

    fn plain(role: Role) -> Style {
        let style = Style::new();
        match role {
            Role::Text | Role::Ok | Role::Border => style,
            Role::Muted => style.add_modifier(Modifier::DIM),
            Role::Accent | Role::Marked | Role::Key | Role::BorderFocus => {
                style.add_modifier(Modifier::BOLD)
            }
            Role::Warn => style.add_modifier(Modifier::UNDERLINED),
            Role::Error => style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            Role::Selection | Role::Match | Role::Mode => style.add_modifier(Modifier::REVERSED),
        }
    }
}
