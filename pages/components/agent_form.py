"""The form of an agent: every field, what each choice does, and what is wrong beside the field."""

from typing import Any
from uuid import UUID

import streamlit as st

from nexus_core import agents
from nexus_core.agents import DEFAULTS, Agent
from nexus_core.database import transaction
from nexus_core.i18n import _
from nexus_core.profiles import Profile
from pages.components import modes, notice, session
from pages.components.attempt import attempt, refusal

FIELDS = tuple(key for key in DEFAULTS if key != "status")


def draw(agent: Agent | None, profiles: list[Profile], *, editable: bool) -> None:
    """The form of `agent`, or of a new one; what it saves is in the URL from then on."""
    name = str(agent.id) if agent else "new"
    values = {field: getattr(agent, field) for field in FIELDS} if agent else DEFAULTS
    with st.form(f"agent_{name}", border=False, enter_to_submit=False):
        _who(name, values, profiles, editable)
        with st.container(border=True):
            _memory(name, values, editable)
        with st.container(border=True):
            _work(name, values, editable)
        refusal(name, besides=FIELDS)
        if editable:
            st.form_submit_button(
                _("Save changes") if agent else _("Create agent"),
                type="primary",
                icon=":material/save:",
                key=f"agent_{name}_save",
                on_click=_save,
                args=(name,),
            )


def _who(name: str, values: dict[str, Any], profiles: list[Profile], editable: bool) -> None:
    shared: dict[str, Any] = {"disabled": not editable}
    narrow, wide = st.columns([1, 5])
    with narrow:
        st.text_input(_("Emoji"), values["emoji"], key=f"agent_{name}_emoji", **shared)
        refusal(name, "emoji")
    with wide:
        st.text_input(_("Name"), values["name"], key=f"agent_{name}_name", max_chars=100, **shared)
        refusal(name, "name")
    left, right = st.columns(2)
    with left:
        placeholder = _("Reviews contracts")
        st.text_input(_("Role"), values["role"], key=f"agent_{name}_role", placeholder=placeholder, **shared)
        refusal(name, "role")
    with right:
        names = {"": _("The workspace's default")} | {str(profile.id): profile.name for profile in profiles}
        st.selectbox(
            _("Model"),
            list(names),
            index=list(names).index(str(values["profile_id"] or "")),
            format_func=names.__getitem__,
            key=f"agent_{name}_profile_id",
            **shared,
        )
    about = _("What people read before they choose this agent.")
    st.text_area(
        _("Description"), values["description"], key=f"agent_{name}_description", help=about, height=96, **shared
    )
    refusal(name, "description")
    how = _("What the model is told before everything else: who it is, what it does, how it answers.")
    st.text_area(
        _("Instructions"), values["instructions"], key=f"agent_{name}_instructions", help=how, height=280, **shared
    )
    refusal(name, "instructions")


def _memory(name: str, values: dict[str, Any], editable: bool) -> None:
    known = modes.names()
    st.radio(
        _("What it remembers"),
        list(known),
        index=list(known).index(values["memory_mode"]),
        format_func=lambda mode: known[mode][0],
        captions=[sentence for _name, sentence in known.values()],
        key=f"agent_{name}_memory_mode",
        disabled=not editable,
    )
    refusal(name, "memory_mode")
    limits = {
        "max_messages": (_("At most this many messages"), 10),
        "max_tokens": (_("At most this many tokens"), 1000),
    }
    for column, (field, (title, step)) in zip(st.columns(2), limits.items(), strict=True):
        with column:
            key = f"agent_{name}_{field}"
            if key not in st.session_state:
                st.session_state[key] = values[field]  # as `value` it could not be emptied any more
            st.number_input(
                title,
                value=None,
                min_value=0,
                step=step,
                placeholder=_("No limit"),
                key=key,
                disabled=not editable,
            )
            refusal(name, field)
    st.caption(_("Both limits hold at once, and the newest messages stay. Empty: no limit. 0: only the new message."))


def _work(name: str, values: dict[str, Any], editable: bool) -> None:
    st.toggle(
        _("Recall from other conversations of the project"),
        values["recall"],
        key=f"agent_{name}_recall",
        help=_("The best few passages for each question go into the prompt, quoted, with their source."),
        disabled=not editable,
    )
    st.toggle(
        _("May look things up in the project's memory by itself"),
        values["tools"],
        key=f"agent_{name}_tools",
        help=_("The tools search_memory, read_conversation and list_decisions, for models that can call tools."),
        disabled=not editable,
    )
    st.number_input(
        _("Steps of one answer at most"),
        value=values["max_steps"],
        min_value=1,
        max_value=20,
        key=f"agent_{name}_max_steps",
        help=_("Each time that it looks something up is a step and a call to the model."),
        disabled=not editable,
        width=240,
    )
    refusal(name, "max_steps")


def _save(name: str) -> None:
    values = {field: st.session_state[f"agent_{name}_{field}"] for field in FIELDS}
    values["profile_id"] = UUID(values["profile_id"]) if values["profile_id"] else None
    saved = attempt(name, lambda: _store(name, values))
    if saved is not None:
        notice.say(_("Saved."))
        st.query_params["agent"] = str(saved.id)


def _store(name: str, values: dict[str, Any]) -> Agent:
    with transaction(session.scope()) as tx:
        return agents.create(tx, **values) if name == "new" else agents.update(tx, UUID(name), **values)
