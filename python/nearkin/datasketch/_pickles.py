"""Pickles of the original."""

from __future__ import annotations

import io
import pickle
from typing import Any, BinaryIO

from nearkin._errors import UnsupportedError
from nearkin.datasketch._lean import LeanMinHash
from nearkin.datasketch._lsh import MinHashLSH
from nearkin.datasketch._minhash import MinHash
from nearkin.datasketch._permutations import sha1_hash32, sha1_hash64

_HERE = {
    "LeanMinHash": LeanMinHash,
    "MinHash": MinHash,
    "MinHashLSH": MinHashLSH,
    "sha1_hash32": sha1_hash32,
    "sha1_hash64": sha1_hash64,
}


class _Dictionary:
    """Stands for the original's storage in memory while a pickle is read."""

    _dict: dict[Any, Any]


class _Unpickler(pickle.Unpickler):
    """Reads pickles of the original as objects of this module."""

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == "datasketch":
            if name in _HERE:
                return _HERE[name]
            if name in ("DictListStorage", "DictSetStorage"):
                return _Dictionary
            raise UnsupportedError(f"cannot read a pickle of {module}.{name}; use datasketch")
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
