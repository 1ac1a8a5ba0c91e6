"""Hash functions and permutations, drawn as datasketch draws them."""

from __future__ import annotations

import functools
import hashlib
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nearkin._errors import ParameterError
from nearkin._nearkin import Permutations

Scheme = Literal["affine32", "affine64", "legacy"]
HashValues = npt.NDArray[np.unsignedinteger[Any]]

_SCHEMES = ("affine32", "affine64", "legacy")
TYPES: dict[str, Any] = {"affine32": np.uint32, "affine64": np.uint64, "legacy": np.uint64}
# What no hash is above, and every value of an empty set is.
HIGHEST = {"affine32": 2**32 - 1, "affine64": 2**64 - 1, "legacy": 2**32 - 1}
_MERSENNE_PRIME = 2**61 - 1


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


def digest_of(hashfunc: object) -> str:
    """Which of the hash functions above it is, also as the original's."""
    if hashfunc is sha1_hash32:
        return "sha32"
    if hashfunc is sha1_hash64:
        return "sha64"
    if getattr(hashfunc, "__module__", None) == "datasketch.hashfunc":
        names = {"sha1_hash32": "sha32", "sha1_hash64": "sha64"}
        return names.get(getattr(hashfunc, "__name__", ""), "")
    return ""


@functools.lru_cache(maxsize=256, typed=True)
def _drawn(seed: int, num_perm: int, scheme: str) -> Permutations:
    """The permutations of a seed, drawn as the original draws them."""
    generator = np.random.RandomState(seed)
    kind = TYPES[scheme]
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
    return Permutations(scheme, array[0].tobytes(), array[1].tobytes(), array)


def permutations_of(seed: Any, num_perm: int, scheme: str) -> Permutations:
    if seed is None:  # others each time
        return _drawn.__wrapped__(seed, num_perm, scheme)
    try:
        return _drawn(seed, num_perm, scheme)
    except TypeError:  # a seed that cannot be looked up, such as a list
        return _drawn.__wrapped__(seed, num_perm, scheme)


def given_permutations(permutations: Any, scheme: str) -> Permutations:
    """Permutations that a user gives."""
    kind = TYPES[scheme]
    factors, terms = (array_of(part, scheme, "permutations") for part in permutations)
    if scheme != "legacy" and np.any(factors & kind(1) == 0):
        raise ParameterError(f"factors of permutations of scheme {scheme!r} must be odd; give such")
    array = permutations
    if scheme != "legacy" and not (isinstance(array, np.ndarray) and array.dtype == kind):
        array = np.array([factors, terms])
    return Permutations(scheme, factors.tobytes(), terms.tobytes(), array)


def restored(permutations: Any, seed: Any, num_perm: int, scheme: str) -> Permutations:
    """Permutations of a pickle, or those of the seed if they are the same and so shared."""
    if permutations is None:
        return permutations_of(seed, num_perm, scheme)
    if isinstance(seed, int) and 0 <= seed < 2**32:
        drawn = permutations_of(seed, num_perm, scheme)
        if np.array_equal(np.asarray(permutations), drawn.array):
            return drawn
    return given_permutations(permutations, scheme)


def array_of(values: Any, scheme: str, what: str) -> HashValues:
    """An array of the scheme's type, if nothing is lost."""
    refused = (
        f"{what} must fit scheme {scheme!r}, that is 0 to {HIGHEST[scheme]}; "
        "pass the scheme they came from"
    )
    if scheme != "legacy" and isinstance(values, np.ndarray):
        if values.dtype.kind in "iu" and values.size:
            if int(values.max()) > HIGHEST[scheme] or int(values.min()) < 0:
                raise ParameterError(refused)
        return values.astype(TYPES[scheme])
    try:
        return np.array(values, dtype=TYPES[scheme])
    except OverflowError as error:
        if scheme == "legacy":
            raise
        raise ParameterError(refused) from error


def check_scheme(scheme: object) -> None:
    if scheme not in _SCHEMES:
        raise ParameterError(f"scheme must be one of {', '.join(_SCHEMES)}, not {scheme!r}")
