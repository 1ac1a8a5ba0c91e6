"""Records that are the same thing: entity resolution."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from nearkin import _nearkin
from nearkin._columns import record_input
from nearkin._errors import ParameterError
from nearkin._options import TableOptions, as_json
from nearkin._progress import shown, warn

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Resolution", "Rules", "match", "suggest_rules"]

Rules: TypeAlias = Mapping[str, Any] | str | os.PathLike[str]
"""Rules for `match`: a dict, the text of a TOML file, or the path of one."""


class Resolution:
    """Which records are the same thing.

    The tables are made when you first ask for them.

    Attributes
    ----------
    stats : dict
        The account of the run: what the command's ``--stats`` has.
    """

    def __init__(self, found: _nearkin.Resolution, values: bool) -> None:
        self._found = found
        self._values = values
        self.stats: dict[str, Any] = json.loads(found.stats)

    @cached_property
    def matches(self) -> pa.Table:
        """One row per match: ``a`` and ``b`` (the ids), ``score``, and what each field adds to it.

        A part is null where a value is missing. Where the rules say how probable a match of a score is, as suggested
        ones do, ``probability`` stands beside the score. With ``values=True`` the values follow, ``NAME_a`` and ``NAME_b``. In
        one table, two records of one cluster are a row even where they alone would not score enough.
        """
        return self._found.matches(self._values)

    @cached_property
    def clusters(self) -> pa.Table | None:
        """One row per record: ``id``, and ``cluster``, the id of the first record in it.

        None where the rules do not make clusters: with two tables, or with ``match = "all"``.
        """
        return self._found.clusters()

    @cached_property
    def shares(self) -> pa.Table | None:
        """The share of true matches at each score: ``from``, ``to``, ``pairs``, ``mean``, ``share``, ``error``.

        None where the rules have no ``check``.
        """
        return self._found.shares()

    def __repr__(self) -> str:
        sizes = " and ".join(str(size) for size in self.stats["records"])
        clusters = self.stats["clusters"]
        of = "" if clusters is None else f" in {clusters} clusters"
        return f"<{sizes} records, {self.stats['pairs']} matches{of}>"


def match(
    a: object,
    b: object = None,
    *,
    rules: Rules,
    values: bool = False,
    progress: bool | None = None,
    **options: Unpack[TableOptions],
) -> Resolution:
    """Find the records that are the same thing: of two tables, or of one with itself.

    Parameters
    ----------
    a
        A table: a list of records (dicts), a dict of ids and records, a pandas or polars DataFrame, a pyarrow Table,
        anything with the Arrow stream interface, a path, or a list of `pathlib.Path`.
    b
        The other table. Without it, the records of `a` are matched with each other.
    rules
        Which pairs are looked at, what each field is worth, and how matches are grouped: a dict, the text of a TOML
        file, or the path of one. (A `str` with a line break is a text, any other is a path.) The guide on records
        describes them, and `suggest_rules` finds some to begin with.
    values
        Whether the values of the fields stand in the matches.
    progress
        Whether to show how far the run is; by itself in a terminal or a notebook.
    **options
        How both tables are read and what the run may take: ``id``, ``positions``, ``on_error``, ``threads``, ``memory``,
        ``temp``, and for files ``format``, ``delimiter`` and ``no_header``.

    Returns
    -------
    Resolution
        With ``matches``, ``clusters``, ``shares`` and ``stats``.

    Raises
    ------
    ParameterError, InputError, FileError
        When the rules make no sense, a record cannot be used, or a table does not have a column that the rules name.

    Examples
    --------
    >>> import nearkin as nk
    >>> people = [
    ...     {"id": 1, "name": "Bill Jones", "phone": "555-1234"},
    ...     {"id": 2, "name": "Ann Smith", "phone": "555-9999"},
    ... ]
    >>> others = {"x": {"name": "William Jones", "phone": "555 1234"}}
    >>> rules = {
    ...     "threshold": 150,
    ...     "candidates": ["phone", "name ~ 0.3"],
    ...     "fields": {"name": {"tables": ["nicknames"], "lost_at": 5}, "phone": {"distance": "digits"}},
    ... }
    >>> nk.match(people, others, rules=rules).matches.to_pylist()
    [{'a': 1, 'b': 'x', 'score': 196.0, 'name': 96.0, 'phone': 100.0}]
    >>> twice = [*people, {"id": 3, "name": "Anne Smith", "phone": "555-9999"}]
    >>> nk.match(twice, rules=rules).clusters.to_pydict()
    {'id': [1, 2, 3], 'cluster': [1, 2, 2]}
    """
    sides = _sides(a, b, options)
    with shown(progress) as bar:
        found = _nearkin.resolve(*sides, _rules(rules), as_json(options, TableOptions), bar)
    warn(found.warnings, above=1)
    return Resolution(found, values)


def suggest_rules(
    a: object, b: object = None, *, progress: bool | None = None, **options: Unpack[TableOptions]
) -> str:
    """Rules for two tables, or for one, found without examples.

    It is a call of its own because it gives rules and no matches, and rules are there to be read and changed before
    you use them: save them in a file, or hand them on at once, as ``nk.match(a, b, rules=nk.suggest_rules(a, b))``.

    Takes what `match` takes, without rules. It needs some tens of records that are there twice.

    Returns
    -------
    str
        TOML with comments, as the command's ``--suggest`` writes it.
    """
    sides = _sides(a, b, options)
    with shown(progress) as bar:
        rules, warnings = _nearkin.suggest_rules(*sides, as_json(options, TableOptions), bar)
    warn(warnings, above=1)
    return rules


def _sides(a: object, b: object, options: Mapping[str, Any]) -> tuple[list[Any], list[Any] | None]:
    id = options.get("id")
    first = record_input(a, id, "<a>")
    return first.given, None if b is None else record_input(b, id, "<b>").given


def _rules(rules: Rules) -> str | tuple[str, list[str]]:
    """A path; or a text, and for a dict the key that each of its lines stands for."""
    if isinstance(rules, Mapping):
        lines = list(_lines(rules, ()))
        return "\n".join(line for _, line in lines), [key for key, _ in lines]
    if isinstance(rules, str) and "\n" in rules:
        return rules, []
    if isinstance(rules, (str, os.PathLike)):
        return os.fspath(rules)
    raise ParameterError(f"rules is a {type(rules).__name__}; it must be a dict, the text of a TOML file, or its path")


def _lines(table: Mapping[Any, Any], path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """A table as lines of TOML, each with the key it is about: its name, its values, then the tables in it."""
    name = ".".join(path)
    yield name, f"[{'.'.join(map(_key, path))}]" if path else ""
    for key, value in table.items():
        if value is not None and not isinstance(value, Mapping):
            where = ".".join((*path, str(key)))
            yield where, f"{_key(key)} = {_value(value, where)}"
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _lines(value, (*path, str(key)))


def _key(key: Any) -> str:
    text = str(key)
    return text if re.fullmatch("[A-Za-z0-9_-]+", text) else _text(text)


def _text(text: str) -> str:
    # As in JSON, but for one character that TOML wants to see escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, where: str) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(part, where) for part in value)}]"
    raise ParameterError(f"rules: {where} is {value!r}; give a text, a number or a list of them")
