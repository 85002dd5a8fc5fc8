"""Forecast and causes: exact sums, and nothing claimed without grounds."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_core import outlook
from nexus_core.figures import Figures

TODAY = date(2026, 6, 17)


def daily(length: int, cost: int = 10) -> dict[date, Decimal | None]:
    return {TODAY - timedelta(days=n): Decimal(cost) for n in range(length + 1)}


def test_a_steady_month_ends_where_it_is_heading() -> None:
    found = outlook.forecast(daily(56), TODAY)
    assert found is not None
    assert (found.spent, found.expected, found.low, found.high, found.days) == (170, 300, 300, 300, 56)


def test_weekends_count_as_weekends() -> None:
    quiet = {day: Decimal(0) if day.weekday() > 4 else cost for day, cost in daily(56).items()}
    found = outlook.forecast(quiet, TODAY)
    assert found is not None and found.expected == 10 * 22  # June 2026 has 22 working days


def test_too_little_history_is_no_forecast() -> None:
    assert outlook.forecast(daily(13), TODAY) is None
    assert outlook.forecast({}, TODAY) is None
    assert outlook.forecast(daily(14), TODAY) is not None


def test_today_is_no_closed_day() -> None:
    """A morning's nothing does not pull the mean down, and a day that is dear already is not forgotten."""
    morning = daily(56) | {TODAY: Decimal(0)}
    dear = daily(56) | {TODAY: Decimal(500)}
    at_morning, when_dear = outlook.forecast(morning, TODAY), outlook.forecast(dear, TODAY)
    assert at_morning is not None and at_morning.expected == 300
    assert when_dear is not None and when_dear.expected == 160 + 500 + 130


def test_the_band_never_falls_below_what_is_spent() -> None:
    wild = {day: Decimal(1000 if n % 9 == 0 else 0) for n, day in enumerate(daily(56))}
    found = outlook.forecast(wild, TODAY)
    assert found is not None and found.spent <= found.low <= found.expected <= found.high


amounts = st.decimals(0, 1000, places=4)
sides = st.dictionaries(
    st.sampled_from([("a",), ("b",), ("c",), ("d",)]),
    st.builds(
        lambda runs, tokens, cost: Figures(runs=runs, priced=runs, priced_tokens=tokens, cost=cost if runs else None),
        st.integers(0, 500), st.integers(0, 10**6), amounts,
    ),
)  # fmt: skip


@given(before=sides, after=sides)
def test_the_causes_add_up(
    before: dict[tuple[str | None, ...], Figures], after: dict[tuple[str | None, ...], Figures]
) -> None:
    found = outlook.why(before, after)
    together = found.volume + found.mix + found.tokens + found.price
    assert together == pytest.approx(float(found.after - found.before), abs=1e-6)


@pytest.mark.parametrize(
    ("runs", "tokens", "cost", "cause"),
    [(20, 2000, "2", "volume"), (10, 2000, "2", "tokens"), (10, 1000, "2", "price")],
)
def test_each_cause_alone(runs: int, tokens: int, cost: str, cause: str) -> None:
    before = {("m",): Figures(runs=10, priced=10, priced_tokens=1000, cost=Decimal(1))}
    after = {("m",): Figures(runs=runs, priced=runs, priced_tokens=tokens, cost=Decimal(cost))}
    shares = outlook.why(before, after).shares()
    assert shares is not None
    assert shares == pytest.approx({name: 1.0 if name == cause else 0.0 for name in shares})


def test_a_new_model_is_mix() -> None:
    one = Figures(runs=10, priced=10, priced_tokens=1000, cost=Decimal(1))
    found = outlook.why(
        {("m",): one}, {("m",): one, ("dear",): Figures(runs=0, priced=10, priced_tokens=10, cost=Decimal(9))}
    )
    assert found.mix > 8 and found.price == pytest.approx(0)
