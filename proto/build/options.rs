//! The options of `toolgate/v1/options.proto`, read off descriptors.
//!
//! The messages are repeated here in the little that the emitter needs, because the generated ones exist only
//! after the build script has run. A test holds both to the same field numbers by reading every option there is.

use std::collections::BTreeMap;

use prost_reflect::{DescriptorPool, DynamicMessage, ExtensionDescriptor, FieldDescriptor};

/// `toolgate.v1.Tool`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ToolOption {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) title: String,
    #[prost(string, tag = "3")]
    pub(crate) adapter: String,
    #[prost(int32, tag = "4")]
    pub(crate) effect: i32,
    #[prost(int32, tag = "5")]
    pub(crate) freshness: i32,
    #[prost(int32, tag = "6")]
    pub(crate) group: i32,
    #[prost(message, optional, tag = "7")]
    pub(crate) http: Option<HttpOption>,
}

/// `toolgate.v1.HttpBinding`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HttpOption {
    #[prost(oneof = "HttpPattern", tags = "1, 2, 3, 4")]
    pub(crate) pattern: Option<HttpPattern>,
    #[prost(string, tag = "5")]
    pub(crate) body: String,
    #[prost(btree_map = "string, string", tag = "6")]
    pub(crate) constants: BTreeMap<String, String>,
    #[prost(message, optional, tag = "7")]
    pub(crate) alternative: Option<AlternativeOption>,
}

/// `toolgate.v1.HttpBinding.pattern`.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum HttpPattern {
    #[prost(string, tag = "1")]
    Get(String),
    #[prost(string, tag = "2")]
    Post(String),
    #[prost(string, tag = "3")]
    Patch(String),
    #[prost(string, tag = "4")]
    Delete(String),
}

/// `toolgate.v1.Alternative`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct AlternativeOption {
    #[prost(string, tag = "1")]
    pub(crate) discriminator: String,
    #[prost(int32, tag = "2")]
    pub(crate) form: i32,
    #[prost(string, tag = "3")]
    pub(crate) path: String,
    #[prost(string, repeated, tag = "4")]
    pub(crate) query: Vec<String>,
}

/// `toolgate.v1.Rest`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RestOption {
    #[prost(string, tag = "1")]
    pub(crate) verb: String,
    #[prost(string, tag = "2")]
    pub(crate) path: String,
    #[prost(string, tag = "3")]
    pub(crate) body: String,
    #[prost(uint32, tag = "4")]
    pub(crate) success: u32,
    #[prost(bool, tag = "5")]
    pub(crate) frozen: bool,
    #[prost(string, tag = "6")]
    pub(crate) download: String,
    #[prost(bool, tag = "7")]
    pub(crate) public: bool,
}

/// `toolgate.v1.Rules`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RulesOption {
    #[prost(string, repeated, tag = "1")]
    pub(crate) r#in: Vec<String>,
    #[prost(bool, tag = "2")]
    pub(crate) required: bool,
    #[prost(int64, optional, tag = "3")]
    pub(crate) min: Option<i64>,
    #[prost(int64, optional, tag = "4")]
    pub(crate) max: Option<i64>,
    #[prost(uint32, optional, tag = "5")]
    pub(crate) min_length: Option<u32>,
    #[prost(uint32, optional, tag = "6")]
    pub(crate) max_length: Option<u32>,
    #[prost(string, tag = "7")]
    pub(crate) pattern: String,
    #[prost(string, tag = "8")]
    pub(crate) default_json: String,
    #[prost(string, tag = "9")]
    pub(crate) example_json: String,
    #[prost(bool, tag = "10")]
    pub(crate) not_blank: bool,
    #[prost(string, tag = "11")]
    pub(crate) json_type: String,
    #[prost(string, tag = "12")]
    pub(crate) wire: String,
    #[prost(int32, tag = "13")]
    pub(crate) default_from: i32,
    #[prost(string, tag = "14")]
    pub(crate) name: String,
    #[prost(string, tag = "15")]
    pub(crate) title: String,
    #[prost(bool, tag = "16")]
    pub(crate) secret: bool,
    #[prost(string, tag = "17")]
    pub(crate) format: String,
    #[prost(string, tag = "18")]
    pub(crate) media_type: String,
    #[prost(uint32, optional, tag = "19")]
    pub(crate) max_items: Option<u32>,
    #[prost(bool, tag = "20")]
    pub(crate) flatten: bool,
    #[prost(string, tag = "21")]
    pub(crate) way: String,
}

