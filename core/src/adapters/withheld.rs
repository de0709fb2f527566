//! Around every adapter: nothing of its credential leaves in what it tells.
//!
//! Adapters copy fields and error texts of their targets. What a target reflects of what it was sent is struck out here,
//! in results and validations alike, so that no adapter has to think of it. So is which field mends a stage of a validation.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::value::RawValue;

use super::{Adapter, Validation, Verdict, mends::Mends};
use crate::{
    journal::Contact,
    secrets::Traces,
    upstream::{ToolResult, Upstream, UpstreamCall, UpstreamError},
};

/// An adapter whose answers hold no trace of its credential.
#[derive(Debug)]
pub(super) struct Withheld {
    adapter: Arc<dyn Adapter>,
    traces: Traces,
    mends: Mends,
}

impl Withheld {
    pub(super) fn around(adapter: Arc<dyn Adapter>, traces: Traces, mends: Mends) -> Arc<dyn Adapter> {
        Arc::new(Self {
            adapter,
            traces,
            mends,
        })
    }

    fn result(&self, mut result: ToolResult) -> Result<ToolResult, UpstreamError> {
        result.content = self.json(result.content)?;
        result.structured = result.structured.map(|json| self.json(json)).transpose()?;
        Ok(result)
    }

    fn json(&self, json: Box<RawValue>) -> Result<Box<RawValue>, UpstreamError> {
        match self.traces.strike(json.get()) {
            None => Ok(json),
            // A credential that stood outside of a text leaves no JSON behind, and then nothing is told at all.
            Some(struck) => RawValue::from_string(struck).map_err(|_| UpstreamError::Invalid),
        }
    }

    fn validation(&self, mut found: Validation) -> Validation {
        let strike = |text: &mut String| {
            if let Some(struck) = self.traces.strike(text) {
                *text = struck;
            }
        };
        if let Verdict::Violation(violation) = &mut found.verdict {
            strike(&mut violation.what);
        }
        found
            .stages
            .iter_mut()
            .filter_map(|stage| stage.failed.as_mut())
            .for_each(strike);
        let lists = [&mut found.proven, &mut found.wider, &mut found.not_provable];
        lists.into_iter().flatten().for_each(strike);
        let facts = serde_json::Value::Object(std::mem::take(&mut found.facts)).to_string();
        let clean = self.traces.strike(&facts).unwrap_or(facts);
        found.facts = serde_json::from_str(&clean).unwrap_or_default();
        found
    }
}

impl Upstream for Withheld {
    fn call<'a>(
        &'a self,
        contact: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(async move {
            match self.adapter.call(contact, call).await {
                Ok(result) => self.result(result),
                Err(UpstreamError::FailedSaying(text)) => {
                    let struck = self.traces.strike(&text);
                    Err(UpstreamError::FailedSaying(struck.map_or(text, Arc::from)))
                }
                Err(error) => Err(error),
            }
        })
    }
}

impl Adapter for Withheld {
    fn validate<'a>(&'a self, contact: &'a Contact) -> BoxFuture<'a, Validation> {
        Box::pin(async move {
            let found = self.adapter.validate(contact).await;
            self.mends.put(self.validation(found))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{json, value::to_raw_value};

    use super::*;
    use crate::adapters::{Grants, Stage, Violation};
    use crate::secrets::SecretValue;

    const SECRET: &str = "github_pat_11CANARY_thatNobodyMaySee";

    /// Stands for an adapter whose target reflects what it was sent.
    #[derive(Debug)]
    struct Reflecting;

    impl Upstream for Reflecting {
        fn call<'a>(
            &'a self,
            _: &'a Contact,
            _: UpstreamCall,
        ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
            Box::pin(std::future::ready(Err(UpstreamError::Invalid)))
        }
    }

    impl Adapter for Reflecting {
        fn validate<'a>(&'a self, _: &'a Contact) -> BoxFuture<'a, Validation> {
            unreachable!("this test asks for nothing")
        }
    }

    fn withheld() -> Withheld {
        let credential = SecretValue::new(SECRET.as_bytes()).unwrap();
        Withheld {
            adapter: Arc::new(Reflecting),
            traces: Traces::of_named(&credential),
            mends: Mends::of(crate::adapters::Kind::Proxmox, &json!({})),
        }
    }

    #[test]
    fn a_result_that_reflects_the_credential_tells_everything_else() {
        let raw = |value| to_raw_value(&value).unwrap();
        let result = withheld()
            .result(ToolResult {
                content: raw(json!([{"type": "text", "text": format!("hello {SECRET}!")}])),
                structured: Some(raw(json!({"name": SECRET, "id": 9_007_199_254_740_993_u64}))),
                is_error: false,
                raw: None,
            })
            .unwrap();
        assert_eq!(
            result.content.get(),
            r#"[{"type":"text","text":"hello [credential withheld]!"}]"#
        );
        assert_eq!(
            result.structured.unwrap().get(),
            r#"{"name":"[credential withheld]","id":9007199254740993}"#
        );
    }

    #[test]
    fn a_validation_that_reflects_the_credential_tells_everything_else() {
        let reflected = || format!("you sent {SECRET}");
        let found = withheld().validation(Validation {
            verdict: Verdict::Violation(Violation {
                of: Grants::Scopes,
                what: reflected(),
                wider: true,
            }),
            stages: vec![Stage {
                name: "authenticate",
                took: Duration::ZERO,
                failed: Some(reflected()),
                mends: None,
            }],
            proven: vec![reflected()],
            wider: vec![reflected()],
            not_provable: vec!["actions:write".into()],
            facts: [("version".to_owned(), json!(reflected()))].into_iter().collect(),
        });
        let told = format!("{found:?}");
        assert!(!told.contains("CANARY"), "{told}");
        assert_eq!(told.matches("[credential withheld]").count(), 5);
        assert_eq!(found.not_provable, ["actions:write"]);
    }
}
