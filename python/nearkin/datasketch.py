"""Signatures and indexes of the package datasketch 2.0, with the same names and values, many times as fast.

>>> from nearkin.datasketch import MinHash, MinHashLSH
>>> cat, dog = MinHash(num_perm=128), MinHash(num_perm=128)
>>> for word in "the cat sat on the mat".split():
...     cat.update(word.encode())
>>> dog.update_batch([word.encode() for word in "the dog sat on the mat".split()])
>>> round(cat.jaccard(dog), 2)
0.69
>>> lsh = MinHashLSH(threshold=0.5, num_perm=128)
>>> lsh.insert("cat", cat)
>>> lsh.query(dog)
['cat']

Signatures, serialised signatures and pickles made by the original stay good: values are the same for the same seed and
scheme. What the original has besides these classes (forests, ensembles, Bloom filters, HyperLogLog, HNSW, storage in a
database, GPUs) is not here.
"""

from __future__ import annotations

import functools
import hashlib
import io
import pickle
import struct
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from nearkin._errors import ParameterError, UnsupportedError
from nearkin._nearkin import Buckets as _Buckets
from nearkin._nearkin import Permutations as _Permutations
from nearkin._nearkin import Signature as _Signature
from nearkin._nearkin import best_bands as _best_bands

__all__ = [
    "LeanMinHash",
    "MinHash",
    "MinHashLSH",
    "MinHashLSHDeletionSession",
    "MinHashLSHInsertionSession",
    "WeightedMinHashLSH",
    "load",
    "loads",
    "sha1_hash32",
    "sha1_hash64",
]

Scheme = Literal["affine32", "affine64", "legacy"]
HashValues = npt.NDArray[np.unsignedinteger[Any]]

_SCHEMES = ("affine32", "affine64", "legacy")
_TYPES: dict[str, Any] = {"affine32": np.uint32, "affine64": np.uint64, "legacy": np.uint64}
# What no hash is above, and every value of an empty set is.
_HIGHEST = {"affine32": 2**32 - 1, "affine64": 2**64 - 1, "legacy": 2**32 - 1}
_MERSENNE_PRIME = 2**61 - 1

_ELSEWHERE = (
    "AsyncMinHashLSH",
    "HNSW",
    "HyperLogLog",
    "HyperLogLogPlusPlus",
    "MinHashLSHBloom",
    "MinHashLSHEnsemble",
    "MinHashLSHForest",
    "WeightedMinHash",
    "WeightedMinHashGenerator",
    "WeightedMinHashLSHForest",
    "bBitMinHash",
)


