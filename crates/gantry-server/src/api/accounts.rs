//! Who may do what: accounts, signing in and out, and what was asked.

use std::time::Instant;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::access::{AccessError, Account, AuditLine, Who};
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::listen::{COOKIE, Caller, session};
use crate::problem::Problem;
use crate::shapes::{AccountMade, NewAccount, SignIn};

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
