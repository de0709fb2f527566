//! As much of tar (POSIX.1-1988, ustar) as plain files with short names need.

use bytes::Bytes;

const BLOCK: usize = 512;

/// What stands before a file: `path` is ASCII and has at most 100 bytes, the file less than 8 GiB.
pub(super) fn header(path: &str, bytes: u64, modified_s: i64) -> Bytes {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, text: &[u8]| {
        for (to, from) in block[at..].iter_mut().zip(text) {
            *to = *from;
        }
    };
    put(0, path.as_bytes().get(..100).unwrap_or(path.as_bytes()));
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{bytes:011o}\0").as_bytes());
    put(136, format!("{:011o}\0", modified_s.max(0)).as_bytes());
    // The sum is over a header with blanks in its place.
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    let sum = format!("{sum:06o}\0 ");
    block[148..156].copy_from_slice(sum.as_bytes());
    Bytes::copy_from_slice(&block)
}

/// What stands after a file of so many bytes; empty where it fills its blocks.
pub(super) fn padding(bytes: u64) -> Bytes {
    // Less than a block.
    let over = usize::try_from(bytes % BLOCK as u64).unwrap_or(0);
    Bytes::from_static(&[0; BLOCK]).slice(..(BLOCK - over) % BLOCK)
}

/// What stands after the last file.
pub(super) fn end() -> Bytes {
    Bytes::from_static(&[0; 2 * BLOCK])
}
