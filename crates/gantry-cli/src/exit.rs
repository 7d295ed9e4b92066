//! How the program ends: named exit codes, and faults told in one place.

use std::process::ExitCode;

use gantry_core::life::Refusal;
use gantry_engine::EngineError;
use gantry_store::StoreError;

use crate::talk::talk;

/// Everything was done.
pub const DONE: u8 = 0;
/// A fault of this program or of its surroundings.
pub const INTERNAL: u8 = 1;
/// The input is wrong: a plan file, an argument.
pub const BAD_INPUT: u8 = 2;
/// The plan failed, or was given up.
pub const FAILED: u8 = 3;
/// The plan waits for a person.
pub const WAITING: u8 = 4;
/// The plan said no to the request.
pub const REFUSED: u8 = 5;

/// The worse of two endings: what was done is best, then what waits, what failed, what was refused, what was wrong.
pub fn worse(one: u8, other: u8) -> u8 {
    let order = [DONE, WAITING, FAILED, REFUSED, BAD_INPUT, INTERNAL];
    let rank = |code: u8| order.iter().position(|known| *known == code).unwrap_or(order.len());
    if rank(other) > rank(one) { other } else { one }
}

/// Why a command could not do its work.
pub struct Fault {
    code: u8,
    message: String,
    hint: Option<String>,
    /// The stable code of what the plan said.
    refusal: Option<String>,
    /// What became of each thing that was asked for, where there were several.
    actions: Option<Box<serde_json::Value>>,
}

impl Fault {
    fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, refusal: None, actions: None }
    }

    /// The input is wrong.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::new(BAD_INPUT, message)
    }

    /// Something around the program does not work.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(INTERNAL, message)
    }

    /// The plan said no.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(REFUSED, message)
    }

    /// Says what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says what became of each thing that was asked for; only programs are told here.
    pub fn about(self, actions: Box<serde_json::Value>) -> Self {
        Self { actions: Some(actions), ..self }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// It for programs. The keys are a promise.
    pub fn to_json(&self) -> serde_json::Value {
        let mut told = serde_json::json!({"code": self.code, "message": self.message, "hint": self.hint});
        if let Some(refusal) = &self.refusal {
            told["refusal"] = refusal.as_str().into();
        }
        if let Some(actions) = &self.actions {
            told["actions"] = (**actions).clone();
        }
        told
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Tells it on standard error and gives the exit code: in words, or for programs as one line of JSON.
    pub fn tell(self) -> ExitCode {
        if wants_json() {
            talk!("{}", serde_json::json!({"error": self.to_json()}));
            return ExitCode::from(self.code);
        }
        // Names that others gave may be in it: lines stay lines, everything else is shown, not obeyed.
        let lines: Vec<String> = self.message.split('\n').map(crate::show::plain).collect();
        talk!("error: {}", lines.join("\n"));
        if let Some(hint) = self.hint {
            talk!("\nhint: {hint}");
        }
        ExitCode::from(self.code)
    }
}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Self {
        let code = match &error {
            EngineError::Refused(Refusal::BadPlan { .. }) => BAD_INPUT,
            EngineError::Refused(_) | EngineError::RefusedElsewhere { .. } | EngineError::Driven { .. } => REFUSED,
            EngineError::Homeless { .. } => BAD_INPUT,
            EngineError::Store(store) => return store.clone().into(),
            EngineError::Journal { .. } | EngineError::Broken { .. } | EngineError::Silent { .. } => INTERNAL,
        };
        let refusal = match &error {
            EngineError::Refused(refusal) => Some(refusal.code().to_owned()),
            EngineError::RefusedElsewhere { code, .. } => Some(code.clone()),
            _ => None,
        };
        Self { hint: error.hint(), refusal, ..Self::new(code, error.to_string()) }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::NotFound { .. } | StoreError::Ambiguous { .. } | StoreError::Invalid { .. } => BAD_INPUT,
            StoreError::KeyReused { .. } | StoreError::Pinned { .. } | StoreError::AlreadyDone { .. } => REFUSED,
            _ => INTERNAL,
        };
        Self { hint: error.hint(), ..Self::new(code, error.to_string()) }
    }
}

/// Tells whether whoever called this program reads JSON. Faults come from everywhere, also from reading the arguments.
pub fn wants_json() -> bool {
    std::env::args_os().skip(1).take_while(|arg| arg != "--").any(|arg| arg == "--json")
}

/// A value as programs read it.
pub fn json_text(value: &impl serde::Serialize) -> Result<String, Fault> {
    let value = serde_json::to_value(value).map_err(|error| Fault::internal(format!("this is no JSON: {error}")))?;
    Ok(format!("{:#}\n", crate::show::times::with_even_times(value)))
}

/// Writes a value for programs to standard output.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Fault> {
    print(&json_text(value)?)
}

/// Writes to standard output. A reader that has gone away (`gantry schema | head`) is no fault.
pub fn print(text: &str) -> Result<(), Fault> {
    use std::io::Write;
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Fault::internal(format!("standard output cannot be written: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes all that a file has to standard output.
pub fn print_all(file: &mut std::fs::File) -> Result<(), Fault> {
    match std::io::copy(file, &mut std::io::stdout().lock()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Fault::internal(format!("standard output cannot be written: {error}")))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Writes bytes to standard output as they are.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Fault> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Fault::internal(format!("standard output cannot be written: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
