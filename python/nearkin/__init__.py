"""Finds similar items in large collections: fast, exact, with the recall stated and measured.

>>> import nearkin as nk
>>> nk.dedup(["to be or not to be that is", "to be or not to be that is", "the question"]).kept
['to be or not to be that is', 'the question']
"""

from nearkin import amplify, measure, shingle, show
from nearkin._compare import Comparison, compare
from nearkin._errors import (
    FileError,
    InputError,
    NearkinError,
    NearkinWarning,
    ParameterError,
    UnsupportedError,
)
from nearkin._hosts import Mirrors, hosts
from nearkin._index import Index
from nearkin._minhash import MinHash
from nearkin._nearkin import __version__
from nearkin._overlap import Overlaps, overlap
from nearkin._plan import Plan, plan
from nearkin._records import Resolution, match, suggest_rules
from nearkin._search import Deduplicated, dedup, pairs, stats, top
from nearkin._trim import Trimmed, trim

__all__ = [
    "Comparison",
    "Deduplicated",
    "FileError",
    "Index",
    "InputError",
    "MinHash",
    "Mirrors",
    "NearkinError",
    "NearkinWarning",
    "Overlaps",
    "ParameterError",
    "Plan",
    "Resolution",
    "Trimmed",
    "UnsupportedError",
    "__version__",
    "amplify",
    "compare",
    "dedup",
    "hosts",
    "match",
    "measure",
    "overlap",
    "pairs",
    "plan",
    "shingle",
    "show",
    "stats",
    "suggest_rules",
    "top",
    "trim",
]
