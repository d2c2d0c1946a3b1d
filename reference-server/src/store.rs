//! Which resources exist right now, what do they hold, and what changed? Knows nothing of messages or revisions.

use std::collections::{HashMap, VecDeque};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use iri_string::types::UriStr;

use crate::catalogue::{
    BROKEN, Body, Entry, OFFICIAL_TEMPLATE, TEMPLATE_MIME, TEMPLATES, Template, entries, official_entries,
    unescaped_entry,
};
use crate::settings::Settings;
use crate::template;

/// Something that clients may want to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The contents of the resource with this URI.
    Updated(String),
    /// The set of resources.
    List,
}

/// Why a URI names no resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// It is no URI, or one that may name nothing here: it climbs out of the tree it starts in.
    Illegal,
    /// It is a URI, but nothing is there.
    Unknown,
    /// Something is there, but it cannot be fetched.
    Broken,
}

/// Text or bytes; never both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    Text(String),
    /// Already in base64, with padding.
    Blob(String),
}

/// One item of a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub uri: String,
    pub mime: Option<&'static str>,
    pub data: Data,
}

/// All resources of one running server.
pub(crate) struct Store {
    entries: Vec<Entry>,
    templates: Vec<Template>,
    /// How often each URI was touched.
    touched: HashMap<String, u32>,
    added: u32,
    /// The latest changes, and how many there were before them.
    changes: VecDeque<Change>,
    forgotten: usize,
}

/// As many changes are remembered. Whoever follows them asks after each message, so none is missed.
const REMEMBERED: usize = 1024;

impl Store {
    pub fn new() -> Self {
        let templates = TEMPLATES.to_vec();
        Self {
            entries: entries(),
            templates,
            touched: HashMap::new(),
            added: 0,
            changes: VecDeque::new(),
            forgotten: 0,
        }
    }

    /// What a server of these choices starts with.
    pub fn of(settings: &Settings) -> Self {
        let mut store = if settings.empty { Self::empty() } else { Self::new() };
        if settings.unescaped {
            store.entries.insert(0, unescaped_entry());
        }
        if settings.official {
            store.entries.splice(0..0, official_entries());
            store.templates.insert(0, OFFICIAL_TEMPLATE);
        }
        store
    }

    fn empty() -> Self {
        Self { entries: Vec::new(), templates: Vec::new(), ..Self::new() }
    }

