# %% [markdown]
# # One story in many frames
#
# Papers print the same agency story, each with parts left out and with its own menus, advertisements and links around it. Plain shingles
# take the frame as seriously as the story. Shingles that start with a stop word come from prose, which menus are not (Mining of Massive
# Datasets, 3.2.4 and 3.8.6). This page makes such pages, groups them by story with both kinds of shingles, and counts.
#
#     python examples/python/news.py [articles.jsonl.gz]      stories from there; else those of examples/news

# %%
import gzip
import itertools
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import nearkin as nk

NEWS = Path(__file__).parent.parent / "news"
Pages = dict[str, str]
Options = dict[str, Any]


def shipped() -> list[str]:
    """The stories of this repository, one article each."""
    stories = {"-".join(path.stem.split("-")[:2]): path for path in sorted(NEWS.glob("*.txt"), reverse=True)}
    return [path.read_text(encoding="utf-8") for path in stories.values()]


def read(path: Path, most: int = 150) -> list[str]:
    """The first articles of a file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in itertools.islice(lines, most)]


# %% [markdown]
# ## Frames
#
# A paper has a name and things that are the same on all its pages. What is put around a story are lists (few stop words), notices (prose,
# and many papers have the same one, from whoever sells such notices), and what readers write (prose that is never the same).

# %%
PLACES = "Northport Ashby Kilmore Redhill Winton Elmfield Castleton Marlow Dunmore Haverton Oakley Stonebridge".split()
TITLES = "Courier Herald Gazette Post Times Echo Chronicle Observer Tribune Mercury Lantern Review".split()
SECTIONS = """News Politics Business Markets Money Property Motoring Sport Football Cricket Tennis Rugby Golf Racing Culture Books Film
Music Theatre Television Radio Food Recipes Wine Restaurants Travel Hotels Cruises Fashion Beauty Health Fitness Science Technology Games
Crosswords Sudoku Horoscopes Cartoons Opinion Letters Editorials Columnists Obituaries Weather Jobs Courts Planning Schools Universities
Farming Events Video Podcasts Photographs Archive Newsletters Subscriptions Vouchers""".split()
GOODS = """Sudzo washing powder|Brightway garden sheds|Nimbus mattresses|Harper hearing aids|Voltario electric bicycles|Kettleby teas
|Solana roof panels|Pawsome dog food|Glidewell stairlifts|Merino slippers|Fjord kitchen knives|Lumo reading lamps""".replace("\n", "").split("|")
OFFERS = ["50% off", "Free delivery", "Last chance", "New season", "Save £20 today", "Limited stock", "Shop now", "Order online", "Half price"]
NOTICES = [
    "We and our partners store and access information on your device, such as cookies, and process personal data, such as unique"
    " identifiers, so that we can show you advertisements that are based on what you have read, measure how they are received and learn more"
    " about the people who see them. You may change your mind at any time by coming back to this page, and some of our partners do not ask"
    " for your consent but rely on their own interest in the matter.",
    "This website uses cookies to make sure that you get the best experience when you visit it. If you go on without changing your"
    " settings, we will take it that you are happy to receive all of them. To find out more, or to say no to some, go to the page about"
    " cookies, which tells you what each of them is for and how long it will be kept.",
    "Your choice about your privacy is important to us. With your permission we would like to use what we know about the device that you"
    " are reading on, and about where it is, to choose what you see. If you would rather not, you can still read three articles in"
    " a month before we ask you to pay for more.",
]
APPEALS = [
    "If you have read this far, it is because you care about what is going on in {place}. Our reporters sit through the meetings so"
    " that you do not have to. Help us to go on doing it by becoming a member of The {name} for less than the price of a cup of coffee in"
    " a week.",
    "Sign up for the letter that our editor sends out every morning with the stories that are going to matter in {place} during the day."
    " You can leave whenever you like, and we will never pass your address to anyone else.",
    "The {name} has been a part of life in {place} for more than a hundred years. Do you have a story for us, or a picture that you"
    " would like to share? Write to the news desk, or call in at the office in the High Street between nine and five.",
]
REMARKS = [
    "I have lived here for {n} years and it was never like this before.",
    "They should have asked the people who have to live with it.",
    "My neighbour at number {n} said the same thing to me only last week.",
    "As usual it will be us who pay for it in the end, and not them.",
    "Well done to all of those who were there on the day, I was one of {n}.",
    "Does anyone know what is going to happen to the {n} bus?",
    "It is about time that somebody did something, I wrote to them {n} times.",
    "What I do not understand is why it has to take {n} weeks for this.",
    "You can say what you like but it would not have happened under the last lot.",
    "There were {n} of them outside the shop when I went past at noon.",
]
LINKS = "Contact|About us|Advertise|Privacy|Terms|Accessibility|Site map|Corrections|Back issues|Staff|Careers|Help".split("|")


@dataclass
class Paper:
    """What stays the same from page to page."""

    name: str
    place: str
    sections: list[str]
    notice: str
    appeal: str
    most_read: list[str]
    heavy: bool


#: Part of a frame: what a paper puts on a page, given headlines of other stories.
Part = Callable[[random.Random, Paper, list[str]], str]


def masthead(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    return f"The {paper.name}\nFounded {1800 + len(paper.name)} {paper.place} edition Log in Subscribe Search Menu"


def navigation(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    return "\n".join(["Home", *paper.sections])


def trail(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    return f"Home › {paper.sections[0]} › {paper.place} › {draw.randint(1, 28)} March {draw.randint(10, 23)}:{draw.randint(10, 59)}"


def prices(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    return " ".join(f"{name} {draw.randint(100, 9999)} {draw.uniform(-3, 3):+.1f}%" for name in ("Oil", "Gold", "Wheat", "Copper", "Dollar"))


def weather(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    days = ("Today", "Tonight", "Tomorrow", "Saturday", "Sunday")
    return "\n".join(f"{day} {draw.randint(-2, 24)}° {draw.choice(['Sunny', 'Showers', 'Cloudy', 'Fog', 'Windy'])}" for day in days)


def advertisements(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    kinds = draw.sample(GOODS, 5 if paper.heavy else 2)
    return "\n".join(f"Advertisement\n{kind}. {draw.choice(OFFERS)}! {draw.choice(OFFERS)}." for kind in kinds)


def read_also(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    return "Read also\n" + "\n".join(draw.sample(headlines, 10 if paper.heavy else 4))


def most_read(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    return "Most read\n" + "\n".join(f"{i} {line}" for i, line in enumerate(paper.most_read, 1))


def sharing(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    tags = ", ".join(draw.sample(paper.sections, 4))
    return f"Share Email Print Save Copy link {draw.randint(0, 400)} comments\nTags: {tags}"


def footer(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    return f"{' | '.join(LINKS)}\n© {paper.name} Media Ltd, 14 High Street, {paper.place}. All rights reserved."


def notice(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    return paper.notice


def appeal(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    return paper.appeal.format(name=paper.name, place=paper.place)


def comments(draw: random.Random, paper: Paper, headlines: list[str]) -> str:
    remarks = [remark.format(n=draw.randint(2, 99)) for remark in draw.sample(REMARKS, 8 if paper.heavy else 4)]
    return "\n".join(f"Reader{draw.randint(100, 999)}\n{remark}" for remark in remarks)


LISTS: list[Part] = [masthead, navigation, trail, prices, weather, advertisements, read_also, most_read, sharing, footer]
FRAMES: dict[str, list[Part]] = {
    "lists": LISTS,
    "lists and notices": [*LISTS, notice, appeal],
    "lists, notices, comments": [*LISTS, notice, appeal, comments],
}


# %% [markdown]
# ## Pages
#
# A story is printed by one to five papers. Each may drop its end, or sentences from its middle, and puts its frame around the rest.

# %%
def headline(story: str) -> str:
    """The first words of a story, as headlines are written: without articles."""
    words = [word for word in story.split()[:12] if word.lower() not in ("the", "a", "an")]
    return " ".join(words[:8])


def edited(draw: random.Random, story: str) -> str:
    """What a paper prints of a story: all of it, or without its end, or with gaps."""
    sentences = re.split(r"(?<=[.!?])\s+", story.strip())
    match draw.randrange(3):
        case 0:
            return " ".join(sentences)
        case 1:
            return " ".join(sentences[: max(3, round(len(sentences) * draw.uniform(0.5, 0.9)))])
        case _:
            return " ".join(sentence for sentence in sentences if draw.random() < 0.8)


def make_pages(stories: list[str], parts: list[Part], seed: int) -> Pages:
    """Pages by name; what stands before the slash is the story."""
    draw = random.Random(seed)
    headlines = [headline(story) for story in stories]
    papers = [
        Paper(f"{place} {title}", place, draw.sample(SECTIONS, draw.randint(8, 45)), draw.choice(NOTICES), draw.choice(APPEALS),
              draw.sample(headlines, 5), draw.random() < 0.5)
        for place, title in zip(PLACES, draw.sample(TITLES, len(PLACES)), strict=True)
    ]
    pages = {}
    for number, story in enumerate(stories):
        for paper in draw.sample(papers, draw.randint(1, 5)):
            before = [part(draw, paper, headlines) for part in parts[:5]]
            after = [part(draw, paper, headlines) for part in parts[5:]]
            pages[f"{number}/{paper.name}"] = "\n\n".join([*before, headlines[number], edited(draw, story), *after])
    return pages


# %% [markdown]
# ## Pairs of one story, and groups
#
# By the Jaccard similarity of shingles, and by the cosine of tf-idf vectors, in which what stands on many pages counts little. Thresholds
# are chosen on other pages than they are judged on.

# %%
WAYS: dict[str, Options] = {
    "stopwords": {"shingle": "stopwords"},
    "words:5": {"shingle": "words:5"},
    "words:3": {"shingle": "words:3"},
    "chars:10": {"shingle": "chars:10"},
    "stopwords, tf-idf": {"shingle": "stopwords", "measure": "cosine"},
    "words:3, tf-idf": {"shingle": "words:3", "measure": "cosine"},
}


class Scores(NamedTuple):
    """How well pairs are found."""

    precision: float
    recall: float
    f1: float


def story(page: str) -> str:
    """The story of a page."""
    return page.split("/")[0]


def paper(page: str) -> str:
    """The paper of a page."""
    return page.split("/")[1]


def true_pairs(pages: Pages) -> int:
    """Pairs of pages that have the same story."""
    return sum(n * (n - 1) // 2 for n in Counter(map(story, pages)).values())


def scores(found: int, right: int, true: int) -> Scores:
    """Precision, recall, and their harmonic mean."""
    return Scores(right / found if found else 1.0, right / true, 2 * right / (found + true))


def similarities(pages: Pages, way: Options) -> list[dict[str, Any]]:
    """Pairs of pages at or above 0.01, the most similar first."""
    rows = nk.pairs(pages, **way, threshold=0.01, exact=True).to_pylist()
    return sorted(rows, key=lambda row: (-row["similarity"], row["a"], row["b"]))


def by_threshold(pages: Pages, rows: list[dict[str, Any]]) -> dict[float, tuple[Scores, Scores]]:
    """For every threshold the scores of its pairs, and of the pairs that are in one group when all of its pairs are joined."""
    group = {page: [page] for page in pages}
    found, right, true, at = Counter[str](), Counter[str](), true_pairs(pages), 0
    curve = {}
    for threshold in [i / 100 for i in range(95, 0, -1)]:
        while at < len(rows) and rows[at]["similarity"] >= threshold:
            a, b = rows[at]["a"], rows[at]["b"]
            found["pairs"] += 1
            right["pairs"] += story(a) == story(b)
            if group[a] is not group[b]:
                found["groups"] += len(group[a]) * len(group[b])
                right["groups"] += sum(story(x) == story(y) for x in group[a] for y in group[b])
                group[a] += group[b]
                for page in group[b]:
                    group[page] = group[a]
            at += 1
        curve[threshold] = (
            scores(found["pairs"], right["pairs"], true), scores(found["groups"], right["groups"], true)
        )
    return curve


def likeness(pages: Pages, rows: list[dict[str, Any]]) -> tuple[float, float]:
    """The mean similarity of two pages with one story in different frames, and of two stories in frames of one paper."""
    same_story = sum(row["similarity"] for row in rows if story(row["a"]) == story(row["b"]))
    same_paper = sum(row["similarity"] for row in rows if paper(row["a"]) == paper(row["b"]))
    papers = Counter(map(paper, pages)).values()
    return same_story / true_pairs(pages), same_paper / sum(n * (n - 1) // 2 for n in papers)


def judge(pages: Pages, tried: Pages, way: Options) -> dict[str, float]:
    """Scores at the thresholds that are best on other pages, those that were tried; and at 0.8."""
    curve = by_threshold(tried, similarities(tried, way))
    best, best_groups = (max(curve, key=lambda threshold: curve[threshold][kind].f1) for kind in (0, 1))
    rows = similarities(pages, way)
    judged = by_threshold(pages, rows)
    pairs, groups = judged[best][0], judged[best_groups][1]
    same_story, same_paper = likeness(pages, rows)
    return {
        "story": same_story, "paper": same_paper,
        "at": best, "precision": pairs.precision, "recall": pairs.recall, "F1": pairs.f1,
        "groups at": best_groups, "groups precision": groups.precision, "groups recall": groups.recall, "groups F1": groups.f1,
        "recall at 0.8": judged[0.8][0].recall,
    }


def main(path: Path | None = None) -> dict[tuple[str, str], dict[str, float]]:
    """Prints the figures; and gives them by frames and way."""
    stories = shipped() if path is None else read(path)
    figures = {}
    for frames, parts in FRAMES.items():
        tried, pages = make_pages(stories, parts, seed=1), make_pages(stories, parts, seed=2)
        print(f"\n{len(pages)} pages of {len(stories)} stories, frames of {frames}; {true_pairs(pages)} pairs have the same story")
        print("                    similarity        pairs                     groups                    recall")
        print("                    story  paper   at  precision recall  F1     at  precision recall  F1  at 0.8")
        for name, way in WAYS.items():
            figure = figures[frames, name] = judge(pages, tried, way)
            print(f"  {name:17} {figure['story']:.3f}  {figure['paper']:.3f}"
                  f"  {figure['at']:.2f}    {figure['precision']:.3f}  {figure['recall']:.3f} {figure['F1']:.3f}"
                  f"  {figure['groups at']:.2f}    {figure['groups precision']:.3f}  {figure['groups recall']:.3f} {figure['groups F1']:.3f}"
                  f"   {figure['recall at 0.8']:.3f}")
    return figures


# %% [markdown]
# The groups are those of `nk.dedup(pages, shingle="stopwords", threshold=0.2, chains=True).clusters`.

# %%
if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else None)
