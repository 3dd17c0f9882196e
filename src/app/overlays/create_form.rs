//! The form for a new sandbox: fields with their defaults, checked while typing.

mod choices;
#[cfg(test)]
mod tests;

pub use choices::Choice;

use ratatui::layout::{Position, Rect};

use super::cx::Cx;
use super::layer::{Layer, Reaction, Wheel};
use super::line::LineInput;
use crate::app::geometry::layout::{form_area, form_parts};
use crate::app::geometry::list_box::ListBox;
use crate::app::intent::Intent;
use crate::app::settings::Settings;
use crate::config::{Config, NewSandbox};
use crate::domain::{Owner, SandboxSpec};
use crate::keymap::{Action, Context, Key};
use crate::protocol::Failure;
use choices::Choices;

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// What it is called.
    pub label: &'static str,
    /// What may be typed, in a word or two.
    pub hint: &'static str,
    /// What was typed; empty takes the profile's value.
    pub line: LineInput,
    /// What the profile gives.
    pub default: String,
}

/// The form.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateForm {
    /// Its fields: name, profile, image, memory, cpus, pids, timeout, network, env, mounts.
    pub fields: Vec<Field>,
    /// The field that has the keys.
    pub at: usize,
    /// Why it cannot be created as it stands.
    pub problem: Option<String>,
    /// Makes the name of the sandbox unique where none is given.
    token: String,
    choices: Choices,
}

const FIELDS: [(&str, &str); 10] = [
    ("name", "letters, digits, - and _"),
    ("profile", "of the configuration"),
    ("image", "such as python:3.12-slim"),
    ("memory", "such as 512m"),
    ("cpus", "1.0 is one core"),
    ("processes", "0: no limit"),
    ("timeout", "seconds a command may take"),
    ("network", "yes or no"),
    ("variables", "KEY=VALUE KEY=VALUE"),
    ("mounts", "HOST:PATH[:ro] …"),
];

impl CreateForm {
    /// Makes an empty form that shows the defaults of the usual profile.
    #[must_use]
    pub fn new(config: &Config, token: String) -> Self {
        let fields = FIELDS.map(|(label, hint)| Field {
            label,
            hint,
            line: LineInput::default(),
            default: String::new(),
        });
        let mut form = Self {
            fields: fields.to_vec(),
            at: 0,
            problem: None,
            token,
            choices: Choices::new(config),
        };
        form.refresh(config);
        form
    }

    /// Moves to another field.
    pub fn step(&mut self, forward: bool) {
        self.choices.typed_again();
        let count = self.fields.len();
        self.at = (self.at + if forward { 1 } else { count - 1 }) % count;
    }

    /// Moves to the field in a row.
    pub fn go_to(&mut self, row: usize) {
        if row < self.fields.len() {
            self.choices.typed_again();
            self.at = row;
        }
    }

    /// Lists the fields in their place.
    #[must_use]
    pub fn field_box(&self, screen: Rect) -> ListBox {
        let [body, ..] = self.parts(screen);
        ListBox::bare(body, self.fields.len(), self.at)
    }

    /// Lists what can be picked in its place; what is picked is in sight.
    #[must_use]
    pub fn choice_box(&self, screen: Rect) -> ListBox {
        let [_, body, ..] = self.parts(screen);
        let at = self.picked().unwrap_or(0);
        ListBox::bare(body, self.choices().len(), at)
    }

    /// Divides it: fields, what can be picked, what is wrong, keys.
    #[must_use]
    pub fn parts(&self, screen: Rect) -> [Rect; 4] {
        form_parts(form_area(screen, self.fields.len()), self.fields.len())
    }

    /// Takes a key into the field; true if it changed something.
    pub fn key(&mut self, key: Key, config: &Config) -> bool {
        let taken = self
            .fields
            .get_mut(self.at)
            .is_some_and(|field| field.line.key(key));
        self.choices.typed_again();
        self.refresh(config);
        taken
    }

    /// Takes pasted text into the field.
    pub fn paste(&mut self, text: &str, config: &Config) {
        if let Some(field) = self.fields.get_mut(self.at) {
            field.line.insert(text);
        }
        self.choices.typed_again();
        self.refresh(config);
    }

