"""Conversations as files: one or those that were chosen, from a dialog; or everything that a list holds, by a link."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from urllib.parse import urlencode
from uuid import UUID

import streamlit as st

from nexus_core import conversations, exchange, l10n, search, tags, workspaces
from nexus_core.database import Scope, transaction
from nexus_core.exchange import FORMATS, Format
from nexus_core.filenames import stem
from nexus_core.i18n import _, ngettext
from pages.components import conv_place, session
from pages.components.conv_place import Asked


def draw(ids: Sequence[UUID]) -> None:
    """The body of a dialog: as what, and the button that makes the file."""
    scope = session.scope()
    with transaction(scope) as tx:
        known = conversations.of(tx, ids)
    format = _format()
    if len(ids) == 1 and ids[0] in known:
        name, media = stem(known[ids[0]].title) + exchange.SUFFIXES[format], exchange.MEDIA[format]
    else:
        name, media = f"{_('Conversations')}.zip", "application/zip"
        st.caption(
            ngettext("{n} conversation in a zip.", "{n} conversations in a zip.", len(known)).format(n=len(known))
        )
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.download_button(
            _("Download"), data=partial(_bytes, scope, list(ids), format), file_name=name, mime=media,
            key="conv_export_download", icon=":material/download:", type="primary", on_click="ignore",
            disabled=not known,
        )  # fmt: skip


def everything(wanted: Asked) -> None:
    """The body of a dialog: all that the list holds, on its other pages too, as a zip that comes as it is made."""
    scope = session.scope()
    with transaction(scope) as tx:
        filter = conv_place.filter_of(wanted, workspaces.get(tx).time_zone)
        page = search.find(tx, wanted.q, filter, limit=1)
        names = {tag.id: tag.name for tag in tags.list_(tx)}
    count = l10n.number(page.total) + ("" if page.exact else "+")
    words = ngettext(
        "{n} conversation: all that this list holds, with its filters and on all its pages.",
        "{n} conversations: all that this list holds, with its filters and on all its pages.",
        page.total,
    )
    st.markdown(words.format(n=count))
    format = _format()
    asked = vars(filter) | {"tag": names.get(filter.tag_id) if filter.tag_id else None, "q": wanted.q.strip()}
    spelled = {"project_id": "projectId", "agent_id": "agentId", "just_chat": "isJustChat", "person_id": "personId"}
    query = {spelled.get(name, name): _value(value) for name, value in asked.items() if value and name != "tag_id"} | {
        "format": format
    }
    query |= {name: value for name, value in session.here().items() if name == "workspace"}
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.link_button(
            _("Download"), f"/api/export?{urlencode(query)}", key="conv_export_all", icon=":material/download:",
            type="primary", disabled=not page.hits,
        )  # fmt: skip


def _format() -> Format:
    titles = {"json": _("JSON"), "markdown": _("Markdown")}
    words = {
        "json": _("Whole: every version, tool call and figure. Nexus imports it again."),
        "markdown": _("To be read: what is shown of it, each message under its heading."),
    }
    chosen = st.radio(
        _("As"), FORMATS, key="conv_export_format", format_func=titles.__getitem__,
        captions=[words[format] for format in FORMATS],
    )  # fmt: skip
    return chosen or FORMATS[0]


def _value(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return "true" if value is True else str(value)


def _bytes(scope: Scope, ids: list[UUID], format: Format) -> bytes:
    """The file, made when the button is pressed."""
    file = exchange.one(scope, ids[0], format) if len(ids) == 1 else exchange.many(scope, ids, format)
    return b"".join(file.chunks)
