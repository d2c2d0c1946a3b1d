//! The lawful differences, one a row.

use std::time::Duration;

use crate::edge::{Hook::*, Row, row};

pub(super) const TABLE: &[Row] = &[
    row("one-page", "Each list fits on one page", &[Choose(|settings| settings.page_size = usize::MAX)]),
    row("slow", "Each message takes 300 ms", &[Delay(|_, _| Duration::from_millis(300))]),
];
