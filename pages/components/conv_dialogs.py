"""What is asked before conversations are tagged, moved, exported, shared or deleted: what it takes, what stays."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import streamlit as st

from nexus_core import moves, shelf, tags
from nexus_core.i18n import _, ngettext
from nexus_core.moves import Effect
from nexus_core.shelf import Going
from nexus_core.tags import LONGEST, MOST
from nexus_core.text import as_uuid
from pages.components import conv_actions, conv_export, conv_share, figures
from pages.components.attempt import refusal, told
from pages.components.conv_rows import Names
from pages.components.markdown import label

Ids = Sequence[UUID]


def draw(names: Names) -> None:
    """The dialog that is asked for."""
    found = conv_actions.asking()
    if found is None:
        return
    what, ids = found
    title = {
        "tag": _("Change tags"),
        "move": _("Move to a project"),
        "export": _("Export"),
        "share": _("Share by a link"),
        "delete": _("Move to the trash?"),
        "purge": _("Delete for good?"),
    }[what]
    body: dict[str, Callable[[], None]] = {
        "tag": lambda: _tag(ids, names),
        "move": lambda: _move(ids, names),
        "export": lambda: conv_export.draw(ids),
        "share": lambda: conv_share.draw(ids[0]),
        "delete": lambda: _delete(ids, False),
        "purge": lambda: _delete(ids, True),
    }
    st.dialog(title, on_dismiss=conv_actions.answered)(body[what])()


def _tag(ids: Ids, names: Names) -> None:
    known = list(names.tags.values())
    carried = sorted({tag for found in conv_actions.do(lambda tx: tags.of(tx, ids)).values() for tag in found})
    added = st.multiselect(
        _("Add"),
        known,
        key="conv_tags_added",
        accept_new_options=True,
        max_selections=MOST,
        placeholder=_("Choose tags, or write new ones"),
    )
    removed = st.multiselect(_("Take away"), carried, key="conv_tags_removed", disabled=not carried)
    st.caption(_("Tags are the whole workspace's: everybody sees their names. {n} letters at most.").format(n=LONGEST))
    _buttons(_("Save"), lambda: conv_actions.tag(ids, added, removed), ready=bool(added or removed))


def _delete(ids: Ids, for_good: bool) -> None:
    going = conv_actions.do(lambda tx: shelf.going(tx, ids))
    for line in _told(going, for_good):
        st.markdown(line)
    if for_good:
        _buttons(_("Delete for good"), lambda: conv_actions.delete(ids))
    else:
        _buttons(_("Move to the trash"), lambda: conv_actions.trash(ids))


def _told(going: Going, for_good: bool) -> list[str]:
    """What goes and what stays, in sentences."""
    said = ngettext("{n} message", "{n} messages", going.messages).format(n=going.messages)
    many = ngettext("**{n} conversation** with {said}", "**{n} conversations** with {said}", going.conversations)
    lines = [many.format(n=going.conversations, said=said) + "."]
    if going.runs:
        runs = ngettext(
            "What {n} run was asked and answered goes too. Its tokens, cost and duration stay in the ledger.",
            "What {n} runs were asked and answered goes too. Their tokens, cost and duration stay in the ledger.",
            going.runs,
        )
        lines.append(runs.format(n=going.runs))
    if going.shares:
        links = ngettext("{n} public link stops working now.", "{n} public links stop working now.", going.shares)
        lines.append(links.format(n=going.shares))
    if going.running:
        running = ngettext("{n} is answering just now; it is stopped.", "{n} are answering just now; they are stopped.",
                           going.running)  # fmt: skip
        lines.append(running.format(n=going.running))
    if for_good:
        lines.append(_("Nobody can bring this back."))
    else:
        last = figures.moment(datetime.now(UTC) + timedelta(days=shelf.TRASH_DAYS)).split(" ")[0]
        words = _("The trash keeps this for {days} days, until {date}; until then it can be restored.")
        lines.append(words.format(days=shelf.TRASH_DAYS, date=last))
    return lines


def _move(ids: Ids, names: Names) -> None:
    options = {"": _("No project: seen by its owner alone")} | names.projects
    target = st.selectbox(
        _("To"), list(options), index=None, key="conv_move_to", format_func=options.__getitem__,
        placeholder=_("Choose a project"),
    )  # fmt: skip
    allowed = False
    if target is not None:
        project_id = as_uuid(target)
        with told():
            effect = conv_actions.do(lambda tx: moves.effect(tx, ids, project_id))
            allowed = effect.moving > 0
            for line in _changes(effect, options[target], bool(target)):
                st.markdown(line)
    _buttons(_("Move"), lambda: conv_actions.move(ids, as_uuid(target or "")), ready=allowed)


def _changes(effect: Effect, name: str, to_project: bool) -> list[str]:
    """What a move does to memory and to who sees it, in sentences."""
    if not effect.moving:
        return [_("Nothing would move: it is there already.")]
    lines = []
    for used in effect.used:
        of = label(used.project_name or _("no project"))
        count = used.with_memory or used.with_quotes
        if used.with_memory:
            words = ngettext(
                "{n} answer used the memory of **{project}**.", "{n} answers used the memory of **{project}**.", count
            )
        else:
            words = ngettext(
                "{n} answer quoted other conversations of **{project}**.",
                "{n} answers quoted other conversations of **{project}**.",
                count,
            )
        lines.append(":orange[:material/warning:] " + words.format(n=count, project=of))
    if effect.opened:
        words = ngettext("**{n} member** of the workspace can read it then.",
                         "All **{n} members** of the workspace can read it then.", effect.members)  # fmt: skip
        lines.append(":orange[:material/visibility:] " + words.format(n=effect.members))
    if effect.closed:
        lines.append(":orange[:material/visibility_off:] " + _("Only its owner sees it then."))
    if to_project:
        lines.append(
            _("From then on **{project}** remembers what was said here; the former place does not.").format(
                project=label(name)
            )
        )
    lines.append(_("What it has cost stays on the former account, and its task stays behind."))
    return lines


def _buttons(title: str, action: Callable[[], None], *, ready: bool = True) -> None:
    refusal(conv_actions.REFUSED)
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Cancel"), key="conv_dialog_cancel", on_click=conv_actions.answered):
            st.rerun()
        if st.button(title, key="conv_dialog_ok", type="primary", disabled=not ready):
            action()
            conv_actions.answered()
            st.rerun()
