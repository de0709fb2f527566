//! Why a request was not carried out: a closed set, named by what the caller can do next.
//!
//! The text of a variant is the caller's. Sources are for the operator's log and never leave.
