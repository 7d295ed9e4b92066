//! How bytes are stored: as they are, or compressed where that is smaller.

use gantry_store::StoreError;

/// Shorter bytes are stored as they are: there is little to gain, and people can read them with SQL.
const PACKED_BYTES_MIN: usize = 1_024;

/// Fast rather than small: the writer of an artifact waits for it.
const LEVEL: i32 = 1;

/// Bytes in their stored form.
pub(crate) struct Packed {
    pub packing: &'static str,
    /// How many bytes there are before packing.
    pub bytes: u64,
    pub stored: Vec<u8>,
}

impl Packed {
    pub(crate) fn new(plain: Vec<u8>) -> Self {
        let bytes = plain.len() as u64;
        if plain.len() >= PACKED_BYTES_MIN
            && let Ok(smaller) = zstd::bulk::compress(&plain, LEVEL)
            && smaller.len() < plain.len()
        {
            return Self { packing: "zstd", bytes, stored: smaller };
        }
        Self { packing: "plain", bytes, stored: plain }
    }
}

/// Returns the bytes as they were before packing; `bytes_max` bounds what a damaged row can ask for.
pub(crate) fn unpack(
    packing: &str,
    bytes: u64,
    stored: Vec<u8>,
    bytes_max: u64,
    what: &str,
) -> Result<Vec<u8>, StoreError> {
    let damaged = |why: String| StoreError::corrupt(format!("{what} is not what was written: {why}"));
    let length = usize::try_from(bytes.min(bytes_max)).map_err(|error| damaged(error.to_string()))?;
    let plain = match packing {
        "plain" => stored,
        "zstd" => zstd::bulk::decompress(&stored, length).map_err(|error| damaged(error.to_string()))?,
        other => return Err(damaged(format!("`{other}` is no way of packing"))),
    };
    if plain.len() as u64 != bytes {
        return Err(damaged(format!("it has {} bytes instead of {bytes}", plain.len())));
    }
    Ok(plain)
}
