//! How bytes are stored: as they are, or compressed where that is smaller.

use std::io::Read as _;

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

/// What is packed begins with a header and a block of at most 128 KiB, so that this much of it is enough to begin with.
pub(crate) const PACKED_BLOCK_BYTES_MAX: usize = 132 << 10;

/// Returns the first bytes as they were before packing, given the beginning of what is stored; none where it is damaged.
pub(crate) fn unpack_beginning(packing: &str, stored: Vec<u8>, bytes_max: usize) -> Vec<u8> {
    if packing == "plain" {
        return stored;
    }
    let mut plain = Vec::new();
    let unpacked = zstd::stream::read::Decoder::with_buffer(stored.as_slice())
        .and_then(|decoder| decoder.take(bytes_max as u64).read_to_end(&mut plain));
    // What was read before it broke off is what there is.
    drop(unpacked);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_something_large_is_read_from_the_beginning_of_what_is_stored() {
        let mut state = 1_u64;
        let mut digit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            b"0123456789abcdef"[usize::try_from(state >> 60).unwrap()]
        };
        let large: Vec<u8> = (0..4 << 20).map(|_| digit()).collect();
        let packed = Packed::new(large.clone());
        assert_eq!(packed.packing, "zstd");
        let beginning = packed.stored[..PACKED_BLOCK_BYTES_MAX].to_vec();
        assert_eq!(unpack_beginning("zstd", beginning, 8_192), large[..8_192]);
        assert_eq!(unpack_beginning("zstd", b"damaged".to_vec(), 8_192), b"");
    }
}
