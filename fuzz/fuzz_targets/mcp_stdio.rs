//! MCP over a pipe, before a core that greets and is never there again: whatever is said, the server reads to the end and
//! says whole lines of JSON-RPC, at most one for each line it heard.
#![no_main]

use std::{cell::OnceCell, convert::Infallible, thread_local};

use libfuzzer_sys::fuzz_target;
use tokio::runtime::{Builder, Runtime};
use toolgate_contract::v1::{
    GetSelfRequest, GetSelfResponse, CreateSignInCodeRequest, CreateSignInCodeResponse, CloseMcpSessionRequest,
    CloseMcpSessionResponse, OpenMcpSessionRequest, OpenMcpSessionResponse, SignInRequest, SignInResponse,
    session_service_server::{SessionService, SessionServiceServer},
};
use toolgate_facade::{CoreService, mcp::{Stdio, stdio}};
use tonic::{Request, Response, Status};
use tower::ServiceExt;

struct Greeting;

#[tonic::async_trait]
impl SessionService for Greeting {
    async fn get_self(&self, _: Request<GetSelfRequest>) -> Result<Response<GetSelfResponse>, Status> {
        Ok(Response::new(GetSelfResponse::default()))
    }

    async fn sign_in(&self, _: Request<SignInRequest>) -> Result<Response<SignInResponse>, Status> {
        Err(Status::unimplemented("no"))
    }

    async fn create_sign_in_code(
        &self,
        _: Request<CreateSignInCodeRequest>,
    ) -> Result<Response<CreateSignInCodeResponse>, Status> {
        Err(Status::unimplemented("no"))
    }

    async fn open_mcp_session(
        &self,
        _: Request<OpenMcpSessionRequest>,
    ) -> Result<Response<OpenMcpSessionResponse>, Status> {
        Err(Status::unimplemented("no"))
    }

    async fn close_mcp_session(
        &self,
        _: Request<CloseMcpSessionRequest>,
    ) -> Result<Response<CloseMcpSessionResponse>, Status> {
        Err(Status::unimplemented("no"))
    }
}

thread_local! {
    static GROUND: OnceCell<Runtime> = const { OnceCell::new() };
}

fuzz_target!(|input: &[u8]| {
    let said = GROUND.with(|ground| {
        let runtime = ground.get_or_init(|| {
            Builder::new_current_thread().enable_time().build().expect("a runtime")
        });
        runtime.block_on(serve(input))
    });
    let said = String::from_utf8(said).expect("UTF-8");
    assert!(said.is_empty() || said.ends_with('\n'));
    let heard = input.split(|byte| *byte == b'\n').count();
    assert!(said.lines().count() <= heard, "{said}");
    for line in said.lines() {
        let message: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(message["jsonrpc"], "2.0");
        assert!(message.get("result").is_some() != message.get("error").is_some(), "{line}");
    }
});

async fn serve(input: &[u8]) -> Vec<u8> {
    let routes = tonic::service::Routes::new(SessionServiceServer::new(Greeting));
    let core = ServiceExt::<http::Request<tonic::body::Body>>::map_err(routes, |never: Infallible| match never {});
    let mut output = Vec::new();
    let settings = Stdio::new("tgk_a_b").expect("a token");
    let never = Default::default();
    stdio(CoreService::new(core), settings, input, &mut output, never)
        .await
        .expect("memory is read and written");
    output
}
