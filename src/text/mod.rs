//! Strings made safe and pretty: foreign bytes, widths, numbers, tables and suggestions.
//!
//! Nothing here knows a terminal library. All that comes from a sandbox, an engine or a file passes
//! [`SafeStream`], [`safe_block`] or [`safe_line`] before it may be shown.

mod ansi;
mod decode;
mod draft;
mod escape;
mod hidden;
pub mod human;
mod line;
mod nearest;
mod overwrite;
mod ring;
mod safe;
mod secret;
mod size;
mod style;
mod table;
mod terminal_filter;
mod terminal_rules;
mod width;
mod wrap;

pub use ansi::LineParser;
pub use draft::StyledLine;
pub use hidden::is_treacherous;
pub use line::safe_line;
pub use nearest::nearest;
pub use ring::{Ring, Weigh};
pub use safe::{SafeStream, safe_block};
pub use secret::{MASK, is_secret, masked_address, masked_value};
pub use style::{TextColor, TextFlags, TextStyle};
pub use table::Table;
pub use terminal_filter::TerminalFilter;
pub use terminal_rules::TerminalPermissions;
pub(crate) use width::split_cluster;
pub use width::{display_width, pad, pad_left, truncate};
pub use wrap::{Rows, row_count, rows, wrapped};
