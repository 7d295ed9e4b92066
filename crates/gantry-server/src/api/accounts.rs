//! Who may do what: accounts, signing in and out, and what was asked.

use std::time::Instant;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::{AccessError, Account, AuditLine, Role, Who};
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::documented::{Described, Does};
use crate::listen::{COOKIE, Caller, session};
use crate::problem::Problem;
use crate::shapes::Why;

/// A new account.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccount {
    /// Who it is.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// A password, for a person; without one a token is made.
    #[serde(default)]
    pub password: Option<String>,
}

/// An account that was made.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AccountMade {
    /// Who it is.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// The token; it is shown this once.
    pub token: Option<String>,
}

/// Who signs in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// The name; may be empty with a token.
    #[serde(default)]
    pub name: String,
    /// The password, or a token.
    pub password: String,
}

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.delete(
        "/api/v1/sessions/current",
        Role::Viewer,
        sign_out,
        Does::new("accounts", "Sign out").may_take::<Why>().gives_nothing(204, "Nobody is signed in any more."),
    )
    .open(
        Method::POST,
        "/api/v1/sessions",
        sign_in,
        Does::new("accounts", "Sign in with a name and a password, or with a token")
            .takes::<SignIn>()
            .gives_nothing(204, "The cookie of the session is set."),
    )
    .get("/api/v1/me", Role::Viewer, me, Does::new("accounts", "Who you are").gives::<Who>(200, "You."))
    .post(
        "/api/v1/accounts",
        Role::Admin,
        add,
        Does::new("accounts", "Make an account: with a password, or with a token that is shown once")
            .takes::<NewAccount>()
            .gives::<AccountMade>(201, "It is made."),
    )
    .get(
        "/api/v1/accounts",
        Role::Admin,
        list,
        Does::new("accounts", "All accounts").gives_list::<Account>(200, "The accounts."),
    )
    .delete(
        "/api/v1/accounts/{name}",
        Role::Admin,
        remove,
        Does::new("accounts", "Remove an account; whoever is signed in with it is not any more")
            .gives_nothing(204, "It is gone."),
    )
    .get(
        "/api/v1/audit",
        Role::Admin,
        audit,
        Does::new("accounts", "The last requests that may have changed something, the newest first")
            .gives_list::<AuditLine>(200, "The requests."),
    )
}

/// How many lines of the audit log are shown.
const LINES_MAX: usize = 200;

impl From<AccessError> for Problem {
    fn from(error: AccessError) -> Self {
        match &error {
            AccessError::File { .. } => Self::broken("access::file", error.to_string()),
            AccessError::Taken { .. } => Self::conflict("access::taken", error.to_string()),
            AccessError::Unknown { .. } => Self::missing("access::no-account", error.to_string()),
            AccessError::Unusable { .. } => Self::unfit("access::unusable", error.to_string()),
        }
    }
}

/// Who you are.
pub async fn me(who: Who) -> Told<Who> {
    Told(who)
}

/// All accounts.
pub async fn list(State(app): State<App>) -> Told<Vec<Account>> {
    Told(app.access.accounts())
}

/// Makes an account.
pub async fn add(
    State(app): State<App>,
    Said(new): Said<NewAccount>,
) -> Result<(StatusCode, Told<AccountMade>), Problem> {
    let made = make(&app, new).await?;
    Ok((StatusCode::CREATED, Told(made)))
}

/// Makes an account, away from the threads that answer.
pub async fn make(app: &App, new: NewAccount) -> Result<AccountMade, Problem> {
    let app = app.clone();
    let made = tokio::task::spawn_blocking(move || {
        let NewAccount { name, role, password } = new;
        let token = match password.filter(|password| !password.is_empty()) {
            Some(password) => {
                app.access.add_user(&name, role, &password, App::now())?;
                None
            }
            None => Some(app.access.add_token(&name, role, App::now())?),
        };
        Ok::<_, AccessError>(AccountMade { name, role, token })
    });
    Ok(made.await.map_err(|error| Problem::broken("server::panicked", error.to_string()))??)
}

/// Removes an account.
pub async fn remove(State(app): State<App>, Named(name): Named<String>) -> Result<StatusCode, Problem> {
    app.access.remove(&name)?;
    Ok(StatusCode::NO_CONTENT)
}

/// What was asked.
pub async fn audit(State(app): State<App>) -> Result<Told<Vec<AuditLine>>, Problem> {
    let lines = app.audit.last(LINES_MAX).map_err(|error| Problem::broken("access::audit", error.to_string()))?;
    Ok(Told(lines))
}

/// Signs in, and returns the cookie.
pub async fn sign_in_as(app: &App, caller: &Caller, said: SignIn) -> Result<HeaderValue, Problem> {
    if !app.sign_ins.take(&caller.from, Instant::now()) {
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "access::too-often", "too many attempts to sign in");
        return Err(problem.hint("wait a minute"));
    }
    let checked = app.clone();
    let signed =
        tokio::task::spawn_blocking(move || checked.access.sign_in(said.name.trim(), &said.password, App::now()));
    let secret = signed.await.unwrap_or_default().ok_or_else(|| {
        Problem::new(StatusCode::UNAUTHORIZED, "access::sign-in", "the name or the password is wrong")
    })?;
    let secure = if caller.secure { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200{secure}");
    HeaderValue::from_str(&cookie).map_err(|error| Problem::broken("server::cookie", error.to_string()))
}

/// `POST /sessions`.
pub async fn sign_in(State(app): State<App>, caller: Caller, Said(said): Said<SignIn>) -> Result<Response, Problem> {
    let cookie = sign_in_as(&app, &caller, said).await?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

/// `DELETE /sessions/current`.
pub async fn sign_out(State(app): State<App>, headers: HeaderMap) -> Response {
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, signed_out(&app, &headers))]).into_response()
}

/// Ends the session, and returns the cookie that says so.
pub fn signed_out(app: &App, headers: &HeaderMap) -> HeaderValue {
    if let Some(secret) = session(headers) {
        app.access.sign_out(&secret);
    }
    HeaderValue::from_static("gantry_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")
}
