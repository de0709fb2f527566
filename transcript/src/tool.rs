//! The name under which an agent calls `report_internal_issue`.

/// The key under which the worked manifest registers `toolgate mcp` with the agent.
pub const SERVER: &str = "tatara";

/// The tool as it stands in transcripts: key of the server and name of the tool.
pub const REPORT_TOOL: &str = "mcp__tatara__report_internal_issue";

/// The same where the server is registered under another key.
#[must_use]
pub fn report_tool(server: &str) -> String {
    REPORT_TOOL.replacen(SERVER, server, 1)
}

#[cfg(test)]
mod tests {
    use super::{REPORT_TOOL, SERVER, report_tool};

    #[test]
    fn the_name_is_that_of_the_server_and_of_the_tool() {
        assert_eq!(REPORT_TOOL, format!("mcp__{SERVER}__report_internal_issue"));
        assert_eq!(report_tool(SERVER), REPORT_TOOL);
        assert_eq!(report_tool("gate"), "mcp__gate__report_internal_issue");
    }
}
