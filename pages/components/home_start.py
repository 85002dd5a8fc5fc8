"""Home without a project: the first three steps, each done in place, and what was said lately."""

from collections.abc import Sequence

import streamlit as st

from nexus_core import llm, profiles, projects
from nexus_core.database import transaction
from nexus_core.i18n import _
from nexus_core.profiles import BUILTIN, Profile
from nexus_core.projects import Project
from nexus_core.text import clip
from pages.components import ask_box, session
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label

MODELS = "pages/system/models.py"
FIRST = 5


def steps(default: Profile, found: Sequence[Project], role: str, *, asked: bool) -> None:
    """A model, a project, a question; a step that is done says so. `asked`: this person has asked something."""
    editable = role != "viewer"
    grid = st.grid(2, min_column_width=280)
    with grid.container(border=True, height="stretch", key="home_step_model"):
        _model(default, role, asked)
    with grid.container(border=True, height="stretch", key="home_step_project"):
        _project(found, editable)
    with grid.cell(column_span="all"), st.container(border=True, key="home_step_ask"):
        _head(3, _("Ask something"), asked)
        st.caption(_("What is said is kept as it is said, and each further answer in that conversation knows it."))
        if editable:
            ask_box.draw("home_ask", None, _("Ask something, or say who you are"))
        else:
            st.caption(_("Asking needs the operator role."))


def _head(number: int, title: str, done: bool) -> None:
    icon = ":green[:material/check_circle:]" if done else f":gray-badge[{number}]"
    st.markdown(f"{icon} **{title}**")


def _model(default: Profile, role: str, asked: bool) -> None:
    """Done once a model is connected, or the built-in assistant was asked: it needs nothing."""
    connected = default.model != BUILTIN
    _head(1, _("Connect a model, or use the built-in one"), connected or asked)
    if connected:
        st.caption(_("{name} answers.").format(name=label(default.name)))
    else:
        st.caption(_("The built-in assistant answers already: no key, no network, it quotes what Nexus remembers."))
        found = llm.detected()
        if not found:
            words = _("For a language model set {example} where Nexus starts, or write the address of your own server.")
            st.caption(words.format(example="`OPENAI_API_KEY`"))
        for seen in found:
            st.caption(f":material/key: {label(seen.label)}: {label(seen.how)}")
            if role == "admin" and seen.example_model:
                st.button(
                    _("Use {model}").format(model=label(seen.example_model)), key=f"home_use_{seen.provider}",
                    icon=":material/bolt:", on_click=_use, args=(seen.label, seen.provider, seen.example_model),
                )  # fmt: skip
        refusal("home_use")
    st.space("stretch")
    st.page_link(MODELS, label=_("Open models"), icon=":material/model_training:", query_params=session.here())


def _use(name: str, provider: str, model: str) -> None:
    """Make a profile of a model that is found on this machine, and let it answer from here on."""

    def make() -> bool:
        with transaction(session.scope()) as tx:
            made = profiles.save(tx, slug=provider.replace("_", "-"), name=name, model=model)
            profiles.make_default(tx, made.id)
        return True

    attempt("home_use", make)


def _project(found: Sequence[Project], editable: bool) -> None:
    _head(2, _("Open a project") if found else _("Make a project"), bool(found))
    st.caption(_("A piece of work with a memory of its own: summary, decisions, open questions, risks."))
    projects_and_new("home_project", found, editable=editable)


def projects_and_new(key: str, found: Sequence[Project], *, editable: bool) -> None:
    """The projects to open, and for operators the form that makes one."""
    with st.container(gap=None):
        for project in found[:FIRST]:
            st.button(
                label(clip(project.name, 60)),
                key=f"{key}_{project.id}",
                type="tertiary",
                icon=":material/folder_open:",
                on_click=_open,
                args=(str(project.id),),
            )
    if len(found) > FIRST:
        st.caption(_("The others are in the list on the left."))
    st.space("stretch")
    if editable:
        new_project(key)


def new_project(key: str) -> None:
    """The small form that makes a project and opens it."""
    with (
        st.form(f"{key}_new", border=False, enter_to_submit=True),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        st.text_input(
            _("Name of the new project"),
            key=f"{key}_name",
            label_visibility="collapsed",
            placeholder=_("Name of a new project"),
        )
        st.form_submit_button(_("Make"), icon=":material/add:", key=f"{key}_make", on_click=_make, args=(key,))
    refusal(key)


def _make(key: str) -> None:
    made = attempt(key, lambda: _create(st.session_state[f"{key}_name"]))
    if made is not None:
        _open(str(made.id))


def _create(name: str) -> Project:
    with transaction(session.scope()) as tx:
        return projects.create(tx, name)


def _open(project_id: str) -> None:
    st.query_params["project"] = project_id
