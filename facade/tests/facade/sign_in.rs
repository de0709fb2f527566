//! The two steps of OpenID Connect as a browser takes them: what it keeps, where it is sent, and what the core hears.

use toolgate_contract::v1::{ErrorReason, Failure};

use crate::{client::Answer, world::World};

const CALLBACK: &str = "/sign-in/oidc/callback";
const KEPT: &str = "cookie";

fn set_cookies(answer: &Answer) -> Vec<&str> {
    let all = answer.headers.get_all("set-cookie").iter();
    all.map(|value| value.to_str().unwrap()).collect()
}

fn failing(world: &World, reason: ErrorReason, word: Option<&str>) {
    let mut failure = Failure::new(reason, "a text that no page shows");
    if let Some(word) = word {
        failure.metadata.insert("signIn".into(), word.into());
    }
    *world.core.failure.lock().unwrap() = Some(failure);
}

#[tokio::test]
async fn a_browser_is_sent_to_the_provider_with_what_it_has_to_bring_back() {
    let world = World::start().await;
    let answer = world.get("/sign-in/oidc?next=%2Faudit%3Fa%3Db").await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("location")),
        (302, "https://id.example/auth?state=s")
    );
    assert_eq!(
        set_cookies(&answer),
        ["__Host-toolgate-sign-in=root.sealed; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600"]
    );
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    let asked = world.core.asked.lock().unwrap().pop().unwrap();
    assert_eq!(
        (asked.rpc, &asked.metadata["toolgate-facade"]),
        ("BeginOidc", &"web".parse().unwrap())
    );
    assert!(asked.message.contains("/audit?a=b"), "{}", asked.message);
    // What it dialled, so that the cookie comes back to the same name.
    assert!(
        asked.message.contains(&format!("http://{}", world.address)),
        "{}",
        asked.message
    );
}

#[tokio::test]
async fn what_comes_back_becomes_the_cookie_of_a_session() {
    let world = World::start().await;
    let path = format!("{CALLBACK}?code=c%2Bd&state=s&iss=https%3A%2F%2Fid.example");
    let answer = world
        .ask(
            "GET",
            &path,
            &[(KEPT, "theme=dark; __Host-toolgate-sign-in=root.sealed")],
            "",
        )
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("location")),
        (303, "/audit?a=b")
    );
    assert_eq!(
        set_cookies(&answer),
        [
            "__Host-toolgate=tgs_a_b; Path=/; Secure; HttpOnly; SameSite=Lax",
            "__Host-toolgate-sign-in=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0",
        ]
    );
    let asked = world.core.asked.lock().unwrap().pop().unwrap();
    for part in ["root.sealed", "c+d", "https://id.example"] {
        assert!(asked.message.contains(part), "{part}: {}", asked.message);
    }
}

#[tokio::test]
async fn what_is_given_twice_is_not_read() {
    let world = World::start().await;
    for (path, cookie) in [
        ("?code=a&state=s&state=t", "__Host-toolgate-sign-in=a"),
        ("?code=a&code=b&state=s", "__Host-toolgate-sign-in=a"),
        ("?code=a&state=%zz", "__Host-toolgate-sign-in=a"),
        (
            "?code=a&state=s",
            "__Host-toolgate-sign-in=a; __Host-toolgate-sign-in=b",
        ),
    ] {
        let answer = world
            .ask("GET", &format!("{CALLBACK}{path}"), &[(KEPT, cookie)], "")
            .await;
        let told = (answer.status.as_u16(), answer.header("location"));
        assert_eq!(told, (303, "/sign-in?error=state_lost"), "{path} {cookie}");
        assert!(set_cookies(&answer)[0].ends_with("Max-Age=0"), "{path} {cookie}");
    }
    assert!(
        world.core.asked.lock().unwrap().is_empty(),
        "the core is not asked"
    );
}

#[tokio::test]
async fn a_failure_ends_on_the_sign_in_page_with_its_word_and_no_text_of_anybody() {
    let world = World::start().await;
    for word in ["provider_away", "no_role", "state_lost", "denied", "refused"] {
        failing(&world, ErrorReason::CredentialInvalid, Some(word));
        let answer = world.get(&format!("{CALLBACK}?error=x&state=s")).await;
        let place = format!("/sign-in?error={word}");
        assert_eq!(
            (answer.status.as_u16(), answer.header("location")),
            (303, &*place)
        );
        assert_eq!(set_cookies(&answer).len(), 1, "the kept one is taken back");
        let answer = world.get("/sign-in/oidc").await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("location")),
            (303, &*place)
        );
    }
    failing(&world, ErrorReason::RateLimited, None);
    let answer = world.get(&format!("{CALLBACK}?code=x&state=s")).await;
    assert_eq!(answer.header("location"), "/sign-in?error=refused");
    failing(&world, ErrorReason::CredentialInvalid, Some("<script>"));
    assert_eq!(world.get(&format!("{CALLBACK}?code=x&state=s")).await.status, 401);
    failing(&world, ErrorReason::ResourceNotFound, None);
    assert_eq!(world.get("/sign-in/oidc").await.status, 404);
}

#[tokio::test]
async fn no_method_but_get_takes_a_step() {
    let world = World::start().await;
    for path in ["/sign-in/oidc", CALLBACK] {
        for verb in ["HEAD", "POST", "PUT", "DELETE"] {
            let answer = world.ask(verb, &format!("{path}?code=a&state=s"), &[], "").await;
            assert_eq!(answer.status.as_u16(), 405, "{verb} {path}");
        }
    }
    assert!(
        world.core.asked.lock().unwrap().is_empty(),
        "the core is not asked"
    );
}
