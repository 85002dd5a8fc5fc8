"""The line under an answer, in words: who answered, how long it took, what it used and cost."""

from typing import Any

from nexus_core.i18n import _, ngettext
from nexus_core.messages import Message
from nexus_core.runs import Run
from pages.components import figures


def line(message: Message, run: Run | None) -> str:
    """Model · runtime · duration · input → output tokens · cost, with what is known; empty when nothing is."""
    model = message.model or (run and (run.served_model or run.model)) or ""
    found = [model, _runtime(message.runtime or (run and run.runtime) or "")]
    if run is not None and run.status in ("succeeded", "failed"):
        found += [figures.duration(run.duration_ms), _tokens(run), _cost(run)]
    return " · ".join(part for part in found if part)


def thought(part: dict[str, Any], run: Run | None) -> str:
    """The label of folded reasoning: how long it took, or how many tokens, where that is known."""
    spent = ((part.get("providerMetadata") or {}).get("nexus") or {}).get("duration_ms")
    if isinstance(spent, int):
        return _("Thought for {duration}").format(duration=figures.duration(spent))
    if run is not None and run.reasoning_tokens:
        return _("Thought for {count} tokens").format(count=figures.count(run.reasoning_tokens))
    return _("Thought about it")


def tool(name: str, given: dict[str, Any], output: Any) -> str:
    """A tool call in a few words, with what it was asked and how much it found."""
    hits = len(output) if isinstance(output, list) else None
    if name == "search_memory":
        words = _("Searched memory for “{query}”").format(query=given.get("query") or "")
    elif name == "read_conversation":
        words = _("Read a conversation")
    elif name == "list_decisions":
        words = _("Looked at the decisions")
    else:
        words = name
    found = "" if hits is None else " · " + ngettext("{n} result", "{n} results", hits).format(n=hits)
    return words + found


def tool_name(name: str) -> str:
    """What a tool does, in words; its name where it is not one of ours."""
    words = {
        "search_memory": _("search memory"),
        "read_conversation": _("read conversations"),
        "list_decisions": _("list decisions"),
    }
    return words.get(name, name)


def _runtime(runtime: str) -> str:
    return {"built in": _("built in"), "local": _("local"), "remote": _("remote")}.get(runtime, runtime)


def _tokens(run: Run) -> str:
    if run.input_tokens is None and run.output_tokens is None:
        return ""
    about = "≈ " if run.usage_source == "estimated" else ""
    used = f"{figures.count(run.input_tokens)} → {figures.count(run.output_tokens)}"
    return _("{tokens} tokens").format(tokens=about + used)


def _cost(run: Run) -> str:
    if run.status == "failed" and run.cost_estimate is None and not run.output_tokens:
        return ""
    return figures.money(run.cost_estimate)
