"""The runs of the demo: what answers and programs used, how long they took, what they cost, and how some failed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from nexus_core.demo.cast import Dice, Model, Row, at_work, content, fill, models, words
from nexus_core.demo.rhythm import Rhythm

CHEAPER = 60
"""A second price holds since so many days."""
CUBE = Decimal("0.0000000001")
_MILLION = Decimal(1_000_000)
_BROKEN = (
    ("rate_limit", "{} is getting too many requests: wait a moment and try again.", 40, 900),
    ("timeout", "{} took too long to answer: try again.", 22, 60_000),
    ("unavailable", "{} has trouble of its own at the moment: try again in a minute.", 16, 2_400),
    ("connection", "{} can't be reached: check its address and the network, then try again.", 9, 4_000),
    ("context_length", "The conversation is too long for {}: lower the agent's limits or begin a new one.", 5, 700),
    ("malformed", "{} sent something that can't be read: try again, then check the address.", 4, 3_000),
    ("content_filter", "{} refused this for its content rules: say it in other words and try again.", 4, 1_100),
)
_EMPTY: Row = dict.fromkeys((
    "project_id", "task_id", "conversation_id", "agent_id", "user_id", "prompt_summary", "response_summary",
    "served_model", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "cost_estimate",
    "cost_source", "price_version", "duration_ms", "first_token_ms", "error_type", "error_message", "finished_at",
))  # fmt: skip


class Ledger:
    """Makes runs for the year that ends at `now`."""

    def __init__(self, dice: Dice, now: datetime) -> None:
        self.dice = dice
        self.now = now
        self.runs: list[Row] = []
        self._versions: dict[tuple[str, int], int] = {}
        for model in models():
            for number in range(len(model.prices)):
                self._versions[model.model, number] = len(self._versions) + 1

    def prices(self) -> list[Row]:
        """The rows of the workspace's own prices that the runs are priced by."""
        found = []
        for model in models():
            for number, (given, cached, written) in enumerate(model.prices):
                since = CHEAPER if number else model.since + 2
                begun = self.now - timedelta(days=since)
                found.append({
                    "id": self.dice.id_at(begun), "version": self._versions[model.model, number], "model": model.model,
                    "valid_from": begun.date(), "input_price": given, "cached_price": cached, "output_price": written,
                    "created_at": begun,
                })  # fmt: skip
        return found

    def model(self, at: datetime, profiles: tuple[str, ...] = ()) -> Model:
        """One of the models that were in use at `at`, as often as its weight says."""
        found = at_work((self.now - at) / timedelta(days=1), profiles)
        return self.dice.choices(found, weights=[one.weight for one in found])[0]

    def answer(
        self, at: datetime, model: Model, tokens_in: int, tokens_out: int, *, cached: float = 0.0, **about: Any
    ) -> Row:
        """A run that succeeds, after one or two failed attempts now and then; `about` are columns of the run.

        The last attempt begins at `created_at` of the row that is returned.
        """
        request = self.dice.id_at(at)
        attempt = 1
        while attempt < 3 and self.dice.random() < 0.014:
            failed = self._begin(at, model, request, attempt, about)
            self._break(failed, model)
            at = failed["finished_at"] + timedelta(seconds=attempt * self.dice.uniform(1, 4))
            attempt += 1
        run = self._begin(at, model, request, attempt, about)
        self._use(run, model, tokens_in, tokens_out, cached)
        return run

    def fail(self, at: datetime, model: Model, **about: Any) -> Row:
        """A run that fails and is not tried again."""
        run = self._begin(at, model, self.dice.id_at(at), 1, about)
        self._break(run, model)
        return run

    def _begin(self, at: datetime, model: Model, request: Any, attempt: int, about: Row) -> Row:
        run = _EMPTY | {
            "id": self.dice.id_at(at), "request_id": request, "attempt": attempt, "kind": "answer",
            "model": model.model, "provider": model.provider, "runtime": model.runtime, "profile_slug": model.profile,
            "status": "succeeded", "usage_source": "none", "stopped": False, "metadata": {}, "created_at": at,
            "started_at": at,
        } | about  # fmt: skip
        self.runs.append(run)
        return run

    def _use(self, run: Row, model: Model, tokens_in: int, tokens_out: int, cached: float) -> None:
        dice = self.dice
        first = int(dice.about(model.first_ms + tokens_in / 60, 0.35))
        duration = first + int(tokens_out / dice.about(model.per_second, 0.15) * 1000)
        told = dice.random() > 0.004 or model.runtime == "local"
        run |= {
            "served_model": model.model, "first_token_ms": first, "duration_ms": duration,
            "finished_at": run["started_at"] + timedelta(milliseconds=duration),
        }  # fmt: skip
        if not told:
            return
        run["usage_source"] = "estimated" if dice.random() < 0.01 else "provider"
        run |= {"input_tokens": tokens_in, "output_tokens": tokens_out, "cached_tokens": int(tokens_in * cached)}
        if model.reasoning:
            run["reasoning_tokens"] = int(tokens_out * model.reasoning * dice.uniform(0.4, 1.2))
        self._price(run, model)

    def _price(self, run: Row, model: Model) -> None:
        if model.runtime == "local":
            run |= {"cost_estimate": Decimal(0), "cost_source": "local"}
        elif model.prices:
            number = 1 if len(model.prices) > 1 and self._day(run["created_at"]) >= self._cheaper() else 0
            given, cached, written = (Decimal(str(price)) for price in model.prices[number])
            amount = (
                (run["input_tokens"] - run["cached_tokens"]) * given
                + run["cached_tokens"] * cached
                + run["output_tokens"] * written
            ) / _MILLION
            version = f"own {self._versions[model.model, number]}"
            run |= {"cost_estimate": amount.quantize(CUBE), "cost_source": "own", "price_version": version}

    def _cheaper(self) -> Any:
        return (self.now - timedelta(days=CHEAPER)).date()

    def _day(self, at: datetime) -> Any:
        return at.astimezone(ZoneInfo(content("cast")["zone"])).date()

    def _break(self, run: Row, model: Model) -> None:
        kind, form, _weight, took = self.dice.choices(_BROKEN, weights=[item[2] for item in _BROKEN])[0]
        duration = int(self.dice.about(took, 0.2))
        run |= {
            "status": "failed", "error_type": kind, "duration_ms": duration,
            "error_message": form.format(model.model if kind == "context_length" else model.provider),
            "finished_at": run["started_at"] + timedelta(milliseconds=duration),
        }  # fmt: skip


