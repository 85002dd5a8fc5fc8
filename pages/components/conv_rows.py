"""A page of the list, with the names, people and costs that belong to it."""

from dataclasses import dataclass
from uuid import UUID

from nexus_core import agents, messages, people, projects, runs, search, tags, workspaces
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import Invalid
from nexus_core.i18n import _
from nexus_core.runs import Spent
from nexus_core.search import Hit, Page
from pages.components import conv_place
from pages.components.conv_place import Asked

SIZE = 25


@dataclass(frozen=True)
class Names:
    """Names by id, of everything that a conversation can be of; `zone` is the workspace's."""

    projects: dict[str, str]
    agents: dict[str, str]
    people: dict[str, str]
    tags: dict[str, str]
    zone: str

    def project(self, project_id: UUID | None) -> str:
        """The project's name; empty for none."""
        return self.projects.get(str(project_id), "")

    def agent(self, agent_id: UUID | None) -> str:
        """Who answers."""
        return self.agents.get(str(agent_id), _("deleted agent")) if agent_id else _("Just Chat")


@dataclass(frozen=True)
class Rows:
    """What one drawing of the list needs; `people` are the names of who wrote lately, by conversation."""

    page: Page
    people: dict[UUID, list[str]]
    spent: dict[UUID, Spent]

    def who(self, hit: Hit) -> str:
        """Who takes part; who began it, where nobody has written yet."""
        names = self.people.get(hit.id) or ([hit.user_name] if hit.user_name else [])
        return ", ".join(names)


def names(scope: Scope) -> Names:
    """The names of everything in the workspace."""
    with transaction(scope) as tx:
        return Names(
            {str(one.id): one.name for one in projects.list_(tx, archived=True)},
            {str(one.id): f"{one.emoji} {one.name}" for one in agents.list_(tx, archived=True)},
            {str(one.id): one.name for one in people.members(tx)},
            {str(one.id): one.name for one in tags.list_(tx)},
            workspaces.get(tx).time_zone,
        )


def load(scope: Scope, wanted: Asked, zone: str) -> Rows:
    """The page that is asked for; the first one, where the URL's is none."""
    with transaction(scope) as tx:
        page = _page(tx, wanted, zone)
        ids = [hit.id for hit in page.hits]
        return Rows(page, messages.people_of(tx, ids), runs.spent(tx, ids))


def _page(tx: Transaction, wanted: Asked, zone: str) -> Page:
    narrowed = conv_place.filter_of(wanted, zone)
    sort = next((known for known in search.SORTS if known == wanted.sort), "best")
    try:
        return search.find(tx, wanted.q, narrowed, sort=sort, after=wanted.after or None, limit=SIZE)
    except Invalid:
        return search.find(tx, wanted.q, narrowed, sort=sort, limit=SIZE)
