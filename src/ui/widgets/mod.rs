//! Small drawings that know nothing of the app.

mod meter;
mod popup;
mod spark;

pub(super) use meter::meter;
pub(super) use popup::popup;
pub(super) use spark::spark;
