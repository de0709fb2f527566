//! The relay's half of the handshake, with a key of its own.

use ring::{
    rand::{SecureRandom, SystemRandom},
    signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey},
};
use toolgate_contract::{
    enrolment::EnrolmentToken,
    frame::{
        Challenge, Frame, GoAway, Hello, Kind, Octets, Offer, Proof, PublicKey, Ready, Secret, Session,
        Transcript,
    },
};

use super::dial::Link;

/// Who this relay is, once it has enrolled.
#[derive(Debug)]
pub(crate) struct Identity {
    tenant: String,
    relay: String,
    key: Ed25519KeyPair,
    gateway: PublicKey,
    offer: Offer,
}

impl Identity {
    pub(crate) async fn enrol(url: &str, token: &str, offer: Offer) -> Result<(Self, Link), String> {
        let token = EnrolmentToken::parse(token).map_err(|error| error.to_string())?;
        let random = SystemRandom::new();
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&random).map_err(|_| "no randomness")?;
        let key = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).map_err(|_| "no key")?;
        let mut identity = Self {
            tenant: token.tenant.to_string(),
            relay: String::new(),
            key,
            gateway: token.gateway_key,
            offer,
        };
        let (link, ready) = identity.shake(url, Some(token.secret)).await?;
        identity.relay = ready.relay;
        Ok((identity, link))
    }

    /// The relay's id, as the gateway gave it.
    pub(crate) fn relay(&self) -> &str {
        &self.relay
    }

    /// The same relay with a key that the gateway does not know.
    pub(crate) fn with_another_key(&self) -> Result<Self, String> {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| "no randomness")?;
        Ok(Self {
            tenant: self.tenant.clone(),
            relay: self.relay.clone(),
            key: Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).map_err(|_| "no key")?,
            gateway: self.gateway,
            offer: self.offer,
        })
    }

    pub(crate) async fn dial(&self, url: &str) -> Result<Link, String> {
        self.shake(url, None).await.map(|(link, _)| link)
    }

    async fn shake(&self, url: &str, enrolment: Option<Secret>) -> Result<(Link, Ready), String> {
        let mut link = Link::dial(url).await?;
        let hello = Hello {
            tenant: self.tenant.clone(),
            relay: (!self.relay.is_empty()).then(|| self.relay.clone()),
            public_key: self.public(),
            nonce: nonce()?,
            offer: self.offer,
            name: String::new(),
            software: "fake-relay/0".into(),
        };
        link.send(&Frame::message(Kind::Hello, &hello)).await?;
        let challenge: Challenge = read(&link.receive().await?, Kind::Challenge)?;
        let proof = self.prove(&hello, &challenge, enrolment)?;
        link.send(&Frame::message(Kind::Proof, &proof)).await?;
        let ready = read(&link.receive().await?, Kind::Ready)?;
        link.session = Some(Session::new(&hello.nonce));
        Ok((link, ready))
    }

    fn prove(
        &self,
        hello: &Hello,
        challenge: &Challenge,
        enrolment: Option<Secret>,
    ) -> Result<Proof, String> {
        if challenge.gateway_key != self.gateway {
            return Err("another gateway".into());
        }
        let transcript = Transcript {
            tenant: &hello.tenant,
            relay: &self.relay,
            relay_key: &hello.public_key,
            gateway_key: &challenge.gateway_key,
            relay_nonce: &hello.nonce,
            gateway_nonce: &challenge.nonce,
            channel: None,
        };
        UnparsedPublicKey::new(&ED25519, &challenge.gateway_key)
            .verify(&transcript.gateway_bytes(), challenge.signature.as_ref())
            .map_err(|_| "the gateway's signature does not hold")?;
        let signature = self.key.sign(&transcript.relay_bytes());
        Ok(Proof {
            signature: Octets(signature.as_ref().try_into().map_err(|_| "signature length")?),
            enrolment,
        })
    }

    fn public(&self) -> PublicKey {
        let bytes = self.key.public_key().as_ref().try_into();
        Octets(bytes.expect("Ed25519 public keys have 32 bytes"))
    }
}

fn read<T: for<'a> serde::Deserialize<'a>>(frame: &Frame, kind: Kind) -> Result<T, String> {
    if let Ok(away) = frame.read::<GoAway>(Kind::GoAway) {
        return Err(format!("{:?}", away.reason));
    }
    frame.read(kind).map_err(|error| error.to_string())
}

fn nonce() -> Result<Octets<32>, String> {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| "no randomness")?;
    Ok(Octets(bytes))
}
