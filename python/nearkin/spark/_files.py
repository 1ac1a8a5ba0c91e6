"""The texts of files that every executor can read itself: lines of JSON or text, and Parquet.

Spark's readers turn every record into a row of its own and back; the Rust code takes a file's bytes as they are. On
two cores, a pass over 1 GB of JSON lines takes Spark's reader alone longer than sketching takes with this one.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from nearkin import FileError, ParameterError
from nearkin.spark import _rust
from nearkin.spark._stages import to_partitions
from nearkin.spark._texts import KEYS, ROW_BITS, key_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Bytes of a file that one task takes on at most.
SPLIT = 64 << 20

_TEXTS = pa.schema([("position", pa.int64()), ("text", pa.string())])


@dataclass(frozen=True)
class Split:
    """A part of a file: whole lines from a byte on, or a row group."""

    path: str
    kind: str
    start: int
    end: int

    def read(self) -> bytes:
        """The bytes of lines."""
        if self.kind.endswith(".gz"):
            with gzip.open(self.path, "rb") as file:
                return file.read()
        with open(self.path, "rb") as file:
            file.seek(self.start)
            return file.read(self.end - self.start)

    def column(self, name: str) -> pa.Array:
        """A column of a row group."""
        column = pq.ParquetFile(self.path).read_row_group(self.start, [name], use_threads=False)
        return pa.chunked_array(column.column(0).chunks, column.column(0).type).combine_chunks()


def kind_of(path: str, format: str | None = None) -> str | None:
    """How executors read a file, if they can."""
    kinds = {"jsonl": "jsonl", "ndjson": "jsonl", "txt": "txt", "parquet": "parquet"}
    stem, packed = (path[:-3], ".gz") if path.endswith(".gz") else (path, "")
    kind = kinds.get(format or stem.rsplit(".", 1)[-1])
    if kind is None or (kind == "parquet" and packed) or not os.path.isfile(path):
        return None
    return kind + packed


def splits(path: str, kind: str, most: int) -> list[Split]:
    """A file's parts."""
    if kind == "parquet":
        groups = pq.ParquetFile(path).num_row_groups
        return [Split(path, kind, group, group + 1) for group in range(groups)]
    size = os.path.getsize(path)
    if kind.endswith(".gz"):
        return [Split(path, kind, 0, size)]
    starts = [0]
    with open(path, "rb") as file:
        while starts[-1] + most < size:
            file.seek(starts[-1] + most)
            file.readline()
            starts.append(file.tell())
    ends = [*starts[1:], size]
    return [Split(path, kind, start, end) for start, end in zip(starts, ends) if start < end]


