use super::*;

#[test]
fn every_type_that_can_be_added_has_a_form() {
    let mut forms: Vec<_> = TARGET_TYPES.iter().map(|def| def.name).collect();
    let mut addable = registry::ADDABLE.to_vec();
    forms.sort_unstable();
    addable.sort_unstable();
    assert_eq!(forms, addable);
}
