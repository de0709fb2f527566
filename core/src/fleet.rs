//! The projects of all tenants: what each brings, and where calls go that name none.

// The rest of the room that asks for these comes next.
#[allow(dead_code)]
pub(crate) mod rows;
