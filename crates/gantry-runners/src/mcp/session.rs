//! One conversation with a server, from its start to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use gantry_llm::Shape;
use gantry_llm::config::{KeyState, McpServer, McpWay};
use gantry_llm::structured::Checker;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, Implementation, PaginatedRequestParams,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientHandler, RoleClient, ServiceError, ServiceExt};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::answer::MESSAGE_BYTES_MAX;
use super::http::way_to;
use super::stdio::{Program, variables};
use super::tool::{Offered, offered, unknown};
use super::trouble::Trouble;
use crate::policy::{forbidden, wrong};
use crate::process::GuardProgram;
use crate::secrets::Secrets;
use crate::work::Place;

/// A server that lists its tools in more parts than this never comes to an end.
const PAGES_MAX: usize = 50;
/// How long a server has to take leave.
const LEAVE_MAX: Duration = Duration::from_secs(2);

/// A server that is spoken to.
pub(crate) struct Session {
    server: McpServer,
    secrets: Secrets,
    client: Mutex<Option<RunningService<RoleClient, Listener>>>,
    peer: rmcp::Peer<RoleClient>,
    changed: Arc<AtomicBool>,
    tools: Mutex<Option<Vec<Offered>>>,
    /// The tools that are left out, and why.
    left_out: Mutex<Vec<String>>,
    program: Mutex<Option<Program>>,
}

/// Hears what a server says by itself. It asks for nothing that we would give.
struct Listener {
    changed: Arc<AtomicBool>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.client_info = Implementation::new("gantry", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::SeqCst);
    }
}

/// Starts a conversation.
pub(super) async fn open(
    server: &McpServer,
    guard: &GuardProgram,
    place: &Place,
    stop: &CancellationToken,
) -> Result<Session, Failure> {
    let (given, secrets) = variables(server, place)?;
    let mut trouble = Trouble { server: &server.name, secrets: &secrets, last_words: String::new() };
    let changed = Arc::new(AtomicBool::new(false));
    let listener = Listener { changed: Arc::clone(&changed) };
    let (met, program) = match &server.way {
        McpWay::Command(words) => {
            let (program, line) = Program::start(words, given, guard, place, &trouble).await?;
            let (read, write) = tokio::io::split(line);
            let transport = AsyncRwTransport::new_client(read, write).with_max_line_length(MESSAGE_BYTES_MAX);
            (in_time(listener.serve(transport), server.timeout, stop).await, Some(program))
        }
        McpWay::Url(_) if matches!(server.key_state, KeyState::Missing { .. } | KeyState::Withheld { .. }) => {
            return Err(forbidden(format!("the MCP server `{}` cannot be asked: {}", server.name, server.key_state)));
        }
        McpWay::Url(url) => (in_time(listener.serve(way_to(server, url)?), server.timeout, stop).await, None),
    };
    let client = match met {
        Ok(Ok(client)) => client,
        failed => {
            if let Some(program) = &program {
                program.settle().await;
                trouble.last_words = program.last_words();
            }
            let failure = match failed {
                Ok(Ok(_)) | Err(Late::Stopped) => stopped(),
                Ok(Err(error)) => trouble.not_met(&error),
                Err(Late::Silent) => trouble.silent(server.timeout),
            };
            if let Some(program) = program {
                program.end().await;
            }
            return Err(failure);
        }
    };
    Ok(Session {
        server: server.clone(),
        peer: client.peer().clone(),
        client: Mutex::new(Some(client)),
        changed,
        tools: Mutex::new(None),
        left_out: Mutex::default(),
        program: Mutex::new(program),
        secrets,
    })
}

fn stopped() -> Failure {
    Failure::new(FailureClass::Cancelled, "it was stopped")
}

/// Why something did not come to its end.
enum Late {
    Stopped,
    Silent,
}

async fn in_time<T>(work: impl Future<Output = T>, timeout: Duration, stop: &CancellationToken) -> Result<T, Late> {
    tokio::select! {
        done = work => Ok(done),
        () = stop.cancelled() => Err(Late::Stopped),
        () = tokio::time::sleep(timeout) => Err(Late::Silent),
    }
}