impl RulesOption {
    /// The name under which a field with these rules is published.
    pub(crate) fn published(&self, field: &FieldDescriptor) -> String {
        match self.name.is_empty() {
            true => field.name().to_owned(),
            false => self.name.clone(),
        }
    }
}

/// `toolgate.v1.ProfileSet`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ProfileOption {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, repeated, tag = "2")]
    pub(crate) adapters: Vec<String>,
    #[prost(string, repeated, tag = "3")]
    pub(crate) tools: Vec<String>,
    #[prost(int32, repeated, tag = "4")]
    pub(crate) groups: Vec<i32>,
    #[prost(string, repeated, tag = "5")]
    pub(crate) task_kinds: Vec<String>,
    #[prost(bool, tag = "6")]
    pub(crate) projects: bool,
}

/// `toolgate.v1.ProfileSets`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ProfilesOption {
    #[prost(string, repeated, tag = "1")]
    pub(crate) always_on: Vec<String>,
}

/// `toolgate.v1.TargetForm`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TargetOption {
    #[prost(string, tag = "1")]
    pub(crate) r#type: String,
    #[prost(string, tag = "2")]
    pub(crate) title: String,
    #[prost(bool, tag = "3")]
    pub(crate) relay: bool,
}

/// The extensions by which options are found.
pub(crate) struct Options {
    tool: ExtensionDescriptor,
    rest: ExtensionDescriptor,
    rules: ExtensionDescriptor,
    json: ExtensionDescriptor,
    profile: ExtensionDescriptor,
    profiles: ExtensionDescriptor,
    target: ExtensionDescriptor,
}

impl Options {
    /// Looks the extensions up in the pool.
    pub(crate) fn of(pool: &DescriptorPool) -> Result<Self, String> {
        let find = |name: &str| {
            let full = format!("toolgate.v1.{name}");
            pool.get_extension_by_name(&full)
                .ok_or(format!("{full}: no such option in the contract"))
        };
        Ok(Self {
            tool: find("tool")?,
            rest: find("rest")?,
            rules: find("rules")?,
            json: find("json")?,
            profile: find("profile")?,
            profiles: find("profiles")?,
            target: find("target")?,
        })
    }

    /// The tool option of an rpc.
    pub(crate) fn tool(&self, options: &DynamicMessage) -> Option<ToolOption> {
        message(options, &self.tool)
    }

    /// The route of an rpc.
    pub(crate) fn rest(&self, options: &DynamicMessage) -> Option<RestOption> {
        message(options, &self.rest)
    }

    /// The rules of a field; without the option, none.
    pub(crate) fn rules(&self, options: &DynamicMessage) -> RulesOption {
        message(options, &self.rules).unwrap_or_default()
    }

    /// Whether a bytes field holds JSON.
    pub(crate) fn json(&self, options: &DynamicMessage) -> bool {
        options.get_extension(&self.json).as_bool().unwrap_or(false)
    }

    /// The profile of an enum value.
    pub(crate) fn profile(&self, options: &DynamicMessage) -> Option<ProfileOption> {
        message(options, &self.profile)
    }

    /// The type of targets whose form a message is.
    pub(crate) fn target(&self, options: &DynamicMessage) -> Option<TargetOption> {
        message(options, &self.target)
    }

    /// What the profiles of an enum have in common.
    pub(crate) fn profiles(&self, options: &DynamicMessage) -> Option<ProfilesOption> {
        message(options, &self.profiles)
    }
}

fn message<T: prost::Message + Default>(
    options: &DynamicMessage,
    extension: &ExtensionDescriptor,
) -> Option<T> {
    if !options.has_extension(extension) {
        return None;
    }
    options.get_extension(extension).as_message()?.transcode_to().ok()
}
