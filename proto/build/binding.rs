//! Bindings: the one HTTP request by which a tool of a back end is carried.

use prost_reflect::{FieldDescriptor, Kind, MethodDescriptor};

use super::{
    Mistakes,
    options::{AlternativeOption, HttpOption, HttpPattern, Options},
};

/// The request of one tool.
pub(crate) struct Http {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) constants: Vec<(String, String)>,
    pub(crate) alternative: Option<Alternative>,
    pub(crate) arguments: Vec<Argument>,
}

/// The other path, where an argument chooses between two.
pub(crate) struct Alternative {
    pub(crate) discriminator: String,
    pub(crate) form: &'static str,
    pub(crate) path: String,
    pub(crate) query: Vec<String>,
}

/// Where one argument travels.
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) wire: String,
    pub(crate) place: &'static str,
    pub(crate) context: Option<&'static str>,
    pub(crate) required: bool,
    pub(crate) text: bool,
}

/// Reads the binding of a tool; `None` when it is so wrong that nothing can be said of its arguments.
pub(crate) fn read(
    rpc: &MethodDescriptor,
    option: &HttpOption,
    options: &Options,
    mistakes: &mut Mistakes,
) -> Option<Http> {
    let place = format!("rpc {}", rpc.full_name());
    let (method, path) = match &option.pattern {
        Some(HttpPattern::Get(path)) => ("Get", path),
        Some(HttpPattern::Post(path)) => ("Post", path),
        Some(HttpPattern::Patch(path)) => ("Patch", path),
        Some(HttpPattern::Delete(path)) => ("Delete", path),
        None => {
            mistakes.at(&place, "the request needs a method and a path");
            return None;
        }
    };
    let fields: Vec<FieldDescriptor> = rpc.input().fields().collect();
    let published = |field: &FieldDescriptor| options.rules(&field.options()).published(field);
    let names: Vec<String> = fields.iter().map(published).collect();
    let mut wrong = |what: String| mistakes.at(&place, what);
    if !path.starts_with('/') {
        wrong(format!("the path {path} must start with `/`"));
    }
    let variables = variables(path);
    for variable in &variables {
        if !names.contains(variable) {
            wrong(format!("the path variable {variable} is no argument"));
        }
    }
    let bodiless = matches!(method, "Get" | "Delete");
    if bodiless && !(option.body.is_empty() && option.constants.is_empty()) {
        wrong(format!("a request by {method} has no body"));
    }
    if !option.body.is_empty() && !names.contains(&option.body) {
        wrong(format!("the body {} is no argument", option.body));
    }
    let arguments = fields.iter().zip(&names).map(|(field, name)| {
        let rules = options.rules(&field.options());
        let place = match () {
            () if variables.contains(name) => "Path",
            () if bodiless => "Query",
            () if option.body == *name => "WholeBody",
            () => "Body",
        };
        Argument {
            wire: match rules.wire.is_empty() {
                true => name.clone(),
                false => rules.wire.clone(),
            },
            name: name.clone(),
            place,
            context: context(rules.default_from),
            required: rules.required,
            text: matches!(field.kind(), Kind::String) && !field.is_list() && !field.is_map(),
        }
    });
    let arguments: Vec<Argument> = arguments.collect();
    let is_whole = arguments.iter().any(|argument| argument.place == "WholeBody");
    if is_whole && arguments.iter().any(|argument| argument.place == "Body") {
        wrong(format!(
            "{} is the whole body, so there is no room for other arguments",
            option.body
        ));
    }
    for (argument, field) in arguments.iter().zip(&fields) {
        if argument.place == "Path" && !argument.text {
            wrong(format!("the path variable {} must be text", field.name()));
        }
        if argument.place == "Path" && !argument.required && argument.context.is_none() {
            wrong(format!(
                "the path variable {} must be required, or have something to stand in for it",
                field.name()
            ));
        }
    }
    let alternative = option
        .alternative
        .as_ref()
        .map(|other| alternative(other, &names, &mut wrong));
    Some(Http {
        method,
        path: path.clone(),
        constants: option.constants.clone().into_iter().collect(),
        alternative,
        arguments,
    })
}

fn alternative(other: &AlternativeOption, names: &[String], wrong: &mut impl FnMut(String)) -> Alternative {
    for name in other.query.iter().chain([&other.discriminator]) {
        if !names.contains(name) {
            wrong(format!("{name} of the other path is no argument"));
        }
    }
    if !other.query.contains(&other.discriminator) {
        wrong(format!(
            "the other path does not send what chooses it, {}",
            other.discriminator
        ));
    }
    Alternative {
        discriminator: other.discriminator.clone(),
        form: match other.form {
            1 => "NonEmpty",
            2 => "Integer",
            _ => {
                wrong("the other path needs a form".into());
                "NonEmpty"
            }
        },
        path: other.path.clone(),
        query: other.query.clone(),
    }
}

fn variables(path: &str) -> Vec<String> {
    let segments = path.split('/');
    segments
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .map(str::to_owned)
        .collect()
}

fn context(number: i32) -> Option<&'static str> {
    match number {
        1 => Some("Project"),
        2 => Some("Task"),
        _ => None,
    }
}
