"""The texts of a DataFrame, as the stages need them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import StorageLevel, TaskContext
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType

from nearkin import ParameterError
from nearkin.spark import _rust

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Bits of a position that say the row in its partition; those before them say the partition. Spark numbers rows so.
ROW_BITS = 33

#: Rows of a join's side that every executor may get whole: some 20 MB.
BROADCAST = 1_000_000

KEYS = "gatherer int, block binary, partition long, records long, texts long, empty long, bytes long"
_KEYS = pa.schema(
    [
        ("gatherer", pa.int32()),
        ("block", pa.binary()),
        ("partition", pa.int64()),
        ("records", pa.int64()),
        ("texts", pa.int64()),
        ("empty", pa.int64()),
        ("bytes", pa.int64()),
    ]
)


def key_rows(keys: Any, seen: tuple[int, int] | None = None) -> Iterator[pa.RecordBatch]:
    """The blocks that keys have ready, and at the end what was seen: the partition, and its records with those skipped."""
    blocks = keys.blocks(seen is not None)
    rows = blocks.num_rows
    if rows:
        nothing = pa.nulls(rows, pa.int64())
        columns = [blocks["gatherer"], blocks["block"], *[nothing] * 5]
        yield pa.RecordBatch.from_arrays(columns, schema=_KEYS)
    if seen is not None:
        (partition, records), (texts, empty, size) = seen, keys.seen()
        row = {"gatherer": partition % keys.gatherers, "partition": partition, "records": records}
        yield pa.RecordBatch.from_pylist([row | dict(texts=texts, empty=empty, bytes=size)], _KEYS)


def broadcast(frame: DataFrame, rows: int | None) -> DataFrame:
    """Every executor gets it whole where it is small; else Spark decides."""
    return frame if rows is None or rows > BROADCAST else F.broadcast(frame)


def _size(text: Column, is_list: bool) -> Column:
    """The bytes of a text. A list is read as a text that has the length of each element before it, after a first byte."""
    if not is_list:
        return F.octet_length(text)
    known = F.filter(text, lambda element: element.isNotNull())
    sizes = F.transform(known, lambda element: F.octet_length(element))
    return F.aggregate(sizes, F.lit(1), lambda sum, size: sum + size + F.length(size.cast("string")) + 1)


class FrameTexts:
    """The rows of a DataFrame with their positions: partition, then row."""

    def __init__(
        self,
        frame: DataFrame,
        text: str = "text",
        id: str | None = None,
        positions: bool = False,
        skip: bool = False,
        order: Any = None,
        most: int = 1 << 30,
    ) -> None:
        if text not in frame.columns:
            raise ParameterError(f"there is no column {text!r}; name the texts' column with text=")
        if id is not None and id not in frame.columns:
            raise ParameterError(f"there is no column {id!r}; name the ids' column with id=")
        kind = frame.schema[text].dataType
        if not isinstance(kind, (ArrayType, StringType)):
            raise ParameterError(f"column {text!r} is {kind.simpleString()}; texts are strings, or arrays with as_=\"set\"")
        shuffled = "Exchange" in frame._jdf.queryExecution().executedPlan().toString()
        if order is not None:
            frame = frame.orderBy(order)
        elif shuffled:
            warnings.warn(
                "the DataFrame comes out of a shuffle, which leaves rows in any order; name a "
                "column to sort by with order=",
                stacklevel=4,
            )
        self.columns = list(frame.columns)
        self.id = id if id is not None or positions or "id" not in self.columns else "id"
        self.position = "position" if "position" not in self.columns else "__position"
        self.frame = frame.withColumn(self.position, F.monotonically_increasing_id())
        self.held = shuffled or order is not None
        if self.held:
            # Computed again for other columns, rows could come in other partitions.
            self.frame = self.frame.persist(StorageLevel.MEMORY_AND_DISK)
            self.partitions = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
        else:
            self.partitions = max(frame.rdd.getNumPartitions(), 1)
        self.is_list = isinstance(kind, ArrayType)
        self.text: Column = F.col(f"`{text}`")
        if self.is_list:
            self.text = self.text.cast(ArrayType(StringType()))
        if skip:
            # One that is too large is as none.
            self.text = F.when(_size(self.text, self.is_list) <= most, self.text)
        #: The rows that have a text, or all where that is asked of them.
        self.rows = self.frame.where(self.text.isNotNull()) if skip else self.frame
        self.skip = skip
        self.starts: dict[int, int] = {}

    @property
    def session(self) -> Any:
        return self.frame.sparkSession

    def _with(self, **columns: Column) -> DataFrame:
        named = [column.alias(name) for name, column in columns.items()]
        return self.rows.select(F.col(self.position).alias("position"), *named)

    def keys(self, options: str, gatherers: int, frequent: Any) -> DataFrame:
        """The blocks of keys of all texts, each with its gatherer."""

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            keys, records = _rust.Keys(options, gatherers, frequent), 0
            for batch in batches:
                records += batch.num_rows
                keys.add(batch.filter(pa.compute.is_valid(batch["text"])) if skip else batch)
                yield from key_rows(keys)
            context = TaskContext.get()
            yield from key_rows(keys, (context.partitionId() if context else 0, records))

        skip = self.skip
        return _rust.on_executors(self.all_rows(), run, KEYS)

    def all_rows(self) -> DataFrame:
        """All rows, those without a text included: `position`, `text`."""
        return self.frame.select(F.col(self.position).alias("position"), self.text.alias("text"))

    def texts(self) -> DataFrame:
        """All texts: `position`, `text`."""
        return self._with(text=self.text)

    def release(self) -> None:
        """Gives back the rows, where they were held."""
        if self.held:
            self.frame.unpersist()

    packed: str | None = None

    def gathered(self) -> Any:
        """Texts come as they are."""
        return list

    def wanted(self, wanted: DataFrame, rows: int) -> DataFrame:
        """The texts that travel: `place`, `position`, `text`."""
        places = F.collect_set("other").alias("places")
        named = wanted.groupBy("position").agg(places)
        texts = self.at(named, rows)
        return texts.select(F.explode("places").alias("place"), "position", "text")

    def at(self, positions: DataFrame, rows: int | None = None) -> DataFrame:
        """The texts at some positions, with the other columns that came with these."""
        return self._with(text=self.text).join(broadcast(positions, rows), "position")

    def length(self) -> Column:
        """The length of the column `text`."""
        return F.size("text") if self.is_list else F.length("text")

    def ids(self) -> DataFrame:
        """All ids: `position`, `id`."""
        if self.id is not None:
            return self._with(id=F.col(f"`{self.id}`"))
        rows = [(partition, start) for partition, start in self.starts.items()]
        starts = self.session.createDataFrame(rows, "partition long, start long")
        places = self._with().withColumn("partition", F.shiftright("position", ROW_BITS))
        row = F.col("position").bitwiseAND((1 << ROW_BITS) - 1)
        places = places.join(F.broadcast(starts), "partition")
        return places.select("position", (F.col("start") + row).alias("id"))

    def values(self, field: str) -> DataFrame:
        """The values of a column: `position`, `value`."""
        if field not in self.columns:
            raise ParameterError(f"there is no column {field!r} to keep by")
        return self._with(value=F.col(f"`{field}`"))

    def without(self, removed: DataFrame, rows: int) -> DataFrame:
        """The rows with all their columns, but for those at the positions `removed`."""
        named = broadcast(removed.withColumnRenamed("position", self.position), rows)
        kept = self.rows.join(named, self.position, "left_anti")
        return kept.select(*[f"`{name}`" for name in self.columns])
