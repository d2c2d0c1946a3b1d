//! The lawful differences, one a row.

use crate::edge::{Hook::*, Row, row};

pub(super) const TABLE: &[Row] =
    &[row("one-page", "Each list fits on one page", &[Choose(|settings| settings.page_size = usize::MAX)])];
