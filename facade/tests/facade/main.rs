//! The facade seen from outside, over real sockets, with a scripted core behind it.

mod client;
mod core;
mod world;

mod frozen;
