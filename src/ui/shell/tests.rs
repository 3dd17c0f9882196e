//! Drawing of a shell: colours, wide characters, hostile bytes, every size.

use super::*;
use crate::app::panes::shell::tests::shell;
use crate::domain::TtySize;

fn draw_in(shell: &ShellState, theme: &Theme, area: Rect) -> Buffer {
    let mut buffer = Buffer::empty(area);
    let view = ShellView {
        shell,
        theme,
        focused: true,
    };
    view.render(area, &mut buffer);
    buffer
}

fn draw(shell: &ShellState) -> Buffer {
    let TtySize { columns, rows } = shell.size();
    draw_in(shell, &Theme::dark(), Rect::new(0, 0, columns, rows))
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area().width);
    let rows = buffer.content().chunks(width);
    rows.map(|row| row.iter().map(Cell::symbol).collect())
        .collect()
}

fn cursor(shell: &ShellState, focused: bool, area: Rect) -> Option<(u16, u16)> {
    let theme = &Theme::dark();
    let view = ShellView {
        shell,
        theme,
        focused,
    };
    view.cursor(area)
}

#[test]
fn cells_keep_their_looks() {
    let shell = shell(
        8,
        1,
        b"\x1b[31;44ma\x1b[m\x1b[38;5;200mb\x1b[48;2;1;2;3mc\x1b[m\x1b[1;3;4md\x1b[m\x1b[2me\x1b[m\x1b[7mf\x1b[m\x1b[97mg",
    );
    let buffer = draw(&shell);
    let looks: Vec<(&str, Color, Color, Modifier)> = buffer
        .content()
        .iter()
        .map(|cell| (cell.symbol(), cell.fg, cell.bg, cell.modifier))
        .collect();
    let (reset, none) = (Color::Reset, Modifier::empty());
    let strong = Modifier::BOLD | Modifier::ITALIC | Modifier::UNDERLINED;
    let expected = [
        ("a", Color::Red, Color::Blue, none),
        ("b", Color::Indexed(200), reset, none),
        ("c", Color::Indexed(200), Color::Rgb(1, 2, 3), none),
        ("d", reset, reset, strong),
        ("e", reset, reset, Modifier::DIM),
        ("f", reset, reset, Modifier::REVERSED),
        ("g", Color::White, reset, none),
        (" ", reset, reset, none),
    ];
    assert_eq!(looks, expected);
}

#[test]
fn plain_themes_have_no_colours() {
    let shell = shell(2, 1, b"\x1b[1;31;44ma");
    let buffer = draw_in(&shell, &Theme::mono(), Rect::new(0, 0, 2, 1));
    let first = buffer
        .content()
        .first()
        .map(|cell| (cell.fg, cell.bg, cell.modifier));
    assert_eq!(first, Some((Color::Reset, Color::Reset, Modifier::BOLD)));
}

#[test]
fn wide_characters_take_two_cells() {
    let wide = shell(6, 2, "漢a🙂\r\ne\u{301}❤\u{fe0f}".as_bytes());
    assert_eq!(lines(&draw(&wide)), ["漢 a🙂  ", "e\u{301}❤    "]);
}

#[test]
fn a_wide_character_is_not_cut_in_half() {
    let wide = shell(6, 1, "ab漢c".as_bytes());
    let buffer = draw_in(&wide, &Theme::dark(), Rect::new(0, 0, 3, 1));
    assert_eq!(lines(&buffer), ["ab "]);
}

#[test]
fn joined_emoji_stay_in_their_cells() {
    let family = shell(6, 1, "👩\u{200d}👧x".as_bytes());
    assert_eq!(lines(&draw(&family)), ["👩 👧 x "]);
}

#[test]
fn hidden_characters_show() {
    let hostile = shell(8, 1, "a\u{202e}b\u{200b}c\u{ad}d\u{7}\u{7f}".as_bytes());
    let text = lines(&draw(&hostile)).concat();
    for c in ['\u{202e}', '\u{200b}', '\u{ad}', '\u{7}', '\u{7f}'] {
        assert!(!text.contains(c), "{text:?}");
    }
    assert!(text.contains(UNKNOWN), "{text:?}");
}

#[test]
fn other_characters_have_a_stand_in_on_ascii_screens() {
    let mut theme = Theme::dark();
    theme.ascii = true;
    let shell = shell(5, 1, "a漢ß".as_bytes());
    let buffer = draw_in(&shell, &theme, Rect::new(0, 0, 5, 1));
    assert_eq!(lines(&buffer), ["a? ? "]);
}

