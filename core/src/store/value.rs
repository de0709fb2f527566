//! The values that go into statements and come out of them: integers, text, bytes, nothing else.

use toolgate_contract::ids::{CallId, EventId, TargetId, TenantId, TokenId};

use super::StoreError;

/// The value of one placeholder. Borrows, so that binding copies nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Param<'a> {
    /// No value.
    Null,
    /// BIGINT.
    Int(i64),
    /// TEXT.
    Text(&'a str),
    /// TEXT made for this statement, such as an id.
    Owned(String),
    /// BLOB.
    Blob(&'a [u8]),
}

macro_rules! param_from {
    ($($source:ty => |$value:ident| $param:expr),+ $(,)?) => {
        $(impl<'a> From<$source> for Param<'a> {
            fn from($value: $source) -> Self { $param }
        })+
    };
}

param_from! {
    i64 => |value| Self::Int(value),
    bool => |value| Self::Int(i64::from(value)),
    &'a str => |value| Self::Text(value),
    &'a String => |value| Self::Text(value),
    String => |value| Self::Owned(value),
    &'a [u8] => |value| Self::Blob(value),
    &'a Vec<u8> => |value| Self::Blob(value),
    &'a TenantId => |value| Self::Text(value.as_str()),
    TargetId => |value| Self::Owned(value.to_string()),
    TokenId => |value| Self::Owned(value.to_string()),
    EventId => |value| Self::Owned(value.to_string()),
    CallId => |value| Self::Owned(value.to_string()),
}

impl<'a, const N: usize> From<&'a [u8; N]> for Param<'a> {
    fn from(value: &'a [u8; N]) -> Self {
        Self::Blob(value)
    }
}

impl<'a, T> From<Option<T>> for Param<'a>
where
    Param<'a>: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

/// One value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// No value.
    Null,
    /// BIGINT.
    Int(i64),
    /// TEXT.
    Text(String),
    /// BLOB.
    Blob(Vec<u8>),
}

/// One row of an answer, by column number from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(Vec<Value>);

impl Row {
    pub(super) fn new(values: Vec<Value>) -> Self {
        Self(values)
    }

    /// The integer in a column.
    pub fn int(&self, column: usize) -> Result<i64, StoreError> {
        self.opt_int(column)?.ok_or(StoreError::Column(column))
    }

    /// The text in a column.
    pub fn text(&self, column: usize) -> Result<&str, StoreError> {
        self.opt_text(column)?.ok_or(StoreError::Column(column))
    }

    /// The bytes in a column.
    pub fn blob(&self, column: usize) -> Result<&[u8], StoreError> {
        self.opt_blob(column)?.ok_or(StoreError::Column(column))
    }

    /// The integer in a column that may be empty.
    pub fn opt_int(&self, column: usize) -> Result<Option<i64>, StoreError> {
        match self.0.get(column) {
            Some(Value::Int(value)) => Ok(Some(*value)),
            Some(Value::Null) => Ok(None),
            _ => Err(StoreError::Column(column)),
        }
    }

    /// The text in a column that may be empty.
    pub fn opt_text(&self, column: usize) -> Result<Option<&str>, StoreError> {
        match self.0.get(column) {
            Some(Value::Text(value)) => Ok(Some(value)),
            Some(Value::Null) => Ok(None),
            _ => Err(StoreError::Column(column)),
        }
    }

    /// The bytes in a column that may be empty.
    pub fn opt_blob(&self, column: usize) -> Result<Option<&[u8]>, StoreError> {
        match self.0.get(column) {
            Some(Value::Blob(value)) => Ok(Some(value)),
            Some(Value::Null) => Ok(None),
            _ => Err(StoreError::Column(column)),
        }
    }

    /// Bytes of a fixed length, such as a hash.
    pub fn array<const N: usize>(&self, column: usize) -> Result<[u8; N], StoreError> {
        self.blob(column)?
            .try_into()
            .map_err(|_| StoreError::Column(column))
    }

    /// The text in a column, read as an id or another type that has one spelling.
    pub fn parse<T: std::str::FromStr>(&self, column: usize) -> Result<T, StoreError> {
        self.text(column)?.parse().map_err(|_| StoreError::Column(column))
    }

    /// Like [`Row::parse`], for a column that may be empty.
    pub fn opt_parse<T: std::str::FromStr>(&self, column: usize) -> Result<Option<T>, StoreError> {
        self.opt_text(column)?
            .map(|text| text.parse().map_err(|_| StoreError::Column(column)))
            .transpose()
    }

    /// The values themselves.
    #[must_use]
    pub fn into_values(self) -> Vec<Value> {
        self.0
    }
}
