"""Finds similar items in large collections: fast, exact, with the recall stated and measured."""

from nearkin._errors import FileError, InputError, NearkinError, ParameterError
from nearkin._nearkin import __version__

__all__ = ["FileError", "InputError", "NearkinError", "ParameterError", "__version__"]
