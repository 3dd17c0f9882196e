//! The form before a run: timeout, arguments, input and packages, with what is known of the code.

use std::time::Duration;

use ratatui::layout::Rect;

use super::line::LineInput;
use super::overlay::Overlay;
use crate::app::flows::run_program;
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::input::on_action::open;
use crate::app::overlays::create_form::Field;
use crate::app::{AppState, Effect};
use crate::code;
use crate::code::{Language, Wanted};
use crate::domain::SandboxRef;
use crate::keymap::{Action, Key};

/// What a run gets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunOptions {
    /// Longest time; `None` is the sandbox's own limit.
    pub timeout: Option<Option<Duration>>,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// All of its input; `None` lets the person type it later.
    pub input: Option<String>,
    /// Its packages.
    pub wanted: Wanted,
    /// Where, if not in the selected sandbox.
    pub target: Option<Target>,
}

/// A sandbox to run in, and what the run is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where.
    pub sandbox: SandboxRef,
    /// The name of the run.
    pub title: String,
}

/// The form.
#[derive(Debug, Clone, PartialEq)]
pub struct RunForm {
    /// Its fields: timeout, arguments, input, packages.
    pub fields: Vec<Field>,
    /// The field that has the keys.
    pub at: usize,
    /// Why it cannot be run so.
    pub problem: Option<String>,
    code: String,
    language: Language,
}

const FIELDS: [(&str, &str, &str); 4] = [
    ("timeout", "the sandbox's", "seconds; 0: no limit"),
    ("arguments", "none", "words; quotes keep blanks"),
    ("input", "typed later", "one line for standard input"),
    (
        "packages",
        "auto",
        "auto, none, or a list with commas to add",
    ),
];

impl RunForm {
    /// Starts with what was typed last time.
    #[must_use]
    pub fn new(code: String, language: Language, last: &[String]) -> Self {
        let fields = FIELDS
            .iter()
            .enumerate()
            .map(|(at, (label, default, hint))| Field {
                label,
                hint,
                line: LineInput::new(last.get(at).map_or("", String::as_str)),
                default: (*default).to_owned(),
            });
        Self {
            fields: fields.collect(),
            at: 0,
            problem: None,
            code,
            language,
        }
    }

    /// Places it: fields, and below them what is known of the code and what is wrong.
    #[must_use]
    pub fn list_box(&self, screen: Rect) -> ListBox {
        let shape = Shape {
            width: 84,
            head: 0,
            foot: 4,
        };
        ListBox::new(screen, shape, self.fields.len(), self.at)
    }

    /// Takes a key into the field.
    pub fn key(&mut self, key: Key) {
        if let Some(field) = self.fields.get_mut(self.at) {
            field.line.key(key);
        }
        self.problem = self.options().err();
    }

    /// Takes pasted text into the field.
    pub fn paste(&mut self, text: &str) {
        if let Some(field) = self.fields.get_mut(self.at) {
            field.line.insert(text);
        }
        self.problem = self.options().err();
    }

    fn step(&mut self, forward: bool) {
        let count = self.fields.len();
        self.at = (self.at + if forward { 1 } else { count - 1 }) % count;
    }

    fn text(&self, label: &str) -> String {
        let field = self.fields.iter().find(|field| field.label == label);
        field.map(|field| field.line.text()).unwrap_or_default()
    }

    /// Reads the fields.
    ///
    /// # Errors
    /// One holds something that cannot be; the sentence names it.
    pub fn options(&self) -> Result<RunOptions, String> {
        let timeout = match self.text("timeout").trim() {
            "" => None,
            text => {
                let seconds: Option<f64> = text.parse().ok();
                let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let time = time.ok_or_else(|| format!("timeout: `{text}` is not a number"))?;
                Some(Some(time).filter(|time| !time.is_zero()))
            }
        };
        let wanted = Wanted::parse(&self.text("packages"));
        if let Some(installer) = self.language.installer() {
            let merged = wanted.merge(installer, &[]);
            merged.map_err(|words| format!("packages: {words}"))?;
        }
        let arguments = code::words(&self.text("arguments"));
        Ok(RunOptions {
            timeout,
            arguments: arguments.map_err(|words| format!("arguments: {words}"))?,
            input: Some(self.text("input")).filter(|text| !text.is_empty()),
            wanted,
            target: None,
        })
    }
}

/// Gives an action to the form.
pub(crate) fn run(state: &mut AppState, mut form: Box<RunForm>, action: Action) -> Vec<Effect> {
    match action {
        Action::Accept => return accept(state, form),
        Action::Refuse | Action::Back => return Vec::new(),
        Action::NextField | Action::Down => form.step(true),
        Action::PreviousField | Action::Up => form.step(false),
        _ => {}
    }
    open(state, Overlay::Run(form))
}

fn accept(state: &mut AppState, mut form: Box<RunForm>) -> Vec<Effect> {
    match form.options() {
        Ok(options) => {
            state.last_run = form.fields.iter().map(|field| field.line.text()).collect();
            run_program::run(state, form.code, form.language, options)
        }
        Err(problem) => {
            form.problem = Some(problem);
            open(state, Overlay::Run(form))
        }
    }
}
