# %% [markdown]
# # One article of each story
#
# Several papers took stories from one agency, and changed them a little. This page finds them, looks at what it found, and
# keeps one of each. Run it cell by cell in an editor that knows `# %%`, or as a whole: `python examples/python/near_duplicates.py`.

# %%
from pathlib import Path

import pyarrow as pa

import nearkin as nk

news = Path(__file__).parent.parent / "news"
articles = pa.table(
    {
        "id": [path.name for path in sorted(news.iterdir())],
        "text": [path.read_text(encoding="utf-8") for path in sorted(news.iterdir())],
    }
)
print(articles.num_rows, "articles")

# %% [markdown]
# ## What will be found?
#
# Before anything runs: with which chance is a pair of this similarity found?

# %%
plan = nk.plan(threshold=0.7, recall=0.99)
print(plan.bands, "bands of", plan.rows, "rows")
for similarity in (0.3, 0.5, 0.7, 0.9):
    print(f"  similarity {similarity}: found with chance {plan.probability(similarity):.4f}")

# %% [markdown]
# ## The pairs
#
# Each was compared exactly, and the account says how much of what there is was found.

# %%
pairs = nk.pairs(articles, threshold=0.7)
for row in pairs.to_pylist()[:5]:
    print(f"  {row['a']}  {row['b']}  {row['similarity']:.3f}")
told = nk.stats(pairs)
print(told["pairs"], "pairs, found", "exactly" if told["way"] == "exact" else "by bands")

# %% [markdown]
# ## Why is this a pair?

# %%
texts = dict(zip(articles["id"].to_pylist(), articles["text"].to_pylist(), strict=True))
least = min(pairs.to_pylist(), key=lambda row: row["similarity"])
comparison = nk.compare(texts[least["a"]], texts[least["b"]])
print(f"jaccard {comparison['jaccard']:.3f}, bag {comparison['bag_max']:.3f}")

# %% [markdown]
# ## One of each story

# %%
result = nk.dedup(articles, threshold=0.7, keep="longest")
print(result)
assert result.kept.num_rows == result.stats["kept"]

# %% [markdown]
# ## Is the next article new?
#
# An index answers that as articles come in.

# %%
index = nk.Index(threshold=0.7)
for id, text in zip(result.kept["id"].to_pylist(), result.kept["text"].to_pylist(), strict=True):
    index.add(id, text)
again = result.kept["text"][0].as_py() + " By our correspondent."
(found, similarity), *_ = index.query(again)
print(f"the article is {found}, similarity {similarity:.3f}")