class FileTexts:
    """The records of files, numbered by split and row."""

    def __init__(
        self,
        session: Any,
        paths: list[str],
        text: str = "text",
        id: str | None = None,
        positions: bool = False,
        skip: bool = False,
        elements: bool = False,
        format: str | None = None,
    ) -> None:
        self.session = session
        total = sum(os.path.getsize(path) for path in paths)
        cores = session.sparkContext.defaultParallelism
        most = max(min(SPLIT, -(-total // (2 * cores))), 1 << 20)
        self.splits: list[Split] = []
        for path in paths:
            kind = kind_of(path, format)
            if kind is None:
                raise FileError(f"{path}: is no file of JSON lines, text or Parquet")
            self.splits += splits(os.path.abspath(path), kind, most)
        if not self.splits:
            self.splits = [Split(os.path.abspath(paths[0]), "jsonl", 0, 0)]
        self.partitions = len(self.splits)
        self.starts: dict[int, int] = {}
        self.text = text
        self.id = None if positions else id or self._usual_id()
        self.reading = {"text": text, "id": self.id, "skip": skip, "elements": elements}

    def _usual_id(self) -> str | None:
        """The field `id`, where the first record has one."""
        first = self.splits[0]
        if first.kind == "parquet":
            return "id" if "id" in pq.ParquetFile(first.path).schema_arrow.names else None
        if first.kind.startswith("txt"):
            return None
        line = next((line for line in first.read()[: 1 << 22].splitlines() if line.strip()), b"{}")
        import json

        record = json.loads(line)
        return "id" if isinstance(record, dict) and "id" in record else None

    def reads(self, split: Split) -> dict[str, Any]:
        """How the Rust code reads lines of a split."""
        return self.reading | {"path": split.path, "format": split.kind.removesuffix(".gz")}

    def _each(self, task: Any, schema: str) -> DataFrame:
        """A task for every split, in partitions of their own."""
        all_splits, reads = self.splits, [self.reads(split) for split in self.splits]

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from task(number, all_splits[number], reads[number])

        numbers: DataFrame = self.session.range(0, self.partitions, 1, self.partitions)
        return numbers.mapInArrow(run, schema)

    def keys(self, flags: list[str], gatherers: int, frequent: Any) -> DataFrame:
        """The blocks of keys of all texts, each with its gatherer."""
        text = self.text

        def task(number: int, split: Split, reading: dict[str, Any]) -> Iterator[pa.RecordBatch]:
            keys = _rust.Keys(flags, gatherers, frequent)
            if split.kind == "parquet":
                for batch in _columns(number, split, text):
                    keys.add(batch)
            else:
                keys.add_lines(split.read(), number << ROW_BITS, reading)
            yield from key_rows(keys, True, number)

        return self._each(task, KEYS)

    def texts(self) -> DataFrame:
        """All texts: `position`, `text`."""
        text = self.text

        def task(number: int, split: Split, reading: dict[str, Any]) -> Iterator[pa.RecordBatch]:
            if split.kind == "parquet":
                yield from _columns(number, split, text)
            else:
                lines = _rust.read_lines(split.read(), number << ROW_BITS, reading)
                yield lines.select(["position", "text"])

        return self._each(task, "position long, text string")

    def _by_split(self, frame: DataFrame) -> DataFrame:
        split = F.shiftright("position", ROW_BITS).alias("split")
        return to_partitions(frame.select(split, "*"), self.partitions, "split")

    packed = True

    def wanted(self, wanted: DataFrame, rows: int) -> DataFrame:
        """The texts that travel, in blocks: `place`, `block`."""
        read = self._reader()

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, rows in _grouped(batches):
                pieces = [np.frombuffer(block, "<u4").reshape(2, -1) for block in rows["block"].to_pylist()]
                row, place = np.concatenate(pieces, axis=1).astype(np.int64)
                both = np.unique(place << 32 | row)
                place, row = both >> 32, both & 0xFFFF_FFFF
                wanted = np.unique(row)
                texts = read(number, wanted)
                cuts = np.flatnonzero(np.diff(place)) + 1
                for here, to in zip(np.split(row, cuts), np.split(place, cuts)):
                    some = texts.take(pa.array(np.searchsorted(wanted, here)))
                    block = pa.array([some.serialize().to_pybytes()], pa.binary())
                    yield pa.RecordBatch.from_arrays([pa.array([int(to[0])]), block], ["place", "block"])

        return self._by_split(wanted.select("position", "block")).mapInArrow(run, "place long, block binary")

    def _reader(self) -> Any:
        """Reads some rows of a split: `position`, `text`."""
        all_splits, reads, text = self.splits, [self.reads(split) for split in self.splits], self.text

        def read(number: int, rows: Any) -> pa.RecordBatch:
            split, start = all_splits[number], number << ROW_BITS
            if split.kind == "parquet":
                texts = split.column(text).take(pa.array(rows))
                return pa.RecordBatch.from_arrays([pa.array(start + rows), texts], schema=_TEXTS)
            lines = _rust.read_lines(split.read(), start, reads[number], rows.tolist())
            return lines.select(["position", "text"])

        return read

    def at(self, positions: DataFrame, rows: int | None = None) -> DataFrame:
        """The texts at some positions, with the other columns that came with these."""
        read = self._reader()
        others = [name for name in positions.columns if name != "position"]

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, rows in _grouped(batches):
                at = rows["position"].to_numpy() & ((1 << ROW_BITS) - 1)
                wanted, where = np.unique(at, return_inverse=True)
                texts = read(number, wanted).take(pa.array(where))
                columns = [texts["position"], texts["text"], *[rows[name] for name in others]]
                table = pa.table(columns, ["position", "text", *others]).combine_chunks()
                yield from table.to_batches(2_000)

        kinds = dict(positions.dtypes)
        schema = ", ".join(["position long", "text string", *[f"{name} {kinds[name]}" for name in others]])
        return self._by_split(positions).mapInArrow(run, schema)

    def length(self) -> Column:
        """The length of the column `text`."""
        return F.length("text")

    def ids(self) -> DataFrame:
        """All ids, as JSON: `position`, `id`."""
        starts, name = dict(self.starts), self.id

        def task(number: int, split: Split, reading: dict[str, Any]) -> Iterator[pa.RecordBatch]:
            if name is not None and split.kind == "parquet":
                ids = split.column(name)
                quoted = pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)
                import json

                texts = [json.dumps(id, ensure_ascii=False) if quoted else str(id) for id in ids.to_pylist()]
                yield pa.RecordBatch.from_arrays([_positions(number, len(ids)), pa.array(texts)], ["position", "id"])
                return
            lines = (
                pa.RecordBatch.from_arrays([_positions(number, split.column(reading["text"]))], ["position"])
                if split.kind == "parquet"
                else _rust.read_lines(split.read(), number << ROW_BITS, reading)
            )
            if name is not None:
                yield lines.select(["position", "id"])
                return
            first = starts.get(number, 0) - (number << ROW_BITS)
            ids = pa.compute.add(lines["position"], first).cast(pa.string())
            yield pa.RecordBatch.from_arrays([lines["position"], ids], ["position", "id"])

        return self._each(task, "position long, id string")

    def values(self, field: str) -> DataFrame:
        """Not here: the values of a field of JSON have no one type."""
        raise ParameterError(f"keep by {field!r} needs a DataFrame; read the files with Spark")

    def without(self, removed: DataFrame, rows: int) -> DataFrame:
        """Not here: records are copied as they came by `copy`."""
        raise ParameterError("the records of files are copied, not read")

    def copy(self, removed: DataFrame, target: str) -> DataFrame:
        """Writes the records but for those `removed` as they came, a file a split: `split`, `bytes`."""
        all_splits, reads = self.splits, [self.reads(split) for split in self.splits]
        os.makedirs(target, exist_ok=True)
        every = self.session.range(0, self.partitions, 1, 1)
        every = every.select(F.shiftleft("id", ROW_BITS).alias("position"), F.lit(False).alias("gone"))
        rows = removed.select("position", F.lit(True).alias("gone")).union(every)

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, rows in _grouped(batches):
                split = all_splits[number]
                gone = rows.filter(rows["gone"])["position"].to_pylist()
                at = [position & ((1 << ROW_BITS) - 1) for position in gone]
                kind = split.kind.removesuffix(".gz")
                path = os.path.join(target, f"part-{number:05}.{kind}")
                # Two tries of one task write the same bytes; the name appears when they are complete.
                fresh = f"{path}.{os.getpid()}"
                if kind == "parquet":
                    _copy_group(split, at, fresh)
                else:
                    with open(fresh, "wb") as file:
                        file.write(_rust.copy_lines(split.read(), reads[number], at))
                size = os.path.getsize(fresh)
                os.replace(fresh, path)
                yield pa.RecordBatch.from_pydict({"split": [number], "bytes": [size]})

        return self._by_split(rows).mapInArrow(run, "split long, bytes long")


def _positions(number: int, rows: Any) -> pa.Array:
    count = rows if isinstance(rows, int) else len(rows)
    start = number << ROW_BITS
    return pa.array(range(start, start + count), pa.int64())


def _columns(number: int, split: Split, text: str) -> Iterator[pa.RecordBatch]:
    """Positions and texts of a row group."""
    texts = split.column(text)
    columns = [_positions(number, texts), texts]
    yield from pa.table(columns, ["position", "text"]).to_batches(4_000)


def _copy_group(split: Split, without: list[int], target: str) -> None:
    file = pq.ParquetFile(split.path)
    table = file.read_row_group(split.start, use_threads=False)
    gone = pa.array(without, pa.int64())
    rows = pa.array(range(table.num_rows), pa.int64())
    table = table.filter(pa.compute.invert(pa.compute.is_in(rows, gone)))
    pq.write_table(table, target, compression="snappy")


def _grouped(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each split in a partition, in the order of their positions."""
    given = list(batches)
    if not given:
        return
    table = pa.Table.from_batches(given).sort_by("position")
    for number in pa.compute.unique(table["split"]).to_pylist():
        yield number, table.filter(pa.compute.equal(table["split"], number))
