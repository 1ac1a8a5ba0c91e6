"""The texts of files that every executor can read itself: lines of JSON or text, and Parquet.

Spark's readers turn every record into a row of its own and back; the Rust code takes a file's bytes as they are. On
two cores, a pass over 1 GB of JSON lines takes Spark's reader alone longer than sketching takes with this one.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import shutil
import socket
import tempfile
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from nearkin import FileError, ParameterError
from nearkin.spark import _rust
from nearkin.spark._stages import encoded, to_partitions, unpacked
from nearkin.spark._texts import KEYS, ROW_BITS, key_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Bytes of a file that one task takes on at most: Spark's own number.
SPLIT = 128 << 20

ROWS = (1 << ROW_BITS) - 1

_TEXTS = pa.schema([("position", pa.int64()), ("text", pa.string())])


@dataclass(frozen=True)
class Split:
    """A part of a file: whole lines from a byte on, or a row group."""

    path: str
    kind: str
    start: int
    end: int

    @contextlib.contextmanager
    def lines(self, reading: dict[str, Any]) -> Iterator[tuple[dict[str, Any], tuple[int, int]]]:
        """How its lines are read, and which bytes they are: where the file is packed, of a copy that is not."""
        if not self.kind.endswith(".gz"):
            yield reading, (self.start, self.end)
            return
        with gzip.open(self.path, "rb") as packed, tempfile.NamedTemporaryFile() as plain:
            while some := packed.read(1 << 20):
                if plain.tell() + len(some) > ROWS:
                    raise FileError(f"{self.path}: has more than 8 GiB unpacked, which one task cannot read; cut it, or unpack it")
                plain.write(some)
            plain.flush()
            yield reading | {"path": plain.name, "name": self.path}, (_after_mark(plain.name), plain.tell())

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
    starts = _rust.starts(path, most)
    ends = [*starts[1:], size]
    starts[0] = _after_mark(path)
    return [Split(path, kind, start, end) for start, end in zip(starts, ends) if start < end]


def _after_mark(path: str) -> int:
    """Where a file starts, after the mark that some put before UTF-8."""
    with open(path, "rb") as file:
        return len(BOM_UTF8) if file.read(len(BOM_UTF8)) == BOM_UTF8 else 0


class FileTexts:
    """The records of files. A position is the split and the byte in it at which a line starts, or the row of a table: so
    whoever has it can read the record."""

    def __init__(
        self,
        session: Any,
        paths: list[str],
        text: str = "text",
        id: str | None = None,
        positions: bool = False,
        skip: bool = False,
        format: str | None = None,
        limits: dict[str, Any] | None = None,
    ) -> None:
        self.session = session
        total = sum(os.path.getsize(path) for path in paths)
        cores = session.sparkContext.defaultParallelism
        # As many parts for every core, and two at least.
        rounds = max(-(-total // (SPLIT * cores)), 2)
        most = max(-(-total // (rounds * cores)), 1 << 20)
        self.splits: list[Split] = []
        for path in paths:
            kind = kind_of(path, format)
            if kind is None:
                raise FileError(f"{path}: is no file of JSON lines, text or Parquet")
            self.splits += splits(os.path.abspath(path), kind, most)
        if not self.splits:
            # Of no record, as of nothing, there is one part.
            self.splits = [Split(os.devnull, "jsonl", 0, 0)]
        self.partitions = len(self.splits)
        self.starts: dict[int, int] = {}
        self.text = text
        self.limits = encoded(limits or {})
        self.id = None if positions else id or self._usual_id()
        self.reading = {"text": text, "id": self.id, "skip": skip, "options": self.limits}
        self._check_columns()

    def _usual_id(self) -> str | None:
        """The field `id`, where the first record has one."""
        first = self.splits[0]
        if first.kind == "parquet":
            return "id" if "id" in pq.ParquetFile(first.path).schema_arrow.names else None
        if first.kind.startswith("txt"):
            return None
        opened = gzip.open if first.kind.endswith(".gz") else open
        with opened(first.path, "rb") as file:
            file.seek(first.start)
            # A longer line is no record.
            while line := file.readline(_rust.item_bytes(self.limits)):
                with contextlib.suppress(ValueError):
                    record = json.loads(line)
                    if isinstance(record, dict):
                        return "id" if "id" in record else None
        return None

    def _check_columns(self) -> None:
        """Whether tables have the columns that are asked for, and ids that can be written."""
        for path in sorted({split.path for split in self.splits if split.kind == "parquet"}):
            schema = pq.ParquetFile(path).schema_arrow
            for name in (self.text, self.id):
                if name is not None and name not in schema.names:
                    raise FileError(f"{path}: there is no column {name!r}; it has {', '.join(schema.names)}")
            kind = schema.field(self.id).type if self.id is not None else pa.string()
            if not (_is_text(kind) or pa.types.is_integer(kind)):
                raise FileError(f"{path}: column {self.id!r} is {kind}; ids are texts or whole numbers")

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
        return _rust.on_executors(numbers, run, schema)

    def keys(self, options: str, gatherers: int, frequent: Any) -> DataFrame:
        """The blocks of keys of all texts, each with its gatherer."""
        text = self.text

        def task(number: int, split: Split, reading: dict[str, Any]) -> Iterator[pa.RecordBatch]:
            keys, records = _rust.Keys(options, gatherers, frequent), 0
            if split.kind == "parquet":
                for batch in _columns(number, split, text):
                    records += batch.num_rows
                    keys.add(batch)
            else:
                with split.lines(reading) as (how, part):
                    records = keys.add_lines(how, part, number << ROW_BITS)
            yield from key_rows(keys, (number, records))

        return self._each(task, KEYS)

    def texts(self) -> DataFrame:
        """All texts: `position`, `text`."""
        text = self.text

        def task(number: int, split: Split, reading: dict[str, Any]) -> Iterator[pa.RecordBatch]:
            if split.kind == "parquet":
                yield from _columns(number, split, text)
            else:
                with split.lines(reading) as (how, part):
                    lines = _rust.read_lines(how, part, number << ROW_BITS)
                yield from _cut(lines.select(["position", "text"]))

        return self._each(task, "position long, text string")

    def _by_split(self, frame: DataFrame) -> DataFrame:
        split = F.shiftright("position", ROW_BITS).alias("split")
        return to_partitions(frame.select(split, "*"), self.partitions, "split")

    @property
    def packed(self) -> str:
        """Lines are read by whoever compares them; tables and packed files once, where they are."""
        return "place" if all(split.kind in ("jsonl", "txt") for split in self.splits) else "partition"

    def wanted(self, wanted: DataFrame, rows: int) -> DataFrame:
        """The texts that meet, or where they are: `place`, `block`."""
        if self.packed == "place":
            return wanted.select(F.col("position").alias("place"), "block")
        read = self._reader()

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, rows in _grouped(batches):
                positions, places = unpacked(rows["block"].to_pylist())
                at = np.unique(positions)
                texts = read(number, at & ROWS)
                cuts = np.flatnonzero(np.diff(places)) + 1
                for here, to in zip(np.split(positions, cuts), np.split(places, cuts)):
                    some = texts.take(pa.array(np.searchsorted(at, here)))
                    block = pa.array([some.serialize().to_pybytes()], pa.binary())
                    yield pa.RecordBatch.from_arrays([pa.array([int(to[0])]), block], ["place", "block"])

        here = wanted.select(F.col("position").alias("split"), "position", "block")
        here = to_partitions(here, self.partitions, "split")
        return _rust.on_executors(here, run, "place long, block binary")

    def gathered(self) -> Any:
        """The texts that meet at a place."""
        read, packed = self._reader(), self.packed

        def texts(batches: Iterator[pa.RecordBatch]) -> list[pa.RecordBatch]:
            blocks = [block for batch in batches for block in batch["block"]]
            if packed == "partition":
                return [pa.ipc.read_record_batch(block.as_buffer(), _TEXTS) for block in blocks]
            positions = np.unique(unpacked([block.as_py() for block in blocks])[0])
            cuts = np.flatnonzero(np.diff(positions >> ROW_BITS)) + 1
            parts = [part for part in np.split(positions, cuts) if len(part)]
            return [read(int(part[0]) >> ROW_BITS, part & ROWS) for part in parts]

        return texts

    def _reader(self) -> Any:
        """Reads some rows of a split: `position`, `text`."""
        all_splits, reads, text = self.splits, [self.reads(split) for split in self.splits], self.text

        def read(number: int, rows: Any) -> pa.RecordBatch:
            split, start = all_splits[number], number << ROW_BITS
            if split.kind == "parquet":
                texts = split.column(text).cast(pa.string()).take(pa.array(rows))
                return pa.RecordBatch.from_arrays([pa.array(start + rows), texts], schema=_TEXTS)
            with split.lines(reads[number]) as (how, part):
                lines = _rust.read_lines(how, part, start, rows.tolist())
            return lines.select(["position", "text"])

        return read

    def at(self, positions: DataFrame, rows: int | None = None) -> DataFrame:
        """The texts at some positions, with the other columns that came with these."""
        read = self._reader()
        others = [name for name in positions.columns if name != "position"]

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, rows in _grouped(batches):
                at = rows["position"].to_numpy() & ROWS
                wanted, where = np.unique(at, return_inverse=True)
                texts = read(number, wanted).take(pa.array(where))
                columns = [texts["position"], texts["text"], *[rows[name] for name in others]]
                table = pa.table(columns, ["position", "text", *others]).combine_chunks()
                yield from table.to_batches(2_000)

        kinds = dict(positions.dtypes)
        schema = ", ".join(["position long", "text string", *[f"{name} {kinds[name]}" for name in others]])
        return _rust.on_executors(self._by_split(positions), run, schema)

    def length(self) -> Column:
        """The length of the column `text`."""
        return F.length("text")

    def ids(self) -> DataFrame:
        """All ids, as JSON: `position`, `id`."""
        starts, name = dict(self.starts), self.id

        def task(number: int, split: Split, reading: dict[str, Any]) -> Iterator[pa.RecordBatch]:
            if name is not None and split.kind == "parquet":
                ids = split.column(name)
                if ids.null_count:
                    raise FileError(f"{split.path}: a value of column {name!r} is null; every record needs an id")
                quoted = _is_text(ids.type)
                texts = [json.dumps(id, ensure_ascii=False) if quoted else str(id) for id in ids.to_pylist()]
                yield pa.RecordBatch.from_arrays([_positions(number, len(ids)), pa.array(texts)], ["position", "id"])
                return
            if split.kind == "parquet":
                rows = len(split.column(reading["text"]))
                columns = [_positions(number, rows), pa.array(range(rows), pa.int64())]
                lines = pa.RecordBatch.from_arrays(columns, ["position", "record"])
            else:
                with split.lines(reading) as (how, part):
                    lines = _rust.read_lines(how, part, number << ROW_BITS)
            if name is not None:
                yield lines.select(["position", "id"])
                return
            ids = pa.compute.add(lines["record"], starts.get(number, 0)).cast(pa.string())
            yield pa.RecordBatch.from_arrays([lines["position"], ids], ["position", "id"])

        return self._each(task, "position long, id string")

    def release(self) -> None:
        """Files are not held."""

    def values(self, field: str) -> DataFrame:
        """Not here: the values of a field of JSON have no one type."""
        raise ParameterError(f"keep by {field!r} needs a DataFrame; read the files with Spark")

    def without(self, removed: DataFrame, rows: int) -> DataFrame:
        """Not here: records are copied as they came by `copy`."""
        raise ParameterError("the records of files are copied, not read")

    def copy(self, removed: DataFrame | Any, target: str) -> int:
        """Writes the records but for those at the positions `removed` as they came, a file a split; the bytes written."""
        all_splits, reads = self.splits, [self.reads(split) for split in self.splits]
        # Executors are elsewhere.
        target = os.path.abspath(target)
        fresh = _made_anew(os.path.join(target, "_temporary"))

        def write(number: int, without: Any) -> pa.RecordBatch:
            split, at = all_splits[number], (without & ROWS).tolist()
            kind = split.kind.removesuffix(".gz")
            path = os.path.join(fresh, f"part-{number:05}.{kind}")
            # Two tries of one task write the same bytes; the name appears when they are complete.
            own = f"{path}.{socket.gethostname()}.{os.getpid()}"
            if kind == "parquet":
                _copy_group(split, at, own)
            else:
                with split.lines(reads[number]) as (how, part):
                    _rust.copy_lines(how, part, at, own)
            size = os.path.getsize(own)
            os.replace(own, path)
            return pa.RecordBatch.from_pydict({"bytes": [size]})

        if isinstance(removed, np.ndarray):
            gone = self.session.sparkContext.broadcast(np.sort(removed))

            def task(number: int, split: Split, reading: dict[str, Any]) -> Iterator[pa.RecordBatch]:
                start, end = np.searchsorted(gone.value, [number << ROW_BITS, (number + 1) << ROW_BITS])
                yield write(number, gone.value[start:end])

            written = self._each(task, "bytes long")
        else:
            every = self.session.range(0, self.partitions, 1, 1)
            every = every.select(F.shiftleft("id", ROW_BITS).alias("position"), F.lit(False).alias("gone"))
            rows = removed.select("position", F.lit(True).alias("gone")).union(every)

            def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
                for number, rows in _grouped(batches):
                    yield write(number, rows.filter(rows["gone"])["position"].to_numpy())

            written = _rust.on_executors(self._by_split(rows), run, "bytes long")
        total: int = sum(size for (size,) in written.collect())
        if isinstance(removed, np.ndarray):
            gone.destroy()
        _take_the_place(fresh, target)
        return total


def _is_text(kind: pa.DataType) -> bool:
    """Whether a column has texts."""
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _made_anew(folder: str) -> str:
    """An empty folder."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
    except OSError as error:
        raise FileError(f"{folder}: cannot be made: {error.strerror}; check the folder and the disk") from error
    return folder


def _take_the_place(fresh: str, target: str) -> None:
    """Files that are complete in place of those that an earlier job left."""
    for name in os.listdir(target):
        if name.startswith("part-") or name == "_SUCCESS":
            os.remove(os.path.join(target, name))
    for name in sorted(os.listdir(fresh)):
        # A try that was given up leaves its own name behind.
        if re.fullmatch(r"part-\d+\.\w+", name):
            os.replace(os.path.join(fresh, name), os.path.join(target, name))
    shutil.rmtree(fresh, ignore_errors=True)
    open(os.path.join(target, "_SUCCESS"), "wb").close()


def _cut(batch: pa.RecordBatch, rows: int = 2_000) -> Iterator[pa.RecordBatch]:
    """A batch in smaller ones."""
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _positions(number: int, rows: int) -> pa.Array:
    start = number << ROW_BITS
    return pa.array(range(start, start + rows), pa.int64())


def _columns(number: int, split: Split, text: str) -> Iterator[pa.RecordBatch]:
    """Positions and texts of a row group."""
    texts = split.column(text).cast(pa.string())
    columns = [_positions(number, len(texts)), texts]
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
