"""What the table of runs can be filtered by: the choices of a report, and the tasks of the project that is chosen."""

from dataclasses import replace

from nexus_core import choices, projects
from nexus_core.choices import Choices
from nexus_core.database import Transaction
from nexus_core.filters import NONE
from nexus_core.runs_query import Asked


def of(tx: Transaction, asked: Asked) -> Choices:
    """The choices of a range. Tasks are those of the one project that is chosen; conversations come by a link alone."""
    found = choices.of(tx, asked.span, asked.filters)
    chosen = asked.filters.project or ()
    if len(chosen) != 1 or chosen[0] is None:
        return found
    tasks = {str(task.id): task.title for task in projects.tasks(tx, chosen[0])}
    return replace(found, values=found.values | {"task": (*tasks, NONE)}, names=found.names | tasks)
