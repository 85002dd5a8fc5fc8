"""The made-up company of the demo, from content/*.toml: who there is, what they talk about, and chance with a seed."""

import random
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

Row = dict[str, Any]
PROJECTS = ("opening", "renewal", "platform")
OWN = "own"
_CONTENT = Path(__file__).resolve().parent / "content"
_SLOT = re.compile(r"\{([a-z]+2?)\}")


class Dice(random.Random):
    """Chance with a seed: the same questions in the same order get the same answers."""

    def id_at(self, at: datetime) -> UUID:
        """A time-ordered id (UUIDv7, RFC 9562) for something made at `at`."""
        milliseconds = int(at.timestamp() * 1000)
        return UUID(
            int=milliseconds << 80 | 7 << 76 | self.getrandbits(12) << 64 | 2 << 62 | self.getrandbits(62),
        )

    def about(self, middle: float, spread: float = 0.5) -> float:
        """A positive number around `middle`: log-normal, as times and sizes are."""
        return middle * self.lognormvariate(0, spread)


@dataclass(frozen=True)
class Model:
    """A model of the demo with its prices, in US dollars per million tokens: (input, cached, output) one after another.

    It was in use from `since` days ago until `until` days ago; `reasoning` is the share of its output that is thought.
    """

    model: str
    profile: str
    name: str
    prices: tuple[tuple[float, float, float], ...]
    first_ms: int
    per_second: int
    since: int
    until: int
    weight: int
    runtime: str
    reasoning: float

    @property
    def provider(self) -> str:
        """The provider in the model's name."""
        return self.model.partition("/")[0]


@cache
def content(name: str) -> Mapping[str, Any]:
    """One file of content/."""
    return tomllib.loads((_CONTENT / f"{name}.toml").read_text("utf-8"))


@cache
def models() -> tuple[Model, ...]:
    """Every model, in the order of the file."""
    return tuple(
        Model(
            model=item["model"],
            profile=item["profile"],
            name=item["name"],
            prices=tuple((price[0], price[1], price[2]) for price in item["prices"]),
            first_ms=item["first_ms"],
            per_second=item["per_second"],
            since=item["from"],
            until=item["to"],
            weight=item["weight"],
            runtime=item.get("runtime", "remote"),
            reasoning=item.get("reasoning", 0.0),
        )
        for item in content("cast")["models"]
    )


def at_work(days_ago: float, profiles: tuple[str, ...] = ()) -> list[Model]:
    """The models that were in use so many days ago, of these profiles where some are named; never none."""
    found = [
        one for one in models() if one.until <= days_ago <= one.since and (not profiles or one.profile in profiles)
    ]
    return found or [models()[2]]


def by_day(dice: Dice, at: datetime, now: datetime) -> datetime:
    """A moment of the office hours of that day, not after `now`."""
    local = at.astimezone(ZoneInfo(content("cast")["zone"]))
    return min(local.replace(hour=dice.randint(9, 17), minute=dice.randrange(60)), now).astimezone(UTC)


def fill(form: str, values: Mapping[str, str]) -> str:
    """The text with what stands in braces put in; other braces stay."""
    return _SLOT.sub(lambda found: values.get(found[1], found[0]), form)


def words(dice: Dice, language: str, at: datetime) -> dict[str, str]:
    """Names and figures for one conversation that begins at `at`, as its language writes them."""
    known = content("cast")["words"]
    months = known[f"months_{language}"]
    soon = at + timedelta(days=dice.randint(6, 24))
    month = months[at.month - 1]
    first, second = dice.sample([person["name"].split()[0] for person in content("cast")["people"]], 2)
    values = {name: dice.choice(known[name]) for name in ("client", "product", "place")}
    return values | {
        "client2": dice.choice([name for name in known["client"] if name != values["client"]]),
        "who": first,
        "who2": second,
        "n": str(dice.randint(3, 40)),
        "n2": str(dice.randint(4, 60)),
        "pct": str(dice.randint(4, 19)),
        "pct2": str(dice.randint(21, 38)),
        "money": _money(dice, language),
        "money2": _money(dice, language),
        "days": str(dice.randint(3, 15)),
        "hours": str(dice.randint(2, 9)),
        "ticket": str(dice.randint(1200, 9800)),
        "version": f"{dice.randint(2, 4)}.{dice.randint(0, 19)}",
        "month": month,
        "date": f"{soon.day}{' de ' if language == 'es' else ' '}{months[soon.month - 1]}",
    }


def _money(dice: Dice, language: str) -> str:
    amount = f"{dice.randint(6, 240) * 50:,}"
    return f"{amount.replace(',', '.')} €" if language == "es" else f"€{amount}"
