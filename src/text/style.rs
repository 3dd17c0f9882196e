//! The looks that a program may give its text: colours and a few attributes, read from SGR sequences.
//!
//! Blinking and hidden text are left out on purpose: the one disturbs, the other deceives.

/// A colour as a program names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextColor {
    /// One of the terminal's 256; the first 16 are the reader's own.
    Indexed(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// A set of attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TextFlags(u8);

impl TextFlags {
    /// Heavier.
    pub const BOLD: Self = Self(1);
    /// Fainter.
    pub const DIM: Self = Self(2);
    /// Slanted.
    pub const ITALIC: Self = Self(4);
    /// With a line below.
    pub const UNDERLINE: Self = Self(8);
    /// Colours swapped.
    pub const REVERSE: Self = Self(16);
    /// With a line through.
    pub const STRIKE: Self = Self(32);

    /// Tells whether all attributes of `other` are set.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }

    fn remove(&mut self, other: Self) {
        self.0 &= !other.0;
    }
}

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TextStyle {
    /// The colour of the letters; `None` is the reader's own.
    pub fg: Option<TextColor>,
    /// The colour behind them; `None` is the reader's own.
    pub bg: Option<TextColor>,
    /// The attributes.
    pub flags: TextFlags,
}

impl TextStyle {
    /// Applies the parameters of an SGR sequence; each is a group with its sub-parameters.
    pub(super) fn apply<'a>(&mut self, mut params: impl Iterator<Item = &'a [u16]>) {
        while let Some(group) = params.next() {
            match *group {
                [38] => set(&mut self.fg, colour_after(&mut params)),
                [48] => set(&mut self.bg, colour_after(&mut params)),
                // The colour of underlines is not kept, but its numbers must not count as codes.
                [58] => drop(colour_after(&mut params)),
                [38, ref colour @ ..] => set(&mut self.fg, colour_within(colour)),
                [48, ref colour @ ..] => set(&mut self.bg, colour_within(colour)),
                [4, 0] => self.flags.remove(TextFlags::UNDERLINE),
                [4, _] => self.flags.insert(TextFlags::UNDERLINE),
                [code] => self.apply_code(code),
                _ => (),
            }
        }
    }

    fn apply_code(&mut self, code: u16) {
        match code {
            0 => *self = Self::default(),
            30..=37 => self.fg = basic(code - 30),
            39 => self.fg = None,
            40..=47 => self.bg = basic(code - 40),
            49 => self.bg = None,
            90..=97 => self.fg = basic(code - 90 + 8),
            100..=107 => self.bg = basic(code - 100 + 8),
            _ => self.flags.apply_code(code),
        }
    }
}

impl TextFlags {
    fn apply_code(&mut self, code: u16) {
        match code {
            1 => self.insert(Self::BOLD),
            2 => self.insert(Self::DIM),
            3 => self.insert(Self::ITALIC),
            4 | 21 => self.insert(Self::UNDERLINE),
            7 => self.insert(Self::REVERSE),
            9 => self.insert(Self::STRIKE),
            22 => self.remove(Self(Self::BOLD.0 | Self::DIM.0)),
            23 => self.remove(Self::ITALIC),
            24 => self.remove(Self::UNDERLINE),
            27 => self.remove(Self::REVERSE),
            29 => self.remove(Self::STRIKE),
            _ => (),
        }
    }
}

fn set(place: &mut Option<TextColor>, colour: Option<TextColor>) {
    if colour.is_some() {
        *place = colour;
    }
}

fn basic(index: u16) -> Option<TextColor> {
    u8::try_from(index).ok().map(TextColor::Indexed)
}

/// Reads a colour from the parameters after 38 or 48, as `5;n` or `2;r;g;b`.
fn colour_after<'a>(params: &mut impl Iterator<Item = &'a [u16]>) -> Option<TextColor> {
    let mut next = || params.next()?.first().copied();
    match next()? {
        5 => basic(next()?),
        2 => rgb(next()?, next()?, next()?),
        _ => None,
    }
}

/// Reads a colour from sub-parameters, as `5:n`, `2:r:g:b` or `2:space:r:g:b`.
fn colour_within(group: &[u16]) -> Option<TextColor> {
    match *group {
        [5, index] => basic(index),
        [2, r, g, b] | [2, _, r, g, b, ..] => rgb(r, g, b),
        _ => None,
    }
}

fn rgb(r: u16, g: u16, b: u16) -> Option<TextColor> {
    let [r, g, b] = [r, g, b].map(|value| u8::try_from(value).ok());
    Some(TextColor::Rgb(r?, g?, b?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(groups: &[&[u16]]) -> TextStyle {
        let mut style = TextStyle::default();
        style.apply(groups.iter().copied());
        style
    }

    fn fg(colour: TextColor) -> TextStyle {
        TextStyle {
            fg: Some(colour),
            ..TextStyle::default()
        }
    }

    #[test]
    fn reads_colours() {
        let cases: &[(&[&[u16]], TextStyle)] = &[
            (&[&[31]], fg(TextColor::Indexed(1))),
            (&[&[97]], fg(TextColor::Indexed(15))),
            (&[&[38], &[5], &[200]], fg(TextColor::Indexed(200))),
            (&[&[38, 5, 200]], fg(TextColor::Indexed(200))),
            (
                &[&[38], &[2], &[1], &[2], &[3]],
                fg(TextColor::Rgb(1, 2, 3)),
            ),
            (&[&[38, 2, 1, 2, 3]], fg(TextColor::Rgb(1, 2, 3))),
            (&[&[38, 2, 0, 1, 2, 3]], fg(TextColor::Rgb(1, 2, 3))),
            (&[&[31], &[38], &[5], &[256]], fg(TextColor::Indexed(1))),
            (&[&[58], &[5], &[1], &[31]], fg(TextColor::Indexed(1))),
            (&[&[31], &[39]], TextStyle::default()),
            (&[&[31], &[44], &[1], &[0]], TextStyle::default()),
            (&[&[38]], TextStyle::default()),
            (&[&[38], &[2], &[1]], TextStyle::default()),
            (&[&[5], &[8], &[6], &[999]], TextStyle::default()),
        ];
        for (groups, expected) in cases {
            assert_eq!(&after(groups), expected, "{groups:?}");
        }
        let behind = after(&[&[104]]);
        assert_eq!(behind.bg, Some(TextColor::Indexed(12)));
        assert_eq!(
            after(&[&[48, 2, 9, 8, 7]]).bg,
            Some(TextColor::Rgb(9, 8, 7))
        );
    }

    #[test]
    fn reads_attributes() {
        let all = after(&[&[1], &[2], &[3], &[4], &[7], &[9]]).flags;
        assert_eq!(all, TextFlags(63));
        let none = after(&[&[1], &[2], &[3], &[4, 3], &[7], &[9]]);
        let mut none = none;
        none.apply([22_u16, 23, 24, 27, 29].chunks(1));
        assert_eq!(none, TextStyle::default());
        assert!(after(&[&[21]]).flags.contains(TextFlags::UNDERLINE));
        assert_eq!(after(&[&[4], &[4, 0]]), TextStyle::default());
    }
}