def __getattr__(name: str) -> NoReturn:
    if name in _ELSEWHERE:
        raise ImportError(
            f"nearkin.datasketch has no {name}: it has MinHash, LeanMinHash and MinHashLSH in memory; "
            f"import {name} from datasketch",
            name=__name__,
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def sha1_hash32(data: Any) -> int:
    """The first four bytes of the SHA-1 of `data`, as a number.

    >>> sha1_hash32(b"word")
    182041660
    """
    return int.from_bytes(hashlib.sha1(data).digest()[:4], "little")


def sha1_hash64(data: Any) -> int:
    """The first eight bytes of the SHA-1 of `data`, as a number.

    >>> sha1_hash64(b"word") % 2**32 == sha1_hash32(b"word")
    True
    """
    return int.from_bytes(hashlib.sha1(data).digest()[:8], "little")


def _digest_of(hashfunc: object) -> str:
    """Which of the hash functions above it is, also as the original's."""
    if hashfunc is sha1_hash32:
        return "sha32"
    if hashfunc is sha1_hash64:
        return "sha64"
    if getattr(hashfunc, "__module__", None) == "datasketch.hashfunc":
        names = {"sha1_hash32": "sha32", "sha1_hash64": "sha64"}
        return names.get(getattr(hashfunc, "__name__", ""), "")
    return ""


@functools.lru_cache(maxsize=256)
def _drawn(seed: int, num_perm: int, scheme: str) -> _Permutations:
    """The permutations of a seed, drawn as the original draws them."""
    generator = np.random.RandomState(seed)
    kind = _TYPES[scheme]
    if scheme == "legacy":
        pairs = [
            (
                generator.randint(1, _MERSENNE_PRIME, dtype=np.uint64),
                generator.randint(0, _MERSENNE_PRIME, dtype=np.uint64),
            )
            for _ in range(num_perm)
        ]
        array = np.array(pairs, dtype=np.uint64).T
    else:
        width = 8 * np.dtype(kind).itemsize
        # Odd factors: an even one would give two elements the same value.
        factors = generator.randint(0, 1 << (width - 1), num_perm, dtype=kind) * kind(2) + kind(1)
        array = np.array([factors, generator.randint(0, 1 << width, num_perm, dtype=kind)])
    array.flags.writeable = False  # shared by all that have this seed
    return _Permutations(scheme, array[0].tobytes(), array[1].tobytes(), array)


def _permutations(seed: Any, num_perm: int, scheme: str) -> _Permutations:
    try:
        return _drawn(seed, num_perm, scheme)
    except TypeError:  # a seed that cannot be looked up, such as a list
        return _drawn.__wrapped__(seed, num_perm, scheme)


def _given_permutations(permutations: Any, scheme: str) -> _Permutations:
    """Permutations that a user gives."""
    kind = _TYPES[scheme]
    factors, terms = (_array(part, scheme, "permutations") for part in permutations)
    if scheme != "legacy" and np.any(factors & kind(1) == 0):
        raise ParameterError(f"the factors of permutations of scheme {scheme!r} must be odd; give such")
    array = permutations
    if scheme != "legacy" and not (isinstance(array, np.ndarray) and array.dtype == kind):
        array = np.array([factors, terms])
    return _Permutations(scheme, factors.tobytes(), terms.tobytes(), array)


def _array(values: Any, scheme: str, what: str) -> HashValues:
    """An array of the scheme's type, if nothing is lost."""
    refused = f"{what} must fit scheme {scheme!r}, that is 0 to {_HIGHEST[scheme]}; pass the scheme they came from"
    if scheme != "legacy" and isinstance(values, np.ndarray):
        if values.dtype.kind in "iu" and values.size:
            if int(values.max()) > _HIGHEST[scheme] or int(values.min()) < 0:
                raise ParameterError(refused)
        return values.astype(_TYPES[scheme])
    try:
        return np.array(values, dtype=_TYPES[scheme])
    except OverflowError as error:
        if scheme == "legacy":
            raise
        raise ParameterError(refused) from error


def _check_scheme(scheme: object) -> None:
    if scheme not in _SCHEMES:
        raise ParameterError(f"scheme must be one of {', '.join(_SCHEMES)}, not {scheme!r}")


class MinHash(_Signature):
    """The signature of a set: the smallest value of its elements under each of many permutations.

    Parameters
    ----------
    num_perm : int
        How many permutations; that of `hashvalues` where those are given.
    seed : int
        What the permutations are drawn with.
    gpu_mode : {"disable", "detect"}
        Taken for compatibility; all is done on the processor. "always" is refused.
    hashfunc : callable, optional
        Makes of an element a whole number of 32 bits (64 for scheme "affine64"). By default the first bytes of the
        element's SHA-1, which is much faster than a function in Python.
    hashobj : object, optional
        Deprecated and without effect.
    hashvalues : array, optional
        Values to begin with, of another signature.
    permutations : array, optional
        Factors and terms, in place of those of the seed.
    scheme : {"affine32", "affine64", "legacy"}, optional
        How values are computed: "affine32" by default; "legacy" is what datasketch did before 2.0. With `hashvalues`
        or `permutations` it must be given, for they do not tell.

    Examples
    --------
    >>> signature = MinHash(num_perm=4)
    >>> signature.update(b"word")
    >>> signature.hashvalues.dtype, len(signature)
    (dtype('uint32'), 4)
    >>> MinHash(hashvalues=signature.hashvalues, scheme="affine32") == signature
    True
    """

    _gpu_mode: str = "disable"
    __hash__ = None  # type: ignore[assignment]  # it changes

    def __init__(
        self,
        num_perm: int = 128,
        seed: int = 1,
        gpu_mode: Literal["disable", "detect", "always"] = "disable",
        hashfunc: Callable[[Any], int] | None = None,
        hashobj: object | None = None,
        hashvalues: npt.ArrayLike | None = None,
        permutations: npt.ArrayLike | None = None,
        scheme: Scheme | None = None,
    ) -> None:
        if scheme is None:
            if hashvalues is not None or permutations is not None:
                raise ParameterError(
                    "hashvalues and permutations do not tell their scheme; pass the one they came from, "
                    "which is scheme='legacy' for those of datasketch before 2.0"
                )
            scheme = "affine32"
        else:
            _check_scheme(scheme)
        values = None if hashvalues is None else _array(hashvalues, scheme, "hashvalues")
        if values is not None:
            num_perm = len(values)
        if not 1 <= num_perm <= 2**32:
            raise ParameterError(f"num_perm must be positive and at most 2**32, not {num_perm}")
        if hashfunc is None:
            hashfunc = sha1_hash64 if scheme == "affine64" else sha1_hash32
        if hashobj is not None:
            warnings.warn("hashobj has no effect; use hashfunc", DeprecationWarning, stacklevel=2)
        if permutations is None:
            drawn = _permutations(seed, num_perm, scheme)
        else:
            drawn = _given_permutations(permutations, scheme)
        if len(drawn) != num_perm:
            raise ParameterError(f"give as many permutations as values, {num_perm}, not {len(drawn)}")
        self.hashfunc = hashfunc
        if gpu_mode != "disable":
            self._use_gpu(gpu_mode)
        self._start(scheme, seed, num_perm, None if values is None else values.tobytes(), drawn)

    def _use_gpu(self, mode: str) -> None:
        if mode == "always":
            raise UnsupportedError(
                "gpu_mode='always' needs datasketch itself; here use 'detect' or leave it out"
            )
        self._gpu_mode = mode

    @property
    def hashfunc(self) -> Callable[[Any], int]:
        """What makes a number of an element."""
        found: Callable[[Any], int] | None = self._hashfunc
        if found is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'hashfunc'")
        return found

    @hashfunc.setter
    def hashfunc(self, hashfunc: Callable[[Any], int]) -> None:
        if not callable(hashfunc):
            raise ParameterError("The hashfunc must be a callable.")
        self._hash_with(hashfunc, _digest_of(hashfunc))

    @property
    def permutations(self) -> Any:
        """Factors and terms of the permutations, an array of two rows."""
        found = self._permutations
        if found is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'permutations'")
        return found.array

    @permutations.setter
    def permutations(self, permutations: Any) -> None:
        self._permutations = _given_permutations(permutations, self.scheme)

    def update_batch(self, b: Iterable[Any]) -> None:
        """Adds many elements; faster than one by one.

        >>> one, other = MinHash(), MinHash()
        >>> one.update_batch([b"a", b"b"])
        >>> other.update(b"a"), other.update(b"b")
        (None, None)
        >>> one == other
        True
        """
        if type(b) is np.ndarray and b.ndim == 1 and b.dtype.kind in "iuf" and b.dtype.isnative:
            # An element of an array is hashed by its bytes.
            if self._update_pieces(b.tobytes(), b.itemsize):
                return
        super().update_batch(b)

    def count(self) -> float:
        """Estimates the number of elements (Cohen 1994)."""
        highest = float(_HIGHEST[self.scheme])
        return float(len(self)) / np.sum(self.hashvalues / highest) - 1.0

    def copy(self) -> MinHash:
        """A signature with the same values, to be updated on its own."""
        copied: MinHash = MinHash.__new__(MinHash)
        copied._copy_from(self)
        if self._gpu_mode != "disable":
            copied._gpu_mode = self._gpu_mode
        return copied

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MinHash)
            and type(self) is type(other)
            and self.scheme == other.scheme
            and bool(self.seed == other.seed)
            and len(self) == len(other)
            and self.jaccard(other) == 1.0
        )

    @classmethod
    def union(cls, *mhs: MinHash) -> MinHash:
        """The signature of the union of the sets of two or more signatures.

        >>> a, b = MinHash(), MinHash()
        >>> a.update(b"a"), b.update(b"b")
        (None, None)
        >>> round(MinHash.union(a, b).count())
        2
        """
        values = _united(mhs)
        first = mhs[0]
        return cls(
            num_perm=len(first),
            seed=first.seed,
            hashfunc=first.hashfunc,
            hashvalues=values,
            permutations=first.permutations,
            gpu_mode=first._gpu_mode,  # type: ignore[arg-type]
            scheme=first.scheme,
        )

    @classmethod
    def bulk(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> list[MinHash]:
        """The signatures of many sets.

        >>> [round(m.count()) for m in MinHash.bulk([[b"a"], [b"b", b"c"]], num_perm=64)]
        [1, 2]
        """
        return list(cls.generator(b, **minhash_kwargs))

    @classmethod
    def generator(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> Iterator[MinHash]:
        """The signatures of many sets, one after the other."""
        empty = cls(**minhash_kwargs)
        for elements in b:
            signature = empty.copy()
            signature.update_batch(elements)
            yield signature

    def __getstate__(self) -> Any:
        # The names are those of the original.
        return {
            **self.__dict__,
            "scheme": self.scheme,
            "seed": self.seed,
            "num_perm": self.num_perm,
            "hashfunc": self.hashfunc,
            "hashvalues": self.hashvalues,
            "permutations": self.permutations,
            "_gpu_mode": self._gpu_mode,
        }

    def __setstate__(self, state: Any) -> None:
        state = dict(state)
        # Before 2.0 the original had one scheme, and its pickles do not name it.
        scheme = state.pop("scheme", "legacy")
        seed, values = state.pop("seed"), np.asarray(state.pop("hashvalues"), dtype=_TYPES[scheme])
        drawn = _permutations(seed, len(values), scheme)
        given = state.pop("permutations", None)
        if given is not None and not np.array_equal(np.asarray(given), drawn.array):
            drawn = _given_permutations(given, scheme)
        hashfunc = state.pop("hashfunc", None)
        self.hashfunc = hashfunc or (sha1_hash64 if scheme == "affine64" else sha1_hash32)
        self._start(scheme, seed, state.pop("num_perm", len(values)), values.tobytes(), drawn)
        for name in ("_a_gpu", "_b_gpu"):
            state.pop(name, None)
        if state.get("_gpu_mode") == "disable":
            del state["_gpu_mode"]
        self.__dict__.update(state)


def _united(signatures: Sequence[MinHash]) -> HashValues:
    """The values of the union."""
    if len(signatures) < 2:
        raise ParameterError("Cannot union less than 2 MinHash; give two or more")
    first = signatures[0]
    for other in signatures:
        if other.seed != first.seed or len(other) != len(first) or other.scheme != first.scheme:
            raise ParameterError("signatures to unite must have the same seed, num_perm and scheme")
    united: HashValues = np.minimum.reduce([signature.hashvalues for signature in signatures])
    return united


_CODES = {"affine32": 1, "affine64": 2}


class LeanMinHash(MinHash):
    """A signature without permutations and hash function: it takes less memory and cannot be updated.

    Parameters
    ----------
    minhash : MinHash, optional
        What to make it from; else `seed`, `hashvalues` and `scheme` are needed.
    seed : int, optional
    hashvalues : array, optional
    scheme : {"affine32", "affine64", "legacy"}, optional

    Examples
    --------
    >>> lean = LeanMinHash(MinHash(num_perm=4))
    >>> stored = bytearray(lean.bytesize())
    >>> lean.serialize(stored)
    >>> LeanMinHash.deserialize(stored) == lean
    True
    """

    def __init__(
        self,
        minhash: MinHash | None = None,
        seed: int | None = None,
        hashvalues: npt.ArrayLike | None = None,
        scheme: Scheme | None = None,
    ) -> None:
        if minhash is not None:
            if scheme is not None and scheme != minhash.scheme:
                raise ParameterError(
                    f"the signature has scheme {minhash.scheme!r}, not {scheme!r}; leave scheme out"
                )
            self._freeze(minhash.seed, minhash.hashvalues, minhash.scheme)
        elif hashvalues is not None and seed is not None:
            if scheme is None:
                raise ParameterError(
                    "hashvalues do not tell their scheme; pass the one they came from, "
                    "which is scheme='legacy' for those of datasketch before 2.0"
                )
            self._freeze(seed, hashvalues, scheme)
        else:
            raise ParameterError("give a minhash, or both seed and hashvalues")

    def _freeze(self, seed: Any, hashvalues: Any, scheme: str) -> None:
        _check_scheme(scheme)
        values = _array(hashvalues, scheme, "hashvalues")
        if scheme != "legacy" and len(values) == 0:
            raise ParameterError("hashvalues must not be empty; give those of a signature")
        self._start(scheme, seed, len(values), values.tobytes(), None)

    @classmethod
    def _frozen(cls, seed: Any, hashvalues: Any, scheme: str) -> LeanMinHash:
        lean: LeanMinHash = LeanMinHash.__new__(LeanMinHash)
        lean._freeze(seed, hashvalues, scheme)
        return lean

    def update(self, b: Any) -> NoReturn:
        """Raises TypeError."""
        raise TypeError("Cannot update a LeanMinHash; make a MinHash of it")

    def update_batch(self, b: Iterable[Any]) -> NoReturn:
        """Raises TypeError."""
        raise TypeError("Cannot update a LeanMinHash; make a MinHash of it")

    def copy(self) -> LeanMinHash:
        """A lean signature with the same values."""
        return self._frozen(self.seed, self.hashvalues, self.scheme)

    @classmethod
    def union(cls, *lmhs: MinHash) -> LeanMinHash:
        """The lean signature of the union of the sets of two or more signatures."""
        return cls._frozen(lmhs[0].seed if lmhs else None, _united(lmhs), lmhs[0].scheme)

    def _layout(self, byteorder: str) -> str:
        kind = "Q" if self.scheme == "affine64" else "I"
        code = "" if self.scheme == "legacy" else "B"
        return f"{byteorder}qi{code}{len(self)}{kind}"

    def bytesize(self, byteorder: str = "@") -> int:
        """How many bytes :meth:`serialize` writes. `byteorder` is that of the module `struct`."""
        return struct.calcsize(self._layout(byteorder))

    def serialize(self, buf: Any, byteorder: str = "@") -> None:
        """Writes seed, number of values, scheme and values to the beginning of `buf`.

        The number is negative, and the scheme a byte, for all schemes but "legacy", which has none.
        """
        if len(buf) < self.bytesize(byteorder):
            raise ParameterError(f"the buffer is too small; it takes {self.bytesize(byteorder)} bytes")
        values, layout = self.hashvalues.tolist(), self._layout(byteorder)
        if self.scheme == "legacy":
            struct.pack_into(layout, buf, 0, self.seed, len(values), *values)
        else:
            code = _CODES[self.scheme]
            struct.pack_into(layout, buf, 0, self.seed, -len(values), code, *values)

    @classmethod
    def deserialize(cls, buf: Any, byteorder: str = "@") -> LeanMinHash:
        """The signature that :meth:`serialize` wrote, here or in the original."""
        return cls._frozen(*_deserialized(buf, byteorder))

    def __getstate__(self) -> bytearray:
        state = bytearray(self.bytesize())
        self.serialize(state)
        return state

    def __setstate__(self, state: Any) -> None:
        self._freeze(*_deserialized(state, "@"))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.scheme, self.seed, tuple(self.hashvalues.tolist())))


