"""Refreshing a page by itself, only while its tab can be seen: a hidden one asks the server nothing."""

from pages.components import scripts


def tick(key: str, seconds: int) -> None:
    """Run the script again every `seconds`, paused while the browser hides the tab."""
    draw = scripts.component("live")
    draw(key=key, data={"seconds": seconds}, on_now_change=_noted, width="content", height="content")


def _noted() -> None:
    """The run that a tick causes is all that it is for."""
