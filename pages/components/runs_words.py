"""What people call the states, kinds and columns of runs."""

from nexus_core import panels
from nexus_core.choices import Choices
from nexus_core.filters import NONE
from nexus_core.frames import nothing
from nexus_core.i18n import _

STATUSES = ("planned", "running", "succeeded", "failed", "blocked")
COLOURS = {"planned": "gray", "running": "blue", "succeeded": "green", "failed": "red", "blocked": "orange"}
ICONS = {
    "planned": ":material/schedule:", "running": ":material/pending:", "succeeded": ":material/check_circle:",
    "failed": ":material/error:", "blocked": ":material/block:",
}  # fmt: skip


def kinds() -> dict[str, str]:
    """What a run was made for."""
    return {
        "answer": _("answer"), "summary": _("summary"), "proposal": _("proposal"), "test": _("test of a model"),
        "embedding": _("meaning of texts"), "external": _("made elsewhere"),
    }  # fmt: skip


def runtimes() -> dict[str, str]:
    """Where a model runs."""
    return {"built in": _("built in"), "local": _("local"), "remote": _("remote")}


def value(dimension: str, text: str, found: Choices) -> str:
    """What people call a value of a filter."""
    if text == NONE:
        return nothing(dimension)
    known = {"status": panels.statuses, "kind": kinds, "runtime": runtimes}.get(dimension)
    if known:
        return known().get(text, text)
    return found.names.get(text, _("One conversation") if dimension == "conversation" else text)


def columns() -> dict[str, str]:
    """The columns of the table, in their order."""
    return {
        "when": _("When"), "status": _("Status"), "what": _("Asked"), "error": _("Error"), "model": _("Model"),
        "agent": _("Agent"), "person": _("Person"), "input": _("Tokens in"), "output": _("Tokens out"),
        "cost": _("Cost"), "duration": _("Duration"), "first": _("First token"), "answer": _("Answered"),
        "project": _("Project"), "task": _("Task"), "kind": _("Kind"), "provider": _("Provider"),
        "runtime": _("Runtime"), "profile": _("Profile"), "attempt": _("Attempt"), "cached": _("Cached tokens"),
        "reasoning": _("Reasoning tokens"), "id": _("Id"),
    }  # fmt: skip


SHOWN = ("when", "status", "what", "error", "model", "agent", "person", "input", "output", "cost", "duration")
"""The columns that are shown where nobody chose others; that of errors where something went wrong."""


def heads() -> dict[str, str]:
    """What stands above narrow columns; their names are told on hovering."""
    return columns() | {"input": _("In"), "output": _("Out"), "cached": _("Cached"), "reasoning": _("Reasoning")}
