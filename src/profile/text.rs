//! What do `${tmp}` and `${env:NAME}` in a profile stand for? They are known when the profile is read, so that only
//! names which change from use to use are left in its templates.

use crate::case::model::{Piece, Template};
use crate::check::bindings::TemplateError;
use crate::wire::Json;
use std::sync::Arc;
use tempfile::TempDir;

/// What a profile's texts may draw on.
pub(super) struct Surroundings<'v> {
    variable: &'v dyn Fn(&str) -> Option<String>,
    /// Made for the first `${tmp}`.
    pub folder: Option<Arc<TempDir>>,
    /// The values of `${env:NAME}` so far.
    pub secrets: Vec<String>,
}

/// Why a text cannot be filled.
#[derive(Debug, thiserror::Error)]
pub(super) enum TextError {
    #[error("the environment variable `{0}` is not set")]
    NotSet(String),
    #[error("no temporary directory could be made: {0}")]
    NoFolder(std::io::Error),
    #[error("the path of the temporary directory is not UTF-8")]
    OddFolder,
    #[error(transparent)]
    Template(#[from] TemplateError),
}

impl<'v> Surroundings<'v> {
    pub fn new(variable: &'v dyn Fn(&str) -> Option<String>) -> Self {
        Self { variable, folder: None, secrets: Vec::new() }
    }

    /// The template that a text is, with `${tmp}` and `${env:NAME}` filled in.
    pub fn template(&mut self, text: &str) -> Result<Template, TextError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((start, end)) = ours(rest) {
            add(&mut pieces, &rest[..start])?;
            pieces.push(Piece::Text(self.value(&rest[start + 2..end])?));
            rest = &rest[end + 1..];
        }
        add(&mut pieces, rest)?;
        let mut literal = String::new();
        for piece in &pieces {
            match piece {
                Piece::Text(text) => literal.push_str(text),
                Piece::Reference(_) => return Ok(Template::Text(pieces)),
            }
        }
        Ok(Template::Literal(Json::from(literal)))
    }

    /// `inner` is `tmp` or `env:NAME`.
    fn value(&mut self, inner: &str) -> Result<String, TextError> {
        let Some(name) = inner.strip_prefix("env:") else { return self.folder() };
        let value = (self.variable)(name).ok_or_else(|| TextError::NotSet(name.to_owned()))?;
        self.secrets.push(value.clone());
        Ok(value)
    }

    fn folder(&mut self) -> Result<String, TextError> {
        let folder = match &self.folder {
            Some(folder) => Arc::clone(folder),
            None => {
                let made = tempfile::Builder::new().prefix("mcp-litmus-").tempdir();
                let made = Arc::new(made.map_err(TextError::NoFolder)?);
                self.folder = Some(Arc::clone(&made));
                made
            }
        };
        folder.path().to_str().map(str::to_owned).ok_or(TextError::OddFolder)
    }
}

/// Where the first `${tmp}` or `${env:NAME}` begins and has its brace; `$${` stands for a literal `${`.
fn ours(text: &str) -> Option<(usize, usize)> {
    let mut at = 0;
    while let Some(found) = text[at..].find("${") {
        let start = at + found;
        at = start + 2;
        if text[..start].ends_with('$') {
            continue;
        }
        let end = at + text[at..].find('}')?;
        if text[at..end] == *"tmp" || text[at..end].starts_with("env:") {
            return Some((start, end));
        }
    }
    None
}

fn add(pieces: &mut Vec<Piece>, text: &str) -> Result<(), TemplateError> {
    match Template::parse_text(text)? {
        Template::Text(more) => pieces.extend(more),
        Template::Literal(value) => {
            pieces.extend(
                value.as_str().filter(|text| !text.is_empty()).map(|text| Piece::Text(text.to_owned())),
            );
        }
        Template::Array(_) | Template::Object(_) => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::bindings::Bindings;

    #[test]
    fn values_go_in_as_they_are() {
        let variable = |name: &str| (name == "ODD").then(|| "a${nonce}$".to_owned());
        let mut around = Surroundings::new(&variable);
        let mut names = Bindings::new();
        names.set("nonce", "N");
        let mut filled = |text: &str| names.resolve_text(&around.template(text).unwrap()).unwrap();
        assert_eq!(filled("${env:ODD}{x} ${nonce}"), "a${nonce}${x} N");
        assert_eq!(filled("$${tmp} $${env:ODD}"), "${tmp} ${env:ODD}");
        let folder = filled("${tmp}");
        assert_eq!(filled("${tmp}/x"), format!("{folder}/x"), "one directory for the whole profile");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        assert_eq!(around.secrets, ["a${nonce}$"]);
        drop(around);
        assert!(!std::path::Path::new(&folder).exists(), "the directory goes with the profile");
    }

    #[test]
    fn what_cannot_be_filled_says_why() {
        let mut around = Surroundings::new(&|_| None);
        let mut problem = |text: &str| around.template(text).unwrap_err().to_string();
        assert_eq!(problem("x${env:GONE}"), "the environment variable `GONE` is not set");
        assert_eq!(problem("${tmp"), "`${` has no closing `}`");
        assert!(problem("${a b}").starts_with("`${a b}` is no reference"));
    }
}
