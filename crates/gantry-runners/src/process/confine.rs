//! What a process may touch, enforced by the kernel.
//!
//! Landlock confines files, signals and abstract sockets; a system call filter closes every way to a network. Neither
//! needs privileges, and nothing that the process starts can shake them off. Not covered: a socket that is a file (such
//! as that of a container service) can be connected to when its rights allow, whatever folder it is in.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a process may touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// What it may read and run; what does not exist is passed over.
    pub read: Vec<PathBuf>,
    /// What it may also write; what does not exist is passed over.
    pub write: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether it must not run without full confinement.
    pub required: bool,
    /// What the policy asks for and this confinement cannot express.
    pub gaps: Vec<String>,
}

/// How a process is confined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxStatus {
    /// As the policy says.
    Full,
    /// In part.
    Partial {
        /// What is not confined.
        missing: Vec<String>,
    },
    /// Not at all.
    None {
        /// Why.
        why: String,
    },
}

impl std::fmt::Display for SandboxStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Full => f.write_str("fully confined"),
            Self::Partial { missing } => write!(f, "confined in part ({})", missing.join("; ")),
            Self::None { why } => write!(f, "not confined ({why})"),
        }
    }
}

/// Confines this thread, for good. The error says why that is not enough, when it must be.
pub(super) fn confine(confinement: &Confinement) -> Result<SandboxStatus, String> {
    let status = enforce(confinement);
    match (&status, confinement.required) {
        (SandboxStatus::Full, _) | (_, false) => Ok(status),
        (SandboxStatus::Partial { .. } | SandboxStatus::None { .. }, true) => Err(status.to_string()),
    }
}

#[cfg(not(target_os = "linux"))]
fn enforce(_: &Confinement) -> SandboxStatus {
    SandboxStatus::None { why: "this system has no confinement that Gantry knows".to_owned() }
}

#[cfg(target_os = "linux")]
use linux::enforce;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetError, RulesetStatus, Scope, path_beneath_rules,
    };
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    };

    use super::{Confinement, SandboxStatus};

    /// The newest rules that are asked for; an older kernel does what it can.
    const WANTED: ABI = ABI::V6;

    pub(super) fn enforce(confinement: &Confinement) -> SandboxStatus {
        let mut missing = confinement.gaps.clone();
        match landlock(confinement) {
            Ok(reached) => {
                let LandlockStatus::Available { effective_abi, .. } = reached.landlock else {
                    return SandboxStatus::None { why: "the kernel has no Landlock, or it is switched off".to_owned() };
                };
                if reached.ruleset == RulesetStatus::NotEnforced {
                    return SandboxStatus::None { why: "the kernel does not enforce Landlock rules".to_owned() };
                }
                let lacks = [
                    (ABI::V3, "files outside can be cut to nothing"),
                    (ABI::V5, "devices can be controlled"),
                    (ABI::V6, "signals reach processes outside"),
                ];
                let lacks = lacks.into_iter().filter(|(since, _)| effective_abi < *since);
                missing.extend(lacks.map(|(_, what)| format!("{what} (older kernel)")));
            }
            Err(error) => return SandboxStatus::None { why: error.to_string() },
        }
        if !confinement.network
            && let Err(why) = no_network()
        {
            missing.push(format!("the network is open: {why}"));
        }
        if missing.is_empty() { SandboxStatus::Full } else { SandboxStatus::Partial { missing } }
    }

    fn landlock(confinement: &Confinement) -> Result<RestrictionStatus, RulesetError> {
        let mut rules = Ruleset::default().handle_access(AccessFs::from_all(WANTED))?.scope(Scope::from_all(WANTED))?;
        if !confinement.network {
            rules = rules.handle_access(AccessNet::from_all(WANTED))?;
        }
        rules
            .create()?
            .add_rules(path_beneath_rules(&confinement.read, AccessFs::from_read(WANTED)))?
            .add_rules(path_beneath_rules(&confinement.write, AccessFs::from_all(WANTED)))?
            .restrict_self()
    }

    /// Refuses every socket but those within this machine's kernel. Rings of system calls are refused too, because
    /// what is asked through them passes no filter.
    fn no_network() -> Result<(), String> {
        let words = |error: seccompiler::BackendError| error.to_string();
        let other_than = |domain: i32| {
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, domain.unsigned_abs().into())
        };
        let conditions = vec![
            other_than(libc::AF_UNIX).map_err(words)?,
            other_than(libc::AF_NETLINK).map_err(words)?, // asks the kernel which interfaces there are
        ];
        let rules = BTreeMap::from([
            (libc::SYS_socket, vec![SeccompRule::new(conditions).map_err(words)?]),
            (libc::SYS_io_uring_setup, Vec::new()),
        ]);
        let refuse = SeccompAction::Errno(libc::EACCES.unsigned_abs());
        let arch = std::env::consts::ARCH.try_into().map_err(words)?;
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(words)?;
        let program: BpfProgram = filter.try_into().map_err(words)?;
        seccompiler::apply_filter(&program).map_err(|error| error.to_string())
    }
}
