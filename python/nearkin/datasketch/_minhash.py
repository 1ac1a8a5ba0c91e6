"""Signatures of sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nearkin._errors import ParameterError, UnsupportedError
from nearkin._nearkin import Signature
from nearkin.datasketch._permutations import (
    HIGHEST,
    TYPES,
    HashValues,
    Scheme,
    array_of,
    check_scheme,
    digest_of,
    given_permutations,
    permutations_of,
    restored,
    sha1_hash32,
    sha1_hash64,
)


class MinHash(Signature):
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
        Makes of an element a whole number of 32 bits (64 for scheme "affine64"). By default the
        first bytes of the element's SHA-1, which is much faster than a function in Python.
    hashobj : object, optional
        Deprecated and without effect.
    hashvalues : array, optional
        Values to begin with, of another signature.
    permutations : array, optional
        Factors and terms, in place of those of the seed.
    scheme : {"affine32", "affine64", "legacy"}, optional
        How values are computed: "affine32" by default; "legacy" is what datasketch did before
        2.0. With `hashvalues` or `permutations` it must be given, for they do not tell.

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
                    "hashvalues and permutations do not tell their scheme; pass the one they came "
                    "from, which is scheme='legacy' for those of datasketch before 2.0"
                )
            scheme = "affine32"
        else:
            check_scheme(scheme)
        values = None if hashvalues is None else array_of(hashvalues, scheme, "hashvalues")
        if values is not None:
            num_perm = len(values)
        if not 1 <= num_perm <= 2**32:
            raise ParameterError(f"num_perm must be positive and at most 2**32, not {num_perm}")
        if hashfunc is None:
            hashfunc = sha1_hash64 if scheme == "affine64" else sha1_hash32
        if hashobj is not None:
            warnings.warn("hashobj has no effect; use hashfunc", DeprecationWarning, stacklevel=2)
        if permutations is None:
            drawn = permutations_of(seed, num_perm, scheme)
        else:
            drawn = given_permutations(permutations, scheme)
        if len(drawn) != num_perm:
            raise ParameterError(f"give {num_perm} permutations, as many as values")
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
        self._hash_with(hashfunc, digest_of(hashfunc))

    @property
    def permutations(self) -> Any:
        """Factors and terms of the permutations, an array of two rows."""
        found = self._permutations
        if found is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'permutations'")
        return found.array

    @permutations.setter
    def permutations(self, permutations: Any) -> None:
        self._permutations = given_permutations(permutations, self.scheme)

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
        highest = float(HIGHEST[self.scheme])
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
        values = united(mhs)
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
        seed, values = state.pop("seed"), np.asarray(state.pop("hashvalues"), dtype=TYPES[scheme])
        drawn = restored(state.pop("permutations", None), seed, len(values), scheme)
        hashfunc = state.pop("hashfunc", None)
        self.hashfunc = hashfunc or (sha1_hash64 if scheme == "affine64" else sha1_hash32)
        self._start(scheme, seed, state.pop("num_perm", len(values)), values.tobytes(), drawn)
        for name in ("_a_gpu", "_b_gpu"):
            state.pop(name, None)
        if state.get("_gpu_mode") == "disable":
            del state["_gpu_mode"]
        self.__dict__.update(state)


def united(signatures: Sequence[MinHash]) -> HashValues:
    """The values of the union."""
    if len(signatures) < 2:
        raise ParameterError("Cannot union less than 2 MinHash; give two or more")
    first = signatures[0]
    for other in signatures:
        if other.seed != first.seed or len(other) != len(first) or other.scheme != first.scheme:
            raise ParameterError("signatures to unite must have the same seed, num_perm and scheme")
    united: HashValues = np.minimum.reduce([signature.hashvalues for signature in signatures])
    return united
