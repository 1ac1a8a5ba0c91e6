"""Sketches of texts, whole or in parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType

from nearkin._options import Options, as_json
from nearkin.spark import _rust

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def sketch(
    frame: DataFrame,
    text: str = "text",
    id: str = "id",
    functions: int = 128,
    seed: int = 1,
    combine: bool = False,
    **options: Any,
) -> DataFrame:
    """The sketch of every text.

    Two sketches agree in a share of their values that estimates the Jaccard similarity of the texts' shingles.

    Parameters
    ----------
    frame
        Has a column of ids and one of strings, or of arrays of strings with ``as_="set"``.
    functions
        Values of a sketch.
    combine
        Whether rows with the same id are parts of one item. Each part is sketched where it is, and of every value
        the smallest counts. Shingles that would reach from one part into the next are in neither.
    **options
        ``shingle``, ``as_``, ``ignore_case``, ``space``, ``normal_form``, ``hash_bits``: as for `pairs`.

    Returns
    -------
    DataFrame
        The ids, under their name, and ``sketch``, an array of whole numbers from 0 to 2³² − 1.
    """
    given = as_json({**options, "seed": seed}, Options)
    kind = frame.schema[text].dataType
    texts = F.col(f"`{text}`")
    if isinstance(kind, ArrayType):
        texts = texts.cast(ArrayType(StringType()))
    rows = frame.select(F.col(f"`{id}`"), texts.alias("text"))
    schema = StructType([frame.schema[id], StructField("sketch", ArrayType(LongType()))])

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            sketches = _rust.sketches(batch.select(["text"]), given, functions, combine)
            yield pa.RecordBatch.from_arrays([batch.column(0), sketches["sketch"]], [id, "sketch"])

    parts = _rust.on_executors(rows, run, schema)
    if not combine:
        return parts

    def merge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(list(batches)).combine_chunks()
        if table.num_rows == 0:
            return
        ids = table.column(0).combine_chunks()
        names = ids.dictionary_encode().indices.to_numpy()
        starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]])
        values = table.column(1).combine_chunks().flatten().to_numpy().reshape(-1, functions)
        smallest = np.minimum.reduceat(values, starts, axis=0) & 0xFFFF_FFFF
        offsets = np.arange(0, smallest.size + 1, functions, dtype=np.int32)
        lists = pa.ListArray.from_arrays(offsets, smallest.ravel())
        yield pa.RecordBatch.from_arrays([ids.take(pa.array(starts)), lists], [id, "sketch"])

    together = parts.repartition(F.col(f"`{id}`")).sortWithinPartitions(F.col(f"`{id}`"))
    return _rust.on_executors(together, merge, schema)
