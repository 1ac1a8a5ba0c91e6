"""Finds similar items in large collections: fast, exact, with the recall stated and measured."""

from nearkin import amplify, measure, shingle
from nearkin._errors import FileError, InputError, NearkinError, ParameterError
from nearkin._index import Index
from nearkin._minhash import MinHash
from nearkin._nearkin import __version__
from nearkin._plan import Plan, plan

__all__ = [
    "FileError",
    "Index",
    "InputError",
    "MinHash",
    "NearkinError",
    "ParameterError",
    "Plan",
    "__version__",
    "amplify",
    "measure",
    "plan",
    "shingle",
]
