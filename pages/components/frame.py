"""What stands around every page: logo, workspace, project, navigation, person; and what is said on failure."""

import logging
from html import escape
from pathlib import Path
from uuid import UUID

import streamlit as st
from streamlit.navigation.page import Page

from nexus_core import projects, proposals
from nexus_core.database import transaction
from nexus_core.errors import NexusError, StoreUnavailable, Unauthenticated
from nexus_core.i18n import _
from nexus_core.signin import Identity
from pages.components import demo_box, notice, people_words, project_menu, session, speech
from pages.components.markdown import label

ROOT = Path(__file__).resolve().parents[2]
STYLE = Path(__file__).resolve().parent / "frame.css"
_log = logging.getLogger(__name__)


def sections() -> dict[str, list[tuple[str, str, str]]]:
    """The navigation: per section its pages as (file, title, icon); the first is the one at /."""
    return {
        _("Work"): [
            ("work/home.py", _("Home"), ":material/home:"),
            ("work/chat.py", _("Chat"), ":material/chat:"),
        ],
        _("Memory"): [
            ("memory/project.py", _("Project"), ":material/folder_open:"),
            ("memory/conversations.py", _("Conversations"), ":material/forum:"),
            ("memory/agents.py", _("Agents"), ":material/smart_toy:"),
        ],
        _("Insight"): [
            ("insight/costs.py", _("Costs"), ":material/payments:"),
            ("insight/runs.py", _("Runs"), ":material/timeline:"),
            ("insight/audit.py", _("Audit"), ":material/history:"),
        ],
        _("System"): [
            ("system/models.py", _("Models"), ":material/model_training:"),
            ("system/people.py", _("People"), ":material/group:"),
            ("system/tokens.py", _("Tokens"), ":material/key:"),
            ("system/settings.py", _("Settings"), ":material/settings:"),
            ("system/health.py", _("Health"), ":material/monitor_heart:"),
        ],
    }


@session.one_drawing()
def run() -> None:
    """Draw the frame and, in it, the page of the URL."""
    st.set_page_config(page_title="Nexus", page_icon=str(ROOT / "static" / "favicon.png"), layout="wide")
    st.logo(str(ROOT / "static" / "logo.svg"), icon_image=str(ROOT / "static" / "icon.svg"), size="large")
    st.html(STYLE)
    who = _arrive()
    pages = {
        section: [
            st.Page(ROOT / "pages" / file, title=title, icon=icon)
            for file, title, icon in entries
            if (ROOT / "pages" / file).exists()
        ]
        for section, entries in sections().items()
    }
    page = st.navigation({section: found for section, found in pages.items() if found}, position="hidden")
    drawn = False
    try:
        if isinstance(who, NexusError):
            raise who
        with st.sidebar:
            waiting = _places(who)
            _search(pages)
            _links(pages, {"project": waiting})
            _person(who)
        drawn = True
        session.turn_to(page.url_path)
        demo_box.notice()
        page.run()
    except NexusError as error:
        failed(error)
        if not drawn:
            _link("/", _("Sign in") if isinstance(error, Unauthenticated) else _("Go to Home"))
    notice.draw()


def _arrive() -> Identity | NexusError:
    """Who is there, or why that can't be told; from here on their language is spoken."""
    try:
        identity = session.who()
    except NexusError as error:
        speech.settle(None)
        return error
    speech.settle(identity)
    return identity


def failed(error: Exception) -> bool:
    """Say in a sentence what went wrong and what to do; the trace of a fault of ours goes to the log alone."""
    if isinstance(error, Unauthenticated):
        st.info(error.message, icon=":material/lock:")
    elif isinstance(error, StoreUnavailable):
        st.error(error.message, icon=":material/cloud_off:")
        st.button(_("Try again"), key="frame_retry", icon=":material/refresh:")
    elif isinstance(error, NexusError):
        st.error(label(error.message), icon=":material/error:")
    else:
        _log.error("a page failed", exc_info=error)
        st.error(_("Something went wrong on this page; the log says what. Try again, or open another page."))
    return True


def _places(identity: Identity) -> int:
    """The selectors of workspace (for members of several) and project: they show and change the URL.

    Returns how many proposals wait there.
    """
    scope = session.scope()
    if len(identity.workspaces) > 1:
        names = {place.slug: place.name for place in identity.workspaces}
        current = next(p.slug for p in identity.workspaces if p.workspace_id == scope.workspace_id)
        _selector(_("Workspace"), "workspace", names, current)
    with transaction(scope) as tx:
        known = projects.list_(tx, archived=True)
        waiting = proposals.waiting(tx, session.project_id())
    chosen = next((project for project in known if project.id == session.project_id()), None)
    options = {"": _("No project")}
    for project in known:
        if project.status == "active":
            options[str(project.id)] = project.name
        elif project is chosen:
            options[str(project.id)] = _("{name} (archived)").format(name=project.name)
    with st.container(key="frame_projects", horizontal=True, wrap=False, vertical_alignment="bottom", gap="xsmall"):
        _selector(_("Project"), "project", options, str(chosen.id) if chosen else "")
        if scope.role != "viewer":
            project_menu.draw(chosen, [project for project in known if project.status == "archived"])
    return waiting


def _selector(title: str, name: str, options: dict[str, str], current: str) -> None:
    key = f"frame_{name}"
    st.session_state[key] = current
    names = options.__getitem__
    st.selectbox(title, list(options), key=key, format_func=names, on_change=_move, args=(name,))


def _move(name: str) -> None:
    """Another workspace or project: what else the URL names belongs to the former one."""
    value = st.session_state[f"frame_{name}"]
    if name == "project":
        project_menu.show(UUID(value) if value else None)
    else:
        session.move({name: value})


def _search(pages: dict[str, list[Page]]) -> None:
    """The way to the search of conversations, by a key from anywhere."""
    page = next((page for found in pages.values() for page in found if page.url_path == "conversations"), None)
    if page and st.button(
        _("Search"), key="frame_search", icon=":material/search:", type="tertiary", shortcut="Ctrl+K", width="stretch"
    ):
        st.switch_page(page, query_params=session.here())


def _links(pages: dict[str, list[Page]], waiting: dict[str, int]) -> None:
    """The way to every page; beside it, by the page's address, how much waits there."""
    where = session.here()
    for section, found in pages.items():
        if found:
            st.caption(section)
        for page in found:
            count = waiting.get(page.url_path, 0)
            title = f"{page.title} :orange-badge[{count}]" if count else page.title
            st.page_link(page, label=title, query_params=where, width="stretch")


def _person(identity: Identity) -> None:
    scope = session.scope()
    with st.container(key="frame_person", horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
        st.caption(label(f"{identity.person.name} · {people_words.role(scope.role)}"), width="stretch")
        speech.menu()
    if identity.method == "local":
        _link("/setup", _("Set a password"))
    else:
        _link("/sign-out", _("Sign out"))


def _link(address: str, title: str) -> None:
    """A link out of the cockpit in the same tab; Streamlit's own open another one."""
    style = "color: inherit; font-size: 0.875rem"
    st.html(f'<a href="{escape(address)}" target="_self" style="{style}">{escape(title)}</a>')
