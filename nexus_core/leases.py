"""The lease on a conversation: which process answers, whether it still lives, and what ends a run that nobody holds."""

import os
import socket
from collections.abc import Collection
from functools import cache
from uuid import UUID

import psutil

from nexus_core.database import Transaction
from nexus_core.i18n import _

LEASE_SECONDS = 15
HOST = socket.gethostname()


def this_process() -> str:
    """This process, as it stands on the leases that it takes; a forked one is another than its parent."""
    return _named(os.getpid())


@cache
def _named(pid: int) -> str:
    return f"{HOST}/{pid}/{psutil.Process(pid).create_time():.0f}"


def reap(tx: Transaction, *, living: Collection[UUID] = (), seen: set[UUID] | None = None) -> int:
    """End the runs whose process is gone, keep what they wrote, free their conversations; returns how many.

    In the system's scope, at start and on a timer. The runs that are `living` in this process are left alone, even
    when their lease ran out. Given `seen`, which is kept from call to call, a lease has to be found expired twice:
    while the database is away all of them expire, and other processes prolong theirs within a second or two.
    """
    leases = [row for row in tx.rows("turns.leases") if row["active_run_id"] not in living]
    expired = {row["active_run_id"] for row in leases if row["expired"]}
    ripe = expired if seen is None else expired & seen
    dead = [row for row in leases if row["active_run_id"] in ripe or not alive(row["lease_owner"])]
    if seen is not None:
        seen.clear()
        seen.update(expired)
    return sum(end_interrupted(tx, row["workspace_id"], row["id"], row["active_run_id"]) for row in dead) + int(
        tx.execute("turns.end_orphans", message=_interrupted()).rowcount
    )


def alive(owner: str | None) -> bool:
    """Whether the process that holds a lease may still live; unknown counts as alive, the lease's end decides then."""
    host, _slash, rest = (owner or "").partition("/")
    pid, _slash, started = rest.partition("/")
    if host != HOST or not pid.isdigit():
        return True
    try:
        process = psutil.Process(int(pid))
        return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - float(started)) < 2
    except (psutil.NoSuchProcess, ValueError):
        return False
    except psutil.AccessDenied:
        return True


def _interrupted() -> str:
    return _("Nexus was stopped while this was being answered. What had been written is kept; try again.")


def end_interrupted(tx: Transaction, workspace_id: UUID, conversation_id: UUID, run_id: UUID) -> int:
    return tx.execute(
        "turns.end_interrupted",
        workspace_id=workspace_id,
        conversation_id=conversation_id,
        run_id=run_id,
        message=_interrupted(),
    ).rowcount
