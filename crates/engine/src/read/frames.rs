//! Packed files that consist of many zstd frames or gzip members, each unpacked by itself.
//!
//! A frame with a stated size, and a member that says in its header how long it is (as those of nearkin, pgzip and bgzip do),
//! lead to the next one without unpacking. Such a file is cut where they end. Whatever does not fit this picture is read as one
//! stream, which also words the errors.

use super::{
    format::Compression,
    rereadable::{FileCursor, Rereadable},
    text::{BYTE_ORDER_MARK, Unpacker},
};
use crate::Result;
use std::{fs::File, io, ops::Range, os::unix::fs::FileExt, sync::Arc};

/// Some frames or members that are unpacked together.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameGroup {
    /// Where they begin in the file, and their bytes in it.
    offset: u64,
    packed: u64,
    /// Bytes that they become.
    size: u64,
}

/// A file of several groups.
#[derive(Debug)]
pub(super) struct Frames {
    compression: Compression,
    groups: Vec<FrameGroup>,
}

impl Frames {
    /// The frames of a file in groups of at least `least` bytes, if there are several and none has more than `most`.
    pub(super) fn find(
        stored: &Rereadable,
        compression: Compression,
        least: usize,
        most: usize,
    ) -> Result<Option<Self>> {
        let file = stored.open()?;
        let end = stored.len();
        let mut groups: Vec<FrameGroup> = Vec::new();
        let mut at = 0;
        while at < end {
            let frame = match compression {
                Compression::Plain => None,
                Compression::Gzip => member(&file, at, end),
                Compression::Zstd => frame(&file, at, end),
            };
            let Some(frame) = frame.filter(|it| it.size <= most as u64) else { return Ok(None) };
            at += frame.packed;
            match groups.last_mut() {
                Some(group)
                    if group.size < least as u64 && group.size + frame.size <= most as u64 =>
                {
                    group.packed += frame.packed;
                    group.size += frame.size;
                }
                _ => groups.push(frame),
            }
        }
        // A byte-order mark is in the first.
        let first = groups.first().map_or(0, |group| group.size);
        let is_fine = groups.len() > 1 && first >= BYTE_ORDER_MARK.len() as u64;
        Ok(is_fine.then_some(Self { compression, groups }))
    }

    /// How many groups there are.
    pub(super) fn count(&self) -> u32 {
        self.groups.len() as u32
    }

    /// Bytes of a group in the file.
    pub(super) fn packed(&self, group: u32) -> u64 {
        self.groups[group as usize].packed
    }

    /// Bytes that a group becomes.
    pub(super) fn size(&self, group: u32) -> usize {
        self.groups[group as usize].size as usize
    }

    pub(super) fn compression(&self) -> Compression {
        self.compression
    }

    /// What a group becomes.
    pub(super) fn unpack(&self, file: &Arc<File>, group: u32) -> io::Result<Unpacker> {
        let FrameGroup { offset, packed, .. } = self.groups[group as usize];
        Unpacker::new(FileCursor { file: Arc::clone(file), offset }, packed, self.compression)
    }

    /// What a group and those behind it become; nothing behind the last.
    pub(super) fn unpack_from(&self, file: &Arc<File>, group: u32) -> io::Result<Unpacker> {
        let Some(&FrameGroup { offset, .. }) = self.groups.get(group as usize) else {
            return Ok(Unpacker::plain(FileCursor {
                file: Arc::clone(file),
                offset: u64::MAX >> 1,
            }));
        };
        Unpacker::new(FileCursor { file: Arc::clone(file), offset }, u64::MAX, self.compression)
    }
}

fn bytes<const N: usize>(file: &File, at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

/// The zstd frame at this place (RFC 8878), if it states its size and ends before the file does.
fn frame(file: &File, offset: u64, end: u64) -> Option<FrameGroup> {
    const SKIPPABLE: Range<u32> = 0x184d_2a50..0x184d_2a60;
    let magic = u32::from_le_bytes(bytes(file, offset)?);
    if SKIPPABLE.contains(&magic) {
        let packed = 8 + u64::from(u32::from_le_bytes(bytes(file, offset + 4)?));
        return (offset + packed <= end).then_some(FrameGroup { offset, packed, size: 0 });
    }
    if magic != 0xfd2f_b528 {
        return None;
    }
    let [descriptor] = bytes(file, offset + 4)?;
    let is_single = descriptor & 0x20 != 0;
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let mut at = offset + 5 + u64::from(!is_single) + dictionary;
    let (size, length) = match descriptor >> 6 {
        0 if is_single => (u64::from(bytes::<1>(file, at)?[0]), 1),
        0 => return None,
        1 => (u64::from(u16::from_le_bytes(bytes(file, at)?)) + 256, 2),
        2 => (u64::from(u32::from_le_bytes(bytes(file, at)?)), 4),
        _ => (u64::from_le_bytes(bytes(file, at)?), 8),
    };
    at += length;
    loop {
        let [a, b, c] = bytes(file, at)?;
        let block = u32::from_le_bytes([a, b, c, 0]);
        at += 3 + match (block >> 1) & 3 {
            0 | 2 => u64::from(block >> 3),
            1 => 1,
            _ => return None,
        };
        if block & 1 == 1 {
            break;
        }
    }
    at += if descriptor & 4 == 0 { 0 } else { 4 };
    (at <= end).then_some(FrameGroup { offset, packed: at - offset, size })
}

/// The gzip member at this place (RFC 1952), if its extra field says how long it is.
fn member(file: &File, offset: u64, end: u64) -> Option<FrameGroup> {
    let head: [u8; 12] = bytes(file, offset)?;
    if head[..3] != [0x1f, 0x8b, 8] || head[3] & 4 == 0 {
        return None;
    }
    let mut at = offset + 12;
    let extra = at + u64::from(u16::from_le_bytes([head[10], head[11]]));
    let packed = loop {
        if at + 4 > extra {
            return None;
        }
        let [a, b, low, high] = bytes(file, at)?;
        let length = u64::from(u16::from_le_bytes([low, high]));
        match ([a, b], length) {
            ([b'I', b'G'], 4) => break u64::from(u32::from_le_bytes(bytes(file, at + 4)?)),
            ([b'B', b'C'], 2) => break u64::from(u16::from_le_bytes(bytes(file, at + 4)?)) + 1,
            _ => at += 4 + length,
        }
    };
    // The header, the shortest data and the trailer.
    if packed < 20 || offset + packed > end {
        return None;
    }
    let size = u32::from_le_bytes(bytes(file, offset + packed - 4)?);
    Some(FrameGroup { offset, packed, size: size.into() })
}
