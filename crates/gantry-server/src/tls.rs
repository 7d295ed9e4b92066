//! TLS without a proxy: a certificate and its key from two files in PEM.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// The files that a server proves itself with.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The certificate, followed by those that vouch for it.
    pub certificates: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Why the files cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{file}` cannot be used for TLS: {why}")]
pub struct TlsError {
    file: String,
    why: String,
}

impl TlsError {
    fn of(file: &Path, why: impl ToString) -> Self {
        Self { file: file.display().to_string(), why: why.to_string() }
    }
}

impl Tls {
    /// Reads the files.
    pub fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        let Self { certificates, key } = self;
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificates)
            .and_then(Iterator::collect)
            .map_err(|error| TlsError::of(certificates, error))?;
        if chain.is_empty() {
            return Err(TlsError::of(certificates, "there is no certificate in it"));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
            pem::Error::NoItemsFound => TlsError::of(key, "there is no private key in it"),
            other => TlsError::of(key, other),
        })?;
        // One provider in the whole program, and it is named: none is guessed from what happens to be compiled in.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError::of(certificates, error))?
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .map_err(|error| match error {
                rustls::Error::InconsistentKeys(_) => TlsError::of(key, "it is not the key of the certificate"),
                other => TlsError::of(key, other),
            })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
