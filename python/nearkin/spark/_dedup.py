"""From matches to groups, and one row of each kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from nearkin import _nearkin
from nearkin.spark import _rust
from nearkin.spark._components import contract
from nearkin.spark._stages import Found, Texts, encoded, value_name
from nearkin.spark._texts import broadcast

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(repr=False)
class Deduplicated:
    """A DataFrame with one row of each group kept."""

    texts: Texts
    #: Items of groups with several: `position`, `to` (the kept one's position), `similarity`, which with `within` is a
    #: distance, as in everything that follows. A table where they are few.
    settled: DataFrame | pa.Table
    #: The options of the search.
    given: dict[str, Any]
    #: Counts: items, skipped, empty, bytes, identical, buckets, clusters, removed, kept, rounds.
    stats: dict[str, int] = field(default_factory=dict)
    found: Found | None = None

    def release(self) -> None:
        """Gives back what executors hold; `kept` and `clusters` are computed anew if they are asked for again."""
        if self.found is not None:
            self.found.release()
        self.texts.release()

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.stats[name]:,} {name}" for name in ("items", "clusters", "kept"))
        return f"<Deduplicated: {counts}>"

    @cached_property
    def members(self) -> DataFrame:
        """Items of groups with several: `position`, `to`, `similarity`."""
        if isinstance(self.settled, pa.Table):
            members: DataFrame = self.texts.session.createDataFrame(self.settled)
            return members
        return self.settled

    @property
    def removed(self) -> DataFrame | Any:
        """Positions of the items that are not kept, an array where they are few."""
        if isinstance(self.settled, pa.Table):
            return _without_kept(self.settled)["position"].to_numpy()
        return self.settled.where("position != to").select("position")

    @cached_property
    def kept(self) -> DataFrame:
        """The rows that are kept, with all their columns."""
        removed = self.members.where("position != to").select("position")
        return self.texts.without(removed, self.stats["removed"])

    @cached_property
    def clusters(self) -> DataFrame:
        """One row per item: `id`, `cluster`, `kept`, and `similarity` or, with `within`, `distance`."""
        ids = self.texts.ids()
        small = self.stats["removed"] + self.stats["clusters"]
        leaders = self.members.where("position = to").select("position")
        names = ids.join(broadcast(leaders, self.stats["clusters"]), "position")
        names = names.select(F.col("position").alias("to"), F.col("id").alias("cluster"))
        named = self.members.join(broadcast(names, self.stats["clusters"]), "to")
        rows = ids.join(broadcast(named, small), "position", "left")
        if _is_counted(self.given):
            rows = rows.join(_rust.on_executors(self.texts.texts(), self._alone(), _ALONE), "position")
            alone: Column = F.col("alone")
        else:
            alone = F.lit(_identical(self.given))
        return rows.select(
            "id",
            F.coalesce("cluster", "id").alias("cluster"),
            F.coalesce(F.col("position") == F.col("to"), F.lit(True)).alias("kept"),
            F.coalesce("similarity", alone).alias(value_name(self.given)),
        )

    def _alone(self) -> Any:
        options = encoded(self.given)

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            likeness = _rust.Likeness(options)
            for batch in batches:
                alone = likeness.compare_with_themselves(batch)["similarity"]
                yield pa.RecordBatch.from_arrays([batch["position"], alone], ["position", "alone"])

        return run


_ALONE = "position long, alone double"
_ANY = pa.RecordBatch.from_pydict({"text": [""]})


#: Matches up to which the driver groups them: 100 MB of them, and some times that while it does. More are grouped by
#: Spark's own joins, which took 4 seconds for 49,000 matches that the driver groups in less than a tenth of a second.
FEW = 4_000_000


def deduplicate(found: Found, texts: Texts, keep: str = "first", chains: bool = False) -> Deduplicated:
    """Groups the items that are similar and keeps one of each."""
    kept_by = _preference(keep)
    edges = found.matches(False)
    is_few = found.copies <= FEW
    # A text that travels has one edge at most wherever it goes.
    if not (is_few and found.travels <= FEW):
        edges = found.cut(edges)
        is_few = is_few and edges.count() <= FEW
    settled: DataFrame | pa.Table
    rounds = 0
    if is_few:
        settled = _group_here(found, texts, edges, keep, kept_by, chains)
        gone = _without_kept(settled)
        clusters, removed = len(gone["to"].unique()), gone.num_rows
    else:
        settled, rounds = _group(found, texts, edges, keep, kept_by, chains)
        gone = settled.where("position != to")
        clusters, removed = gone.agg(F.count_distinct("to"), F.count("*")).collect()[0]
    stats = found.seen | {"clusters": clusters, "removed": removed, "rounds": rounds}
    stats["kept"] = stats["items"] - removed
    return Deduplicated(texts, settled, found.given, stats, found)


def _without_kept(settled: pa.Table) -> pa.Table:
    return settled.filter(pa.compute.not_equal(settled["position"], settled["to"]))


def _group_here(
    found: Found, texts: Texts, edges: DataFrame, keep: str, kept_by: Any, chains: bool
) -> pa.Table:
    """Every member of a group with the kept item, and how similar they are: `position`, `to`, `similarity`."""
    copies = found.copies_of().toArrow().to_batches() if found.copies else []
    groups = _rust.Groups(edges.toArrow().to_batches(), copies)
    order = None
    if keep != "first":
        members = texts.session.createDataFrame(pa.Table.from_batches([groups.members()]))
        members = _with_values(members, texts, keep)
        ordered = members.orderBy(*_sorting(kept_by), "position").select("position")
        order = ordered.toArrow()["position"].to_pylist()
    alike = None if _is_counted(found.given) else _identical(found.given)
    stars = None
    if not chains:
        rows = pa.Table.from_batches([groups.open(order, _is_one_sided(found.given))])
        stars = pa.table({"first": pa.array([], pa.int64()), "centre": pa.array([], pa.int64())})
        if rows.num_rows:
            stars = _stand_ins(texts.session.createDataFrame(rows), ["rank"], texts, found.given).toArrow()
    batches = None if stars is None else stars.to_batches()
    settled = pa.Table.from_batches([groups.settle(order, alike, batches)])
    if stars is not None and stars.num_rows:
        settled = _filled(settled, stars)
    unknown = settled.filter(pa.compute.is_null(settled["similarity"]))
    if unknown.num_rows:
        pairs = unknown.select(["first", "centre"]).group_by(["first", "centre"]).aggregate([])
        rows = texts.session.createDataFrame(pairs).withColumn("component", F.col("centre"))
        centres = rows.select(F.col("centre").alias("first"), "centre", "component")
        settled = _filled(settled, _likeness(rows.union(centres).distinct(), texts, found.given).toArrow())
    found.release()
    return settled.select(["position", "to", "similarity"])


def _filled(settled: pa.Table, compared: pa.Table) -> pa.Table:
    """The same with the similarities that were not known, by `first`."""
    compared = compared.sort_by("first")
    firsts, known = compared["first"].to_numpy(), settled["similarity"].combine_chunks()
    wanted = settled["first"].to_numpy()
    at = np.minimum(np.searchsorted(firsts, wanted), compared.num_rows - 1)
    there = pa.array(at, mask=firsts[at] != wanted)
    filled = pa.compute.coalesce(known, compared["similarity"].combine_chunks().take(there))
    return settled.set_column(settled.column_names.index("similarity"), "similarity", filled)


def _group(
    found: Found, texts: Texts, edges: DataFrame, keep: str, kept_by: Any, chains: bool
) -> tuple[DataFrame, int]:
    """The same by Spark's joins, and the rounds it took. `edges` is read more than once."""
    joined, rounds = contract(edges.select("a", "b"), found.cut)
    members = _members(found, found.cut(joined))
    if keep != "first":
        members = _with_values(found.cut(members), texts, keep)
    members = found.cut(members)
    if not chains:
        return found.cut(_stars(found, texts, members, kept_by)), rounds
    members = found.cut(members.join(_leaders(members, kept_by), "component"))
    return found.cut(_settled(found, texts, members, edges)), rounds


