//! Comments of the proto files: they become descriptions that models and people read.

use prost_reflect::{EnumValueDescriptor, FieldDescriptor, FileDescriptor, MethodDescriptor};

/// The comment above an rpc; empty when there is none.
pub(crate) fn of_method(method: &MethodDescriptor) -> String {
    at(&method.parent_file(), method.path())
}

/// The comment above a field.
pub(crate) fn of_field(field: &FieldDescriptor) -> String {
    at(&field.parent_file(), field.path())
}

/// The comment above an enum value.
pub(crate) fn of_value(value: &EnumValueDescriptor) -> String {
    at(&value.parent_file(), value.path())
}

/// The comment above any element, by its path in the file.
pub(crate) fn at(file: &FileDescriptor, path: &[i32]) -> String {
    let info = file.file_descriptor_proto().source_code_info.as_ref();
    let location = info.and_then(|info| info.location.iter().find(|location| location.path == path));
    flow(location.map_or("", |location| location.leading_comments()))
}

/// Joins the lines of a paragraph; a blank line stays a paragraph's end.
fn flow(comment: &str) -> String {
    let mut text = String::new();
    for line in comment.lines().map(str::trim) {
        if line.is_empty() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push_str("\n\n");
            }
        } else {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push(' ');
            }
            text.push_str(line);
        }
    }
    text.trim_end().to_owned()
}
