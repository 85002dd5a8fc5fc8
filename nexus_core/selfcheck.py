"""Is it well, and if not, what to do: what the Health page says of this workspace, its ledger and its database."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from nexus_core import agreement, audit, costs, dashboard, l10n, replica
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.figures import Figures
from nexus_core.i18n import _, ngettext
from nexus_core.ranges import Range
from nexus_core.worker import REAP_SECONDS, worker

State = Literal["well", "look", "bad"]
SLOW_MS = 200.0
WAITING = timedelta(minutes=5)


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what it is, how it stands, what was `found`, what to `do` about it ("" when well),
    and the page (its file below pages/) where that is done."""

    title: str
    state: State
    found: str
    do: str = ""
    page: str = ""


@dataclass(frozen=True)
class Slow:
    """A statement without its parameters, how often it ran, and its milliseconds: on average and together."""

    statement: str
    calls: int
    mean_ms: float
    total_ms: float


def examine(scope: Scope, span: Range) -> list[Check]:
    """Everything that is quick to look at, of the runs in `span`; in a few short transactions."""
    with transaction(scope) as tx:
        found = [_stuck(tx), _waiting(tx), _size(tx)]
    total = costs.report(scope, span).total
    return [found[0], _reaper(), _unpriced(total), _without_usage(total), *found[1:], *_replica()]


def prove(scope: Scope, span: Range) -> Iterator[Check]:
    """What takes a second or more on a large ledger: that every place tells the same figures, and the runs, too."""
    page = dashboard.load(scope, span)
    checks = agreement.checks(page)
    wrong = ", ".join(check.name for check in checks if not check.agrees)
    yield Check(
        _("Cards, charts, tables and files"),
        "bad" if wrong else "well",
        _("They differ in: {names}.").format(names=wrong) if wrong else _("They tell the same figures."),
        _("This is a fault of Nexus: please report it with the range and the filters.") if wrong else "",
    )
    same = costs.agrees(scope, span)
    yield Check(
        _("Sums and runs"),
        "well" if same else "bad",
        _("The kept sums say what the runs say.") if same else _("The kept sums differ from the runs."),
        "" if same else _("This is a fault of Nexus: the runs are right. Please report it."),
    )
    if scope.role in ("admin", "system"):
        yield _chain(scope)


def slow_statements(tx: Transaction, limit: int = 10) -> list[Slow]:
    """The statements that take longest on average; none where the server keeps no statistics. For admins alone."""
    tx.scope.require("admin")
    return tx.all(Slow, "selfcheck.slow", limit=limit)


def _stuck(tx: Transaction) -> Check:
    row = tx.execute("selfcheck.stuck").one()
    if not row.runs:
        return Check(_("Stuck runs"), "well", _("No run hangs."))
    words = ngettext("{n} run has hung since {since}.", "{n} runs hang, the oldest since {since}.", row.runs)
    return Check(
        _("Stuck runs"),
        "bad",
        words.format(n=row.runs, since=f"{l10n.instant(row.since)} UTC"),
        _("Nexus ends them within minutes by itself. If they stay, start Nexus again."),
        "insight/runs.py",
    )


def _reaper() -> Check:
    last = worker().last("reap")
    late = last is None or datetime.now(UTC) - last > timedelta(seconds=12 * REAP_SECONDS)
    found = (
        _("It has not run yet.")
        if last is None
        else _("It ran last at {time} UTC.").format(time=l10n.clock(last, seconds=True))
    )
    advice = _("It should run every few seconds: see the log for why it fails, or start Nexus again.")
    return Check(_("Reaper of lost answers"), "bad" if late else "well", found, advice if late else "")


def _replica() -> list[Check]:
    standing = replica.standing()
    if standing is None:
        return []
    title, lag = _("Read replica"), 0.0 if standing.lag is None else standing.lag
    if standing.state == "well":
        return [
            Check(
                title,
                "well",
                _("Reports are read from it; it is {n} seconds behind.").format(n=l10n.number(round(lag))),
            )
        ]
    advice = _("See why it does not follow: its log, its disk, the network between the two.")
    return [Check(title, "look", standing.notice, advice)]


def _unpriced(total: Figures) -> Check:
    if not total.unpriced:
        return Check(_("Unpriced runs"), "well", _("Every run that ended has a price."))
    words = ngettext("{n} run has no price.", "{n} runs have no price.", total.unpriced)
    advice = _("Totals are “at least” until then: set a price for their models, then price past runs again.")
    return Check(_("Unpriced runs"), "look", words.format(n=l10n.number(total.unpriced)), advice, "system/models.py")


def _without_usage(total: Figures) -> Check:
    if not total.without_usage:
        return Check(
            _("Runs without tokens"), "well", _("Every run that ended told its tokens, or they are estimated.")
        )
    words = ngettext("{n} run tells no tokens.", "{n} runs tell no tokens.", total.without_usage)
    advice = _("These are calls that failed before their first word, or runs that were recorded without tokens.")
    return Check(
        _("Runs without tokens"), "look", words.format(n=l10n.number(total.without_usage)), advice, "insight/runs.py"
    )


def _waiting(tx: Transaction) -> Check:
    row = tx.execute("selfcheck.waiting").one()
    if not row.messages:
        return Check(_("Search index"), "well", _("Every message can be found."))
    late = datetime.now(UTC) - row.since > WAITING
    words = ngettext("{n} message waits to be indexed.", "{n} messages wait to be indexed.", row.messages)
    advice = _("It goes on in the background; if the number does not fall, see the log.") if late else ""
    return Check(_("Search index"), "look" if late else "well", words.format(n=l10n.number(row.messages)), advice)


def _size(tx: Transaction) -> Check:
    row = tx.execute("selfcheck.size").one()
    found = _("{size} now.").format(size=_bytes(row.bytes))
    if row.since is not None and (days := (datetime.now(UTC).date() - row.since).days):
        grown = _bytes(max(row.bytes - row.then_bytes, 0))
        more = ngettext("It grew by {grown} in {n} day.", "It grew by {grown} in {n} days.", days)
        found = f"{found} {more.format(grown=grown, n=days)}"
    return Check(_("Database"), "well", found)


def _chain(scope: Scope) -> Check:
    with transaction(scope) as tx:
        verdict = audit.verify(tx)
    title = _("Audit")
    if verdict.holds:
        return Check(
            title, "well", _("All {n} entries follow one another and hold.").format(n=l10n.number(verdict.entries))
        )
    found = _("It does not hold from entry {n} on.").format(n=verdict.broken_at)
    if verdict.broken_at is None:
        found = _("{n} entries are not sealed.").format(n=verdict.unsealed or verdict.last_number - verdict.entries)
    return Check(title, "bad", found, _("Somebody changed the log past Nexus: see the Audit page."), "insight/audit.py")


def _bytes(size: int) -> str:
    for unit, power in (("TB", 4), ("GB", 3), ("MB", 2)):
        if size >= 1000**power:
            return f"{l10n.number(size / 1000**power, 1)} {unit}"
    return f"{l10n.number(size / 1000)} kB"
