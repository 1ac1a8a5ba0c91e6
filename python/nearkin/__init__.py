"""Finds similar items in large collections: fast, exact, with the recall stated and measured."""

from nearkin._nearkin import __version__

__all__ = ["__version__"]
