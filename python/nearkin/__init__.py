"""Finds similar items in large collections: fast, exact, with the recall stated and measured.

>>> import nearkin as nk
>>> nk.dedup(["to be or not to be that is", "to be or not to be that is", "the question"]).kept
['to be or not to be that is', 'the question']
"""

from nearkin._compare import Comparison, compare
from nearkin._errors import FileError, InputError, NearkinError, NearkinWarning, ParameterError
from nearkin._nearkin import __version__
from nearkin._search import Deduplicated, dedup, pairs, stats, top

__all__ = [
    "Comparison",
    "Deduplicated",
    "FileError",
    "InputError",
    "NearkinError",
    "NearkinWarning",
    "ParameterError",
    "__version__",
    "compare",
    "dedup",
    "pairs",
    "stats",
    "top",
]
