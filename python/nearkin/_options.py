"""The options of a run: the command's flags, with `_` for `-`. The engine knows what they mean."""

from __future__ import annotations

import difflib
import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict

__all__ = [
    "CompareOptions",
    "DedupOptions",
    "HostArguments",
    "HostOptions",
    "ItemOptions",
    "KeepOptions",
    "Options",
    "OverlapOptions",
    "ReadOptions",
    "RunOptions",
    "SearchOptions",
    "ShingleOptions",
    "ShowOptions",
    "TableOptions",
    "TopOptions",
    "TrimOptions",
    "WordOptions",
    "as_json",
    "checked",
]


class ReadOptions(TypedDict, total=False):
    """What is read, and what an item is."""

    text: str | None
    id: str | None
    positions: bool
    format: str | None
    include: list[str] | None
    exclude: list[str] | None
    no_ignore: bool
    encoding: str | None
    delimiter: str | None
    no_header: bool
    on_error: Literal["stop", "skip"]
    max_item: str | int | None
    as_: Literal["text", "set", "bag", "vector", "bits", "string", "answers"] | None
    group: str | None
    element: str | None
    count: str | None
    rating: str | None
    ratings: str | None
    element_groups: str | os.PathLike[str] | None
    edges: bool | Literal["both", "directed"] | None
    questions: list[str] | None
    grid: str | None
    digits: Literal["told", "binary", "hex"]


class ShingleOptions(TypedDict, total=False):
    """How texts become shingles."""

    shingle: str | None
    ignore_case: bool
    space: Literal["fold", "drop", "keep"]
    normal_form: Literal["nfc", "nfkc"] | None
    stop_words: str | os.PathLike[str] | None
    hash_bits: Literal[32, 64]


class ItemOptions(ReadOptions, ShingleOptions, total=False):
    """What is read, what an item is, and how texts become shingles."""


class CompareOptions(ItemOptions, total=False):
    """What `compare` takes."""

    passages: bool
    least_words: int | None
    expected: bool | int | None
    fields: str | list[str] | None


class ShowOptions(ReadOptions, ShingleOptions, total=False):
    """What the functions of `nearkin.show` take. ``nearkin help show STEP`` says which of them a step takes."""

    source: object
    ids: Iterable[object]
    first: int
    most: int
    seed: int
    letters: bool
    urls: bool
    universe: object
    permutation: object
    places: object
    functions: str | list[str]
    all_permutations: bool
    cyclic: bool
    values: int
    truncate: int
    groups: int
    signatures: bool
    bands: int
    rows: int
    normal: object
    all_signs: bool
    signs: bool
    line: object
    axes: bool
    width: float | list[float]
    threshold: float
    within: float
    factor: float
    measure: str
    order: object
    length: int
    size: int


class Options(ItemOptions, total=False):
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

    at_most: float | None
    at_least: float | None
    and_or: object
    estimate: bool | int | None
    probes: int | None
    against_text: str | None
    against_id: str | None


class TopOptions(SearchOptions, total=False):
    """What `top` takes, with the argument of its own."""

    k: int


class DedupOptions(Options, total=False):
    """What `dedup` takes."""

    chains: bool
    #: As it is by default, for older scripts.
    no_chains: bool
    against_text: str | None
    against_id: str | None


class KeepOptions(DedupOptions, total=False):
    """What `dedup` takes, with the argument of its own."""

    keep: str


class OverlapOptions(TypedDict, total=False):
    """What `overlap` takes."""

    text: str | None
    id: str | None
    test_text: str | None
    test_id: str | None
    positions: bool
    format: str | None
    delimiter: str | None
    no_header: bool
    on_error: Literal["stop", "skip"]
    max_item: str | int | None
    most_tests: int | None
    threads: int | None
    memory: str | int | None
    temp: str | os.PathLike[str] | None


class WordOptions(OverlapOptions, total=False):
    """What `overlap` takes, with the arguments of its own."""

    words: int
    share: float | None


class RunOptions(TypedDict, total=False):
    """How files are laid out, and what a run may take."""

    format: str | None
    include: list[str] | None
    exclude: list[str] | None
    no_ignore: bool
    encoding: str | None
    delimiter: str | None
    on_error: Literal["stop", "skip"]
    max_item: str | int | None
    threads: int | None
    memory: str | int | None
    temp: str | os.PathLike[str] | None


class TableOptions(RunOptions, total=False):
    """What `match` and `suggest_rules` take."""

    id: str | None
    positions: bool
    no_header: bool


class TrimOptions(TableOptions, total=False):
    """What `trim` takes, beside the arguments of its own."""

    text: str | None
    threshold: float | None
    seed: int


class HostArguments(TypedDict, total=False):
    """How hosts are searched."""

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


class HostOptions(RunOptions, HostArguments, total=False):
    """What `hosts` takes."""


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


def as_json(options: Mapping[str, Any], allowed: type) -> str:
    """The options as the engine reads them."""
    given = checked(options, allowed)
    for name in _COLUMNS & given.keys():
        given[name] = str(given[name])
    return json.dumps({name.rstrip("_"): _plain(value) for name, value in given.items()})


# Options that name a column. Columns of pandas may be named by numbers.
_COLUMNS = {"text", "id", "test_text", "test_id", "against_text", "against_id", "group", "element", "count", "rating"}


def _plain(value: Any) -> Any:
    """A value that JSON has: paths, expressions and numbers that are not finite become texts."""
    if isinstance(value, (list, tuple)):
        return [str(one) for one in value]
    if hasattr(value, "item"):  # a number of NumPy
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (bool, int, float, str)):
        return value
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
