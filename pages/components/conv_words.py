"""The words for what a conversation is and costs, and text with what was looked for marked in it."""

from collections.abc import Sequence

from nexus_core.i18n import _, pgettext
from nexus_core.runs import Spent
from pages.components import figures
from pages.components.markdown import label


def statuses() -> dict[str, str]:
    """Names by status."""
    return {
        "open": pgettext("a conversation", "Open"),
        "summarized": pgettext("a conversation", "Summarized"),
        "archived": pgettext("a conversation", "Archived"),
    }


def kinds() -> dict[str, str]:
    """Names by kind."""
    return {
        "project": _("Project"),
        "task": _("Task"),
        "decision": _("Decision"),
        "run": _("Run"),
        "support": _("Support"),
    }


def title(text: str) -> str:
    """A title for where nothing is parsed; "New conversation" for an empty one."""
    return text or _("New conversation")


def cost(spent: Spent | None) -> str:
    """What it cost: "" without a run, "unpriced", "≥ $1.20" when some of it has no price."""
    if spent is None or not (spent.unpriced or spent.cost is not None):
        return ""
    money = figures.money(spent.cost)
    return f"≥ {money}" if spent.unpriced and spent.cost is not None else money


def marked(text: str, marks: Sequence[tuple[int, int]]) -> str:
    """`text` as Markdown on one line, literally, with the parts between `marks` on a coloured ground."""
    found, at = "", 0
    for start, end in marks:
        found += _plain(text[at:start]) + f":orange-background[{_plain(text[start:end])}]"
        at = end
    return (found + _plain(text[at:])).strip()


def _plain(text: str) -> str:
    """A piece of a line: its spaces at the ends count."""
    words = label(text)
    if not words:
        return " " if text else ""
    return " " * text[:1].isspace() + words + " " * text[-1:].isspace()
