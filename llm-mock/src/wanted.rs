//! Which tool a user means, out of those that there are, and with which arguments.

use serde_json::value::RawValue;

const SHORTEST: usize = 4;

/// The tool whose name the message holds: whole, with dots for underscores, or from a part on (`list_repos` means
/// `github_list_repos`). The longest word wins, then the first tool of the list.
pub(crate) fn tool<'a>(message: &str, names: &'a [String]) -> Option<&'a str> {
    let mut words: Vec<String> = message
        .split(|mark: char| !mark.is_alphanumeric() && !matches!(mark, '_' | '-' | '.'))
        .map(|word| word.trim_matches('.').replace('.', "_").to_lowercase())
        .filter(|word| word.len() >= SHORTEST)
        .collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.iter().find_map(|word| {
        let whole = names.iter().find(|name| spelled(name) == *word);
        let tail = || names.iter().find(|name| ends(&spelled(name), word));
        whole.or_else(tail).map(String::as_str)
    })
}

/// The first JSON object of the message, as it is written there.
pub(crate) fn arguments(message: &str) -> Option<&str> {
    // Few braces are tried: a message of nothing but braces must not cost its square.
    let starts = message.match_indices('{').take(16);
    starts.map(|(at, _)| &message[at..]).find_map(|rest| {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        values.next()?.ok().map(RawValue::get)
    })
}

fn spelled(name: &str) -> String {
    name.replace('.', "_").to_lowercase()
}

fn ends(name: &str, word: &str) -> bool {
    name.strip_suffix(word).is_some_and(|front| front.ends_with('_'))
}

#[cfg(test)]
mod tests;
