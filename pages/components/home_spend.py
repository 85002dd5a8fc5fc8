"""What a project spent this month, day by day."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import streamlit as st

from nexus_core import costs, l10n, ranges
from nexus_core.database import Scope
from nexus_core.filters import Filters
from nexus_core.i18n import _, ngettext
from pages.components import figures
from pages.components.markdown import label


def draw(scope: Scope, project_id: UUID, zone: str) -> None:
    """The month's spend with a sparkline of its days; "at least" where runs have no price."""
    now = datetime.now(UTC)
    report = costs.report(scope, ranges.make("month", zone, now), Filters(project=(project_id,)))
    total = report.total
    today = ranges.day_of(now, ranges.zone_of(zone))
    days = [float(day.cost or 0) for day in report.series[: today.day]]
    spent = l10n.money(Decimal(0), 0) if not total.runs else figures.money(total.cost)
    st.metric(
        _("Spent this month"),
        label(f"≥ {spent}" if total.at_least and total.cost is not None else spent),
        chart_data=days if len(days) > 1 and any(days) else None,
        chart_type="area",
        help=_("Days of the workspace's zone, {zone}.").format(zone=label(zone)),
    )
    runs = ngettext("{n} call to models", "{n} calls to models", total.runs).format(n=l10n.number(total.runs))
    unpriced = _("{n} without a price").format(n=total.unpriced) if total.unpriced else ""
    st.caption(" · ".join(fact for fact in (runs, unpriced) if fact))
