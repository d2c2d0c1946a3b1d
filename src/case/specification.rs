//! Where is a page of the specification to be read?

use crate::revision::Revision;

/// The address of a row's `source` (`server/resources#error-handling`, `schema#Resource`) at a revision.
pub fn address(source: &str, revision: Revision) -> String {
    let (page, anchor) = source.split_once('#').unwrap_or((source, ""));
    if page == "schema" && revision < Revision::R2025_06_18 {
        // The site has pages of the schema only since then.
        return format!(
            "https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/{revision}/schema.ts ({anchor})"
        );
    }
    let page = page.strip_suffix("/index").unwrap_or(page);
    // The names of types are headings, and the anchors of headings are in lower case.
    let anchor = anchor.to_lowercase();
    let mark = if anchor.is_empty() { "" } else { "#" };
    format!("https://modelcontextprotocol.io/specification/{revision}/{page}{mark}{anchor}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_types_have_addresses() {
        let site = "https://modelcontextprotocol.io/specification";
        for (source, revision, expected) in [
            (
                "server/resources#error-handling",
                Revision::R2025_06_18,
                format!("{site}/2025-06-18/server/resources#error-handling"),
            ),
            ("basic/index#meta", Revision::R2026_07_28, format!("{site}/2026-07-28/basic#meta")),
            ("server/discover", Revision::R2026_07_28, format!("{site}/2026-07-28/server/discover")),
            ("schema#Icon", Revision::R2025_11_25, format!("{site}/2025-11-25/schema#icon")),
            (
                "schema#Resource",
                Revision::R2024_11_05,
                "https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/2024-11-05/schema.ts (Resource)"
                    .to_owned(),
            ),
        ] {
            assert_eq!(address(source, revision), expected);
        }
    }
}
