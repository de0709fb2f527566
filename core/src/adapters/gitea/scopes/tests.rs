use super::*;

const OLD: &str = "token does not have at least one of required scope(s): [read:user]";
const NEW: &str = "token does not have at least one of required scope(s), required=[read:user], token scope=";

/// How a token is judged: `Ok` with what is proven and not provable, or `Err` with what is wider.
fn verdict(seen: Seen, shows: Shows) -> Result<(String, String), (String, String)> {
    let judged = judge(&seen, shows);
    match judged.violation {
        None => {
            assert!(judged.wider.is_empty());
            Ok((judged.proven.join(","), judged.not_provable.join(",")))
        }
        Some(violation) => {
            assert_eq!(
                (violation.of, violation.wider),
                (Grants::Scopes, !judged.wider.is_empty())
            );
            assert!(judged.proven.is_empty());
            Err((judged.wider.join(","), violation.what))
        }
    }
}

fn told(scopes: &str) -> Seen {
    Seen {
        told: missing_scope(&format!("{NEW}{scopes}")).unwrap(),
        refused: vec!["user"],
        ..Seen::default()
    }
}

fn seen(refused: &[&'static str], granted: &[&'static str]) -> Seen {
    Seen {
        refused: refused.to_vec(),
        granted: granted.to_vec(),
        ..Seen::default()
    }
}

#[test]
fn a_missing_scope_is_told_by_the_text_of_every_version() {
    let check = |message: &str, expected: Option<Option<Vec<&str>>>| {
        let read = missing_scope(message);
        let read = read.as_ref().map(|told| {
            told.as_ref()
                .map(|told| told.iter().map(String::as_str).collect())
        });
        assert_eq!(read, expected, "{message}");
    };
    check(OLD, Some(None));
    check(
        &format!("{NEW}read:repository"),
        Some(Some(vec!["read:repository"])),
    );
    check(
        &format!("{NEW}public-only,read:repository"),
        Some(Some(vec!["public-only", "read:repository"])),
    );
    check(&format!("{NEW}all"), Some(Some(vec!["all"])));
    check(NEW, Some(Some(vec![])));
    check(
        "user should have specific read permission or be a repo admin or a site admin",
        None,
    );
    check("Only signed in user is allowed to call APIs.", None);
    check("", None);
}

#[test]
fn where_scopes_are_told_they_are_exactly_read_repository() {
    for shows in [Shows::All, Shows::Unknown] {
        let ok = |scopes: &str| {
            assert_eq!(
                verdict(told(scopes), shows),
                Ok((scopes.to_owned(), String::new()))
            )
        };
        ok("read:repository");
        ok("public-only,read:repository");
        let wrong = |scopes: &str, surplus: &str, says: &str| {
            let (wider, what) = verdict(told(scopes), shows).unwrap_err();
            assert_eq!(wider, surplus, "{scopes}");
            assert!(what.contains(says), "{scopes}: {what}");
        };
        wrong("read:repository,read:user", "read:user", "it has read:user; make");
        wrong(
            "write:repository",
            "write:repository",
            "can do more than read repositories",
        );
        wrong("all", "all", "it has all");
        wrong(
            "read:issue",
            "read:issue",
            "lacks read:repository and has read:issue",
        );
        wrong(
            "write:issue,write:repository",
            "write:issue,write:repository",
            "write:issue, write:repository",
        );
        wrong("public-only", "", "lacks read:repository");
        wrong("", "", "lacks read:repository");
    }
}

#[test]
fn where_only_refusals_are_seen_one_proves_a_scoped_token_and_none_proves_all() {
    let others = [
        "user",
        "notification",
        "organization",
        "issue",
        "package",
        "admin",
    ];
    // Newer servers that word it as the older ones do are judged as those.
    for shows in [Shows::Missing, Shows::All] {
        assert_eq!(
            verdict(seen(&others, &[]), shows),
            Ok(("read:repository".to_owned(), "write:repository".to_owned()))
        );
        assert_eq!(
            verdict(seen(&["user", "notification"], &[]), shows).unwrap().1,
            "write:repository,read:organization,read:issue,read:package,read:admin"
        );
        let (wider, what) = verdict(seen(&[], &["user", "issue"]), shows).unwrap_err();
        assert!(
            wider == "all" && what.contains("refused nothing"),
            "{wider} {what}"
        );
        let (wider, what) = verdict(seen(&["issue"], &["user"]), shows).unwrap_err();
        assert!(
            wider == "read:user" && what.contains("at least read:user"),
            "{wider} {what}"
        );
    }
}

#[test]
fn an_unknown_version_is_judged_strictly_as_soon_as_it_shows_scopes() {
    let (proven, open) = verdict(seen(&["user"], &[]), Shows::Unknown).unwrap();
    assert!(
        proven == "read:repository" && open.starts_with("write:repository,"),
        "{open}"
    );
    assert_eq!(
        verdict(seen(&["user"], &["issue"]), Shows::Unknown)
            .unwrap_err()
            .0,
        "read:issue"
    );
    let (_, open) = verdict(seen(&[], &["user"]), Shows::Unknown).unwrap();
    assert_eq!(open, "scopes of the token,write:repository");
}

#[test]
fn an_old_version_takes_any_valid_token_and_says_what_it_cannot_prove() {
    for seen in [seen(&[], &[]), seen(&["user"], &[]), seen(&[], &["user"])] {
        let (_, open) = verdict(seen, Shows::Nothing).unwrap();
        assert_eq!(open, "scopes of the token,write:repository");
    }
}

#[test]
fn a_token_that_cannot_read_repositories_is_too_narrow_on_every_version() {
    for shows in [Shows::All, Shows::Missing, Shows::Nothing, Shows::Unknown] {
        let narrow = Seen {
            lacks_repository: true,
            ..seen(&["user"], &[])
        };
        let (wider, what) = verdict(narrow, shows).unwrap_err();
        assert!(
            wider.is_empty() && what.contains("lacks read:repository"),
            "{what}"
        );
    }
}

#[test]
fn a_scope_is_shown_without_what_no_scope_holds() {
    let Some(Some(told)) = missing_scope(&format!("{NEW}read:user\u{1b}[31m,<b>x</b>")) else {
        panic!()
    };
    assert_eq!(told, ["read:user31m", "bxb"]);
    let many = missing_scope(&format!("{NEW}{}", "a,".repeat(1000)));
    assert_eq!(many.unwrap().unwrap().len(), MOST);
}
