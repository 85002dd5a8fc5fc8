"""The command line's tokens of the owner of this machine: python -m nexus_core token create | list | revoke."""

import argparse
import sys
from datetime import datetime
from typing import Any
from uuid import UUID

from nexus_core import api_tokens, database, embedded, migrate, projects, signin
from nexus_core.api_tokens import DAYS, Token
from nexus_core.database import ROLES, Scope, Transaction, transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _


def owner() -> Scope:
    """The owner of this machine, in their first workspace, whose schema is brought up to date first."""
    migrate.migrate(database.url())
    return signin.scope_for(signin.local_owner(), None, "cli")


def add(commands: Any) -> None:
    """Add the command to those of a parser, `argparse`'s add_subparsers()."""
    verbs = commands.add_parser("token", help=_("make, list and revoke tokens of the owner, for programs"))
    verbs = verbs.add_subparsers(required=True, metavar="create | list | revoke")
    create = verbs.add_parser("create", help=_("make a token; it is printed once"))
    create.add_argument("name", metavar="NAME", help=_("what it is for"))
    create.add_argument("--role", choices=ROLES, default="operator", help=_("the highest role that it gives"))
    create.add_argument(
        "--project", action="append", metavar="PROJECT", help=_("a project, by name or id, to limit it to; repeatable")
    )
    life = create.add_mutually_exclusive_group()
    life.add_argument("--days", type=int, default=DAYS, help=_("how long it works (default: {n})").format(n=DAYS))
    life.add_argument("--never-expires", action="store_const", const=None, dest="days", help=_("until it is revoked"))
    create.set_defaults(command=_create)
    verbs.add_parser("list", help=_("show those that were not revoked")).set_defaults(command=_list)
    revoke = verbs.add_parser("revoke", help=_("end one at once"))
    revoke.add_argument("id", metavar="ID", help=_("its id or how it begins, as list shows them"))
    revoke.set_defaults(command=_revoke)


def _create(given: argparse.Namespace) -> int:
    try:
        with transaction(owner()) as tx:
            limit = _projects(tx, given.project) if given.project else None
            made, token = api_tokens.create(tx, given.name, role=given.role, project_ids=limit, days=given.days)
    finally:
        embedded.release()
    print(_("Copy it now, it is not kept: {about}").format(about=_line(made)), file=sys.stderr)
    print(token)
    return 0


def _list(given: argparse.Namespace) -> int:
    try:
        with transaction(owner()) as tx:
            found = api_tokens.list_(tx)
    finally:
        embedded.release()
    print("\n".join(map(_line, found)) or _("There is no token."))
    return 0


def _revoke(given: argparse.Namespace) -> int:
    try:
        with transaction(owner()) as tx:
            named = [one for one in api_tokens.list_(tx) if given.id in (str(one.id), one.hint)]
            if len(named) != 1:
                raise NotFound(_("Name one token by its id; `token list` shows them."))
            api_tokens.revoke(tx, named[0].id)
    finally:
        embedded.release()
    print(_("Revoked: {about}").format(about=_line(named[0])))
    return 0


def _projects(tx: Transaction, wanted: list[str]) -> list[UUID]:
    known = projects.list_(tx, archived=True)
    ids = {one.name.casefold(): one.id for one in known} | {str(one.id): one.id for one in known}
    for one in wanted:
        if one.casefold() not in ids:
            raise NotFound(_("There is no project {name} here.").format(name=one))
    return [ids[one.casefold()] for one in wanted]


def _line(one: Token) -> str:
    used = _("used {time}").format(time=_day(one.last_used_at)) if one.last_used_at else _("never used")
    until = _("until {time}").format(time=_day(one.expires_at)) if one.expires_at else _("never expires")
    where = _("every project") if one.project_ids is None else ", ".join(one.projects) or _("no project left")
    until = _("expired") if one.expired else until
    return "  ".join((str(one.id), f"{one.hint}…", one.name, one.role, where, until, used))


def _day(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M %Z}" if at else ""
