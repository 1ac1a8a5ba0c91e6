"""Connected components of a graph whose edges are a DataFrame.

The graph is contracted: every vertex goes to the smallest of itself and its neighbours in a random order, until no edge
is left (Bögeholz, Brand and Todor, "In-database connected component analysis", ICDE 2020). An expected constant share of
the vertices goes in each round, whatever the graph, so the rounds are logarithmic; each is two joins and a grouping,
which Spark spills, balances and repeats by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from nearkin.spark import _rust

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_EDGES = "a long, b long"


def _forest(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Fewer edges with the same components as those of a partition."""
    joined = _rust.components(list(batches))
    edges = pa.RecordBatch.from_arrays([joined["component"], joined["position"]], ["a", "b"])
    yield edges.filter(pa.compute.not_equal(edges["a"], edges["b"]))


def _order(vertex: str, number: int) -> Column:
    """Vertices in the random order of a round."""
    return F.struct(F.xxhash64(F.lit(number), F.col(vertex)).alias("hash"), F.col(vertex).alias("at"))


def contract(edges: DataFrame, cut: Callable[[DataFrame], DataFrame]) -> tuple[DataFrame, int]:
    """The smallest position of the component of every position that has an edge, and the rounds it took.

    `edges` has the columns `a` and `b`. `cut` gives a DataFrame that is not computed again and whose plan ends there.
    """
    edges = cut(_rust.on_executors(edges.select("a", "b"), _forest, _EDGES))
    vertices = edges.select("a").union(edges.select("b")).distinct()
    steps: list[DataFrame] = []
    while not edges.isEmpty():
        number = len(steps)
        both = edges.union(edges.select("b", "a"))
        nearest = both.groupBy("a").agg(F.min(_order("b", number)).alias("nearest"))
        step = nearest.select("a", F.least("nearest", _order("a", number))["at"].alias("to"))
        step = cut(step)
        steps.append(step)
        moved = edges.join(step, "a").select(F.col("to").alias("a"), "b")
        moved = moved.join(step.withColumnRenamed("a", "b"), "b").select("a", F.col("to").alias("b"))
        moved = moved.select(F.least("a", "b").alias("a"), F.greatest("a", "b").alias("b"))
        edges = cut(moved.where("a != b").distinct())
    at = vertices.select(F.col("a").alias("position"), F.col("a").alias("at"))
    for step in steps:
        further = step.withColumnRenamed("a", "at")
        at = at.join(further, "at", "left")
        at = cut(at.select("position", F.coalesce("to", "at").alias("at")))
    named = at.groupBy("at").agg(F.min("position").alias("component"))
    return at.join(named, "at").select("position", "component"), len(steps)
