//! What one scan unpacks and later ones need again stays in memory, as long as there is room.
//!
//! Texts are copied into large pieces of memory. A buffer of their own for each would be fresh memory, which the system clears page
//! by page, for all threads in turn.

use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearkin_kernels::use_large_pages;

use super::buffer::Buffer;

/// Memory for texts that are kept, of all files together.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptRoom(Arc<Mutex<Pieces>>);

#[derive(Debug, Default)]
struct Pieces {
    /// Bytes of a piece, and pieces that may still be made.
    bytes: usize,
    left: usize,
    /// Those that take more texts, with their numbers. A thread that copies a text has its piece for itself.
    open: Vec<(u32, Vec<u8>)>,
    /// By their numbers, those of which something was read.
    closed: Vec<Option<Arc<Vec<u8>>>>,
}

/// Where a text is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptPlace {
    piece: u32,
    start: u32,
    end: u32,
}

impl KeptRoom {
    /// From now on there is room for so many bytes.
    pub(super) fn set(&self, bytes: usize) {
        /// Large enough for large pages of memory.
        const MOST: usize = 64 << 20;
        /// More pieces than threads that each fill one.
        const PIECES: usize = 64;
        let mut pieces = self.pieces();
        pieces.bytes = (bytes / PIECES).min(MOST);
        pieces.left = bytes.checked_div(pieces.bytes).unwrap_or(0);
    }

    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a text, if there is room.
    pub(super) fn keep(&self, text: &[u8]) -> Option<KeptPlace> {
        let (number, mut piece) = self.pieces().open_for(text.len())?;
        let start = piece.len();
        piece.extend_from_slice(text);
        let place = KeptPlace { piece: number, start: start as u32, end: piece.len() as u32 };
        self.pieces().open.push((number, piece));
        Some(place)
    }

    /// A text that is kept; none while others are added to its piece.
    pub(super) fn text(&self, KeptPlace { piece, start, end }: KeptPlace) -> Option<KeptText> {
        let mut pieces = self.pieces();
        let Pieces { open, closed, .. } = &mut *pieces;
        let slot = closed.get_mut(piece as usize)?;
        if slot.is_none() {
            let at = open.iter().position(|(number, _)| *number == piece)?;
            *slot = Some(Arc::new(open.swap_remove(at).1));
        }
        let range = start as usize..end as usize;
        slot.as_ref().map(|piece| KeptText { piece: Arc::clone(piece), range })
    }
}

impl Pieces {
    /// A piece with room for so many bytes, and its number.
    fn open_for(&mut self, bytes: usize) -> Option<(u32, Vec<u8>)> {
        let has_room = |(_, piece): &(u32, Vec<u8>)| piece.capacity() - piece.len() >= bytes;
        if let Some(at) = self.open.iter().rposition(has_room) {
            return Some(self.open.swap_remove(at));
        }
        if bytes > self.bytes || self.left == 0 {
            return None;
        }
        self.left -= 1;
        let mut piece = Vec::with_capacity(self.bytes);
        use_large_pages(&mut piece);
        self.closed.push(None);
        Some((self.closed.len() as u32 - 1, piece))
    }
}

/// A text that is kept.
#[derive(Debug)]
pub(super) struct KeptText {
    piece: Arc<Vec<u8>>,
    range: Range<usize>,
}

/// The records of a chunk.
#[derive(Debug)]
pub(super) enum ChunkText {
    /// Read from the file just now.
    Read(Buffer),
    /// Kept from an earlier scan.
    Kept(KeptText),
}

impl ChunkText {
    /// Whether other large ones wait until it is dropped.
    pub(super) fn is_large(&self) -> bool {
        matches!(self, Self::Read(buffer) if buffer.is_large())
    }
}

impl Deref for ChunkText {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(buffer) => buffer,
            Self::Kept(text) => &text.piece[text.range.clone()],
        }
    }
}
