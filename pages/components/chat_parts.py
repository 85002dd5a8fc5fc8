"""What an answer is made of: text, folded reasoning, tool calls as steps, sources."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import streamlit as st

from nexus_core.i18n import _
from nexus_core.runs import Run
from pages.components import chat_figures
from pages.components.markdown import assistant_blocks, label, literal

Part = dict[str, Any]
RESULT = 4_000  # characters of a tool's result that are shown


def answer(parts: Sequence[Part], run: Run | None) -> None:
    """Draw the parts of an answer that is over."""
    for part in _together(parts):
        kind = part["type"]
        if kind == "text":
            _text(part["text"])
        elif kind == "reasoning":
            with st.expander(chat_figures.thought(part, run), type="compact"):
                st.text(part["text"])
        elif _is_tool(part):
            _tool(part, over=True)
    attachments(parts)


def growing(parts: Sequence[Part], note: str) -> None:
    """Draw an answer as far as it has come; `note` says why it waits."""
    shown = _together(parts)
    for place, part in enumerate(shown):
        last = place == len(shown) - 1
        if part["type"] == "text":
            _text(part["text"])
        elif part["type"] == "reasoning":
            words = _("Thinking") if last else chat_figures.thought(part, None)
            # No "with": it would call the thought finished at the end of the block.
            st.status(f":shimmer[{words}]" if last else words, type="compact", state=_state(last)).text(part["text"])
        elif _is_tool(part):
            _tool(part)
    if note:
        st.caption(f":material/hourglass_top: {label(note)}")
    elif not shown or shown[-1]["type"] == "step-start" or _is_tool(shown[-1]):
        st.markdown(f":shimmer[{_('Thinking …')}]")


def attachments(parts: Iterable[Part]) -> None:
    """Files and sources that came with a message, by name; nothing is fetched."""
    for part in parts:
        kind = part.get("type")
        if kind in ("source-url", "source-document"):
            st.caption(literal(" · ".join(str(part[k]) for k in ("title", "url", "filename") if part.get(k))))
        elif kind == "file":
            st.caption(":material/attach_file: " + label(str(part.get("filename") or part.get("mediaType") or "")))


def plain(parts: Iterable[Part]) -> str:
    """What can be read of parts without a text of their own."""
    return json.dumps(list(parts), ensure_ascii=False, indent=1)[:RESULT]


def _together(parts: Sequence[Part]) -> list[Part]:
    """The parts that are drawn; neighbouring texts as one."""
    found: list[Part] = []
    for part in parts:
        kind = part.get("type")
        if kind in ("text", "reasoning") and not str(part.get("text") or "").strip():
            continue
        if kind == "text" and found and found[-1]["type"] == "text":
            found[-1] = found[-1] | {"text": f"{found[-1]['text']}\n\n{part['text']}"}
        elif kind in ("text", "reasoning", "step-start") or _is_tool(part):
            found.append(part)
    return found


def _text(text: str) -> None:
    for block in assistant_blocks(text):
        if block.is_code:
            st.code(block.body, language=block.language)
        else:
            st.markdown(block.body)


def _tool(part: Part, *, over: bool = False) -> None:
    """A call as a step; one without a result in an answer that is `over` is the program's that brought the tool."""
    name = str(part.get("toolName") or str(part["type"]).removeprefix("tool-"))
    given = part.get("input") if isinstance(part.get("input"), dict) else {}
    state = str(part.get("state"))
    words = label(chat_figures.tool(name, given or {}, part.get("output")))
    open_ = state in ("input-available", "input-streaming")
    running = open_ and not over
    words += " · " + _("its program has not answered") if open_ and over else ""
    step = st.status(
        f":shimmer[{words}]" if running else words,
        type="step",
        state="error" if state == "output-error" else _state(running),
    )
    arguments = ((part.get("callProviderMetadata") or {}).get("nexus") or {}).get("arguments")
    step.caption(_("Asked with"))
    step.code(arguments or json.dumps(given, ensure_ascii=False), language="json", wrap_lines=True)
    if state == "output-error":
        step.caption(_("It failed"))
        step.text(str(part.get("errorText") or ""))
    elif state == "output-available":
        step.caption(_("It found"))
        step.code(_result(part.get("output")), language="json", wrap_lines=True)


def _result(output: Any) -> str:
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, indent=1)
    return text if len(text) <= RESULT else f"{text[:RESULT]}\n…"


def _is_tool(part: Part) -> bool:
    kind = str(part.get("type"))
    return kind.startswith("tool-") or kind == "dynamic-tool"


def _state(running: bool) -> Any:
    return "running" if running else "complete"