    /// The listed resources, in a stable order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The families of resources, in a stable order.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    pub fn entry(&self, uri: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.uri == uri)
    }

    /// Whether the URI is well-formed and stays inside what is served.
    pub fn check(uri: &str) -> Result<(), Absence> {
        let parsed = UriStr::new(uri).map_err(|_| Absence::Illegal)?;
        if !parsed.scheme_str().eq_ignore_ascii_case("file") {
            return Ok(());
        }
        // Dot segments count however often they are escaped, and whichever way the slash leans.
        let mut path = parsed.path_str().to_owned();
        while let Some(plain) = template::decode(&path).filter(|plain| *plain != path) {
            path = plain;
        }
        if path.split(['/', '\\']).any(|segment| segment == ".." || segment == ".") || path.contains('\0') {
            return Err(Absence::Illegal);
        }
        Ok(())
    }

    /// Whether something may ever be at the URI: it is listed, whatever its form, or it passes the check.
    pub fn may_hold(&self, uri: &str) -> Result<(), Absence> {
        if self.entry(uri).is_some() { Ok(()) } else { Self::check(uri) }
    }

    /// Whether a read of the URI finds something.
    pub fn holds(&self, uri: &str) -> Result<(), Absence> {
        self.read(uri).map(|_| ())
    }

    pub fn is_slow(&self, uri: &str) -> bool {
        self.entry(uri).is_some_and(|entry| matches!(entry.body, Body::Slow(_)))
    }

    /// What is behind a URI. Each item bears the URI as it was asked for, byte by byte, or that of a part.
    pub fn read(&self, uri: &str) -> Result<Vec<Content>, Absence> {
        // What is listed is there, even if its URI is none by the grammar.
        if let Some(entry) = self.entry(uri) {
            return Ok(match entry.body {
                Body::Folder => self.files_in(uri).map(|file| self.content(file)).collect(),
                _ => vec![self.content(entry)],
            });
        }
        Self::check(uri)?;
        if uri == BROKEN {
            return Err(Absence::Broken);
        }
        let (found, values) = self
            .templates
            .iter()
            .find_map(|t| Some((t, template::matches(t.uri_template, uri)?)))
            .ok_or(Absence::Unknown)?;
        let lines: Vec<String> = values.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let text = self.with_touches(uri, &format!("{}\n{}", found.title, lines.concat()));
        Ok(vec![Content { uri: uri.to_owned(), mime: Some(TEMPLATE_MIME), data: Data::Text(text) }])
    }

    /// The size of the raw contents in bytes; none for a folder.
    pub fn size(&self, entry: &Entry) -> Option<usize> {
        match &entry.body {
            Body::Text(text) | Body::Slow(text) => Some(self.with_touches(&entry.uri, text).len()),
            Body::Bytes(bytes) => Some(self.bytes(&entry.uri, bytes).len()),
            Body::Folder => None,
        }
    }

    /// How often the resource was touched.
    pub fn touches(&self, uri: &str) -> u32 {
        self.touched.get(uri).copied().unwrap_or(0)
    }

    /// Changes the contents of a resource.
    pub fn touch(&mut self, uri: &str) -> Result<(), Absence> {
        self.holds(uri)?;
        let mut uris: Vec<String> = vec![uri.to_owned()];
        if self.entry(uri).is_some_and(|entry| entry.body == Body::Folder) {
            // A folder changes through one of its files.
            uris.extend(self.files_in(uri).next().map(|file| file.uri.clone()));
        } else {
            uris.extend(self.folder_of(uri).map(|folder| folder.uri.clone()));
        }
        for uri in uris {
            *self.touched.entry(uri.clone()).or_default() += 1;
            self.changed(Change::Updated(uri));
        }
        Ok(())
    }

    /// Lists one resource more, at `uri` or at a new one, and returns its URI; none if it was there already.
    pub fn add(&mut self, uri: Option<&str>) -> Result<Option<String>, Absence> {
        self.added += 1;
        let uri = uri.map_or_else(|| format!("litmus://added/{}", self.added), str::to_owned);
        Self::check(&uri)?;
        if self.entry(&uri).is_some() {
            return Ok(None);
        }
        self.entries.push(Entry {
            name: format!("added-{}", self.added),
            description: Some("Added while the server ran"),
            mime: Some("text/plain"),
            body: Body::Text(format!("Added as number {}.", self.added)),
            adorned: false,
            uri: uri.clone(),
        });
        let folder = self.folder_of(&uri).map(|folder| Change::Updated(folder.uri.clone()));
        folder.into_iter().for_each(|folder| self.changed(folder));
        self.changed(Change::List);
        Ok(Some(uri))
    }

    /// Takes a resource off the list.
    pub fn remove(&mut self, uri: &str) -> Result<(), Absence> {
        let place = self.entries.iter().position(|entry| entry.uri == uri).ok_or(Absence::Unknown)?;
        self.entries.remove(place);
        let folder = self.folder_of(uri).map(|folder| Change::Updated(folder.uri.clone()));
        folder.into_iter().for_each(|folder| self.changed(folder));
        self.changed(Change::List);
        Ok(())
    }

    /// How many changes there were so far.
    pub fn change_count(&self) -> usize {
        self.forgotten + self.changes.len()
    }

    /// The changes after the first `seen`, oldest first.
    pub fn changes_after(&self, seen: usize) -> Vec<Change> {
        self.changes.iter().skip(seen.saturating_sub(self.forgotten)).cloned().collect()
    }

    fn changed(&mut self, change: Change) {
        self.changes.push_back(change);
        if self.changes.len() > REMEMBERED {
            self.changes.pop_front();
            self.forgotten += 1;
        }
    }

    fn content(&self, entry: &Entry) -> Content {
        let data = match &entry.body {
            Body::Bytes(bytes) => Data::Blob(BASE64.encode(self.bytes(&entry.uri, bytes))),
            Body::Text(text) | Body::Slow(text) => Data::Text(self.with_touches(&entry.uri, text)),
            Body::Folder => Data::Text(String::new()),
        };
        Content { uri: entry.uri.clone(), mime: entry.mime, data }
    }

    fn with_touches(&self, uri: &str, text: &str) -> String {
        match self.touches(uri) {
            0 => text.to_owned(),
            times => format!("{text}\nTouched {times} times."),
        }
    }

    fn bytes(&self, uri: &str, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        if let times @ 1.. = self.touches(uri) {
            bytes.extend(times.to_be_bytes());
        }
        bytes
    }

    fn files_in<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(move |entry| entry.uri != folder && entry.uri.starts_with(folder))
    }

    fn folder_of(&self, uri: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.body == Body::Folder && e.uri != uri && uri.starts_with(&e.uri))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{BINARY, GREETING};

    #[test]
    fn nothing_outside_the_tree_is_reached() {
        let store = Store::new();
        for uri in [
            "file:///litmus/../etc/passwd",
            "file:///litmus/%2e%2e/etc/passwd",
            "file:///litmus/archive/%252e%252e%252fetc/passwd",
            "file:///litmus/archive/..%5C..%5Cx",
            "file:///litmus/archive/a/./b",
            "file:///%zz",
            "readme.md",
            "",
            "litmus://a b",
            "litmus://notes/{id}",
        ] {
            assert_eq!(store.read(uri), Err(Absence::Illegal), "{uri}");
        }
        assert_eq!(store.read("file:///etc/passwd"), Err(Absence::Unknown));
        assert_eq!(store.read("FILE:///litmus/readme.md"), Err(Absence::Unknown));
    }

    #[test]
    fn a_touch_changes_contents_and_size() {
        let mut store = Store::new();
        for uri in [GREETING, BINARY, "litmus://text/empty", "litmus://notes/7", "file:///litmus/docs/"] {
            let before = store.read(uri).unwrap();
            store.touch(uri).unwrap();
            assert_ne!(store.read(uri).unwrap(), before, "{uri}");
            assert!(store.changes_after(0).contains(&Change::Updated(uri.to_owned())));
        }
    }

    #[test]
    fn added_resources_are_new_until_removed() {
        let mut store = Store::new();
        let uri = store.add(None).unwrap().unwrap();
        assert_ne!(store.add(None).unwrap().unwrap(), uri);
        assert_eq!(store.add(Some(&uri)), Ok(None));
        let before = store.change_count();
        assert_eq!(store.remove(&uri), Ok(()));
        assert_eq!(store.changes_after(before), [Change::List]);
        assert_eq!(store.read(&uri), Err(Absence::Unknown));
    }
}
