# %% [markdown]
# # Nodes of a graph that have the same neighbours
#
# A node is the set of nodes that it points to, so nodes are compared as sets. The graph here is this project's own: which package
# needs which, by `Cargo.lock`. Packages that need much the same do much the same, or come from one family.
#
#     python examples/python/graph_nodes.py [Cargo.lock]

# %%
import re
import sys
from pathlib import Path

import pyarrow as pa

import nearkin as nk

THRESHOLD = 0.6


def edges(lock: Path) -> list[tuple[str, str]]:
    """Who needs whom, of packages that need three or more."""
    found = []
    for package in lock.read_text(encoding="utf-8").split("[[package]]")[1:]:
        name, version = (re.search(rf'^{key} = "(.+)"', package, flags=re.M).group(1) for key in ("name", "version"))
        needs = re.search(r"^dependencies = \[\n(.*?)^\]", package, flags=re.M | re.S)
        needed = {line.strip(' ",').split()[0] for line in needs.group(1).splitlines()} if needs else set()
        if len(needed) >= 3:
            found += [(f"{name} {version}", other) for other in sorted(needed)]
    return found


def main(lock: Path) -> list[dict[str, object]]:
    """Prints the pairs; and gives them."""
    found = edges(lock)
    table = pa.table({"package": [a for a, _ in found], "needs": [b for _, b in found]})
    pairs = nk.pairs(table, edges="directed", threshold=THRESHOLD, exact=True).to_pylist()
    print(f"{len({a for a, _ in found})} packages, {len(found)} edges, {len(pairs)} pairs at or above {THRESHOLD}:")
    for row in sorted(pairs, key=lambda row: -row["similarity"])[:8]:
        print(f"  {row['a']:32} {row['b']:32} {row['similarity']:.2f}")
    return pairs


if __name__ == "__main__":
    here = Path(__file__).parent.parent.parent / "Cargo.lock"
    main(Path(sys.argv[1]) if sys.argv[1:] else here)
