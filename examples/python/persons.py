"""Writes two made-up registers of persons, about half of whom are in both, with what clerks do to records.

usage: python examples/python/persons.py [--count 10000] [--seed 1] FOLDER

FOLDER gets a.csv and b.csv with `id`, `given_name`, `surname`, `born`, `street`, `city`, `postcode`, `phone`, `email` and
`since` (when the record was made), and truth.csv with the ids `a` and `b` of every person who is in both. In b.csv a
field is mistyped, missing, shortened to a nickname or an abbreviation, or of an earlier address or telephone, now and then.
Same arguments, same bytes. Needs Python 3.9 and nothing else.
"""

import argparse
import csv
import datetime
import random
from bisect import bisect
from itertools import accumulate
from pathlib import Path

FIELDS = ["id", "given_name", "surname", "born", "street", "city", "postcode", "phone", "email", "since"]
GIVEN = """james jim;mary molly;robert bob;patricia pat;john jack;jennifer jenny;michael mike;linda lindy;david dave;
elizabeth liz;william bill;barbara barb;richard rick;susan sue;joseph joe;jessica jess;thomas tom;margaret peggy;charles
chuck;sarah sally;christopher chris;katherine kate;daniel dan;nancy nan;matthew matt;deborah debbie;anthony tony;sandra
sandy;donald don;angela angie;steven steve;rebecca becky;andrew andy;catherine cathy;kenneth ken;victoria vicky;edward ted;
christine tina;ronald ron;samantha sam;timothy tim;alexandra lexi;jeffrey jeff;cynthia cindy;nicholas nick;dorothy dot;
gregory greg;pamela pam;benjamin ben;theresa tess;samuel sammy;judith judy;raymond ray;frances fran;patrick paddy;jacqueline
jackie;alexander alex;amanda mandy;frederick fred;eleanor nell;henry harry;philip phil;peter pete;lawrence larry"""
STREETS = ["street st", "road rd", "avenue ave", "lane ln", "drive dr", "place pl", "square sq", "court ct"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Names:
    """Made-up names, the first of them the most frequent, as names are."""

    def __init__(self, chance: random.Random, count: int, ends: list[str]) -> None:
        heads = ["b", "br", "c", "ch", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "w"]
        vowels = ["a", "e", "i", "o", "u", "ea", "oo"]
        names: dict[str, None] = {}
        while len(names) < count:
            parts = [chance.choice(heads) + chance.choice(vowels) for _ in range(chance.choice([1, 2, 2, 3]))]
            names["".join(parts) + chance.choice(ends)] = None
        self.names = list(names)
        self.sums = list(accumulate(1 / (place + 5) for place in range(count)))

    def draw(self, chance: random.Random) -> str:
        return self.names[bisect(self.sums, chance.random() * self.sums[-1])]


class World:
    """Where the persons come from."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.nicknames = dict(pair.split() for pair in GIVEN.replace("\n", " ").split(";"))
        self.given = list(self.nicknames)
        self.surnames = Names(self.chance, 20000, ["n", "r", "son", "ler", "ton", "ley", "man", "s", "ck"])
        self.roads = Names(self.chance, 5000, ["field", "wood", "gate", "hill", "brook", "ford"])
        self.cities = Names(self.chance, 500, ["ton", "ham", "bury", "ville", "port"])

    def address(self) -> dict[str, str]:
        chance = self.chance
        city = self.cities.draw(chance)
        street = f"{chance.randrange(1, 300)} {self.roads.draw(chance)} {chance.choice(STREETS).split()[0]}"
        return {"street": street, "city": city, "postcode": f"{sum(map(ord, city)) * 37 % 900 + 100}{chance.randrange(100):02}"}

    def phone(self) -> str:
        return f"0{self.chance.randrange(20, 99)} {self.chance.randrange(1000000, 9999999)}"

    def person(self) -> dict[str, str]:
        chance = self.chance
        given = chance.choice(self.given)
        surname = self.surnames.draw(chance)
        born = datetime.date(1930, 1, 1) + datetime.timedelta(days=chance.randrange(28000))
        email = f"{given}.{surname}{chance.randrange(100)}@{chance.choice(['post', 'mail', 'letters', 'inbox'])}.example"
        since = datetime.date(2020, 1, 1) + datetime.timedelta(days=chance.randrange(1000))
        return {
            "given_name": given, "surname": surname, "born": born.isoformat(), **self.address(),
            "phone": self.phone(), "email": email, "since": since.isoformat(),
        }

    def typo(self, text: str) -> str:
        chance = self.chance
        place = chance.randrange(len(text))
        letter = chance.choice("0123456789" if text[place].isdigit() else LETTERS)
        return chance.choice([
            text[:place] + letter + text[place:],
            text[:place] + text[place + 1:],
            text[:place] + letter + text[place + 1:],
            text[:place] + text[place + 1:place + 2] + text[place] + text[place + 2:],
        ])

    def as_registered(self, person: dict[str, str]) -> dict[str, str]:
        """The same person in the other register, up to ninety days later."""
        chance = self.chance
        other = dict(person)
        if chance.random() < 0.10:
            other["given_name"] = self.nicknames[other["given_name"]]
        if chance.random() < 0.30:
            word, short = chance.choice(STREETS).split()
            other["street"] = other["street"].replace(word, short)
        if chance.random() < 0.10:
            other.update(self.address())
        if chance.random() < 0.15:
            other["phone"] = self.phone()
        if chance.random() < 0.03:
            other["surname"] = self.surnames.draw(chance)
        for field in FIELDS[1:-1]:
            if other[field] and chance.random() < 0.06:
                other[field] = self.typo(other[field])
            if chance.random() < 0.06:
                other[field] = ""
        # Ten days later, on average.
        days = min(90, int(chance.expovariate(0.1)))
        other["since"] = (datetime.date.fromisoformat(person["since"]) + datetime.timedelta(days=days)).isoformat()
        return other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10000, help="persons of each register [default: 10000]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    world = World(args.seed)
    args.folder.mkdir(parents=True, exist_ok=True)
    shared = args.count // 2
    places = list(range(args.count))
    world.chance.shuffle(places)
    place_of = {number: place for place, number in enumerate(places)}
    second: list[list[str]] = [[]] * args.count
    with open(args.folder / "a.csv", "w", newline="") as file:
        a = csv.DictWriter(file, FIELDS)
        a.writeheader()
        for number in range(args.count):
            person = world.person()
            a.writerow({"id": f"a{number}", **person})
            other = world.as_registered(person if number < shared else world.person())
            second[place_of[number]] = [other[field] for field in FIELDS[1:]]
    with open(args.folder / "b.csv", "w", newline="") as file:
        b = csv.writer(file)
        b.writerow(FIELDS)
        b.writerows([f"b{place}", *values] for place, values in enumerate(second))
    with open(args.folder / "truth.csv", "w", newline="") as file:
        truth = csv.writer(file)
        truth.writerow(["a", "b"])
        truth.writerows([f"a{number}", f"b{place_of[number]}"] for number in range(shared))


if __name__ == "__main__":
    main()
