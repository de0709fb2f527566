//! The product seen from outside.
