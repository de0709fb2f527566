//! The query of this dialect's paths: `format`, where there is one, and nothing else.

use super::translate::Form;
use crate::{body::malformed, problem::Problem, query::pairs};

/// The form that is asked for; Chat Completions where none is.
pub(super) fn of(query: Option<&str>) -> Result<Form, Problem> {
    let mut form = None;
    for (name, value) in pairs(query.unwrap_or_default())? {
        if name != "format" {
            return Err(malformed(format!(
                "query parameter {name:?} is not known; format is the only one"
            )));
        }
        let named = match value.as_str() {
            "chat" => Form::Chat,
            "responses" => Form::Responses,
            _ => {
                return Err(malformed(format!(
                    "query parameter format is {value:?}; chat and responses are the forms there are"
                )));
            }
        };
        if form.replace(named).is_some() {
            return Err(malformed("query parameter format is given twice"));
        }
    }
    Ok(form.unwrap_or(Form::Chat))
}

/// Refuses any parameter, for a path that takes none.
pub(super) fn none(query: Option<&str>) -> Result<(), Problem> {
    match pairs(query.unwrap_or_default())?.first() {
        None => Ok(()),
        Some((name, _)) => Err(malformed(format!(
            "query parameter {name:?} is not known; this path takes none, the form of the answer is that of the body"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_named_once_or_not_at_all() {
        let check = |query: Option<&str>, expected: Option<Form>| {
            assert_eq!(of(query).ok(), expected, "{query:?}");
        };
        check(None, Some(Form::Chat));
        check(Some(""), Some(Form::Chat));
        check(Some("format=chat"), Some(Form::Chat));
        check(Some("format=responses"), Some(Form::Responses));
        check(Some("form%61t=responses"), Some(Form::Responses));
        check(Some("format="), None);
        check(Some("format=Responses"), None);
        check(Some("format=chat&format=chat"), None);
        check(Some("Format=chat"), None);
        check(Some("access_token=x"), None);
    }

    #[test]
    fn what_is_not_known_is_told_by_name() {
        let told = |problem: Problem| problem.failure().message.clone();
        assert!(told(of(Some("verbose=1")).unwrap_err()).contains("\"verbose\""));
        assert!(told(of(Some("format=yaml")).unwrap_err()).contains("\"yaml\""));
        assert!(told(none(Some("format=chat")).unwrap_err()).contains("\"format\""));
        assert!(none(None).is_ok());
    }
}