def _preference(keep: str) -> Any:
    """The order of preference as a column, the most preferred first."""
    rules = _nearkin.keep_rules(keep)
    if keep == "first":
        return F.struct("position")
    if len(rules) > 1 or rules[0][0] in ("longest", "prefer"):
        return F.struct("value", "position")
    if rules[0][0] == "min":
        return F.struct(F.isnull("value"), "value", "position")
    return None


def _members(found: Found, joined: DataFrame) -> DataFrame:
    """The items of components: `position`, `component`, and `first`, the first with the same text."""
    if found.copies == 0:
        return joined.withColumn("first", F.col("position"))
    copies = broadcast(found.copies_of(), found.copies)
    firsts = joined.join(copies.select("position"), "position", "left_anti")
    firsts = firsts.withColumn("first", F.col("position"))
    # Copies that are not similar, for what they share is too little, are in no component.
    similar = joined.select(F.col("position").alias("first"), "component")
    others = copies.join(similar, "first").select("position", "component", "first")
    return firsts.union(others)


def _with_values(members: DataFrame, texts: Texts, keep: str) -> DataFrame:
    """The items with what decides which is kept: the value of the one rule, or where the rules together put each."""
    rules = _nearkin.keep_rules(keep)
    if len(rules) == 1 and rules[0][0] != "prefer":
        return _with_value(members, texts, rules[0])
    ranked = members
    order: list[Column] = []
    for number, rule in enumerate(rules):
        if rule[0] == "first":
            break
        name = f"value_{number}"
        ranked = _with_value(ranked, texts, rule).withColumnRenamed("value", name)
        kind = dict(ranked.dtypes)[name]
        order.append(_by_rule(F.col(name), rule, kind))
    # These numbers follow the order of rows.
    ranked = ranked.orderBy(*order, "position").withColumn("value", F.monotonically_increasing_id())
    return ranked.select(*members.columns, "value")


