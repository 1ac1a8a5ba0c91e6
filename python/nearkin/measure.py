"""How similar two items are, and how far apart: exactly, as every search here reports it.

A set or a bag is a set, a list or another collection of anything hashable, or a NumPy array of
whole numbers such as :mod:`nearkin.shingle` makes of a text. A vector is anything that NumPy can
make one row of numbers. A string is a ``str``, or a sequence of anything hashable.

Two empty sets are equal; an empty set and any other have nothing in common.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearkin import _nearkin
from nearkin._columns import vector
from nearkin._errors import ParameterError

__all__ = [
    "angle",
    "bag",
    "bag_sum",
    "containment",
    "cosine",
    "damerau",
    "damerau_within",
    "dice",
    "edit",
    "edit_within",
    "hamming",
    "jaccard",
    "l1",
    "l2",
    "linf",
    "norm",
    "overlap",
]

Set: TypeAlias = Collection[Hashable] | npt.NDArray[Any]
"""A set: repeats do not count."""

Bag: TypeAlias = Iterable[Hashable] | Mapping[Any, int] | npt.NDArray[Any]
"""A bag: a collection with repeats, or a mapping (such as a Counter) of elements to counts."""

String: TypeAlias = str | Sequence[Hashable] | npt.NDArray[Any]
"""A string: its characters, or the items of a sequence."""


def jaccard(a: Set, b: Set) -> float:
    """Shared elements over all elements of the two sets.

    Examples
    --------
    >>> from nearkin import measure, shingle
    >>> measure.jaccard({1, 2, 3}, {2, 3, 4})
    0.5
    >>> measure.jaccard(shingle.words("a b c", k=1), shingle.words("c b a", k=1))
    1.0
    """
    return _sets("jaccard", a, b)


def dice(a: Set, b: Set) -> float:
    """Twice the shared elements over the sum of the sizes.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.dice({1, 2, 3}, {2, 3, 4})
    0.6666666666666666
    """
    return _sets("dice", a, b)


def overlap(a: Set, b: Set) -> int:
    """How many elements are in both.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.overlap(["x", "y"], ["y", "z"])
    1
    """
    return int(_sets("overlap", a, b))


def containment(a: Set, b: Set) -> float:
    """Shared elements over the elements of the smaller set.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.containment({1, 2}, {1, 2, 3, 4})
    1.0
    """
    return _sets("containment", a, b)


def bag(a: Bag, b: Bag) -> float:
    """The Jaccard similarity of bags, the union by maximum.

    An element that is m times in one and n times in the other is shared min(m, n) times, and is in
    the union max(m, n) times.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.bag("aab", "abb")
    0.5
    """
    return _nearkin.sets_compared("bag", *_pair(_expanded(a), _expanded(b), texts=True))


def bag_sum(a: Bag, b: Bag) -> float:
    """The Jaccard similarity of bags, the union by sum: at most 1/2, which equal bags have.

    An element that is m times in one and n times in the other is in the union m + n times.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.bag_sum(["a", "a", "b"], ["a", "a", "b"])
    0.5
    """
    return _nearkin.sets_compared("bag-sum", *_pair(_expanded(a), _expanded(b), texts=True))


def cosine(a: Any, b: Any) -> float:
    """The cosine of the angle between two vectors, from -1 to 1.

    Two ``set`` or ``frozenset`` count as vectors of zeros and ones: shared elements over the
    geometric mean of the sizes.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.cosine([1, 0], [1, 1])
    0.7071067811865475
    >>> measure.cosine({1, 2}, {2, 3})
    0.5
    """
    if isinstance(a, (set, frozenset)) and isinstance(b, (set, frozenset)):
        return _sets("cosine", a, b)
    return _nearkin.vectors_compared("cosine", *_vectors(a, b), 2.0)


def angle(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """The angle between two vectors in degrees, from 0 to 180: a distance, which 1 - cosine is not.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.angle([1, 0], [0, 3])
    90.0
    """
    return _nearkin.vectors_compared("angle", *_vectors(a, b), 2.0)


def norm(a: npt.ArrayLike, b: npt.ArrayLike, r: float = 2.0) -> float:
    """The distance of two points: the r-th root of the sum of all abs(a - b)**r, with r at least 1.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.norm([0, 0], [3, 4], r=2)
    5.0
    >>> measure.norm([0, 0], [3, 4], r=float("inf"))
    4.0
    """
    return _nearkin.vectors_compared("norm", *_vectors(a, b), float(r))


def l1(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """The Manhattan distance.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.l1([0, 0], [3, 4])
    7.0
    """
    return norm(a, b, 1.0)


def l2(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """The Euclidean distance.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.l2([0, 0], [3, 4])
    5.0
    """
    return norm(a, b, 2.0)


def linf(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """The largest difference of two components.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.linf([0, 0], [3, 4])
    4.0
    """
    return norm(a, b, float("inf"))


def hamming(a: Any, b: Any) -> int:
    """In how many places two equally long sequences differ.

    Two whole numbers from 0 on count as strings of bits; two ``set`` or ``frozenset`` differ in the
    elements that are in one of them only.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.hamming("karolin", "kathrin")
    3
    >>> measure.hamming(0b1011, 0b0010)
    2
    >>> measure.hamming({1, 2}, {2, 3, 4})
    3
    """
    if isinstance(a, (int, np.integer)) and isinstance(b, (int, np.integer)):
        left, right = int(a), int(b)
        if left < 0 or right < 0:
            raise ParameterError(f"a number is {min(left, right)}; as bits it must be from 0 on")
        return (left ^ right).bit_count()
    if isinstance(a, (set, frozenset)) and isinstance(b, (set, frozenset)):
        return int(_sets("hamming", a, b))
    return _nearkin.hamming(*_pair(a, b, texts=True))


def edit(a: String, b: String) -> int:
    """The fewest inserts and deletes that turn one string into the other.

    It is the sum of the lengths less twice that of the longest common subsequence.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.edit("abcde", "acfdeg")
    3
    """
    return _sure(_nearkin.edits(False, *_strings(a, b), None))


def edit_within(a: String, b: String, limit: int) -> int | None:
    """:func:`edit` if it is at most `limit`, else None; faster than :func:`edit` for a small limit.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.edit_within("abcde", "acfdeg", 2) is None
    True
    """
    return _nearkin.edits(False, *_strings(a, b), _limit(limit))


def damerau(a: String, b: String) -> int:
    """The fewest inserts, deletes, replacements of one symbol and swaps of two neighbours.

    It is the unrestricted Damerau-Levenshtein distance.

    Examples
    --------
    >>> from nearkin import measure
    >>> measure.damerau("ca", "abc")
    2
    >>> measure.damerau(["to", "be"], ["to", "bee"])
    1
    """
    return _sure(_nearkin.edits(True, *_strings(a, b), None))


def damerau_within(a: String, b: String, limit: int) -> int | None:
    """:func:`damerau` if it is at most `limit`, else None; faster for a small limit."""
    return _nearkin.edits(True, *_strings(a, b), _limit(limit))


def _sets(name: str, a: Any, b: Any) -> float:
    return _nearkin.sets_compared(name, *_pair(a, b))


def _pair(a: Any, b: Any, texts: bool = False) -> tuple[Any, Any]:
    """Both as Rust takes them: columns of 64-bit words where both are arrays of whole numbers."""
    for item in (a, b):
        if isinstance(item, (str, bytes)) and not texts:
            message = "a set is one text; give its elements"
            raise ParameterError(message + ", or its shingles: nk.shingle.words(text)")
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        for item in (a, b):
            if item.ndim != 1:
                raise ParameterError(f"an array has {item.ndim} dimensions; give one row")
        same = a.dtype.kind == b.dtype.kind or a.dtype.kind + b.dtype.kind in ("iu", "ui")
        if a.dtype.kind in "iub" and same and not _mixed(a, b):
            return _words(a), _words(b)
    return (
        a.tolist() if isinstance(a, np.ndarray) else a,
        b.tolist() if isinstance(b, np.ndarray) else b,
    )


def _mixed(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Whether negative numbers of one could be taken for large ones of the other."""
    signed = next((x for x in (a, b) if x.dtype.kind == "i"), None)
    return a.dtype.kind != b.dtype.kind and signed is not None and bool((signed < 0).any())


