# %% [markdown]
# # Which records are the same?
#
# Two registers of persons, about half of whom are in both, with what clerks do to records: typing errors, nicknames, missing values,
# people who moved. The rules of `examples/match/persons.toml` find who is who, and so do rules that `nk.suggest_rules` finds
# by looking at the tables. Neither knows who is the same; the truth is only used to count.
#
#     python examples/python/records.py                 made-up persons
#     python examples/python/records.py FOLDER          real tables: restaurants, papers, products, persons, citations

# %%
import csv
import itertools
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import nearkin as nk

EXAMPLES = Path(__file__).resolve().parent.parent
Pairs = set[tuple[str, str]]
Figures = dict[str, dict[str, float]]

REAL = {
    "restaurants": (["D1_restaurants/rest1.csv", "D1_restaurants/rest2.csv"], {"delimiter": "|"}),
    "dblp_acm": (["D4_dblp_acm/dblp.csv", "D4_dblp_acm/acm.csv"], {"delimiter": "%"}),
    "abt_buy": (["D2_abt_buy/abt.csv", "D2_abt_buy/buy.csv"], {"delimiter": "|"}),
    "febrl": (["febrl/dataset4a.csv", "febrl/dataset4b.csv"], {"id": "rec_id"}),
    "fake_1000": (["fake_1000/fake_1000.csv"], {"id": "unique_id"}),
    "cora": (["dirty_cora/cora.csv"], {"delimiter": "|"}),
}


def found(tables: list[Path], options: dict[str, str], rules: Path | str) -> Pairs:
    """The matches that rules find."""
    matches = nk.match(*tables, rules=rules, **options).matches
    pairs = [(str(a), str(b)) for a, b in zip(matches["a"].to_pylist(), matches["b"].to_pylist(), strict=True)]
    return {(min(pair), max(pair)) for pair in pairs} if len(tables) == 1 else set(pairs)


def figures(found: Pairs, truth: Pairs) -> dict[str, float]:
    """Precision, recall and their harmonic mean."""
    both = len(found & truth)
    return {"f1": 2 * both / (len(found) + len(truth)), "precision": both / len(found), "recall": both / len(truth)}


def read(path: Path, delimiter: str = ",") -> list[list[str]]:
    """The rows of a table, without its header."""
    with open(path, encoding="utf-8", newline="") as file:
        return [[cell.strip() for cell in row] for row in csv.reader(file, delimiter=delimiter)][1:]


# %% [markdown]
# ## Both ways


# %%
def both_ways(name: str, tables: list[Path], options: dict[str, str], truth: Pairs) -> Figures:
    """Matches by the rules of examples/match and by suggested ones."""
    ways = {"rules": EXAMPLES / "match" / f"{name}.toml", "suggested": nk.suggest_rules(*tables, **options)}
    result = {way: figures(found(tables, options, rules), truth) for way, rules in ways.items()}
    for way, values in result.items():
        print(f"{name:12} {way:10} " + "  ".join(f"{key} {value:.4f}" for key, value in values.items()))
    return result


def made_up(folder: Path, count: int = 10_000) -> Figures:
    """Persons made up by persons.py."""
    subprocess.run([sys.executable, EXAMPLES / "python" / "persons.py", "--count", str(count), folder], check=True)
    truth = {(a, b) for a, b in read(folder / "truth.csv")}
    return both_ways("persons", [folder / "a.csv", folder / "b.csv"], {}, truth)


# %% [markdown]
# ## Real tables, with what others found to be the same


# %%
def same_key(rows: list[tuple[str, str]]) -> Pairs:
    """Every pair of ids with the same key."""
    groups = defaultdict(list)
    for key, identifier in rows:
        groups[key].append(identifier)
    pairs = itertools.chain.from_iterable(itertools.combinations(sorted(ids), 2) for ids in groups.values())
    return set(pairs)


def truth_of(name: str, folder: Path) -> Pairs:
    """What is the same, according to the tables' makers."""
    if name == "febrl":  # rec-561-dup-0 is rec-561-org
        sides = [{row[0].split("-")[1]: row[0] for row in read(folder / table)} for table in REAL[name][0]]
        return {(sides[0][key], other) for key, other in sides[1].items() if key in sides[0]}
    if name == "fake_1000":
        return same_key([(row[-1], row[0]) for row in read(folder / REAL[name][0][0])])
    if name == "cora":
        with open(folder / "dirty_cora" / "cora_gt.csv", encoding="utf-8") as file:
            pairs = [line.strip().split("|") for line in file if line.strip()]
        return {(min(pair), max(pair)) for pair in pairs}
    table = folder / REAL[name][0][0]
    return {(a, b) for a, b in read(table.parent / "gt.csv", "%" if name == "dblp_acm" else "|")}


def main(real: Path | None = None) -> dict[str, Figures]:
    """Prints precision and recall of all tables, and returns them."""
    if real is None:
        with tempfile.TemporaryDirectory() as folder:
            return {"persons": made_up(Path(folder))}
    return {
        name: both_ways(name, [real / table for table in tables], options, truth_of(name, real))
        for name, (tables, options) in REAL.items()
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
