"""Which pieces does a text consist of?

Every function returns the sorted 64-bit hashes of a text's shingles, as a read-only NumPy array of
uint64. Each hash is there once, or with ``bag=True`` as often as its shingle occurs. The searches of
this package compare texts by these elements. Two different shingles share a hash with a probability
of 2**-64.

Words are runs of letters, digits and underscore (of Unicode 14.0, as ``\\w`` in Python 3.11) in
lower case. In scripts without blanks between words, such as Chinese and Thai, every letter is a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nearkin import _nearkin
from nearkin._columns import Elements, set_text

__all__ = ["chars", "elements", "hash_of", "of", "squares", "stop_words", "words"]

Hashes = npt.NDArray[np.uint64]


def words(text: str, k: int = 5, *, bag: bool = False) -> Hashes:
    """Shingles of `k` consecutive words.

    A text with fewer words is its one shingle; one without words has none.

    Examples
    --------
    >>> from nearkin import shingle
    >>> len(shingle.words("To be, or not to be", k=2))
    4
    >>> len(shingle.words("To be, or not to be", k=2, bag=True))
    5
    >>> int(shingle.words("one", k=1)[0]) == shingle.hash_of("one")
    True
    """
    return of(text, f"words:{k}", bag=bag)


def chars(text: str, k: int = 5, *, bag: bool = False) -> Hashes:
    """Shingles of `k` consecutive characters, runs of white space being one blank.

    Examples
    --------
    >>> from nearkin import shingle
    >>> len(shingle.chars("abcdabd", k=2))  # ab bc cd da bd
    5
    """
    return of(text, f"chars:{k}", bag=bag)


def stop_words(text: str, words: Iterable[str] | None = None, *, bag: bool = False) -> Hashes:
    """Shingles of a stop word and the two words after it. Prose has many of them, menus few.

    Parameters
    ----------
    text
        The text.
    words
        The stop words. Default: the function words of English.
    bag
        Whether repeats count.

    Examples
    --------
    >>> from nearkin import shingle
    >>> len(shingle.stop_words("A spokesperson for the company said that it was so."))
    5
    """
    hashes: Hashes = _nearkin.stop_word_shingles(
        text, None if words is None else list(words), bag
    ).to_numpy()
    return hashes


def elements(items: Elements | str, *, bag: bool = False) -> Hashes:
    """The elements of a set or a bag, each hashed as it is. 7 and "7" are the same element.

    Parameters
    ----------
    items
        Texts or whole numbers, or a mapping (such as a Counter) of them to their counts. A text is
        cut at white space.
    bag
        Whether repeats count.

    Examples
    --------
    >>> from nearkin import shingle
    >>> len(shingle.elements(["bread", "milk", "milk"]))
    2
    >>> int(shingle.elements([7])[0]) == shingle.hash_of("7")
    True
    """
    return of(set_text(items), "elements", bag=bag)


def of(text: str, shingle: str = "words:5", *, bag: bool = False) -> Hashes:
    """Shingles by their name: ``words:K``, ``chars:K``, ``stopwords`` or ``elements``.

    Examples
    --------
    >>> from nearkin import shingle
    >>> bool((shingle.of("some text", "chars:3") == shingle.chars("some text", k=3)).all())
    True
    """
    hashes: Any = _nearkin.shingles(text, shingle, bag).to_numpy()
    return hashes  # type: ignore[no-any-return]


def squares(
    points: Iterable[Sequence[float]], columns: int, rows: int, side: float, *, margin: float = 0.0
) -> set[int]:
    """The squares of a grid that points are in, such as the minutiae of a fingerprint.

    Parameters
    ----------
    points
        Of each, x and y (downwards); what stands behind them does not count.
    columns, rows, side
        Squares side by side from the origin, numbered row by row from 0. Points beyond are in none.
    margin
        A point closer than that to a border is also in the square behind it.

    Examples
    --------
    >>> import nearkin as nk
    >>> sorted(nk.shingle.squares([(5, 5), (31, 15)], 4, 3, 10, margin=2))
    [0, 6, 7]
    >>> prints = {"a": [(5, 5), (31, 15)], "b": [(5, 5), (35, 15)]}
    >>> sets = {name: nk.shingle.squares(points, 4, 3, 10, margin=2) for name, points in prints.items()}
    >>> nk.pairs(sets, as_="set", threshold=0.5, and_or="or(64, squares(2))").to_pylist()
    [{'a': 'a', 'b': 'b', 'similarity': 0.6666666666666666}]
    """
    places = [(float(point[0]), float(point[1])) for point in points]
    return set(_nearkin.grid_squares(places, (columns, rows), (float(side), float(margin))))


def hash_of(piece: str | bytes) -> int:
    """The hash of a piece of text: of an element, of a shingle of characters, or of a word.

    It is made with AES and the key of seed 1: nobody is known to get from a hash to a piece but by trying. The shingle of
    one word is the hash of the word. Those of several words join the hashes of their words by more rounds of AES, never
    by adding.
    """
    return _nearkin.hash_of(piece.encode() if isinstance(piece, str) else piece)
