//! Context: what the tools of agents take from their caller where their arguments leave it out (`agent-tools.md` §1).
//!
//! An empty text that is not required is as good as absent; a project or task that is absent is taken from the token,
//! else from the request. What is missing in all of these places is an error that names them.

use toolgate_contract::{
    registry::{HttpDef, ToolDef},
    v1::Violation,
};

use crate::{adapters, canonical::CanonicalJson, error::Error, identity::Context};

/// Takes out what is as good as absent; before the arguments are held against the schema.
pub(super) fn without_empty(tool: &ToolDef, arguments: &mut CanonicalJson) {
    let Some(http) = &tool.http else { return };
    let optional = http
        .arguments
        .iter()
        .filter(|argument| argument.text && !argument.required);
    for argument in optional {
        if arguments
            .string(argument.name)
            .is_some_and(|text| text.is_empty())
        {
            // It is a string, so it can be taken.
            let _ = arguments.remove_string(argument.name);
        }
    }
}

/// Puts in what the caller's context knows; afterwards the arguments can stand in the tool's request.
pub(super) fn completed(
    tool: &ToolDef,
    arguments: &mut CanonicalJson,
    context: &Context,
) -> Result<(), Error> {
    let Some(http) = &tool.http else { return Ok(()) };
    let mut violations = fill(http, arguments, context);
    if violations.is_empty() {
        violations = adapters::misplaced(tool, arguments.as_bytes());
    }
    match violations.is_empty() {
        true => Ok(()),
        false => Err(Error::ArgumentsInvalid {
            tool: tool.name.to_owned(),
            violations,
        }),
    }
}

fn fill(http: &HttpDef, arguments: &mut CanonicalJson, context: &Context) -> Vec<Violation> {
    let mut violations = vec![];
    for argument in http.arguments {
        let Some(which) = argument.context else { continue };
        if arguments.string(argument.name).is_some() {
            continue;
        }
        let name = which.as_str();
        let mut wrong = |keyword: &str, message: String| {
            violations.push(Violation {
                pointer: format!("/{}", argument.name),
                keyword: keyword.into(),
                message,
            });
        };
        match context.of(which) {
            Ok(Some(known)) => arguments.put_string(argument.name, known),
            Ok(None) => wrong(
                "required",
                format!(
                    "is in no place: give the argument {name}, or the header Toolgate-{}, or set TATARA_{} where `toolgate mcp` starts",
                    capital(name),
                    name.to_uppercase()
                ),
            ),
            Err(_) => wrong(
                "pattern",
                format!(
                    "is taken from the token or the header Toolgate-{}, where it is no line of 1 to 256 printable characters",
                    capital(name)
                ),
            ),
        }
    }
    violations
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use toolgate_contract::registry;

    use super::*;

    fn complete(tool: &str, arguments: &str, context: &Context) -> Result<String, Vec<(String, String)>> {
        let tool = registry::tool(tool).unwrap();
        let mut arguments = CanonicalJson::parse(arguments.as_bytes()).unwrap();
        without_empty(tool, &mut arguments);
        match completed(tool, &mut arguments, context) {
            Ok(()) => Ok(String::from_utf8(arguments.as_bytes().to_vec()).unwrap()),
            Err(Error::ArgumentsInvalid { violations, .. }) => Err(violations
                .into_iter()
                .map(|violation| (violation.pointer, violation.keyword))
                .collect()),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn an_argument_is_stronger_than_the_context_and_an_empty_one_is_none() {
        let context = Context::new(Some("shop"), Some("t-7"));
        let check = |tool: &str, arguments: &str, expected: &str| {
            assert_eq!(
                complete(tool, arguments, &context).unwrap(),
                expected,
                "{tool} {arguments}"
            );
        };
        check("project_get", "{}", r#"{"project":"shop"}"#);
        check("project_get", r#"{"project":""}"#, r#"{"project":"shop"}"#);
        check("project_get", r#"{"project":"other"}"#, r#"{"project":"other"}"#);
        check(
            "task_update",
            r#"{"note":"","resultSummary":"done"}"#,
            r#"{"resultSummary":"done","task":"t-7"}"#,
        );
        check("project_list", "{}", "{}");
    }

    #[test]
    fn what_is_in_no_place_or_cannot_stand_in_a_path_is_told_by_its_name() {
        let check = |tool: &str, arguments: &str, context: Context, pointer: &str, keyword: &str| {
            let expected = vec![(pointer.to_owned(), keyword.to_owned())];
            assert_eq!(
                complete(tool, arguments, &context),
                Err(expected),
                "{tool} {arguments}"
            );
        };
        check("project_get", "{}", Context::default(), "/project", "required");
        check(
            "task_get",
            r#"{"task":""}"#,
            Context::new(Some("shop"), None),
            "/task",
            "required",
        );
        check(
            "task_get",
            "{}",
            Context::new(None, Some("a\nb")),
            "/task",
            "pattern",
        );
        check("task_get", "{}", Context::new(None, Some("..")), "/task", "not");
        check("get_memory", r#"{"id":"."}"#, Context::default(), "/id", "not");
    }
}
