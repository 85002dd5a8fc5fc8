"""What the assistant saw: what was sent for an answer, section by section, and what was left out and why."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import streamlit as st

from nexus_core import runs
from nexus_core.database import transaction
from nexus_core.i18n import _, ngettext
from nexus_core.runs import Run
from pages.components import chat_figures, figures, session
from pages.components.markdown import label, literal

CHAT = Path(__file__).resolve().parents[1] / "work" / "chat.py"
Section = Mapping[str, Any]
OLDER = ("messages", "tokens", "mode")
"""The reasons for which nothing older is sent either."""


def button(message_id: UUID, run: Run) -> None:
    """The button of an answer that opens the receipt of its run."""
    words = _("What the assistant saw: what was sent for this answer, and what was left out")
    if st.button(_("What it saw"), key=f"chat_receipt_{message_id}", type="tertiary", help=words):
        st.dialog(_("What the assistant saw"), position="right", width="medium")(_receipt)(run)


def _receipt(run: Run) -> None:
    with transaction(session.scope()) as tx:
        receipt = runs.receipt(tx, run.id)
    draw(receipt, run)


def draw(receipt: Mapping[str, Any] | None, run: Run) -> None:
    """What a receipt says, section by section with tokens, and what was left out."""
    if not receipt or not receipt.get("sections"):
        st.info(_("Nothing is recorded of what was sent for this answer."))
        return
    sections = receipt["sections"]
    total = sum(section.get("tokens") or 0 for section in sections)
    st.caption(_summary(receipt, run, total))
    for section in sections:
        _section(section, total, run)
    _left_out(receipt)
    st.caption(_("Token numbers are estimates, made before the call; the line under the answer has the counted ones."))


def _summary(receipt: Mapping[str, Any], run: Run, total: int) -> str:
    sent = _("About {count} tokens were sent to {model}.").format(
        count=figures.count(total), model=label(str(receipt.get("model") or run.model))
    )
    tools = receipt.get("tools") or []
    if tools:
        names = ", ".join(chat_figures.tool_name(name) for name in tools)
        sent += " " + _("It could also: {tools}.").format(tools=label(names))
    return sent


def _section(section: Section, total: int, run: Run) -> None:
    tokens = int(section.get("tokens") or 0)
    with st.container(gap="xxsmall"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"**{label(_name(section))}**", width="content")
            st.caption(_("{count} tokens").format(count=figures.count(tokens)), width="content")
        st.progress(min(tokens / total, 1.0) if total else 0.0)
        _detail(section, run)


def _name(section: Section) -> str:
    names = {
        "instructions": _("Instructions"),
        "memory": _("Project memory, version {version}").format(version=section.get("version")),
        "summary": _("Summary of messages {first} to {last}").format(
            first=section.get("from_seq"), last=section.get("to_seq")
        ),
        "recall": _("From other conversations"),
        "window": _("Earlier messages"),
        "message": _("Your message"),
    }
    name = str(section.get("section"))
    return names.get(name, name)


def _detail(section: Section, run: Run) -> None:
    kind = section.get("section")
    if kind == "instructions" and section.get("text"):
        with st.expander(_("Read them"), type="compact"):
            st.text(str(section["text"]))
    elif kind == "window":
        st.caption(_said(section.get("messages") or [], run) or _("None"))
    elif kind == "message":
        st.caption(_numbers([section["seq"]]))
    elif kind == "recall":
        st.space("xxsmall")  # links stand out of their lines, up and down
        with st.container(gap="small"):
            for passage in section.get("passages") or []:
                _passage(passage)


def _said(groups: list[Section], run: Run) -> str:
    """The numbers of the messages sent, and how many came from other conversations (user memory)."""
    here = [n for group in groups if str(group["conversation_id"]) == str(run.conversation_id) for n in group["seqs"]]
    others = [group for group in groups if str(group["conversation_id"]) != str(run.conversation_id)]
    number = sum(len(group["seqs"]) for group in others)
    words = ngettext("{n} message of other conversations", "{n} messages of other conversations", number)
    return ", ".join(part for part in (words.format(n=number) if number else "", _numbers(here)) if part)


def _passage(passage: Section) -> None:
    title = str(passage.get("title") or "") or _("Untitled conversation")
    st.page_link(
        CHAT,
        label=label(_("Message {number} of {title}").format(title=title, number=passage.get("seq"))),
        icon=":material/format_quote:",
        query_params=session.here()
        | {"conversation": str(passage["conversation_id"]), "message": str(passage["message_id"])},
    )


def _left_out(receipt: Mapping[str, Any]) -> None:
    lines = [*_messages_left(receipt), *_memory_left(receipt), *_notes(receipt)]
    st.markdown(f"**{_('Left out')}**")
    if not lines:
        st.caption(_("Nothing; everything there is was sent."))
    for line in lines:
        st.markdown(f"- {literal(line)}")


def _messages_left(receipt: Mapping[str, Any]) -> list[str]:
    limits = receipt.get("limits") or {}
    reasons = {
        "messages": _("over the limit of {limit} messages").format(limit=limits.get("messages")),
        "tokens": _("over the limit of {limit} tokens").format(limit=figures.count(limits.get("tokens"))),
        "mode": _("this agent sees the new message alone"),
        "empty": _("nothing is in it that could be sent"),
        "unfinished": _("still being written"),
        "orphan": _("a tool's result without its call"),
    }
    by_reason: dict[str, list[int]] = {}
    for row in receipt.get("left_out") or []:
        by_reason.setdefault(str(row.get("reason")), []).append(int(row["seq"]))
    older = _older(receipt, by_reason)
    return [
        f"{_numbers(older if reason in OLDER and older else numbers)}: {reasons.get(reason, reason)}"
        for reason, numbers in by_reason.items()
    ]


def _older(receipt: Mapping[str, Any], by_reason: Mapping[str, list[int]]) -> list[int]:
    """Every number before the first that was sent; the receipt names only the next one."""
    first = int(receipt.get("first_seq") or 1)
    covered = next((s["to_seq"] for s in receipt["sections"] if s.get("section") == "summary"), 0)
    return list(range(covered + 1, first)) if set(by_reason) & set(OLDER) else []


def _memory_left(receipt: Mapping[str, Any]) -> list[str]:
    reasons = Counter(str(entry.get("reason")) for entry in receipt.get("memory_left_out") or [])
    found = []
    if closed := reasons["closed"]:
        words = ngettext("{n} entry of the memory: settled", "{n} entries of the memory: settled", closed)
        found.append(words.format(n=closed))
    if big := reasons["tokens"]:
        words = ngettext("{n} entry of the memory: no room", "{n} entries of the memory: no room", big)
        found.append(words.format(n=big))
    return found


def _notes(receipt: Mapping[str, Any]) -> list[str]:
    words = {
        "oversize": _("Your message alone is larger than the token limit; it was sent whole, without earlier ones"),
        "smaller_window": _(
            "The first attempt was too long for the model; half as much history was sent the second time"
        ),
        "recall_failed": _("The project's other conversations could not be searched; the log says why"),
    }
    return [words.get(note, str(note)) for note in receipt.get("notes") or []]


def _numbers(numbers: list[int]) -> str:
    """ "Message 7", "Messages 3 to 9", "Messages 1 to 4, 8"; empty for none."""
    runs_: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs_ and number == runs_[-1][-1] + 1:
            runs_[-1].append(number)
        else:
            runs_.append([number])
    spans = [str(r[0]) if len(r) == 1 else _("{first} to {last}").format(first=r[0], last=r[-1]) for r in runs_]
    if not spans:
        return ""
    return ngettext("Message {numbers}", "Messages {numbers}", len(set(numbers))).format(numbers=", ".join(spans))
