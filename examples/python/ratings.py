# %% [markdown]
# # Who likes what I like?
#
# Customers are sets of what they rated, and at similarities as low as 0.2 or 0.1 they already tell each other what to look at. There
# are three ways to make a set of ratings (Mining of Massive Datasets, 3.1.3): leave low ones out; make "liked" and "hated" two elements
# of a film; or take a film as often as it has stars. This page compares them by what they suggest: of every customer one film that
# they liked is hidden, and ten are suggested.
#
#     python examples/python/ratings.py [ratings.dat]      lines of user::film::rating::time; else made-up ones

# %%
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow as pa

import nearkin as nk

LIKED = 7
SUGGESTED = 10
NEIGHBOURS = 100
Rating = tuple[str, str, int]


def made_up(users: int = 900, films: int = 400, tastes: int = 15) -> list[Rating]:
    """Ratings from 0 to 10 by people of some tastes; a fifth of what they see is not to theirs."""
    draw = random.Random(4)
    shelves = [draw.sample(range(films), 40) for _ in range(tastes)]
    ratings = []
    for user in range(users):
        shelf = shelves[user % tastes]
        seen = set(draw.sample(shelf, draw.randint(10, 25)))
        other = set(draw.sample(range(films), len(seen) // 4)) - seen
        ratings += [(f"u{user}", f"f{film}", draw.choice([6, 7, 8, 8, 9, 10])) for film in sorted(seen)]
        ratings += [(f"u{user}", f"f{film}", draw.choice([1, 3, 5, 7])) for film in sorted(other)]
    return ratings


def read(path: Path) -> list[Rating]:
    """Lines of user::film::rating::time."""
    lines = (line.split("::") for line in path.read_text(encoding="utf-8").splitlines())
    return [(user, film, int(rating)) for user, film, rating, _ in lines]


def hide_one(ratings: list[Rating]) -> tuple[list[Rating], dict[str, str]]:
    """The ratings without one film each that customers with ten liked ones liked, and which that is."""
    draw = random.Random(5)
    liked = defaultdict(list)
    for user, film, rating in ratings:
        if rating >= LIKED:
            liked[user].append(film)
    hidden = {user: draw.choice(films) for user, films in liked.items() if len(films) >= 10}
    return [one for one in ratings if hidden.get(one[0]) != one[1]], hidden


# %% [markdown]
# ## Similar customers, and what they suggest
#
# A film counts for a customer as much as those are similar who liked it.

# %%
def suggest(
    neighbours: dict[str, list[tuple[str, float]]], liked: dict[str, set[str]], seen: dict[str, set[str]]
) -> dict[str, list[str]]:
    """Films that similar customers liked, for each customer."""
    suggested = {}
    for user, others in neighbours.items():
        points: Counter[str] = Counter()
        for other, similarity in others:
            for film in liked[other] - seen[user]:
                points[film] += similarity
        suggested[user] = sorted(points, key=lambda film: (-points[film], film))[:SUGGESTED]
    return suggested


def found(suggested: dict[str, list[str]], hidden: dict[str, str]) -> float:
    """The share of hidden films that are suggested."""
    return sum(film in suggested.get(user, ()) for user, film in hidden.items()) / len(hidden)


def compare_ways(ratings: list[Rating], hidden: dict[str, str]) -> dict[str, float]:
    """How many of the hidden films each way suggests, and those that most people like."""
    users, films, stars = zip(*ratings, strict=True)
    table = pa.table({"user": users, "film": films, "rating": stars})
    liked, seen = defaultdict(set), defaultdict(set)
    for user, film, rating in ratings:
        seen[user].add(film)
        if rating >= LIKED:
            liked[user].add(film)
    popular = Counter(film for some in liked.values() for film in some).most_common()
    shares = {"popular": found({
        user: [film for film, _ in popular if film not in seen[user]][:SUGGESTED] for user in hidden
    }, hidden)}
    for way in (f"drop:{LIKED}", f"likes:{LIKED}", "stars"):
        measure = "bag" if way == "stars" else "jaccard"
        nearest = nk.top(table, group="user", element="film", rating="rating", ratings=way, measure=measure,
                         threshold=0.1, k=NEIGHBOURS, exact=True)
        neighbours = defaultdict(list)
        for row in nearest.to_pylist():
            neighbours[row["a"]].append((row["b"], row["similarity"]))
        shares[way] = found(suggest(neighbours, liked, seen), hidden)
        near = sum(others[0][1] >= 0.2 for others in neighbours.values())
        print(f"  {way:8} {near:6} of {len(seen)} customers have one as similar as 0.2;"
              f" {shares[way]:.1%} of the hidden films are suggested")
    print(f"  {'popular':8} what most people like: {shares['popular']:.1%}")
    return shares


# %% [markdown]
# ## Similar films
#
# A film is the set of those who liked it.

# %%
def similar_films(ratings: list[Rating]) -> list[dict[str, object]]:
    """Pairs of films whose audiences share a fifth, the most similar first; of films that ten people liked."""
    audience = Counter(film for _, film, rating in ratings if rating >= LIKED)
    rows = [one for one in ratings if audience[one[1]] >= 10]
    users, films, stars = zip(*rows, strict=True)
    table = pa.table({"user": users, "film": films, "rating": stars})
    pairs = nk.pairs(table, group="film", element="user", rating="rating", ratings=f"drop:{LIKED}", threshold=0.2,
                     exact=True)
    return sorted(pairs.to_pylist(), key=lambda row: (-row["similarity"], row["a"], row["b"]))


def main(path: Path | None = None) -> dict[str, float]:
    """Prints the figures; and gives them."""
    ratings = made_up() if path is None else read(path)
    left, hidden = hide_one(ratings)
    print(f"{len(ratings)} ratings; one film hidden of {len(hidden)} customers, {SUGGESTED} suggested to each:")
    shares = compare_ways(left, hidden)
    pairs = similar_films(ratings)
    print(f"{len(pairs)} pairs of films share a fifth of those who like them; the first:")
    for row in pairs[:3]:
        print(f"  {row['a']}  {row['b']}  {row['similarity']:.2f}")
    return shares | {"pairs": len(pairs)}


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else None)
