"""A collection in memory that grows and shrinks, and finds what is similar to an item."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from nearkin import _nearkin
from nearkin._arguments import band_pair, optional, whole
from nearkin._columns import Elements, Texts, id_column, set_column, set_text, text_column
from nearkin._errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Index:
    """Items that are added, removed, and found by similarity.

    A query compares what it returns exactly. It finds an item at just the threshold with the chance
    `recall`. The search is that of :func:`nearkin.pairs` by bands: with the same settings and seed,
    a query finds an item if and only if the two would be a pair there.

    The index keeps the shingles of a text, not the text: 8 bytes per shingle and about 450 bytes per
    item with the default settings. Any number of threads may use one index; queries run in parallel.

    Parameters
    ----------
    threshold
        Items at or above this similarity are found.
    recall
        The chance that an item at just the threshold is found. It is higher for more similar items.
    shingle
        What a text is cut into: ``words:K``, ``chars:K``, ``stopwords`` or ``elements``. Default:
        ``words:5``.
    measure
        ``jaccard``, ``bag``, ``bag-sum`` or ``dice``.
    seed
        What all random choices and the key of all hashes derive from.
    as_
        ``text`` for texts, or ``set`` for collections of elements, which are texts or whole numbers.
        A text is then cut at white space; with the `measure` ``bag`` repeats count. ``as_="set"``
        means ``shingle="elements"``.
    within
        A distance (``jaccard`` or ``bag``) instead of a threshold; queries then return distances,
        nearest first.
    bands
        Bands and rows to use instead of the cheapest that keep the recall.
    threads
        Threads for calls with many items, up to 65,535. Default: one per core.

    Examples
    --------
    >>> import nearkin as nk
    >>> index = nk.Index(threshold=0.5, shingle="words:2")
    >>> index.add(1, "the cat sat on the mat")
    >>> index.add("b", "an apple a day keeps the doctor away")
    >>> index.query("the cat sat on the mats")
    [(1, 0.6666666666666666)]
    >>> index.remove(1), len(index), "b" in index
    (True, 1, True)

    >>> baskets = nk.Index(threshold=0.6, as_="set")
    >>> baskets.add_many([1, 2], [{"bread", "milk", "eggs"}, {"bread", "beer"}])
    >>> baskets.query(["milk", "bread"])
    [(1, 0.6666666666666666)]
    """

    __slots__ = ("_inner", "_sets")

    def __init__(
        self,
        *,
        threshold: float = 0.8,
        recall: float = 0.99,
        shingle: str | None = None,
        measure: str = "jaccard",
        seed: int = 1,
        as_: Literal["text", "set"] = "text",
        within: float | None = None,
        bands: tuple[int, int] | None = None,
        threads: int | None = None,
    ) -> None:
        if as_ not in ("text", "set"):
            raise ParameterError(f"as_ is {as_!r}; it must be text or set")
        if as_ == "set" and shingle not in (None, "elements"):
            message = f"shingle is {shingle!r}; it must be left out with as_='set'"
            raise ParameterError(message + ", because elements are not cut")
        self._sets = as_ == "set" or shingle == "elements"
        self._inner = _nearkin.Index(
            threshold=threshold,
            within=within,
            recall=recall,
            shingle="elements" if as_ == "set" else shingle or "words:5",
            measure=measure,
            bands=band_pair(bands),
            seed=whole(seed, "seed", 0),
            threads=optional(threads, "threads"),
        )

    def add(self, id: int | str, item: str | Elements, *, replace: bool = False) -> None:
        """Adds an item.

        An empty text or set is in the index but is never found. A text without shingles, such as ``...``, is found by its
        copies alone.

        Parameters
        ----------
        id
            A whole number or a text. It must be new, unless you pass `replace`.
        item
            The text, or with ``as_="set"`` the elements.
        replace
            Whether to replace an item with this id.
        """
        self._inner.add(id, self._text(item), replace)

    def add_many(self, ids: Any, items: Texts, *, replace: bool = False) -> None:
        """Adds many items on many threads. If an id is there already, it adds none.

        Parameters
        ----------
        ids
            Whole numbers or texts, all different: a list, a NumPy array, a Series or an Arrow
            array.
        items
            As many texts, or with ``as_="set"`` lists.
        replace
            Whether to replace items with the same ids.
        """
        self._inner.add_many(id_column(ids), self._column(items), replace)

    def remove(self, id: int | str) -> bool:
        """Removes an item, and says whether it was there."""
        return self._inner.remove(id)

    def query(self, item: str | Elements, k: int | None = None) -> list[tuple[int | str, float]]:
        """The similar items, the most similar first; of equals, the one that was added first.

        Parameters
        ----------
        item
            A text, or with ``as_="set"`` elements.
        k
            The largest number to return. Default: all.

        Returns
        -------
        list of (id, similarity)
            Distances instead if the index was made with `within`.
        """
        return self._inner.query(self._text(item), optional(k, "k"))

    def query_many(self, items: Texts, k: int | None = None) -> pa.Table:
        """What `query` returns for each of many items, found on many threads.

        Returns
        -------
        pyarrow.Table
            One row per similar item: `query` (the row of the item, from 0), `id`, `similarity` (or
            `distance`). Ids are whole numbers, or texts if any id of the index is a text.

        Examples
        --------
        >>> import nearkin as nk
        >>> index = nk.Index(threshold=0.3, shingle="words:1")
        >>> index.add_many([10, 11], ["a b c", "c d e"])
        >>> index.query_many(["a b c d", "x"]).to_pylist()
        [{'query': 0, 'id': 10, 'similarity': 0.75}, {'query': 0, 'id': 11, 'similarity': 0.4}]
        """
        value = "similarity" if self.within is None else "distance"
        columns = self._inner.query_many(self._column(items), optional(k, "k"))
        return pa.table(dict(zip(("query", "id", value), columns, strict=True)))

    def elements(self, id: int | str) -> npt.NDArray[np.uint64]:
        """The sorted hashes of an item's shingles. In a bag, each occurrence has a hash of its own.

        Raises
        ------
        KeyError
            If there is no such item.
        """
        found = self._inner.elements(id)
        if found is None:
            raise KeyError(id)
        elements: npt.NDArray[np.uint64] = found.to_numpy()
        return elements

    def ids(self) -> list[int | str]:
        """The ids in the order in which items were added."""
        return self._inner.ids()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index to one file, which appears when it is complete.

        Examples
        --------
        >>> import nearkin as nk, tempfile, pathlib
        >>> index = nk.Index(threshold=0.3, shingle="words:1")
        >>> index.add(1, "a b c")
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.index"
        >>> index.save(path)
        >>> nk.Index.load(path).query("a b")
        [(1, 0.6666666666666666)]
        """
        self._inner.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, threads: int | None = None) -> Index:
        """The index that `save` wrote.

        Raises
        ------
        FileError
            If the file cannot be read, is no index, is damaged, or comes from a newer version.
        """
        return cls._of(_nearkin.Index.load(os.fspath(path), optional(threads, "threads")))

    @classmethod
    def _of(cls, inner: _nearkin.Index) -> Index:
        index = cls.__new__(cls)
        index._inner = inner
        index._sets = inner.settings[2] == "elements"
        return index

    def _text(self, item: str | Elements) -> str:
        if self._sets:
            return set_text(item)
        if isinstance(item, str):
            return item
        message = f"the text is a {type(item).__name__}; give a str"
        raise ParameterError(message + ", or make the index with as_='set'")

    def _column(self, items: Texts) -> pa.Array:
        return set_column(items) if self._sets else text_column(items)

    def __contains__(self, id: object) -> bool:
        return self._inner.contains(id)

    def __len__(self) -> int:
        return len(self._inner)

    def __iter__(self) -> Iterator[int | str]:
        return iter(self.ids())

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (type(self), self._inner.to_bytes()), getattr(self, "__dict__", None)

    @property
    def threshold(self) -> float:
        """Items at or above this similarity are found."""
        return self._inner.settings[0]

    @property
    def within(self) -> float | None:
        """The distance within which items are found, if the index was made with one."""
        return self._inner.settings[1]

    @property
    def shingle(self) -> str:
        """What a text is cut into."""
        return self._inner.settings[2]

    @property
    def measure(self) -> str:
        """How items are compared."""
        return self._inner.settings[3]

    @property
    def seed(self) -> int:
        """What all random choices derive from."""
        return self._inner.settings[4]

    @property
    def bands(self) -> tuple[int, int]:
        """The number of bands, and of rows in each."""
        return self._inner.bands

    @property
    def recall(self) -> float:
        """The chance that an item at just the threshold is found."""
        return self._inner.promised

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory the items take."""
        return self._inner.nbytes

    def __repr__(self) -> str:
        limit = f"threshold={self.threshold}" if self.within is None else f"within={self.within}"
        how = f"shingle={self.shingle!r}, measure={self.measure!r}"
        return f"<Index of {len(self)} items, {limit}, recall={self.recall:g}, {how}>"


def _loaded(kind: type[Index], data: bytes) -> Index:
    return kind._of(_nearkin.Index.from_bytes(data))

