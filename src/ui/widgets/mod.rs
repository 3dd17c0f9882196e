//! Small drawings that know nothing of the app.

mod chart;
mod meter;
mod popup;
mod spark;

pub(super) use chart::Chart;
pub(super) use meter::meter;
pub(super) use popup::popup;
pub(super) use spark::spark;
