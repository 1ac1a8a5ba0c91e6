# %% [markdown]
# # Who copied from whom?
#
# A copy need not look like its source: sentences change places, words are exchanged, and much else may stand between them. Resemblance
# (the Jaccard similarity) falls with all that is added; containment, the share of the smaller text's shingles that the other has, does
# not. So copies are found by containment, and shown passage by passage, wherever the passages stand.
#
#     python examples/python/plagiarism.py [articles.jsonl.gz articles.pairs.tsv]      else the articles of examples/news

# %%
import difflib
import gzip
import json
import random
import re
import sys
from pathlib import Path

import nearkin as nk

NEWS = Path(__file__).parent.parent / "news"
THRESHOLD = 0.5
Texts = dict[str, str]
#: Which stories a text tells; two texts that share one are a true pair.
Stories = dict[str, set[str]]


def shipped() -> tuple[Texts, Stories]:
    """The 24 articles of this repository: several papers print what an agency sends, more or less as it came."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(NEWS.glob("*.txt"))}
    return texts, {name: {"-".join(name.split("-")[:2])} for name in texts}


def read(articles: Path, pairs: Path) -> tuple[Texts, Stories]:
    """Articles in JSON lines, and which of them are copies of which, a pair a line."""
    with gzip.open(articles, "rt", encoding="utf-8") as lines:
        texts = {record["id"]: record["text"] for record in map(json.loads, lines)}
    stories = {name: {name} for name in texts}
    for line in pairs.read_text(encoding="utf-8").splitlines():
        a, b = line.split()
        stories[b] = stories[a]
    return texts, stories


# %% [markdown]
# ## Harder copies
#
# Each is made of two articles: the sentences of both, shuffled together, with every 25th word exchanged. Both articles are its sources.

# %%
def sentences(text: str) -> list[str]:
    """A text cut where sentences end."""
    return re.split(r"(?<=[.!?])\s+", text.strip())


def disguise(texts: Texts, stories: Stories, copies: int) -> tuple[Texts, Stories]:
    """The texts with so many copies among them."""
    draw = random.Random(8)
    vocabulary = sorted({word for text in texts.values() for word in text.split()})
    texts, stories = dict(texts), dict(stories)
    one_of_each = list({min(stories[name]): name for name in texts}.values())
    sources = draw.sample(one_of_each, 2 * copies)
    for copy, (a, b) in enumerate(zip(sources[::2], sources[1::2], strict=True)):
        mixed = sentences(texts[a]) + sentences(texts[b])
        draw.shuffle(mixed)
        words = " ".join(mixed).split()
        for at in range(draw.randrange(25), len(words), 25):
            words[at] = draw.choice(vocabulary)
        name = f"copy{copy}:{a}+{b}"
        texts[name], stories[name] = " ".join(words), stories[a] | stories[b]
    return texts, stories


# %% [markdown]
# ## Finding

# %%
def judge(texts: Texts, stories: Stories, measure: str) -> dict[str, float]:
    """Precision and recall of the pairs at the threshold."""
    found = {(row["a"], row["b"]) for row in nk.pairs(texts, measure=measure, threshold=THRESHOLD).to_pylist()}
    names = list(texts)
    true = {
        (a, b) for i, a in enumerate(names) for b in names[i + 1:] if not stories[a].isdisjoint(stories[b])
    }
    right = len(found & true)
    figures = {"pairs": len(true), "found": len(found), "precision": right / max(1, len(found)), "recall": right / len(true)}
    print(f"  {measure:11}  {len(found):4} pairs found of {len(true)} true ones:"
          f" precision {figures['precision']:.3f}, recall {figures['recall']:.3f}")
    return figures


# %% [markdown]
# ## Showing
#
# A diff keeps the order of both texts, and so it sees one of the sentences that changed places and takes the other for new. Passages
# are found in any order.

# %%
def seen_by_diff(source: str, copy: str) -> float:
    """The share of the source's words in runs of five or more that a diff has as unchanged."""
    a, b = (re.findall(r"\w+", text.lower()) for text in (source, copy))
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size >= 5) / len(a)


def show(texts: Texts) -> dict[str, float]:
    """How much of the sources is found again in their copies; and the first passages of the first copy."""
    shares = []
    for name in [name for name in texts if name.startswith("copy")][:20]:
        for source in name.split(":")[1].split("+"):
            pair = nk.compare(texts[source], texts[name], passages=True)
            shares.append((pair["covered"][0], seen_by_diff(texts[source], texts[name])))
            if len(shares) == 1:
                shown = str(pair)
                print(f"{source} in {name}:")
                print("\n".join(shown[shown.index("shared passages, "):].splitlines()[:18]), "\n…")
    passages, diff = (sum(share) / len(shares) for share in zip(*shares, strict=True))
    print(f"of the words of {len(shares)} sources, passages show {passages:.1%} in the copy and a diff {diff:.1%}")
    return {"passages": passages, "diff": diff}


def main(articles: Path | None = None, pairs: Path | None = None) -> dict[str, dict[str, float]]:
    """Prints the figures; and gives them."""
    texts, stories = shipped() if articles is None or pairs is None else read(articles, pairs)
    print(f"{len(texts)} articles as they are, threshold {THRESHOLD}:")
    figures = {f"plain {measure}": judge(texts, stories, measure) for measure in ("jaccard", "containment")}
    texts, stories = disguise(texts, stories, copies=max(6, len(texts) // 25))
    print(f"with copies, {len(texts)} in all:")
    figures |= {f"copies {measure}": judge(texts, stories, measure) for measure in ("jaccard", "containment")}
    return figures | {"shown": show(texts)}


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
