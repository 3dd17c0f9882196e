//! Where things are on the screen: pure arithmetic, for drawing, page sizes and the mouse alike.

pub mod column;
pub mod cursor;
pub mod layout;
pub mod list_box;
pub mod split;