    fn text(&self, label: &str) -> Option<String> {
        let field = self.fields.iter().find(|field| field.label == label)?;
        Some(field.line.text().trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Shows the defaults of the chosen profile, and what is wrong.
    pub(crate) fn refresh(&mut self, config: &Config) {
        if let Ok((name, profile)) = config.profile(self.text("profile").as_deref()) {
            let limits = profile.limits;
            let none = || "none".to_owned();
            let defaults = [
                "made up".to_owned(),
                name,
                profile.image.clone(),
                limits
                    .memory_bytes
                    .map_or_else(none, crate::text::human::bytes),
                limits.cpus.map_or_else(none, |cpus| cpus.to_string()),
                limits.pids.map_or_else(none, |pids| pids.to_string()),
                limits
                    .timeout_s
                    .map_or_else(none, |seconds| format!("{seconds} s")),
                if profile.network == crate::domain::Network::None {
                    "no"
                } else {
                    "yes"
                }
                .to_owned(),
                profile
                    .env
                    .iter()
                    .map(|(key, _)| key.as_str())
                    .collect::<Vec<_>>()
                    .join(" "),
                profile
                    .mounts
                    .iter()
                    .map(|mount| mount.source.display().to_string())
                    .collect::<Vec<_>>()
                    .join(" "),
            ];
            for (field, default) in self.fields.iter_mut().zip(defaults) {
                field.default = default;
            }
        }
        let owner = Owner {
            host: String::new(),
            pid: 0,
            started: 0,
            user: None,
            kind: crate::domain::OwnerKind::Cli,
        };
        self.problem = self
            .spec(config, owner, "00000000".to_owned())
            .err()
            .map(|failure| failure.message);
    }

    /// Builds what is asked for.
    ///
    /// # Errors
    /// A field holds something that cannot be; the message names it.
    pub fn spec(
        &self,
        config: &Config,
        owner: Owner,
        token: String,
    ) -> Result<SandboxSpec, Failure> {
        self.wanted()?.build(config, owner, token)
    }

    fn wanted(&self) -> Result<NewSandbox, Failure> {
        let words = |label: &str| -> Vec<String> {
            let text = self.text(label).unwrap_or_default();
            text.split_whitespace().map(str::to_owned).collect()
        };
        Ok(NewSandbox {
            name: self.text("name"),
            profile: self.text("profile"),
            image: self.text("image"),
            memory: self.text("memory"),
            cpus: self.number("cpus")?,
            pids: self.number("processes")?,
            timeout: self.number("timeout")?,
            network: self.yes_no("network")?,
            env: words("variables"),
            mounts: words("mounts"),
            workdir: None,
            user: None,
            labels: Vec::new(),
        })
    }

    fn number<T: std::str::FromStr>(&self, label: &str) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(label) else {
            return Ok(None);
        };
        let wrong = || {
            Failure::new(
                crate::protocol::FailureKind::Invalid,
                format!("{label}: `{text}` is not a number"),
            )
        };
        text.parse().map(Some).map_err(|_| wrong())
    }

    fn yes_no(&self, label: &str) -> Result<Option<bool>, Failure> {
        match self.text(label).as_deref() {
            None => Ok(None),
            Some("y" | "yes" | "on" | "true") => Ok(Some(true)),
            Some("n" | "no" | "off" | "false" | "none") => Ok(Some(false)),
            Some(_) => Err(Failure::new(
                crate::protocol::FailureKind::Invalid,
                format!("{label}: say yes or no"),
            )),
        }
    }
}

impl CreateForm {
    fn accept(&mut self, settings: &Settings) -> Reaction {
        let (owner, token) = (settings.owner.clone(), self.token.clone());
        match self.spec(&settings.config, owner, token) {
            Ok(spec) => Reaction::close_and(vec![Intent::Create(Box::new(spec))]),
            Err(failure) => {
                self.problem = Some(failure.message);
                Reaction::stay()
            }
        }
    }

    /// Goes through what can be picked in the field, or to another field where nothing can.
    fn pick_or_step(&mut self, down: bool, config: &Config) {
        if self.choices().is_empty() {
            self.step(down);
        } else {
            self.pick(down);
            self.refresh(config);
        }
    }
}

impl Layer for CreateForm {
    fn context(&self) -> Context {
        Context::Prompt
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Reaction {
        match action {
            Action::Accept => return self.accept(cx.settings),
            Action::Refuse | Action::Back => return Reaction::close(),
            Action::NextField => self.step(true),
            Action::PreviousField => self.step(false),
            Action::Down => self.pick_or_step(true, &cx.settings.config),
            Action::Up => self.pick_or_step(false, &cx.settings.config),
            _ => {}
        }
        Reaction::stay()
    }

    fn on_key(&mut self, key: Key, cx: &Cx<'_>) -> Vec<Intent> {
        self.key(key, &cx.settings.config);
        Vec::new()
    }

    fn on_paste(&mut self, text: &str, cx: &Cx<'_>) -> Vec<Intent> {
        self.paste(text, &cx.settings.config);
        Vec::new()
    }

    fn wheel(&self) -> Wheel {
        Wheel::Ignored
    }

    /// Goes to a field, or picks what is offered for the one that has the keys.
    fn on_press(&mut self, at: Position, cx: &Cx<'_>) -> Reaction {
        if let Some(field) = self.field_box(cx.screen).row_at(at) {
            self.go_to(field);
        } else if let Some(choice) = self.choice_box(cx.screen).row_at(at) {
            self.pick_at(choice);
            self.refresh(&cx.settings.config);
        }
        Reaction::stay()
    }
}
