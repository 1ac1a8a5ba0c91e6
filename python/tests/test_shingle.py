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

# The hash of a piece and of a shingle, written again from their definition, on AES by its own (FIPS 197).


def doubled(byte: int) -> int:
    return byte << 1 ^ (0x11B if byte & 0x80 else 0)


def product(a: int, b: int) -> int:
    result = 0
    while b:
        result ^= a if b & 1 else 0
        a, b = doubled(a), b >> 1
    return result


def substituted(byte: int) -> int:
    inverse = next((other for other in range(256) if product(byte, other) == 1), 0)
    result = 0x63
    for i in range(5):
        result ^= (inverse << i | inverse >> (8 - i)) & 0xFF
    return result


BOX = bytes(substituted(byte) for byte in range(256))


def xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def shifted(state: bytes) -> bytes:
    return bytes(BOX[state[(4 * column + 5 * row) % 16]] for column in range(4) for row in range(4))


def aes_round(state: bytes, key: bytes) -> bytes:
    state = shifted(state)
    mixed = []
    for at in range(0, 16, 4):
        a, b, c, d = state[at : at + 4]
        for w, x, y, z in ((a, b, c, d), (b, c, d, a), (c, d, a, b), (d, a, b, c)):
            mixed.append(doubled(w) ^ doubled(x) ^ x ^ y ^ z)
    return xor(bytes(mixed), key)


def round_keys(key: bytes) -> list[bytes]:
    parts, constant = [key[at : at + 4] for at in range(0, 16, 4)], 1
    for number in range(4, 44):
        part = parts[-1]
        if number % 4 == 0:
            part = bytes(BOX[byte] for byte in part[1:] + part[:1])
            part, constant = bytes([part[0] ^ constant]) + part[1:], doubled(constant)
        parts.append(xor(parts[number - 4], part))
    return [b"".join(parts[at : at + 4]) for at in range(0, 44, 4)]


def aes(keys: list[bytes], block: bytes) -> bytes:
    block = xor(block, keys[0])
    for key in keys[1:10]:
        block = aes_round(block, key)
    return xor(shifted(block), keys[10])


PIECE = round_keys((1).to_bytes(8, "little") + b"nearkin1")
JOIN = round_keys((1).to_bytes(8, "little") + b"nearkin2")


def one_way(block: bytes) -> bytes:
    return xor(aes(PIECE, block), block)


def four_rounds(keys: list[bytes], block: bytes) -> bytes:
    mixed = block
    for key in keys:
        mixed = aes_round(mixed, key)
    return xor(mixed, block)


def hashed(piece: bytes) -> int:
    if len(piece) <= 15:
        state = one_way(piece.ljust(15, b"\0") + bytes([len(piece)]))
    else:
        state = len(piece).to_bytes(16, "little")
        for at in range(0, len(piece), 16):
            block = piece[at : at + 16].ljust(16, b"\0")
            state = four_rounds(JOIN[1:5], aes_round(state, one_way(block)))
    return int.from_bytes(state[:8], "little")


def test_aes_is_that_of_the_standard() -> None:
    encrypted = aes(round_keys(bytes(range(16))), bytes.fromhex("00112233445566778899aabbccddeeff"))
    assert encrypted.hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"  # FIPS 197, C.1


def test_hashes_are_as_documented() -> None:
    for length in range(60):
        piece = bytes(range(1, length + 1))
        assert shingle.hash_of(piece) == hashed(piece)
    words = [hashed(word.encode()).to_bytes(8, "little") for word in "the quick brown fox jumps".split()]
    # Three windows of two words cover five.
    first, second, third = (four_rounds(JOIN[1:5], words[i] + words[i + 1]) for i in (0, 2, 3))
    last = [xor(JOIN[5], (5).to_bytes(16, "little")), *JOIN[6:9]]
    expected = four_rounds(last, aes_round(aes_round(first, second), third))
    assert shingle.words("The QUICK, brown fox-jumps").tolist() == [int.from_bytes(expected[:8], "little")]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="words are those of Unicode 14.0")
def test_words_are_those_of_python() -> None:
    draw = random.Random(1)
    for _ in range(300):
        characters = [*range(32, 600), *range(0xE00, 0xE60), *range(0x3040, 0x3060), 0x4E2D, 0x1F600]
        text = "".join(chr(draw.choice(characters)) for _ in range(60))
        own = words(text)
        hashes = [shingle.hash_of(word) for word in own]
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
    # As a set, an element counts once however often it occurs. This bag would take 2 TB.
    many = {at: 2**32 - 1 for at in range(64)}
    assert len(shingle.elements(many)) == 64
    with pytest.raises(nk.ParameterError, match="the bag is 274877906880 elements .*scale the counts down"):
        shingle.elements(many, bag=True)
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
