"""When people and programs are at work: hours of a year, weighted, and moments drawn from them."""

from datetime import datetime, timedelta
from itertools import accumulate
from zoneinfo import ZoneInfo

from nexus_core.demo.cast import Dice

DAYS = 365
_HOURS = (1, 1, 1, 1, 1, 2, 5, 14, 34, 46, 50, 47, 38, 26, 30, 42, 46, 40, 27, 15, 9, 6, 4, 2)
_QUIET = {8: 0.45, 12: 0.8, 1: 0.85}


class Rhythm:
    """The year that ends at `now` in a zone: weekdays, office hours, a quiet August, growth, better and worse days."""

    def __init__(self, dice: Dice, now: datetime, zone: ZoneInfo, *, nights: float = 0.0) -> None:
        """`nights` is what is added to every hour, of an office hour's 1: programs do not sleep."""
        self._hours = [now - timedelta(hours=number) for number in range(DAYS * 24, 0, -1)]
        mood = [dice.uniform(0.7, 1.3) for _day in range(DAYS + 1)]
        mood[dice.randrange(DAYS - 60, DAYS - 20)] *= 2.4
        weights = []
        for number, hour in enumerate(self._hours):
            local = hour.astimezone(zone)
            weekday = (0.22 if local.weekday() == 5 else 0.14) if local.weekday() > 4 else 1.0
            weight = (_HOURS[local.hour] / 50 + nights) * weekday * _QUIET.get(local.month, 1.0)
            weights.append(weight * mood[number // 24] * (0.35 + 1.25 * number / len(self._hours)))
        self._sums = list(accumulate(weights))

    def moments(self, dice: Dice, count: int) -> list[datetime]:
        """So many moments of that year, in their order."""
        hours = dice.choices(self._hours, cum_weights=self._sums, k=count)
        return sorted(hour + timedelta(seconds=dice.uniform(0, 3590)) for hour in hours)
