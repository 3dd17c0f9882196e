//! Names, files and output that want to harm the screen, and very many of them.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};

use crate::app::panes::output::RunInfo;
use crate::app::testing::{App, reference, sample, sandbox, start, up};
use crate::domain::{FileEntry, FileKind, OutputChunk, StreamId, StreamKind};
use crate::protocol::{Command, Event, FileOp, Reply};
use crate::text::{display_width, is_treacherous};
use crate::ui::theme::Theme;

const HOSTILE: [&str; 12] = [
    "\u{1b}[2J\u{1b}[H",
    "\u{1b}]0;title\u{7}",
    "\u{9b}31m\u{9d}0;x\u{9c}",
    "a\rb\nc\td\u{8}\u{b}\u{c}",
    "\u{202e}evil\u{2066}\u{200f}",
    "zero\u{200b}width\u{feff}\u{2060}",
    "漢字かな交じり文漢字かな交じり文漢字かな交じり文",
    "👩\u{200d}👧\u{200d}👦❤\u{fe0f}🇩🇪👍🏽",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "\u{1f1e9}\u{200d}\u{fe0f}\u{20e3}",
    "",
    "long long long long long long long long long long long long long long long long long long",
];

fn draw(app: &App, theme: &Theme) -> Buffer {
    let size = app.state.view.size;
    let mut terminal =
        Terminal::new(TestBackend::new(size.width, size.height)).expect("a terminal");
    terminal
        .draw(|frame| crate::ui::draw(frame, &app.state, theme))
        .expect("a drawing");
    terminal.backend().buffer().clone()
}

/// Checks that every cell is harmless and that every row is as wide as the screen.
#[track_caller]
fn check(app: &App) {
    for ascii in [false, true] {
        let mut theme = Theme::dark();
        theme.ascii = ascii;
        let buffer = draw(app, &theme);
        for row in buffer.content.chunks(usize::from(buffer.area.width)) {
            let (mut column, mut text) = (0, String::new());
            while let Some(cell) = row.get(column) {
                text.push_str(cell.symbol());
                column += display_width(cell.symbol()).max(1);
            }
            assert_eq!(column, row.len(), "{text:?}");
            let bad = |c: char| c.is_control() || is_treacherous(c);
            assert!(!text.contains(bad), "{text:?}");
            assert!(!ascii || text.is_ascii(), "{text:?}");
        }
    }
}

fn crowd(width: u16, height: u16, count: usize) -> App {
    let mut app = App::new(width, height);
    app.link(up());
    let names = HOSTILE.iter().cycle().take(count).enumerate();
    let list = names.map(|(number, evil)| {
        let mut one = sandbox(&format!("n{number}"));
        one.name = format!("{evil}{number}");
        (one.image, one.network) = (format!("{evil}:latest"), (*evil).to_owned());
        one
    });
    app.list(list.collect());
    for number in 0..count {
        app.sample(&format!("n{number}"), sample(1, 250.0, 9_000));
    }
    app.tick(1);
    app
}

#[test]
fn hostile_names_stay_in_their_cells() {
    for (width, height) in [(60, 16), (80, 24), (200, 60)] {
        let mut app = crowd(width, height, HOSTILE.len());
        for _ in 0..HOSTILE.len() {
            check(&app);
            app.keys("i");
            check(&app);
            app.keys("esc d");
            check(&app);
            app.keys("esc j");
        }
        app.keys("/");
        app.tell(crate::app::Msg::Paste(HOSTILE.concat()));
        check(&app);
    }
}

#[test]
fn five_hundred_sandboxes_are_walked_through() {
    let mut app = crowd(200, 60, 500);
    let screen = app.screen();
    assert!(screen.contains("500 running, 500 of 100"), "{screen}");
    for keys in [
        "G", "pageup", "g", "pagedown", "* d", "esc", "u", "o o o", "O",
    ] {
        app.keys(keys);
        check(&app);
    }
    app.list(Vec::new());
    check(&app);
}

fn files(count: usize) -> Vec<FileEntry> {
    let names = HOSTILE.iter().cycle().take(count).enumerate();
    let entry = |(number, evil): (usize, &&str)| FileEntry {
        name: [evil.as_bytes(), b"\xff", number.to_string().as_bytes()].concat(),
        kind: FileKind::File,
        size: u64::MAX,
        mode: 0o7777,
        uid: u32::MAX,
        gid: 0,
        modified_at: start(),
    };
    names.map(entry).collect()
}

#[test]
fn five_thousand_files_are_walked_through() {
    for (width, height) in [(60, 16), (160, 48)] {
        let mut app = App::new(width, height);
        app.link(up());
        app.list(vec![sandbox("py")]);
        app.tick(0);
        app.keys("4");
        app.answer(|command| match command {
            Command::File {
                op: FileOp::List(_),
                ..
            } => Some(Ok(Reply::Entries(files(5_000)))),
            _ => None,
        });
        app.tick(1);
        let screen = app.screen();
        assert!(screen.contains("(5000)"), "{screen}");
        for keys in [
            "G",
            "pageup",
            "g",
            "pagedown",
            "space space",
            "* u",
            "d",
            "esc",
            ".",
        ] {
            app.keys(keys);
            check(&app);
        }
    }
}

#[test]
fn hostile_output_and_titles_stay_in_their_cells() {
    let mut app = App::with(80, 24, &["py"]);
    app.state.output.open(RunInfo {
        stream: StreamId(1),
        exec: crate::domain::ExecId::new("x1"),
        hold: crate::app::panes::output::Hold::Own,
        sandbox: reference("py"),
        sandbox_name: HOSTILE.concat(),
        title: HOSTILE.concat(),
        started: start(),
    });
    for stream in [StreamKind::Stdout, StreamKind::Stderr] {
        for evil in HOSTILE {
            let chunk = OutputChunk {
                stream,
                bytes: format!("{evil}\n").into(),
            };
            let stream = StreamId(1);
            app.engine(Event::Output { stream, chunk });
        }
    }
    for keys in ["3", "w", "t", "g", "z", "v j j", "esc"] {
        app.keys(keys);
        check(&app);
    }
}

#[test]
fn pasted_commands_do_nothing_where_letters_are_commands() {
    let mut app = App::with(80, 24, &["py"]);
    let before: Vec<Cell> = draw(&app, &Theme::dark()).content;
    for text in ["dy\r", "q", "\u{3}\u{11}", "XyX", ":quit\r", "\u{1b}[20~"] {
        for pane in ["2", "3", "4", "1"] {
            app.keys(pane);
            app.effects.clear();
            app.tell(crate::app::Msg::Paste(text.into()));
            assert_eq!(app.effects, Vec::new(), "{text:?} in pane {pane}");
        }
    }
    app.effects.clear();
    assert_eq!(draw(&app, &Theme::dark()).content, before);
}
