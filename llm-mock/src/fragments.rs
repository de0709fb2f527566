//! Cuts a text into the fragments of a stream, as uneven as a model's, the same each time.

/// Sizes in characters, taken in turn.
const SIZES: [usize; 6] = [3, 1, 5, 2, 8, 4];
/// A long text comes in longer fragments, so that the number of events stays bounded.
const FRAGMENTS: usize = 512;

/// Non-empty fragments which, put together, are the text.
pub(crate) fn fragments(text: &str) -> Vec<&str> {
    let scale = text.len() / (FRAGMENTS * SIZES[0]) + 1;
    let mut found = Vec::new();
    let mut rest = text;
    let mut sizes = SIZES.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().unwrap_or(&1) * scale;
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        let (fragment, left) = rest.split_at(end);
        found.push(fragment);
        rest = left;
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fragments;

    proptest! {
        #[test]
        fn fragments_put_together_are_the_text(text in any::<String>()) {
            let found = fragments(&text);
            prop_assert_eq!(found.concat(), text.as_str());
            prop_assert!(found.iter().all(|fragment| !fragment.is_empty()));
        }
    }

    #[test]
    fn a_long_text_comes_in_a_bounded_number_of_fragments() {
        assert!(fragments(&"x".repeat(1 << 20)).len() < 1_000);
        assert!(fragments("long enough for several").len() > 4);
    }
}
