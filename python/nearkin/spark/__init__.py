"""The same search on Spark: the executors run the Rust code on Arrow batches.

>>> from pyspark.sql import SparkSession
>>> import nearkin.spark
>>> session = SparkSession.builder.master("local[1]").getOrCreate()
>>> frame = session.createDataFrame([(1, "to be or not to be that is"), (2, "To be, or not to be: that is")],
...                                 "id long, text string").coalesce(1)
>>> nearkin.spark.pairs(frame).collect()
[Row(a=1, b=2, similarity=1.0)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from nearkin import ParameterError
from nearkin.spark import _rust
from nearkin.spark._dedup import Deduplicated, deduplicate
from nearkin.spark._stages import HEAVY, Found, among_copies
from nearkin.spark._texts import FrameTexts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Deduplicated", "dedup", "pairs"]


def _texts(frame: DataFrame, options: dict[str, Any]) -> tuple[FrameTexts, dict[str, Any], int]:
    """The texts of a DataFrame, the flags that say what is similar, and what a heavy bucket is."""
    flags = {name: value for name, value in options.items() if value is not None}
    skip = flags.pop("on_error", "stop") == "skip"
    text, id = flags.pop("text", "text"), flags.pop("id", None)
    order, positions = flags.pop("order", None), flags.pop("positions", False)
    heavy = int(flags.pop("heavy", HEAVY))
    for name in ("threads", "audit", "temp", "quiet"):
        flags.pop(name, None)  # Spark's own affair
    unknown = set(flags) - _FLAGS
    if unknown:
        raise ParameterError(f"unknown option {min(unknown)!r}; the options are the command's flags")
    _rust.is_exact(flags)  # what contradicts itself is told before anything runs
    return FrameTexts(frame, text, id, order, positions, skip), flags, heavy


_FLAGS = {
    *("threshold", "within", "recall", "exact", "approximate", "bands", "rows", "seed", "measure"),
    *("shingle", "ignore_case", "space", "normal_form", "hash_bits", "as", "memory"),
}


def pairs(frame: DataFrame, **options: Any) -> DataFrame:
    """Every similar pair of the texts of a DataFrame.

    Parameters
    ----------
    frame
        Has a column `text` (or the one named by `text=`) of strings, or of arrays of strings with `as_="set"`.
    **options
        The command's flags, with `_` for `-`: `threshold`, `within`, `recall`, `exact`, `approximate`,
        `bands`, `rows`, `shingle`, `measure`, `seed`, `text`, `id`, `positions`, `on_error`, …; and `order`,
        a column (or several) that says which row comes first where the order of rows does not.

    Returns
    -------
    DataFrame
        `a`, `b` (ids, `a` before `b` in the order of rows) and `similarity`: the pairs that the command finds.
    """
    texts, flags, heavy = _texts(frame, _options(options))
    found = Found(texts, flags, True, heavy)
    matches = found.matches(found.candidates(), True).dropDuplicates(["a", "b"])
    matches = among_copies(matches, found.copies_of(), found.copies)
    ids = texts.ids()
    one = ids.select(F.col("position").alias("a"), F.col("id").alias("id_a"))
    two = ids.select(F.col("position").alias("b"), F.col("id").alias("id_b"))
    named = matches.join(one, "a").join(two, "b")
    return named.select(F.col("id_a").alias("a"), F.col("id_b").alias("b"), "similarity")


def dedup(frame: DataFrame, *, keep: str = "first", chains: bool = True, **options: Any) -> Deduplicated:
    """Keeps one row of each group of similar texts.

    Parameters
    ----------
    frame, **options
        As for `pairs`.
    keep
        Which row of a group: `first`, `longest`, `max:COLUMN` or `min:COLUMN`.
    chains
        Whether rows belong together that are similar through others only (the command's `--no-chains`).

    Returns
    -------
    Deduplicated
        `.kept`, the rows that are kept with all their columns; `.clusters`, a row a text: `id`, `cluster` (the id
        that was kept), `kept`, `similarity` to it; `.stats`.
    """
    texts, flags, heavy = _texts(frame, _options(options))
    return deduplicate(Found(texts, flags, not chains, heavy), texts, keep, chains)


def _options(options: dict[str, Any]) -> dict[str, Any]:
    """Options whose names are words of Python come with an underscore."""
    return {name.rstrip("_"): value for name, value in options.items()}
