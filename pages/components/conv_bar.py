"""Everything that can be done with conversations, once, for the bar under the list and the menu of one of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

import streamlit as st

from nexus_core.i18n import _, ngettext
from pages.components import conv_actions, conv_chosen

Ids = Sequence[UUID]


@dataclass(frozen=True)
class Action:
    """A thing to do with conversations: `trash` is for what is in it, `alone` for one at a time; `short` in the bar."""

    name: str
    title: str
    icon: str
    run: Callable[[Ids], None]
    trash: bool = False
    alone: bool = False
    short: str = ""


def actions() -> list[Action]:
    """Every action, in the order in which they are shown."""
    return [
        Action("tag", _("Tag …"), ":material/sell:", lambda ids: conv_actions.ask("tag", ids)),
        Action("archive", _("Archive"), ":material/archive:", conv_actions.archive),
        Action("unarchive", _("Bring back"), ":material/unarchive:", conv_actions.unarchive),
        Action("summarise", _("Summarise now"), ":material/compress:", conv_actions.summarise, short=_("Summarise")),
        Action("fold", _("Propose to memory"), ":material/merge:", conv_actions.fold),
        Action("move", _("Move …"), ":material/drive_file_move:", lambda ids: conv_actions.ask("move", ids)),
        Action("export", _("Export …"), ":material/download:", lambda ids: conv_actions.ask("export", ids)),
        Action(
            "share", _("Share …"), ":material/link:", lambda ids: conv_actions.ask("share", ids), alone=True
        ),
        Action("delete", _("Delete …"), ":material/delete:", lambda ids: conv_actions.ask("delete", ids)),
        Action("restore", _("Restore"), ":material/restore_from_trash:", conv_actions.restore, trash=True),
        Action(
            "purge", _("Delete for good …"), ":material/delete_forever:",
            lambda ids: conv_actions.ask("purge", ids), trash=True,
        ),
    ]  # fmt: skip


def bar(left_out: str = "", *, trash: bool = False) -> None:
    """What can be done with what is ticked, but for the action `left_out`."""
    ids = conv_chosen.ids()
    with st.container(key="conv_bar", horizontal=True, vertical_alignment="center", gap="xsmall"):
        chosen = ngettext("**{n}** chosen", "**{n}** chosen", len(ids)).format(n=len(ids))
        st.markdown(chosen, width="content")
        for action in actions():
            if action.trash == trash and action.name != left_out and not action.alone:
                st.button(
                    action.short or action.title, key=f"conv_do_{action.name}", icon=action.icon,
                    on_click=action.run, args=(ids,),
                )  # fmt: skip
        st.button(_("Clear"), key="conv_clear", type="tertiary", icon=":material/close:", on_click=conv_chosen.clear)


def menu(conversation_id: UUID, *, archived: bool, key: str) -> None:
    """The same for one conversation."""
    left_out = "archive" if archived else "unarchive"
    offered = {one.name: one for one in actions() if not one.trash and one.name != left_out}

    def run() -> None:
        if choice := st.session_state[key]:
            offered[choice].run([conversation_id])

    st.menu_button(
        _("More"),
        list(offered),
        key=key,
        format_func=lambda name: f"{offered[name].icon} {offered[name].title}",
        on_click=run,
    )
