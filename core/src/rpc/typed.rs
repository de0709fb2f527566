//! The typed tool services, without generated code: a typed request becomes the same broker call as any other.
//!
//! The descriptor turns the request message into JSON arguments and the structured result into the response message.
//! A tool that ran and said no is told as a status, because a typed response has no room for it.

mod arguments;

use std::sync::Arc;

use bytes::{Buf, BufMut};
use http::{Request, Response};
use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor, Value};
use tonic::{
    Code, Status,
    body::Body,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    metadata::MetadataMap,
    server::{Grpc, UnaryService},
};
use toolgate_contract::{
    pool,
    registry::{TOOLS, ToolDef},
};

use self::arguments::Shape;
use super::{MAX_MESSAGE, ask, status};
use crate::{
    broker::{Broker, Failed, Settled, Wish},
    error::Error,
};

/// Serves every tool of the registry under its typed path.
#[derive(Debug, Clone)]
pub(crate) struct TypedTools {
    broker: Broker,
    tools: Arc<[TypedTool]>,
}

#[derive(Debug)]
struct TypedTool {
    tool: &'static ToolDef,
    input: MessageDescriptor,
    shape: Shape,
    output: MessageDescriptor,
}

impl TypedTools {
    pub(crate) fn new(broker: Broker) -> Self {
        let typed = |tool: &'static ToolDef| {
            let input = pool().get_message_by_name(tool.input_message)?;
            let output = pool().get_message_by_name(tool.output_message)?;
            let shape = Shape::of(&input);
            Some(TypedTool {
                tool,
                input,
                shape,
                output,
            })
        };
        Self {
            broker,
            tools: TOOLS.iter().filter_map(typed).collect(),
        }
    }

    /// The tool whose typed path this is.
    pub(super) fn tool_at(&self, path: &str) -> Option<usize> {
        if !path.starts_with("/toolgate.tools.") {
            return None;
        }
        self.tools.iter().position(|typed| typed.tool.grpc_path == path)
    }

    pub(super) async fn serve(
        self,
        tool: usize,
        request: Request<Body>,
    ) -> Result<Response<Body>, std::convert::Infallible> {
        let call = TypedCall {
            tools: Arc::clone(&self.tools),
            tool,
            broker: self.broker,
        };
        let codec = MessageCodec(call.typed().input.clone());
        let answer = Grpc::new(codec)
            .apply_max_message_size_config(Some(MAX_MESSAGE), None)
            .unary(call, request)
            .await;
        Ok(answer)
    }
}

#[derive(Clone)]
struct TypedCall {
    tools: Arc<[TypedTool]>,
    tool: usize,
    broker: Broker,
}

impl TypedCall {
    fn typed(&self) -> &TypedTool {
        &self.tools[self.tool]
    }

    async fn run(
        self,
        request: tonic::Request<DynamicMessage>,
    ) -> Result<tonic::Response<DynamicMessage>, Status> {
        let ask = ask::of(&request);
        let target_id = named_target(request.metadata())?;
        let arguments = self.typed().shape.arguments(&request.into_inner());
        let arguments = arguments.map_err(|wrong| {
            status(Failed {
                call: None,
                error: Error::malformed("request message", wrong),
            })
        })?;
        let name = self.typed().tool.name.to_owned();
        let wish = Wish {
            name,
            arguments: arguments.into(),
            target_id,
        };
        let settled = self.broker.call(&ask, wish).await.map_err(status)?;
        response(&self.typed().output, &settled).map(tonic::Response::new)
    }
}

impl UnaryService<DynamicMessage> for TypedCall {
    type Response = DynamicMessage;
    type Future = futures::future::BoxFuture<'static, Result<tonic::Response<DynamicMessage>, Status>>;

    fn call(&mut self, request: tonic::Request<DynamicMessage>) -> Self::Future {
        Box::pin(self.clone().run(request))
    }
}

/// Typed requests have no room for the target, so it stands beside them.
const TARGET_ID: &str = "toolgate-target-id";

fn named_target(metadata: &MetadataMap) -> Result<Option<String>, Status> {
    let Some(value) = metadata.get(TARGET_ID) else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(id) => Ok(Some(id.trim().to_owned())),
        Err(_) => Err(Status::invalid_argument(format!(
            "{TARGET_ID}: is not plain text"
        ))),
    }
}

fn response(output: &MessageDescriptor, settled: &Settled) -> Result<DynamicMessage, Status> {
    let result = settled.result();
    if result.is_error {
        return Err(Status::new(
            Code::FailedPrecondition,
            first_text(result.content.get()),
        ));
    }
    let Some(structured) = result.structured.as_deref() else {
        return Ok(told(output, result.content.get()));
    };
    let structured = structured.get();
    let mut json = serde_json::Deserializer::from_str(structured);
    DynamicMessage::deserialize(output.clone(), &mut json).map_err(|error| {
        status(Failed {
            call: Some(settled.call()),
            error: Error::internal(error),
        })
    })
}

/// The response of a tool that promises no structure: what it said is the body, whole.
fn told(output: &MessageDescriptor, content: &str) -> DynamicMessage {
    let mut response = DynamicMessage::new(output.clone());
    if let Some(body) = output.get_field_by_name("body") {
        response.set_field(&body, Value::String(text_of(content).unwrap_or_default()));
    }
    response
}

// The text a tool gave for people, bounded: it travels in a header.
fn first_text(content: &str) -> String {
    let text = text_of(content);
    let text = text.as_deref().unwrap_or("the tool said no");
    text.chars().take(1_000).collect()
}

fn text_of(content: &str) -> Option<String> {
    let blocks: Vec<serde_json::Value> = serde_json::from_str(content).unwrap_or_default();
    let text = blocks.iter().find_map(|block| block.get("text")?.as_str());
    text.map(str::to_owned)
}

/// Codes messages by their descriptor.
#[derive(Debug, Clone)]
struct MessageCodec(MessageDescriptor);

impl Codec for MessageCodec {
    type Encode = DynamicMessage;
    type Decode = DynamicMessage;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        self.clone()
    }

    fn decoder(&mut self) -> Self {
        self.clone()
    }
}

impl Encoder for MessageCodec {
    type Item = DynamicMessage;
    type Error = Status;

    fn encode(&mut self, item: DynamicMessage, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&item.encode_to_vec());
        Ok(())
    }
}

impl Decoder for MessageCodec {
    type Item = DynamicMessage;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<DynamicMessage>, Status> {
        let bytes = buffer.copy_to_bytes(buffer.remaining());
        DynamicMessage::decode(self.0.clone(), bytes)
            .map(Some)
            .map_err(|error| Status::invalid_argument(format!("the request message cannot be read: {error}")))
    }
}
