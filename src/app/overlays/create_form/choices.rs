//! What can be picked in a field of the form instead of being typed.

use super::CreateForm;
use crate::config::Config;
use crate::domain::Image;
use crate::text::human;

/// One thing to pick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What the field then holds.
    pub value: String,
    /// What is worth knowing about it.
    pub note: String,
}

impl Choice {
    fn new(value: impl Into<String>, note: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            note: note.into(),
        }
    }
}

/// Everything that can be picked, by field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Choices {
    profiles: Vec<Choice>,
    /// `None` until the engine has told.
    images: Option<Vec<Choice>>,
    /// What the person typed before picking; picking goes through what holds it.
    typed: Option<String>,
}

impl Choices {
    /// Lists the profiles of the configuration.
    pub(super) fn new(config: &Config) -> Self {
        let own = config.profiles.iter();
        let own = own.map(|(name, profile)| Choice::new(name, &profile.image));
        let usual = Choice::new(crate::config::DEFAULT_PROFILE, &config.sandbox.image);
        Self {
            profiles: std::iter::once(usual).chain(own).collect(),
            images: None,
            typed: None,
        }
    }

    /// Forgets what was typed before picking.
    pub(super) fn typed_again(&mut self) {
        self.typed = None;
    }

    fn of(&self, label: &str) -> Vec<Choice> {
        match label {
            "profile" => self.profiles.clone(),
            "image" => self.images.clone().unwrap_or_default(),
            "network" => vec![
                Choice::new("no", "reaches nothing but itself"),
                Choice::new("yes", "reaches what the engine's network does"),
            ],
            _ => Vec::new(),
        }
    }
}

impl CreateForm {
    /// Takes the images that need no pull.
    pub fn set_images(&mut self, images: &[Image]) {
        let choice = |image: &Image| {
            let size = image.size_bytes.map(human::bytes);
            Choice::new(&image.name, size.unwrap_or_default())
        };
        self.choices.images = Some(images.iter().map(choice).collect());
    }

    /// Returns what can be picked in the field that has the keys, narrowed by what was typed.
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        let Some(field) = self.fields.get(self.at) else {
            return Vec::new();
        };
        let typed = self.choices.typed.clone();
        let wanted = typed.unwrap_or_else(|| field.line.text()).to_lowercase();
        let mut found = self.choices.of(field.label);
        found.retain(|choice| choice.value.to_lowercase().contains(wanted.trim()));
        found
    }

    /// Returns which choice the field holds.
    #[must_use]
    pub fn picked(&self) -> Option<usize> {
        let text = self.fields.get(self.at)?.line.text();
        self.choices()
            .iter()
            .position(|choice| choice.value == text)
    }

    /// Puts the next or previous choice into the field.
    pub fn pick(&mut self, forward: bool) {
        let count = self.choices().len();
        let next = match (self.picked(), forward) {
            (Some(at), true) => at + 1,
            (Some(at), false) => at + count - 1,
            (None, true) => 0,
            (None, false) => count.saturating_sub(1),
        };
        self.pick_at(next % count.max(1));
    }

    /// Puts a choice into the field.
    pub fn pick_at(&mut self, at: usize) {
        let found = self.choices();
        if let (Some(choice), Some(field)) = (found.get(at), self.fields.get_mut(self.at)) {
            let text = field.line.text();
            self.choices.typed.get_or_insert(text);
            field.line = super::LineInput::new(&choice.value);
        }
    }

    /// Tells whether the image needs no pull; `None` while the engine has not told.
    #[must_use]
    pub fn is_image_here(&self) -> Option<bool> {
        let field = self.fields.iter().find(|field| field.label == "image")?;
        let typed = field.line.text();
        let image = match typed.trim() {
            "" => field.default.as_str(),
            typed => typed,
        };
        let images = self.choices.images.as_ref()?;
        let is_it = |name: &str| name == image || name.strip_suffix(":latest") == Some(image);
        Some(images.iter().any(|choice| is_it(&choice.value)))
    }
}
