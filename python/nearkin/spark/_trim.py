"""Documents of a DataFrame without the pieces that stand elsewhere too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import StorageLevel, TaskContext
from pyspark.sql import functions as F

from nearkin.spark import _rust
from nearkin.spark._stages import to_partitions
from nearkin.spark._texts import FrameTexts, broadcast

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: What a task that makes pieces has seen, one row each.
_SEEN = ("partition", "records", "documents", "bytes", "words", "pieces", "blank")
_MADE = ", ".join(["gatherer int", "block binary", *[f"{name} long" for name in _SEEN]])
_BLOCKS = pa.schema([("gatherer", pa.int32()), ("block", pa.binary()), *[(name, pa.int64()) for name in _SEEN]])
#: A piece that is removed.
_PIECE = (
    *("position", "offset", "length", "words", "document_words", "document_bytes"),
    *("kept_position", "kept_offset"),
)
_GATHERED = ", ".join(f"{name} long" for name in (*_PIECE, *(f"seen_{name}" for name in _SEEN)))


@dataclass(repr=False)
class Trimmed:
    """A DataFrame without the pieces that are repeated."""

    texts: FrameTexts
    #: The text's column.
    text: str
    #: Pieces that are removed, and rows of what tasks have seen.
    gathered: DataFrame
    #: A document of which fewer words are left is dropped.
    min_left: int
    #: Counts, as of `nk.trim`.
    stats: dict[str, Any] = field(default_factory=dict)

    def release(self) -> None:
        """Gives back what executors hold; `kept` and `removed` are computed anew if they are asked for again."""
        self.gathered.unpersist()
        self.texts.release()

    def __repr__(self) -> str:
        told = self.stats
        return f"<Trimmed: {told['documents']:,} documents, {told['repeated']:,} pieces removed from {told['cut']:,}>"

    @property
    def pieces(self) -> DataFrame:
        """The pieces that are removed: `position`, `offset`, `length`, `words`, what their document has, and where the kept
        one stands."""
        return self.gathered.where("position is not null").select(*_PIECE)

    @cached_property
    def _cuts(self) -> DataFrame:
        """The documents that lose something: `position`, and `cuts`: their pieces in order, what is between these, and
        whether the document is dropped."""
        piece = F.struct("offset", "length", "kept_position", "kept_offset")
        pieces = F.sort_array(F.collect_list(piece)).alias("pieces")
        left = F.max("document_words") - F.sum("words")
        size = F.max("document_bytes").alias("size")
        grouped = self.pieces.groupBy("position").agg(pieces, size, (left < self.min_left).alias("dropped"))
        starts = F.transform("pieces", lambda it: it["offset"])
        ends = F.transform("pieces", lambda it: it["offset"] + it["length"])
        gaps = F.arrays_zip(
            F.concat(F.array(F.lit(0).cast("long")), ends).alias("offset"),
            F.concat(starts, F.array("size")).alias("end"),
        )
        gaps = F.filter(gaps, lambda gap: gap["end"] > gap["offset"])
        gaps = F.transform(
            gaps, lambda gap: F.struct(gap["offset"], (gap["end"] - gap["offset"]).alias("length"))
        )
        cuts = F.struct("pieces", gaps.alias("gaps"), "dropped").alias("cuts")
        return grouped.select("position", cuts)

    @cached_property
    def kept(self) -> DataFrame:
        """The documents with all their columns, the text without its repeated pieces."""
        texts, columns = self.texts, self.texts.columns
        name = _unused("cuts", columns)
        cuts = self._cuts.select(F.col("position").alias(texts.position), F.col("cuts").alias(name))
        rows = texts.rows.join(broadcast(cuts, self.stats["repeated"]), texts.position, "left")
        rows = rows.where(F.col(name).isNull() | ~F.col(name)["dropped"])

        def left(text: Column) -> Column:
            return F.array_join(F.transform(F.col(name)["gaps"], lambda gap: _part(text, gap)), "")

        whole = F.col(f"`{self.text}`")
        text = F.when(F.col(name).isNull(), whole).otherwise(_of_bytes(whole, left))
        return rows.select(*[text.alias(it) if it == self.text else F.col(f"`{it}`") for it in columns])

    @cached_property
    def removed(self) -> DataFrame:
        """One row per stretch that was removed: `id` of its document, `offset` and `length` in the original text, in bytes of
        UTF-8, `reason` (`repeated`, or `dropped` of a document of which too little was left), where the kept one stands
        (`kept_id`, `kept_offset`), and the `text`."""
        rows = self.texts.at(self._cuts, self.stats["repeated"])

        def stretches(text: Column) -> Column:
            def stretch(it: Column, reason: str, *kept: Column) -> Column:
                place = [value.alias(name) for value, name in zip(kept, ("kept_position", "kept_offset"))]
                told = F.lit(reason).alias("reason")
                return F.struct(it["offset"], it["length"], told, *place, _part(text, it).alias("text"))

            none = F.lit(None).cast("long")
            cuts = F.col("cuts")
            repeated = F.transform(
                cuts["pieces"], lambda it: stretch(it, "repeated", it["kept_position"], it["kept_offset"])
            )
            dropped = F.transform(cuts["gaps"], lambda it: stretch(it, "dropped", none, none))
            return F.concat(repeated, F.when(cuts["dropped"], dropped).otherwise(F.slice(dropped, 1, 0)))

        rows = rows.select("position", F.explode(_of_bytes(F.col("text"), stretches)).alias("it"))
        rows = rows.select("position", "it.*")
        ids = self.texts.ids()
        kept = ids.select(F.col("position").alias("kept_position"), F.col("id").alias("kept_id"))
        rows = rows.join(ids, "position").join(kept, "kept_position", "left")
        return rows.select("id", "offset", "length", "reason", "kept_id", "kept_offset", "text")


def _unused(name: str, columns: list[str]) -> str:
    """A name that no column has."""
    while name in columns:
        name = f"_{name}"
    return name


def _of_bytes(text: Column, make: Any) -> Column:
    """What is made of the bytes of a text. As the variable of a function, these are computed once."""
    return F.transform(F.array(text.cast("binary")), make)[0]


def _part(text: Column, place: Column) -> Column:
    """Some bytes of a text, as text."""
    return text.substr((place["offset"] + 1).cast("int"), place["length"].cast("int")).cast("string")


def trimmed(texts: FrameTexts, text: str, options: str, asked: dict[str, Any]) -> Trimmed:
    """Finds the pieces that are removed, and counts them."""
    pieces, gatherers = json.dumps(asked), texts.partitions
    made = _rust.on_executors(texts.all_rows(), _make(options, pieces, gatherers, texts.skip), _MADE)
    made = to_partitions(made, gatherers, "gatherer")
    gathered = _rust.on_executors(made, _gather(options, pieces), _GATHERED)
    gathered = gathered.persist(StorageLevel.MEMORY_AND_DISK)
    seen = gathered.where("position is null").select([f"seen_{name}" for name in _SEEN]).collect()
    start, counts = 0, dict.fromkeys(_SEEN, 0)
    for row in sorted(seen):
        texts.starts[row[0]] = start
        start += row[1]
        counts = {name: counts[name] + value for name, value in zip(_SEEN, row)}
    result = Trimmed(texts, text, gathered, int(asked.get("min_left", 0)))
    result.stats = _stats(result, counts, asked)
    return result


def _stats(result: Trimmed, counts: dict[str, int], asked: dict[str, Any]) -> dict[str, Any]:
    """The counts that `nk.trim` has, too."""
    own = result.pieces.groupBy("position").agg(
        F.count("*").alias("pieces"),
        F.sum("words").alias("words"),
        F.sum("length").alias("bytes"),
        F.max("document_words").alias("all_words"),
        F.max("document_bytes").alias("all_bytes"),
    )
    left = F.col("all_words") - F.col("words")
    dropped = left < result.min_left
    total = own.select(
        "pieces",
        F.when(dropped, F.col("all_words")).otherwise(F.col("words")).alias("words"),
        F.when(dropped, F.col("all_bytes")).otherwise(F.col("bytes")).alias("bytes"),
        dropped.cast("long").alias("dropped"),
        (~dropped & (left == 0) & (F.col("words") > 0)).cast("long").alias("emptied"),
    )
    sums = [F.coalesce(F.sum(name), F.lit(0)) for name in ("pieces", "words", "bytes", "dropped", "emptied")]
    repeated, words, size, gone, emptied, cut = total.agg(*sums, F.count("*")).collect()[0]
    return {
        "documents": counts["documents"],
        "skipped": counts["records"] - counts["documents"],
        "bytes": counts["bytes"],
        "words": counts["words"],
        "unit": asked["unit"],
        "at_least": asked.get("at_least"),
        "min_left": result.min_left,
        "pieces": counts["pieces"],
        "blank": counts["blank"],
        "repeated": repeated,
        "cut": cut,
        "removed_words": words,
        "removed_bytes": size,
        "dropped": gone,
        "emptied": emptied,
        "kept": counts["documents"] - gone,
    }


def _make(options: str, asked: str, gatherers: int, skip: bool) -> _rust.Task:
    """Makes the blocks of a partition, and at the end a row of what was seen."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pieces, records = _rust.Pieces(options, asked, gatherers), 0
        for batch in batches:
            records += batch.num_rows
            pieces.add(batch.filter(pa.compute.is_valid(batch["text"])) if skip else batch)
            yield _block_rows(pieces.blocks())
        yield _block_rows(pieces.blocks(True))
        context = TaskContext.get()
        partition = context.partitionId() if context else 0
        row = {"gatherer": partition % gatherers} | dict(zip(_SEEN, (partition, records, *pieces.seen())))
        yield pa.RecordBatch.from_pylist([row], _BLOCKS)

    return run


def _block_rows(blocks: pa.RecordBatch) -> pa.RecordBatch:
    nothing = pa.nulls(blocks.num_rows, pa.int64())
    columns = [blocks["gatherer"], blocks["block"], *[nothing] * len(_SEEN)]
    return pa.RecordBatch.from_arrays(columns, schema=_BLOCKS)


def _gather(options: str, asked: str) -> _rust.Task:
    """What is removed of the pieces that came together, and what was seen."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        blocks = []
        for batch in batches:
            seen = batch.filter(pa.compute.is_valid(batch["partition"]))
            yield _rows([pa.nulls(seen.num_rows, pa.int64())] * len(_PIECE), [seen[name] for name in _SEEN])
            blocks.append(batch.filter(pa.compute.is_valid(batch["block"])).select(["block"]))
        removed = _rust.repeated(blocks, options, asked)
        for start in range(0, removed.num_rows, 10_000):
            some = removed.slice(start, 10_000)
            yield _rows([some[name] for name in _PIECE], [pa.nulls(some.num_rows, pa.int64())] * len(_SEEN))

    return run


def _rows(piece: list[Any], seen: list[Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([*piece, *seen], [*_PIECE, *(f"seen_{name}" for name in _SEEN)])
