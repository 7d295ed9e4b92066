//! `mcp.NAME.TOOL`: tools of MCP servers, which are programs that are started or addresses that are called.
//!
//! Servers are described in gantry.toml. A program runs under the same guard and the same confinement as a shell command,
//! from the first call of an attempt to the attempt's end; an address has to be on the list of hosts of the policy. What a
//! server says is data of a stranger: it is bounded, kept free of secrets, and never an instruction.
//!
//! **Failures.** A server that is not there, or does not start, leaves nothing in doubt, and can be asked again. One that
//! dies, stays silent or answers something unreadable while a call is under way may have done it: that is `lost`, unless
//! the tool is said to be safe to repeat. A tool that says itself that it failed is a wrong result.

mod tool; // in reading order
mod answer;
mod trouble;
mod http;
mod stdio;
mod session;
mod sessions;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::plan::Action;
use gantry_core::policy::{FailureClass, Usage};
use gantry_core::suggest::nearest;
use gantry_llm::config::{McpServer, McpWay};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::policy::{check_command, check_host, forbidden, line_of, wrong};
use crate::ports::Ports;
use crate::process::GuardProgram;
use crate::runner::{Description, Ended, Preview, Runner};
use crate::text::{middle_cut, shortened};
use crate::work::{Place, Work};

pub use sessions::Sessions;
pub use tool::Offered;

/// What the names of all tools of servers begin with.
pub(crate) const PREFIX: &str = "mcp.";
/// The name that stands for all of them.
pub(crate) const FAMILY: &str = "mcp";
/// The kind under which calls of servers are recorded.
pub const CALL: &str = "mcp";
/// The kind under which it is recorded which tools a server had.
const TOOLS: &str = "mcp-tools";
/// How much of the arguments of a call is shown before it is made.
const SHOWN_CHARS_MAX: usize = 4_000;

/// What a server has.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The tools that may be called.
    pub tools: Vec<Offered>,
    /// The tools that cannot be called, each with the reason.
    pub left_out: Vec<String>,
    /// The tools that are not among those that gantry.toml allows.
    pub not_chosen: Vec<String>,
}

/// The MCP servers whose tools may be called.
pub struct Mcp {
    guard: GuardProgram,
    set_up: Box<dyn Fn() -> Result<Servers, String> + Send + Sync>,
    servers: OnceLock<Result<Servers, String>>,
}

/// Servers by name.
pub type Servers = BTreeMap<String, McpServer>;

/// A tool by its full name.
struct Named<'a> {
    server: &'a McpServer,
    /// The name that the server has for it; `*` stands for all.
    tool: &'a str,
}

impl Mcp {
    /// Servers that are read when they are needed first; their programs run under this guard.
    pub fn new(guard: GuardProgram, set_up: impl Fn() -> Result<Servers, String> + Send + Sync + 'static) -> Self {
        Self { guard, set_up: Box::new(set_up), servers: OnceLock::new() }
    }

    /// All servers by name.
    pub fn servers(&self) -> Result<&Servers, Failure> {
        let servers = self.servers.get_or_init(|| (self.set_up)());
        servers.as_ref().map_err(|why| forbidden(why.clone()))
    }

    /// The tools that a server has now, and those that are left out. It is started and ended for that.
    pub async fn ask(&self, server: &McpServer, place: &Place, stop: &CancellationToken) -> Result<Found, Failure> {
        reachable(server, place)?;
        let session = session::open(server, &self.guard, place, stop).await?;
        let (tools, mut left_out) = (session.tools(stop).await, session.left_out().await);
        session.close().await;
        let tools = tools?;
        let wanted = server.tools.iter().flatten().filter(|name| tools.iter().all(|tool| tool.name != **name));
        left_out.extend(wanted.map(|name| format!("`{name}`: the server has no such tool that can be called")));
        let (tools, not_chosen): (Vec<_>, Vec<_>) = tools.into_iter().partition(|tool| server.allows(&tool.name));
        Ok(Found { tools, left_out, not_chosen: not_chosen.into_iter().map(|tool| tool.name).collect() })
    }

