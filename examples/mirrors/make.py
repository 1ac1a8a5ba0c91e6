"""Makes the files of this folder: a made-up crawl of eighteen hosts, of which some are mirrors. Always the same.

docs.harbour.example and mirror.pier.example are one site. wiki.tide.example and wiki-old.tide.example were one; a third of the
pages were written anew since. buoys.example and sails.example run the same shop software with the same shelves, and sell
different things. The others have nothing to do with one another, but for six small ones that all have /article/read/ and a
number. The list of URLs has four of five of each site.
"""

import json
import random
from pathlib import Path

HERE = Path(__file__).parent
DRAW = random.Random(11)
WORDS = """anchor anvil apron badge barrel basin beacon bellows bench binder blanket bobbin bolt bonnet bottle bracket bramble branch
brass bridge bristle bronze bucket buckle burrow cabin cable canvas carbon carpet casket cedar chalk chapel charcoal chisel cinder
cistern clamp clay cloak clover cobble copper coral cork cotton cradle crane crater crayon cross crystal curtain cushion dagger dairy
depot ditch dome drawer drum easel ember engine fabric feather fence ferry fiddle flannel flask flint forge fountain frost funnel
furnace gable galley garden garnet gate gauge ginger girdle glacier glass goblet granite gravel grove gutter hammer hamper harbour
harness hatch hazel hearth hedge helmet hinge hollow hopper husk indigo ingot iron ivory jacket jasper kennel kettle kiln ladder
ladle lagoon lantern larch lattice laurel ledger lever linen lintel locker loom lumber magnet mantle maple marble marsh meadow mill
mirror mortar moss needle nickel oak ochre orchard oven paddle palette parcel pasture pebble pepper pewter pillar pine pitcher plank
plaster plough pocket pollen porch pottery prism pulley quarry quartz quilt rafter ratchet ribbon ridge rivet rope rudder saddle
saffron sail satin sawmill shelf shingle shovel shutter silk silver sleigh slate spindle spool spruce stable stove straw summit
tallow tannery tapestry thimble thistle timber tinder tongs trellis trowel tunnel turret valley varnish velvet vessel wagon walnut
wharf wheel willow window winter yarn""".split()


def text(length: int = 40) -> str:
    """So many words."""
    return " ".join(DRAW.choices(WORDS, k=length))


def paths(sections: int, each: int) -> dict[str, list[str]]:
    """Pages by their section."""
    return {
        section: [f"/{DRAW.choice(WORDS)}s/{section}/{'-'.join(DRAW.sample(WORDS, 2))}.html" for _ in range(each)]
        for section in DRAW.sample(WORDS, sections)
    }


def main() -> None:
    """Writes urls.txt, pages.jsonl and links.tsv."""
    urls, pages, links = [], [], []

    def page(url: str, words: str) -> None:
        pages.append({"url": url, "text": words})
        if DRAW.random() < 0.8:
            urls.append(url)

    # One site on two hosts. Its leaves have texts; the pages of sections and the home page are known by their links.
    site = paths(4, 8)
    texts = {path: text() for section in site.values() for path in section}
    for host in ("http://docs.harbour.example", "https://mirror.pier.example"):
        home = f"{host}/welcome/start"
        urls.append(home)
        for section, leaves in site.items():
            index = f"{host}/{section}/contents/all"
            urls.append(index)
            links.append((home, index))
            for path in leaves:
                links += [(index, host + path), (host + path, home), (host + path, index)]
                page(host + path, texts[path])
            links += [(index, f"http://licences.example/{name}") for name in ("terms", "privacy")]
        links += [(home, f"http://licences.example/{name}") for name in ("terms", "privacy")]

    # Once one site: a third of the pages has been written anew.
    wiki = [path for section in paths(3, 9).values() for path in section]
    for number, path in enumerate(wiki):
        old = text()
        for host in ("wiki.tide.example", "wiki-old.tide.example"):
            page(f"https://{host}{path}", text() if host == "wiki.tide.example" and number % 3 == 0 else old)

    # The same software and shelves, other goods.
    shelves = [path for section in paths(3, 8).values() for path in section]
    for host in ("buoys.example", "sails.example"):
        for path in shelves:
            page(f"https://{host}/shop{path}", text())

    for host in DRAW.sample(WORDS, 6):
        urls += [f"https://www.{host}.example{path}" for section in paths(3, 5).values() for path in section]
    for host in DRAW.sample(WORDS, 6):
        urls += [f"http://{host}-times.example/article/read/{number}" for number in range(4)]

    DRAW.shuffle(urls)
    (HERE / "urls.txt").write_text("".join(f"{url}\n" for url in urls), encoding="utf-8")
    lines = (json.dumps(one) + "\n" for one in pages)
    (HERE / "pages.jsonl").write_text("".join(lines), encoding="utf-8")
    rows = "".join(f"{source}\t{target}\n" for source, target in links)
    (HERE / "links.tsv").write_text("source\ttarget\n" + rows, encoding="utf-8")


if __name__ == "__main__":
    main()
