//! The facade seen from outside, over real sockets, with a scripted core behind it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod client;
mod core;
mod mcp;
mod world;

mod bad_input;
mod challenges;
mod frozen;
mod generated;
mod hosts;
mod limits;
mod mcp_calls;
mod mcp_lifecycle;
mod mcp_listening;
mod mcp_lists;
mod mcp_modern;
mod mcp_pipe;
mod mcp_projects;
mod mcp_sessions;
mod mcp_stdio;
mod mcp_transport;
mod openai_tool_calls;
mod openai_tools;
mod pages;
mod problems;
mod sessions;
mod sign_in;
mod streams;
mod tls;
mod uplinks;
