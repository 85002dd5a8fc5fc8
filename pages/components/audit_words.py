"""The audit in words: what was done to what, through which door."""

from typing import Any

from nexus_core.i18n import _


def sentence(action: str, entity: str) -> str:
    """What was done to what, such as "Created: agent"."""
    return f"{_action(action)}: {thing(entity)}"


def _action(action: str) -> str:
    words = {
        "accept": _("Accepted"), "apply": _("Applied"), "archive": _("Archived"), "create": _("Created"),
        "deactivate": _("Deactivated"), "delete": _("Deleted"), "end_sessions": _("Sessions ended"),
        "erase": _("Erased"), "export": _("Exported"), "fork": _("Forked"),
        "import": _("Imported"), "invite": _("Link made"), "join": _("Joined"),
        "leave": _("Left"), "link_oidc": _("Identity provider linked"), "move": _("Moved"), "purge": _("Purged"),
        "reactivate": _("Reactivated"), "read": _("Read"), "reject": _("Rejected"), "rename": _("Renamed"),
        "reset_password": _("Password reset"), "restore": _("Restored"),
        "revoke": _("Revoked"), "save": _("Saved"), "set": _("Set"), "set_password": _("Password set"),
        "share": _("Shared"), "sign_in": _("Signed in"), "sign_in_failed": _("Sign-in failed"),
        "sign_out": _("Signed out"), "speak": _("Language chosen"), "summarize": _("Summarised"), "tag": _("Tagged"),
        "trash": _("Put into the trash"), "undo": _("Undone"),
        "untag": _("Untagged"), "update": _("Changed"),
    }  # fmt: skip
    return words.get(action, action.replace("_", " ").capitalize())


def thing(entity: str) -> str:
    """What kind of thing an entry is about."""
    words = {
        "agent": _("agent"), "audit": _("audit"), "budget": _("budget"), "conversation": _("conversation"),
        "memory": _("project memory"), "person": _("person"), "price": _("price"), "profile": _("profile"),
        "project": _("project"), "proposal": _("proposal"), "repricing": _("re-pricing"),
        "retention": _("retention rule"), "run": _("run"),
        "share": _("share link"), "tag": _("tag"), "task": _("task"), "token": _("token"), "view": _("saved view"),
        "workspace": _("workspace"),
    }  # fmt: skip
    return words.get(entity, entity.replace("_", " "))


def door(name: str) -> str:
    """Through which door it came."""
    words = {
        "page": _("a page"), "api": _("the API"), "mcp": _("MCP"), "cli": _("the command line"),
        "worker": _("Nexus itself"), "gate": _("the gate"),
    }  # fmt: skip
    return words.get(name, name)


def detail(told: dict[str, Any]) -> str:
    """The details in a line: names and values; of changes, which fields."""
    parts = []
    for name, value in told.items():
        if name == "changes" and isinstance(value, dict):
            parts.append(_("changed {fields}").format(fields=", ".join(value)))
        elif value not in (None, "", [], {}):
            parts.append(f"{name}: {value}")
    return " · ".join(parts)
