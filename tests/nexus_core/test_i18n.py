"""Whose language it is, and how numbers, money, days and times are written in it."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from nexus_core import i18n, l10n, worker
from nexus_core.i18n import _, ngettext, pgettext


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("es", "es"), ("es-MX,es;q=0.9,en;q=0.8", "es"), ("en-GB,es;q=0.9", "en"), ("es;q=0.4, en;q=0.5", "en"),
        ("ca,es;q=0.5", "es"), ("ES-419", "es"), ("fr", None), ("", None), (None, None), ("es;q=0", None),
        ("es;q=x", None), ("*", None), (";q=,,;,es", "es"), ("x" * 100_000, None),
    ],
)  # fmt: skip
def test_what_a_browser_asks_for(header: str | None, code: str | None) -> None:
    assert i18n.accepted(header) == code


def test_words_in_both_languages() -> None:
    assert (_("Save"), pgettext("a conversation", "Open"), _("No such message anywhere")) == (
        "Save", "Open", "No such message anywhere",
    )  # fmt: skip
    with i18n.speaking("es"):
        assert (_("Save"), pgettext("a conversation", "Open"), _("Open")) == ("Guardar", "Abierta", "Abrir")
        said = [ngettext("{n} message", "{n} messages", n).format(n=n) for n in (0, 1, 2)]
        assert said == ["0 mensajes", "1 mensaje", "2 mensajes"]
    assert _("Save") == "Save"
    with i18n.speaking("../xx"):
        assert (i18n.language(), _("Save")) == ("en", "Save")


def test_a_thread_of_nobody_speaks_english_and_work_for_somebody_their_language() -> None:
    with i18n.speaking("es"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(_, "Save").result() == "Save"
        assert pool.submit(i18n.kept().run, _, "Save").result() == "Guardar"


def test_the_worker_says_what_it_has_to_say_in_the_language_of_who_asked(database_url: str) -> None:
    said, done = [], threading.Event()

    async def job() -> str:
        await asyncio.sleep(0)
        return await asyncio.to_thread(_, "Save")

    async def other() -> None:
        said.append(await job())
        done.set()

    try:
        with i18n.speaking("es"):
            said.append(worker.worker().wait_for(job()))
            worker.worker().begin(other())
        assert done.wait(10)
        said.append(worker.worker().wait_for(job()))
    finally:
        worker.close()
    assert said == ["Guardar", "Guardar", "Save"]


AT = datetime(2026, 6, 1, 14, 3, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("write", "english", "spanish"),
    [
        (lambda: l10n.number(1_234_567), "1,234,567", "1.234.567"),
        (lambda: l10n.number(2.5, 2), "2.50", "2,50"),
        (lambda: l10n.signed(-1234.5, 1), "−1,234.5", "−1.234,5"),
        (lambda: l10n.signed(3), "+3", "+3"),
        (lambda: l10n.significant(12.345, 3), "12.3", "12,3"),
        (lambda: l10n.significant(0, 3), "0", "0"),
        (lambda: l10n.percent(0.8), "80%", "80\xa0%"),
        (lambda: l10n.money(Decimal("1234.5")), "$1,234.50", "1.234,50\xa0US$"),
        (lambda: l10n.money(Decimal("-0.000014"), 6), "-$0.000014", "-0,000014\xa0US$"),
        (lambda: l10n.day(date(2026, 6, 1)), "2026-06-01", "1 jun 2026"),
        (lambda: l10n.weekday(AT), "Mon 2026-06-01", "lun 1 jun 2026"),
        (lambda: l10n.instant(AT), "2026-06-01 14:03", "1 jun 2026, 14:03"),
        (lambda: l10n.instant(AT, seconds=True), "2026-06-01 14:03:09", "1 jun 2026, 14:03:09"),
        (lambda: l10n.grid("HH:mm"), "YYYY-MM-DD HH:mm", "DD/MM/YYYY HH:mm"),
        (lambda: l10n.weekdays()[0::6], ["Mon", "Sun"], ["lun", "dom"]),
        (lambda: l10n.plotly()["locales"][l10n.language()]["format"]["shortMonths"][0], "Jan", "ene"),
        (lambda: l10n.plotly()["locales"][l10n.language()]["format"]["days"][0], "Sunday", "domingo"),
    ],
)
def test_figures_in_both_languages(write: Callable[[], object], english: object, spanish: object) -> None:
    assert write() == english
    with i18n.speaking("es"):
        assert write() == spanish
