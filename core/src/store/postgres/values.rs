//! Values on their way into statements and out of rows: bigint, text, bytea, nothing else.

use std::error::Error;

use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

use crate::store::{Cell, Param, Row, StoreError, Value};

/// A value that is bound.
#[derive(Debug)]
pub(super) struct Bound<'p>(pub(super) &'p Param<'p>);

/// A value is of another type than its placeholder.
#[derive(Debug, thiserror::Error)]
#[error("a value of another type stands for a placeholder of type {0}")]
pub(super) struct BindError(Type);

impl ToSql for Bound<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let wrong = || BindError(ty.clone());
        match self.0 {
            Param::Null => Ok(IsNull::Yes),
            Param::Int(value) if *ty == Type::INT8 => value.to_sql(ty, out),
            Param::Int(value) if *ty == Type::INT4 => {
                i32::try_from(*value).map_err(|_| wrong())?.to_sql(ty, out)
            }
            Param::Text(text) if is_text(ty) => (*text).to_sql(ty, out),
            Param::Owned(text) if is_text(ty) => text.as_str().to_sql(ty, out),
            Param::Blob(bytes) if *ty == Type::BYTEA => (*bytes).to_sql(ty, out),
            Param::Int(_) | Param::Text(_) | Param::Owned(_) | Param::Blob(_) => Err(wrong().into()),
        }
    }

    // What fits is seen with the value.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn is_text(ty: &Type) -> bool {
    [Type::TEXT, Type::VARCHAR, Type::NAME, Type::BPCHAR, Type::UNKNOWN].contains(ty)
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *ty {
            Type::INT8 => Self::Int(i64::from_sql(ty, raw)?),
            Type::INT4 => Self::Int(i32::from_sql(ty, raw)?.into()),
            Type::INT2 => Self::Int(i16::from_sql(ty, raw)?.into()),
            Type::BOOL => Self::Int(bool::from_sql(ty, raw)?.into()),
            Type::BYTEA => Self::Blob(raw.to_vec()),
            _ => Self::Text(String::from_sql(ty, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(ty: &Type) -> bool {
        is_text(ty) || [Type::INT8, Type::INT4, Type::INT2, Type::BOOL, Type::BYTEA].contains(ty)
    }
}

impl<'a> FromSql<'a> for Cell<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *ty {
            Type::INT8 => Self::Int(i64::from_sql(ty, raw)?),
            Type::INT4 => Self::Int(i32::from_sql(ty, raw)?.into()),
            Type::BYTEA => Self::Blob(raw),
            _ => Self::Text(raw),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(ty: &Type) -> bool {
        is_text(ty) || [Type::INT8, Type::INT4, Type::BYTEA].contains(ty)
    }
}

/// A row as the store shows it.
pub(super) fn row(row: &tokio_postgres::Row) -> Result<Row, StoreError> {
    let value = |column| row.try_get(column).map_err(|_| StoreError::Column(column));
    (0..row.len()).map(value).collect::<Result<_, _>>().map(Row::new)
}
