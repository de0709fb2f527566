use proptest::prelude::*;

use super::*;

#[test]
fn minted_ids_rise_even_within_one_millisecond() {
    let ids: Vec<_> = (0..1000).map(|_| CallId::mint()).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    // The text sorts as the id does.
    assert!(
        ids.windows(2)
            .all(|pair| pair[0].to_string() < pair[1].to_string())
    );
}

#[test]
fn a_minted_id_has_26_characters_and_parses_to_itself() {
    let call = CallId::mint();
    assert_eq!(call.to_string().len(), 26);
    assert_eq!(call.to_string().parse(), Ok(call));
    let tenant = TenantId::mint();
    assert_eq!(tenant.as_str().parse(), Ok(tenant));
}

#[test]
fn only_the_canonical_spelling_is_an_id() {
    let good = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    assert!(good.parse::<CallId>().is_ok());
    for text in [
        "",
        "01ARZ3NDEKTSV4RRFFQ69G5FA",
        "01ARZ3NDEKTSV4RRFFQ69G5FAVX",
        " 01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "01arz3ndektsv4rrffq69g5fav",
        "0lARZ3NDEKTSV4RRFFQ69G5FAV",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU",
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "01ARZ3NDEKTSV4RRFFQ69G5FÄ",
        "system",
    ] {
        assert_eq!(text.parse::<CallId>(), Err(InvalidId), "{text:?}");
    }
}

#[test]
fn the_reserved_tenants_are_the_only_ones_without_a_ulid() {
    for name in ["system", "local"] {
        assert_eq!(
            name.parse::<TenantId>().map(|tenant| tenant.to_string()),
            Ok(name.to_owned())
        );
    }
    for name in [
        "",
        "System",
        "LOCAL",
        "system ",
        "default",
        "01arz3ndektsv4rrffq69g5fav",
    ] {
        assert_eq!(name.parse::<TenantId>(), Err(InvalidId), "{name:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_parses_is_shown_as_it_was(text in prop_oneof!["[0-7][0-9A-HJKMNP-TV-Z]{25}", "[0-9A-Za-z]{25,27}", ".{0,30}"]) {
        if let Ok(id) = text.parse::<TargetId>() {
            prop_assert_eq!(id.to_string(), text.clone());
            prop_assert_eq!(format!("{id:?}"), text.clone());
        }
        if let Ok(tenant) = text.parse::<TenantId>() {
            prop_assert_eq!(tenant.to_string(), text);
        }
    }

    #[test]
    fn every_canonical_ulid_is_an_id(text in "[0-7][0-9A-HJKMNP-TV-Z]{25}") {
        prop_assert!(text.parse::<EventId>().is_ok());
        prop_assert!(text.parse::<TenantId>().is_ok());
    }

    #[test]
    fn the_order_of_ids_is_the_order_of_their_texts(a in "[0-7][0-9A-HJKMNP-TV-Z]{25}", b in "[0-7][0-9A-HJKMNP-TV-Z]{25}") {
        let ids = (a.parse::<TokenId>().ok(), b.parse::<TokenId>().ok());
        prop_assert_eq!(ids.0.cmp(&ids.1), a.cmp(&b));
    }
}