#[test]
fn the_area_may_be_larger_or_off_the_buffer() {
    let shell = shell(2, 1, b"ab");
    let larger = draw_in(&shell, &Theme::dark(), Rect::new(3, 4, 4, 2));
    assert_eq!(lines(&larger), ["ab  ", "    "]);
    let mut small = Buffer::empty(Rect::new(0, 0, 1, 1));
    let theme = &Theme::dark();
    let focused = true;
    let view = ShellView {
        shell: &shell,
        theme,
        focused,
    };
    view.render(Rect::new(0, 0, 9, 9), &mut small);
    view.render(Rect::new(5, 5, 9, 9), &mut small);
    assert_eq!(lines(&small), ["a"]);
}

#[test]
fn the_cursor_is_where_the_shell_writes() {
    let area = Rect::new(10, 20, 4, 2);
    let mut shell = shell(4, 2, b"1\r\n2\r\nab");
    assert_eq!(cursor(&shell, true, area), Some((12, 21)));
    assert_eq!(cursor(&shell, false, area), None);
    assert_eq!(cursor(&shell, true, Rect::new(0, 0, 2, 1)), None);
    shell.push(b"cd");
    assert_eq!(cursor(&shell, true, area), Some((13, 21)));
    shell.push(b"\x1b[?25l");
    assert_eq!(cursor(&shell, true, area), None);
    shell.push(b"\x1b[?25h");
    shell.scroll(1);
    assert_eq!(cursor(&shell, true, area), None);
    shell.scroll(-1);
    shell.end("ended");
    assert_eq!(cursor(&shell, true, area), None);
}

#[test]
fn says_how_far_back_it_is() {
    let mut shell = shell(20, 2, b"1\r\n2\r\n3");
    shell.scroll(1);
    assert_eq!(
        lines(&draw(&shell)),
        ["1      1 lines back ", "2                   "]
    );
}

#[test]
fn nothing_in_a_sandbox_can_break_the_screen() {
    let mut random = Random(42);
    let mut shell = shell(20, 5, b"");
    for _ in 0..20_000 {
        step(&mut random, &mut shell);
        let area = Rect::new(0, 0, random.below(25), random.below(8));
        let buffer = draw_in(&shell, &Theme::dark(), area);
        for cell in buffer.content() {
            assert!(!cell.symbol().chars().any(char::is_control));
            assert!(display_width(cell.symbol()) <= 2);
        }
        let _ = cursor(&shell, true, area);
    }
}

fn step(random: &mut Random, shell: &mut ShellState) {
    match random.below(8) {
        0 => {
            let (columns, rows) = (random.below(24), random.below(8));
            shell.resize(TtySize { columns, rows });
        }
        1 => {
            shell.resize(TtySize {
                columns: 1,
                rows: 1,
            });
        }
        2 => shell.scroll(i32::from(random.below(20)) - 10),
        _ => {
            let bytes = random.bytes();
            shell.push(&bytes);
        }
    }
}

/// A generator of numbers that is the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u16 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let [.., low, high] = self.0.to_le_bytes();
        u16::from_le_bytes([low, high])
    }

    fn below(&mut self, limit: u16) -> u16 {
        self.next() % limit
    }

    /// Makes text, controls, whole and broken sequences.
    fn bytes(&mut self) -> Vec<u8> {
        let pieces = self.below(12);
        (0..pieces).flat_map(|_| self.piece()).collect()
    }

    fn piece(&mut self) -> Vec<u8> {
        let [low, high] = self.next().to_le_bytes();
        match self.below(6) {
            0 => vec![low, high],
            1 => vec![low % 0x20],
            2 => self.sequence(),
            3 => self.mode(),
            4 => vec![0x1b, 0x30 + low % 0x4f],
            _ => self.text().into(),
        }
    }

    fn text(&mut self) -> &'static str {
        let texts = [
            "abc",
            "漢",
            "❤\u{fe0f}",
            "\u{fe0f}",
            "\u{301}",
            "🙂\u{200d}",
            "\u{17d8}",
            "\r\n",
            "\t",
            "é",
        ];
        texts
            .into_iter()
            .cycle()
            .nth(self.below(10).into())
            .unwrap_or_default()
    }

    fn sequence(&mut self) -> Vec<u8> {
        let last = char::from(0x40 + u8::try_from(self.below(0x3f)).unwrap_or(0));
        let (a, b) = (self.below(12), self.next() >> self.below(16));
        format!("\x1b[{a};{b}{last}").into_bytes()
    }

    fn mode(&mut self) -> Vec<u8> {
        let modes = [1, 6, 9, 25, 47, 1000, 1003, 1005, 1006, 1049, 2004];
        let mode = modes
            .into_iter()
            .cycle()
            .nth(self.below(11).into())
            .unwrap_or(0);
        let last = if self.below(2) == 0 { 'h' } else { 'l' };
        format!("\x1b[?{mode}{last}").into_bytes()
    }
}
