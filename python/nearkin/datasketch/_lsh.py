"""Indexes of signatures."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from nearkin._errors import ParameterError, UnsupportedError
from nearkin._nearkin import Buckets, best_bands


class MinHashLSH(Buckets):
    """An index of signatures that finds those that share a band with another.

    Parameters
    ----------
    threshold : float
        The Jaccard similarity that bands are chosen for.
    num_perm : int
        The number of values of the signatures.
    weights : (float, float)
        How bad it is to find a pair below the threshold, and to miss one above; their sum is 1.
    params : (int, int), optional
        Bands and rows, in place of those for the threshold.
    storage_config : dict, optional
        None or ``{"type": "dict"}``, which is memory; other kinds of storage are refused.
    prepickle : bool, optional
        Whether keys are kept as their pickles.
    hashfunc : callable, optional
        Makes the names of buckets shorter, as bytes of bytes.

    Examples
    --------
    >>> from nearkin.datasketch import MinHash, MinHashLSH
    >>> lsh = MinHashLSH(threshold=0.9, num_perm=128)
    >>> lsh.b, lsh.r
    (5, 25)
    >>> lsh.insert("empty", MinHash())
    >>> "empty" in lsh, lsh.query(MinHash())
    (True, ['empty'])
    """

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
        hashfunc: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self._buffer_size = 50000
        self._waiting: list[Any] = []
        if threshold > 1.0 or threshold < 0.0:
            raise ParameterError(f"threshold must be in [0.0, 1.0], not {threshold}")
        if num_perm < 2:
            raise ParameterError(f"num_perm must be at least 2, not {num_perm}")
        if any(w < 0.0 or w > 1.0 for w in weights):
            raise ParameterError(f"weights must be in [0.0, 1.0], not {weights}")
        if sum(weights) != 1.0:
            raise ParameterError(f"weights must sum to 1.0, not {sum(weights)}")
        if params is not None:
            bands, rows = params
            if bands * rows > num_perm:
                raise ParameterError(
                    f"{bands} bands of {rows} rows are more than num_perm, {num_perm}; "
                    "give fewer, or num_perm too"
                )
        else:
            bands, rows = best_bands(threshold, num_perm, *weights)
        if bands < 2:
            raise ParameterError("one band is too few; give other weights, or more num_perm")
        _check_storage(storage_config)
        self._start(num_perm, bands, rows, bool(prepickle), hashfunc or None)

    @property
    def buffer_size(self) -> int:
        """Kept for compatibility; memory needs no buffer."""
        return self._buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._buffer_size = value

    @property
    def hashranges(self) -> list[tuple[int, int]]:
        """Where each band begins and ends."""
        return [(i * self.r, (i + 1) * self.r) for i in range(self.b)]

    @property
    def keys(self) -> _Keys:
        """The keys, in the order in which they were inserted, and the names of their buckets."""
        return _Keys(self)

    @property
    def hashtables(self) -> list[_Table]:
        """Of each band, which keys its buckets hold now; to be read only."""
        return [_Table(self._table(band)) for band in range(self.b)]

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Adds all keys of another index of the same length, bands and rows."""
        if type(self) is not type(other):
            raise ParameterError(f"Cannot merge type MinHashLSH and type {type(other).__name__}.")
        if (self.h, self.b, self.r) != (other.h, other.b, other.r):
            raise ParameterError("indexes to merge must have the same num_perm, bands and rows")
        known, added = self._minhash_scheme, other._minhash_scheme
        if known is not None and added is not None and known != added:
            raise ParameterError(f"cannot merge an index of scheme {added!r} into one of {known!r}")
        keys = other._stored_keys()
        if check_overlap and any(self._has_stored(key) for key in keys):
            raise ParameterError("both indexes have some of the keys; remove them from one")
        self._minhash_scheme = added if known is None else known
        for key in keys:
            self._add_named(key, other._names(key))

    def insertion_session(self, buffer_size: int = 50000) -> MinHashLSHInsertionSession:
        """A context for inserting; in memory it is no faster.

        >>> from nearkin.datasketch import MinHash, MinHashLSH
        >>> lsh = MinHashLSH()
        >>> with lsh.insertion_session() as session:
        ...     session.insert("a", MinHash())
        >>> list(lsh.keys)
        ['a']
        """
        return MinHashLSHInsertionSession(self, buffer_size=buffer_size)

    def deletion_session(self, buffer_size: int = 50000) -> MinHashLSHDeletionSession:
        """A context for removing; in memory it is no faster."""
        return MinHashLSHDeletionSession(self, buffer_size=buffer_size)

    def add_to_query_buffer(self, minhash: Any) -> None:
        """Adds a query for :meth:`collect_query_buffer`."""
        self.query(minhash)  # for its errors
        self._waiting.append(minhash.copy())

    def collect_query_buffer(self) -> list[Hashable]:
        """The keys that all queries added since the last time have found."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return []
        found = self.query(waiting[0])
        for minhash in waiting[1:]:
            also = set(self.query(minhash))
            found = [key for key in found if key in also]
        return found

    def _query_b(self, minhash: Any, b: int) -> set[Hashable]:
        if b > self.b:
            raise ParameterError(f"b must be at most the number of bands, {self.b}, not {b}")
        return set(self._query_first(minhash, b))

    def get_counts(self) -> list[dict[Hashable, int]]:
        """Of each band, how many keys its buckets hold.

        >>> from nearkin.datasketch import MinHash, MinHashLSH
        >>> lsh = MinHashLSH(num_perm=4, params=(2, 2))
        >>> lsh.insert("a", MinHash(num_perm=4))
        >>> [list(counts.values()) for counts in lsh.get_counts()]
        [[1], [1]]
        """
        return [table.itemcounts() for table in self.hashtables]

    def get_subset_counts(self, *keys: Hashable) -> list[dict[Hashable, int]]:
        """The same, of these keys only."""
        counts: list[dict[Hashable, int]] = [{} for _ in range(self.b)]
        for key in set(keys):
            names = self._names(pickle.dumps(key) if self.prepickle else key)
            for name, count in zip(names, counts):
                count[name] = count.get(name, 0) + 1
        return counts

    def __getstate__(self) -> Any:
        state = dict(self.__dict__)
        del state["_waiting"]
        return {
            **state,
            "h": self.h,
            "b": self.b,
            "r": self.r,
            "prepickle": self.prepickle,
            "hashfunc": self.hashfunc,
            "_minhash_scheme": self._minhash_scheme,
            "keys": {key: self._names(key) for key in self._stored_keys()},
        }

    def __setstate__(self, state: Any) -> None:
        state = dict(state)
        keys = state.pop("keys")
        take = state.pop
        self._start(take("h"), take("b"), take("r"), take("prepickle"), take("hashfunc", None))
        self._minhash_scheme = take("_minhash_scheme", None)
        # The original keeps a table of its own around a dictionary.
        for key, names in getattr(keys, "_dict", keys).items():
            self._add_named(key, names)
        for name in ("_H", "_require_bytes_keys", "hashtables", "hashranges"):
            state.pop(name, None)
        self._waiting = []
        self.__dict__.update(state)

    # What pickles of the original's indexes name.
    def _byteswap(self, hs: Any) -> bytes:
        return bytes(hs.byteswap().data)

    _hashed_byteswap = _byteswap


def _check_storage(config: dict[str, Any] | None) -> None:
    kind = config["type"] if config else "dict"
    if kind == "dict":
        return
    if kind in ("redis", "cassandra", "aioredis", "aiomongo"):
        raise UnsupportedError(
            f"no storage in {kind}; leave storage_config out to keep the index in memory, "
            "or use datasketch"
        )
    raise ParameterError(f"no storage type {kind!r}; leave storage_config out")


class _View:
    """What the original's storage offers for reading."""

    buffer_size = 50000

    def keys(self) -> Any:
        raise NotImplementedError

    def get(self, key: Any) -> Any:
        raise NotImplementedError

    def has_key(self, key: Any) -> bool:
        raise NotImplementedError

    def getmany(self, *keys: Any) -> list[Any]:
        return [self.get(key) for key in keys]

    def size(self) -> int:
        return len(self.keys())

    def itemcounts(self, **_: Any) -> dict[Any, int]:
        return {key: len(self.get(key)) for key in self.keys()}

    def status(self) -> dict[str, int]:
        return {"keyspace_size": len(self)}

    def empty_buffer(self) -> None:
        pass

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __contains__(self, key: object) -> bool:
        return self.has_key(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __len__(self) -> int:
        return self.size()


class _Keys(_View):
    """The keys of an index."""

    def __init__(self, lsh: MinHashLSH) -> None:
        self._lsh = lsh

    def keys(self) -> list[Any]:
        return self._lsh._stored_keys()

    def get(self, key: Any) -> list[Any]:
        return self._lsh._names(key)

    def has_key(self, key: Any) -> bool:
        return self._lsh._has_stored(key)


class _Table(_View):
    """The buckets of a band."""

    def __init__(self, table: dict[Any, dict[Any, None]]) -> None:
        self._buckets = table

    def keys(self) -> Any:
        return self._buckets.keys()

    def get(self, key: Any) -> set[Any]:
        return set(self._buckets.get(key, ()))

    def has_key(self, key: Any) -> bool:
        return key in self._buckets

    def itemcounts(self, **_: Any) -> dict[Any, int]:
        return {name: len(keys) for name, keys in self._buckets.items()}


class _Session:
    def __init__(self, lsh: MinHashLSH, buffer_size: int) -> None:
        self.lsh = lsh
        self.lsh.buffer_size = buffer_size

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Does nothing: what was done is done."""


class MinHashLSHInsertionSession(_Session):
    """What :meth:`MinHashLSH.insertion_session` gives."""

    def __enter__(self) -> MinHashLSHInsertionSession:
        return self

    def insert(self, key: Hashable, minhash: Any, check_duplication: bool = True) -> None:
        """Inserts a key with its signature."""
        self.lsh.insert(key, minhash, check_duplication=check_duplication)


class MinHashLSHDeletionSession(_Session):
    """What :meth:`MinHashLSH.deletion_session` gives."""

    def __enter__(self) -> MinHashLSHDeletionSession:
        return self

    def remove(self, key: Hashable) -> None:
        """Removes a key."""
        self.lsh.remove(key)
