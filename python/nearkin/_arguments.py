"""Checks numbers that the parts take: whole ones, and pairs of bands and rows."""

from __future__ import annotations

import operator

from nearkin._errors import ParameterError


def whole(value: int, name: str, least: int = 1) -> int:
    """A whole number of 64 bits, or an error."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ParameterError(f"{name} is {value!r}; it must be a whole number") from None
    if not least <= number < 2**64:
        raise ParameterError(f"{name} is {number}; it must be at least {least} and below 2^64")
    return number


def optional(value: int | None, name: str) -> int | None:
    """A whole number that may be left out."""
    return None if value is None else whole(value, name)


def band_pair(bands: tuple[int, int] | None) -> tuple[int, int] | None:
    """Bands and rows, or an error."""
    if bands is None:
        return None
    try:
        count, rows = bands
    except (TypeError, ValueError):
        message = f"bands is {bands!r}; it must be two numbers, of bands and of rows"
        raise ParameterError(message) from None
    return whole(count, "bands"), whole(rows, "rows")
