"""Small drawings of a course, for cards."""

from collections.abc import Sequence
from typing import Any

from nexus_core.palette import theme


def draw(values: Sequence[Any], *, mode: str = "light", width: int = 72, height: int = 24) -> str:
    """A line without axes for a card, as SVG; what is unknown is a gap, one value alone is a point."""
    numbers = [float("nan") if value is None else float(value) for value in values]
    known = [value for value in numbers if value == value]
    low, high = min([0.0, *known]), max([0.0, *known])
    step, scale = (width - 6) / max(len(numbers) - 1, 1), (height - 6) / ((high - low) or 1)
    path, pen = "", "M"
    for place, value in enumerate(numbers):
        if value != value:
            pen = "M"
            continue
        x, y = 3 + place * step, height - 3 - (value - low) * scale
        path += f"{pen}{x:.1f} {y:.1f}" + ("h.01" if pen == "M" else "")  # a stroke of no length is not drawn
        pen = "L"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<path d="{path}" fill="none" stroke="{theme(mode)["primaryColor"]}" stroke-width="2" stroke-linecap="round"'
        f' stroke-linejoin="round"/></svg>'
    )
