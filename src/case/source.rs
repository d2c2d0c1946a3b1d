//! Where in a file is what is wrong, and how is it shown? Case files as text, and problems with them.

use crate::record::Place;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::ops::Range;

/// A file that is read as data, and the name to show for it.
#[derive(Debug, Clone)]
pub struct Source {
    /// `cases/read/unknown-uri.yaml`
    pub file: String,
    pub text: String,
}

impl Source {
    pub fn new(file: impl Into<String>, text: impl Into<String>) -> Self {
        Self { file: file.into(), text: text.into() }
    }

    /// The place of a byte range, cut at the end of its first line.
    pub fn place(&self, range: &Range<usize>) -> Place {
        let start = self.boundary(range.start);
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |at| start + at);
        let text = self.text[line_start..line_end].trim_end();
        let end = self.boundary(range.end.max(start)).min(line_start + text.len()).max(start);
        Place {
            file: self.file.clone(),
            line: self.text[..line_start].matches('\n').count() + 1,
            column: self.text[line_start..start].chars().count() + 1,
            length: self.text[start..end].chars().count().max(1),
            text: text.to_owned(),
        }
    }

    fn boundary(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// What is wrong with a case file or a requirement file: the user's error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{}:{}: {message}", place.file, place.line, place.column)]
pub struct Problem {
    pub place: Place,
    /// One line: ``unknown verb `cal` ``.
    pub message: String,
    /// What to do, or what would fit.
    pub help: Option<String>,
}

impl Problem {
    /// The problem as rustc shows one, without colour and without a line break at the end.
    pub fn render(&self) -> String {
        render(self, &Renderer::plain())
    }

    /// As [`Problem::render`], with colours for a terminal.
    pub fn render_styled(&self) -> String {
        render(self, &Renderer::styled())
    }
}

fn render(problem: &Problem, renderer: &Renderer) -> String {
    let place = &problem.place;
    let byte = |column: usize| {
        let found = place.text.char_indices().nth(column).map(|(at, _)| at);
        found.unwrap_or(place.text.len())
    };
    let start = byte(place.column.saturating_sub(1));
    let end = byte(place.column.saturating_sub(1) + place.length);
    let snippet = Snippet::source(place.text.as_str())
        .path(place.file.as_str())
        .line_start(place.line)
        .annotation(AnnotationKind::Primary.span(start..end));
    let mut group = Level::ERROR.primary_title(problem.message.as_str()).element(snippet);
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_stay_on_their_line() {
        let source = Source::new("a.yaml", "x: 1\nné: \"ü\"  \nlast");
        let at = source.text.find('"').unwrap();
        let place = source.place(&(at..source.text.len()));
        assert_eq!((place.line, place.column, place.length), (2, 5, 3));
        assert_eq!(place.text, "né: \"ü\"");
        assert_eq!(source.place(&(900..901)).line, 3);
        assert_eq!(Source::new("e", "").place(&(0..0)).length, 1);
    }

    #[test]
    fn renders_like_rustc() {
        let source = Source::new("a.yaml", "x: 1\nné: yes\n");
        let place = source.place(&(10..13));
        let problem = Problem { place, message: "no".into(), help: Some("write `true`".into()) };
        assert_eq!(problem.to_string(), "a.yaml:2:5: no");
        assert_eq!(
            problem.render(),
            "error: no\n --> a.yaml:2:5\n  |\n2 | né: yes\n  |     ^^^\n  |\n  = help: write `true`"
        );
    }
}
