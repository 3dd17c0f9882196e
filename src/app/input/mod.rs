//! What comes in: keys, actions, the mouse and events, each given to whom it concerns.

pub mod hints;
pub(crate) mod on_action;
pub(crate) mod on_event;
pub(crate) mod on_key;
pub(crate) mod on_mouse;
pub(crate) mod on_overlay;
pub(crate) mod on_reply;
