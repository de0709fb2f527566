//! A scripted OpenAI-compatible model, for tests only. Empty until the dialects that it drives exist; nothing in
//! production may depend on it, and a test of the crate arrows holds that.