def _deserialized(buf: Any, byteorder: str) -> tuple[int, tuple[int, ...], str]:
    """Seed, values and scheme."""
    buf = memoryview(buf)
    seed, count = struct.unpack_from(f"{byteorder}qi", buf, 0)
    start = struct.calcsize(f"{byteorder}qi")
    scheme = "legacy"
    if count < 0:
        (code,) = struct.unpack_from("B", buf, start)
        names = {code: name for name, code in _CODES.items()}
        if code not in names:
            raise ParameterError(f"no scheme has the code {code}; give what serialize wrote")
        scheme = names[code]
    kind = "Q" if scheme == "affine64" else "I"
    if count < 0:
        # With nothing behind it, so that the values begin where they may.
        start = struct.calcsize(f"{byteorder}qiB0{kind}")
    return seed, struct.unpack_from(f"{byteorder}{abs(count)}{kind}", buf, start), scheme


class MinHashLSH(_Buckets):
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
                    f"{bands} bands of {rows} rows are more than num_perm, {num_perm}; give fewer, or num_perm too"
                )
        else:
            bands, rows = _best_bands(threshold, num_perm, *weights)
        if bands < 2:
            raise ParameterError("one band is too few (b < 2); give other weights, or more num_perm")
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


WeightedMinHashLSH = MinHashLSH


