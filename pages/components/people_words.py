"""What is said of people: roles, and how they come in."""

from nexus_core.i18n import _
from nexus_core.people import Account
from pages.components import figures


def roles() -> dict[str, str]:
    """The roles in words, the lowest first."""
    return {"viewer": _("viewer"), "operator": _("operator"), "admin": _("admin")}


def role(name: str) -> str:
    """One role in words."""
    return roles()[name]


def badges(one: Account, *, is_self: bool) -> str:
    """Markdown badges: oneself, not let in, no password yet."""
    found = f" :green-badge[{_('you')}]" if is_self else ""
    if one.status == "deactivated":
        return f"{found} :red-badge[{_('deactivated')}]"
    if one.has_password is False and not one.has_oidc and not one.is_local_owner:
        words = _("invited") if one.link_until else _("can’t sign in yet")
        found += f" :orange-badge[{words}]"
    return found


def seen(one: Account) -> list[str]:
    """When they were here last, where that is told."""
    if one.sessions is None:
        return []
    if one.last_seen_at is None:
        return [_("never here")]
    return [_("here {time}").format(time=figures.moment(one.last_seen_at))]