    fn named<'a>(&'a self, name: &'a str) -> Result<Named<'a>, Failure> {
        let servers = self.servers()?;
        let parts = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('.'));
        let Some((server, tool)) = parts.filter(|(_, tool)| !tool.is_empty()) else {
            return Err(wrong(format!("`{name}` names no tool: write `mcp.SERVER.TOOL`")));
        };
        let Some(server) = servers.get(server) else {
            let none = format!("there is no MCP server `{server}`");
            return Err(match nearest(server, servers.keys().map(String::as_str)) {
                Some(near) => wrong(format!("{none}; did you mean `{near}`?")),
                None => Failure::missing_capability(format!("{none}; describe it in gantry.toml: [mcp.{server}]")),
            });
        };
        if tool != "*" && !server.allows(tool) {
            let tools = server.tools.as_deref().unwrap_or_default().join("`, `");
            let message = format!("`{tool}` is not among the tools of [mcp.{}] in gantry.toml: `{tools}`", server.name);
            return Err(forbidden(message));
        }
        Ok(Named { server, tool })
    }

    /// The tool that an attempt calls.
    fn called<'a>(&'a self, work: &'a Work) -> Result<Named<'a>, Failure> {
        let Action::Tool(tool) = &work.action else { return Err(wrong("tools of servers are called as tools")) };
        let named = self.named(&tool.name)?;
        if named.tool == "*" {
            return Err(wrong(format!("`{}` stands for several tools; name one", tool.name)));
        }
        Ok(named)
    }

    /// The tools that a server had when this attempt asked first.
    async fn offered(
        &self,
        server: &McpServer,
        work: &Work,
        place: &Place,
        ports: &Ports,
        stop: &CancellationToken,
    ) -> Result<Vec<Offered>, Failure> {
        let whole = json!([TOOLS, server.name, work.task, work.attempt]).to_string();
        let key = blake3::hash(whole.as_bytes()).to_hex().to_string();
        let recalled = ports.calls.recall(TOOLS, &key).await?.and_then(|call| call.answer);
        if let Some(tools) = recalled.and_then(|answer| serde_json::from_value(answer).ok()) {
            return Ok(tools);
        }
        let call = ports.calls.begin(TOOLS, &key, json!({"server": server.name})).await?;
        let session = ports.sessions.get(server, &self.guard, place, stop).await?;
        let tools = session.tools(stop).await?;
        let left_out = session.left_out().await;
        if !left_out.is_empty() {
            let note = format!("tools of the MCP server `{}` are left out: {}", server.name, left_out.join("; "));
            ports.watch.alive(shortened(&note, 500), Vec::new());
        }
        ports.calls.end(call, json!(tools), Usage::default()).await?;
        Ok(tools)
    }

    async fn call(
        &self,
        work: &Work,
        place: &Place,
        ports: &Ports,
        stop: &CancellationToken,
    ) -> Result<answer::Given, Failure> {
        let Named { server, tool } = self.called(work)?;
        let args = work.args();
        let session = ports.sessions.get(server, &self.guard, place, stop).await?;
        session.offers(tool, &args, stop).await?;
        let request =
            json!({"server": server.name, "tool": tool, "args": session.secrets().redact_value(&json!(args))});
        let call = ports.begin(CALL, request).await?;
        let called = ports.beating(work.heartbeat, Box::pin(session.call(tool, args, stop))).await;
        let given = match called {
            Ok(result) => answer::read(result, session.secrets(), place, ports).await,
            Err(failure) => Err(failure),
        };
        let answer = match &given {
            Ok(given) => json!({"outputs": given.outputs}),
            Err(failure) => json!({"failed": failure.message}),
        };
        ports.calls.answered(call, answer);
        match given {
            // A server that cannot be trusted to answer is not asked again; a new one may be.
            Err(failure) if failure.class != FailureClass::Logic => {
                ports.sessions.forget(&server.name).await;
                Err(failure)
            }
            other => other,
        }
    }
}

/// Says no to a server that the policy does not let be reached.
fn reachable(server: &McpServer, place: &Place) -> Result<(), Failure> {
    match &server.way {
        McpWay::Command(words) => {
            let line = line_of(words);
            place.policies().try_for_each(|policy| check_command(&line, &policy.commands))
        }
        McpWay::Url(url) => {
            let url = reqwest::Url::parse(url).map_err(|error| wrong(format!("`{url}` is no address: {error}")))?;
            check_host(url.host_str().unwrap_or_default().trim_matches(['[', ']']), place)
        }
    }
}

#[async_trait]
impl Runner for Mcp {
    fn names(&self) -> &'static [&'static str] {
        &[FAMILY]
    }

    fn callable(&self, name: &str) -> Result<(), Failure> {
        self.named(name).map(drop)
    }

    async fn describe(
        &self,
        name: &str,
        work: &Work,
        place: &Place,
        ports: &Ports,
        stop: &CancellationToken,
    ) -> Result<Vec<(String, Description)>, Failure> {
        let Named { server, tool } = self.named(name)?;
        reachable(server, place)?;
        let offered = self.offered(server, work, place, ports, stop).await?;
        let wanted = |offered: &&Offered| (tool == "*" && server.allows(&offered.name)) || offered.name == tool;
        let described = |offered: &Offered| {
            let description = Description {
                text: offered.description.clone().into(),
                parameters: offered.parameters.clone(),
                foreign: true,
                repeatable: server.is_safe(&offered.name),
            };
            (format!("{PREFIX}{}.{}", server.name, offered.name), description)
        };
        let found: Vec<_> = offered.iter().filter(wanted).map(described).collect();
        if found.is_empty() {
            return Err(tool::unknown(&server.name, tool, &offered));
        }
        Ok(found)
    }

    fn guard(&self, work: &Work, place: &Place) -> Result<(), Failure> {
        reachable(self.called(work)?.server, place)
    }

    async fn preview(&self, work: &Work, _place: &Place) -> Result<Preview, Failure> {
        let Named { server, tool } = self.called(work)?;
        let args = pretty(&work.args());
        let (name, way) = (&server.name, shortened(&server.way.to_string(), 80));
        let text = format!("would call `{tool}` of the MCP server `{name}` ({way}) with\n{args}");
        Ok(Preview { text, diff: None })
    }

    async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        Ended::with(self.call(work, place, ports, stop).await.map(answer::Given::into_success))
    }
}

fn pretty(args: &Map<String, Value>) -> String {
    let text = serde_json::to_string_pretty(args).unwrap_or_default();
    middle_cut(&text, SHOWN_CHARS_MAX)
}