def _with_value(members: DataFrame, texts: Texts, rule: tuple[str, str, list[str]]) -> DataFrame:
    """The items with what a rule looks at: the value of a column, or the length, the longest first."""
    if rule[0] == "longest":
        firsts = members.where("position = first").select("position")
        length = (-texts.length()).alias("value")
        lengths = texts.at(firsts).select(F.col("position").alias("first"), length)
        return members.join(lengths, "first")
    values = texts.values(rule[1])
    kind = dict(values.dtypes)["value"]
    if kind in ("float", "double"):
        values = values.withColumn("value", F.nanvl("value", F.lit(None).cast(kind)))
    return members.join(values, "position", "left")


def _by_rule(value: Column, rule: tuple[str, str, list[str]], kind: str) -> Column:
    """The order that a rule puts values of a type in."""
    how, _, listed = rule
    if how == "max":
        return value.desc_nulls_last()
    if how != "prefer":
        return value.asc_nulls_last()
    place = F.lit(len(listed))
    for number in reversed(range(len(listed))):
        text = listed[number]
        if kind == "string":
            is_it = value == F.lit(text)
        else:
            is_it = value == F.lit(float(text)) if _is_number(text) else F.lit(False)
        place = F.when(is_it, F.lit(number)).otherwise(place)
    return place.asc()


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False


def _best(kept_by: Any, *others: str) -> Column:
    """The preferred item of a group: its position and the first with its text."""
    item = F.struct("position", "first", *others)
    if kept_by is None:
        return F.max_by(item, F.struct(F.col("value"), -F.col("position")))
    return F.min_by(item, kept_by)


def _leaders(members: DataFrame, kept_by: Any) -> DataFrame:
    """The kept item of each component: `component`, `to`, and `centre`, the first with its text."""
    best = members.groupBy("component").agg(_best(kept_by).alias("best"))
    return best.select("component", F.col("best.position").alias("to"), F.col("best.first").alias("centre"))


def _stars(found: Found, texts: Texts, members: DataFrame, kept_by: Any) -> DataFrame:
    """Every member with the kept item that stands for it: `position`, `to`, `similarity`."""
    if "value" not in members.columns:
        members = members.withColumn("value", F.lit(None).cast("long"))
    best = members.groupBy("component", "first").agg(_best(kept_by, "value").alias("best"))
    rows = best.select(
        F.col("first").alias("position"), "component", "best.value", F.col("best.position").alias("preferred")
    )
    stars = found.cut(_stand_ins(rows, [*_sorting(kept_by), "preferred"], texts, found.given))
    starred = found.cut(members.join(stars, "first"))
    kept = starred.where("first = centre").groupBy("centre").agg(_best(kept_by).alias("best"))
    leaders = kept.select("centre", F.col("best.position").alias("to"))
    return starred.join(leaders, "centre").select("position", "to", "similarity")