impl Session {
    /// Tells whether nobody is at the other end any more.
    pub(super) fn is_over(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// What nobody may see of what this server was given.
    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    async fn trouble(&self) -> Trouble<'_> {
        let program = self.program.lock().await;
        let last_words = match &*program {
            Some(program) => {
                program.settle().await;
                program.last_words()
            }
            None => String::new(),
        };
        Trouble { server: &self.server.name, secrets: &self.secrets, last_words }
    }

    /// The tools that it has now.
    pub(super) async fn tools(&self, stop: &CancellationToken) -> Result<Vec<Offered>, Failure> {
        let mut known = self.tools.lock().await;
        if let Some(tools) = known.as_ref().filter(|_| !self.changed.swap(false, Ordering::SeqCst)) {
            return Ok(tools.clone());
        }
        let listed = in_time(self.list(), self.server.timeout, stop).await;
        let tools = match listed {
            Ok(Ok(tools)) => {
                let (tools, left_out) = offered(tools);
                *self.left_out.lock().await = left_out;
                tools.into_iter().map(|tool| self.without_secrets(tool)).collect::<Vec<_>>()
            }
            Ok(Err(error)) => return Err(self.trouble().await.not_listed(&error)),
            Err(Late::Stopped) => return Err(stopped()),
            Err(Late::Silent) => return Err(self.trouble().await.silent(self.server.timeout)),
        };
        *known = Some(tools.clone());
        Ok(tools)
    }

    /// The tools that were left out when it was asked last, each with the reason.
    pub(super) async fn left_out(&self) -> Vec<String> {
        self.left_out.lock().await.clone()
    }

    fn without_secrets(&self, tool: Offered) -> Offered {
        let (description, parameters) =
            (self.secrets.redact(&tool.description), self.secrets.redact_value(&tool.parameters));
        Offered { description, parameters, ..tool }
    }

    async fn list(&self) -> Result<Vec<rmcp::model::Tool>, ServiceError> {
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let params = cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let page = self.peer.list_tools(params).await?;
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    /// Says no to a call that the server does not offer in this form.
    pub(super) async fn offers(
        &self,
        tool: &str,
        args: &Map<String, Value>,
        stop: &CancellationToken,
    ) -> Result<(), Failure> {
        let tools = self.tools(stop).await?;
        let Some(found) = tools.iter().find(|offered| offered.name == tool) else {
            return Err(unknown(&self.server.name, tool, &tools));
        };
        let shape = Shape { name: tool.to_owned(), schema: found.parameters.clone() };
        let faults = match Checker::new(&shape) {
            Ok(checker) => checker.faults(&Value::Object(args.clone())),
            Err(_) => Vec::new(), // the server itself has to say what it takes
        };
        match faults.first() {
            None => Ok(()),
            Some(fault) => Err(wrong(format!("`{tool}` of the MCP server `{}`: {fault}", self.server.name))),
        }
    }

    /// Makes a call.
    pub(super) async fn call(
        &self,
        tool: &str,
        args: Map<String, Value>,
        stop: &CancellationToken,
    ) -> Result<CallToolResult, Failure> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        let (timeout, safe) = (self.server.timeout, self.server.is_safe(tool));
        match in_time(self.peer.call_tool_once(params), timeout, stop).await {
            Ok(Ok(CallToolResponse::Complete(result))) => Ok(result),
            Ok(Ok(_)) => {
                let message = format!(
                    "`{tool}` of the MCP server `{}` wants to go on in a way that is not known here",
                    self.server.name
                );
                Err(Failure::new(if safe { FailureClass::Logic } else { FailureClass::Lost }, message))
            }
            Ok(Err(error)) => Err(self.trouble().await.not_answered(tool, &error, safe)),
            Err(Late::Stopped) => Err(stopped()),
            Err(Late::Silent) => Err(self.trouble().await.too_slow(tool, timeout, safe)),
        }
    }

    /// Takes leave. Nothing of the server is left on this machine afterwards.
    pub(super) async fn close(&self) {
        if let Some(mut client) = self.client.lock().await.take() {
            let _ = client.close_with_timeout(LEAVE_MAX).await; // whoever does not take leave is left
        }
        if let Some(program) = self.program.lock().await.take() {
            program.end().await;
        }
    }
}
