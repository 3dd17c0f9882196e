//! Strings made safe and pretty: foreign bytes, widths, numbers, tables and suggestions.
//!
//! Nothing here knows a terminal library. All that comes from a sandbox, an engine or a file passes
//! [`SafeStream`], [`safe_block`] or [`safe_line`] before it may be shown.

mod escape;
mod hidden;
pub mod human;
mod line;
mod nearest;
mod safe;
mod size;
mod table;
mod width;

pub use hidden::is_treacherous;
pub use line::safe_line;
pub use nearest::nearest;
pub use safe::{SafeStream, safe_block};
pub use table::Table;
pub use width::{display_width, pad, pad_left, truncate};
