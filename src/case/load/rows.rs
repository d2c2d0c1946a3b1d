//! How are the rows of `requirements.yaml` read?

use super::reader::Reader;
use crate::case::language::{self, REQUIREMENT};
use crate::case::model::{Capability, Proof, Requirement, Revisions};
use crate::case::tree::{Node, Value};
use crate::record::{Transport, Verdict};

impl Reader<'_> {
    pub fn rows(&mut self, area: &str, root: &Node) -> Option<Vec<Requirement>> {
        let mut rows: Vec<Requirement> = Vec::new();
        for item in self.list(root, "requirements")? {
            let Some(row) = self.row(area, item) else { continue };
            if rows.iter().any(|other| other.id == row.id) {
                self.report(&item.range, format!("the requirement `{}` is there twice", row.id), None);
            }
            rows.push(row);
        }
        Some(rows)
    }

    fn row(&mut self, area: &str, node: &Node) -> Option<Requirement> {
        let fields = self.fields(node, "a requirement", &[REQUIREMENT])?;
        let id = fields.get("id").and_then(|node| self.row_id(area, node));
        let verdict = fields
            .get("verdict")
            .and_then(|node| self.word(node, language::VERDICTS, "verdict"))
            .map(|index| match index {
                0 => Verdict::Fail,
                1 => Verdict::Advice,
                _ => Verdict::Note,
            });
        let keyword = fields.get("keyword").and_then(|node| self.text(node));
        let revisions = fields.get("revisions").and_then(|node| self.revisions(node));
        let transports = fields.get("transports").and_then(|node| self.transports(node));
        let needs = fields.get("needs").and_then(|node| self.one_or_more(node, Self::capability));
        let lacks = fields.get("lacks").and_then(|node| self.one_or_more(node, Self::capability));
        let source = fields.get("source").and_then(|node| self.row_source(node));
        let refs = fields.get("refs").and_then(|node| self.texts(node));
        let statement = fields.get("statement").and_then(|node| self.text(node));
        let matters = fields.get("matters").and_then(|node| self.text(node));
        let cause = fields.get("cause").and_then(|node| self.text(node));
        let mend = fields.get("mend").and_then(|node| self.text(node));
        let variant = fields.get("variant").and_then(|node| self.text(node));
        let untested = fields.get("untested").and_then(|node| self.text(node));
        if let (Some(_), Some(node)) = (fields.get("variant"), fields.get("untested")) {
            self.report(&node.range, "`untested` does not go with `variant`", None);
        }
        Some(Requirement {
            id: id?,
            place: self.place(&node.range),
            verdict: verdict?,
            keyword: keyword?,
            revisions: revisions?,
            transports: transports.unwrap_or_else(|| Transport::ALL.to_vec()),
            needs: needs.unwrap_or_default(),
            lacks: lacks.unwrap_or_default(),
            source: source?,
            refs: refs.unwrap_or_default(),
            statement: statement?,
            matters,
            cause,
            mend,
            proof: match (variant, untested) {
                (Some(variant), _) => Proof::Variant(variant),
                (None, Some(reason)) => Proof::Untested(reason),
                (None, None) => Proof::Cases,
            },
        })
    }

    fn row_id(&mut self, area: &str, node: &Node) -> Option<String> {
        let id = self.text(node)?;
        if !id.strip_prefix(area).is_some_and(|rest| rest.len() > 1 && rest.starts_with('.')) {
            let message = format!("`{id}` does not begin with its area");
            self.report(&node.range, message, Some(format!("write `{area}.` and a slug")));
        }
        Some(id)
    }

    fn capability(&mut self, node: &Node) -> Option<Capability> {
        let index = self.word(node, language::CAPABILITIES, "capability")?;
        language::CAPABILITY_VALUES.get(index).copied()
    }

    fn row_source(&mut self, node: &Node) -> Option<Vec<(Option<Revisions>, String)>> {
        let Value::Map(members) = &node.value else {
            return self.text(node).map(|text| vec![(None, text)]);
        };
        let by_revision = members
            .iter()
            .filter_map(|(key, value)| {
                let revisions = self.revisions_of(&key.text, &key.range);
                let text = self.text(value);
                Some((Some(revisions?), text?))
            })
            .collect();
        Some(by_revision)
    }
}
