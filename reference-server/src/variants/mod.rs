//! In what may a server differ and still be right? Each variant is lawful; no case may fail because of one.

use std::fmt;
use std::str::FromStr;

use crate::edge::{Row, Transport};

mod choices;
mod conduct;
mod forms;
mod http;

/// The tables, in the order in which variants are listed.
const TABLES: [&[Row]; 4] = [choices::TABLE, forms::TABLE, conduct::TABLE, http::TABLE];

/// One lawful difference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variant {
    table: usize,
    row: usize,
}

impl Variant {
    /// All variants.
    pub const ALL: &'static [Self] = &all();

    /// The name, in kebab-case.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What differs, in one line.
    pub fn about(self) -> &'static str {
        self.row().about
    }

    /// The transports on which it can show.
    pub fn transports(self) -> &'static [Transport] {
        self.row().transports
    }

    pub(crate) fn row(self) -> &'static Row {
        &TABLES[self.table][self.row]
    }
}

const COUNT: usize = TABLES[0].len() + TABLES[1].len() + TABLES[2].len() + TABLES[3].len();

const fn all() -> [Variant; COUNT] {
    let mut variants = [Variant { table: 0, row: 0 }; COUNT];
    let (mut next, mut table) = (0, 0);
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            variants[next] = Variant { table, row };
            next += 1;
            row += 1;
        }
        table += 1;
    }
    variants
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variant({})", self.name())
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|variant| variant.name() == text);
        found.copied().ok_or_else(|| format!("no variant is named `{text}`"))
    }
}
