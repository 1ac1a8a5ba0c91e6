"""The same search on Spark: the executors run the Rust code on Arrow batches.

>>> import os, sys
>>> os.environ["PYSPARK_PYTHON"] = sys.executable      # what executors run; set on a cluster as well
>>> from pyspark.sql import SparkSession
>>> import nearkin.spark
>>> session = SparkSession.builder.master("local[1]").getOrCreate()
>>> rows = [(1, "to be or not to be that is"), (2, "To be, or not to be: that is")]
>>> frame = session.createDataFrame(rows, "id long, text string").coalesce(1)
>>> nearkin.spark.pairs(frame).collect()
[Row(a=1, b=2, similarity=1.0)]
>>> session.stop()
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from pyspark.sql import functions as F

from nearkin import ParameterError
from nearkin._options import TrimOptions, as_json
from nearkin.spark import _rust
from nearkin.spark._dedup import Deduplicated, deduplicate
from nearkin.spark._sketch import sketch
from nearkin.spark._stages import HEAVY, Found, Texts, among_copies, encoded, value_name
from nearkin.spark._texts import FrameTexts
from nearkin.spark._trim import Trimmed, trimmed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Deduplicated", "Trimmed", "dedup", "pairs", "sketch", "trim"]


#: Options that say how a DataFrame is read, not what is similar in it.
_READING = ("text", "id", "positions", "order", "on_error")
#: Options that are Spark's own affair.
_SPARKS = ("threads", "audit", "temp", "format", "delimiter", "no_header")


def _taken_apart(frame: DataFrame, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the work, and those that say how a DataFrame is read."""
    if not hasattr(frame, "sparkSession"):
        raise ParameterError(f"the data is of type {type(frame).__name__}; it must be a DataFrame of Spark")
    given = {name: value for name, value in options.items() if value is not None}
    reading = {name: given.pop(name) for name in _READING if name in given}
    reading["skip"] = reading.pop("on_error", "stop") == "skip"
    return {name: value for name, value in given.items() if name not in _SPARKS}, reading


def _found(
    frame: DataFrame, options: dict[str, Any], chains: bool | None = None
) -> tuple[FrameTexts, Found]:
    """The texts of a DataFrame, and which of them have to meet."""
    given, reading = _taken_apart(frame, options)
    heavy = int(given.pop("heavy", HEAVY))
    _rust.misses_none(encoded(given))  # what contradicts itself is told before anything runs
    if chains is not None:
        given["chains"] = chains
    texts = FrameTexts(frame, **reading, most=_rust.item_bytes(encoded(given)))
    return texts, Found(texts, given, heavy)


def pairs(frame: DataFrame, **options: Any) -> DataFrame:
    """Every similar pair of the texts of a DataFrame.

    Parameters
    ----------
    frame
        Has a column `text` (or the one named by `text=`) of strings, or of arrays of strings with `as_="set"`.
    **options
        The command's options, with `_` for `-`: `threshold`, `within`, `recall`, `exact`, `approximate`,
        `bands`, `rows`, `shingle`, `measure`, `seed`, `text`, `id`, `positions`, `on_error`, `max_item`, …; and `order`,
        a column (or several) that says which row comes first where the order of rows does not.

    Returns
    -------
    DataFrame
        `a`, `b` (ids, `a` before `b` in the order of rows) and `similarity` (or `distance`, with `within`): the
        pairs that the command finds.
    """
    texts, found = _found(frame, options)
    return _named(found, texts, options)


def _named(found: Found, texts: Texts, options: dict[str, Any]) -> DataFrame:
    """Every pair, by ids."""
    matches = found.matches(True).dropDuplicates(["a", "b"])
    matches = among_copies(matches, found.copies_of(), found.copies)
    ids = texts.ids()
    one = ids.select(F.col("position").alias("a"), F.col("id").alias("id_a"))
    two = ids.select(F.col("position").alias("b"), F.col("id").alias("id_b"))
    named = matches.join(one, "a").join(two, "b")
    value = F.col("similarity").alias(value_name(options))
    return named.select(F.col("id_a").alias("a"), F.col("id_b").alias("b"), value)


def dedup(
    frame: DataFrame, *, keep: str = "first", chains: bool = False, **options: Any
) -> Deduplicated:
    """Removes the rows whose texts are similar to one that is kept.

    Parameters
    ----------
    frame, **options
        As for `pairs`.
    keep
        Which row of a group: `first`, `longest`, `max:COLUMN`, `min:COLUMN` or `prefer:COLUMN=VALUE,VALUE`; several
        with `|` between them are tried in order.
    chains
        Whether rows belong together also through others. Then rows are removed that are similar to none that is kept.

    Returns
    -------
    Deduplicated
        `.kept`, the rows that are kept with all their columns; `.clusters`, a row a text: `id`, `cluster` (the id
        that was kept), `kept`, `similarity` to it (or `distance`, with `within`); `.stats`.
    """
    for name in ("against", "against_text", "against_id", "removed", "removed_fields"):
        if name in options:
            raise ParameterError(f"{name} does not run on Spark yet; pass both collections to nk.dedup on one machine")
    texts, found = _found(frame, options, chains)
    return deduplicate(found, texts, keep, chains)


def trim(
    frame: DataFrame,
    *,
    unit: str,
    at_least: int | None = None,
    keep: Literal["first", "none"] = "first",
    min_left: int = 0,
    **options: Any,
) -> Trimmed:
    """Removes lines, paragraphs or sentences that are repeated, and keeps the first.

    Parameters
    ----------
    frame
        Has a column `text` (or the one named by `text=`) of strings.
    unit
        What a piece is: `line`, `paragraph` or `sentence`.
    at_least, keep, min_left
        As for `nk.trim`: in how many documents a piece must stand to be removed; which place stays, the `first` or
        `none`; and of how many words left a document is not dropped.
    **options
        `text`, `id`, `positions`, `on_error`, `max_item`, `seed`; and `order`, as for `pairs`.

    Returns
    -------
    Trimmed
        `.kept`, the documents with all their columns and what is left of their texts; `.removed`, a row for every
        stretch: `id`, `offset`, `length`, `reason`, `kept_id`, `kept_offset`, `text`; `.stats`.
    """
    pieces = {"unit": unit, "at_least": at_least, "keep": keep, "min_left": min_left}
    asked = {name: value for name, value in pieces.items() if value is not None}
    given, reading = _taken_apart(frame, options)
    if given.get("threshold") is not None:
        raise ParameterError("threshold does not run on Spark yet; pass the documents to nk.trim on one machine")
    if str(unit).startswith("words:"):
        raise ParameterError(f"unit={unit!r} does not run on Spark yet; take line, paragraph or sentence, or nk.trim on one machine")
    asked_of_run = as_json(given, TrimOptions)
    _rust.Pieces(asked_of_run, json.dumps(asked), 1)  # what makes no sense is told before anything runs
    texts = FrameTexts(frame, **reading, most=_rust.item_bytes(asked_of_run))
    if texts.is_list:
        raise ParameterError(f"column {reading.get('text', 'text')!r} has arrays; documents are strings")
    return trimmed(texts, str(reading.get("text", "text")), asked_of_run, asked)
