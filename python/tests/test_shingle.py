"""Shingles against Python's own words, and against what the index compares."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter

import numpy as np
import pytest

import nearkin as nk
from common import words
from nearkin import measure, shingle

M = 2**64


def folded(a: int, b: int) -> int:
    product = a * b
    return (product >> 64 ^ product) % M


def hashed(piece: bytes) -> int:
    """The hash of a piece, written again: eight bytes at a time, the last sixteen together."""
    step = 0xD6E8_FEB8_6659_FD93
    value, at = 0x9E37_79B9_7F4A_7C15 ^ len(piece), 0
    while len(piece) - at > 16:
        value = folded(value ^ int.from_bytes(piece[at : at + 8], "little"), step)
        at += 8
    low, high = piece[at : at + 8], piece[at + 8 :]
    value = folded(value ^ int.from_bytes(low, "little"), step)
    return folded(value ^ int.from_bytes(high, "little"), step)


def turned(x: int, by: int) -> int:
    by %= 64
    return (x << by | x >> (64 - by)) % M if by else x


def test_hashes_are_as_documented() -> None:
    for length in range(60):
        piece = bytes(range(1, length + 1))
        assert shingle.hash_of(piece) == hashed(piece)
    words = "the quick brown fox jumps".split()
    expected = (5 + sum(turned(shingle.hash_of(word), 13 * i) for i, word in enumerate(words))) % M
    assert shingle.words("The QUICK, brown fox-jumps").tolist() == [expected]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="words are those of Unicode 14.0")
def test_words_are_those_of_python() -> None:
    draw = random.Random(1)
    for _ in range(300):
        characters = [*range(32, 600), *range(0xE00, 0xE60), *range(0x3040, 0x3060), 0x4E2D, 0x1F600]
        text = "".join(chr(draw.choice(characters)) for _ in range(60))
        own = words(text)
        hashes = [(1 + shingle.hash_of(word)) % M for word in own]
        assert shingle.words(text, k=1, bag=True).tolist() == sorted(hashes)
        assert shingle.words(text, k=1).tolist() == sorted(set(hashes))
        pairs = Counter(zip(own, own[1:], strict=False))
        assert len(shingle.words(text, k=2)) == max(len(pairs), bool(own))


def test_characters() -> None:
    draw = random.Random(2)
    for _ in range(200):
        text = "".join(draw.choices("ab é中\n\t", k=draw.randrange(5, 50)))
        flat = re.sub(r"\s+", " ", text)
        for k in (1, 3, 5):
            starts = range(max(1, len(flat) - k + 1)) if flat.strip() else range(0)
            pieces = [flat[i : i + k] for i in starts]
            hashes = [shingle.hash_of(piece) for piece in pieces]
            assert shingle.chars(text, k, bag=True).tolist() == sorted(hashes)


def test_stop_words_and_elements() -> None:
    text = "the cat sat on the mat of the house"
    assert len(shingle.stop_words(text)) == len(shingle.stop_words(text, bag=True)) == 4
    assert len(shingle.stop_words(text, ["cat"])) == 1
    assert shingle.stop_words(text).tolist() == shingle.of(text, "stopwords").tolist()
    assert shingle.elements("b a b").tolist() == shingle.elements(["a", "b"]).tolist()
    assert len(shingle.elements(["a b", "c"])) == 2
    assert len(shingle.elements(Counter(a=3, b=1), bag=True)) == 4
    assert shingle.elements([]).tolist() == [] and shingle.elements([]).dtype == np.uint64


def test_they_are_what_the_index_compares() -> None:
    index = nk.Index(shingle="chars:4")
    index.add(1, "some text of no length")
    assert index.elements(1).tolist() == shingle.chars("some text of no length", 4).tolist()
    found = nk.Index(shingle="words:2", threshold=0.2, bands=(200, 1))
    found.add(1, "a b c d e")
    ours = measure.jaccard(shingle.words("a b c d e", 2), shingle.words("b c d x", 2))
    assert found.query("b c d x") == [(1, ours)]


def test_what_is_wrong_is_said() -> None:
    for wrong in ("words:0", "chars", "sentences"):
        with pytest.raises(nk.ParameterError, match="chars:K, words:K"):
            shingle.of("x", wrong)
    with pytest.raises(nk.ParameterError):
        shingle.elements([None])  # type: ignore[list-item]
