//! Whether somebody looks at an answer in a browser: what `Accept` says of it.

use http::{HeaderMap, header};

/// Whether `Accept` names HTML, and wants it more than JSON. `*/*` alone is a program's.
pub(super) fn prefers_html(asked: &HeaderMap) -> bool {
    let (mut html, mut json, mut group, mut any) = (None, None, None, None);
    let lines = asked.get_all(header::ACCEPT).iter();
    let ranges = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    for range in ranges {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(weight).unwrap_or(1.0);
        let slot = match &*name {
            "text/html" => &mut html,
            "application/json" | "application/problem+json" => &mut json,
            "application/*" => &mut group,
            "*/*" => &mut any,
            _ => continue,
        };
        *slot = Some(slot.map_or(weight, |known: f32| known.max(weight)));
    }
    html.is_some_and(|html| html > json.or(group).or(any).unwrap_or(0.0))
}

/// What is no weight counts as none.
fn weight(parameter: &str) -> Option<f32> {
    let (name, value) = parameter.split_once('=')?;
    let is_weight = name.trim().eq_ignore_ascii_case("q");
    is_weight.then(|| {
        value
            .trim()
            .parse()
            .ok()
            .filter(|q: &f32| q.is_finite())
            .unwrap_or(0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_known_by_what_it_would_rather_have() {
        let check = |lines: &[&str], expected: bool| {
            let mut asked = HeaderMap::new();
            for line in lines {
                asked.append(header::ACCEPT, line.parse().unwrap());
            }
            assert_eq!(prefers_html(&asked), expected, "{lines:?}");
        };
        check(&[], false);
        check(&["*/*"], false);
        check(&["application/json"], false);
        check(&["application/json, text/plain, */*"], false);
        check(
            &["text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"],
            true,
        );
        check(&["text/html", "*/*;q=0.1"], true);
        check(&["Text/HTML; q=0.9", "application/*;q=0.8"], true);
        check(&["text/html, application/json"], false);
        check(&["text/html, */*"], false);
        check(&["text/html;q=0.5, application/problem+json"], false);
        check(&["text/html;q=0"], false);
        check(&["text/html;q=x, */*;q=0.1"], false);
        check(&["text/*"], false);
    }
}