def _check_storage(config: dict[str, Any] | None) -> None:
    kind = config["type"] if config else "dict"
    if kind == "dict":
        return
    if kind in ("redis", "cassandra", "aioredis", "aiomongo"):
        raise UnsupportedError(
            f"no storage in {kind}; leave storage_config out to keep the index in memory, or use datasketch"
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


class _Dictionary:
    """Stands for the original's storage in memory while a pickle is read."""

    _dict: dict[Any, Any]


class _Unpickler(pickle.Unpickler):
    """Reads pickles of the original as objects of this module."""

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == "datasketch":
            if name in ("MinHash", "LeanMinHash", "MinHashLSH", "sha1_hash32", "sha1_hash64"):
                return globals()[name]
            if name in ("DictListStorage", "DictSetStorage"):
                return _Dictionary
            raise UnsupportedError(f"cannot read a pickle of {module}.{name}; use datasketch for it")
        return super().find_class(module, name)


def load(file: BinaryIO) -> Any:
    """Reads a pickle in which signatures and indexes of datasketch become those of this module.

    As any pickle, it may run code: read only what you trust. datasketch need not be installed.
    """
    return _Unpickler(file).load()


def loads(data: bytes | bytearray) -> Any:
    """The same for bytes.

    >>> loads(pickle.dumps(MinHash())) == MinHash()
    True
    """
    return load(io.BytesIO(data))
