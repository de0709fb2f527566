use http::Request;

use super::*;

async fn carry(method: Method) -> Result<Response<Full<Bytes>>, Refused> {
    let (desk, mut errands) = mpsc::channel::<Errand>(1);
    let request = Request::builder().method(method).uri("/user").extension(desk);
    let request = request.body(OctoBody::empty()).unwrap();
    let answering = async {
        while let Some(errand) = errands.recv().await {
            let answer = Answer {
                status: http::StatusCode::OK,
                status_text: None,
                headers: http::HeaderMap::new(),
                body: Bytes::new(),
                moved_to: None,
            };
            drop(errand.reply.send(answer));
        }
    };
    tokio::join!(Hatch.call(request), answering).0
}

#[tokio::test]
async fn only_get_passes() {
    assert!(carry(Method::GET).await.is_ok());
    let others = [
        "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "PURGE",
    ];
    for other in others {
        let method = Method::from_bytes(other.as_bytes()).unwrap();
        assert!(matches!(carry(method).await, Err(Refused::Verb)), "{other}");
    }
}

#[tokio::test]
async fn octocrabs_own_verbs_reach_nobody() {
    let octocrab = over(Hatch);
    assert!(
        octocrab
            ._post("/user/repos", Some(&serde_json::json!({"name": "x"})))
            .await
            .is_err()
    );
    assert!(octocrab._delete("/repos/a/b", None::<&()>).await.is_err());
    assert!(
        octocrab._get("/user").await.is_err(),
        "nor does a GET without somebody who reads"
    );
}

#[tokio::test]
async fn an_address_with_a_host_is_refused() {
    let request = Request::get("https://evil.example/user").extension(mpsc::channel::<Errand>(1).0);
    let request = request.body(OctoBody::empty()).unwrap();
    assert!(matches!(Hatch.call(request).await, Err(Refused::Address)));
}
