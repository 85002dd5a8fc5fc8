"""What the database refuses, in the domain's words."""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.errors import InsufficientPrivilege, QueryCanceled
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from nexus_core.errors import Conflict, Forbidden, Invalid, NexusError, NotFound, StoreUnavailable
from nexus_core.i18n import _, later, pgettext

# What a broken constraint means to the person who broke it.
CONSTRAINTS: dict[str, tuple[type[NexusError], str]] = {
    "projects_name_key": (Conflict, later("A project with this name exists already.")),
    "conversations_session_key": (Conflict, later("There is a conversation of this session there already.")),
    "tags_name_key": (Conflict, later("A tag with this name exists already.")),
    "people_email_key": (Conflict, later("A person with this e-mail exists already.")),
    "profiles_workspace_id_slug_key": (Conflict, later("A profile with this slug exists already.")),
    "workspaces_slug_key": (Conflict, later("A workspace with this name exists already.")),
}


@contextmanager
def domain_errors(*, limited: bool = False) -> Iterator[None]:
    """What PostgreSQL and the driver raise inside, as the domain's errors; `limited`: by a token to projects."""
    try:
        yield
    except PoolTimeout as error:
        raise StoreUnavailable(_("The database is too busy to answer; try again in a moment.")) from error
    except IntegrityError as error:
        raise _refused(error) from error
    except (OperationalError, InterfaceError) as error:
        if isinstance(error.orig, QueryCanceled):
            raise StoreUnavailable(_("The database took too long to answer; try again in a moment.")) from error
        raise StoreUnavailable(_("The database can't be reached; nothing was lost, try again in a moment.")) from error
    except DBAPIError as error:
        if limited and isinstance(error.orig, InsufficientPrivilege):
            raise Forbidden(_("This token is limited to projects, and this is outside them.")) from error
        if error.connection_invalidated:
            raise StoreUnavailable(_("The database went away; nothing was lost, try again in a moment.")) from error
        raise


def missing(kind: str) -> NotFound:
    """That there is no such thing, named by the class that would hold it."""
    thing = {
        "agent": pgettext("there is no such …", "agent"),
        "batch": pgettext("there is no such …", "re-pricing"),
        "contents": pgettext("there is no such …", "project"),
        "conversation": pgettext("there is no such …", "conversation"),
        "memory": pgettext("there is no such …", "memory"),
        "message": pgettext("there is no such …", "message"),
        "person": pgettext("there is no such …", "person"),
        "profile": pgettext("there is no such …", "profile"),
        "project": pgettext("there is no such …", "project"),
        "proposal": pgettext("there is no such …", "proposal"),
        "revision": pgettext("there is no such …", "revision"),
        "run": pgettext("there is no such …", "run"),
        "share": pgettext("there is no such …", "link"),
        "task": pgettext("there is no such …", "task"),
        "token": pgettext("there is no such …", "token"),
        "view": pgettext("there is no such …", "view"),
        "workspace": pgettext("there is no such …", "workspace"),
    }.get(kind.lower())
    if thing is None:
        return NotFound(_("There is no such thing here."))
    return NotFound(_("There is no such {thing} here.").format(thing=thing))


def _refused(error: IntegrityError) -> NexusError:
    diagnostics = getattr(error.orig, "diag", None)
    name = getattr(diagnostics, "constraint_name", None) or ""
    if name in CONSTRAINTS:
        kind, sentence = CONSTRAINTS[name]
        return kind(_(sentence))
    if name.endswith("_fkey"):
        return NotFound(_("Something this points to is not here."), detail={"constraint": name})
    if name.endswith("_key"):
        return Conflict(_("This exists already."), detail={"constraint": name})
    return Invalid(_("The database refused these values."), detail={"constraint": name})


def is_gone(error: BaseException) -> bool:
    """Whether an error says that PostgreSQL itself is away, not that a statement was wrong."""
    return isinstance(error, OperationalError) or (isinstance(error, DBAPIError) and error.connection_invalidated)