def _stand_ins(rows: DataFrame, order: list[Any], texts: Texts, given: dict[str, Any]) -> DataFrame:
    """Which text stands for each of these (`position`, `component`), preferred in this order: `first`, `centre`,
    `similarity`.
    """
    options = encoded(given)
    rows = texts.at(rows)
    if _is_one_sided(given):
        # The larger one stands for what it contains.
        sizes = _rust.on_executors(rows.select("position", "text"), _run_sizes(options), "position long, size long")
        rows, order = rows.join(sizes, "position"), [F.col("size").desc(), *order]
    rows = rows.repartition("component").sortWithinPartitions("component", *order)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        stars = _rust.Stars(options)
        yield from map(stars.stand_ins, batches)

    rows = rows.select("position", "component", "text")
    return _rust.on_executors(rows, run, "first long, centre long, similarity double")


def _run_sizes(options: str) -> Any:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from map(_rust.Stars(options).sizes, batches)

    return run


def _sorting(kept_by: Any) -> list[Any]:
    return [F.col("value").desc_nulls_last()] if kept_by is None else [F.col("value").asc_nulls_last()]


def _settled(found: Found, texts: Texts, members: DataFrame, edges: DataFrame) -> DataFrame:
    """Every member with the kept item of its group, and how similar they are: `position`, `to`, `similarity`."""
    firsts = members.where("position = first").select("first", "component", "centre")
    if _is_counted(found.given):
        alike = _likeness(firsts, texts, found.given)
        return members.join(alike, "first").select("position", "to", "similarity")
    # Most were compared with their centre where they met.
    either = edges.select("a", "b", "similarity").union(edges.select("b", "a", "similarity"))
    known = either.select(F.col("a").alias("centre"), F.col("b").alias("first"), "similarity")
    known = known.dropDuplicates(["centre", "first"])
    copy = F.when(F.col("first") == F.col("centre"), F.lit(_identical(found.given)))
    firsts = firsts.join(known, ["centre", "first"], "left")
    firsts = found.cut(firsts.withColumn("similarity", F.coalesce(copy, "similarity")))
    unknown = firsts.where("similarity is null").select("first", "component", "centre")
    alike = firsts.where("similarity is not null").select("first", "similarity")
    if not unknown.isEmpty():
        centres = unknown.select(F.col("centre").alias("first"), "component", "centre").distinct()
        more = _likeness(unknown.union(centres), texts, found.given).where("not is_centre")
        alike = alike.union(more.select("first", "similarity"))
    return members.join(alike, "first").select("position", "to", "similarity")


def _is_counted(given: dict[str, Any]) -> bool:
    """Whether values are counts: copies have one that depends on what they are copies of."""
    return given.get("measure") == "overlap"


def _is_one_sided(given: dict[str, Any]) -> bool:
    """Whether a small item can be similar to a much larger one, which then stands for it."""
    return given.get("measure") in ("containment", "overlap")


def _identical(given: dict[str, Any]) -> float:
    """How close copies are, where that does not depend on what they are copies of."""
    likeness = _rust.Likeness(encoded(given))
    return float(likeness.compare_with_themselves(_ANY)["similarity"][0].as_py())


def _likeness(firsts: DataFrame, texts: Texts, given: dict[str, Any]) -> DataFrame:
    """How similar each first text is to its component's centre: `first`, `is_centre`, `similarity`."""
    rows = firsts.select(F.col("first").alias("position"), "component", "centre")
    rows = texts.at(rows).repartition("component")
    rows = rows.withColumn("is_centre", F.col("position") == F.col("centre"))
    rows = rows.sortWithinPartitions("component", F.col("is_centre").desc(), "position")
    options = encoded(given)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        likeness = _rust.Likeness(options)
        for batch in batches:
            alike = likeness.compare_with_first(batch)["similarity"]
            columns = [batch["position"], batch["is_centre"], alike]
            yield pa.RecordBatch.from_arrays(columns, ["first", "is_centre", "similarity"])

    rows = rows.select("position", "component", "text", "is_centre")
    return _rust.on_executors(rows, run, "first long, is_centre boolean, similarity double")
