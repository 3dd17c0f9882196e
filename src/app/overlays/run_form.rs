//! The form before a run: timeout, arguments, input and packages, with what is known of the code.

use std::time::Duration;

use ratatui::layout::Rect;

use super::create_form::Field;
use super::cx::Cx;
use super::layer::{Layer, Reaction, Wheel};
use super::line::LineInput;
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::intent::{Intent, RunOptions};
use crate::code::{self, Language, Wanted};
use crate::keymap::{Action, Context, Key};

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
    pub fn place(&self, screen: Rect) -> ListBox {
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

impl RunForm {
    fn accept(&mut self) -> Reaction {
        match self.options() {
            Ok(options) => {
                let typed = self.fields.iter().map(|field| field.line.text()).collect();
                Reaction::close_and(vec![
                    Intent::RememberRunForm(typed),
                    Intent::Run {
                        code: std::mem::take(&mut self.code),
                        language: self.language.clone(),
                        options: Box::new(options),
                    },
                ])
            }
            Err(problem) => {
                self.problem = Some(problem);
                Reaction::stay()
            }
        }
    }
}

impl Layer for RunForm {
    fn context(&self) -> Context {
        Context::Prompt
    }

    fn on_action(&mut self, action: Action, _cx: &Cx<'_>) -> Reaction {
        match action {
            Action::Accept => return self.accept(),
            Action::Refuse | Action::Back => return Reaction::close(),
            Action::NextField | Action::Down => self.step(true),
            Action::PreviousField | Action::Up => self.step(false),
            _ => {}
        }
        Reaction::stay()
    }

    fn on_key(&mut self, key: Key, _cx: &Cx<'_>) -> Vec<Intent> {
        self.key(key);
        Vec::new()
    }

    fn on_paste(&mut self, text: &str, _cx: &Cx<'_>) -> Vec<Intent> {
        self.paste(text);
        Vec::new()
    }

    fn wheel(&self) -> Wheel {
        Wheel::Ignored
    }

    fn list_box(&self, cx: &Cx<'_>) -> Option<ListBox> {
        Some(self.place(cx.screen))
    }

    fn select_row(&mut self, row: usize) {
        self.at = row;
    }
}
