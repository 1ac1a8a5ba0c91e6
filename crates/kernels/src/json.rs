//! Strings of JSON: where they end, and what their escapes stand for.

/// What the byte after a backslash in a JSON string stands for, but for `u`.
#[inline]
pub fn meaning(escape: u8) -> Option<u8> {
    const MEANINGS: [u8; 256] = {
        let mut meanings = [0; 256];
        meanings[b'"' as usize] = b'"';
        meanings[b'\\' as usize] = b'\\';
        meanings[b'/' as usize] = b'/';
        meanings[b'b' as usize] = 8;
        meanings[b'f' as usize] = 12;
        meanings[b'n' as usize] = b'\n';
        meanings[b'r' as usize] = b'\r';
        meanings[b't' as usize] = b'\t';
        meanings
    };
    Some(MEANINGS[escape as usize]).filter(|meaning| *meaning != 0)
}

/// Bytes that [`unescape`] makes room for before it appends any.
pub const AT_ONCE: usize = 128;

/// See [`crate::string_special`].
pub fn string_special(bytes: &[u8]) -> usize {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
    bytes.iter().position(special).unwrap_or(bytes.len())
}

/// See [`crate::unescape`].
pub fn unescape(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    unescaped(bytes, out, string_special)
}

/// [`unescape`] for any way of finding what is special.
#[inline(always)]
pub(crate) fn unescaped(
    bytes: &[u8],
    out: &mut Vec<u8>,
    string_special: impl Fn(&[u8]) -> usize,
) -> usize {
    let mut at = 0;
    loop {
        let length = string_special(&bytes[at..]);
        out.extend_from_slice(&bytes[at..at + length]);
        at += length;
        match bytes[at..] {
            [b'\\', escape, ..] if let Some(meaning) = meaning(escape) => out.push(meaning),
            _ => return at,
        }
        at += 2;
    }
}

/// [`unescaped`] by blocks, for any way of telling which bytes of a block are special, one bit per byte; to be compiled for
/// several machines.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn unescaped_in_blocks<const BLOCK: usize>(
    bytes: &[u8],
    out: &mut Vec<u8>,
    specials: impl Fn(&[u8; BLOCK]) -> u64,
) -> usize {
    let mut start = 0;
    // As many bytes again as in a block stand behind it, so that whole blocks can be copied from any of its bytes.
    while let Some(block) = bytes[start..].first_chunk()
        && bytes.len() - start >= 2 * BLOCK
    {
        const { assert!(2 * BLOCK <= AT_ONCE) };
        out.reserve(2 * BLOCK);
        let end = start + BLOCK;
        let (mut from, mut length) = (start, out.len());
        let copy = |from: usize, out: &mut Vec<u8>, length: usize| {
            // SAFETY: copies start in the block, behind which there are as many bytes again; no more was appended than
            // the block has, and there was room for twice that.
            unsafe {
                let from = bytes.as_ptr().add(from);
                std::ptr::copy_nonoverlapping(from, out.as_mut_ptr().add(length), BLOCK);
            }
        };
        let mut left = specials(block);
        let mut stop = None;
        while left != 0 {
            let at = start + left.trailing_zeros() as usize;
            copy(from, out, length);
            length += at - from;
            let escape = (bytes[at] == b'\\').then(|| meaning(bytes[at + 1])).flatten();
            let Some(meaning) = escape else {
                stop = Some(at);
                break;
            };
            // SAFETY: there is room, as above.
            unsafe { out.as_mut_ptr().add(length).write(meaning) };
            length += 1;
            from = at + 2;
            // Neither the backslash nor what follows it is looked at again.
            left &= u64::MAX.checked_shl((from - start) as u32).unwrap_or(0);
        }
        if stop.is_none() && from < end {
            copy(from, out, length);
            length += end - from;
            from = end;
        }
        // SAFETY: so many bytes were written.
        unsafe { out.set_len(length) };
        match stop {
            Some(at) => return at,
            None => start = from,
        }
    }
    start + unescape(&bytes[start..], out)
}
