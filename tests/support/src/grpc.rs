//! A caller over gRPC, typed and through reflection.

use futures::StreamExt;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor, prost::Message};
use serde_json::Value;
use tonic::{
    Request, Status,
    metadata::MetadataValue,
    transport::{Channel, Endpoint},
};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};
use toolgate_contract::v1::{
    CallRequest, CallResponse, ListToolsRequest, ListToolsResponse,
    broker_service_client::BrokerServiceClient,
};

/// A connected caller.
#[derive(Debug, Clone)]
pub struct Grpc {
    channel: Channel,
    token: String,
    profile: Option<String>,
}

impl Grpc {
    pub(crate) async fn connect(url: &str, token: &str, profile: Option<&str>) -> Self {
        let channel = Endpoint::from_shared(url.to_owned())
            .expect("a URL")
            .connect()
            .await
            .expect("the gRPC port answers");
        Self {
            channel,
            token: token.to_owned(),
            profile: profile.map(str::to_owned),
        }
    }

    /// `BrokerService.Call`.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<CallResponse, Status> {
        self.call_with(tool, &arguments.to_string()).await
    }

    /// The same with arguments as JSON text, or as what is none.
    pub async fn call_with(&self, tool: &str, arguments: &str) -> Result<CallResponse, Status> {
        let request = CallRequest {
            name: tool.to_owned(),
            arguments: arguments.as_bytes().to_vec().into(),
            target_id: None,
        };
        let answer = BrokerServiceClient::new(self.channel.clone())
            .call(self.bearing(request))
            .await?;
        Ok(answer.into_inner())
    }

    /// `BrokerService.ListTools`.
    pub async fn tools(&self) -> Result<ListToolsResponse, Status> {
        let request = self.bearing(ListToolsRequest::default());
        let answer = BrokerServiceClient::new(self.channel.clone())
            .list_tools(request)
            .await?;
        Ok(answer.into_inner())
    }

    /// The names of the services, as reflection tells them.
    pub async fn services(&self) -> Vec<String> {
        match self.reflect(MessageRequest::ListServices(String::new())).await {
            Some(MessageResponse::ListServicesResponse(list)) => {
                list.service.into_iter().map(|service| service.name).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Calls a typed method knowing nothing but what reflection tells, as grpcurl does.
    pub async fn call_typed(&self, service: &str, method: &str, request: Value) -> Result<Value, Status> {
        let method = self
            .describe(service, method)
            .await
            .ok_or_else(|| Status::not_found("not in reflection"))?;
        let message = DynamicMessage::deserialize(method.input(), request)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let path = format!("/{service}/{}", method.name()).parse().expect("a path");
        let mut client = tonic::client::Grpc::new(self.channel.clone());
        client
            .ready()
            .await
            .map_err(|error| Status::unavailable(error.to_string()))?;
        let codec = tonic_prost_raw::RawCodec;
        let answer = client
            .unary(self.bearing(message.encode_to_vec()), path, codec)
            .await?;
        let message = DynamicMessage::decode(method.output(), answer.into_inner().as_slice())
            .map_err(|error| Status::internal(error.to_string()))?;
        serde_json::to_value(&message).map_err(|error| Status::internal(error.to_string()))
    }

    async fn describe(&self, service: &str, method: &str) -> Option<MethodDescriptor> {
        let asked = MessageRequest::FileContainingSymbol(service.to_owned());
        let MessageResponse::FileDescriptorResponse(files) = self.reflect(asked).await? else {
            return None;
        };
        let mut pool = DescriptorPool::new();
        let mut files = files.file_descriptor_proto;
        // Dependencies may come in any order, and not at all: ask for those that are missing.
        for _ in 0..32 {
            let before = files.len();
            for file in std::mem::take(&mut files) {
                if pool.decode_file_descriptor_proto(file.as_slice()).is_err() {
                    files.push(file);
                }
            }
            if files.is_empty() {
                break;
            }
            if files.len() == before {
                files.extend(self.missing(&files, &pool).await);
            }
        }
        pool.get_service_by_name(service)?
            .methods()
            .find(|found| found.name() == method)
    }

    async fn missing(&self, files: &[Vec<u8>], pool: &DescriptorPool) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        for file in files {
            let Ok(file) = prost_types_raw::dependencies(file) else {
                continue;
            };
            for name in file {
                if pool.get_file_by_name(&name).is_none()
                    && let Some(MessageResponse::FileDescriptorResponse(more)) =
                        self.reflect(MessageRequest::FileByFilename(name)).await
                {
                    found.extend(more.file_descriptor_proto);
                }
            }
        }
        found
    }

    async fn reflect(&self, asked: MessageRequest) -> Option<MessageResponse> {
        let request = ServerReflectionRequest {
            host: String::new(),
            message_request: Some(asked),
        };
        let mut answers = ServerReflectionClient::new(self.channel.clone())
            .server_reflection_info(futures::stream::iter([request]))
            .await
            .ok()?
            .into_inner();
        answers.next().await?.ok()?.message_response
    }

    fn bearing<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        let value: MetadataValue<_> = format!("Bearer {}", self.token)
            .parse()
            .expect("a token is ASCII");
        request.metadata_mut().insert("authorization", value);
        if let Some(profile) = &self.profile {
            let value = profile.parse().expect("a name of ASCII");
            request.metadata_mut().insert("toolgate-profile", value);
        }
        request
    }
}

mod tonic_prost_raw {
    //! Bytes in, bytes out.

    use bytes::{Buf, BufMut};
    use tonic::{
        Status,
        codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    };

    #[derive(Debug, Clone, Copy)]
    pub(super) struct RawCodec;

    impl Codec for RawCodec {
        type Encode = Vec<u8>;
        type Decode = Vec<u8>;
        type Encoder = Self;
        type Decoder = Self;

        fn encoder(&mut self) -> Self {
            *self
        }

        fn decoder(&mut self) -> Self {
            *self
        }
    }

    impl Encoder for RawCodec {
        type Item = Vec<u8>;
        type Error = Status;

        fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
            buffer.put_slice(&item);
            Ok(())
        }
    }

    impl Decoder for RawCodec {
        type Item = Vec<u8>;
        type Error = Status;

        fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
            let mut bytes = vec![0; buffer.remaining()];
            buffer.copy_to_slice(&mut bytes);
            Ok(Some(bytes))
        }
    }
}

mod prost_types_raw {
    //! The one field of a file descriptor that is needed here.

    use prost_reflect::prost::{DecodeError, Message};
    use prost_reflect::prost_types::FileDescriptorProto;

    pub(super) fn dependencies(file: &[u8]) -> Result<Vec<String>, DecodeError> {
        Ok(FileDescriptorProto::decode(file)?.dependency)
    }
}
