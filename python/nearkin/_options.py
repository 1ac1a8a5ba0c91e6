"""The options of a run: the command's flags, with `_` for `-`."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

__all__ = [
    "Comparing",
    "Cutting",
    "DedupOptions",
    "HostOptions",
    "Options",
    "Reading",
    "SearchOptions",
    "TableOptions",
    "checked",
    "flags",
]


class Reading(TypedDict, total=False):
    """What is read, and what an item is."""

    text: str | None
    id: str | None
    positions: bool
    format: str | None
    delimiter: str | None
    no_header: bool
    on_error: Literal["stop", "skip"]
    as_: Literal["text", "set", "bag", "vector", "bits", "string", "answers"] | None
    group: str | None
    element: str | None
    count: str | None
    rating: str | None
    ratings: str | None
    edges: bool | Literal["both", "directed"] | None
    questions: list[str] | None
    digits: Literal["told", "binary", "hex"]


class Cutting(TypedDict, total=False):
    """How texts become shingles."""

    shingle: str | None
    ignore_case: bool
    space: Literal["fold", "drop", "keep"]
    normal_form: Literal["nfc", "nfkc"] | None
    stop_words: str | os.PathLike[str] | None
    hash_bits: Literal[32, 64]


class Comparing(Cutting, total=False):
    """What `compare` takes."""

    passages: bool
    least_words: int | None


class Options(Reading, Cutting, total=False):
    """What `pairs`, `top` and `dedup` take. ``nearkin help pairs`` says more of each."""

    # What is similar, and how surely it is found
    measure: str | None
    threshold: float | None
    within: float | None
    recall: float | None
    exact: bool
    approximate: bool
    filters: str | list[str] | None
    audit: int | None
    bands: int | None
    rows: int | None
    seed: int
    # How it is done
    threads: int | None
    memory: str | int | None
    temp: str | os.PathLike[str] | None


class SearchOptions(Options, total=False):
    """What `pairs` and `top` take."""

    and_or: object
    probes: int | None


class DedupOptions(Options, total=False):
    """What `dedup` takes."""

    no_chains: bool


class RunOptions(TypedDict, total=False):
    """How files are laid out, and what a run may take."""

    format: str | None
    delimiter: str | None
    on_error: Literal["stop", "skip"]
    threads: int | None
    memory: str | int | None
    temp: str | os.PathLike[str] | None


class TableOptions(RunOptions, total=False):
    """What `match` and `suggest_rules` take."""

    id: str | None
    positions: bool
    no_header: bool


class HostOptions(RunOptions, total=False):
    """What `hosts` takes."""

    url: str | None
    text: str | None
    link_fields: tuple[str, str] | None
    threshold: float | None
    least_urls: int | None
    least_shingles: int | None
    shingle: str | None
    alike: float | None
    most_pages: int | None
    least_links: int | None


def checked(options: Mapping[str, Any], allowed: type) -> dict[str, Any]:
    """The options that are given, each of them known."""
    known: dict[str, Any] = {}
    for base in allowed.__mro__:
        known.update(getattr(base, "__annotations__", {}))
    for name in options:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"there is no option {name!r}{hint}")
    return {name: value for name, value in options.items() if value is not None}


def flags(options: Mapping[str, Any], allowed: type) -> list[str]:
    """The options as words of a command line."""
    words = []
    for name, value in checked(options, allowed).items():
        if value is False:
            continue
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            words.append(f"{flag}={','.join(map(str, value))}")
        else:
            words.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return words
