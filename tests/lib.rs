//! The product seen from outside; see the test target.
