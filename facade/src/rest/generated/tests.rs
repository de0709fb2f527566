use super::*;

const GOOD: RouteDef = RouteDef {
    verb: "GET",
    path: "/api/tokens",
    body: false,
    success: 200,
    frozen: false,
    public: false,
    download: None,
    grpc_path: "/toolgate.v1.TokenService/ListTokens",
    input_message: "toolgate.v1.ListTokensRequest",
    output_message: "toolgate.v1.ListTokensResponse",
    server_streaming: false,
};

fn check(routes: &[RouteDef], expected: &str) {
    let added = add(Router::new(), routes, &frozen(), toolgate_contract::pool());
    match added {
        Ok(_) => assert_eq!("", expected),
        Err(error) => {
            let text = error.to_string();
            assert!(!expected.is_empty() && text.contains(expected), "{text}");
        }
    }
}

fn frozen() -> [(&'static str, &'static str); 2] {
    [("POST", "/api/mcp/adapter"), ("PATCH", "/api/mcp/adapter/{id}")]
}

#[test]
fn a_route_that_cannot_be_served_is_told_at_start() {
    check(&[GOOD], "");
    check(&[RouteDef { verb: "POST", ..GOOD }, GOOD], "");
    check(&[GOOD, GOOD], "stands twice");
    check(
        &[RouteDef {
            verb: "POST",
            path: "/api/mcp/adapter",
            ..GOOD
        }],
        "stands twice",
    );
    check(
        &[RouteDef {
            path: "/api/mcp/adapter",
            ..GOOD
        }],
        "",
    );
    check(
        &[RouteDef {
            verb: "PATCH",
            path: "/api/mcp/adapter/{name}",
            ..GOOD
        }],
        "stands twice",
    );
    check(
        &[RouteDef {
            path: "/api/mcp/adapter/{name}",
            ..GOOD
        }],
        "named otherwise in /api/mcp/adapter/{id}",
    );
    check(
        &[RouteDef {
            verb: "BREW IT",
            ..GOOD
        }],
        "no HTTP method",
    );
    check(
        &[RouteDef {
            input_message: "toolgate.v1.Nothing",
            ..GOOD
        }],
        "no message toolgate.v1.Nothing",
    );
    check(
        &[RouteDef {
            path: "/api/x/{colour}",
            ..GOOD
        }],
        "no field colour",
    );
    check(
        &[RouteDef {
            path: "/api/x/{page_size}",
            ..GOOD
        }],
        "is neither a text nor an int64",
    );
    check(
        &[RouteDef {
            server_streaming: true,
            download: Some("text/plain, text/csv"),
            output_message: "toolgate.v1.ExportCheckpointsResponse",
            ..GOOD
        }],
        "several content types",
    );
    check(
        &[RouteDef {
            server_streaming: true,
            ..GOOD
        }],
        "content type",
    );
    check(
        &[RouteDef {
            download: Some("text/plain"),
            ..GOOD
        }],
        "needs a stream",
    );
    check(
        &[RouteDef {
            download: Some("text/plain"),
            server_streaming: true,
            ..GOOD
        }],
        "needs a field chunk",
    );
    check(&[RouteDef { success: 42, ..GOOD }], "invalid status code");
    check(
        &[RouteDef {
            frozen: true,
            input_message: "",
            ..GOOD
        }],
        "",
    );
}

#[test]
fn every_route_of_the_contract_stands_by_hand_or_is_generated() {
    use crate::rest::frozen::ROUTES as BY_HAND;
    let frozen: Vec<_> = toolgate_contract::registry::ROUTES
        .iter()
        .filter(|route| route.frozen)
        .map(|route| (route.verb, route.path))
        .collect();
    for route in &frozen {
        assert!(BY_HAND.contains(route), "{route:?} stands nowhere");
    }
    assert_eq!(frozen.len(), BY_HAND.len());
}
