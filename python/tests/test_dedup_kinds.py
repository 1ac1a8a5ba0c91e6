"""Groups of vectors, bits, strings and tf-idf, against brute force by NumPy."""

from pathlib import Path
from typing import Any

import nearkin as nk
import numpy as np
import pyarrow as pa
import pytest


def points() -> np.ndarray[Any, Any]:
    """Directions in threes, each with two close ones, and some copies."""
    random = np.random.default_rng(5)
    centres = random.normal(size=(200, 32)).astype("f4")
    near = centres[:120] + 0.05 * random.normal(size=(120, 32)).astype("f4")
    return np.concatenate([centres, near, centres[:40]])


def first_of_each(vectors: np.ndarray[Any, Any], threshold: float) -> list[int]:
    """The items that no kept one before them is similar to, by comparing all."""
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similar = directions @ directions.T >= threshold
    kept: list[int] = []
    for item, row in enumerate(similar):
        if not row[kept].any():
            kept.append(item)
    return kept


def test_vectors_are_kept_as_what_they_were() -> None:
    vectors = points()
    expected = first_of_each(vectors, 0.9)
    result = nk.dedup(vectors, as_="vector", measure="cosine", threshold=0.9)
    assert 100 < len(expected) < len(vectors) - 100
    assert np.flatnonzero(result.mask).tolist() == expected
    assert (result.kept == vectors[expected]).all()
    assert result.stats["way"] == "exact" and result.stats["kept"] == len(expected)
    clusters = result.clusters
    assert clusters.column_names == ["id", "cluster", "kept", "similarity"]
    assert clusters["similarity"].to_numpy().min() > 0.8


def test_a_file_of_vectors_is_kept_as_a_column(tmp_path: Path) -> None:
    vectors = points()
    np.save(tmp_path / "emb.npy", vectors)
    result = nk.dedup(tmp_path / "emb.npy", as_="vector", measure="cosine", threshold=0.9)
    kept = np.stack(result.kept["vector"].to_numpy(zero_copy_only=False))
    assert (kept == vectors[first_of_each(vectors, 0.9)]).all()


def test_strings_bits_and_tables() -> None:
    names = ["kitten", "mitten", "dog", "", "kittens"]
    result = nk.dedup(names, as_="string", measure="damerau", within=1, keep="longest")
    assert result.kept == ["mitten", "dog", "", "kittens"]
    assert result.clusters["distance"].to_pylist() == [1.0, 0.0, 0.0, 0.0, 0.0]
    result = nk.dedup(names, as_="string", measure="damerau", within=1, keep="longest", chains=True)
    assert result.kept == ["dog", "", "kittens"]
    assert result.clusters["distance"].to_pylist() == [1.0, 2.0, 0.0, 0.0, 0.0]
    table = pa.table({"id": ["a", "b", "c"], "bits": ["1011", "1010", "0100"], "score": [1, 5, 2]})
    kept = nk.dedup(table, as_="bits", within=1, keep="max:score").kept
    assert kept["id"].to_pylist() == ["b", "c"]
    texts = ["red green blue", "blue green red", "yellow"]
    assert nk.dedup(texts, measure="cosine", threshold=0.99).kept == texts[::2]


def test_what_cannot_be_is_said_in_the_words_of_python() -> None:
    vectors = points()
    with pytest.raises(nk.ParameterError, match="keep is longest") as error:
        nk.dedup(vectors, as_="vector", measure="cosine", threshold=0.9, keep="longest")
    assert "--" not in str(error.value)
    with pytest.raises(nk.ParameterError, match="within"):
        nk.dedup(vectors, as_="vector")


def test_clusters_of_sets_within_a_distance_have_distances() -> None:
    sets = [["a", "b", "c"], ["a", "b", "d"], []]
    # Two elements are in one set only, of four in either.
    for measure, within, distance in (("hamming", 2, 2.0), ("jaccard", 0.5, 0.5)):
        clusters = nk.dedup(sets, as_="set", measure=measure, within=within).clusters
        assert clusters.column_names == ["id", "cluster", "kept", "distance"]
        assert clusters["distance"].to_pylist() == [0.0, distance, 0.0]
