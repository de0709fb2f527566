//! A connection with its transaction: begin, statements, commit.

use std::{
    fmt,
    ops::ControlFlow,
    pin::pin,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use futures::TryStreamExt;
use tokio::time::Instant;
use tokio_postgres::Statement;

use super::{
    flow::{Flow, Standing},
    journal_line::JournalLine,
    known::Known,
    line::Line,
    values::{self, Bound},
};
use crate::store::{LentRow, Param, Row, StoreError, scope::Scope};

/// Ending a transaction may take so long after its own deadline, so that little is left in doubt.
const TO_END: Duration = Duration::from_millis(500);

/// A transaction of PostgreSQL; owns its connection. Closes it when dropped within a transaction or in doubt.
pub struct PostgresTx {
    pub(super) line: Option<Line>,
    pub(super) flow: Flow,
    scope: Scope,
    known: Arc<Known>,
    /// Where the journal gets another connection when its own is lost, and how long its statements may take.
    journal: Option<(Arc<JournalLine>, Duration)>,
}

impl PostgresTx {
    pub(super) fn of_door(line: Line, scope: Scope, known: Arc<Known>, until: Instant) -> Self {
        Self {
            line: Some(line),
            flow: Flow::new(until),
            scope,
            known,
            journal: None,
        }
    }

    pub(super) fn of_journal(
        source: Arc<JournalLine>,
        line: Line,
        known: Arc<Known>,
        deadline: Duration,
    ) -> Self {
        Self {
            line: Some(line),
            flow: Flow::new(Instant::now() + deadline),
            scope: Scope::Journal,
            known,
            journal: Some((source, deadline)),
        }
    }

    pub(in crate::store) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// True while an answer of the server is awaited.
    pub(super) fn asking(&self) -> Arc<AtomicBool> {
        self.flow.asking()
    }

    pub(in crate::store) async fn execute(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<u64, StoreError> {
        self.admit(sql, params)?;
        self.execute_unscoped(sql, params).await
    }

    pub(in crate::store) async fn execute_unscoped(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<u64, StoreError> {
        let statement = self.prepare(sql, params.len()).await?;
        let Self { line, flow, .. } = self;
        let client = line.as_ref().ok_or(StoreError::Lost)?;
        flow.ask(client.execute_raw(&statement, params.iter().map(Bound)))
            .await
    }

    pub(in crate::store) async fn query(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        self.admit(sql, params)?;
        self.query_unscoped(sql, params).await
    }

    pub(in crate::store) async fn query_unscoped(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepare(sql, params.len()).await?;
        let Self { line, flow, .. } = self;
        let client = line.as_ref().ok_or(StoreError::Lost)?;
        let question = async {
            let rows = client.query_raw(&statement, params.iter().map(Bound)).await?;
            rows.try_collect::<Vec<_>>().await
        };
        flow.ask(question).await?.iter().map(values::row).collect()
    }

    pub(in crate::store) async fn lend_rows(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        take: &mut (dyn FnMut(&LentRow<'_>) -> ControlFlow<()> + Send),
    ) -> Result<(), StoreError> {
        self.admit(sql, params)?;
        let statement = self.prepare(sql, params.len()).await?;
        let Self { line, flow, .. } = self;
        let client = line.as_ref().ok_or(StoreError::Lost)?;
        let question = async {
            let mut rows = pin!(client.query_raw(&statement, params.iter().map(Bound)).await?);
            while let Some(row) = rows.try_next().await? {
                // The driver reads away what is not taken.
                if take(&LentRow::postgres(&row)).is_break() {
                    break;
                }
            }
            Ok(())
        };
        flow.ask(question).await
    }

    /// Begins the journal's transaction, on a new connection where the one at hand is lost.
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        self.be_ready().await?;
        match self.begin_at_hand().await {
            // Nothing was done yet, so a connection that broke unseen is no loss.
            Err(StoreError::Lost) => {
                self.be_ready().await?;
                self.begin_at_hand().await
            }
            begun => begun,
        }
    }

    /// Gives the journal's next question its time, and a new connection where the one at hand is lost.
    pub(super) async fn be_ready(&mut self) -> Result<(), StoreError> {
        let Some((source, deadline)) = self.journal.clone() else {
            return Err(StoreError::Statement(
                "a door begins its transaction itself".into(),
            ));
        };
        self.flow.set_until(Instant::now() + deadline);
        let sound = self.line.as_ref().is_some_and(|line| !line.is_closed());
        if !sound || *self.flow.standing() != Standing::Idle {
            // First: the one at hand may still hold the place of the one gateway, which the new one asks for.
            self.give_up();
            let line = self.flow.wait(source.open(self.flow.until())).await?;
            self.line = Some(line);
            self.flow.now_stands(Standing::Idle);
        }
        Ok(())
    }

    async fn begin_at_hand(&mut self) -> Result<(), StoreError> {
        let Self { line, flow, .. } = self;
        let client = match line {
            Some(line) if !line.is_closed() && *flow.standing() == Standing::Idle => line,
            _ => return Err(StoreError::Lost),
        };
        flow.ask(client.batch_execute("begin")).await?;
        flow.now_stands(Standing::Open);
        Ok(())
    }

    pub(crate) async fn commit(&mut self) -> Result<(), StoreError> {
        match self.flow.standing() {
            Standing::Open => {}
            // The server would answer a COMMIT with a ROLLBACK, and call it done.
            Standing::Failed(error) => return Err(error.clone()),
            Standing::Idle | Standing::Doubt => return Err(StoreError::Lost),
        }
        self.end("commit").await
    }

    /// Ends the transaction without its changes; does nothing where there is none. A connection that does not answer
    /// is given up, and the server ends the transaction by itself.
    pub(crate) async fn rollback(&mut self) {
        match self.flow.standing() {
            Standing::Open | Standing::Failed(_) => {}
            Standing::Idle | Standing::Doubt => return,
        }
        self.flow.now_stands(Standing::Open);
        if let Err(error) = self.end("rollback").await {
            tracing::warn!(%error, "a transaction could not be rolled back; its connection is closed");
        }
    }

    /// False after a statement failed: then the transaction can only be rolled back.
    pub(in crate::store) fn is_open(&self) -> bool {
        *self.flow.standing() == Standing::Open
    }

    pub(super) fn admit(&self, sql: &'static str, params: &[Param<'_>]) -> Result<(), StoreError> {
        if self.known.strips() {
            return Ok(());
        }
        self.scope.admit(sql, self.known.names_its_tenant(sql), params)
    }

    /// A statement of this connection, prepared at its first use.
    pub(super) async fn prepare(
        &mut self,
        sql: &'static str,
        values: usize,
    ) -> Result<Statement, StoreError> {
        let Self {
            line, flow, known, ..
        } = self;
        let client = line.as_ref().ok_or(StoreError::Lost)?;
        let sql = known.text(sql);
        let statement = flow.ask(client.prepare_cached(sql)).await?;
        match statement.params().len() {
            wanted if wanted == values => Ok(statement),
            wanted => Err(StoreError::Statement(format!(
                "{wanted} values are wanted, {values} were given"
            ))),
        }
    }

    async fn end(&mut self, how: &'static str) -> Result<(), StoreError> {
        let Self { line, flow, .. } = self;
        let client = line.as_ref().ok_or(StoreError::Lost)?;
        flow.set_until(flow.until().max(Instant::now() + TO_END));
        let ended = flow.ask(client.batch_execute(how)).await;
        flow.now_stands(match ended {
            Ok(()) => Standing::Idle,
            Err(_) => Standing::Doubt,
        });
        ended
    }

    /// Gives up the connection, whatever it is doing.
    pub(super) fn give_up(&mut self) {
        self.flow.now_stands(Standing::Doubt);
        if let Some(line) = self.line.take() {
            line.discard();
        }
    }
}

impl Drop for PostgresTx {
    fn drop(&mut self) {
        if *self.flow.standing() != Standing::Idle {
            self.give_up();
        }
    }
}

impl fmt::Debug for PostgresTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresTx")
            .field("scope", &self.scope)
            .field("flow", &self.flow)
            .finish_non_exhaustive()
    }
}
