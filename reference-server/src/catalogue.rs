//! What does this server have to offer when it starts? One resource of each kind that a client must cope with, and
//! templates of each form.

/// What is behind a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Text(String),
    Bytes(Vec<u8>),
    /// All that lies directly below; one read returns several items.
    Folder,
    /// Text that takes a while to fetch.
    Slow(String),
}

/// A resource in the list.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub uri: String,
    pub name: String,
    pub description: Option<&'static str>,
    pub mime: Option<&'static str>,
    pub body: Body,
    /// Whether it is shown with all that the revision lets a resource have: title, annotations, icons and `_meta`.
    pub adorned: bool,
}

/// A family of resources: any values make one, all of this media type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Template {
    pub uri_template: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
}

pub(crate) const TEMPLATE_MIME: &str = "text/plain";
pub(crate) const GREETING: &str = "litmus://text/greeting";
pub(crate) const BINARY: &str = "litmus://data/all-bytes";
pub(crate) const SLOW: &str = "litmus://text/slow";
/// Not listed: nothing but trouble comes of reading it.
pub(crate) const BROKEN: &str = "litmus://text/broken";
pub(crate) const SPACED: &str = "file:///litmus/two%20words.txt";
pub(crate) const README: &str = "file:///litmus/readme.md";

pub(crate) const TEMPLATES: &[Template] = &[
    Template {
        uri_template: "litmus://notes/{id}",
        name: "note",
        title: "Note",
        description: "A note by its id",
    },
    Template {
        uri_template: "litmus://users/{user}/posts/{post}",
        name: "post",
        title: "Post",
        description: "A post of a user",
    },
    Template {
        uri_template: "litmus://search{?query,limit}",
        name: "search",
        title: "Search",
        description: "What a query finds",
    },
    Template {
        uri_template: "file:///litmus/archive/{+path}",
        name: "archive",
        title: "Archive",
        description: "A file in the archive, by its path",
    },
    Template {
        uri_template: "litmus://shelf{/room,board}",
        name: "shelf",
        title: "Shelf",
        description: "A board of a shelf in a room",
    },
];

pub(crate) fn entries() -> Vec<Entry> {
    let text = |text: &str| Body::Text(text.to_owned());
    let entry = |uri: &str, name: &str, description, mime, body| Entry {
        uri: uri.to_owned(),
        name: name.to_owned(),
        description,
        mime,
        body,
        adorned: false,
    };
    vec![
        Entry {
            adorned: true,
            ..entry(
                GREETING,
                "greeting",
                Some("Text beyond ASCII, shown with everything that a resource may have"),
                Some("text/plain"),
                text("Grüße, 世界! 🦀\nA second line."),
            )
        },
        entry("litmus://text/empty", "empty", Some("A text of no characters"), Some("text/plain"), text("")),
        entry(
            BINARY,
            "all-bytes",
            Some("Each byte value once"),
            Some("application/octet-stream"),
            Body::Bytes((0..=u8::MAX).collect()),
        ),
        entry(
            README,
            "readme.md",
            None,
            Some("text/markdown"),
            text("# Litmus\n\nFiles that exist in memory only.\n"),
        ),
        entry(SPACED, "two words.txt", None, Some("text/plain"), text("A URI with a space in it.\n")),
        entry(
            "file:///litmus/%E4%B8%96%E7%95%8C.txt",
            "世界.txt",
            None,
            Some("text/plain; charset=utf-8"),
            text("A URI beyond ASCII.\n"),
        ),
        entry("file:///litmus/docs/", "docs", Some("A folder: a read returns its files"), None, Body::Folder),
        entry("file:///litmus/docs/guide.md", "guide.md", None, Some("text/markdown"), text("# Guide\n")),
        entry("file:///litmus/docs/pixel.bin", "pixel.bin", None, None, Body::Bytes(vec![0, 255, 254])),
        entry(
            SLOW,
            "slow",
            Some("Takes 300 ms to read, and tells how far it is"),
            Some("text/plain"),
            Body::Slow("Worth the wait.".to_owned()),
        ),
    ]
}

/// A resource that some servers list besides, whose URI holds characters that a URI escapes.
pub(crate) fn unescaped_entry() -> Entry {
    Entry {
        uri: "litmus://text/grüße".to_owned(),
        name: "grüße".to_owned(),
        description: None,
        mime: Some("text/plain"),
        body: Body::Text("A URI whose characters are not escaped.\n".to_owned()),
        adorned: false,
    }
}

/// The template that the conformance suite of the protocol's own project reads from.
pub(crate) const OFFICIAL_TEMPLATE: Template = Template {
    uri_template: "test://template/{id}/data",
    name: "datum",
    title: "Datum",
    description: "Data by their id",
};

/// The resources that the conformance suite of the protocol's own project expects to find.
pub(crate) fn official_entries() -> Vec<Entry> {
    let entry = |uri: &str, name: &str, description, mime, body| Entry {
        uri: uri.to_owned(),
        name: name.to_owned(),
        description: Some(description),
        mime: Some(mime),
        body,
        adorned: false,
    };
    // One black pixel.
    let picture = b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\
        \x00\x00\x00\x0aIDATx\xdac`\x00\x00\x00\x02\x00\x01\xe5'\xde\xfc\x00\x00\x00\x00IEND\xaeB`\x82";
    vec![
        entry(
            "test://static-text",
            "static-text",
            "A text that stays as it is",
            "text/plain",
            Body::Text("This text stays as it is.".to_owned()),
        ),
        entry(
            "test://static-binary",
            "static-binary",
            "A picture of one pixel",
            "image/png",
            Body::Bytes(picture.to_vec()),
        ),
        entry(
            "test://watched-resource",
            "watched-resource",
            "A text to be told of when it changes",
            "text/plain",
            Body::Text("Watch this text.".to_owned()),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use iri_string::template::UriTemplateStr;
    use iri_string::types::UriStr;

    #[test]
    fn what_is_offered_obeys_the_grammars() {
        for entry in entries().into_iter().chain(official_entries()) {
            assert!(UriStr::new(&entry.uri).is_ok(), "{}", entry.uri);
        }
        for template in TEMPLATES.iter().chain([&OFFICIAL_TEMPLATE]) {
            assert!(UriTemplateStr::new(template.uri_template).is_ok(), "{}", template.uri_template);
        }
    }
}
