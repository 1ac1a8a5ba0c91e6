"""Sketches: short rows of numbers that say how similar texts are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearkin import _nearkin
from nearkin._arguments import optional, whole
from nearkin._columns import Texts, matrix, set_column, set_text, text_column
from nearkin._errors import ParameterError


class MinHash:
    """Makes sketches of texts or sets.

    A sketch has `functions` numbers. Each is equal between two texts with a probability of exactly
    their Jaccard similarity, so the share of equal numbers estimates it: with 128 functions to
    within 0.09 in 19 of 20 cases. You can compare sketches of the same functions, seed and shingle.

    The method is one-permutation hashing: each shingle is hashed once and falls into one group, and
    each group keeps its smallest hash. An empty group takes a minhash of all shingles, by a hash
    function of its own (Li, Owen and Zhang 2012; Dahlgaard, Knudsen and Thorup 2017 fill empty
    groups in another way). An empty text has 2**32 - 1 everywhere. Another text without
    shingles, such as ``...``, has the numbers of one shingle that only its copies have.

    Parameters
    ----------
    functions
        Numbers in a sketch.
    seed
        Chooses the hash functions.
    shingle
        What a text is cut into: ``words:K``, ``chars:K``, ``stopwords`` or ``elements``. With
        ``elements`` you can also give lists and sets of texts or whole numbers.
    bag
        Whether repeats of a shingle count. The similarity is then that of bags, with the union by
        maximum.
    threads
        Threads, up to 65,535. Default: one per core.

    Examples
    --------
    >>> import nearkin as nk
    >>> minhash = nk.MinHash(functions=1024, shingle="words:1")
    >>> a, b = minhash.sketch(["a b c d e f g h", "b c d e f g h i"])
    >>> round(minhash.similarity(a, b), 1)  # 7 of 9 words
    0.8
    >>> minhash.sketch("one text").shape
    (1024,)
    """

    __slots__ = ("_arguments", "_inner")

    def __init__(
        self,
        functions: int = 128,
        seed: int = 1,
        shingle: str = "words:5",
        *,
        bag: bool = False,
        threads: int | None = None,
    ) -> None:
        whole(functions, "functions")
        whole(seed, "seed", 0)
        self._arguments = (functions, seed, shingle, bag, optional(threads, "threads"))
        self._inner = _nearkin.Sketcher(*self._arguments)

    @property
    def functions(self) -> int:
        """Numbers in a sketch."""
        return self._arguments[0]

    @property
    def seed(self) -> int:
        """Chooses the hash functions."""
        return self._arguments[1]

    @property
    def shingle(self) -> str:
        """What a text is cut into."""
        return self._arguments[2]

    def sketch(self, texts: Texts) -> npt.NDArray[np.uint32]:
        """The sketches of texts.

        Parameters
        ----------
        texts
            A text, or a column of them.

        Returns
        -------
        numpy.ndarray of uint32
            One row per text, or a single row for a single text. Read-only: ``copy()`` it to write.
        """
        sketches: npt.NDArray[np.uint32] = self._rows(self._inner.sketch, texts)
        return sketches

    def partial(self, texts: Texts) -> npt.NDArray[np.uint64]:
        """Sketches of parts of a set, to be merged: for documents that come in pieces.

        To merge two sketches you must know which of their groups were filled. A finished sketch does
        not tell; here the 33rd bit of a number does, so the element-wise minimum of the rows of the
        parts is the row of the whole. A shingle that lies across two pieces is in neither.

        Returns
        -------
        numpy.ndarray of uint64
            One row per text, or a single row for a single text. :meth:`finish` makes sketches of
            merged rows.

        Examples
        --------
        >>> import nearkin as nk, numpy as np
        >>> minhash = nk.MinHash(shingle="words:1")
        >>> parts = minhash.partial(["a b c", "c d", "e"])
        >>> whole = minhash.combine(parts)
        >>> bool(np.array_equal(whole, minhash.sketch("a b c d e")))
        True
        """
        parts: npt.NDArray[np.uint64] = self._rows(self._inner.partial, texts)
        return parts

    @staticmethod
    def merge(
        a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.uint64]:
        """Merges two parts that :meth:`partial` made.

        Finished sketches cannot be merged: they do not tell which of their groups were filled.
        """
        for part in (a, b):
            if np.asarray(part).dtype != np.uint64:
                message = f"a part has numbers of {np.asarray(part).dtype}; it must be made by"
                raise ParameterError(message + " partial, because finished sketches cannot be merged")
        if np.shape(a)[-1] != np.shape(b)[-1]:
            message = f"parts have {np.shape(a)[-1]} and {np.shape(b)[-1]} functions"
            raise ParameterError(message + "; make both with the same MinHash")
        return np.minimum(a, b)

    @staticmethod
    def finish(parts: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
        """Makes sketches of merged parts."""
        return np.asarray(parts, dtype=np.uint64).astype(np.uint32)

    def combine(self, parts: Iterable[npt.NDArray[np.uint64]]) -> npt.NDArray[np.uint32]:
        """The sketch of the set with these parts. Without parts it is that of the empty set."""
        empty = np.full(self.functions, np.iinfo(np.uint64).max, dtype=np.uint64)
        return self.finish(reduce(self.merge, parts, empty))

    def similarity(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Any:
        """The estimated similarity: the share of equal numbers.

        Parameters
        ----------
        a, b
            Two sketches; or two tables of them, compared row by row; or a sketch and a table.

        Returns
        -------
        float or numpy.ndarray
        """
        left, right = np.asarray(a), np.asarray(b)
        if left.shape[-1:] != right.shape[-1:] or left.shape[-1:] in ((), (0,)):
            message = f"sketches have the shapes {left.shape} and {right.shape}"
            raise ParameterError(message + "; make both with the same MinHash")
        for side in (left, right):
            if side.dtype != np.uint32:
                message = f"a sketch has numbers of {side.dtype}"
                raise ParameterError(message + "; it must be made by sketch or finish")
        share = np.mean(left == right, axis=-1)
        return float(share) if share.ndim == 0 else share

    def keys(self, texts: Texts, bands: int, rows: int) -> npt.NDArray[np.uint64]:
        """The bucket keys of texts, as the search makes them.

        Two texts that share a key in a column are candidates. The keys are those of sketches with
        bands × rows functions, whatever `functions` is.

        Returns
        -------
        numpy.ndarray of uint64
            One row per text, one column per band: numbers below 2**37. An empty text has 2**64 - 1
            and no candidates.
        """
        whole(bands, "bands")
        whole(rows, "rows")

        def make(column: pa.Array) -> pa.Array:
            return self._inner.keys(column, bands, rows)

        keys: npt.NDArray[np.uint64] = self._rows(make, texts, bands)
        return keys

    @staticmethod
    def keys_of(sketches: npt.NDArray[np.uint32], bands: int, rows: int) -> npt.NDArray[np.uint64]:
        """The bucket keys of sketches with bands × rows functions.

        Examples
        --------
        >>> import nearkin as nk
        >>> minhash = nk.MinHash(functions=6, shingle="words:1")
        >>> texts = ["a b c", "d e"]
        >>> keys = minhash.keys_of(minhash.sketch(texts), bands=3, rows=2)
        >>> bool((keys == minhash.keys(texts, bands=3, rows=2)).all())
        True
        """
        table = np.atleast_2d(np.ascontiguousarray(sketches, dtype=np.uint32))
        if table.shape[1] != bands * rows:
            message = f"sketches have {table.shape[1]} functions"
            raise ParameterError(f"{message}; they must have bands x rows, {bands * rows}")
        keys = matrix(_nearkin.keys_of_sketches(pa.array(table.ravel()), bands, rows), bands)
        return keys if np.ndim(sketches) == 2 else keys[0]

    def _rows(self, make: Any, texts: Texts, width: int | None = None) -> Any:
        sets = self.shingle == "elements"
        if isinstance(texts, str) or sets and isinstance(texts, (set, frozenset, dict)):
            one = pa.array([set_text(texts) if sets else texts])
            return matrix(make(one), width or self.functions)[0]
        column = set_column(texts) if sets else text_column(texts)
        return matrix(make(column), width or self.functions)

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self._arguments), getattr(self, "__dict__", None)

    def __repr__(self) -> str:
        functions, seed, shingle, bag, _ = self._arguments
        return f"MinHash({functions}, {seed}, {shingle!r}{', bag=True' if bag else ''})"


def _made(kind: type[MinHash], arguments: tuple[int, int, str, bool, int | None]) -> MinHash:
    # The constructor of a subclass may take other things.
    made = kind.__new__(kind)
    MinHash.__init__(made, *arguments[:3], bag=arguments[3], threads=arguments[4])
    return made

