"""Signatures that are only compared and stored."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy.typing as npt

from nearkin._errors import ParameterError
from nearkin.datasketch._minhash import MinHash, united
from nearkin.datasketch._permutations import Scheme, array_of, check_scheme

_CODES = {"affine32": 1, "affine64": 2}


class LeanMinHash(MinHash):
    """A signature without permutations and hash function, which cannot be updated.

    It takes less memory and can be stored as few bytes.

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
        check_scheme(scheme)
        values = array_of(hashvalues, scheme, "hashvalues")
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
        return cls._frozen(lmhs[0].seed if lmhs else None, united(lmhs), lmhs[0].scheme)

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
            size = self.bytesize(byteorder)
            raise ParameterError(f"the buffer is too small; it takes {size} bytes")
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
