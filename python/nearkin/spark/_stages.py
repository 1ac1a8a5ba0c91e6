"""The stages between texts and pairs: keys, meetings, matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from nearkin import _nearkin
from nearkin._options import DedupOptions, as_json
from nearkin.spark import _rust
from nearkin.spark._texts import ROW_BITS, broadcast

if TYPE_CHECKING:
    from pyspark.sql import Column

#: Bytes of text up to which a look at all of it decides how pairs are found, as in the command.
SMALL = 128 << 20
#: Texts of one bucket that meet at one place.
HEAVY = 200_000
#: Texts drawn to see which elements are frequent.
DRAWN = 2_000

#: What a row of what gatherers say is about: texts that travel, a copy, or a count.
WANTED, COPY, RECORDS, TEXTS, EMPTY, BYTES, BUCKETS, COPIES, TRAVELS = range(9)
_MET = "kind int, position long, other long, block binary"
_PAIRS = "a long, b long, similarity double"


class Texts(Protocol):
    """A collection of texts on many machines."""

    partitions: int
    starts: dict[int, int]

    @property
    def packed(self) -> str | None:
        """Whether who travels where comes packed: a row a place, or a row a partition."""

    @property
    def session(self) -> Any: ...
    def keys(self, options: str, gatherers: int, frequent: Any) -> DataFrame: ...
    def texts(self) -> DataFrame: ...
    def wanted(self, wanted: DataFrame, rows: int) -> DataFrame: ...
    def gathered(self) -> Callable[[Iterator[pa.RecordBatch]], list[pa.RecordBatch]]: ...
    def at(self, positions: DataFrame, rows: int | None = None) -> DataFrame: ...
    def length(self) -> Column: ...
    def ids(self) -> DataFrame: ...
    def values(self, field: str) -> DataFrame: ...
    def without(self, removed: DataFrame, rows: int) -> DataFrame: ...
    def release(self) -> None: ...


def value_name(options: dict[str, Any]) -> str:
    """What the value of a pair is called."""
    return "similarity" if options.get("within") is None else "distance"


def encoded(options: dict[str, Any]) -> str:
    """Options as executors get them."""
    return as_json(options, DedupOptions)


def to_partitions(frame: DataFrame, count: int, number: str) -> DataFrame:
    """Rows in the partition of their number."""
    if hasattr(frame, "repartitionById"):
        return frame.repartitionById(count, F.col(number).cast("int"))
    return frame.repartition(count, number)


def _kind(kind: int, position: Any, other: Any, block: Any = None) -> pa.RecordBatch:
    kinds = pa.repeat(pa.scalar(kind, pa.int32()), len(position))
    block = pa.nulls(len(position), pa.binary()) if block is None else block
    names = ["kind", "position", "other", "block"]
    return pa.RecordBatch.from_arrays([kinds, position, other, block], names)


def _packed(wanted: pa.RecordBatch, by: str) -> pa.RecordBatch:
    """Who travels where, a row a place or a partition: positions, then places, as numbers of 64 bits."""
    positions, places = wanted["position"].to_numpy(), wanted["place"].to_numpy()
    numbers = places if by == "place" else positions >> ROW_BITS
    order = np.argsort(numbers, kind="stable")
    cuts = np.flatnonzero(np.diff(numbers[order])) + 1
    parts = [part for part in np.split(order, cuts) if len(part)]
    blocks = [np.stack([positions[part], places[part]]).astype("<i8").tobytes() for part in parts]
    return _kind(
        WANTED,
        pa.array(np.unique(numbers), pa.int64()),
        pa.array([len(part) for part in parts], pa.int64()),
        pa.array(blocks, pa.binary()),
    )


def unpacked(blocks: list[bytes]) -> tuple[Any, Any]:
    """Positions and places of such rows, each once, by place."""
    pieces = [np.frombuffer(block, "<i8").reshape(2, -1) for block in blocks]
    positions, places = np.concatenate([np.zeros((2, 0), np.int64), *pieces], axis=1)
    order = np.lexsort((positions, places))
    positions, places = positions[order], places[order]
    fresh = np.append(True, (np.diff(positions) != 0) | (np.diff(places) != 0))[: len(positions)]
    return positions[fresh], places[fresh]


def _meet(places: int, heavy: int, packed: str | None) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What gathered blocks say of who has to meet."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        blocks = []
        for batch in batches:
            seen = batch.filter(pa.compute.is_valid(batch["partition"]))
            for kind, name in ((RECORDS, "records"), (TEXTS, "texts"), (EMPTY, "empty"), (BYTES, "bytes")):
                yield _kind(kind, seen["partition"], seen[name])
            blocks.append(batch.select(["block"]))
        copies, wanted, buckets = _rust.meet(blocks, places, heavy)
        yield _kind(COPY, copies["position"], copies["first"])
        yield _packed(wanted, packed) if packed else _kind(WANTED, wanted["position"], wanted["place"])
        for kind, count in ((BUCKETS, buckets), (COPIES, copies.num_rows), (TRAVELS, wanted.num_rows)):
            yield _kind(kind, pa.array([0], pa.int64()), pa.array([count], pa.int64()))

    return run


class Found:
    """Who has to meet, and the texts that do."""

    def __init__(self, texts: Texts, options: dict[str, Any], heavy: int = HEAVY) -> None:
        self.texts, self.heavy = texts, heavy
        self.held: list[DataFrame] = []
        self.places = texts.partitions
        self.given = options
        exact = _rust.misses_none(self.options)
        self._gather(exact)
        decided = exact or any(options.get(name) for name in ("approximate", "bands"))
        small = 0 < self.seen["items"] and self.seen["bytes"] <= SMALL
        if not decided and small and self._is_exact_cheaper():
            # What is left out here says how much may be missed.
            given = {name: options[name] for name in options if name != "recall"}
            self.given = given | {"exact": True}
            self.release()
            self._gather(True)
        elif not exact:
            # Where texts meet there are few of them, which must not decide again.
            self.given = options | {"approximate": True}

    @property
    def options(self) -> str:
        """The options as executors get them."""
        return encoded(self.given)

    def hold(self, frame: DataFrame) -> DataFrame:
        """A DataFrame that is not computed twice."""
        self.held.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return self.held[-1]

    def cut(self, frame: DataFrame) -> DataFrame:
        """The same, and its plan ends there: of plans that use each other twice, each would be twice as long as the one
        before. What an executor loses is computed again from what came before, or read from the checkpoint.
        """
        session = frame.sparkSession
        if session.sparkContext.getCheckpointDir() is not None:
            return frame.checkpoint(eager=True)
        held = self.hold(frame)
        java = session._jsparkSession
        return DataFrame(java.createDataFrame(held._jdf.toJavaRDD(), held._jdf.schema()), session)

    def release(self) -> None:
        """Gives back what is held."""
        for frame in self.held:
            frame.unpersist()
        self.held.clear()

    def _gather(self, exact: bool) -> None:
        frequent = self._frequent() if exact else None
        keys = self.texts.keys(self.options, self.places, frequent)
        keys = to_partitions(keys, self.places, "gatherer")
        meet = _meet(self.places, self.heavy, self.texts.packed)
        self.met = self.hold(_rust.on_executors(keys, meet, _MET))
        counts = self.met.where(~F.col("kind").isin(WANTED, COPY)).select("kind", "position", "other").collect()

        def total(kind: int) -> int:
            return sum(count for of, _, count in counts if of == kind)

        #: How many texts are copies, and how many travel, each counted wherever it goes.
        self.copies, self.travels = total(COPIES), total(TRAVELS)
        self.seen = {
            "items": total(TEXTS),
            "skipped": total(RECORDS) - total(TEXTS),
            "empty": total(EMPTY),
            "bytes": total(BYTES),
            "identical": self.copies,
            "buckets": total(BUCKETS),
        }
        start = 0
        for partition, rows in sorted((at, count) for kind, at, count in counts if kind == RECORDS):
            self.texts.starts[partition] = start
            start += rows

    def _frequent(self) -> pa.RecordBatch:
        """Elements that several of some texts have: whichever are drawn, the same pairs are found."""
        drawn = self.texts.texts().limit(DRAWN).toArrow().to_batches()
        return _rust.frequent(drawn, self.options)

    def _is_exact_cheaper(self) -> bool:
        """What the command decides for as little text as this."""
        job = "dedup" if "chains" in self.given else "pairs"
        options = encoded(self.given | {"text": "text", "positions": True})

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            texts = pa.Table.from_batches(batches).sort_by("position").select(["text"])
            exact = _nearkin.is_exact(job, options, [("texts", texts)])
            yield pa.RecordBatch.from_pydict({"exact": [exact]})

        answer = _rust.on_executors(self.texts.texts().coalesce(1), run, "exact boolean").collect()
        return bool(answer[0][0])

    def copies_of(self) -> DataFrame:
        """The copies: `position`, `first`."""
        copies = self.met.where(F.col("kind") == COPY)
        return copies.select("position", F.col("other").alias("first"))

    def matches(self, every_pair: bool) -> DataFrame:
        """What is found where texts meet: every pair, or edges that join the same texts (`a`, `b`, `similarity`)."""
        options, gathered = self.options, self.texts.gathered()

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            texts = gathered(batches)
            yield _rust.pairs(texts, options) if every_pair else _rust.clusters(texts, options)

        wanted = self.met.where(F.col("kind") == WANTED)
        here = to_partitions(self.texts.wanted(wanted, self.travels), self.places, "place")
        return _rust.on_executors(here.drop("place"), run, _PAIRS)


def among_copies(pairs: DataFrame, copies: DataFrame, count: int) -> DataFrame:
    """Pairs of all texts from those of first ones: a text's copies are as similar to others as it is."""
    if count == 0:
        return pairs
    copies = broadcast(copies, count)
    one = copies.select(F.col("position").alias("a"), F.col("first").alias("first_a"))
    two = copies.select(F.col("position").alias("b"), F.col("first").alias("first_b"))
    known = pairs.join(one, "a", "left").join(two, "b", "left")
    # A text and its second copy travelled together, to learn how similar copies are.
    own = known.where("first_a is null and first_b = a").select("a", "similarity")
    firsts = known.where("first_a is null and first_b is null").select("a", "b", "similarity")
    with_first = copies.select("first").distinct().select("first", F.col("first").alias("position"))
    members = copies.select("first", "position").union(with_first)

    def spread(frame: DataFrame, name: str) -> DataFrame:
        of = members.select(F.col("first").alias(name), F.col("position").alias("member"))
        others = [column for column in frame.columns if column != name]
        joined = frame.join(of, name, "left")
        return joined.select(F.coalesce("member", name).alias(name), *others)

    across = spread(spread(firsts, "a"), "b")
    across = across.select(
        F.least("a", "b").alias("a"), F.greatest("a", "b").alias("b"), "similarity"
    )
    within = own.select(F.col("a"), F.col("a").alias("b"), "similarity")
    within = spread(spread(within, "a"), "b").where("a < b").select("a", "b", "similarity")
    return across.union(within)
