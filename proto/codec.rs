//! How messages of the services are encoded: as tonic does, from smaller buffers.
//!
//! tonic sets 8 KiB aside for each direction of each rpc. Most messages here are a few hundred bytes, a call in one
//! process has four such buffers, and an idle event stream keeps two of them for its whole life. Buffers grow by what
//! a message needs, so large results cost the same as before.

use std::marker::PhantomData;

use prost::Message;
use tonic::codec::{BufferSettings, Codec};
use tonic_prost::ProstCodec;

/// What a buffer begins with and grows by, in bytes.
const BUFFER: usize = 1024;
/// What is encoded of a stream before it is passed on, as in tonic.
const YIELD: usize = 32 * 1024;

/// The codec of the generated clients and servers.
#[derive(Debug, Clone)]
pub struct LeanCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for LeanCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for LeanCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = <ProstCodec<T, U> as Codec>::Encoder;
    type Decoder = <ProstCodec<T, U> as Codec>::Decoder;

    fn encoder(&mut self) -> Self::Encoder {
        ProstCodec::<T, U>::raw_encoder(BufferSettings::new(BUFFER, YIELD))
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstCodec::<T, U>::raw_decoder(BufferSettings::new(BUFFER, YIELD))
    }
}
