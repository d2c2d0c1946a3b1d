//! Which known name may have been meant? For "did you mean" wherever names are typed.

/// The nearest of the names, if one is near enough to be a slip.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Whatever is this long was not meant to be a name; comparing it would only cost time.
    if typed.len() > 200 {
        return None;
    }
    let bound = (typed.chars().count() / 3).max(1);
    let measured =
        names.into_iter().map(|name| (distance(&typed.to_lowercase(), &name.to_lowercase()), name));
    measured
        .filter(|(distance, _)| *distance <= bound)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Letters to insert, remove, replace or swap with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, a) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, b) in right.iter().enumerate() {
            let replaced = above[column] + usize::from(a != b);
            let mut best = replaced.min(above[column + 1] + 1).min(current[column] + 1);
            let swapped = row > 0 && column > 0 && *a == right[column - 1] && left[row - 1] == *b;
            if swapped {
                best = best.min(before[column - 1] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut above, current);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_else() {
        let names = ["equals", "matches", "uri_template", "is", "read/unknown-uri"];
        assert_eq!(nearest("equal", names), Some("equals"));
        assert_eq!(nearest("eqauls", names), Some("equals"));
        assert_eq!(nearest("uri-template", names), Some("uri_template"));
        assert_eq!(nearest("read/unknown-url", names), Some("read/unknown-uri"));
        assert_eq!(nearest("banana", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"x".repeat(10_000), names), None);
    }
}
