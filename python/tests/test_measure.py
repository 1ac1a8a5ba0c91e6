"""Measures against plain Python, collections.Counter and SciPy."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial import distance

import nearkin as nk
from nearkin import measure


def random_lists(seed: int) -> list[tuple[list[Any], list[Any]]]:
    draw = random.Random(seed)
    kinds: list[Callable[[], Any]] = [
        lambda: draw.randrange(12),
        lambda: draw.choice("abcdefgh"),
        lambda: (draw.randrange(3), draw.choice("xyz")),
    ]

    def some(kind: Callable[[], Any]) -> list[Any]:
        return [kind() for _ in range(draw.randrange(1, 20))]

    return [(some(kind), some(kind)) for kind in kinds for _ in range(100)]


def test_sets_as_python_has_them() -> None:
    for a, b in random_lists(1):
        x, y = set(a), set(b)
        shared = len(x & y)
        assert measure.jaccard(a, b) == measure.jaccard(x, frozenset(y)) == shared / len(x | y)
        assert measure.dice(a, b) == 2 * shared / (len(x) + len(y))
        assert measure.overlap(a, b) == shared and isinstance(measure.overlap(a, b), int)
        assert measure.containment(a, b) == shared / min(len(x), len(y))
        assert measure.cosine(x, y) == pytest.approx(shared / math.sqrt(len(x) * len(y)), rel=1e-15)
        assert measure.hamming(x, y) == len(x ^ y)


def test_bags_as_counters_have_them() -> None:
    for a, b in random_lists(2):
        x, y = Counter(a), Counter(b)
        shared = (x & y).total()
        assert measure.bag(a, b) == measure.bag(x, y) == shared / (x | y).total()
        assert measure.bag_sum(a, y) == shared / (x + y).total()


def test_arrays_of_whole_numbers() -> None:
    draw = np.random.default_rng(3)
    for kind in (np.int8, np.int32, np.int64, np.uint16, np.uint64):
        a, b = (draw.integers(0, 50, size=30).astype(kind) for _ in range(2))
        assert measure.jaccard(a, b) == measure.jaccard(a.tolist(), b.tolist())
        half = b[::-2]
        assert measure.jaccard(a, half) == measure.jaccard(set(a.tolist()), set(half.tolist()))
        assert measure.bag(a, b) == measure.bag(Counter(a.tolist()), Counter(b.tolist()))
    minus, large = np.array([-1], dtype=np.int64), np.array([2**64 - 1], dtype=np.uint64)
    assert measure.jaccard(minus, large) == 0 and measure.jaccard(minus, minus.astype(np.int8)) == 1
    assert measure.jaccard(np.array([1, 2]), [2, 1]) == 1
    assert measure.jaccard(np.array([0.5]), np.array([0.5])) == 1


def test_empty_ones() -> None:
    none: list[int] = []
    assert measure.jaccard(none, none) == measure.dice(none, none) == measure.bag(none, none) == 1
    assert measure.containment(none, none) == measure.cosine(set(), set()) == 1
    assert measure.bag_sum(none, none) == 0.5 and measure.overlap(none, none) == 0
    assert measure.jaccard(none, [1]) == measure.bag(none, [1]) == 0
    assert measure.edit("", "") == measure.damerau("", "") == measure.hamming("", "") == 0
    assert measure.l2([], []) == 0


def test_vectors_as_scipy_has_them() -> None:
    draw = np.random.default_rng(4)
    for size in (1, 2, 7, 100):
        for kind in (np.float64, np.float32, np.int64):
            a, b = ((10 * draw.normal(size=size)).astype(kind) + 1 for _ in range(2))
            x, y = a.astype(float), b.astype(float)
            assert measure.l1(a, b) == pytest.approx(distance.cityblock(x, y), rel=1e-13)
            assert measure.l2(a, list(b)) == pytest.approx(distance.euclidean(x, y), rel=1e-13)
            assert measure.linf(a, b) == pytest.approx(distance.chebyshev(x, y), rel=1e-13)
            for r in (1.5, 3):
                expected = distance.minkowski(x, y, r)
                assert measure.norm(a, b, r) == pytest.approx(expected, rel=1e-12)
            if np.any(x) and np.any(y):
                cosine = 1 - distance.cosine(x, y)
                assert measure.cosine(a, b) == pytest.approx(cosine, abs=1e-12)
                angle = math.radians(measure.angle(a, b))
                assert math.cos(angle) == pytest.approx(cosine, abs=1e-12)


def test_hamming_as_scipy_has_it() -> None:
    draw = np.random.default_rng(5)
    for size in (1, 5, 200):
        a, b = (draw.integers(0, 3, size=size) for _ in range(2))
        expected = round(distance.hamming(a, b) * size)
        assert measure.hamming(a, b) == measure.hamming(list(a), tuple(b)) == expected
        assert measure.hamming(a > 0, b > 0) == round(distance.hamming(a > 0, b > 0) * size)
        assert measure.hamming("".join(map(str, a)), "".join(map(str, b))) == expected
        x, y = (int("".join(map(str, np.minimum(v, 1))), 2) for v in (a, b))
        assert measure.hamming(x, y) == round(distance.hamming(a > 0, b > 0) * size)
    assert measure.hamming(2**200, 0) == 1


def inserts_and_deletes(a: Any, b: Any) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(before[j - 1] if x == y else 1 + min(before[j], row[-1]))
    return row[-1]


def by_search(a: str, b: str) -> int:
    """The fewest inserts, deletes, replacements and swaps, by trying all of them, breadth first."""
    letters = set(a + b)
    seen, now, steps = {a}, {a}, 0
    while b not in now:
        steps += 1
        following = set()
        for s in now:
            for i in range(len(s) + 1):
                following.add(s[:i] + s[i + 1 :])
                following |= {s[:i] + c + s[i:] for c in letters if len(s) <= max(len(a), len(b))}
                following |= {s[:i] + c + s[i + 1 :] for c in letters}
                following.add(s[:i] + s[i : i + 2][::-1] + s[i + 2 :])
        now = following - seen
        seen |= now
    return steps


def test_edits() -> None:
    draw = random.Random(6)
    for _ in range(200):
        a, b = ("".join(draw.choices("abé", k=draw.randrange(80))) for _ in range(2))
        edits = inserts_and_deletes(a, b)
        assert measure.edit(a, b) == measure.edit(list(a), list(b)) == edits
        assert measure.edit_within(a, b, edits) == edits
        assert edits == 0 or measure.edit_within(a, b, edits - 1) is None
    for _ in range(25):
        a, b = ("".join(draw.choices("ab", k=draw.randrange(5))) for _ in range(2))
        edits = by_search(a, b)
        assert measure.damerau(a, b) == measure.damerau(list(a), tuple(b)) == edits
        assert measure.damerau_within(a, b, 9) == edits
        assert edits == 0 or measure.damerau_within(a, b, edits - 1) is None


def test_what_is_wrong_is_said() -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: measure.jaccard("ab", {"a"}), "nk.shingle.words"),
        (lambda: measure.l2([1, 2], [1]), "2 and 1 components"),
        (lambda: measure.l2([1, float("nan")], [1, 2]), "NaN at position 1"),
        (lambda: measure.l2([[1]], [[1]]), "2 dimensions"),
        (lambda: measure.l2(["x"], ["y"]), "no vector of numbers"),
        (lambda: measure.norm([1], [2], 0.5), "triangle"),
        (lambda: measure.cosine([0, 0], [1, 2]), "direction"),
        (lambda: measure.hamming("ab", "abc"), "same length"),
        (lambda: measure.hamming(-1, 1), "from 0 on"),
        (lambda: measure.bag({"a": -1}, {"a": 1}), "from 0 on"),
        (lambda: measure.edit({"a"}, {"b"}), "no order"),  # type: ignore[arg-type]
        (lambda: measure.edit_within("a", "b", -1), "from 0 on"),
        (lambda: measure.jaccard(np.zeros((2, 2), int), np.zeros(2, int)), "2 dimensions"),
    ]
    for call, message in wrong:
        with pytest.raises(nk.ParameterError, match=message):
            call()
    with pytest.raises(TypeError, match="unhashable"):
        measure.jaccard([[1]], [[2]])  # type: ignore[list-item]
