"""Erasing a person, for administrators: chosen, confirmed by their e-mail address, and told what was removed."""

from collections.abc import Sequence

import streamlit as st

from nexus_core import erasure, people
from nexus_core.database import Scope, transaction
from nexus_core.entries import entry_line
from nexus_core.erasure import Erased, Staying
from nexus_core.i18n import _, ngettext
from nexus_core.text import clip
from pages.components import memory_tables
from pages.components.attempt import attempt, refusal, told
from pages.components.markdown import label

PROJECT = "pages/memory/project.py"
SHOWN, LONGEST = 20, 300
"""Entries of one project that are named, and letters of each."""
_REFUSED = "erase"
_DONE = "erase_done"


def draw(scope: Scope) -> None:
    """The section; nothing below the admin role."""
    if scope.role != "admin":
        return
    st.subheader(_("Erase a person"), anchor=False)
    st.caption(
        _(
            "Removes a person with everything that they said, wrote and made here, for good. The ledger keeps tokens "
            "and costs without them; what others wrote stays, and so do entries of a project’s memory."
        )
    )
    done: Erased | None = st.session_state.pop(_DONE, None)
    if done is not None:
        _receipt(done)
    refusal(_REFUSED)
    with transaction(scope) as tx:
        others = {str(one.id): one for one in people.members(tx) if one.id != scope.user_id}
    if not others:
        st.caption(_("Nobody else is here."))
        return
    chosen = st.selectbox(
        _("Person"), list(others), index=None, key="erase_person", placeholder=_("Choose a person"),
        format_func=lambda key: f"{others[key].name} ({others[key].email})",
    )  # fmt: skip
    if chosen is not None:
        email = others[chosen].email
        _warning(scope, email)
        typed = st.text_input(_("To confirm, write their e-mail address"), key=f"erase_confirm_{chosen}")
        st.button(
            _("Erase for good"), key="erase_do", icon=":material/person_remove:", type="primary",
            disabled=typed.strip().lower() != email.lower(), on_click=_erase, args=(scope, email),
        )  # fmt: skip


def _erase(scope: Scope, email: str) -> None:
    done = attempt(_REFUSED, lambda: erasure.erase(scope, email))
    if done is not None:
        st.session_state[_DONE] = done
        st.session_state["erase_person"] = None  # set, for the browser keeps what is only forgotten here


def _warning(scope: Scope, email: str) -> None:
    """What will stay of their words, before anything goes."""
    with told():
        stays = erasure.staying(scope, email)
        if stays:
            words = ngettext(
                "{n} entry of a project’s memory comes from what they said, or names them. It belongs to the project "
                "and stays, in earlier versions of that memory, too:",
                "{n} entries of projects’ memories come from what they said, or name them. They belong to the "
                "projects and stay, in earlier versions of those memories, too:",
                len(stays),
            )
            st.warning(label(words.format(n=len(stays))), icon=":material/menu_book:")
            _entries(stays, "erase_stays")


def _entries(stays: Sequence[Staying], key: str) -> None:
    """By project, with the way there: an editor of that memory can change them."""
    for project_id in dict.fromkeys(one.project_id for one in stays):
        of = [one for one in stays if one.project_id == project_id]
        with st.container(border=True, gap="xsmall", key=f"{key}_{project_id}"):
            query = {"workspace": of[0].workspace, "project": str(project_id)}
            st.page_link(PROJECT, label=label(of[0].project_name), icon=":material/menu_book:", query_params=query)
            lines = [label(clip(entry_line(one.entry, memory_tables.say), LONGEST)) for one in of[:SHOWN]]
            st.markdown("\n".join(f"- {line}" for line in lines))
            if len(of) > SHOWN:
                st.caption(_("and {n} more").format(n=len(of) - SHOWN))


def _receipt(done: Erased) -> None:
    said = _("Erased.") if done.whole else _("Erased here; another workspace still has this person.")
    st.success(label(said), icon=":material/check:")
    if done.staying:
        words = ngettext(
            "{n} entry of a project’s memory stays; edit or remove it there where it has to go, too:",
            "{n} entries of projects’ memories stay; edit or remove them there where they have to go, too:",
            len(done.staying),
        )
        st.markdown(label(words.format(n=len(done.staying))))
        _entries(done.staying, "erase_stayed")
    with st.expander(_("What was removed"), key="erase_receipt"):
        st.table([{_("Table"): table, _("Rows"): rows} for table, rows in sorted(done.removed.items())])