def _words(array: npt.NDArray[Any]) -> pa.Array:
    wide = array.astype(np.int64 if array.dtype.kind == "i" else np.uint64)
    return pa.array(np.ascontiguousarray(wide).view(np.uint64))


def _expanded(items: Any) -> Any:
    """The elements of a mapping, each as often as it says."""
    if not isinstance(items, Mapping):
        return items
    wrong = next((n for n in items.values() if not isinstance(n, (int, np.integer)) or n < 0), None)
    if wrong is not None:
        raise ParameterError(f"a count is {wrong!r}; it must be a whole number from 0 on")
    return [element for element, count in items.items() for _ in range(int(count))]


def _vectors(a: Any, b: Any) -> tuple[pa.Array, pa.Array]:
    return vector(a, "the first vector"), vector(b, "the second vector")


def _strings(a: Any, b: Any) -> tuple[Any, Any]:
    if isinstance(a, str) and isinstance(b, str):
        return a, b
    for item in (a, b):
        if isinstance(item, (set, frozenset, Mapping)):
            message = f"a string is a {type(item).__name__}, which has no order"
            raise ParameterError(message + "; give a sequence")
    return _pair(a, b, texts=True)


def _limit(limit: int) -> int:
    if limit < 0:
        raise ParameterError(f"limit is {limit}; it must be from 0 on")
    return limit


def _sure(edits: int | None) -> int:
    assert edits is not None, "without a limit there is a distance"
    return edits
