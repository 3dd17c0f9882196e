//! Turns a terminal's screen, as `tmux capture-pane -p -e` prints it, into an SVG picture.
//!
//! `tmux capture-pane -p -e | cargo run --example picture 132 > screen.svg`; `assets/pictures/make` does it for all.

#![allow(clippy::print_stdout)] // Printing is what it is for.

use std::fmt::Write as _;
use std::io::Read as _;
use std::num::NonZeroU16;

use vt100::{Cell, Color, Screen};

/// Size of a cell, and what is left around all of them, in pixels.
const CELL: (usize, usize) = (8, 17);
const MARGIN: usize = 10;
const INK: &str = "#d5dae3";
const PAPER: &str = "#181b21";
/// The sixteen colours that terminals name.
const NAMED: [&str; 16] = [
    "#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
    "#5c6370", "#f0868f", "#b0d890", "#f2d08f", "#7cc0ff", "#d894ec", "#6fd0dc", "#ffffff",
];

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let least = NonZeroU16::MIN;
    let rows = u16::try_from(text.lines().count()).ok();
    let rows = rows.and_then(NonZeroU16::new).unwrap_or(least);
    let columns = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let mut parser = vt100::Parser::new(rows, columns.unwrap_or(least), 0);
    parser.process(text.trim_end_matches('\n').replace('\n', "\r\n").as_bytes());
    print!("{}", picture(parser.screen()));
    Ok(())
}

fn size(screen: &Screen) -> (u16, u16) {
    let (rows, columns) = screen.size();
    (rows.get(), columns.get())
}

fn picture(screen: &Screen) -> String {
    let (rows, columns) = size(screen);
    let width = usize::from(columns) * CELL.0 + 2 * MARGIN;
    let height = usize::from(rows) * CELL.1 + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"13.3\" xml:space=\"preserve\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n"
    );
    for row in 0..rows {
        for run in runs(screen, row) {
            draw(&mut svg, usize::from(row), &run);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Neighbours that look alike.
struct Run {
    column: usize,
    width: usize,
    text: String,
    look: Look,
}

#[derive(Clone, PartialEq, Eq)]
struct Look {
    ink: String,
    paper: String,
    bold: bool,
    dim: bool,
    underlined: bool,
}

fn runs(screen: &Screen, row: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..size(screen).1 {
        let Some(cell) = screen
            .cell(row, column)
            .filter(|c| !c.is_wide_continuation())
        else {
            continue;
        };
        let (look, width) = (look(cell), 1 + usize::from(cell.is_wide()));
        let text = if cell.has_contents() {
            cell.contents()
        } else {
            " "
        };
        match runs.last_mut().filter(|run| run.look == look) {
            Some(run) => {
                run.text.push_str(text);
                run.width += width;
            }
            None => runs.push(Run {
                column: usize::from(column),
                width,
                text: text.to_owned(),
                look,
            }),
        }
    }
    runs
}

fn look(cell: &Cell) -> Look {
    let (ink, paper) = (colour(cell.fgcolor(), INK), colour(cell.bgcolor(), PAPER));
    let (ink, paper) = if cell.inverse() {
        (paper, ink)
    } else {
        (ink, paper)
    };
    Look {
        ink,
        paper,
        bold: cell.bold(),
        dim: cell.dim(),
        underlined: cell.underline(),
    }
}

fn colour(colour: Color, default: &str) -> String {
    match colour {
        Color::Default => default.to_owned(),
        Color::Idx(at) => indexed(at),
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
    }
}

/// The table of 256: named ones, a cube of six steps, greys.
fn indexed(at: u8) -> String {
    let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    match at {
        0..=15 => NAMED
            .get(usize::from(at))
            .copied()
            .unwrap_or(INK)
            .to_owned(),
        16..=231 => {
            let cube = at - 16;
            let (r, g, b) = (step(cube / 36), step(cube / 6 % 6), step(cube % 6));
            format!("#{r:02x}{g:02x}{b:02x}")
        }
        232.. => {
            let grey = 8 + 10 * (at - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    }
}

fn draw(svg: &mut String, row: usize, run: &Run) {
    let (x, y) = (MARGIN + run.column * CELL.0, MARGIN + row * CELL.1);
    let width = run.width * CELL.0;
    if run.look.paper != PAPER {
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" fill=\"{}\"/>",
            CELL.1, run.look.paper
        );
    }
    if run.text.trim().is_empty() {
        return;
    }
    let mut style = format!("fill=\"{}\"", run.look.ink);
    for (is_so, words) in [
        (run.look.bold, " font-weight=\"bold\""),
        (run.look.dim, " opacity=\"0.6\""),
        (run.look.underlined, " text-decoration=\"underline\""),
    ] {
        style.push_str(if is_so { words } else { "" });
    }
    let text = run.text.replace('&', "&amp;").replace('<', "&lt;");
    // The length keeps cells in their columns, whatever font the reader has.
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{}\" textLength=\"{width}\" {style}>{text}</text>",
        y + 13
    );
}
