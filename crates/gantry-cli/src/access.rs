//! `gantry access`: who may use the server, and how they are known.

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;

use gantry_server::{Access, AccessError, Role};
use serde_json::json;

use crate::exit::{self, Fault};
use crate::session::{self, Record};
use crate::show::elapsed::{clock, now};
use crate::show::table::columns;
use crate::talk::talk;

/// Say who may use the server, and what they may do
///
/// People sign in with a name and a password, programs send a token: `Authorization: Bearer TOKEN`. Only hashes (argon2) are
/// kept, in a file beside the record that its owner alone can read. Roles: viewer (look), operator (create and steer plans),
/// approver (decide gates and answer questions, too), admin (everything). A running server takes changes at once.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry access user ana --role admin            (asks for the password)\n  gantry access token ci --role operator\n  gantry access list\n  gantry access remove ci"
)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    record: Record,
}

#[derive(clap::Subcommand)]
enum What {
    /// Let a person sign in with a password; it is read from standard input
    #[command(
        after_help = "Examples:\n  gantry access user ana --role admin\n  echo \"$PASSWORD\" | gantry access user ana --role approver"
    )]
    User(Who),
    /// Let a program in with a token, which is printed once and kept by nobody
    #[command(
        after_help = "Examples:\n  gantry access token ci --role operator\n  TOKEN=$(gantry access token ci --role viewer)"
    )]
    Token(Who),
    /// List all accounts
    #[command(after_help = "Examples:\n  gantry access list --json")]
    List,
    /// Remove an account; whoever is signed in with it is not any more
    #[command(after_help = "Examples:\n  gantry access remove ci")]
    Remove {
        /// Whose
        name: String,
    },
}

#[derive(clap::Args)]
struct Who {
    /// The name that goes into the journal
    name: String,
    /// What they may do
    #[arg(long, default_value = "viewer")]
    role: Wanted,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Wanted {
    /// Look
    Viewer,
    /// Create and steer plans
    Operator,
    /// Decide gates and answer questions, too
    Approver,
    /// Everything
    Admin,
}

impl From<Wanted> for Role {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Viewer => Self::Viewer,
            Wanted::Operator => Self::Operator,
            Wanted::Approver => Self::Approver,
            Wanted::Admin => Self::Admin,
        }
    }
}

impl From<AccessError> for Fault {
    fn from(error: AccessError) -> Self {
        let message = error.to_string();
        match error {
            AccessError::File { .. } => Self::internal(message),
            AccessError::Taken { .. } => {
                Self::refused(message).hint("remove it first with `gantry access remove NAME`")
            }
            AccessError::Unknown { .. } => Self::bad_input(message).hint("see them with `gantry access list`"),
            AccessError::Unusable { .. } => Self::bad_input(message),
        }
    }
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let json = args.record.json;
    let access = Access::beside(&args.record.path()?, &session::operator())?;
    match &args.what {
        What::User(who) => {
            access.add_user(&who.name, who.role.into(), &password()?, now())?;
            tell(json, who, None)?;
        }
        What::Token(who) => {
            let token = access.add_token(&who.name, who.role.into(), now())?;
            tell(json, who, Some(&token))?;
        }
        What::List => {
            let all = access.accounts();
            if json {
                exit::print_json(&all)?;
            } else if all.is_empty() {
                talk!("no accounts: `gantry serve` answers this machine alone");
            } else {
                let row = |one: &gantry_server::Account| {
                    let proof = format!("{:?}", one.proof).to_lowercase();
                    vec![one.name.clone(), one.role.to_string(), proof, clock(one.created_at)]
                };
                let mut rows = vec![["NAME", "ROLE", "PROVEN BY", "MADE"].map(str::to_owned).to_vec()];
                rows.extend(all.iter().map(row));
                exit::print(&columns(&rows))?;
            }
        }
        What::Remove { name } => {
            access.remove(name)?;
            if json {
                exit::print_json(&json!({"removed": name}))?;
            } else {
                talk!("removed `{name}`");
            }
        }
    }
    Ok(ExitCode::from(exit::DONE))
}

fn tell(json: bool, who: &Who, token: Option<&str>) -> Result<(), Fault> {
    let role = Role::from(who.role);
    if json {
        return exit::print_json(&json!({"name": who.name, "role": role, "token": token}));
    }
    match token {
        Some(token) => {
            talk!("a token for `{}` ({role}); it is shown this once:", who.name);
            exit::print(&format!("{token}\n"))
        }
        None => {
            talk!("`{}` ({role}) can sign in", who.name);
            Ok(())
        }
    }
}

/// The most that is read as a password.
const PASSWORD_BYTES_MAX: u64 = 4_096;

/// The password from standard input; on a terminal it is asked for, and not shown.
fn password() -> Result<String, Fault> {
    let stdin = std::io::stdin();
    let hidden = stdin.is_terminal().then(|| Hidden::begin(&stdin)).flatten();
    if hidden.is_some() {
        crate::talk::part(format_args!("password: "));
    }
    let mut text = String::new();
    let read = if hidden.is_some() {
        stdin.read_line(&mut text).map(|_| ())
    } else {
        stdin.lock().take(PASSWORD_BYTES_MAX).read_to_string(&mut text).map(|_| ())
    };
    drop(hidden);
    read.map_err(|error| Fault::bad_input(format!("no password can be read: {error}")))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// A terminal that does not show what is typed, until this is dropped.
struct Hidden(rustix::termios::Termios);

impl Hidden {
    fn begin(stdin: &std::io::Stdin) -> Option<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(stdin).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(stdin, OptionalActions::Now, &quiet).ok()?;
        Some(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
        talk!("");
    }
}
