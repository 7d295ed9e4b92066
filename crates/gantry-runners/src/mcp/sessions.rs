//! The servers that an attempt speaks to, until it is over.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_core::effect::Failure;
use gantry_llm::config::McpServer;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::session::{Session, open};
use crate::process::GuardProgram;
use crate::work::Place;

/// The servers that an attempt speaks to. Each is started once; when this goes away, so do they.
#[derive(Clone, Default)]
pub struct Sessions(Arc<Mutex<BTreeMap<String, Arc<Session>>>>);

impl Sessions {
    /// The conversation with a server, begun if there is none yet.
    pub(super) async fn get(
        &self,
        server: &McpServer,
        guard: &GuardProgram,
        place: &Place,
        stop: &CancellationToken,
    ) -> Result<Arc<Session>, Failure> {
        let mut open_ones = self.0.lock().await;
        if let Some(session) = open_ones.get(&server.name).filter(|session| !session.is_over()) {
            return Ok(Arc::clone(session));
        }
        if let Some(over) = open_ones.remove(&server.name) {
            over.close().await;
        }
        let session = Arc::new(open(server, guard, place, stop).await?);
        open_ones.insert(server.name.clone(), Arc::clone(&session));
        Ok(session)
    }

    /// Ends the conversation with one server; the next call begins another.
    pub(super) async fn forget(&self, server: &str) {
        let session = self.0.lock().await.remove(server);
        if let Some(session) = session {
            session.close().await;
        }
    }

    /// Ends all conversations. No process of a server is left afterwards.
    pub async fn close(&self) {
        let all = std::mem::take(&mut *self.0.lock().await);
        for session in all.into_values() {
            Box::pin(session.close()).await; // rare and large
        }
    }
}
