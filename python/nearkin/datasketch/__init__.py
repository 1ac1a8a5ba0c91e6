"""The signatures and indexes of datasketch 2.0: the same names and values, many times as fast.

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

Signatures, serialised signatures and pickles made by the original stay good: values are the same
for the same seed and scheme. What the original has besides these classes (forests, ensembles, Bloom
filters, HyperLogLog, HNSW, storage in a database, GPUs) is not here.
"""

from __future__ import annotations

from typing import NoReturn

from nearkin.datasketch._lean import LeanMinHash
from nearkin.datasketch._lsh import (
    MinHashLSH,
    MinHashLSHDeletionSession,
    MinHashLSHInsertionSession,
)
from nearkin.datasketch._minhash import MinHash
from nearkin.datasketch._permutations import sha1_hash32, sha1_hash64
from nearkin.datasketch._pickles import load, loads

WeightedMinHashLSH = MinHashLSH

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
            f"nearkin.datasketch has no {name}: it has MinHash, LeanMinHash and MinHashLSH in "
            f"memory; import {name} from datasketch",
            name=__name__,
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
