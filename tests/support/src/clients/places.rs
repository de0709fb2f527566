//! Where `tests/run` has put the clients.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folders, each whole.
#[derive(Debug)]
pub(super) struct Places {
    tools: PathBuf,
    node: PathBuf,
}

impl Places {
    /// Finds them all, or says which is missing.
    pub(super) fn find() -> Result<Self, String> {
        let mut why = String::new();
        for tools in places() {
            match Self::at(&tools) {
                Ok(found) => return Ok(found),
                Err(missing) if why.is_empty() => why = missing,
                Err(_) => {}
            }
        }
        Err(format!("{why}; tests/run puts it there"))
    }

    fn at(tools: &Path) -> Result<Self, String> {
        for folder in [
            "mcp-node",
            "mcp-inspector",
            "mcp-servers",
            "mcp-python-2",
            "mcp-python-1",
        ] {
            let ready = tools.join(folder).join("ready");
            if !ready.is_file() {
                return Err(format!("{} is missing", ready.display()));
            }
        }
        let modules = tools.join("mcp-node/node_modules");
        let node = fs::read_dir(&modules)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path().join("bin/node"))
            .find(|path| path.is_file());
        Ok(Self {
            tools: tools.to_owned(),
            node: node.ok_or_else(|| format!("no Node.js in {}", modules.display()))?,
        })
    }

    pub(super) fn node(&self) -> PathBuf {
        self.node.clone()
    }

    /// The folder whose `node_modules` hold the clients.
    pub(super) fn packages(&self) -> PathBuf {
        self.tools.join("mcp-node")
    }

    pub(super) fn conformance(&self) -> PathBuf {
        self.packages()
            .join("node_modules/@modelcontextprotocol/conformance/dist/index.js")
    }

    /// What starts a published server of this name.
    pub(super) fn server(&self, name: &str) -> PathBuf {
        let published = "mcp-servers/node_modules/@modelcontextprotocol";
        self.tools.join(published).join(name).join("dist/index.js")
    }

    pub(super) fn inspector(&self) -> PathBuf {
        self.tools.join(
            "mcp-inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
        )
    }

    pub(super) fn python_2(&self) -> PathBuf {
        self.tools.join("mcp-python-2/bin/python")
    }

    pub(super) fn python_1(&self) -> PathBuf {
        self.tools.join("mcp-python-1/bin/python")
    }
}

/// The folder of this name among what `tests/run` has put there, if it is whole.
pub(crate) fn test_tools(name: &str) -> Option<PathBuf> {
    let mut folders = places().into_iter().map(|tools| tools.join(name));
    folders.find(|folder| folder.join("ready").is_file())
}

/// Where to look, most wanted first.
fn places() -> Vec<PathBuf> {
    let tools = |folder: &Path| folder.join("test-tools");
    // A test stands in <target>/<profile>/deps.
    let own = std::env::current_exe().unwrap_or_default();
    let mut places: Vec<PathBuf> = own.ancestors().skip(2).take(2).map(tools).collect();
    places.reverse();
    places.push(tools(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")));
    places
}
