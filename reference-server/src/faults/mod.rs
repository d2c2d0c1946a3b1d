//! What can go wrong? Each fault changes one thing at the edge of a clean server. The tables, by area, are below.

use std::fmt;
use std::str::FromStr;

use crate::edge::{Row, Transport};

mod asking;
mod discover;
mod http;
mod input;
mod list;
mod listen;
mod meta;
mod opening;
mod paging;
mod read;
mod rpc;
mod stdio;
mod subscribe;
mod templates;
mod utilities;

/// The tables, in the order in which faults are listed.
const TABLES: [&[Row]; 19] = [
    rpc::TABLE,
    input::TABLE,
    stdio::TABLE,
    meta::TABLE,
    opening::TABLE,
    discover::TABLE,
    asking::TABLE,
    list::TABLE,
    templates::TABLE,
    read::TABLE,
    subscribe::TABLE,
    listen::TABLE,
    paging::TABLE,
    utilities::TABLE,
    http::headers::TABLE,
    http::status::TABLE,
    http::sessions::TABLE,
    http::streams::TABLE,
    http::old::TABLE,
];

/// One way to go wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    table: usize,
    row: usize,
}

impl Fault {
    /// All faults, by area.
    pub const ALL: &'static [Self] = &all();

    /// The name, in kebab-case.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What goes wrong, in one line.
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

const COUNT: usize = {
    let (mut count, mut table) = (0, 0);
    while table < TABLES.len() {
        count += TABLES[table].len();
        table += 1;
    }
    count
};

const fn all() -> [Fault; COUNT] {
    let mut faults = [Fault { table: 0, row: 0 }; COUNT];
    let (mut next, mut table) = (0, 0);
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            faults[next] = Fault { table, row };
            next += 1;
            row += 1;
        }
        table += 1;
    }
    faults
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fault({})", self.name())
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .find(|fault| fault.name() == text)
            .copied()
            .ok_or_else(|| format!("no fault is named `{text}`"))
    }
}
