//! Why the store did not do what it was asked. Texts are the operator's; none is shown to callers.

/// Why the store did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Nothing came back in time. Whether the work was done is not known, unless it is looked up.
    #[error("the store did not answer in time")]
    Timeout,
    /// Too many jobs wait.
    #[error("too many jobs wait for the store")]
    Overloaded,
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The engine failed: disk full, input/output error, corrupt file.
    #[error("the store failed: {0}")]
    Engine(String),
    /// The engine found the file damaged.
    #[error("the database is damaged: {0}; stop the gateway and restore the database from a backup")]
    Corrupt(String),
    /// A row with this key is there already.
    #[error("a row with this key is there already")]
    Duplicate,
    /// A row refers to one that is missing, or is referred to.
    #[error("a row refers to one that is missing, or is still referred to")]
    Reference,
    /// A value is outside what its column takes.
    #[error("a value is outside what its column takes: {0}")]
    Constraint(String),
    /// A guard of the schema refused, such as the one that keeps the record append-only.
    #[error("refused by a guard of the schema: {0}")]
    Guard(String),
    /// A write was tried through a door for reading.
    #[error("this door only reads")]
    ReadOnly,
    /// The statement is not valid SQL.
    #[error("not a valid statement: {0}")]
    Statement(String),
    /// The statement does not name its tenant as it must.
    #[error(
        "a statement must name its tenant in $1 (`tenant_id = $1`, or the first column of an insert): {0}"
    )]
    Unscoped(&'static str),
    /// Column `0` of a row holds another type than asked for.
    #[error("column {0} holds another type than asked for")]
    Column(usize),
    /// The work awaited something that is not the store.
    #[error("work inside a transaction awaited something other than its transaction")]
    ForeignAwait,
    /// The work panicked; it was rolled back.
    #[error("work inside a transaction panicked")]
    Panicked,
    /// The file cannot be opened.
    #[error("cannot open the database file {path}: {reason}")]
    Open {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The open file is not the one at its path any more: what is written to it is lost when it is closed.
    #[error(
        "{path} was removed or replaced under the running gateway; put it back from a backup before the next start"
    )]
    Displaced {
        /// The file.
        path: String,
    },
    /// The server cannot be reached, or does not let the role in.
    #[error("cannot connect to the database {address}: {reason}")]
    Connect {
        /// The database, without a password.
        address: String,
        /// What went wrong.
        reason: String,
    },
    /// The connection broke. Whether the work was done is not known, unless it is looked up.
    #[error("the connection to the database was lost")]
    Lost,
    /// Another gateway holds this database.
    #[error(
        "another gateway serves the database {address}; stop it first, or give this one a database of its own"
    )]
    Served {
        /// The database, without a password.
        address: String,
    },
    /// The database lacks migrations that this build needs.
    #[error(
        "the database has schema version {found}, this build needs {known}; run `toolgate db migrate --database-url {command_url}` with an admin of the server first"
    )]
    Behind {
        /// Version found in the database.
        found: i64,
        /// Version this build needs.
        known: i64,
        /// The database as an admin would name it.
        command_url: String,
    },
    /// The database would not keep what is promised: a setting, a version, a right too many.
    #[error("the database is not fit for the gateway: {0}")]
    Unfit(String),
    /// The file is no database, or not any more.
    #[error(
        "{path} is no sound database ({reason}); restore it from a backup, or move it away to begin with an empty one"
    )]
    Damaged {
        /// The file.
        path: String,
        /// What the engine says.
        reason: String,
    },
    /// A newer version wrote this file.
    #[error(
        "the database has schema version {found}, this build knows {known}; start the newer build, or restore a backup"
    )]
    Newer {
        /// Version found in the file.
        found: i64,
        /// Newest version this build knows.
        known: i64,
    },
    /// A migration that was applied reads differently now.
    #[error("migration {0} differs from the one that was applied; start the build that wrote this database")]
    Altered(i64),
}

impl StoreError {
    /// True where only the statement at hand failed and its neighbours in the transaction may go on.
    pub(crate) fn is_of_one_row(&self) -> bool {
        matches!(
            self,
            Self::Duplicate | Self::Reference | Self::Constraint(_) | Self::Guard(_)
        )
    }
}
