//! Messages known only by their descriptor, as a gRPC codec.

use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use tonic::{
    Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};

/// Encodes any message, decodes the one described.
#[derive(Debug, Clone)]
pub(in crate::rest) struct DynamicCodec {
    answer: MessageDescriptor,
}

impl DynamicCodec {
    pub(in crate::rest) fn new(answer: MessageDescriptor) -> Self {
        Self { answer }
    }
}

impl Codec for DynamicCodec {
    type Encode = DynamicMessage;
    type Decode = DynamicMessage;
    type Encoder = AnyEncoder;
    type Decoder = Self;

    fn encoder(&mut self) -> AnyEncoder {
        AnyEncoder
    }

    fn decoder(&mut self) -> Self {
        self.clone()
    }
}

#[derive(Debug)]
pub(in crate::rest) struct AnyEncoder;

impl Encoder for AnyEncoder {
    type Item = DynamicMessage;
    type Error = Status;

    fn encode(&mut self, message: DynamicMessage, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.reserve(message.encoded_len());
        message
            .encode(out)
            .map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for DynamicCodec {
    type Item = DynamicMessage;
    type Error = Status;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<DynamicMessage>, Status> {
        let message = DynamicMessage::decode(self.answer.clone(), bytes);
        message
            .map(Some)
            .map_err(|error| Status::internal(error.to_string()))
    }
}
