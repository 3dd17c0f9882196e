//! What the mouse did, as the terminal tells it.

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    /// What.
    pub kind: MouseKind,
    /// Column on the screen.
    pub column: u16,
    /// Row on the screen.
    pub row: u16,
    /// Which button it was; left for the wheel.
    pub button: MouseButton,
    /// With Ctrl.
    pub ctrl: bool,
    /// With Alt.
    pub alt: bool,
    /// With Shift.
    pub shift: bool,
}

/// The kinds of things a mouse does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseKind {
    /// A button went down.
    Press,
    /// It moved with the button down.
    Drag,
    /// A button went up.
    Release,
    /// The wheel turned towards the person.
    WheelDown,
    /// The wheel turned away.
    WheelUp,
}

/// A button of the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseButton {
    /// The left one.
    Left,
    /// The middle one.
    Middle,
    /// The right one.
    Right,
}
