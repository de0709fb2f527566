//! Opening connections, and the task that drives each of them.
//!
//! The driver reads every notice: one that tells of a transaction where none should be ends the connection.

use std::{future::poll_fn, sync::Arc, time::Duration};

use deadpool_postgres::{ClientWrapper, Connect};
use futures::future::BoxFuture;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::JoinHandle,
    time::{Instant, timeout_at},
};
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, Error,
    error::{DbError, SqlState},
};
use tokio_util::task::TaskTracker;

use super::{failure::connect_reason, line::Line, tls::Tls};
use crate::store::{DatabaseUrl, StoreError};

/// Where names are looked for, and how transactions are.
const SESSION: &str = "set search_path = toolgate, audit; set default_transaction_read_only = off; \
    set default_transaction_isolation = 'read committed'";
/// A peer that is gone without a word is found out within six seconds, so that its session frees what it held.
const KEPT_ALIVE: &str = "set tcp_keepalives_idle = 3; set tcp_keepalives_interval = 1; set tcp_keepalives_count = 3; \
    set tcp_user_timeout = 6000";
/// Sessions of an admin, whose work may take its time.
const UNGUARDED: &str = "set search_path = pg_catalog; set client_connection_check_interval = '500ms'";
/// The server's own deadline for a statement comes so long after the one on this side.
const LATER: Duration = Duration::from_millis(500);
/// Where one of several hosts does not answer, the next one is asked.
const NEXT_HOST_AFTER: Duration = Duration::from_millis(500);

/// Opens connections to one database.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    url: Arc<DatabaseUrl>,
    tls: Tls,
    tasks: TaskTracker,
    session: Arc<str>,
}

impl Connector {
    /// `deadline` is how long a transaction may take on this side.
    pub(super) fn new(url: DatabaseUrl, tasks: TaskTracker, deadline: Duration) -> Result<Self, StoreError> {
        let tls = Tls::of(&url).map_err(|reason| StoreError::Connect {
            address: url.to_string(),
            reason,
        })?;
        Ok(Self {
            url: Arc::new(url),
            tls,
            tasks,
            session: guarded(deadline).into(),
        })
    }

    /// Sessions without the guards, for what may take its time, such as migrations.
    pub(super) fn unguarded(self) -> Self {
        Self {
            session: UNGUARDED.into(),
            ..self
        }
    }

    pub(super) fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// A connection that is nobody else's.
    pub(super) async fn open(&self, until: Instant) -> Result<Line, StoreError> {
        match timeout_at(until, self.dial(self.url.config())).await {
            Ok(Ok((client, driver))) => Ok(Line::Own(ClientWrapper::new(client, driver))),
            Ok(Err(failure)) => Err(self.refused(&failure)),
            Err(_) => Err(StoreError::Timeout),
        }
    }

    pub(super) fn refused(&self, failure: &Error) -> StoreError {
        StoreError::Connect {
            address: self.url.to_string(),
            reason: connect_reason(failure),
        }
    }

    async fn dial(&self, config: &Config) -> Result<(Client, JoinHandle<()>), Error> {
        let mut config = config.clone();
        if config.get_connect_timeout().is_none() && config.get_hosts().len() > 1 {
            config.connect_timeout(NEXT_HOST_AFTER);
        }
        let (client, connection) = config.connect(self.tls.clone()).await?;
        // Ends with its client, whoever drops it; its owner ends it sooner.
        let driver = self.tasks.spawn(drive(connection));
        client.batch_execute(&self.session).await?;
        Ok((client, driver))
    }
}

impl Connect for Connector {
    fn connect(&self, config: &Config) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), Error>> {
        let config = config.clone();
        Box::pin(async move { self.dial(&config).await })
    }
}

/// Guards on the server's side, should this side not be there any more to guard.
fn guarded(deadline: Duration) -> String {
    let statement = (deadline + LATER).as_millis();
    let idle = (2 * deadline + LATER).as_millis();
    format!(
        "{SESSION}; {KEPT_ALIVE}; set statement_timeout = {statement}; set lock_timeout = '1s'; \
         set idle_in_transaction_session_timeout = {idle}; set client_connection_check_interval = '500ms'"
    )
}

async fn drive<S, T>(mut connection: Connection<S, T>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match poll_fn(|cx| connection.poll_message(cx)).await {
            Some(Ok(AsyncMessage::Notice(notice))) if is_taint(&notice) => {
                tracing::error!(
                    code = notice.code().code(),
                    "a database connection was in a transaction where none should be; it is closed"
                );
                return;
            }
            Some(Ok(AsyncMessage::Notice(notice))) => {
                tracing::debug!(
                    code = notice.code().code(),
                    text = notice.message(),
                    "the database noted something"
                );
            }
            Some(Ok(_)) => {}
            Some(Err(failure)) => {
                tracing::debug!(reason = connect_reason(&failure), "a database connection ended");
                return;
            }
            None => return,
        }
    }
}

/// A BEGIN within a transaction, or an end without one: somebody left something behind.
fn is_taint(notice: &DbError) -> bool {
    [
        SqlState::ACTIVE_SQL_TRANSACTION,
        SqlState::NO_ACTIVE_SQL_TRANSACTION,
    ]
    .contains(notice.code())
}
