//! Which part of a list does a cursor name? A cursor holds the key of the last item of the page before, so it stays
//! good while the list changes around it, needs no state, and can be told from one that we never gave.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::Value;

use crate::message::{Refusal, Request};

/// One page of a list.
pub(crate) struct Page<'a, T> {
    pub items: &'a [T],
    /// The cursor of the page that follows, if one does.
    pub next: Option<String>,
}

/// The page of `items` that the request's cursor asks for: the first, where there is none. `list` tells the cursors
/// of one list from those of another; `key` names an item.
pub(crate) fn page<'a, T>(
    request: &Request,
    list: &str,
    size: usize,
    items: &'a [T],
    key: impl Fn(&T) -> &str,
) -> Result<Page<'a, T>, Refusal> {
    let start = match request.param("cursor") {
        None => 0,
        Some(Value::String(cursor)) => {
            let last = decode(list, cursor).ok_or_else(invalid)?;
            1 + items.iter().position(|item| key(item) == last).ok_or_else(invalid)?
        }
        Some(_) => return Err(Refusal::params("cursor must be a string")),
    };
    let end = items.len().min(start.saturating_add(size));
    let items_here = items.get(start..end).unwrap_or_default();
    let next = items_here.last().filter(|_| end < items.len()).map(|item| encode(list, key(item)));
    Ok(Page { items: items_here, next })
}

fn invalid() -> Refusal {
    Refusal::params("Invalid cursor")
}

fn encode(list: &str, key: &str) -> String {
    BASE64.encode(format!("{list}\n{key}"))
}

fn decode(list: &str, cursor: &str) -> Option<String> {
    let text = String::from_utf8(BASE64.decode(cursor).ok()?).ok()?;
    Some(text.strip_prefix(list)?.strip_prefix('\n')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ask(params: Value) -> Request {
        Request { id: json!(1), method: "resources/list".into(), params }
    }

    #[test]
    fn pages_partition_the_list() {
        let items: Vec<String> = (0..7).map(|n| n.to_string()).collect();
        let (mut seen, mut params) = (Vec::new(), json!({}));
        loop {
            let page = page(&ask(params), "l", 3, &items, String::as_str).ok().unwrap();
            seen.extend_from_slice(page.items);
            match page.next {
                Some(next) => params = json!({ "cursor": next }),
                None => break,
            }
        }
        assert_eq!(seen, items);
    }

    #[test]
    fn foreign_cursors_are_refused() {
        let items = ["a".to_owned(), "b".to_owned()];
        for cursor in
            [json!("x"), json!(""), json!(7), json!({}), json!(encode("other", "a")), json!(encode("l", "c"))]
        {
            assert!(
                page(&ask(json!({ "cursor": cursor })), "l", 1, &items, String::as_str).is_err(),
                "{cursor}"
            );
        }
    }
}