def programs(ledger: Ledger, count: int, zone: ZoneInfo, projects: Sequence[Any], agents: Sequence[Any]) -> None:
    """So many runs of programs over the year: the four jobs by their shares, all day, fewer at night."""
    dice, jobs = ledger.dice, content("cast")["jobs"]
    moments = Rhythm(dice, ledger.now, zone, nights=0.12).moments(dice, count)
    shares = [job["share"] for job in jobs]
    values: dict[str, str] = {}
    begun = len(ledger.runs)
    for number, at in enumerate(moments):
        if number % 40 == 0:
            values = words(dice, "en", at)
        values["ticket"] = str(10_000 + number)
        job = dice.choices(jobs, weights=shares)[0]
        kind = dice.randrange(len(job["say"]))
        about = {
            "kind": "external", "project_id": projects[job["project"]], "agent_id": agents[job["agent"]],
            "prompt_summary": fill(job["say"][kind], values),
        }  # fmt: skip
        model = ledger.model(at, tuple(job["profiles"]))
        if dice.random() < 0.006:
            ledger.fail(at, model, **about)
            continue
        about["response_summary"] = fill(job["got"][kind % len(job["got"])], values)
        tokens = int(dice.about(job["tokens_in"], 0.4)), max(4, int(dice.about(job["tokens_out"], 0.5)))
        ledger.answer(at, model, *tokens, cached=dice.choice((0, 0, 0.5, 0.7)), **about)
    del ledger.runs[begun : len(ledger.runs) - count]  # the oldest, for what was tried again


def archive(ledger: Ledger, zone: ZoneInfo, runs: int, project: Any, agent: Any) -> None:
    """On the first of every month, soon after midnight, the triage reads the whole archive again, with a dear model."""
    local = ledger.now.astimezone(zone)
    careful = next(model for model in models() if model.profile == "careful")
    for back in range(12):
        year, month = divmod(local.year * 12 + local.month - 1 - back, 12)
        at = datetime(year, month + 1, 1, 0, 5, tzinfo=zone).astimezone(ledger.now.tzinfo)
        for number in range(runs):
            at += timedelta(seconds=ledger.dice.uniform(20, 90))
            if at > ledger.now - timedelta(minutes=2):
                break
            told = {"prompt_summary": f"Archive of support, part {number + 1}", "response_summary": "Labels checked"}
            about = {"kind": "external", "project_id": project, "agent_id": agent} | told
            ledger.answer(at, careful, int(ledger.dice.about(42_000, 0.2)), 900, **about)


def block(runs: Sequence[Row], agent: Any, since: datetime, share: Decimal) -> Decimal:
    """The amount that this agent's runs since an instant pass at `share` of what they cost; later ones are blocked."""
    mine = sorted((run for run in runs if run["agent_id"] == agent and run["created_at"] >= since),
                  key=lambda run: (run["created_at"], run["id"]))  # fmt: skip
    amount = round_(sum((run["cost_estimate"] or Decimal(0) for run in mine), Decimal(0)) * share)
    spent = Decimal(0)
    for run in mine:
        if spent >= amount > 0 and run["runtime"] != "local":
            run |= {key: value for key, value in _EMPTY.items() if key.endswith(("_tokens", "_ms", "served_model"))}
            run |= {
                "status": "blocked", "response_summary": None, "cost_estimate": None, "cost_source": None,
                "price_version": None, "usage_source": "none", "error_type": "budget", "started_at": None,
                "error_message": f"The budget of the agent for this month, {amount:,.2f} dollars, is used up.",
                "finished_at": None,
            }  # fmt: skip
        spent += run["cost_estimate"] or Decimal(0)
    return amount


def round_(amount: Decimal) -> Decimal:
    """An amount as a person would set it: two figures that count."""
    return Decimal(f"{amount:.1e}") if amount else Decimal(0)
