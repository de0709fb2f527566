//! Signs tokens as an issuer does, in each way and in some that no issuer should.
//!
//! Also a module of the core's own tests, which cannot use this crate; so it needs nothing but ring and JSON.

use data_encoding::BASE64URL_NOPAD;
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
        RsaPublicKeyComponents,
    },
};
use serde_json::{Value, json};

/// Made for tests; trusted by nobody.
const RSA_KEY: &[u8] = include_bytes!("rsa.pk8");

/// One private key with its name.
#[derive(Debug)]
pub struct Signer {
    kid: String,
    key: Key,
}

#[derive(Debug)]
enum Key {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl Signer {
    /// A key for RS256; it is always the same.
    #[must_use]
    pub fn rs256(kid: &str) -> Self {
        let key = RsaKeyPair::from_pkcs8(RSA_KEY).expect("a key");
        Self::of(kid, Key::Rsa(key))
    }

    /// A new key for ES256.
    #[must_use]
    pub fn es256(kid: &str) -> Self {
        let (way, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(way, &random).expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(way, document.as_ref(), &random).expect("a key");
        Self::of(kid, Key::P256(key))
    }

    /// A new key for EdDSA.
    #[must_use]
    pub fn eddsa(kid: &str) -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        let key = Ed25519KeyPair::from_pkcs8(document.as_ref()).expect("a key");
        Self::of(kid, Key::Ed25519(key))
    }

    fn of(kid: &str, key: Key) -> Self {
        Self {
            kid: kid.to_owned(),
            key,
        }
    }

    /// The name of its algorithm.
    #[must_use]
    pub fn algorithm(&self) -> &'static str {
        match self.key {
            Key::Rsa(_) => "RS256",
            Key::P256(_) => "ES256",
            Key::Ed25519(_) => "EdDSA",
        }
    }

    /// Its public key as a JWK.
    #[must_use]
    pub fn jwk(&self) -> Value {
        let text = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
        let mut jwk = match &self.key {
            Key::Rsa(key) => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({"kty": "RSA", "n": text(&public.n), "e": text(&public.e)})
            }
            Key::P256(key) => {
                let point = key.public_key().as_ref();
                json!({"kty": "EC", "crv": "P-256", "x": text(&point[1..33]), "y": text(&point[33..])})
            }
            Key::Ed25519(key) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": text(key.public_key().as_ref())})
            }
        };
        jwk["kid"] = json!(self.kid);
        jwk["use"] = json!("sig");
        jwk["alg"] = json!(self.algorithm());
        jwk
    }

    /// A token with these claims.
    #[must_use]
    pub fn token(&self, claims: &Value) -> String {
        self.token_with(
            &json!({"alg": self.algorithm(), "kid": self.kid, "typ": "at+jwt"}),
            claims,
        )
    }

    /// A token whose header says whatever it is told to say.
    #[must_use]
    pub fn token_with(&self, header: &Value, claims: &Value) -> String {
        self.sign(&header.to_string(), &claims.to_string())
    }

    /// Signs these very texts as header and payload.
    #[must_use]
    pub fn sign(&self, header: &str, claims: &str) -> String {
        let signed = parts(header, claims);
        let signature = self.signature(signed.as_bytes());
        format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature))
    }

    /// The attack on readers that let a token choose: HS256 with the public key, as anybody can read it, as the secret.
    #[must_use]
    pub fn keyed_with_the_public_key(&self, claims: &Value) -> String {
        let header = json!({"alg": "HS256", "kid": self.kid, "typ": "JWT"}).to_string();
        let signed = parts(&header, &claims.to_string());
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.jwk().to_string().as_bytes());
        let tag = hmac::sign(&key, signed.as_bytes());
        format!("{signed}.{}", BASE64URL_NOPAD.encode(tag.as_ref()))
    }

    fn signature(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.key {
            Key::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .expect("signed");
                signature
            }
            Key::P256(key) => key.sign(&random, message).expect("signed").as_ref().to_vec(),
            Key::Ed25519(key) => key.sign(message).as_ref().to_vec(),
        }
    }
}

/// A token without a signature that says that it needs none.
#[must_use]
pub fn unsigned(kid: &str, claims: &Value) -> String {
    let header = json!({"alg": "none", "kid": kid}).to_string();
    format!("{}.", parts(&header, &claims.to_string()))
}

fn parts(header: &str, claims: &str) -> String {
    let text = |part: &str| BASE64URL_NOPAD.encode(part.as_bytes());
    format!("{}.{}", text(header), text(claims))
}
