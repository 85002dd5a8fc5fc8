"""Figures as people read them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from pages.components import figures


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (None, "unpriced"),
        (Decimal(0), "free"),
        (Decimal("12.3"), "$12.30"),
        (Decimal("1204.111"), "$1,204.11"),
        (Decimal("0.0021"), "$0.0021"),
        (Decimal("0.000014"), "$0.000014"),
        (Decimal("0.5"), "$0.50"),
    ],
)
def test_money(amount: Decimal | None, words: str) -> None:
    assert figures.money(amount) == words


def test_durations_and_counts() -> None:
    assert [figures.duration(ms) for ms in (None, 40, 1200, 12_300, 125_000)] == [
        "", "0.1 s", "1.2 s", "12 s", "2 min 5 s",
    ]  # fmt: skip
    assert [figures.count(n) for n in (None, 0, 812, 6200, 16_000, 412_345, 41_200_000)] == [
        "?", "0", "812", "6.2k", "16k", "412k", "41.2M",
    ]  # fmt: skip


def test_when_is_a_time_today_and_a_date_before() -> None:
    noon = datetime(2026, 5, 14, 12, 30, tzinfo=UTC)
    said = [figures.when(noon - timedelta(days=days), noon) for days in (0, 1, 2)]
    assert said == ["12:30", "Yesterday", "2026-05-12"]
