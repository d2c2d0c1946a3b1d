//! How does somebody outside the conversation make resources change? By lines appended to a file: `touch URI`,
//! `add URI` and `remove URI`.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use crate::store::Store;

/// How often the file is looked at.
pub(crate) const POLL: Duration = Duration::from_millis(100);
/// At most this much of it is read at once, in bytes.
const CHUNK: u64 = 1 << 20;

/// A file of commands, and how far it has been followed.
pub(crate) struct Control {
    path: PathBuf,
    offset: u64,
}

impl Control {
    /// Lines that are there already are not obeyed.
    pub fn open(path: PathBuf) -> Self {
        let offset = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        Self { path, offset }
    }

    /// Obeys the complete lines that were appended since. A file that is absent or shrank starts afresh.
    pub fn poll(&mut self, store: &mut Store) {
        for line in self.appended().lines() {
            let (command, uri) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
            let uri = uri.trim();
            // A command that cannot be obeyed changes nothing; nobody waits for an answer.
            let _ = match command {
                "touch" => store.touch(uri),
                "add" => store.add(Some(uri).filter(|uri| !uri.is_empty())).map(|_| ()),
                "remove" => store.remove(uri),
                _ => Ok(()),
            };
        }
    }

    fn appended(&mut self) -> String {
        let Ok(mut file) = File::open(&self.path) else {
            self.offset = 0;
            return String::new();
        };
        if file.metadata().is_ok_and(|metadata| metadata.len() < self.offset) {
            self.offset = 0;
        }
        let mut bytes = Vec::new();
        let read =
            file.seek(SeekFrom::Start(self.offset)).and_then(|_| file.take(CHUNK).read_to_end(&mut bytes));
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        bytes.truncate(if read.is_ok() { complete } else { 0 });
        self.offset += complete as u64;
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
