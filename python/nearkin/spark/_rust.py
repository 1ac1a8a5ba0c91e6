"""What executors run, under a name by which functions that are sent to them find it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearkin import _nearkin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Groups = _nearkin.spark.Groups
Keys = _nearkin.spark.Keys
Likeness = _nearkin.spark.Likeness
Pieces = _nearkin.spark.Pieces
Stars = _nearkin.spark.Stars
clusters = _nearkin.spark.clusters
components = _nearkin.spark.components
copy_lines = _nearkin.spark.copy_lines
frequent = _nearkin.spark.frequent
item_bytes = _nearkin.spark.item_bytes
meet = _nearkin.spark.meet
misses_none = _nearkin.spark.misses_none
pairs = _nearkin.spark.pairs
read_lines = _nearkin.spark.read_lines
repeated = _nearkin.spark.repeated
sketches = _nearkin.spark.sketches
starts = _nearkin.spark.starts

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_modules = 0


def spare_the_collector() -> None:
    """Leaves what modules made out of garbage collection. PySpark collects after every task, and going through all that
    pandas and pyarrow made took 20 to 30 ms of processor time, more than many tasks take."""
    global _modules
    if len(sys.modules) != _modules:
        _modules = len(sys.modules)
        gc.freeze()


def _narrow(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch with offsets of 32 bits, where Spark was set to send 64."""
    kinds = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    fields = [field.with_type(kinds.get(field.type, field.type)) for field in batch.schema]
    return batch.cast(pa.schema(fields)) if fields != list(batch.schema) else batch


def on_executors(frame: DataFrame, task: Task, schema: Any) -> DataFrame:
    """What a task makes of the batches of every partition."""
    flags = _nearkin.speaks_of_flags()

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _nearkin.speak_of_flags(flags)
        yield from task(map(_narrow, batches))
        spare_the_collector()

    return frame.mapInArrow(run, schema)
